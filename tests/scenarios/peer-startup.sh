#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The wire peer against the device: MPA startup.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "wire peer: MPA startup"
load_modules || finish
two_hosts || finish
. "$(dirname "$0")/../lib/peer.sh"
mark_log

# The cases of startups that never complete run below, with a shorter timeout; the cases here must
# not need the timeout.
mapfile -t quick < <(mpa-peer list |
  awk '/^startup-/ && $1 != "startup-silent" && $1 != "startup-drip" { print $1 }')
peer_matrix "${quick[@]}"
cases "over IPv6" \
  bounded 60 ip netns exec h1 mpa-peer run startup-basic startup-revisions \
  crc-bad-write end-peer-closes \
  --addr fd09::2 --own-addr fd09::1 --target "ip netns exec h2 rdma-target"
[ "$LINKTYPE" != iwmpa ] || set_parameter startup_timeout 4
cases "unfinished startups" \
  peer startup-silent startup-drip --startup-bound "$([ "$LINKTYPE" = iwmpa ] && echo 7 || echo 30)"
# Private Data that iw_cm cannot carry are logged, with at most 10 lines in 5 seconds; hundreds of
# malformed frames are not.
check "invalid startup frames do not fill the kernel's log" log_grew_less_than 30
[ "$LINKTYPE" = iwmpa ] || finish

say "FPDUs larger than a segment, by agreement"
for large in never local; do
  set_device rd2 large_fpdus $large || fail "large_fpdus"
  cases "large_fpdus=$large" peer no-large-unasked
done
set_device rd2 large_fpdus agreed || fail "large_fpdus"
cases "large_fpdus=agreed" peer large-agreed large-ignored large-rdmac
cases "large_fpdus=agreed, Markers to the peer" peer large-agreed large-ignored --markers 1
mark_log
cases "a peer that refuses the bit" peer large-closed large-rejected
bit="the reserved bit of large_fpdus=agreed"
for text in "closed in place of a Reply: connecting again with revision 1, without $bit" \
  "rejected the connection: if it rejects all, it may not accept $bit"; do
  check "the kernel's log says so" until_true 10 log_has "10.9.0.1:[0-9]* $text"
done
mark_log
cases "a reject that has another reason" peer large-rejected-ulp
check "the log does not blame the bit" eval '! log_has large_fpdus'
set_device rd2 large_fpdus default || fail "large_fpdus"
finish
