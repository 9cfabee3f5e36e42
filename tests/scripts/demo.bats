#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The demo's rows with fake programs, without a guest and a device.
load lib

# row COUNT EXTRA STATUS FIGURE [RESULT]: runs a row, whose perftest is refused COUNT times; sets
# row, runs of the client, and failed.
row() {
  local client="perftest $1 '$2' $3 $4"
  fake ip <<<'shift 3; exec "$@"' # ip netns exec NAME
  fake ss <<<'{ kill -0 "$(cat $FAKE/server)" && echo LISTEN; } 2>/dev/null'
  fake dmesg <<<''
  mkfifo "$work/fifo"
  # perftest COUNT EXTRA STATUS FIGURE: a server that listens until a client succeeds or it is
  # killed, and a client. In its first COUNT runs the client is refused (as the real one when its
  # server was made slow), also prints EXTRA, and ends with STATUS (139: crashes). Later runs work.
  fake perftest <<'PERFTEST'
if [ $# = 4 ]; then
  echo $$ >$FAKE/server
  exec cat $FAKE/fifo
fi
echo >>$FAKE/runs
if [ "$(wc -l <$FAKE/runs)" -le "$1" ]; then
  {
    printf '%s\n' 'Device not recognized to implement inline feature. Disabling it' \
      'RDMA CM event error:' 'Event: RDMA_CM_EVENT_REJECTED; error: -111.' '' \
      'ERRNO: No such file or directory.' \
      'Failed to handle RDMA CM event.' 'ERRNO: No such file or directory.' \
      'Failed to connect RDMA CM events.' 'ERRNO: No such file or directory.'
    [ -z "$2" ] || echo "$2"
  } >&2
  [ "$3" != 139 ] || kill -SEGV $$
  exit "$3"
fi
: >$FAKE/fifo
echo " 65536 500 9.99 $4 0.001"
echo " 64 1000 1.00 9.00 $4 5.00"
PERFTEST
  export FAKE=$work
  ulimit -c 0
  . ./lib.sh
  . ./demo-lib.sh
  # shellcheck disable=SC2034 # demo-lib.sh's
  DEMO_LOGS=$work DEMO_LOGS_SHOWN=LOGS markers=off
  failed=0
  step ib_test_bw test 18515 20 "$client" "$client bob" "${5:-bandwidth}" >"$work/row" 2>&1 || true
  runs=$(wc -l <"$work/runs")
  row=$(tr -s ' ' <"$work/row" | sed 's/ [0-9.]*$//')
  echo "after $runs runs, failed=$failed: $row"
}
# good RUNS TEXT, bad RUNS TEXT: the row must begin with this, after RUNS runs of the client.
good() { [ "$failed $runs" = "0 $1" ] && [[ $row == "ok ib_test_bw test off $2"* ]]; }
bad() {
  [ "$failed $runs" = "1 $1" ] && [[ $row == "FAILED ib_test_bw test off exit status $2"* ]]
}
again=$'\n started again: perftest\'s client'

@test "bandwidth" { row 0 '' 0 12.5; good 1 "12.5 MiB/s"; }
@test "latency" { row 0 '' 0 12.5 latency; good 1 "12.5 us"; }
@test "no bandwidth" { row 0 '' 0 0.00; good 1 "done, not timed"; }
@test "no latency" { row 0 '' 0 0.00 latency; good 1 "done, not timed"; }
@test "infinite latency" { row 0 '' 0 inf latency; good 1 "done, not timed"; }
@test "refused once" { row 1 '' 139 12.5; good 2 "12.5 MiB/s, start 2$again"; }
@test "refused twice" { row 2 '' 139 12.5; good 3 "12.5 MiB/s, start 3$again"; }
@test "refused too often" { row 9 '' 139 12.5; bad 3 "139, start 3"; }
@test "a failure" { row 1 '' 1 12.5; bad 1 $'1\n'; }
@test "a crash for another reason" {
  row 1 'Completion with error at client' 139 12.5
  bad 1 $'139\n'
}
