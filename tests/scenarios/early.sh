#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Segments that TCP holds out of order are placed before the gap closes, and delivered in their
# turn.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "early placement"
modprobe -a cls_u32 act_gact sch_netem sch_plug sch_prio || skip "no packet scheduler here"
load_modules markers=Y || finish
two_hosts || finish
# One segment is one packet, so that it can be held back or dropped.
for h in 1 2; do ip -n h$h link set wire gso_max_segs 1; done

early() { counter "rd$1" rx_placed_early; } # the number of FPDUs that this host has placed early
placed_more() { [ "$(early "$1")" -gt "$2" ]; }
sum_is() { [ "$(ask t2 "sum 0 $1 $2")" = "$3" ]; }
received() { [ "$(grep -c 'op=RECV status=SUCCESS' "$WORK/t2.out")" = "$1" ]; }

start_pair() {
  local h
  for h in 1 2; do talk_to t$h h$h rdma-target; done
  ask t2 "listen 10.9.0.2 7471" >"$WORK/out"
  ask t1 "connect 10.9.0.2 7471" >"$WORK/out"
  check "its CONNECT_REQUEST" until_true 10 grep -q CONNECT_REQUEST "$WORK/t2.out"
  region=$(ask t2 accept)
  check "established" until_true 10 grep -q ESTABLISHED "$WORK/t1.out"
  key=${region#*rkey=} address=${region#*addr=}
  key=${key%% *} address=${address%% *}
}

end_pair() {
  hang_up t1 t2
  wait
}

# to OFFSET LENGTH SEED: prints the command that writes to this place in h2's region
to() { echo "write $2 $3 $key $((address + $1))"; }

# gate: lets h1 hold back IPv4 packets of 352 to 383 octets. An RDMA Write of 300 octets is such a
# packet, wherever Markers fall. TCP does not retransmit a packet that is still in its host. If
# these packets were dropped instead, TCP would retransmit, and on a slow machine it would soon send
# only retransmissions, before all that follows has left.
gate() {
  in1 tc qdisc add dev wire root handle 1: prio bands 4 &&
    in1 tc qdisc add dev wire parent 1:4 handle 4: plug limit 100000 &&
    in1 tc filter add dev wire parent 1: protocol ip prio 1 u32 match u16 0x0160 0xffe0 at 2 \
      flowid 1:4
}
hold() { in1 tc qdisc change dev wire parent 1:4 handle 4: plug block; }
release() { in1 tc qdisc change dev wire parent 1:4 handle 4: plug release_indefinite; }

# late_write: holds back a Write of 300 octets; 10000 octets and a Send follow it.
late_write() {
  ask t2 "fill 0 9" >"$WORK/out"
  old=$(ask t2 "sum 0 0 300")
  check "a segment is held back" hold
  printf '%s\n' "$(to 0 300 2)" "$(to 4096 10000 3)" "send 100 4" >&"${told_by[t1]}"
}

check "segments can be held back" gate
say "one segment is missing"
start_pair
printf '%s\n' "$(to 4096 10000 3)" "send 10 1" >&"${told_by[t1]}"
check "the same octets without a gap, for comparison" until_true 10 received 1
want=$(ask t2 "sum 0 4096 10000")
before=$(early 2)
late_write
check "the octets behind the gap are placed before it closes [DDP-09 RCV-04]" \
  until_true 10 sum_is 4096 10000 "$want"
check "the missing Write is not there yet" sum_is 0 300 "$old"
check "nothing is delivered before its turn [DDP-09]" received 1
check "early placement is counted" placed_more 2 "$before"
check "the gap closes" release
check "then the Send is delivered [DDP-09]" until_true 30 received 2
check "the missing Write is placed" test "$(ask t2 "sum 0 0 300")" != "$old"
check "the octets placed early are unchanged [RCV-05]" sum_is 4096 10000 "$want"
end_pair

check "another segment is held back" hold
. "$(dirname "$0")/../lib/peer.sh"
cases "checks" peer 'held-*' --markers 1 --gate "tc qdisc change dev wire parent 1:4 handle 4: plug"
release
in1 tc qdisc delete dev wire root
for markers in 1 0; do
  cases "segments, markers $markers" peer 'segments-*' --markers $markers --seed 5
done
check "segments can be held back again" gate

say "the same without early placement"
set_parameter early_placement N
start_pair
before=$(early 2)
late_write
check "octets wait behind the gap" \
  until_true 10 eval 'in2 ss -Htin state established sport = :7471 | grep rcv_ooopack'
check "the gap closes" release
check "the Send is delivered" until_true 30 received 1
check "all octets are placed" sum_is 4096 10000 "$want"
check "nothing was placed early" test "$(early 2)" = "$before"
end_pair
set_parameter early_placement Y

# Every 40th incoming packet is dropped; one of four overtakes those before it.
lossy() {
  local h
  for h in 1 2; do
    ip netns exec h$h tc qdisc add dev wire root netem delay 5ms reorder "$1" 50% &&
      ip netns exec h$h tc qdisc add dev wire clsact &&
      ip netns exec h$h tc filter add dev wire ingress protocol all prio 1 u32 match u32 0 0 \
        action pass random determ drop 40 || return 1
  done
}

say "loss and reordering"
check "nothing is held back any more" in1 tc qdisc delete dev wire root
check "lossy links" lossy 25%
for crc in Y N; do
  set_parameter crc $crc
  one=$(early 1) two=$(early 2)
  cases "integrity, CRC $crc [DDP-09 RCV-05]" bounded 150 verbs-test run integrity sizes \
    --addr 10.9.0.2 --server-ns h2 --client-ns h1 --seed 5 --count 10
  if [ $crc = Y ]; then
    check "h1 placed Responses early [DDP-09]" placed_more 1 "$one"
    check "h2 placed Writes early [DDP-09]" placed_more 2 "$two"
  else
    check "without a CRC nothing is placed early [RCV-01]" \
      test "$(early 1) $(early 2)" = "$one $two"
  fi
done
finish
