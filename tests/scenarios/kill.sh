#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Processes are killed at varying moments of a connection's life; none of their objects is left.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "processes killed in mid-transfer"
load_modules || finish
two_hosts || finish
port=7480

for round in $(seq 30); do
  ip netns exec h2 rdma-stream listen 10.9.0.2 $port >"$WORK/server" 2>&1 &
  server=$!
  until_true 20 listening h2 $port || {
    fail "round $round: no listener: $(cat "$WORK/server")"
    break
  }
  ip netns exec h1 rdma-stream connect 10.9.0.2 $port >"$WORK/client" 2>&1 &
  client=$!
  # In one round of three the kill may come while the connection is being made.
  if [ $((round % 3)) != 0 ]; then
    until_true 60 grep -q first "$WORK/server" || {
      fail "round $round: no data came: $(cat "$WORK/server" "$WORK/client")"
      break
    }
  fi
  sleep "0.$(printf %02d $((round * 17 % 60)))" # vary the moment
  if [ $((round % 2)) = 0 ]; then
    victim=$server other=$client
  else
    victim=$client other=$server
  fi
  kill -9 $victim
  wait $victim 2>/dev/null
  if grep -q first "$WORK/server"; then # there was a connection: the other side must get an event
    until_true 30 bash -c "! kill -0 $other 2>/dev/null" ||
      fail "round $round: the other side does not end"
    moments=$((${moments:-0} + 1))
  fi
  kill $other 2>/dev/null
  wait $other 2>/dev/null
  ! grep changed "$WORK/server" || fail "round $round: data were changed"
done
say "in ${moments:-0} of $round rounds a transfer was running"
check "two thirds at least" test "${moments:-0}" -ge 20
check "no QP, MR or CQ is left" \
  until_true 20 bash -c '! rdma resource show | grep -E "(qp|cq|mr) [1-9]"'
check "connections can be made" \
  bounded 60 verbs-test run cycles --count 3 --addr 10.9.0.2 --server-ns h2 --client-ns h1
finish
