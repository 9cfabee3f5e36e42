#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iSER: LIO's target and the open-iscsi initiator, with data compared.
# suite: ulps
# timeout: 300
. "$(dirname "$0")/lib.sh"
begin "iSCSI over RDMA (iSER)"
for m in ib_isert ib_iser iscsi_target_mod target_core_file sd_mod; do
  modprobe -n -q $m || skip "this kernel has no $m"
done
for c in iscsid iscsiadm; do
  command -v $c >/dev/null || skip "$c is missing: open-iscsi"
done
load_modules || finish
one_host || finish
target=iqn.2026-01.test:iwmpa config=/sys/kernel/config/target portal=10.8.0.1:3260
tpg=$config/iscsi/$target/tpgt_1

# LIO opens a plain TCP listener for every portal before it makes it an RDMA one: that one is parked in another namespace, because
# the port belongs to whoever listens on it first.
make_target() {
  mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
  modprobe -a target_core_mod target_core_file iscsi_target_mod ib_isert
  truncate -s 64M "$WORK/disk"
  mkdir -p $config/core/fileio_0/disk || return 1
  echo "fd_dev_name=$WORK/disk,fd_dev_size=67108864" >$config/core/fileio_0/disk/control
  echo 1 >$config/core/fileio_0/disk/enable || return 1
  mkdir -p $tpg/lun/lun_0 || return 1
  ln -s $config/core/fileio_0/disk $tpg/lun/lun_0/disk
  ip netns add park && ip -n park link set lo up && ip -n park addr add 10.8.0.1/32 dev lo || return 1
  ip netns exec park true
  nsenter --net=/run/netns/park mkdir $tpg/np/$portal || return 1
  echo 1 >$tpg/np/$portal/iser || return 1
  echo 0 >$tpg/attrib/authentication
  echo 1 >$tpg/attrib/generate_node_acls
  echo 0 >$tpg/attrib/demo_mode_write_protect
  echo 1 >$tpg/enable
}
remove_target() {
  echo 0 >$tpg/enable
  rmdir $tpg/np/$portal
  rm -f $tpg/lun/lun_0/disk
  rmdir $tpg/lun/lun_0 $tpg $config/iscsi/$target
  rmdir $config/core/fileio_0/disk
  ip netns delete park
}
start_initiator() {
  mkdir -p /run/lock/iscsi
  echo InitiatorName=iqn.2026-01.test:initiator >/etc/iscsi/initiatorname.iscsi
  modprobe -a sd_mod ib_iser
  iscsid
  bounded 60 iscsiadm -m discovery -t st -p $portal -I iser
}
attach() { bounded 60 iscsiadm -m node -T $target -p $portal -I iser -l; }
detach() { bounded 60 iscsiadm -m node -T $target -p $portal -I iser -u; }
disk() { iscsiadm -m session -P 3 2>/dev/null | awk '/Attached scsi disk/ { print "/dev/" $4; exit }'; }
has_disk() { [ -b "$(disk)" ]; }
over_rdma() { iscsiadm -m session -P 1 | grep -q 'Iface Transport: iser'; }
write_and_read() {
  local d
  d=$(disk)
  dd if=/dev/urandom of="$WORK/data" bs=1M count=16 status=none
  bounded 90 dd if="$WORK/data" of="$d" bs="$1" oflag=direct status=none || return 1
  bounded 90 dd if="$d" of="$WORK/back" bs="$1" count=$((16 * 1048576 / $1)) iflag=direct status=none || return 1
  cmp "$WORK/data" "$WORK/back" && cmp -n 16777216 "$WORK/data" "$WORK/disk"
}

check "a target with an iSER portal" make_target || { remove_target; finish; }
check "the initiator discovers it" start_initiator
if check "login" attach; then
  check "its transport is iSER" over_rdma
  check "the disk is there" until_true 20 has_disk
  check "16 MiB in 128 KiB pieces, compared" write_and_read 131072
  check "16 MiB in 4 KiB pieces, compared" write_and_read 4096
  check "logout" detach
fi
killall -q iscsid
check "the target goes" remove_target
check "its modules unload" bounded 60 modprobe -r ib_iser ib_isert
finish
