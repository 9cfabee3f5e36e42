# SPDX-License-Identifier: GPL-2.0
# Sourced by demo-steps: one row of the demo, a program's server on bob and its client on alice.
# Sets failed when a row fails. Needs work (a scratch folder), markers (on or off), DEMO_LOGS,
# DEMO_LOGS_SHOWN, and PATIENCE, the factor of all timeouts.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/perftest-lib.sh"

row() { printf '%-7s %-12s %-38s %-8s %-26s %7s\n' "$@"; }

# A program's server has started when its port has a listener.
listening() { ip netns exec bob ss -Hltn "sport = :$1" | grep -q .; }
# within SECONDS COMMAND...: waits until COMMAND succeeds.
within() {
  local end=$((SECONDS + $1 * PATIENCE)); shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.1
  done
}
not_listening() { ! listening "$1"; }
ready() { listening "$1" || ! kill -0 "$2" 2>/dev/null; }

# start PROGRAM PORT SECONDS SERVER CLIENT: sets client_status, and status, which is the server's
# when the client ended well.
start() {
  local program=$1 port=$2 limit=$(($3 * PATIENCE)) server_command=$4 client_command=$5
  client_status=0
  (cd "$work" && exec ip netns exec bob timeout -k 2 "$limit" bash -c "$server_command") \
    >"$work/server" 2>&1 </dev/null &
  server=$!
  within 60 ready "$port" $server || true # without a server the client fails, which is the verdict
  {
    (cd "$work" && exec ip netns exec alice timeout -k 2 "$limit" bash -c "$client_command") \
      >"$work/client" 2>"$work/client.errors" </dev/null ||
      client_status=$?
  } 2>/dev/null # the shell's own line about a crash
  status=$client_status
  # rcopy's server runs for ever; the others end with their client, unless the client failed.
  if [ "$program" = rcopy ] || [ $status != 0 ]; then
    kill $server 2>/dev/null || true
    wait $server 2>/dev/null || true
  else
    wait $server || status=$?
  fi
  server=''
  echo "# client: $client_command"
  cat "$work/client" "$work/client.errors"
  echo "# server: $server_command"
  cat "$work/server"
  echo "# status $status"
}

# step PROGRAM WHAT PORT SECONDS SERVER CLIENT RESULT: RESULT is a command that prints the row's
# figure from the client's log; when it fails, the step fails.
step() {
  local program=$1 what=$2 port=$3 limit=$4 server_command=$5 client_command=$6 result=$7 \
    log begin verdict=ok figure starts=0
  local status client_status
  log=$DEMO_LOGS/$(tr -cs '[:alnum:]\n' - <<<"$program $what markers $markers").log
  : >"$log"
  begin=$EPOCHREALTIME
  while
    # The previous program's listener may outlive it briefly: do not mistake it for this one's.
    within 60 not_listening "$port" || {
      row FAILED "$program" "$what" "$markers" "port $port stays taken" ""
      failed=1
      return
    }
    starts=$((starts + 1))
    start "$program" "$port" "$limit" "$server_command" "$client_command" >>"$log"
    perftest_again $starts $client_status "$work"/client{,.errors}
  do :; done
  figure="exit status $status"
  [ $status != 0 ] || figure=$(cd "$work" && eval "$result" 2>>"$log") ||
    { status=1 figure='wrong result'; }
  if [ $status != 0 ]; then
    verdict=FAILED failed=1
    [ $status != 124 ] || figure="no end in $((limit * PATIENCE)) s"
    dmesg | tail -20 >>"$log"
  fi
  [ $starts = 1 ] || figure+=", start $starts"
  row "$verdict" "$program" "$what" "$markers" "$figure" \
    "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')"
  [ $status = 0 ] || echo "        look at $DEMO_LOGS_SHOWN/${log##*/}"
  [ $starts = 1 ] ||
    echo "        started again: perftest's client does not wait for its server" \
      "(Documentation/applications/perftest.md)"
}

rounds() { [ "$(grep -c '^ping data: rdma-ping-' client)" = 1000 ] && echo 1,000 rounds; }
# perftest measures time by the cycle counter. Those of two emulated processors may differ: then
# perftest prints 0, or inf.
bandwidth() {
  awk '$1 == 65536 { print ($4 + 0 > 0 ? $4 " MiB/s" : "done, not timed"); n++ }
    END { exit !n }' client
}
latency() {
  awk '$1 == 64 { print ($5 ~ /^[0-9.]+$/ && $5 + 0 > 0 ? $5 " us" : "done, not timed"); n++ }
    END { exit !n }' client
}
