#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The wire peer against the device: FPDUs, CRC and Markers.
# timeout: 400
. "$(dirname "$0")/lib.sh"
begin "wire peer: FPDUs, CRC and Markers"
load_modules || finish
two_hosts || finish
. "$(dirname "$0")/peer.sh"
peer_matrix 'fpdu-*' 'crc-*' 'marker-*'
finish
