# SPDX-License-Identifier: GPL-2.0
# Sourced by the NVMe scenarios: the kernel's target and host (neither supports network namespaces).
# shellcheck shell=bash

nvmet=/sys/kernel/config/nvmet nqn=iwmpa-test \
  subsystem=/sys/kernel/config/nvmet/subsystems/iwmpa-test
nvme_address=10.8.0.1

nvme_needs() {
  local m
  for m in nvmet-rdma nvme-rdma brd; do
    modprobe -n -q $m || skip "this kernel has no $m"
  done
}

# nvme_add_namespace NUMBER FILE-OR-DEVICE: its identity is the same each time, so that a host takes
# up a target that was made again.
nvme_add_namespace() {
  mkdir $subsystem/namespaces/"$1" || return 1
  echo "00000000-0000-4000-8000-00000000000$1" >$subsystem/namespaces/"$1"/device_uuid
  echo -n "$2" >$subsystem/namespaces/"$1"/device_path
  echo 1 >$subsystem/namespaces/"$1"/enable
}
# nvme_address_of FOLDER ADDRESS: of a port or a referral.
nvme_address_of() {
  echo rdma >"$1/addr_trtype"
  echo ipv4 >"$1/addr_adrfam"
  echo "$2" >"$1/addr_traddr"
  echo 4420 >"$1/addr_trsvcid"
}
# nvme_add_port [IN-CAPSULE-OCTETS [NUMBER ADDRESS]]: data up to this size are sent in the command's
# capsule, not by RDMA.
nvme_add_port() {
  local port=$nvmet/ports/${2:-1}
  mkdir "$port" && nvme_address_of "$port" "${3:-$nvme_address}" || return 1
  [ -z "${1:-}" ] || echo "$1" >"$port/param_inline_data_size" || return 1
  ln -s $subsystem "$port/subsystems/$nqn"
}
# nvme_remove_port [NUMBER]
nvme_remove_port() {
  local port=$nvmet/ports/${1:-1} referral
  for referral in "$port"/referrals/*; do [ ! -e "$referral" ] || rmdir "$referral"; done
  rm -f "$port/subsystems/$nqn"
  rmdir "$port"
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
  for n in $nvmet/ports/*; do [ ! -e "$n" ] || nvme_remove_port "${n##*/}"; done
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
    "echo transport=rdma,traddr=$nvme_address,trsvcid=4420,nqn=$nqn,nr_io_queues=2${1:+,$1} \
    >/dev/nvme-fabrics" ||
    return 1
  until_true 20 test -b /dev/nvme0n1
}
nvme_detach() {
  local c
  for c in /sys/class/nvme/nvme*/delete_controller; do
    bounded 60 bash -c "echo 1 >$c" || return 1
  done
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
