# SPDX-License-Identifier: GPL-2.0
# Sourced by guest-storage: what runs in a row, and what is counted.
# shellcheck shell=bash

# measured FILE DIRECTION OCTETS DEPTH COUNT SIZE [OPTION...]
measured() {
  fio --name=j --filename="$1" --rw="$2" --bs="$3" --iodepth="$4" --number_ios="$5" --size="$6" \
    --direct=1 --ioengine=libaio --norandommap --randrepeat=1 --invalidate=0 \
    --output-format=json --clocksource=clock_gettime "${jobs[@]}" "${@:7}" \
    >/tmp/fio.json 2>/tmp/errors || return 1
  # fio prints other text before and behind its JSON.
  sed -n '/^{$/,/^}$/p' /tmp/fio.json >/tmp/result
}
# Where time counts, no program takes part. The first read or write takes TCP's window to its size.
native_measured() {
  local write=0 size
  [ "$2" = randread ] || write=1
  size=$(numfmt --from=iec "${3^^}")
  dmesg -c >/tmp/dmesg
  insmod $dir/kio.ko path="$1" write=$write size="$size" depth="$4" ms="$5" 2>/tmp/errors || {
    dmesg | tail -n 1 >/tmp/errors
    return 1
  }
  dmesg | sed -n 's/.*kio: \(result .*\)/\1/p' >/tmp/result
  rmmod kio
}
# messages TRANSPORT OPTION...: of kernel consumers.
kernel_attach() { :; }
kernel_detach() { :; }
messages() {
  local tcp=0
  [ "$1" != tcp ] || tcp=1
  MODULES=$dir "$here/kernel_bench" --address $address --tcp $tcp --repeats 1 "${@:2}" \
    >/tmp/result 2>/tmp/errors
}

# TCP's counters: both ends are in this guest, so the count of sent segments covers both directions.
# Then the interrupts that CPUs send to each other, and context switches.
counters() {
  grep '^Tcp: [0-9]' /proc/net/snmp
  awk '$1 == "CAL:" || $1 == "RES:" { for (i = 2; $i ~ /^[0-9]+$/; i++) calls += $i }
    $1 == "ctxt" { print "Cpus: calls=" calls + 0 " switches=" $2 }' /proc/interrupts /proc/stat
}
# Load programs, libraries and their data from the host into memory.
warm_up() {
  truncate -s 1m /tmp/warm
  measured /tmp/warm randread 4k 4 100 1m && measured /tmp/warm randwrite 4k 4 100 1m
  rm /tmp/warm
  nvme version >/dev/null
}
