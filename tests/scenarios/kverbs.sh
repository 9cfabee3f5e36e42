#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The verbs of kernel consumers, case by case: fast registration and invalidation, completion
# queues, draining.
# suite: applications debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "kernel consumers' verbs"
load_modules || finish
one_host || finish
modprobe rdma_cm
mark_log

check "the cases run" bounded 250 insmod "$IWMPA_DIR/tools/kverbs/kverbs.ko"
new_log >"$WORK/new"
lines=0
while read -r verdict name; do
  lines=$((lines + 1))
  case $verdict in
  ok) good "kernel: $name" ;;
  FAIL) fail "kernel: $name" ;;
  skip) say "skipped: kernel: $name" ;;
  esac
done < <(sed -nE 's/.*kverbs: ((ok|FAIL|skip) .*)/\1/p' "$WORK/new")
check "the log has each case" grep -q "kverbs: end of $lines cases" "$WORK/new"
check "their module unloads" rmmod kverbs
check "no object is left" bash -c '! rdma resource show | grep -E "(qp|cq|mr|pd) [1-9]"'
finish
