#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernel consumers: NVMe over RDMA, target and host, with data compared. They use functions that
# user space cannot: fast registration of pages, local and remote invalidation, the DMA key.
# suite: applications debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nvme.sh"
begin "NVMe over RDMA"
nvme_needs
load_modules || finish
one_host || finish

write_and_read() {
  dd if=/dev/urandom of="$WORK/data" bs=1M count=16 status=none
  bounded 90 dd if="$WORK/data" of=/dev/nvme0n1 bs="$1" oflag=direct status=none || return 1
  bounded 90 dd if=/dev/nvme0n1 of="$WORK/back" bs="$1" count=$((16 * 1048576 / $1)) iflag=direct \
    status=none || return 1
  cmp "$WORK/data" "$WORK/back" || return 1
  # direct, to bypass the page cache
  dd if=/dev/ram0 of="$WORK/back" bs=1M count=16 iflag=direct status=none
  cmp "$WORK/data" "$WORK/back"
}

octets() { cat /sys/class/net/lo/statistics/tx_bytes; }
megabyte_sent() { [ $(($(octets) - before)) -gt 1000000 ]; }

check "a target" nvme_make_target && check "a port" nvme_add_port || { nvme_remove_target; finish; }
for markers in N Y; do
  if [ $markers = Y ]; then set_parameter markers Y || break; fi
  say "Markers: $markers"
  check "attach, and the disk is there" nvme_attach || break
  check "16 MiB in 128 KiB pieces, compared" write_and_read 131072
  check "16 MiB in 4 KiB pieces, compared" write_and_read 4096
  check "detach" nvme_detach
done
say "a real-time task has another CPU to itself"
# beside_hog COMMAND...: its real-time task never leaves the last CPU.
beside_hog() {
  local runtime status hog
  runtime=$(sysctl -n kernel.sched_rt_runtime_us)
  sysctl -qw kernel.sched_rt_runtime_us=-1
  taskset -c $(($(nproc) - 1)) chrt -f 50 bash -c 'while :; do :; done' &
  hog=$!
  "$@"
  status=$?
  kill $hog
  wait $hog
  sysctl -qw kernel.sched_rt_runtime_us="$runtime"
  return $status
}
# one_by_one COUNT: writes blocks.
one_by_one() {
  bounded 60 taskset -c 0 dd if=/dev/zero of=/dev/nvme0n1 bs=4k count="$1" oflag=direct conv=nocreat
}
# Prints how many interrupts CPUs have sent to each other and (IWI) to themselves.
calls() {
  awk '$1 == "CAL:" || $1 == "RES:" || $1 == "IWI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
    END { print n }' /proc/interrupts
}
# The start of a program alone is 80 interrupts.
calls_few_cpus() {
  local before after
  before=$(calls)
  one_by_one 2000 || return 1
  after=$(calls)
  echo "$((after - before)) interrupts for 2000 I/Os"
  [ $((after - before)) -lt 1000 ]
}
has_policy() { chrt -p "$(pgrep -x iwmpa/0)" | grep "$1"; }
# With PREEMPT_RT and with threadirqs the task keeps threads of the core waiting on its CPU, so that
# dd never ends, over TCP neither. With PREEMPT_RT also interrupts wake the threads that call
# handlers, and the thread that sends has the policy of programs.
if [[ $(uname -v) != *PREEMPT_RT* ]] && check "attach" nvme_attach; then
  grep -qw threadirqs /proc/cmdline || check "I/O on CPU 0 goes on" beside_hog one_by_one 500
  case $(uname -r) in
  *-debug-* | *-kcsan-*) ;; # what looks for faults calls other CPUs, too
  *)
    say "without that task CPUs hardly interrupt each other, or themselves"
    check "less than one interrupt for two I/Os" calls_few_cpus ;;
  esac
  say "a program spins on the CPU: the thread that sends competes with it until it is gone"
  taskset -c 0 fio --name=some --filename=/dev/nvme0n1 --rw=randwrite --bs=4k --iodepth=8 \
    --ioengine=libaio --direct=1 --time_based --runtime=1d >"$WORK/fio" &
  writer=$!
  taskset -c 0 bash -c 'while :; do :; done' &
  spinner=$!
  check "SCHED_BATCH beside a program" until_true 20 has_policy SCHED_BATCH
  kill $spinner
  wait $spinner
  check "SCHED_IDLE without" until_true 20 has_policy SCHED_IDLE
  kill $writer
  wait $writer
  check "detach" nvme_detach
fi
say "the link is deleted while the disk is in use"
if check "attach" nvme_attach; then
  before=$(octets)
  bounded 50 \
    bash -c 'while dd if=/dev/zero of=/dev/nvme0n1 bs=64k count=500 oflag=direct conv=nocreat \
    status=none; do :; done' 2>/dev/null &
  check "octets are written" until_true 30 megabyte_sent
  check "rdma link delete" bounded 90 rdma link delete rd0
  check "the controller is removed with it" until_true 30 nvme_no_controller
  wait
fi
nvme_end
finish
