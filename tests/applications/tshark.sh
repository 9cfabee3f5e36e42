#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tshark makes of captures: without Markers it must find as many FPDUs as the devices count,
# each with a good CRC.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
. "$(dirname "$0")/../lib/capture.sh"
begin "tshark dissects connections"
{ has tshark && has tcpdump; } || skip "tshark or tcpdump is missing"
[ "$LINKTYPE" = iwmpa ] || skip "compares with iwmpa's counters"
load_modules || finish
two_hosts || finish
# tshark misses FPDUs when a busy host sends a segment again.
for host in in1 in2; do
  $host sysctl -qw net.ipv4.tcp_early_retrans=0 &&
    $host ip route change 10.9.0.0/24 dev wire rto_min 100s || fail "TCP's timers are unchanged"
done

sent() { echo $(($(counter rd1 tx_fpdus) + $(counter rd2 tx_fpdus))); }
# The RDMA core caches counters for 10 ms.
sent_since() { [ $(($(sent) - $1)) = "$2" ]; }
found() { grep -cE "$1" "$WORK/text"; }

# dissected CASE...: captures these cases and has tshark dissect them; $before is the number of
# FPDUs until then.
dissected() {
  before=$(sent)
  start_capture h1 -i wire
  cases "captured" bounded 120 verbs-test run "$@" --addr 10.9.0.2 --server-ns h2 --client-ns h1
  end_capture 10.9.0.2
  bounded 200 tshark -r "$WORK/pcap" -V >"$WORK/text" 2>/dev/null || fail "tshark fails"
  check "$(found 'Request frame header') startups" test "$(found 'Request frame header')" != 0
  check "... and their Replies" \
    test "$(found 'Request frame header')" = "$(found 'Reply frame header')"
}

say "without Markers"
dissected bulk ping-pong wrong-rkey --count 20
check "$(found 'ULPDU length:') FPDUs" until_true 5 sent_since "$before" "$(found 'ULPDU length:')"
check "each has a good CRC" test "$(found 'CRC check:.*Good CRC32')" = "$(found 'ULPDU length:')"
for opcode in 'Write .0x0' 'Read Request' 'Read Response' 'Send' 'Terminate'; do
  check "$(found "OpCode: $opcode") times $opcode" test "$(found "OpCode: $opcode")" != 0
done

say "with Markers, one FPDU in a packet"
set_parameter markers Y
dissected ping-pong --count 20
check "$(found 'ULPDU length:') FPDUs" until_true 5 sent_since "$before" "$(found 'ULPDU length:')"

say "with Markers, several FPDUs in a packet"
dissected bulk
say "tshark finds $(found 'ULPDU length:') FPDUs of $(($(sent) - before))"
finish
