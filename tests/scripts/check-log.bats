#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
load lib

@test "a stack trace makes a kernel log dirty, as amd64 and as arm64 print it" {
  for line in 'Call Trace:' 'Call trace:' \
    'Internal error: synchronous external abort: 0000000096000010 [#1] SMP'; do
    printf '[    1.000000] %s\n' 'iwmpa: device iw0' "$line" >"$work/log"
    run ./vm/check-log "$work/log"
    [ "$status" = 1 ]
    [ "$output" = "2:[    1.000000] $line" ]
  done
  sed -i 2d "$work/log"
  ./vm/check-log "$work/log"
}

@test "a race of the core kernel hides no later report" {
  printf '[    1.000000] %s\n' \
    '==================================================================' \
    'BUG: KCSAN: data-race in tick_do_timer / tick_sched' \
    '==================================================================' \
    'WARNING: CPU: 0 PID: 1 at mpa/tx.c:1 mpa_tx_kick+0x1/0x2 [mpa]' >"$work/log"
  run ./vm/check-log "$work/log"
  [ "$status" = 1 ]
  [ "${#lines[@]}" = 1 ]
}

@test "a kernel log with thousands of warnings is dirty, and the first forty are shown" {
  for i in {1..5000}; do
    echo "[    1.000000] WARNING: CPU: 0 PID: $i at net/ipv4/af_inet.c:151" \
      "inet_sock_destruct+0x1a0/0x200"
  done >"$work/log"
  run ./vm/check-log "$work/log"
  [ "$status" = 1 ]
  [ "${#lines[@]}" = 40 ]
}
