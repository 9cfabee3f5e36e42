#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All kinds of events of connections and devices happen at once for CHURN_SECONDS, on all CPUs,
# beside a transfer whose data are compared from beginning to end. Afterwards no resource may have
# leaked.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/leaks.sh"
begin "churn for ${CHURN_SECONDS:=300} s"
load_modules || finish
two_hosts || finish
mount_cgroups memory || fail "no memory cgroups"

# Two more hosts, h3 and h4, whose devices rd3 and rd4 come and go.
more_hosts() {
  local h
  ip netns add h3 && ip netns add h4 &&
    ip link add wire netns h3 type veth peer name wire netns h4 || return 1
  for h in 3 4; do
    ip -n h$h link set lo up
    ip -n h$h link set wire up
    ip -n h$h addr add 10.9.1.$h/24 dev wire
    ip netns exec h$h rdma link add rd$h type "$LINKTYPE" netdev wire || return 1
  done
}
# removed NUMBER: removes the host's link and namespace, unless they are gone already.
removed() {
  ! rdma link show "rd$1/1" >/dev/null 2>&1 || rdma link delete "rd$1"
  [ ! -e "/run/netns/h$1" ] || ip netns delete "h$1"
}
no_more_hosts() { removed 3; removed 4; }
# A program that loses its device, its memory or its peer may end with any status, but it must end:
# timeout's status 124 means a hang.
patient() { timeout $((12 * PATIENCE)) "$@"; }
ended() { # PID WHAT
  local status=0
  wait "$1" || status=$?
  [ $status != 124 ] || echo "$2 hangs" >>"$WORK/faults"
}
pick() { shuf -n 1 -e -- "$@"; }

# --- the kinds of events; each repeats until the end, and writes a line for each turn ---
until_the_end() {
  while [ ! -e "$WORK/end" ]; do
    "$@" || { echo "$* failed" >>"$WORK/faults"; return; }
    echo "$1" >>"$WORK/turns"
  done
}

connections() {
  bounded 400 verbs-test run abortive both-disconnect graceful reject server-goes client-goes \
    many-connections cycles --count 20 \
    --addr 10.9.0.2 --server-ns h2 --client-ns h1 >"$WORK/connections" 2>&1 ||
    { cat "$WORK/connections" >>"$WORK/faults"; return 1; }
}
errors() {
  bounded 400 verbs-test run error-under-load deregister deregister-many deregister-source \
    cq-overflow cq-overflow-receives cq-overflow-destroy \
    wrong-rkey bounds integrity --seed $RANDOM \
    --addr 10.9.0.2 --server-ns h2 --client-ns h1 >"$WORK/errors" 2>&1 ||
    { cat "$WORK/errors" >>"$WORK/faults"; return 1; }
}
connected_or_gone() {
  gone "$1" || ip netns exec h3 ss -Htn state established dport = :7480 | grep -q .
}
# removal: a transfer between h3 and h4, during which its link, netdev, namespace or socket is
# removed.
removal() {
  local server client
  more_hosts >"$WORK/hosts" 2>&1 || { cat "$WORK/hosts" >>"$WORK/faults"; return 1; }
  patient ip netns exec h4 rdma-stream listen 10.9.1.4 7480 >/dev/null 2>&1 & server=$!
  until_true 60 listening h4 7480 >/dev/null || return 1
  patient ip netns exec h3 rdma-stream connect 10.9.1.4 7480 >/dev/null 2>&1 & client=$!
  [ $((RANDOM % 4)) = 0 ] || until_true 60 connected_or_gone $client >/dev/null
  case $(pick link far netdev namespace socket nothing) in
  link) rdma link delete rd3 ;;
  far) rdma link delete rd4 ;;
  netdev) ip -n h3 link delete wire ;;
  namespace) ip netns delete h3 ;;
  socket) ip netns exec h4 ss -K sport = :7480 >/dev/null ;;
  esac
  no_more_hosts
  ended $server "the listener whose device went"
  ended $client "the client whose device went"
}
# pressure: a cgroup without enough memory for its program.
pressure() {
  local group=/sys/fs/cgroup/churn pid
  mkdir -p $group && pick 4M 6M 8M 12M >$group/memory.max
  patient bash -c "echo \$\$ >$group/cgroup.procs
    exec verbs-test run bulk many-connections deregister-many --addr 10.9.0.2 \
    --server-ns h2 --client-ns h1" >/dev/null 2>&1 &
  pid=$!
  ended $pid "a program without memory"
  until_true 60 rmdir $group >/dev/null
}
killing() {
  local server client
  ip netns exec h2 rdma-stream listen 10.9.0.2 7481 >/dev/null 2>&1 & server=$!
  until_true 60 listening h2 7481 >/dev/null || return 1
  ip netns exec h1 rdma-stream connect 10.9.0.2 7481 >/dev/null 2>&1 & client=$!
  sleep "0.$((RANDOM % 10))" # vary the moment
  kill -9 "$(pick $server $client)"
  sleep "0.$((RANDOM % 3))"
  kill -9 $server $client 2>/dev/null
  wait $server $client 2>/dev/null
  until_true 60 not_listening h2 7481 >/dev/null
}
processors() {
  local n
  for n in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 0 >"$n"; done
  for n in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 1 >"$n"; done
}

say "each kind of event once, which fills caches"
for thing in connections errors removal pressure killing processors; do
  $thing || fail "$thing: $(tail -3 "$WORK/faults" 2>/dev/null)"
done
# shellcheck disable=SC2154 # scenario.sh's
[ "$failures" = 0 ] || finish
remember

ip netns exec h2 rdma-stream listen 10.9.0.2 7480 >"$WORK/server" 2>&1 &
server=$!
until_true 60 listening h2 7480 || fail "the server does not listen"
ip netns exec h1 rdma-stream connect 10.9.0.2 7480 --seconds "$CHURN_SECONDS" >"$WORK/client" 2>&1 &
client=$!
things=()
for thing in connections errors removal pressure killing processors; do
  until_the_end $thing &
  things+=($!)
done
wait $client
client_status=$?
touch "$WORK/end"
wait "${things[@]}"
wait $server
ended_well "the transfer beside all this was complete and unchanged" $client_status $?
say "turns: $(sort "$WORK/turns" | uniq -c | tr '\n' ' ')"
check "each kind of event happened" test "$(sort -u "$WORK/turns" | wc -l)" = 6
check "no event failed" bash -c "! grep . '$WORK/faults'"
no_more_hosts
nothing_left 400 4000
finish
