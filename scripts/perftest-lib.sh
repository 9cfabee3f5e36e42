# SPDX-License-Identifier: GPL-2.0
# Sourced by all scripts that run perftest: how to handle known faults of Debian 12's perftest
# (4.5). For users they are described in Documentation/applications/perftest.md.
#
# With -R the server listens twice on its port: first to exchange parameters, then for the queue
# pair. The client waits for neither listener. When it is faster than the second listener, the
# server's host refuses its connection.
# The client reports that, connects again with memory that it has freed already, and crashes; the
# server waits for ever. A device cannot prevent this: start both again.
#
# Every call here uses -F. With -F an implausible clock spoils only the figure: 0.00, or inf for a
# latency. Without it the program ends with status 1 before it has told the other side.
# shellcheck shell=bash

# perftest_again START STATUS LOG...: whether the client was refused in exactly this way, according
# to its exit status and its output, and START is less than 3. The shell that ran the client may
# have added a line. The caller reports all other failures.
perftest_again() {
  local start=$1 status=$2 said; shift 2
  said=$(cat "$@" |
    grep -vE -e '^(ERRNO: .*|Device not recognized to implement inline feature\. Disabling it|)$' \
      -e '^.*: line [0-9]+: +[0-9]+ Segmentation fault .*$')
  [ "$start" -lt 3 ] && [ "$status" = 139 ] && [ "$said" = "RDMA CM event error:
Event: RDMA_CM_EVENT_REJECTED; error: -111.
Failed to handle RDMA CM event.
Failed to connect RDMA CM events." ]
}
