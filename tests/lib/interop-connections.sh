# SPDX-License-Identifier: GPL-2.0
# Connections between two guests, made by rdma-target on both sides: negotiation, refusals,
# disconnects, Terminates, removals. Sourced by near.sh. `theirs` and `mine` are the two drivers.
# shellcheck shell=bash

hex() { [ "$1" = 0 ] || printf "%0$((2 * $1))d" 0 | sed 's/00/a7/g'; }

# targets: starts an rdma-target in each guest.
targets() {
  local fd
  talk_to here "" rdma-target
  here_pid=$!
  exec {fd}<>/dev/tcp/$control_far/$target_port || return 1
  cat <&$fd >"$WORK/there.out" &
  there_pid=$!
  told_by[there]=$fd
}
targets_end() {
  hang_up here there
  kill $there_pid
  wait $here_pid $there_pid
  rm -f "$WORK"/{here,there}.out
}

# from_now: lines_of and heard begin here. Call it before the first command, because an event of one
# side may come before the other side gets its command.
from_now() {
  told_from[here]=$(($(wc -l <"$WORK/here.out") + 1))
  told_from[there]=$(($(wc -l <"$WORK/there.out") + 1))
}
says() { until_true 30 heard "$1" "$2"; }
# field NAME REGEX KEY: prints the value of KEY in the first line that matches REGEX.
field() { lines_of "$1" | grep -E -- "$2" | sed -n "s/^.* $3=\([^ ]*\).*/\1/p" | head -1; }
event() { field "$1" "event=$2" "$3"; }

# connected [OPTIONS [OPTIONS]]: makes a connection, with the options of this side and of the other.
connected() {
  from_now
  ask there "listen $far 7480" && ask here "connect $far 7480 ${1:-}" &&
    says there 'event=CONNECT_REQUEST' || return 1
  ask there "accept ${2:-}" && says here 'event=ESTABLISHED' && says there 'event=ESTABLISHED'
}
all_reset() { from_now && ask here reset && ask there reset; }

# carries OCTETS: whether Private Data of the Request and of the Reply arrive unchanged.
carries() {
  connected "pd=$(hex "$1")" "pd=$(hex "$1")" || return 1
  [ "$(event there CONNECT_REQUEST pd)" = "$(hex "$1")" ] &&
    [ "$(event here ESTABLISHED pd)" = "$(hex "$1")" ]
}
# traffic: SENDs both ways, a WRITE to the other side, a READ back; compares the contents by
# checksums.
traffic() {
  local rkey addr
  from_now
  ask there "info 0" || return 1
  rkey=$(field there mr=0 rkey) addr=$(field there mr=0 addr)
  ask here "send 3000 5" && says there 'op=RECV status=SUCCESS bytes=3000' || return 1
  ask there "send 2000 6" && says here 'op=RECV status=SUCCESS bytes=2000' || return 1
  ask here "write 5000 7 $rkey $addr" && says here 'op=WRITE status=SUCCESS' || return 1
  ask here "read 5000 $rkey $addr" && says here 'op=READ status=SUCCESS' || return 1
  ask there "sum 0 0 5000" | grep " sum=$(field here op=READ sum)\$"
}
# disconnects FROM OTHER: FROM disconnects in order, and both sides get an event.
disconnects() {
  from_now
  ask "$1" disconnect && says "$1" 'event=DISCONNECTED' && says "$2" 'event=DISCONNECTED'
}
# refuses: a refusal carries Private Data.
refuses() {
  from_now
  ask there "listen $far 7480" && ask here "connect $far 7480" &&
    says there 'event=CONNECT_REQUEST' || return 1
  ask there "reject pd=$(hex 20)" && says here 'event=REJECTED' &&
    [ "$(event here REJECTED pd)" = "$(hex 20)" ]
}
# depths: the READ depths of the connection are not larger than those that this side asked for.
depths() {
  connected "ird=3 ord=5" "ird=2 ord=7" || return 1
  lines_of here; lines_of there
  [ "$(event here ESTABLISHED ird)" -le 3 ] && [ "$(event here ESTABLISHED ord)" -le 5 ]
}
# terminated WHAT FROM OTHER: FROM breaks a rule, which ends the connection on both sides; a READ
# completes with an error.
terminated() {
  local rkey addr what=$1 from=$2 other=$3
  from_now
  ask "$other" "info 0" || return 1
  rkey=$(field "$other" mr=0 rkey) addr=$(field "$other" mr=0 addr)
  case $what in
  stag) ask "$from" "write 100 1 $((rkey ^ 0x5500)) $addr" ;;
  bounds) ask "$from" "write 100 1 $rkey $((addr + 65536 - 99))" ;;
  read) ask "$from" "read 100 $((rkey ^ 0x5500)) $addr" ;;
  esac
  if ! says "$from" 'event=DISCONNECTED' || ! says "$other" 'event=DISCONNECTED' ||
    { [ "$what" = read ] &&
      ! says "$from" 'op=(READ|WRITE|SEND|LOCAL_INV|OPCODE_[0-9]+) status=[^S]'; }; then
    echo "here:"; lines_of here; echo "there:"; lines_of there
    return 1
  fi
}
# late FROM TO, after `connected recvs=1 recvs=1` and traffic: FROM sends before TO posts a receive.
# The message waits at TO, with a READ behind it, and nothing is lost.
late() {
  local rkey addr waited from=$1 to=$2
  waited=$(waits_at "$to")
  from_now
  ask "$to" "info 0" || return 1
  rkey=$(field "$to" mr=0 rkey) addr=$(field "$to" mr=0 addr)
  ask "$from" "send 3000 8" && ask "$from" "read 5000 $rkey $addr" &&
    until_true 30 waited_at "$to" "$waited" || return 1
  ! heard "$to" 'event=DISCONNECTED' && ! heard "$from" 'op=READ' || return 1
  ask "$to" "recv 1" && says "$to" 'op=RECV status=SUCCESS bytes=3000' &&
    says "$from" 'op=READ status=SUCCESS' || return 1
  ask "$to" "sum 0 0 5000" | grep " sum=$(field "$from" op=READ sum)\$"
}
waits_at() { if [ "$1" = here ]; then counter rd0 rx_waits; else far 'counter rd0 rx_waits'; fi; }
waited_at() { [ "$(waits_at "$1")" -gt "$2" ]; }
# may_wait MS: for how long a message may wait, at each iwmpa
may_wait() {
  { [ "$mine" != iwmpa ] || set_device rd0 receive_wait "$1"; } &&
    { [ "$theirs" != iwmpa ] || far "set_device rd0 receive_wait $1"; } || fail "receive_wait $1"
}

connections() {
  local octets what
  check "rdma-target on both sides" targets || return 1
  for octets in 0 200 251 255; do
    check "Private Data: $octets octets each way" carries $octets &&
      check "... and data, compared" traffic
    check "... reset" all_reset
  done
  check "a refusal with Private Data" refuses
  all_reset >/dev/null
  check "READ depths are agreed on" depths && check "... and data, compared" traffic
  all_reset >/dev/null
  check "this side disconnects" eval 'connected && disconnects here there'
  all_reset >/dev/null
  check "the other side disconnects" eval 'connected && disconnects there here'
  all_reset >/dev/null
  for what in stag bounds read; do
    check "Terminate: $what, by the other side's receiver" \
      eval "connected && terminated $what here there"
    all_reset >/dev/null
    # The Initiator must send first.
    check "Terminate: $what, by this side's receiver" \
      eval "connected && traffic && terminated $what there here"
    all_reset >/dev/null
  done
  may_wait 600000
  for what in "there here $mine" "here there $theirs"; do
    [[ $what == *iwmpa ]] || continue # siw ends the connection
    check "a receive that is late: ${what% *}" \
      eval "connected recvs=1 recvs=1 && traffic && late ${what% *}"
    all_reset >/dev/null
  done
  may_wait 10000
  targets_end
}

# --- removals during a transfer ---

# stream_begin: starts the listener in the other guest, and the sender here.
stream_begin() {
  far "rdma-stream listen $far 7481 >/run/stream 2>&1 & echo \$! >/run/stream.pid"
  until_true 20 far "listening '' 7481" || return 1
  rdma-stream connect $far 7481 >"$WORK/stream" 2>&1 &
  stream=$!
  until_true 20 grep -q first "$WORK/stream" && until_true 20 far "grep -q first /run/stream"
}
stream_ends() { # in both guests
  until_true 60 bash -c "! kill -0 $stream 2>/dev/null" && cat "$WORK/stream" || return 1
  until_true 60 far '! kill -0 $(cat /run/stream.pid) 2>/dev/null' &&
    far 'cat /run/stream; ! grep -q changed /run/stream'
}
stream_kill() {
  kill -9 $stream
  far "kill -9 \$(cat /run/stream.pid) 2>/dev/null"
} 2>/dev/null

removals() { # CRC MTU
  if check "a transfer" stream_begin; then
    check "its sender is killed" kill -9 $stream
    check "... both programs end" stream_ends
    stream_kill
  fi
  if check "a transfer" stream_begin; then
    check "its receiver is killed" far 'kill -9 $(cat /run/stream.pid)'
    check "... both programs end" stream_ends
    stream_kill
  fi
  if check "a transfer" stream_begin; then
    check "the other side's device and modules are removed" far down
    check "... both programs end" stream_ends
    stream_kill
    check "... they are loaded again" far "up $theirs $1 $2"
  fi
  if check "a transfer" stream_begin; then
    check "this side's device and modules are removed" down
    check "... both programs end" stream_ends
    stream_kill
    check "... they are loaded again" up "$mine" "$1" "$2"
  fi
  pair "rping, after the removals" 60 7174 "rping -s -a $far -V -C 10" "rping -c -a $far -V -C 10"
}

# --- the other guest dies and sends nothing more, not even a FIN ---

death() {
  local tries
  check "NVMe: a target there" far nvme_serve || return 1
  check "NVMe: attach, 1 s keep-alive" \
    nvme_attach keep_alive_tmo=1,ctrl_loss_tmo=3,reconnect_delay=1 || return 1
  check "a transfer" stream_begin || return 1
  dd if=/dev/zero of=/dev/nvme0n1 bs=64k count=1000 oflag=direct status=none 2>/dev/null &
  writer=$!
  tries=$(cat /proc/sys/net/ipv4/tcp_retries2)
  echo 4 >/proc/sys/net/ipv4/tcp_retries2 # the default of 15 takes a quarter of an hour
  far die >/dev/null 2>&1 & # it does not answer
  far_died=yes
  check "NVMe notices by its keep-alive, and gives up" \
    until_true 180 bash -c '! ls /sys/class/nvme/nvme* 2>/dev/null | grep -q .'
  check "... the writer ends" until_true 60 bash -c "! kill -0 $writer 2>/dev/null"
  check "a program notices by TCP's retransmissions" \
    until_true 60 bash -c "! kill -0 $stream 2>/dev/null"
  echo "$tries" >/proc/sys/net/ipv4/tcp_retries2
  check "released here" eval 'nvme_release && down'
}
