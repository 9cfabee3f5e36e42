#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
load lib

@test "a stack trace makes a kernel log dirty, as amd64 and as arm64 print it" {
  for line in 'Call Trace:' 'Call trace:' 'Internal error: synchronous external abort: 0000000096000010 [#1] SMP'; do
    printf '[    1.000000] %s\n' 'iwmpa: device iw0' "$line" >"$work/log"
    run ./vm/check-log "$work/log"
    [ "$status" = 1 ]
    [ "$output" = "2:[    1.000000] $line" ]
  done
  sed -i 2d "$work/log"
  ./vm/check-log "$work/log"
}
