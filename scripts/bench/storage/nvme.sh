# SPDX-License-Identifier: GPL-2.0
# Sourced by guest-storage: NVMe over TCP and RDMA.
# shellcheck shell=bash

# A target whose device stores nothing (null_blk), and a host with a queue for each CPU.
nvmet=/sys/kernel/config/nvmet nqn=bench
nvme_made=
nvme_make() {
  [ -z "$nvme_made" ] || return 0
  modprobe -a nvmet nvmet-tcp nvmet-rdma nvme-tcp nvme-rdma &&
    modprobe null_blk nr_devices=1 gb=4 bs=512 queue_mode=2 submit_queues="$cpus" \
      hw_queue_depth=256 || return 1
  mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config || return 1
  mkdir $nvmet/subsystems/$nqn && echo 1 >$nvmet/subsystems/$nqn/attr_allow_any_host || return 1
  mkdir $nvmet/subsystems/$nqn/namespaces/1
  echo -n /dev/nullb0 >$nvmet/subsystems/$nqn/namespaces/1/device_path
  echo 1 >$nvmet/subsystems/$nqn/namespaces/1/enable
  nvme_made=1
}
# nvme_port NUMBER TYPE PORT [tls]: opens a port once, when its device exists.
nvme_port() {
  local port=$nvmet/ports/$1
  [ ! -e "$port" ] || return 0
  mkdir "$port" && echo "$2" >"$port/addr_trtype" || return 1
  [ -z "${4:-}" ] || echo tls1.3 >"$port/addr_tsas" || return 1
  echo ipv4 >"$port/addr_adrfam" &&
    echo $address >"$port/addr_traddr" && echo "$3" >"$port/addr_trsvcid" &&
    ln -s $nvmet/subsystems/$nqn "$port/subsystems/$nqn"
}
nvme_close_port() {
  local port=$nvmet/ports/$1
  [ ! -e "$port" ] || { rm "$port/subsystems/$nqn" && rmdir "$port"; }
}
# nvme_connect TYPE PORT [OPTION...]
nvme_connect() {
  nvme connect -n $nqn -i "$cpus" -t "$1" -a $address -s "$2" "${@:3}" >/dev/null
}
tls_connect() { nvme_connect tcp 4422 -q $tls_host --tls; }
# nvme_attach TRANSPORT CRC
nvme_attach() {
  nvme_make || return 1
  case $1 in
  tcp-tls)
    tls_make && nvme_port 3 tcp 4422 tls || return 1
    # The first handshake makes the daemon read its libraries from the host. The clock jumps beyond
    # the kernel's timeout meanwhile.
    tls_connect 2>/dev/null || tls_connect || return 1
    ;;
  tcp*)
    local digests=()
    [ "$2" != 1 ] || digests=(-g -G)
    nvme_port 1 tcp 4420 && nvme_connect tcp 4420 "${digests[@]}" || return 1
    ;;
  *)
    nvme_port 2 rdma 4421 && nvme_connect rdma 4421 || return 1
    ;;
  esac
  for _ in $(seq 100); do
    file=$(ls /dev/nvme*n1 2>/dev/null | head -1)
    [ -z "$file" ] || return 0
    sleep 0.1
  done
  return 1
}
# The queues belong to the device, or to its paths. In the second case the device itself has none,
# and its file has no effect (6.1) or is missing (6.12).
nvme_without_scheduler() {
  local file
  for file in /sys/block/nvme*n1/queue/scheduler; do
    { echo none >"$file"; } 2>/dev/null
    case $(cat "$file") in none | *'[none]'*) ;; *) echo "$file has a scheduler"; return 1 ;; esac
  done
}
nvme_detach() {
  nvme disconnect -n $nqn >/dev/null
  sleep 0.5
  nvme_close_port 2
}

# The same while a program wants each CPU.
spinners=()
spin_attach() {
  local i
  nvme_attach "$@" || return 1
  for i in $(seq 0 $((cpus - 1))); do
    taskset -c "$i" bash -c 'while :; do :; done' &
    spinners+=($!)
  done
}
spin_detach() {
  kill "${spinners[@]}"
  wait "${spinners[@]}"
  spinners=()
  nvme_detach
}
