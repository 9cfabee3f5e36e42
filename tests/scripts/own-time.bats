#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A guest's own time, with a fake /proc: it passes while the guest sleeps or works, and not while
# other programs use the processors.
load lib

# thread PID PPID TID RAN WAITED: makes a thread; times are in milliseconds.
thread() {
  mkdir -p "$own_proc/$1/task/$3"
  echo "$1 (a name) S) S $2 1 1" >"$own_proc/$1/stat"
  echo "${4}000000 ${5}000000 1" >"$own_proc/$1/task/$3/schedstat"
}
# after SECONDS MS TEXT: lets SECONDS of the machine's time pass, of which MS must count.
uptime=1000
after() {
  local before=$own_ms
  uptime=$((uptime + $1))
  echo "$uptime.00 1.00" >"$own_proc/uptime"
  own_time 20
  [ $((own_ms - before)) = "$2" ] || { echo "$3: $((own_ms - before)) ms count, not $2"; return 1; }
}

@test "a guest's own time" {
  . ./own-time-lib.sh
  own_proc=$work
  thread 20 1 20 500 0
  after 0 0 "time before the first call"
  after 10 10000 "it sleeps"
  thread 20 1 20 10500 0
  after 10 10000 "it spins on an idle machine"
  thread 20 1 20 11500 9000
  after 10 1000 "it spins on a busy machine"
  thread 20 1 21 0 0
  thread 20 1 20 16500 14000
  thread 20 1 21 4000 6000
  after 10 5000 "two threads spin on a busy machine"
  thread 20 1 20 16600 14900
  after 10 9100 "it sleeps, and waits for a processor now and then"
  thread 30 20 30 0 0
  thread 40 30 40 0 8000
  after 10 2000 "a child of its child waits for a processor"
  thread 50 1 50 0 8000
  after 10 10000 "an unrelated process waits for a processor"
  rm -r "$own_proc/40"
  after 10 10000 "a child has ended"
  rm "$own_proc"/*/task/*/schedstat
  after 10 10000 "the kernel has no schedstat"
}

@test "a command that is late is killed, and its time can be read" {
  run bash -c '. ./own-time-lib.sh; limited "$1" 1 sleep 1000' - "$work" 3>&-
  [ "$status" = 143 ]
  [ -e "$work/late" ] && [ "$(cat "$work/own-time")" -ge 1000 ]
}
