#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sweep.sh MODULES OPTION...: runs in the guest of scripts/faults. Makes two netdevs, and runs
# fault-sweep with the modules in the folder MODULES; VMOUT gets its kernel log and its list of
# faults. If a reference to a netdev leaks, its removal hangs, and the kernel logs that.
set -u
cd "$(dirname "$0")" || exit
modules=$1 status=0; shift
for netdev in wire:8 wire2:9; do
  ip link add "${netdev%:*}" type dummy && ip link set "${netdev%:*}" up &&
    ip addr add "10.${netdev#*:}.0.1/24" dev "${netdev%:*}" || exit
done
dmesg -n 1 # thousands of stacks: keep them in the log, off the console
"$IWMPA_DIR/build/tools/faults/fault-sweep" run "$@" --modules "$modules" --known known \
  --log "$VMOUT/kernel.log" --sites "$VMOUT/sites.tsv" || status=$?
dmesg -C
for netdev in wire wire2; do
  timeout $((30 * PATIENCE)) ip link delete $netdev || { echo "$netdev is held"; status=1; }
done
dmesg >>"$VMOUT/kernel.log"
exit $status
