#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# QEMU's live migration over RDMA: a running machine with 16 MiB of known memory moves from h1 to
# h2. QEMU pins all its memory at once, or registers the pages that it sends on the way.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "QEMU's live migration"
has qemu-system-x86_64 || skip "qemu-system-x86 is missing"
load_modules || finish
two_hosts || finish

address=$((16 << 20)) size=$((16 << 20))
head -c $size /dev/urandom >"$WORK/memory"
# The machine boots a program that increments 0x1000 for ever, so that QEMU always has a dirty page
# to send again.
{
  printf '\x31\xc0\x8e\xd8\x66\xff\x06\x00\x10\xeb\xf9'
  head -c 499 /dev/zero
  printf '\x55\xaa'
  head -c 1M /dev/zero
} >"$WORK/boot"

# machine NAME NAMESPACE [OPTION]...: starts a machine. `tell NAME` writes to its monitor; the
# monitor's output is in $WORK/NAME.said.
machine() {
  local name=$1 host=$2
  rm -f "$WORK/$name".* && mkfifo "$WORK/$name.in" "$WORK/$name.out" || return 1
  cat "$WORK/$name.out" >>"$WORK/$name.said" &
  ip netns exec "$host" qemu-system-x86_64 -accel tcg -m 64 -nodefaults -no-user-config \
    -display none \
    -drive "file=$WORK/boot,format=raw,if=virtio,read-only=on,file.locking=off" \
    -chardev "pipe,id=monitor,path=$WORK/$name" -mon monitor "${@:3}" >"$WORK/$name.log" 2>&1 &
}
# When the program has died, nobody reads the pipe.
tell() { bounded 20 bash -c 'echo "$1" >"$2"' - "$2" "$WORK/$1.in"; }
answers() { # NAME QUESTION REGEX
  tell "$1" "$2"
  grep -aE -- "$3" "$WORK/$1.said" && return
  tail -3 "$WORK/$1.said" "$WORK/$1.log"
  return 1
}
# Prints the machine's count: the only eight digits in the monitor's output.
counted() {
  : >"$WORK/$1.said"
  until_true 30 answers "$1" "xp /1xw 0x1000" '0x[0-9a-f]{8}' >/dev/null
  grep -aoE '0x[0-9a-f]{8}' "$WORK/$1.said" | tail -1
}
goes_on() {
  local first now
  first=$(counted "$1")
  now=$(counted "$1")
  echo "counted $first, $now"
  [ -n "$now" ] && [ "$now" != "$first" ]
}
arrived() {
  # the monitor would take an unquoted / as a division
  tell h2 "pmemsave $address $size \"$WORK/arrived\""
  until_true 60 cmp "$WORK/memory" "$WORK/arrived"
}

for pinned in off on; do
  say "all memory pinned: $pinned"
  machine h1 h1 -device "loader,file=$WORK/memory,addr=$address,force-raw=on"
  machine h2 h2 -incoming defer
  for machine in h1 h2; do tell $machine "migrate_set_capability rdma-pin-all $pinned"; done
  check "the machine runs on h1" until_true 100 goes_on h1
  tell h2 "migrate_incoming rdma:10.9.0.2:4444"
  check "h2 waits for it" until_true 60 listening h2 4444
  octets=$(counter rd1 tx_octets)
  tell h1 "migrate -d rdma:10.9.0.2:4444"
  check "it has moved" \
    until_true 120 answers h1 "info migrate" "(Migration status|Status):[[:space:]]+completed"
  check "... over the device" test $(($(counter rd1 tx_octets) - octets)) -gt $size
  check "it runs on h2" until_true 60 goes_on h2
  check "its memory is as it was" arrived
  for machine in h1 h2; do tell $machine quit; done
  wait
  rm -f "$WORK/arrived"
done
finish
