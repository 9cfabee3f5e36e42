# SPDX-License-Identifier: GPL-2.0
# Sourced by the NVMe scenarios: the kernel's target and host (neither supports network namespaces).
# shellcheck shell=bash

nvmet=/sys/kernel/config/nvmet nqn=iwmpa-test subsystem=/sys/kernel/config/nvmet/subsystems/iwmpa-test
nvme_address=10.8.0.1

nvme_needs() {
  local m
  for m in nvmet-rdma nvme-rdma brd; do
    modprobe -n -q $m || skip "this kernel has no $m"
  done
}

# nvme_add_namespace NUMBER FILE-OR-DEVICE
nvme_add_namespace() {
  mkdir $subsystem/namespaces/"$1" || return 1
  echo -n "$2" >$subsystem/namespaces/"$1"/device_path
  echo 1 >$subsystem/namespaces/"$1"/enable
}
# nvme_add_port [IN-CAPSULE-OCTETS]: data up to this size are sent in the command's capsule, not by RDMA.
nvme_add_port() {
  mkdir $nvmet/ports/1 || return 1
  echo rdma >$nvmet/ports/1/addr_trtype
  echo ipv4 >$nvmet/ports/1/addr_adrfam
  echo $nvme_address >$nvmet/ports/1/addr_traddr
  echo 4420 >$nvmet/ports/1/addr_trsvcid
  [ -z "${1:-}" ] || echo "$1" >$nvmet/ports/1/param_inline_data_size || return 1
  ln -s $subsystem $nvmet/ports/1/subsystems/$nqn
}
nvme_remove_port() {
  rm -f $nvmet/ports/1/subsystems/$nqn
  rmdir $nvmet/ports/1
}
# nvme_make_target: makes a target without a port; namespace 1 is /dev/ram0 (64 MiB).
nvme_make_target() {
  modprobe -a nvmet-rdma nvme-rdma && modprobe brd rd_nr=1 rd_size=65536 || return 1
  mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
  mkdir $subsystem && echo 1 >$subsystem/attr_allow_any_host || return 1
  nvme_add_namespace 1 /dev/ram0
}
nvme_remove_target() {
  local n
  nvme_remove_port
  for n in "$subsystem"/namespaces/*; do
    echo 0 >"$n/enable"
    rmdir "$n"
  done
  rmdir $subsystem
}
# nvme_attach [OPTIONS]: connects a controller with two I/O queues.
nvme_attach() {
  modprobe nvme-rdma || return 1
  bounded 60 bash -c \
    "echo transport=rdma,traddr=$nvme_address,trsvcid=4420,nqn=$nqn,nr_io_queues=2${1:+,$1} >/dev/nvme-fabrics" || return 1
  until_true 20 test -b /dev/nvme0n1
}
nvme_detach() {
  local c
  for c in /sys/class/nvme/nvme*/delete_controller; do bounded 60 bash -c "echo 1 >$c" || return 1; done
}
nvme_state() { [ "$(cat /sys/class/nvme/nvme0/state)" = "$1" ]; }
nvme_no_controller() {
  local c
  for c in /sys/class/nvme/nvme*; do [ ! -e "$c" ] || return 1; done
}

nvme_end() {
  check "the target is removed" nvme_remove_target
  check "its modules unload" bounded 60 modprobe -r nvme-rdma nvmet-rdma
}
