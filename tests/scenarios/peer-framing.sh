#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The wire peer against the device: FPDUs, CRC and Markers.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "wire peer: FPDUs, CRC and Markers"
load_modules || finish
two_hosts || finish
. "$(dirname "$0")/../lib/peer.sh"
mark_log
peer_matrix 'fpdu-*' 'crc-*' 'marker-*'
check "invalid FPDUs do not fill the kernel's log" log_grew_less_than 10
finish
