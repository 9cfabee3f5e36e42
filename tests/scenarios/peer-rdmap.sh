#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The wire peer against the device: RDMAP and its errors.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "wire peer: RDMAP and its errors"
load_modules || finish
two_hosts || finish
. "$(dirname "$0")/../lib/peer.sh"
peer_matrix 'rdmap-*'
finish
