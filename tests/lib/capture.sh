# SPDX-License-Identifier: GPL-2.0
# Sourced after scenario.sh: captures of packets in a namespace, into $WORK/pcap.
# shellcheck shell=bash

# start_capture NAMESPACE TCPDUMP-OPTION...
start_capture() {
  ip netns exec "$1" tcpdump "${@:2}" -s 0 -B 65536 -U -w "$WORK/pcap" 'tcp or icmp' \
    2>"$WORK/tcpdump" &
  tcpdump=$!
  until_true 20 grep -q "listening on" "$WORK/tcpdump" ||
    fail "tcpdump does not start: $(cat "$WORK/tcpdump")"
}

# end_capture ADDRESS: h1 sends a ping with a unique pattern to ADDRESS after all segments; tcpdump
# must have captured it, and must have dropped no packet.
end_capture() {
  in1 ping -c 1 -p 656e646f66636170 "$1" >/dev/null
  until_true 20 grep -qa endofcapendofcap "$WORK/pcap" || fail "the capture has no end"
  kill $tcpdump
  wait $tcpdump
  grep -q "^0 packets dropped by kernel" "$WORK/tcpdump" ||
    fail "the capture is not complete: $(tail -3 "$WORK/tcpdump")"
}
