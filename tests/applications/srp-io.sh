#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SCSI RDMA Protocol: the kernel's target and initiator, which connect by rdma_cm. Data with
# checksums, a file system, a logout; under I/O a port closes and opens, and connections die.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/io.sh"
begin "SRP"
for m in ib_srp ib_srpt target_core_file sd_mod; do
  modprobe -n -q $m || skip "this kernel has no $m"
done
for c in fio mkfs.ext4; do command -v $c >/dev/null || skip "$c is missing"; done
load_modules || finish
one_host || finish
modprobe -qa ext4 loop

core=/sys/kernel/config/target/core/fileio_0/disk srpt=/sys/kernel/config/target/srpt \
  file=/run/srp-test-disk address=10.8.0.1 port=4791
direct=(--direct=1 --ioengine=libaio --iodepth=16)
# A device of iWARP has no port GUID: its last eight octets of the GID, which are its name here, are
# zero.
name=0000:0000:0000:0000
tpg=$srpt/$name/$name

make_target() {
  mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
  modprobe -a ib_srpt target_core_file sd_mod && truncate -s 64M $file && mkdir -p $core || return 1
  echo "fd_dev_name=$file,fd_dev_size=67108864" >$core/control && echo 1 >$core/enable || return 1
  mkdir -p $tpg/lun/lun_0 && ln -s $core $tpg/lun/lun_0/disk && echo 1 >$tpg/enable || return 1
  # The initiator is named by its address.
  mkdir $tpg/acls/$address && mkdir $tpg/acls/$address/lun_0 &&
    ln -s $tpg/lun/lun_0 $tpg/acls/$address/lun_0/disk
}
open_port() { echo $port >$srpt/discovery_auth/rdma_cm_port && listening "" $port; }
close_port() { echo 0 >$srpt/discovery_auth/rdma_cm_port && not_listening "" $port; }
remove_target() {
  close_port
  echo 0 >$tpg/enable
  rm -f $tpg/acls/$address/lun_0/disk && rmdir $tpg/acls/$address/lun_0 $tpg/acls/$address ||
    return 1
  rm -f $tpg/lun/lun_0/disk && rmdir $tpg/lun/lun_0 $tpg $srpt/$name $srpt $core && rm $file
}
disk_is_there() {
  disk=/dev/$(ls /sys/class/scsi_host/host*/device/target*/*/block)
  [ -b "$disk" ]
}
disk_is_gone() { ! disk_is_there; }
log_in() {
  local id
  modprobe ib_srp || return 1
  id=$(sed s/0x// /sys/module/ib_srpt/parameters/srpt_service_guid)
  bounded 60 \
    bash -c "echo id_ext=$id,ioc_guid=$id,dest=$address:$port,src=$address \
    >/sys/class/infiniband_srp/srp-rd0-1/add_target" &&
    until_true 30 disk_is_there && be_patient
}
# The initiator gives a request up after 15 s without a connection, and tries to connect every 10 s:
# too short on a busy machine.
be_patient() {
  echo 500 | tee /sys/class/srp_remote_ports/*/fast_io_fail_tmo &&
    echo 2 | tee /sys/class/srp_remote_ports/*/reconnect_delay &&
    echo 600 >"/sys/block/${disk##*/}/device/timeout"
}
log_out() { echo 1 | tee /sys/class/srp_remote_ports/*/delete && until_true 60 disk_is_gone; }
remote_port() { [ "$(cat /sys/class/srp_remote_ports/*/state)" = "$1" ]; }

check "a target" make_target || finish
check "its port opens" open_port
if check "login" log_in; then
  check "a tree of files" make_tree
  check "32 MiB mixed, 16 deep, two jobs" \
    verified "$disk" 16 "${direct[@]}" --numjobs=2 --offset_increment=32m
  check "pieces of 512 octets to 256 KiB" verified "$disk" 8 "${direct[@]}" --bsrange=512-256k
  check "a file system, files compared" file_system "$disk"
  umount "$WORK/mnt"
  check "files compared below SRP" same_below $file
  umount "$WORK/mnt"

  say "while data is written"
  check "I/O runs" start_rounds "$disk" 4 "${direct[@]}"
  check "the connections die" connections_die $port
  check "I/O continues, and all data were right" goes_on
  check "the target's port closes" close_port
  check "the connections die" connections_die $port
  check "the initiator waits" until_true 60 remote_port blocked
  check "the port opens" open_port
  check "I/O continues, and all data were right" goes_on
  check "no round of I/O has failed" stop_rounds
  check "logout" log_out
fi
check "the initiator unloads" bounded 60 modprobe -r ib_srp
check "the target is removed" remove_target
check "its modules unload" bounded 60 modprobe -r ib_srpt
finish
