#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Twenty thousand connections at the same time, both ends in one guest. Each answers, and none slows
# another down. The memory of an idle connection, or of one that was busy once, is bounded.
# suite: applications
# quiet: 3000
. "$(dirname "$0")/../lib/scenario.sh"
begin "20,000 idle connections"
export PATH=$TOOLS/bench:$PATH
command -v conn_bench >/dev/null ||
  skip "conn_bench is not built: install librdmacm-dev and libibverbs-dev"
load_modules || finish
one_host || finish
# A program maps two rings for each queue pair, and the default limit is 65530 mappings.
echo 200000 >/proc/sys/vm/max_map_count

# field NAME WHICH: prints a value of the line `memory of=WHICH`.
field() { sed -n "s/^memory of=$2 .* $1=\(-\?[0-9]*\).*/\1/p" "$WORK/$run"; }
# measure RUN OPTION...: runs conn_bench, with its output in WORK/RUN.
measure() {
  run=$1; shift
  bounded 2800 conn_bench --address 10.8.0.1 --op idle "$@" >"$WORK/$run" 2>"$WORK/errors" || {
    cat "$WORK/errors"
    return 1
  }
  grep ^memory "$WORK/$run"
}

# The red zones of this guest's allocator (scripts/vm/run) are in these figures, and are relatively
# large for small objects. Two pages are the rings that programs map.
check "20,000 connections, each of which answers, before and after it was idle" \
  measure many --count 20000
say "an idle end: $(field kernel idle) octets, $(field slab idle) of them slab"
check "an idle end holds less than 40 KiB" test "$(field kernel idle)" -lt 40960
check "after a message an end keeps at most a page" \
  test $(($(field kernel once-busy) - $(field kernel idle))) -lt 4096
check "500 connections whose ends have sent 1 MB each" measure busy --count 500 --busy 1000000
say "an end: $(field kernel idle) octets when idle," \
  "$(field kernel once-busy) after it was busy once"
check "1000 of these hold less than 32 MiB more" \
  test $((1000 * ($(field kernel once-busy) - $(field kernel idle)))) -lt $((32 << 20))
check "nothing is left" bash -c '! rdma resource show | grep -E "(qp|cq|mr|cm_id) [1-9]"'
finish
