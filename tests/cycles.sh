#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A thousand connections, one after the other, leave nothing behind: slabs, sockets, references.
# timeout: 600
. "$(dirname "$0")/lib/scenario.sh"
begin "1000 connects and disconnects"
load_modules || finish
two_hosts || finish

# Memory that TCP keeps for a minute after a connection has ended, or that RCU frees late, is no leak.
no_time_wait() { [ -z "$(in1 ss -Hta state time-wait; in2 ss -Hta state time-wait)" ]; }
settle() {
  until_true 90 no_time_wait || fail "TIME_WAIT sockets do not go"
  sync
  echo 3 >/proc/sys/vm/drop_caches
  sleep 2
}
unreclaimed() { awk '/^SUnreclaim:|^KernelStack:|^PageTables:|^VmallocUsed:/ { s += $2 } END { print s }' /proc/meminfo; }
references() { awk '$1 ~ /^(mpa|iwmpa|siw|ib_core|rdma_cm|iw_cm|ib_uverbs)$/ { print $1, $3 }' /proc/modules | sort; }
sockets() { in1 cat /proc/net/sockstat; in2 cat /proc/net/sockstat; }
tcp_in_use() { sockets | awk '/^TCP:/ { s += $3 } END { print s }'; }
run_cycles() { bounded 500 verbs-test run cycles --addr 10.9.0.2 --server-ns h2 --client-ns h1 --count "$1"; }

check "a first round, which fills caches" run_cycles 100
settle
before=$(unreclaimed) refs=$(references) tcp=$(tcp_in_use)
cat /proc/slabinfo >"$WORK/slab0"
check "1000 cycles" run_cycles 1000
settle
after=$(unreclaimed)
cat /proc/slabinfo >"$WORK/slab1"
say "memory that cannot be reclaimed: $before KiB before, $after KiB after"
# 1000 leaked connections of one page each would be 4000 KiB; half of that is more than the noise of a quiet guest.
check "no growth of 2000 KiB" test $((after - before)) -lt 2000
check "the same module references" test "$refs" = "$(references)"
check "the same number of TCP sockets" test "$tcp" = "$(tcp_in_use)"

# No slab may have grown by an object per connection.
awk 'NR == FNR { if (FNR > 2) n[$1] = $2; next }
  FNR > 2 && $2 - n[$1] >= 900 { print $1 ": " n[$1] " -> " $2 " objects"; bad = 1 } END { exit bad }' \
  "$WORK/slab0" "$WORK/slab1" >"$WORK/grown" || fail "slabs grew by an object per connection: $(cat "$WORK/grown")"
check "no QP, CQ, MR, PD or connection id is left" bash -c '! rdma resource show | grep -E "(qp|cq|mr|cm_id) [1-9]"'
finish
