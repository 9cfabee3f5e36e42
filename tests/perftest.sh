#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The perftest programs through rdma_cm (-R), between two hosts, Markers off and on.
# suite: ulps
# timeout: 300
. "$(dirname "$0")/lib.sh"
begin "perftest"
command -v ib_send_bw >/dev/null || skip "perftest is not installed"
load_modules || finish
two_hosts || finish

# measure PROGRAM [OPTIONS]: -F because an emulated CPU has no frequency to speak of, -e because polling starves the other side (WRITE has none).
measure() {
  local program=$1; shift
  client_server "$program $*" 100 18515 h2 "$program -R -F -p 18515 -d rd2 $*" h1 "$program -R -F -p 18515 -d rd1 $* 10.9.0.2"
}

for markers in N Y; do
  if [ $markers = Y ]; then set_parameter markers Y || break; fi
  say "Markers: $markers"
  measure ib_send_bw -e -n 200 -s 65536
  measure ib_write_bw -n 200 -s 65536
  measure ib_read_bw -e -n 200 -s 65536
  # Over iWARP perftest grants receive credits by RDMA WRITE, which wakes nobody who sleeps: stay below its receive depth of 512.
  measure ib_send_bw -e -n 500 -s 64
  measure ib_write_bw -n 200 -s 4096 -b
  measure ib_send_lat -e -n 200 -s 64
  measure ib_write_lat -n 100 -s 64
  measure ib_read_lat -e -n 200 -s 64
done
finish
