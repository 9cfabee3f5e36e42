# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts that end a guest that hangs. A guest's own time passes while its emulator
# runs, and while the emulator sleeps because the guest is idle. It stands still while the emulator
# is ready to run but other programs use the processors. A limit of this time ends both a guest that
# waits for ever and one that spins for ever, and does not depend on how busy the machine is.
# shellcheck shell=bash

declare -A own_ran own_waited # nanoseconds, by thread
own_ms=0 own_uptime='' own_proc=/proc

# family PID: sets pids to PID and all its descendants.
family() {
  local file stat pid more=y
  local -A parent=()
  pids=("$1")
  for file in "$own_proc"/[0-9]*/stat; do
    { IFS= read -r stat <"$file"; } 2>/dev/null || continue
    pid=${stat%% *} stat=${stat##*) } # the name between them may hold any character
    stat=${stat#* } parent[$pid]=${stat%% *}
  done
  while [ -n "$more" ]; do
    more=''
    for pid in "${!parent[@]}"; do
      [[ " ${pids[*]} " == *" ${parent[$pid]} "* ]] || continue
      pids+=("$pid") more=y
      unset "parent[$pid]"
    done
  done
}

# own_time PID: adds to own_ms the own time of PID's family since the last call. Without
# /proc/PID/schedstat all time counts.
own_time() {
  local pid thread uptime wall ran waited most=0 wait=0 pids
  read -r uptime _ <"$own_proc/uptime"
  uptime=${uptime/./}0
  wall=$((uptime - ${own_uptime:-$uptime})) own_uptime=$uptime
  family "$1"
  for pid in "${pids[@]}"; do
    for thread in "$own_proc/$pid/task"/*; do
      { read -r ran waited _ <"$thread/schedstat"; } 2>/dev/null || continue
      wait=$((wait + waited - ${own_waited[$thread]:-0}))
      [ $((ran - ${own_ran[$thread]:-0})) -le $most ] || most=$((ran - ${own_ran[$thread]:-0}))
      own_ran[$thread]=$ran own_waited[$thread]=$waited
    done
  done
  wait=$((wall - wait / 1000000)) most=$((most / 1000000))
  [ $wait -ge $most ] || wait=$most # the sum is too large when many threads wait at once
  [ $wait -le $wall ] || wait=$wall
  [ $wait -le 0 ] || own_ms=$((own_ms + wait))
}

# limited OUT SECONDS COMMAND...: executes COMMAND in this process. Writes its own time to
# OUT/own-time every 2 seconds, for scripts/series; after SECONDS of it, creates the file OUT/late
# and kills it.
limited() {
  local out=$1 limit=$2 pid=$BASHPID; shift 2
  rm -f "$out"/{late,own-time}
  {
    trap - EXIT
    while kill -0 "$pid"; do
      own_time "$pid"
      echo $own_ms >"$out/own-time"
      if [ $own_ms -ge $((limit * 1000)) ]; then
        : >"$out/late"
        kill "$pid"
        sleep 5
        kill -KILL "$pid"
      fi
      sleep 2
    done
  } </dev/null >/dev/null 2>&1 9>&- &
  exec "$@"
}
