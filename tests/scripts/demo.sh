#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo's rows with fake programs, without a guest and a device: repeated rows, failed rows, rows without a time.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
DEMO_LOGS=$work DEMO_LOGS_SHOWN=LOGS markers=off
export PATH=$work/bin:$PATH FAKE=$work
ulimit -c 0
. "$ROOT/scripts/demo-lib.sh"
fake() { { echo '#!/bin/bash'; cat; } >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
fake ip <<<'shift 3; exec "$@"' # ip netns exec NAME
fake ss <<<'[ ! -e $FAKE/listens ] || echo LISTEN'
fake dmesg <<<''
# perftest COUNT EXTRA STATUS FIGURE: a server that listens until it is killed, and a client. In its first COUNT runs the client is refused
# (as the real one when its server was made slow), also prints EXTRA, and ends with STATUS (139: crashes). Later runs work.
fake perftest <<'PERFTEST'
if [ $# = 4 ]; then
  touch $FAKE/listens
  trap 'rm -f $FAKE/listens; exit 143' TERM
  until [ -e $FAKE/done ]; do sleep 0.02; done
  rm -f $FAKE/listens
  exit
fi
echo >>$FAKE/runs
if [ "$(wc -l <$FAKE/runs)" -le "$1" ]; then
  {
    printf '%s\n' 'Device not recognized to implement inline feature. Disabling it' \
      'RDMA CM event error:' 'Event: RDMA_CM_EVENT_REJECTED; error: -111.' '' 'ERRNO: No such file or directory.' \
      'Failed to handle RDMA CM event.' 'ERRNO: No such file or directory.' \
      'Failed to connect RDMA CM events.' 'ERRNO: No such file or directory.'
    [ -z "$2" ] || echo "$2"
  } >&2
  [ "$3" != 139 ] || kill -SEGV $$
  exit "$3"
fi
touch $FAKE/done
echo " 65536 500 9.99 $4 0.001"
echo " 64 1000 1.00 9.00 $4 5.00"
PERFTEST

bad=0
# expect ROW RUNS FIGURE COUNT EXTRA STATUS: the demo must print a row that begins with ROW, after RUNS runs of the client.
expect() {
  local want=$1 runs=$2 figure=$3 client="perftest $4 '$5' $6 $3" said result=${7:-bandwidth}
  rm -f "$work"/{runs,done,listens}
  failed=0
  step ib_test_bw test 18515 20 "$client" "$client bob" "$result" >"$work/row" 2>&1
  said=$(tr -s ' ' <"$work/row" | sed 's/ [0-9.]*$//')
  if [[ $said != "$want"* ]] || [ "$(wc -l <"$work/runs")" != "$runs" ] || [ $failed != "$([[ $want == ok* ]] && echo 0 || echo 1)" ]; then
    echo "not '$want' after $runs runs, but, after $(wc -l <"$work/runs"): $(cat "$work/row")"
    bad=1
  fi
}
again=$'\n started again: perftest\'s client'
expect "ok ib_test_bw test off 12.5 MiB/s" 1 12.5 0 '' 0
expect "ok ib_test_bw test off 12.5 MiB/s, start 2$again" 2 12.5 1 '' 139
expect "ok ib_test_bw test off 12.5 MiB/s, start 3$again" 3 12.5 2 '' 139
# Refused too often, or a failure of another kind.
expect "FAILED ib_test_bw test off exit status 139, start 3" 3 12.5 9 '' 139
expect "FAILED ib_test_bw test off exit status 1"$'\n' 1 12.5 1 '' 1
expect "FAILED ib_test_bw test off exit status 139"$'\n' 1 12.5 1 'Completion with error at client' 139
expect "ok ib_test_bw test off done, not timed" 1 0.00 0 '' 0
expect "ok ib_test_bw test off 12.5 us" 1 12.5 0 '' 0 latency
expect "ok ib_test_bw test off done, not timed" 1 inf 0 '' 0 latency
expect "ok ib_test_bw test off done, not timed" 1 0.00 0 '' 0 latency
exit $bad
