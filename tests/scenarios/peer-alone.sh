#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iwmpa-peer over the network, which needs only a listener that accepts: lines and table, TAP,
# JUnit.
. "$(dirname "$0")/../lib/scenario.sh"
begin "iwmpa-peer and a listener that accepts"
load_modules || finish
two_hosts || finish
[ "$LINKTYPE" != siw ] || siw=--siw

in2 rping -s -P -a 10.9.0.2 >"$WORK/rping" 2>&1 &
check "rping listens" until_true 10 listening h2 7174
# alone ARGUMENT...
alone() { bounded 200 ip netns exec h1 iwmpa-peer --target 10.9.0.2:7174 ${siw:-} "$@"; }

cases "no Markers" alone --junit "$WORK/junit.xml"
check "JUnit's XML holds all" \
  bash -c "grep -c '<testcase ' '$WORK/junit.xml' | grep -qx \$(iwmpa-peer --list | wc -l)"
if [ "$LINKTYPE" = iwmpa ]; then
  set_parameter markers Y
  cases "Markers to the device" alone marker-bad 'crc-*'
  set_parameter markers N
fi
alone --tap startup-reply startup-wrong-key marker-bad | sed 's/ # [0-9]* ms$//' >"$WORK/tap"
check "TAP" diff "$WORK/tap" - <<'EOF'
TAP version 13
1..3
ok - startup-reply [STA-01 STA-06 ENH-01]
ok - startup-wrong-key [STA-01 ERR-04]
ok - marker-bad [MRK-13 ERR-03] # SKIP the device does not ask for Markers
EOF
refused "a port without a listener" "cannot connect to 10.9.0.2:7175" \
  in1 iwmpa-peer --target 10.9.0.2:7175
finish
