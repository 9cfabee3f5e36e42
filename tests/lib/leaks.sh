# SPDX-License-Identifier: GPL-2.0
# Sourced after scenario.sh: finds leaks of a scenario. Call remember when caches are filled, and
# nothing_left at the end.
# shellcheck shell=bash

# Memory that TCP keeps for a minute after a connection has ended, or that RCU frees later, is not a
# leak.
no_time_wait() {
  local h
  for h in $(ip netns list | awk '{ print $1 }'); do
    ip netns exec "$h" ss -Hta state time-wait
  done | awk 'END { exit NR > 0 }'
}
# without_time_wait HOST...: TCP of these ends its connections at once.
without_time_wait() {
  local h
  for h; do
    ip netns exec "$h" sysctl -qw net.ipv4.tcp_max_tw_buckets=0 || fail "$h keeps TIME_WAIT"
  done
}
settle() { until_true 90 no_time_wait || fail "TIME_WAIT sockets do not go"; }
# steady: has unreclaimed memory stopped falling since the last call?
steady() {
  local before=${leak_memory:-0}
  drop_caches
  leak_memory=$(unreclaimed)
  [ "$before" != 0 ] && [ "$leak_memory" -ge "$before" ]
}
# SLUB counts all objects of a slab that a CPU holds as used: shrinking takes these slabs from the
# CPUs.
drop_caches() {
  local cache
  sync
  echo 3 >/proc/sys/vm/drop_caches
  for cache in /sys/kernel/slab/*; do [ -L "$cache" ] || echo 1 >"$cache/shrink"; done
}
unreclaimed() {
  awk '/^SUnreclaim:|^KernelStack:|^PageTables:|^VmallocUsed:/ { s += $2 } END { print s }' \
    /proc/meminfo
}
references() {
  awk '$1 ~ /^(mpa|iwmpa|siw|ib_core|rdma_cm|iw_cm|ib_uverbs)$/ { print $1, $3 }' /proc/modules |
    sort
}
tcp_in_use() {
  { in1 cat /proc/net/sockstat; in2 cat /proc/net/sockstat; } |
    awk '/^TCP:/ { s += $3 } END { print s }'
}

remember() {
  settle
  leak_memory=''
  until_true 6 steady || fail "memory does not stop falling"
  leak_refs=$(references) leak_tcp=$(tcp_in_use)
  cat /proc/slabinfo >"$WORK/slab0"
}

# no_growth OBJECTS KIB: is what is left below these? Prints what is not.
no_growth() {
  local grown
  drop_caches
  grown=$(($(unreclaimed) - leak_memory))
  [ $grown -lt "$2" ] || {
    echo "memory that cannot be reclaimed: $leak_memory KiB before, $grown KiB more after"
    return 1
  }
  cat /proc/slabinfo >"$WORK/slab1"
  awk -v most="$1" 'NR == FNR { if (FNR > 2) n[$1] = $2; next }
    FNR > 2 && $2 - n[$1] >= most + ($5 >= most ? $5 : 0) {
      print $1 ": " n[$1] " -> " $2 " objects"; bad = 1
    }
    END { exit bad }' "$WORK/slab0" "$WORK/slab1"
}

# nothing_left OBJECTS KIB: no cache has grown by OBJECTS or more (plus one slab, where a slab holds
# as many), and unreclaimable memory has not grown by KIB or more. A kernel that looks for faults
# holds back freed memory, and keeps records of allocations: there kmemleak finds leaks instead.
# Work queues free a namespace and its devices some time after they were deleted: wait for that.
nothing_left() {
  settle
  check "the same module references" test "$leak_refs" = "$(references)"
  check "no QP, CQ, MR, PD or connection id is left" \
    bash -c '! rdma resource show | grep -E "(qp|cq|mr|cm_id) [1-9]"'
  check "the same number of TCP sockets" test "$leak_tcp" = "$(tcp_in_use)"
  [ -e /sys/kernel/debug/kmemleak ] ||
    check "no cache has grown by $1 objects, and memory not by $2 KiB" until_true 6 no_growth "$@"
}
