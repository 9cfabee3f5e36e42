#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Swap on a disk of NVMe over RDMA: a program has a third of the memory that it writes to a tmpfs.
# The data must be right when it reads them again, even if the controller was reset meanwhile. The
# target is in the same kernel. Therefore only the program's group is short of memory: otherwise the
# target would have to wait for swap on itself.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nvme.sh"
begin "swap over NVMe/RDMA"
nvme_needs
for c in mkswap swapon fio; do command -v $c >/dev/null || skip "$c is missing"; done
load_modules || finish
one_host || finish

group=/run/nvme-swap
make_group() {
  mkdir $group && mount -t cgroup2 none $group || return 1
  echo +memory >$group/cgroup.subtree_control && mkdir $group/small &&
    echo 24M >$group/small/memory.max
}
remove_group() { rmdir $group/small && umount $group && rmdir $group; }

swapped() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }
# swapped_more_than MIB BEFORE NAME
swapped_more_than() {
  local n=$((($(swapped "$3") - $2) / 256))
  echo "$n MiB"
  [ $n -gt "$1" ]
}
reset() {
  bounded 60 bash -c 'echo 1 >/sys/class/nvme/nvme0/reset_controller' &&
    until_true 60 nvme_state live
}

# Another test in this guest may have left the module with a smaller disk, which 6.12's shared
# memory can fill.
modprobe -qr brd
modprobe brd rd_nr=1 rd_size=131072 # KiB
check "a target" eval 'nvme_make_target && nvme_add_port'
check "a group of programs with 24 MiB of memory" make_group
mkdir "$WORK/files" && mount -t tmpfs -o size=80m tmpfs "$WORK/files"
if check "connect" nvme_attach &&
  check "swap on the disk" eval 'mkswap /dev/nvme0n1 && swapon /dev/nvme0n1'; then
  out=$(swapped pswpout) in=$(swapped pswpin)
  bounded 200 \
    bash -c "echo \$\$ >$group/small/cgroup.procs &&
    exec fio --name=swap --thread --directory=$WORK/files --size=72m --ioengine=psync --rw=write \
    --bs=64k --verify=crc32c --verify_fatal=1" >"$WORK/said" 2>&1 &
  program=$!
  check "a program writes 72 MiB of memory" until_true 100 swapped_more_than 16 "$out" pswpout
  check "the controller is reset meanwhile" reset
  after=$(swapped pswpin)
  status=0
  wait $program || status=$?
  check "the program reads what it wrote" \
    eval "cat $WORK/said; [ $status = 0 ] && grep -q 'READ: .*(75\.5MB)' $WORK/said"
  check "48 MiB have been swapped out" swapped_more_than 48 "$out" pswpout
  check "48 MiB have been swapped in" swapped_more_than 48 "$in" pswpin
  check "some of them after the reset" swapped_more_than 0 "$after" pswpin
  say "$((($(swapped pswpout) - out) / 256)) MiB written out," \
    "$((($(swapped pswpin) - in) / 256)) MiB read, $SECONDS s"
  rm -f "$WORK"/files/*
  check "swap ends" bounded 60 swapoff /dev/nvme0n1
  check "disconnect" nvme_detach
fi
umount "$WORK/files"
remove_group
nvme_end
rmmod brd
finish
