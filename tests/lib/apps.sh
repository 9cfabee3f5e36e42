# SPDX-License-Identifier: GPL-2.0
# Sourced after scenario.sh by the scenarios that run user-space stacks between h1 (the client) and h2.
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
