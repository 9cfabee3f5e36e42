#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The link goes down while a transfer runs, and comes up again: the transfer continues, with correct
# data. A transfer on another link of the same host is not affected.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "link down in mid-transfer"
load_modules || finish
two_hosts || finish
ip -n h2 link add other type dummy && ip -n h2 link set other up &&
  ip -n h2 addr add 10.7.0.2/24 dev other
check "another link on h2" \
  ip netns exec h2 rdma link add rd3 type "$LINKTYPE" netdev other || finish

# stream NAME NAMESPACE ADDRESS: starts an endless transfer into h2, which compares the data.
declare -A sender
stream() {
  ip netns exec h2 rdma-stream listen "$3" 7481 >"$WORK/$1.server" 2>&1 &
  until_true 20 listening h2 7481 || return 1
  ip netns exec "$2" rdma-stream connect "$3" 7481 >"$WORK/$1.client" 2>&1 &
  sender[$1]=$!
  until_true 30 grep -q first "$WORK/$1.server"
}
state() { rdma link show "$1/1" | grep -q "state $2"; }
past() { [ "$(counter "$1" rx_sends)" -gt "$2" ]; }
# goes_on LINK: waits until the link has received more messages than can have been in flight.
goes_on() { until_true 90 past "$1" $(($(counter "$1" rx_sends) + 100)); }
runs() { ! grep -H . "$WORK/$1.server" "$WORK/$1.client" | grep -v first; }
ends() {
  kill "${sender[$1]}"
  until_true 30 grep -q "ended: " "$WORK/$1.server" && ! grep changed "$WORK/$1.server"
}

check "a transfer over the wire" stream wire h1 10.9.0.2
check "one that stays on h2" stream local h2 10.7.0.2
for round in 1 2 3; do
  say "down, time $round"
  in2 ip link set wire down
  check "TCP retransmits" until_true 60 stalled 7481
  check "the port is down" until_true 10 state rd2 DOWN
  check "the other transfer goes on" goes_on rd3
  in2 ip link set wire up
  check "the port comes up" until_true 10 state rd2 ACTIVE
  check "the transfer goes on" goes_on rd2
  check "the transfer has not ended" runs wire
  check "... nor has the other" runs local
done
check "all data arrived unchanged" ends wire
check "... also on the other link" ends local
finish
