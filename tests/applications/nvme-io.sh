#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Longer tests of NVMe over RDMA, with Debian's nvme-cli: two namespaces, queues of each kind,
# in-capsule sizes, checksums, a file system. While data is written, controllers are reset, their
# port is removed, their connections break.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nvme.sh"
. "$(dirname "$0")/../lib/io.sh"
begin "NVMe over RDMA, longer tests"
nvme_needs
for c in nvme fio mkfs.ext4; do command -v $c >/dev/null || skip "$c is missing"; done
load_modules || finish
one_host || finish
modprobe -qa ext4 loop
at=(--transport=rdma "--traddr=$nvme_address" --trsvcid=4420)
direct=(--direct=1 --ioengine=libaio --iodepth=16)

# Namespace 2 is a file, accessed through the page cache, because tmpfs has no direct I/O. (Files on
# overlayfs look empty to nvmet.)
disk=/run/nvme-test-disk
file_namespace() {
  truncate -s 128M $disk
  mkdir $subsystem/namespaces/2 || return 1
  echo 1 >$subsystem/namespaces/2/buffered_io
  echo -n $disk >$subsystem/namespaces/2/device_path
  echo 1 >$subsystem/namespaces/2/enable
}
discovered() { bounded 60 nvme discover "${at[@]}" | grep -qx "subnqn: *$nqn"; }
# disk_of NAMESPACE: prints the host's disk for it. Linux 6.12 names disks in any order.
disk_of() {
  local nsid
  for nsid in /sys/block/nvme0n*/nsid; do
    [ "$(cat "$nsid" 2>/dev/null)" != "$1" ] || echo "/dev/$(basename "${nsid%/nsid}")"
  done
}
# find_disks: sets the disks of both namespaces.
find_disks() {
  ram=$(disk_of 1) file=$(disk_of 2)
  [ -b "$ram" ] && [ -b "$file" ]
}
# attach [OPTION...]: connects a controller that reconnects 2 s after each loss.
attach() {
  bounded 60 nvme connect "${at[@]}" --nqn=$nqn --reconnect-delay=2 --ctrl-loss-tmo=300 "$@" ||
    return 1
  until_true 20 find_disks
}
detach() { bounded 60 nvme disconnect --nqn=$nqn && until_true 20 nvme_no_controller; }
listed() {
  bounded 60 nvme list >"$WORK/list" && cat "$WORK/list"
  grep -q "^/dev/nvme0n1 " "$WORK/list" && grep -q "^/dev/nvme0n2 " "$WORK/list"
}
queues() { [ "$(cat /sys/class/nvme/nvme0/queue_count)" = "$1" ]; } # the admin queue included
resets() {
  local i
  for i in 1 2 3; do
    bounded 60 nvme reset /dev/nvme0 && until_true 60 nvme_state live || return 1
    goes_on 1 || return 1
  done
}
port_goes_and_comes() {
  nvme_remove_port
  until_true 60 nvme_state connecting && nvme_add_port && until_true 100 nvme_state live
}
breaks_and_recovers() { connections_die 4420 4 && until_true 100 nvme_state live; }

nvme_make_target && file_namespace && nvme_add_port
check "a target with two namespaces, and a tree of files" make_tree
check "nvme discover finds it" discovered
if check "connect: two queues, a third for polling" attach --nr-io-queues=2 --nr-poll-queues=1; then
  check "four queues are there" queues 4
  check "nvme list shows both namespaces" listed
  check "32 MiB mixed on a RAM disk, two jobs, 16 deep" \
    verified "$ram" 16 "${direct[@]}" --numjobs=2 --offset_increment=32m
  check "polled" verified "$ram" 4 --direct=1 --ioengine=pvsync2 --hipri
  check "a file system, files compared" file_system "$file"
  umount "$WORK/mnt"

  say "while data is written"
  check "I/O runs" start_rounds "$ram" 4 "${direct[@]}"
  check "three resets of the controller" resets
  check "the target's port is removed and added again" port_goes_and_comes
  check "I/O continues, and all data were right" goes_on
  check "the TCP connections die" breaks_and_recovers
  check "I/O continues, and all data were right" goes_on
  check "no round of I/O has failed" stop_rounds
  check "disconnect" detach
  check "files compared below NVMe" same_below $disk
  umount "$WORK/mnt"
fi
for size in 0 4096 16384; do
  say "$size octets in the capsule"
  nvme_remove_port
  check "a port" nvme_add_port $size || break
  check "connect" attach --nr-io-queues=1 || break
  check "4 MiB mixed, pieces of 512 octets to 32 KiB" \
    verified "$ram" 4 "${direct[@]}" --bsrange=512-32k
  check "disconnect" detach
done
say "more commands than receives: four queues of 128 for SRQs of 256"
nvme_remove_port
check "the target has SRQs" \
  eval 'bounded 60 modprobe -r nvmet-rdma && modprobe nvmet-rdma use_srq=1 srq_size=256 &&
  nvme_add_port'
if check "connect" attach --nr-io-queues=2 --nr-write-queues=2; then
  check "16 MiB mixed, four jobs, 128 deep" \
    verified "$ram" 4 --direct=1 --ioengine=libaio --iodepth=128 --numjobs=4 --offset_increment=4m
  check "disconnect" detach
fi
nvme_end
rm -f $disk
finish
