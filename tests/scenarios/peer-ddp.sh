#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The wire peer against the device: DDP and its errors.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "wire peer: DDP and its errors"
load_modules || finish
two_hosts || finish
. "$(dirname "$0")/../lib/peer.sh"
peer_matrix 'ddp-*'
[ "$LINKTYPE" != iwmpa ] || set_device rd2 receive_wait 600000 || fail "receive_wait"
[ "$LINKTYPE" != iwmpa ] || peer_matrix 'late-*'
finish
