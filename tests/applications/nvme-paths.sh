#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NVMe over RDMA as administrators run it, with Debian's nvme-cli: discovery with a referral,
# connect-all, two devices as paths to one disk, odd sizes of queues. Under I/O a path fails, the
# target is torn down and set up again, and the host disconnects.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nvme.sh"
. "$(dirname "$0")/../lib/io.sh"
begin "NVMe over RDMA: discovery, paths, queues"
nvme_needs
for c in nvme fio; do command -v $c >/dev/null || skip "$c is missing"; done
load_modules || finish
one_host || finish

second=10.8.1.1
direct=(--direct=1 --ioengine=libaio --iodepth=8)
at=(--transport=rdma --trsvcid=4420 --reconnect-delay=2 --ctrl-loss-tmo=600 --keep-alive-tmo=5)
class=/sys/class/nvme

second_device() {
  ip link add wire2 type dummy && ip link set wire2 up && ip addr add $second/24 dev wire2 ||
    return 1
  rdma link add rd1 type "$LINKTYPE" netdev wire2
}
# Port 1 names port 2 as another place with the same disk.
refer() {
  local r=$nvmet/ports/1/referrals/second
  mkdir $r && nvme_address_of $r $second && echo 1 >$r/enable
}
discovers() {
  bounded 60 nvme discover --transport=rdma --trsvcid=4420 --traddr="$nvme_address" \
    >"$WORK/found" 2>&1
  cat "$WORK/found"
  grep -q "^traddr: *$nvme_address" "$WORK/found" && grep -q "^traddr: *$second" "$WORK/found" &&
    grep -q "^subnqn: *$nqn" "$WORK/found"
}

# controller_at ADDRESS: prints its name.
controller_at() {
  local c
  for c in $class/nvme*; do
    if grep -qs "traddr=$1," "$c/address"; then basename "$c"; return; fi
  done
  return 1
}
# path ADDRESS STATE: whether the controller at the address is live, connecting, ...
path() {
  local c
  c=$(controller_at "$1") || { echo "no controller at $1"; return 1; }
  cat "$class/$c/state"
  [ "$(cat "$class/$c/state")" = "$2" ]
}
both_live() { path $nvme_address live && path $second live; }
# The disk has the number of the first controller, which connect-all gives to the discovery.
disk_is_there() {
  disk=$(find /dev -maxdepth 1 -name 'nvme*n1')
  [ -b "$disk" ]
}
connects_all() {
  bounded 60 nvme connect-all "${at[@]}" --traddr="$nvme_address" || return 1
  until_true 20 both_live && until_true 20 disk_is_there
}
detach() { bounded 60 nvme disconnect --nqn=$nqn && until_true 20 nvme_no_controller; }
policy() { echo "$1" | tee /sys/class/nvme-subsystem/*/iopolicy; }
# ana PORT STATE: what the target says of its disk behind this port.
ana() { echo "$2" >"$nvmet/ports/$1/ana_groups/1/ana_state"; }
# moves DEVICE...: whether each of these devices sends a MiB while I/O goes on.
moves() {
  local d
  local -A sent=()
  for d; do sent[$d]=$(counter "$d" tx_octets); done
  goes_on 1 || return 1
  for d; do until_true 60 sent_more "$d" "${sent[$d]}" || return 1; done
}
sent_more() {
  echo "$1 has sent $(($(counter "$1" tx_octets) - $2)) octets"
  [ $(($(counter "$1" tx_octets) - $2)) -gt 1000000 ]
}
# rests DEVICE: whether the device carries next to nothing while two rounds of I/O pass.
rests() {
  local before
  before=$(counter "$1" tx_octets)
  goes_on || return 1
  echo "$1 has sent $(($(counter "$1" tx_octets) - before)) octets"
  [ $(($(counter "$1" tx_octets) - before)) -lt 500000 ]
}

# Each of the two CPUs has a queue: count the connections of the target's port that have carried
# data.
busy_queues() {
  ss -Htin state established "sport = :4420" | grep -o 'bytes_received:[0-9]*' |
    awk -F: '$2 > 1000000' | wc -l
}
both_cpus_have_queues() {
  local cpu
  for cpu in 0 1; do
    verified "$disk" 4 "${direct[@]}" --cpus_allowed=$cpu --offset=$((cpu * 8))m || return 1
  done
  echo "$(busy_queues) queues with data"
  [ "$(busy_queues)" = 2 ]
}

# Packets to an own address pass through lo, whatever becomes of the netdev that has the address:
# drop them there.
cut_off() {
  tc qdisc add dev lo clsact &&
    tc filter add dev lo egress protocol ip u32 match ip dst $second/32 action drop
}
rejoin() { tc qdisc delete dev lo clsact; }

torn_down() {
  nvme_remove_target && until_true 60 path $nvme_address connecting &&
    bounded 60 modprobe -r nvmet-rdma
}
set_up_again() {
  nvme_make_target && nvme_add_port && until_true 100 path $nvme_address live
}
# Without a controller fio gets errors and ends; no process hangs.
disconnected_under_io() {
  local status=0 before
  bounded 100 fio --name=cut --filename="$disk" --size=32m --rw=randwrite --bs=16k --time_based \
    --runtime=$((90 * PATIENCE)) "${direct[@]}" >"$WORK/cut" 2>&1 &
  fio=$!
  before=$(counter rd0 tx_octets)
  until_true 60 sent_more rd0 "$before" || return 1
  detach || return 1
  wait $fio || status=$?
  cat "$WORK/cut"
  [ $status != 0 ] && [ $status != 124 ] && [ $status != 137 ] &&
    grep -q "Input/output error\|No such device" "$WORK/cut"
}

# queues OPTIONS COUNT SIZE: a controller with these has COUNT queues, the admin queue included, of
# SIZE commands, and data are right.
queues() {
  local c
  local -a options
  read -ra options <<<"$1"
  bounded 60 nvme connect "${at[@]}" --traddr=$nvme_address --nqn=$nqn "${options[@]}" || return 1
  until_true 20 path $nvme_address live && until_true 20 disk_is_there || return 1
  c=$class/$(controller_at $nvme_address)
  echo "$(cat "$c/queue_count") queues of $(($(cat "$c/sqsize") + 1))"
  [ "$(cat "$c/queue_count")" = "$2" ] && [ "$(cat "$c/sqsize")" = $(($3 - 1)) ] || return 1
  verified "$disk" 2 --direct=1 --ioengine=libaio --iodepth=32 --numjobs=2 --offset_increment=2m \
    --bsrange=512-64k && detach
}

check "a second device" second_device || finish
check "a target with two ports" \
  eval "nvme_make_target && nvme_add_port && nvme_add_port '' 2 $second" || finish
check "port 1 refers to port 2" refer
check "nvme discover shows the disk and the referral" discovers
if check "nvme connect-all connects both paths" connects_all; then
  check "each CPU has its queue" both_cpus_have_queues
  check "I/O in turn" policy round-robin
  check "I/O runs" start_rounds "$disk" 4 "${direct[@]}"
  check "both devices move data" moves rd0 rd1
  say "ANA: the target says that a path is inaccessible"
  check "inaccessible behind port 2" ana 2 inaccessible
  check "I/O goes on over rd0" moves rd0
  check "rd1 carries no data" rests rd1
  check "optimized again" ana 2 optimized
  check "both devices move data" moves rd0 rd1
  say "the network loses all packets of a path"
  check "the second address is cut off" cut_off
  check "its controller has lost the path" until_true 100 path $second connecting
  check "I/O continues over rd0" moves rd0
  check "it is reachable again" rejoin
  check "the controller is live again" until_true 100 path $second live
  check "both devices move data" moves rd0 rd1
  say "the target loses a port"
  check "port 1 is removed" nvme_remove_port
  check "its controller has lost the path" until_true 100 path $nvme_address connecting
  check "I/O continues over rd1" moves rd1
  check "port 1 comes back" nvme_add_port
  check "the controller is live again" until_true 100 path $nvme_address live
  say "a device is removed"
  check "rdma link delete rd1" bounded 60 rdma link delete rd1
  check "I/O continues over rd0" moves rd0
  check "no round of I/O has failed" stop_rounds
  check "disconnect" detach
fi
nvme_remove_port 2

say "the target is torn down and set up again"
if check "connect" nvme connect "${at[@]}" --traddr=$nvme_address --nqn=$nqn &&
  check "the disk is there" until_true 20 disk_is_there; then
  check "I/O runs" start_rounds "$disk" 4 "${direct[@]}"
  check "ports, disks and subsystem are removed, and the target's module unloaded" torn_down
  check "they are made again" set_up_again
  check "I/O continues, and all data were right" goes_on
  check "no round of I/O has failed" stop_rounds
  check "nvme disconnect under I/O: fio gets errors, nothing hangs" disconnected_under_io
fi

say "queues"
# The guest has two CPUs: Linux makes no more queues of a kind. The target takes 128 commands in a
# queue.
check "one queue of 16" queues "--nr-io-queues=1 --queue-size=16" 2 16
check "five queues asked for, of 17" queues "--nr-io-queues=5 --queue-size=17" 3 17
check "queues for reads, writes and polling, of 127" \
  queues "--nr-io-queues=1 --nr-write-queues=1 --nr-poll-queues=1 --queue-size=127" 4 127
check "1024 commands asked for" queues "--nr-io-queues=2 --queue-size=1024" 3 128
nvme_remove_port
check "a port that takes 12000 octets in the capsule" nvme_add_port 12000
check "one queue of 33" queues "--nr-io-queues=1 --queue-size=33" 2 33
nvme_end
ip link delete wire2
finish
