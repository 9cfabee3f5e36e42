# SPDX-License-Identifier: GPL-2.0
# Sourced by guest-storage: the link between the ends.
# shellcheck shell=bash

# link TYPE: adds an RDMA device to each network device.
link() {
  local i
  for i in "${!linked[@]}"; do rdma link add "l$i" type "$1" netdev "${linked[i]}" || return 1; done
}

# over DELAY SLOT COMMAND...: runs a row of such a table. DELAY and SLOT are in microseconds; a SLOT
# other than 0 is the time from one bunch of packets to the next.
delay='' slot=''
over() {
  delay=$1 slot=$2
  "${@:3}"
  delay='' slot=''
}
link_made='0 0 0'
# link_make LOSS: a percentage of the packets.
link_make() {
  local wanted="$delay $slot $1" options=() wire
  [ "$link_made" != "$wanted" ] || return 0
  [ "$link_made" = '0 0 0' ] ||
    for wire in "${wires[@]}"; do tc qdisc delete dev "$wire" root || return 1; done
  link_made='0 0 0'
  [ "$slot" = 0 ] || options=(slot "${slot}us" "${slot}us")
  [ "$1" = 0 ] || options+=(loss random "$1%")
  [ "$wanted" = '0 0 0' ] ||
    for wire in "${wires[@]}"; do
      tc qdisc add dev "$wire" root netem delay "${delay}us" limit 100000 "${options[@]}" ||
        return 1
    done
  link_made=$wanted
}

# A client's jobs and the packets that reach its device are on the lower half of the CPUs. There are
# as many queues as CPUs, and each has its work where it is posted. Packets that reach the server's
# device are on the upper half, and the target works where they arrive.
cpus=$(nproc) jobs=()
ends_apart() {
  local half=$((cpus / 2))
  jobs=("--numjobs=$half" --group_reporting "--cpus_allowed=0-$((half - 1))"
    --cpus_allowed_policy=split)
  printf '%x' $(((1 << half) - 1)) >/sys/class/net/near/queues/rx-0/rps_cpus &&
    printf '%x' $((((1 << half) - 1) << half)) >/sys/class/net/far/queues/rx-0/rps_cpus
}

# The programs make their connections themselves.
loss_attach() { :; }
loss_detach() { :; }
# loss_measured TRANSPORT OPTION...: a segment is a packet of its own, so that all transports lose
# packets of the same size.
loss_measured() {
  local transport=rdma wire status=0
  [ "$1" != tcp ] || transport=tcp
  for wire in "${wires[@]}"; do ip link set "$wire" gso_max_segs 1 || return 1; done
  timeout -s KILL 600 $dir/parallel_bench --transport $transport --address $address "${@:2}" \
    2>/tmp/errors || status=$?
  for wire in "${wires[@]}"; do ip link set "$wire" gso_max_segs 65535 || return 1; done
  return $status
}
