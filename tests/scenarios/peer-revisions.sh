#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The wire peer against the device: revision 0, the additions of revision 2 to the startup, the
# startups of RNICs.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "wire peer: revision 0, the additions of revision 2, RNICs"
[ "$LINKTYPE" = iwmpa ] || skip "siw speaks neither revision 0 nor every RTR"
load_modules || finish
two_hosts || finish
. "$(dirname "$0")/../lib/peer.sh"

cases "additions of revision 2" peer 'enhanced-*'
check "each second attempt is counted [ENH-09]" until_true 10 counts rd2 cm_fallbacks 4

cases "startups of RNICs" peer 'profile-*'
set_parameter markers Y
set_parameter crc N
cases "startups of RNICs, settings: Markers on, CRC off" peer 'profile-*'
set_parameter markers N
set_parameter crc Y

# Revision 0 overrides the administrator's settings of Markers and CRC.
cases "revision 0" peer 'rdmac-*'
set_parameter markers Y
set_parameter crc N
cases "revision 0, settings: Markers on, CRC off" peer rdmac-talk rdmac-mixed
set_parameter markers N
set_parameter crc Y
# Cases of the other suites, all of them with Markers, CRC and headers of version 0.
cases "revision 0: framing, DDP, RDMAP, the end" \
  peer --rev 0 fpdu-cut-long marker-places marker-device-places crc-bad-write \
  ddp-msn-range ddp-write-bounds rdmap-read rdmap-read-bounds rdmap-send-kinds 'rdmap-device-*' \
  rdmap-terminate-received startup-responder-waits end-device-closes end-peer-closes

set_parameter rdmac N
errors=$(counter rd2 startup_errors)
cases "revision 0 is refused" peer no-rdmac-refused rdmac-unasked
check "each refusal is counted [RDC-04 STA-06]" \
  until_true 10 counts rd2 startup_errors $((errors + 5))
set_parameter rdmac Y
set_device rd2 rdmac N || fail "rdmac of the device"
cases "revision 0 is refused by one device" peer no-rdmac-refused rdmac-unasked
check "and counted" until_true 10 counts rd2 startup_errors $((errors + 10))
set_parameter rdmac N
set_device rd2 rdmac Y || fail "rdmac of the device"
cases "revision 0 is accepted by one device" peer rdmac-talk
set_parameter rdmac Y
finish
