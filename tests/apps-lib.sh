# SPDX-License-Identifier: GPL-2.0
# Sourced after lib.sh by the scenarios that run user-space stacks between h1 (the client) and h2.
# shellcheck shell=bash
preload=LD_PRELOAD=$(echo /usr/lib/*/rsocket/librspreload.so)

has() { command -v "$1" >/dev/null || { echo "not run: $1 is missing"; return 1; }; }
fpdus() { ip netns exec h1 rdma statistic show link rd1 | grep -o 'tx_fpdus [0-9]*'; }
# The programs fall back to TCP without a word: they have to have used the device.
over_rdma() {
  local before
  before=$(fpdus)
  client_server "$@"
  check "... and it went over RDMA" test "$before" != "$(fpdus)"
}
