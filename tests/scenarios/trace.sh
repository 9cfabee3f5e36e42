#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tracepoints: events of a connection with a known number of messages, of blocked senders, and of
# Terminates. No events when off.
. "$(dirname "$0")/../lib/scenario.sh"
begin "tracepoints"
[ "$LINKTYPE" = iwmpa ] || skip "they are iwmpa's"
load_modules || finish
two_hosts || finish
. "$(dirname "$0")/../lib/peer.sh"

tracing=/sys/kernel/tracing
[ -e $tracing/events ] || mount -t tracefs tracefs $tracing || { fail "no tracefs"; finish; }
other_cpus() {
  local cpu
  for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do echo "$1" >"$cpu" || return 1; done
}
# events 0|1: with one CPU online, because another emulated CPU may translate code that is being
# patched, and run into its temporary breakpoint for ever.
events() {
  other_cpus 0 && echo "$1" >$tracing/events/mpa/enable &&
    echo "$1" >$tracing/events/iwmpa/enable && other_cpus 1
}
# holds N REGEX: whether exactly N lines of the trace match.
holds() {
  local n
  grep -v '^#' $tracing/trace >"$WORK/trace"
  n=$(grep -cE -- "$2" "$WORK/trace")
  [ "$n" = "$1" ] || { echo "$n lines match '$2', not $1, of:"; cat "$WORK/trace"; return 1; }
}
some() { grep -qE -- "$1" $tracing/trace || { grep -v '^#' $tracing/trace; return 1; }; }
# matches A B: whether as many lines match A as B, and at least one.
matches() { some "$1" && holds "$(grep -cE -- "$1" $tracing/trace)" "$2"; }
forget() { : >$tracing/trace; }
# tell_all NAME COMMAND...: sends commands without waiting for the answers.
tell_all() { local name=$1; shift; printf '%s\n' "$@" >&"${told_by[$name]}"; }

talk_to server h2 rdma-target
talk_to client h1 rdma-target
check "the events are turned on" events 1
forget
answers "a listener" server "listen 10.9.0.2 7471" "= ok"
answers "a connection" client "connect 10.9.0.2 7471 ord=1" "= ok"
check "its Request" until_true 10 grep -q CONNECT_REQUEST "$WORK/server.out"
memory=$(ask server accept)
check "established" until_true 10 grep -q ESTABLISHED "$WORK/client.out"
rkey=$(sed 's/.*rkey=\([^ ]*\).*/\1/' <<<"$memory") \
  addr=$(sed 's/.*addr=\([^ ]*\).*/\1/' <<<"$memory")

say "startup"
for frame in "sent Request rev=2 M=0 C=1 R=0 S=1 A=1 .* ird=16 ord=1 " \
  "received Request .* ird=16 ord=1 " \
  "sent Reply rev=2 M=0 C=1 R=0 .* ord=16 " "received Reply .* ord=16 .* large=0"; do
  check "$(cut -d" " -f1,2 <<<"$frame")" holds 1 "mpa_startup_frame: .* $frame"
done
check "each end has its verdict" holds 2 "mpa_startup_end: .* status=0"
check "the verdict names the connection" \
  holds 1 "mpa_startup_end: .* local=10.9.0.1:[0-9]+ peer=10.9.0.2:7471 Initiator"
check "the parameters of Full Operation" \
  holds 2 "mpa_full: .* rev=2 tx_markers=0 rx_markers=0 crc=1 .* emss=1448 mulpdu=1442 large=0"
check "both queue pairs can send" holds 2 "iwm_qp_state: .* IDLE -> RTS"

say "five messages of 3000 octets"
forget
# One at a time: messages that wait together share segments, and FPDUs end where segments end.
for i in 1 2 3 4 5; do
  tell_all client "send 3000 $i"
  check "message $i arrives" until_true 20 \
    eval '[ "$(grep -c op=RECV "$WORK/server.out")" = $i ] &&
    [ "$(grep -c op=SEND "$WORK/client.out")" = $i ]'
done
check "posted" holds 5 "iwm_post_send: dev=[0-9]+ qpn=[0-9]+ .* opcode=SEND num_sge=1"
check "FPDUs sent that fill a segment" \
  holds 10 "mpa_tx_fpdu: .* wire=1448 ulpdu_len=1442 markers=0 crc=on"
check "the last of each message" holds 5 "mpa_tx_fpdu: .* wire=176 ulpdu_len=170 "
check "given to TCP" some "mpa_tx_batch: .* octets=[0-9]+ fpdus=[1-9][0-9]* waiting=0"
check "FPDUs received, with good CRCs" holds 15 "mpa_rx_fpdu: .* markers=0 crc=good err=none"
check "placed" holds 15 "iwm_place: .* SEND stag=.* ret=0"
check "completed by the sender" \
  holds 5 "iwm_complete: .* opcode=SEND status=SUCCESS octets=3000 cqe=1"
check "completed by the receiver" \
  holds 5 "iwm_complete: .* opcode=RECEIVE status=SUCCESS octets=3000 cqe=1"

say "blocked senders"
forget
ip -n h2 link set wire down
tell_all client "read 1000 $rkey $addr" "read 1000 $rkey $addr"
check "the second Read waits: the ORD is 1" until_true 10 some "iwm_sq_blocked: .* why=read reads=1"
ip -n h2 link set wire up
check "it waits until the first is answered" until_true 20 some "iwm_sq_unblocked: .* why=read"
check "both complete" until_true 20 eval '[ "$(grep -c op=READ "$WORK/client.out")" = 2 ]'
check "and nothing waits" matches "iwm_sq_blocked:" "iwm_sq_unblocked:"
forget
ip -n h2 link set wire down
tell_all client "write 65536 1 $rkey $addr" "write 65536 2 $rkey $addr" \
  "write 65536 3 $rkey $addr" "write 65536 4 $rkey $addr"
check "Writes wait for TCP" until_true 10 some "iwm_sq_blocked: .* why=tcp"
check "TCP's send buffer is full" \
  some "mpa_tx_blocked: .* waiting=[1-9][0-9]* queued=[1-9][0-9]* sndbuf="
ip -n h2 link set wire up
check "they wait until TCP has room" until_true 20 some "mpa_tx_unblocked: .* ns=[1-9]"
check "all are sent" until_true 20 eval '[ "$(grep -c op=WRITE "$WORK/client.out")" = 4 ]'
check "and nothing waits" until_true 10 matches "iwm_sq_blocked:" "iwm_sq_unblocked:"

say "the end"
forget
tell_all client disconnect
check "the queue pair closes in order" until_true 10 holds 1 "iwm_qp_state: .* RTS -> CLOSING"
check "both ends receive a FIN" until_true 10 holds 2 "mpa_end: .* err=tcp_lost status=0"
hang_up client server
wait

say "a server that sends first"
forget
cases "a peer of revision 1 that does not send first" peer startup-responder-waits --role initiator
check "the server waits for its first FPDU" some "iwm_sq_blocked: .* why=startup"

say "Terminates"
forget
cases "a bad CRC" peer crc-bad-send --role initiator
check "the CRC is bad" some "mpa_rx_fpdu: .* crc=bad err=crc"
check "it ends each connection" \
  matches "mpa_rx_fpdu: .* crc=bad err=crc" "mpa_end: .* err=crc status=-74"
check "by a Terminate" \
  matches "mpa_end: .* err=crc" \
  "iwm_terminate: .* sent layer=2 etype=0 ecode=0x2 \(MPA: CRC error\)"
check "and by no other Terminate" holds 0 "iwm_terminate: .* (sent layer=[^2]|received)"
check "queue pairs are in TERMINATE" matches "iwm_terminate:" "iwm_qp_state: .* RTS -> TERMINATE"
forget
cases "a Terminate of the peer" peer rdmap-terminate-received --role initiator
check "it is received" some "iwm_terminate: .* received layer=[0-2] etype="
check "it is not answered" holds 0 "iwm_terminate: .* sent"
forget
cases "invalid startup frames" peer startup-wrong-key
check "they have their verdict" some "mpa_startup_end: .* status=-71"
check "no event was lost" eval '! grep -h "^overrun: [1-9]" $tracing/per_cpu/cpu*/stats'

say "off"
check "the events are turned off" events 0
forget
cases "a connection" peer rdmap-device-sends --role initiator
check "it leaves no events" holds 0 "."
finish
