# SPDX-License-Identifier: GPL-2.0
# Sourced by the NVMe scenarios: the kernel's target and host on one host (both know no namespaces).
# shellcheck shell=bash

config=/sys/kernel/config/nvmet nqn=iwmpa-test subsystem=/sys/kernel/config/nvmet/subsystems/iwmpa-test

nvme_needs() {
  local m
  for m in nvmet-rdma nvme-rdma brd; do
    modprobe -n -q $m || skip "this kernel has no $m"
  done
}

# add_namespace NUMBER FILE-OR-DEVICE
add_namespace() {
  mkdir $subsystem/namespaces/"$1" || return 1
  echo -n "$2" >$subsystem/namespaces/"$1"/device_path
  echo 1 >$subsystem/namespaces/"$1"/enable
}
# add_port [IN-CAPSULE-OCTETS]: what fits travels in the command's capsule, not by RDMA.
add_port() {
  mkdir $config/ports/1 || return 1
  echo rdma >$config/ports/1/addr_trtype
  echo ipv4 >$config/ports/1/addr_adrfam
  echo 10.8.0.1 >$config/ports/1/addr_traddr
  echo 4420 >$config/ports/1/addr_trsvcid
  [ -z "${1:-}" ] || echo "$1" >$config/ports/1/param_inline_data_size || return 1
  ln -s $subsystem $config/ports/1/subsystems/$nqn
}
remove_port() {
  rm -f $config/ports/1/subsystems/$nqn
  rmdir $config/ports/1
}
# make_target: namespace 1 is /dev/ram0 (64 MiB), and nothing listens yet.
make_target() {
  modprobe -a nvmet-rdma nvme-rdma
  modprobe brd rd_nr=1 rd_size=65536
  mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
  mkdir $subsystem && echo 1 >$subsystem/attr_allow_any_host || return 1
  add_namespace 1 /dev/ram0
}
remove_target() {
  local n
  remove_port
  for n in "$subsystem"/namespaces/*; do
    echo 0 >"$n/enable"
    rmdir "$n"
  done
  rmdir $subsystem
}
no_controller() {
  local c
  for c in /sys/class/nvme/nvme*; do [ ! -e "$c" ] || return 1; done
}

nvme_end() {
  check "the target goes" remove_target
  check "its modules unload" bounded 60 modprobe -r nvme-rdma nvmet-rdma
}
