# SPDX-License-Identifier: GPL-2.0
# Sourced after scenario.sh by the scenarios that run user-space stacks between h1 (the client) and
# h2.
# shellcheck shell=bash
preload=LD_PRELOAD=$(echo /usr/lib/*/rsocket/librspreload.so)

has() { command -v "$1" >/dev/null || { echo "not run: $1 is missing"; return 1; }; }
fpdus() { counter rd1 tx_fpdus; }
# The programs silently fall back to TCP: check that they have used the device.
over_rdma() {
  local before
  before=$(fpdus)
  client_server "$@"
  check "... and it went over RDMA" test "$before" != "$(fpdus)"
}
# rxm ROWS OPTIONS: the command of one side of fi_pingpong on verbs;ofi_rxm. It must print ROWS
# results; its status does not count. libfabric frees a connection that the peer has closed before
# it has handled the last completions (its issue 11828), so that either side may crash when all is
# done. stdbuf: a crash loses what is not written yet.
rxm() {
  echo "stdbuf -oL fi_pingpong -p 'verbs;ofi_rxm' -e rdm $2 |" \
    "awk '{ print } \$3 ~ /^=/ { rows++ } END { exit rows != $1 }'"
}
