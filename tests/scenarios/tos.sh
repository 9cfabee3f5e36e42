#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All packets of a connection, from the first to the last, have the type of service that its program
# has set through rdma_cm.
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/capture.sh"
begin "type of service"
[ "$LINKTYPE" = iwmpa ] || skip "siw has none"
command -v tcpdump >/dev/null || skip "tcpdump is not installed"
load_modules || finish
two_hosts || finish
for h in 1 2; do ip netns exec h$h sysctl -qw net.ipv4.tcp_ecn=1; done
talk_to client h1 rdma-target
talk_to server h2 rdma-target

# Prints a line for each packet of the capture that matches.
packets() { tcpdump -n -r "$WORK/pcap" "tcp and $1" 2>/dev/null; }
none() { packets "$1"; [ -z "$(packets "$1")" ]; }
some() { [ "$(packets "$1" | wc -l)" -ge 3 ]; }
nobody_left() {
  [ -z "$(in1 ss -Htn state connected exclude time-wait
    in2 ss -Htn state connected exclude time-wait)" ]
}

# connection TEXT SERVER CLIENT CLASS PORT TOS-OF-LISTENER TOS-OF-INITIATOR: makes, uses and ends a
# connection. CLASS is tcpdump's expression for the field; TCP sets its lowest two bits (ECN).
connection() {
  local text=$1 server=$2 client=$3 class=$4 port=$5 tos=$6 client_tos=$7
  start_capture h1 -i wire
  answers "$text: a listener" server "listen $server $port tos=$tos" "^= ok port=$port"
  tell client "connect $server $port tos=$client_tos"
  until_true 20 heard server "CONNECT_REQUEST" || fail "$text: no Request"
  answers "$text: accepted" server "accept" "ESTABLISHED"
  answers "$text: octets there" client "send 4000 1" "op=SEND status=SUCCESS"
  answers "$text: octets back" server "send 100 1" "op=SEND status=SUCCESS"
  answers "$text: the end" client "disconnect" "DISCONNECTED"
  answers "$text: the client destroys the connection" client "reset" "^= ok"
  answers "$text: the server destroys the connection" server "reset" "^= ok"
  check "$text: the connection is over" until_true 40 nobody_left
  end_capture 10.9.0.2
  check "$text: the Initiator's packets have $client_tos" \
    some "src $client and $class & 0xfc = $client_tos"
  check "$text: all of the Initiator's" none "src $client and $class & 0xfc != $client_tos"
  check "$text: the Responder's packets have $tos" some "src $server and $class & 0xfc = $tos"
  check "$text: all of the Responder's" none "src $server and $class & 0xfc != $tos"
  check "$text: TCP sets the ECN bits" some "src $client and $class & 3 = 2"
}
connection "IPv4" 10.9.0.2 10.9.0.1 "ip[1]" 7471 0x68 0x20
connection "IPv6" fd09::2 fd09::1 "((ip6[0:2] >> 4) & 0xff)" 7472 0x68 0x20
connection "no type of service set" 10.9.0.2 10.9.0.1 "ip[1]" 7473 0 0
hang_up client server
finish
