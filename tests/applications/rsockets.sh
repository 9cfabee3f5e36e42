#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Longer tests of rsockets: its own programs in all their modes, and files, with data compared.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "rsockets"
has rstream || skip "rdmacm-utils is missing"
load_modules || finish
two_hosts || finish

stream() {
  local program=$1 text=$2 options=$3
  over_rdma "$program, $text" 120 7471 h2 "$program -b 10.9.0.2 $options" \
    h1 "$program -s 10.9.0.2 $options"
}
# With poll() the client may end with 16, which is POLLHUP: rstream does not check whether data are
# available also, and the server shuts down first. It does so when it has verified all data.
stream_poll() {
  local program=$1
  over_rdma "$program, poll, verified" 120 7471 h2 \
    "$program -b 10.9.0.2 -T a -T v -S 100000 -I 20 -C 8" \
    h1 "$program -s 10.9.0.2 -T a -T v -S 100000 -I 20 -C 8 || [ \$? = 16 ]"
}
# rcopy's server runs for ever.
copy() {
  local server status=0
  bounded 200 ip netns exec h2 rcopy >"$WORK/server" 2>&1 &
  server=$!
  until_true 20 listening h2 7427 &&
    bounded 180 ip netns exec h1 rcopy "$WORK/file" "10.9.0.2:$WORK/copied" || status=1
  kill $server
  wait $server
  cmp "$WORK/file" "$WORK/copied" && [ $status = 0 ]
}

for markers in N Y; do
  set_parameter markers $markers || break
  say "Markers: $markers"
  stream rstream "blocking, verified" "-T b -T v -S all -I 4 -C 4"
  stream rstream "nonblocking, verified" "-T n -T v -S 100000 -I 20 -C 8"
  stream_poll rstream
  stream riostream "blocking, verified" "-T b -T v -S all -I 4 -C 4"
done
set_parameter markers N
stream rstream "addresses by rdma_cm" "-T r -T v -S 65536 -I 10 -C 4"
stream riostream "nonblocking, verified" "-T n -T v -S 100000 -I 20 -C 8"
stream_poll riostream

dd if=/dev/urandom of="$WORK/file" bs=1M count=64 status=none
before=$(fpdus)
check "rcopy: a file of 64 MiB" copy
check "... and it went over RDMA" test "$before" != "$(fpdus)"
finish
