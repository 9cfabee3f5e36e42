# SPDX-License-Identifier: GPL-2.0
# Sourced by the iSER scenarios: LIO's target and the open-iscsi initiator (neither supports network
# namespaces).
# shellcheck shell=bash

lio=/sys/kernel/config/target target=iqn.2026-01.test:iwmpa portal=10.8.0.1:3260
tpg=$lio/iscsi/$target/tpgt_1
iser_file=/run/iser-test-disk

iser_needs() {
  local m c
  for m in ib_isert ib_iser iscsi_target_mod target_core_file sd_mod; do
    modprobe -n -q $m || skip "this kernel has no $m"
  done
  for c in iscsid iscsiadm; do
    command -v $c >/dev/null || skip "$c is missing: open-iscsi"
  done
}

# iser_make_target [MIB]: makes a target with a file as its disk, without a portal.
iser_make_target() {
  local octets=$((${1:-64} << 20))
  mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
  modprobe -a target_core_mod target_core_file iscsi_target_mod ib_isert
  truncate -s $octets $iser_file
  mkdir -p $lio/core/fileio_0/disk || return 1
  echo "fd_dev_name=$iser_file,fd_dev_size=$octets" >$lio/core/fileio_0/disk/control
  echo 1 >$lio/core/fileio_0/disk/enable || return 1
  mkdir -p $tpg/lun/lun_0 || return 1
  ln -s $lio/core/fileio_0/disk $tpg/lun/lun_0/disk
  echo 0 >$tpg/attrib/authentication
  echo 1 >$tpg/attrib/generate_node_acls
  echo 0 >$tpg/attrib/demo_mode_write_protect
  echo 1 >$tpg/enable
}
# iser_portal ADDRESS:PORT: LIO opens a plain TCP listener for every portal before it makes it an
# RDMA one, and the port belongs to the first listener. LIO opens TCP in the caller's namespace and
# RDMA in the initial one: create the portal in a separate namespace.
iser_portal() { unshare --net mkdir "$tpg/np/$1" && echo 1 >"$tpg/np/$1/iser"; }
iser_remove_target() {
  echo 0 >$tpg/enable
  rmdir $tpg/np/*
  rm -f $tpg/lun/lun_0/disk
  rmdir $tpg/lun/lun_0 $tpg $lio/iscsi/$target
  rmdir $lio/core/fileio_0/disk
  rm -f $iser_file
}
iser_start_initiator() {
  mkdir -p /run/lock/iscsi
  echo InitiatorName=iqn.2026-01.test:initiator >/etc/iscsi/initiatorname.iscsi
  modprobe -a sd_mod ib_iser
  iscsid
}
# Configure the target instead of discovering it. In a discovery session over iSER, iscsiadm misses
# an
# answer that arrives before the kernel confirms the request, and crashes when it tries again
# (github.com/open-iscsi/open-iscsi/issues/255). iscsid does not.
# A discovery over TCP replaces this configuration.
iser_tell_target() { bounded 60 iscsiadm -m node -o new -T $target -p $portal -I iser; }
iser_attach() {
  bounded 60 iscsiadm -m node -T $target -p $portal -I iser -l || return 1
  until_true 20 iscsi_has_disk iser && iscsi_no_power_management
}
# When a session of any transport ends, 6.1 warns if power management accesses its SCSI target at
# that moment: switch it off. A kernel without power management does not have the file.
iscsi_no_power_management() {
  local control
  for control in /sys/class/iscsi_session/session*/device/target*/power/control; do
    [ ! -e "$control" ] || echo on >"$control" || return 1
  done
}
iser_detach() { bounded 60 iscsiadm -m node -T $target -p $portal -I iser -u; }
# iscsi_disk_of TRANSPORT: prints the disk of the session over iser or tcp.
iscsi_disk_of() {
  iscsiadm -m session -P 3 2>/dev/null |
    awk -v t="$1" \
      '/Iface Transport:/ { on = $3 == t } on && /Attached scsi disk/ { print "/dev/" $4; exit }'
}
iscsi_has_disk() { [ -b "$(iscsi_disk_of "$1")" ]; }

iser_end() {
  killall -q iscsid
  check "the target is removed" iser_remove_target
  check "its modules unload" bounded 60 modprobe -r ib_iser ib_isert
}
