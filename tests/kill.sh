#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Processes are killed at random moments of a transfer; the other side is told each time, and nothing is left.
# timeout: 300
. "$(dirname "$0")/lib.sh"
begin "processes killed in mid-transfer"
load_modules || finish
two_hosts || finish
port=18600

for round in $(seq 20); do
  ip netns exec h2 ib_send_bw -R -F -e -p $port -d rd2 -s 16384 -D 60 >"$WORK/server" 2>&1 &
  server=$!
  until_true 20 listening h2 $port || { fail "round $round: no listener"; break; }
  ip netns exec h1 ib_send_bw -R -F -e -p $port -d rd1 -s 16384 -D 60 10.9.0.2 >"$WORK/client" 2>&1 &
  client=$!
  sleep "0.$((round * 7 % 10))$((round % 10))" # the moment is what varies here
  if [ $((round % 2)) = 0 ]; then victim=$server other=$client; else victim=$client other=$server; fi
  kill -9 $victim
  wait $victim 2>/dev/null
  # What was killed before the connection stood leaves the other one waiting, for good reason.
  until_true 5 bash -c "! kill -0 $other 2>/dev/null" || kill $other
  wait $other 2>/dev/null
done
check "no QP, MR or CQ is left" until_true 20 bash -c '! rdma resource show | grep -E "(qp|cq|mr) [1-9]"'
check "connections can be made" bounded 60 verbs-test run cycles --count 3 --addr 10.9.0.2 --server-ns h2 --client-ns h1
finish
