#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The wire peer against the device: how connections end.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "wire peer: how connections end"
load_modules || finish
two_hosts || finish
. "$(dirname "$0")/../lib/peer.sh"
peer_matrix 'end-*'
finish
