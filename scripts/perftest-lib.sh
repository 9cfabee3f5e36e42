# SPDX-License-Identifier: GPL-2.0
# Sourced by all that runs perftest: what is known of the one that Debian 12 has (4.5). Documentation/applications/perftest.md tells users.
#
# With -R its server listens twice on its port: first for what both sides have to tell each other, then for the queue pair. The
# client waits for neither. When it is faster than the second listener it is refused, says so, connects once more with what it has
# freed by then, and crashes; the server waits for ever. No device can mend that: both have to be started again.
#
# With -F, which every call here has, a clock that perftest cannot make sense of costs the figure only: 0.00, or inf for a latency.
# Without it the program ends there, with status 1, before it has told the other side.
# shellcheck shell=bash

# perftest_again START STATUS LOG...: whether the client was refused in just that way, by its exit status and all that it has printed,
# and START is not the third yet. The shell that ran it may have added its own line. Anything else is for the caller to report.
perftest_again() {
  local start=$1 status=$2 said; shift 2
  said=$(cat "$@" | grep -vE '^(ERRNO: .*|Device not recognized to implement inline feature\. Disabling it|.*: line [0-9]+: +[0-9]+ Segmentation fault .*|)$')
  [ "$start" -lt 3 ] && [ "$status" = 139 ] && [ "$said" = "RDMA CM event error:
Event: RDMA_CM_EVENT_REJECTED; error: -111.
Failed to handle RDMA CM event.
Failed to connect RDMA CM events." ]
}
