# SPDX-License-Identifier: GPL-2.0
# Sourced by the align*.sh scenarios: two hosts with a router between them, which sees TCP segments
# as they are on a wire.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/capture.sh"

# routed_hosts [MTU]: h1 (10.9.1.1, fd09:1::1) - router - h2 (10.9.2.2, fd09:2::2), RDMA devices rd1
# and rd2. A host's TSO makes super-packets, also on veth; the router's ports have no TSO, so that
# it sends single segments.
routed_hosts() {
  local h
  ip netns add h1 && ip netns add h2 && ip netns add router || { no_network; return; }
  router sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
  for h in 1 2; do
    ip link add wire netns h$h type veth peer name port$h netns router || { no_network; return; }
    router ethtool -K port$h tso off gso off >/dev/null
    ip -n h$h link set lo up
    ip -n h$h link set wire up
    ip -n router link set port$h up
    ip -n h$h addr add 10.9.$h.$h/24 dev wire
    ip -n h$h addr add fd09:$h::$h/64 dev wire nodad
    ip -n router addr add 10.9.$h.254/24 dev port$h
    ip -n router addr add fd09:$h::254/64 dev port$h nodad
    ip -n h$h route add default via 10.9.$h.254
    ip -n h$h route add default via fd09:$h::254
  done
  set_mtu "${1:-1500}"
  check "h1 reaches h2" until_true 20 in1 ping -c 1 -W 1 10.9.2.2 || return 1
  check "h1 reaches h2 by IPv6" until_true 20 in1 ping -c 1 -W 1 fd09:2::2 || return 1
  for h in 1 2; do
    check "link rd$h on h$h" \
      ip netns exec h$h rdma link add rd$h type "$LINKTYPE" netdev wire || return 1
  done
}

router() { ip netns exec router "$@"; }

# set_mtu MTU: sets the MTU of every interface.
set_mtu() {
  local h
  for h in 1 2; do
    ip -n h$h link set wire mtu "$1"
    ip -n router link set port$h mtu "$1"
  done
}

# set_tso on|off: switches the hosts' TSO.
set_tso() {
  local h
  for h in 1 2; do ip netns exec h$h ethtool -K wire tso "$1" >/dev/null; done
}

# The packets that the router sends.
start_router_capture() { start_capture router -i any -Q out; }

# judged TEXT [OPTIONS]: has mpa-peer check the capture; figure and largest print its figures.
judged() {
  local text=$1 line; shift
  : >"$WORK/tsv"
  check "$text" bounded 120 mpa-peer capture "$WORK/pcap" --tsv "$WORK/tsv" "$@" &&
    while IFS= read -r line; do echo "    $line"; done <"$WORK/out"
  read_figures <"$WORK/tsv"
}

# Parse the figures in the shell, because starting a program for each takes long in an emulated
# guest.
declare -A sum most counts
read_figures() {
  local names row name i
  sum=() most=()
  IFS=$'\t' read -ra names
  while IFS=$'\t' read -ra row; do
    for i in "${!names[@]}"; do
      name=${names[i]}
      [[ ${row[i]:-} =~ ^[0-9]+$ ]] || continue
      sum[$name]=$((${sum[$name]:-0} + row[i]))
      [ "${row[i]}" -le "${most[$name]:-0}" ] || most[$name]=${row[i]}
    done
  done
}

# figure NAME: prints the sum of a column over all directions.
figure() { echo "${sum[$1]:-0}"; }

# largest NAME: prints the largest value of a column.
largest() { echo "${most[$1]:-0}"; }

# read_counters: reads the counters of rdma statistic into counts, summed over both devices. Debian
# 12's prints a line for each link, 13's a line for each counter.
read_counters() {
  local words i
  counts=()
  while read -ra words; do
    [ "${words[0]:-}" != link ] || words=("${words[@]:2}")
    for ((i = 0; i + 1 < ${#words[@]}; i += 2)); do
      counts[${words[i]}]=$((${counts[${words[i]}]:-0} + words[i + 1]))
    done
  done < <(rdma statistic show)
}
