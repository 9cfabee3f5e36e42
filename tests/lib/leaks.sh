# SPDX-License-Identifier: GPL-2.0
# Sourced after scenario.sh: finds leaks of a scenario. Call remember when caches are filled, and nothing_left at the end.
# shellcheck shell=bash

# Memory that TCP keeps for a minute after a connection has ended, or that RCU frees later, is not a leak.
no_time_wait() { local h; for h in $(ip netns list | awk '{ print $1 }'); do ip netns exec "$h" ss -Hta state time-wait; done | awk 'END { exit NR > 0 }'; }
settle() {
  until_true 90 no_time_wait || fail "TIME_WAIT sockets do not go"
  drop_caches
  sleep 2
}
drop_caches() { sync; echo 3 >/proc/sys/vm/drop_caches; }
unreclaimed() { awk '/^SUnreclaim:|^KernelStack:|^PageTables:|^VmallocUsed:/ { s += $2 } END { print s }' /proc/meminfo; }
references() { awk '$1 ~ /^(mpa|iwmpa|siw|ib_core|rdma_cm|iw_cm|ib_uverbs)$/ { print $1, $3 }' /proc/modules | sort; }
tcp_in_use() { { in1 cat /proc/net/sockstat; in2 cat /proc/net/sockstat; } | awk '/^TCP:/ { s += $3 } END { print s }'; }

remember() {
  settle
  leak_memory=$(unreclaimed) leak_refs=$(references) leak_tcp=$(tcp_in_use)
  cat /proc/slabinfo >"$WORK/slab0"
}

# nothing_left OBJECTS KIB: no cache has grown by OBJECTS or more (plus one slab, where a slab holds as many), and unreclaimable memory has
# not grown by KIB or more. A kernel that looks for faults holds back freed memory, and keeps records of allocations: there kmemleak finds
# leaks instead.
nothing_left() {
  settle
  check "the same module references" test "$leak_refs" = "$(references)"
  check "no QP, CQ, MR, PD or connection id is left" bash -c '! rdma resource show | grep -E "(qp|cq|mr|cm_id) [1-9]"'
  check "the same number of TCP sockets" test "$leak_tcp" = "$(tcp_in_use)"
  [ -e /sys/kernel/debug/kmemleak ] || no_growth "$@"
}
no_growth() {
  local after
  after=$(unreclaimed)
  cat /proc/slabinfo >"$WORK/slab1"
  say "memory that cannot be reclaimed: $leak_memory KiB before, $after KiB after"
  check "no growth of $2 KiB" test $((after - leak_memory)) -lt "$2"
  awk -v most="$1" 'NR == FNR { if (FNR > 2) n[$1] = $2; next }
    FNR > 2 && $2 - n[$1] >= most + ($5 >= most ? $5 : 0) { print $1 ": " n[$1] " -> " $2 " objects"; bad = 1 } END { exit bad }' \
    "$WORK/slab0" "$WORK/slab1" >"$WORK/grown" || fail "slabs grew by $1 objects: $(cat "$WORK/grown")"
}
