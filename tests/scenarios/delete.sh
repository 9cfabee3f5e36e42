#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link is deleted at once, whatever the network does: connects without an answer, undecided
# requests, transfers whose peer cannot be reached. A startup or a connect may take an hour here,
# and no deletion may wait for one.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "rdma link delete while the network is silent"
[ "$LINKTYPE" = iwmpa ] || skip "needs startup_timeout"
load_modules startup_timeout=3600 || finish
two_hosts || finish
in1 sysctl -qw net.ipv4.tcp_syn_retries=60 net.ipv4.tcp_retries2=60 ||
  fail "cannot set TCP's retries"
# Frames to this address reach h2, which drops them.
nobody=02:00:00:00:00:09
unanswered() { ip -n "$1" neigh replace "$2" lladdr $nobody dev wire nud permanent; }

# deletes TEXT LINK: deletes the link long before the connections' timers expire.
deletes() {
  local from=${EPOCHREALTIME//[.,]/}
  check "$1: rdma link delete $2" bounded 30 rdma link delete "$2"
  echo "   ... after $(((${EPOCHREALTIME//[.,]/} - from) / 1000)) ms"
}
again() { check "rd$1 again" ip netns exec h$1 rdma link add rd$1 type "$LINKTYPE" netdev wire; }
socket() { in1 ss -Htn state "$1" dst "$2" | grep -q .; }
removed() {
  check "the program '$1' gets DEVICE_REMOVAL" until_true 20 grep -q DEVICE_REMOVAL "$WORK/$1.out"
}

say "a connect whose SYN is lost"
unanswered h1 10.9.0.9
talk_to syn h1 rdma-target
answers "a connect" syn "connect 10.9.0.9 7471" "^= ok"
check "it waits" until_true 20 socket syn-sent 10.9.0.9:7471
deletes "a SYN without an answer" rd1
removed syn
again 1

say "a connect to a service that sends nothing"
echo "discard stream tcp nowait root internal" >"$WORK/inetd.conf"
in2 inetd -i "$WORK/inetd.conf" &
check "the service" until_true 20 listening h2 9
talk_to reply h1 rdma-target
answers "a connect" reply "connect 10.9.0.2 9" "^= ok"
check "it waits" until_true 20 socket established 10.9.0.2:9
deletes "a Request without an answer" rd1
removed reply
again 1

say "a request that the program does not decide on"
talk_to server h2 rdma-target
answers "a listener" server "listen 10.9.0.2 7471" "^= ok"
talk_to client h1 rdma-target
answers "a connect" client "connect 10.9.0.2 7471" "^= ok"
check "a request" until_true 20 grep -q CONNECT_REQUEST "$WORK/server.out"
deletes "an undecided request" rd2
removed server
check "the peer gets an event" \
  until_true 20 grep -qE "event=(REJECTED|CONNECT_ERROR|UNREACHABLE)" "$WORK/client.out"
again 2

say "a transfer that has stalled"
in2 rdma-stream listen 10.9.0.2 7481 >"$WORK/server" 2>&1 &
check "a server" until_true 20 listening h2 7481
in1 rdma-stream connect 10.9.0.2 7481 >"$WORK/stream" 2>&1 &
check "a transfer" until_true 30 grep -q first "$WORK/server"
unanswered h1 10.9.0.2
check "nothing gets through" until_true 60 stalled 7481
deletes "the sender, whose segments are lost" rd1
deletes "the receiver, to which no data arrive" rd2
ip -n h1 neigh delete 10.9.0.2 dev wire
again 1
again 2

check "connections can be made" \
  bounded 60 verbs-test run graceful --addr 10.9.0.2 --server-ns h2 --client-ns h1
finish
