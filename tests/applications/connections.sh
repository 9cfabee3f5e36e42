#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Thousands of connections of rdma_cm's own program; when they have ended, no object, socket or
# memory is left.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "thousands of connections"
has ucmatose || skip "rdmacm-utils is missing"
load_modules || finish
two_hosts || finish

# Prints the number of allocated TCP sockets, in all namespaces, without those in TIME-WAIT.
tcp_sockets() {
  awk '$1 == "TCP:" { for (i = 2; i < NF; i++) if ($i == "alloc") print $(i + 1) }' \
    /proc/net/sockstat
}
no_more_sockets_than() {
  echo "TCP sockets: $(tcp_sockets), before: $1"
  [ "$(tcp_sockets)" -le "$1" ]
}
nothing_open() {
  rdma resource show
  ! rdma resource show | grep -qE '(pd|cq|qp|cm_id|mr|ctx|srq) [1-9]'
}
# Prints free memory in KiB. Reclaimable memory counts as free, and so do the pages in the per-CPU
# lists, which are many after a load.
free_memory() {
  sync
  echo 3 >/proc/sys/vm/drop_caches
  awk '$1 == "MemAvailable:" { n += $2 } $1 == "count:" { n += 4 * $2 } END { print n }' \
    /proc/meminfo /proc/zoneinfo
}
# A leaked connection would hold at least its socket and its queues: more than 8 KiB at each end.
no_less_memory_than() {
  local now
  now=$(free_memory)
  echo "KiB free: $now, before: $1"
  [ $(($1 - now)) -lt "$2" ]
}
all_counted() {
  counts rd2 connections "$1" || {
    rdma statistic show
    tail -n 5 "$WORK"/server.* "$WORK"/client.*
    return 1
  }
}
cmatose() {
  over_rdma "$1 connections: ucmatose, $2" 200 7471 h2 "ucmatose -b 10.9.0.2 $3" \
    h1 "ucmatose -s 10.9.0.2 $3"
}

# together PAIRS COUNT: pairs of ucmatose, each with COUNT connections.
together() {
  local i pid pids=() status=0
  for i in $(seq "$1"); do
    bounded 250 ip netns exec h2 ucmatose -b 10.9.0.2 -p $((7471 + i)) \
      -c "$2" >"$WORK/server.$i" 2>&1 &
    pids+=($!)
    until_true 20 listening h2 $((7471 + i)) || return 1
  done
  for i in $(seq "$1"); do
    bounded 250 ip netns exec h1 ucmatose -s 10.9.0.2 -p $((7471 + i)) \
      -c "$2" >"$WORK/client.$i" 2>&1 &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  [ $status = 0 ] || tail -n 5 "$WORK"/server.* "$WORK"/client.*
  return $status
}

# First let the kernel make the objects that it keeps, and the slabs for the largest number of
# connections that are open at once.
cmatose 2000 "ten messages of 1,000 octets each" "-c 2000 -C 10 -S 1000"
check "nothing is open" until_true 20 nothing_open
sockets=$(tcp_sockets)
memory=$(free_memory)
before=$(counter rd2 connections)
check "2,000 connections" together 1 2000
check "1,000 connections: four pairs at once" together 4 250
check "3,000 connections were counted" all_counted $((before + 3000))
ulimit -n 65536
set_device rd2 receive_wait 600000 || fail "receive_wait"
cases "SENDs of 1,000 connections wait for one SRQ" \
  bounded 300 verbs-test run late-srq --count 1000 --addr 10.9.0.2 --server-ns h2 --client-ns h1
check "nothing is open afterwards" until_true 20 nothing_open
check "no socket is left" until_true 60 no_more_sockets_than "$sockets"
check "no memory is leaked: at most 2 KiB for each connection" \
  until_true 60 no_less_memory_than "$memory" 6000
if set_parameter markers Y; then
  cmatose 1000 "Markers on" "-c 1000 -C 2 -S 1000"
  check "nothing is open afterwards" until_true 20 nothing_open
fi
finish
