#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# qperf's tests of reliable connections, by rdma_cm (-cm 1). Tests that need functions that iWARP
# does not have must end with a clear error.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "qperf"
has qperf || skip "qperf is missing"
load_modules || finish
two_hosts || finish

# By itself qperf waits 5 s for the other side.
long=$((5 * PATIENCE))
measure_by_hand() { bounded 60 ip netns exec h1 qperf 10.9.0.2 -t 1 -to $long "$@"; }
measure() { measure_by_hand -cm 1 "$@"; }
# qperf's server tells the client its port before it listens there: a client that is faster is
# refused, and starts again.
measured() {
  local start
  for start in 1 2 3; do
    measure "$@" && break
    grep -q "Event rejected" "$WORK/out" || return 1
  done
  grep -qE '(bw|latency) += +[0-9.]+ ' "$WORK/out"
}
end_server() { measure quit && wait $server; }

ip netns exec h2 qperf -lto $long >"$WORK/server" 2>&1 &
server=$!
check "the server listens" until_true 20 listening h2 19765
for markers in N Y; do
  set_parameter markers $markers || break
  say "Markers: $markers"
  for t in rc_lat rc_bw rc_bi_bw rc_rdma_read_lat rc_rdma_read_bw rc_rdma_write_poll_lat; do
    check "$t" measured $t
    sed "s/^/    /" "$WORK/out"
  done
done
refused "rc_rdma_write_lat: no immediate data" "immediate" measure rc_rdma_write_lat
refused "rc_rdma_write_bw: no immediate data" "immediate" measure rc_rdma_write_bw
refused "ud_lat: no unreliable datagrams" "not supported" measure_by_hand ud_lat
refused "uc_lat: no unreliable connections" "not supported" measure_by_hand uc_lat
refused "ver_rc_compare_swap: no atomics" "compare and swap|Event rejected" \
  measure ver_rc_compare_swap
check "the server ends on qperf's quit command" end_server
finish
