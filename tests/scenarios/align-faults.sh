#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Alignment of FPDUs when TCP cannot keep it: packets are lost, the MTU changes, the window shuts.
# Data are compared; captures show where alignment is lost and that it is regained.
. "$(dirname "$0")/../lib/scenario.sh"
begin "alignment under faults"
command -v tcpdump >/dev/null || skip "tcpdump is not installed"
load_modules || finish
. "$(dirname "$0")/../lib/routed.sh"
routed_hosts || finish
sysctl -qw net.core.netdev_max_backlog=100000 # so that packets are lost only on purpose

# lossy HOST N: drops every Nth packet that arrives at the host, behind the capture. N 0: none.
lossy() {
  ip netns exec "$1" tc qdisc del dev wire clsact 2>/dev/null
  [ "$2" != 0 ] || return 0
  ip netns exec "$1" tc qdisc add dev wire clsact &&
    ip netns exec "$1" tc filter add dev wire ingress protocol ip matchall action pass random \
      determ drop "$2"
}

transfer() { # CASE...
  start_router_capture
  cases "transfer" bounded 100 verbs-test run "$@" --addr 10.9.2.2 --server-ns h2 --client-ns h1
  end_capture 10.9.2.2
}

say "every 50th packet lost, data in one direction at a time"
check "loss at h2" lossy h2 50
check "loss at h1" lossy h1 50
transfer bulk
judged "alignment outlives retransmission [TX-04]" --expect all-aligned
check "segments were sent again: $(figure again)" test "$(figure again)" -ge 10

# A limited rate, so that both directions take equally long, whatever the load of the machine.
say "every 50th packet lost, data both ways: SACK blocks take room in data segments"
for port in port1 port2; do
  check "$port is slow" router tc qdisc add dev $port root tbf rate 10mbit burst 64k limit 4m
done
transfer both-ways
for port in port1 port2; do router tc qdisc del dev $port root; done
judged "segments with SACK blocks are not aligned [TX-05]" --least-aligned 25 --quiet
check "alignment comes back and is lost again: $(figure losses) times [TX-05]" \
  test "$(figure losses)" -ge 2
lossy h1 0
lossy h2 0

# A stream at a rate that keeps octets waiting in TCP. It goes on until the sender is interrupted,
# however slowly this script runs.
octets() { ip netns exec h2 cat /sys/class/net/wire/statistics/rx_bytes; }
more_octets() { [ "$(octets)" -gt "$1" ]; }
progress() { until_true 40 more_octets $(($(octets) + $1)) || fail "the transfer does not go on"; }

# fpdus_of LEAST MOST: whether the FPDUs that h1 has sent since the last call have so many octets on
# average.
fpdus_before=0 octets_before=0
fpdus_of() {
  local fpdus octets number
  fpdus=$(counter rd1 tx_fpdus) octets=$(counter rd1 tx_octets)
  number=$((fpdus - fpdus_before))
  [ $number -gt 0 ] || return
  set -- "$@" $(((octets - octets_before) / number))
  fpdus_before=$fpdus octets_before=$octets
  echo "$number FPDUs of $3 octets"
  [ "$3" -ge "$1" ] && [ "$3" -le "$2" ]
}

start_stream() {
  start_router_capture
  router tc qdisc add dev port2 root tbf rate 10mbit burst 64k limit 4m
  ip netns exec h2 rdma-stream listen 10.9.2.2 7480 >"$WORK/server" 2>&1 &
  server=$!
  until_true 20 listening h2 7480 || fail "the server does not listen"
  ip netns exec h1 rdma-stream connect 10.9.2.2 7480 >"$WORK/client" 2>&1 &
  client=$!
  until_true 20 grep -q first "$WORK/server" || fail "the stream does not start"
  progress 1000000
}

end_stream() {
  progress 1000000
  kill -INT $client
  check "the stream ends" eval "until_true 40 gone $client && wait $client"
  check "its receiver ends" eval "until_true 40 gone $server && wait $server"
  check "all data arrive unchanged [TX-03 TX-08]" \
    grep -q "after $(sed -n 's/^ended: sent after \([0-9]*\) .*/\1/p' "$WORK/client") messages" \
    "$WORK/server"
  end_capture 10.9.2.2
  router tc qdisc del dev port2 root
}

say "the sender's MTU shrinks from 4200 to 1500 and grows again"
set_mtu 4200
start_stream
check "large FPDUs" until_true 40 fpdus_of 3000 4200
ip -n h1 link set wire mtu 1500
check "the FPDUs get smaller with the EMSS [SIZ-04]" until_true 40 fpdus_of 1000 1500
progress 1000000
ip -n h1 link set wire mtu 4200
check "and larger [SIZ-04]" until_true 40 fpdus_of 3000 4200
end_stream
judged "alignment is lost and comes back, twice [TX-03 TX-05 SIZ-04]" \
  --from 10.9.1.1 --expect regained --most-losses 4

say "the path's MTU shrinks from 4200 to 1500"
start_stream
check "large FPDUs" until_true 40 fpdus_of 3000 4200
ip -n router link set port2 mtu 1500
check "the FPDUs get smaller with the EMSS [SIZ-04]" until_true 40 fpdus_of 1000 1500
end_stream
judged "alignment is lost and comes back [TX-03 TX-05 TX-07 SIZ-04]" \
  --from 10.9.1.1 --expect regained --most-losses 4
set_mtu 1500

say "the receiver's window shuts"
start_router_capture
cases "a peer that stops receiving" \
  bounded 100 ip netns exec h1 mpa-peer run tx-window-shut --addr 10.9.2.2 --own-addr 10.9.1.1 \
  --target "ip netns exec h2 rdma-target"
end_capture 10.9.2.2
judged "alignment comes back [TX-03 TX-05]" --from 10.9.2.2 --expect regained --least-aligned 50
finish
