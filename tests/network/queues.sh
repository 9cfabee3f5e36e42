#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Transfers through packet schedulers, and over a wire that loses, reorders, duplicates and corrupts
# packets.
# suite: network
. "$(dirname "$0")/../lib/network.sh"
begin "packet schedulers"
load_modules || finish

# through MODULE ARGUMENT...: a transfer with this root qdisc on both hosts.
through() {
  need_modules "$1" || return
  two_hosts || return
  qdiscs "${@:2}" || return
  transfer 10.9.0.2
  transfer fd09::2
  transfer_by_hand 10.9.0.2
  check "the qdisc has sent the data" eval '[ "$(sent_by_qdisc 1)" -ge 1048576 ]'
}
tbf() { through sch_tbf tbf rate 100mbit burst 64k limit 1m; }
fq() { through sch_fq fq maxrate 200mbit; }
cake() { through sch_cake cake bandwidth 100mbit; }
loss() { through sch_netem netem delay 2ms loss 2%; }
reorder() { through sch_netem netem delay 5ms reorder 25% 50%; }
duplicate() { through sch_netem netem delay 1ms duplicate 10%; }

# fq_codel acts when a queue builds up: below a limited rate.
fq_codel() {
  local h
  need_modules sch_tbf sch_fq_codel || return
  two_hosts || return
  qdiscs handle 1: tbf rate 50mbit burst 32k limit 1m || return
  for h in 1 2; do
    check "fq_codel below it" \
      "in$h" tc qdisc add dev wire parent 1: handle 2: fq_codel target 1ms interval 10ms
  done
  transfer 10.9.0.2
  check "fq_codel has sent the data" \
    eval '[ "$(in1 tc -s qdisc show dev wire parent 1: |
    awk "/ Sent / { print \$2 }")" -ge 1048576 ]'
}

# netem computes TCP's checksum before it flips a bit, and only in the linear part of the packet,
# which without sg is the whole.
corrupt() {
  need_modules sch_netem || return
  two_hosts || return
  check "packets are linear" both ethtool -K wire sg off
  qdiscs netem delay 1ms corrupt 2% || return
  transfer 10.9.0.2 120
  check "TCP has found wrong checksums" \
    eval '[ $(($(tcp_counter 1 TcpInCsumErrors) + $(tcp_counter 2 TcpInCsumErrors))) -ge 1 ]'
}

# On veth the receiver does not compute TCP's checksum, so that a change behind the sender's
# checksum passes TCP. pedit changes one octet of each 40th large packet that arrives: only MPA's
# CRC can find it.
corrupt_unseen() {
  need_modules sch_ingress cls_u32 act_gact act_pedit || return
  two_hosts || return
  start_stream 10.9.0.2 || return
  check "an octet of some packets changes unseen by TCP" \
    eval 'in2 tc qdisc add dev wire clsact && in2 tc filter add dev wire ingress \
    protocol ip u32 match ip protocol 6 0xff match u16 0x0400 0x0400 at 2 \
    action pass random determ pipe 40 action pedit munge offset 300 u8 invert' || return
  check "the stream ends" until_true 60 grep -E "ended: |changed" "$WORK/server"
  check "... and no changed data were delivered" eval '! grep changed "$WORK/server"'
  check "... because of the CRC" eval '[ "$(counter rd2 rx_crc_errors)" -ge 1 ]'
  check "... also at the sender" until_true 60 grep "ended: " "$WORK/client"
  check "TCP has found no wrong checksum" eval '[ "$(tcp_counter 2 TcpInCsumErrors)" = 0 ]'
  check "the wire no longer corrupts" in2 tc qdisc delete dev wire clsact
  transfer 10.9.0.2
}

row tbf "tbf: a token bucket"
row fq "fq: paced"
row fq-codel "fq_codel below a token bucket"
row cake "cake"
row loss "netem: 2 % of the packets are lost"
row reorder "netem: packets overtake others"
row duplicate "netem: 10 % of the packets come twice"
row corrupt "netem: a bit flips in 2 % of the packets, TCP's checksum finds it"
row corrupt-unseen \
  "an octet changes behind TCP's checksum: MPA's CRC ends the connection, no wrong data"
finish
