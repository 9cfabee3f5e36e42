# SPDX-License-Identifier: GPL-2.0
# Sourced by the peer-*.sh scenarios.
# shellcheck shell=bash

# Cases that send without a receive want the Terminate at once.
[ "$LINKTYPE" != iwmpa ] || set_device rd2 receive_wait 0 || fail "receive_wait"

# The peer is on h1, the device under test on h2.
peer() {
  bounded 380 ip netns exec h1 mpa-peer run "$@" --addr 10.9.0.2 --own-addr 10.9.0.1 \
    --target "ip netns exec h2 rdma-target"
}

# peer_matrix CASE...: runs the cases with several combinations of Markers, CRC and revision.
peer_matrix() {
  cases "no Markers" peer "$@"
  [ "$LINKTYPE" = iwmpa ] || return 0
  set_parameter markers Y
  cases "Markers both ways" peer "$@" --markers 1
  set_parameter crc N
  cases "Markers to the device, no CRC" peer "$@" --crc 0
  set_parameter markers N
  cases "revision 1, no Markers, no CRC" peer "$@" --crc 0 --rev 1
  set_parameter crc Y
}
