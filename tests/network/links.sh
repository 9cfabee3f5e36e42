#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Transfers over netdevs that lie on other netdevs, and over encryption. VRFs, ipvlan and plain
# VLANs: tests/scenarios/addresses.sh.
# suite: network
. "$(dirname "$0")/../lib/network.sh"
. "$(dirname "$0")/../lib/esp.sh"
begin "kinds of links"
load_modules || finish

macvlan() {
  local h
  need_modules macvlan || return
  two_hosts || return
  for h in 1 2; do
    check "a macvlan on h$h" \
      eval "ip -n h$h link add mv link wire type macvlan mode bridge && ip -n h$h link set mv up &&
      ip -n h$h addr add 10.9.4.$h/24 dev mv && ip -n h$h addr add fd09:4::$h/64 dev mv nodad" ||
      return
    device $h mv
  done
  transfer 10.9.4.2
  transfer fd09:4::2
  transfer_by_hand 10.9.4.2
  transfer 10.9.0.2
  check "the macvlan carried the data" carried 1 mv
}

bridge() {
  need_modules bridge || return
  two_hosts_plain || return
  check "a bridge on h2 takes the wire as its port" \
    eval 'ip -n h2 link add br0 type bridge && ip -n h2 addr flush dev wire &&
    ip -n h2 link set wire master br0 && ip -n h2 link set br0 up &&
    ip -n h2 addr add 10.9.0.2/24 dev br0 && ip -n h2 addr add fd09::2/64 dev br0 nodad' || return
  device 1 wire
  device 2 br0
  transfer 10.9.0.2
  transfer fd09::2
  check "the bridge carried the data" carried 2 br0
}

qinq() {
  local h
  need_modules 8021q || return
  two_hosts_plain || return
  for h in 1 2; do
    check "a VLAN in a VLAN on h$h" \
      eval "ip -n h$h link add outer link wire type vlan proto 802.1ad id 5 &&
      ip -n h$h link set outer up && ip -n h$h link add inner link outer type vlan id 6 &&
      ip -n h$h link set inner up && ip -n h$h addr add 10.9.5.$h/24 dev inner &&
      ip -n h$h addr add fd09:5::$h/64 dev inner nodad" || return
    device $h inner
  done
  transfer 10.9.5.2
  transfer fd09:5::2
  transfer_by_hand fd09:5::2
  check "the inner VLAN carried the data" carried 1 inner
}

# bonded_hosts MODE: two hosts, joined by two wires in a bond of this mode.
bonded_hosts() {
  local h wire
  modprobe -q bonding max_bonds=0 || { lacks "this kernel has no bonding"; return; }
  two_hosts_plain && second_wire || return
  for h in 1 2; do
    check "a bond on h$h" ip -n h$h link add bond type bond mode "$1" miimon 50 || return
    ip -n h$h addr flush dev wire
    for wire in wire wire2; do
      ip -n h$h link set $wire down && ip -n h$h link set $wire master bond
    done
    ip -n h$h link set bond up && ip -n h$h addr add 10.9.0.$h/24 dev bond
    device $h bond
  done
  check "its wires are up" until_true 20 in1 ping -c 1 -W 1 10.9.0.2
}
active() { grep -qx "$2" < <(ip netns exec "h$1" cat /sys/class/net/bond/bonding/active_slave); }
bond_failover() {
  local dead alive
  bonded_hosts active-backup || return
  start_stream 10.9.0.2 || return
  for dead in wire wire2 wire; do
    [ $dead = wire ] && alive=wire2 || alive=wire
    ip -n h1 link set $dead down
    check "$dead dies, $alive takes over" \
      eval "until_true 20 active 1 $alive && until_true 20 active 2 $alive"
    goes_on "the stream goes on"
    ip -n h1 link set $dead up
  done
  end_stream
}
bond_round_robin() {
  bonded_hosts balance-rr || return
  transfer 10.9.0.2
  check "both wires carried data" eval 'carried 1 wire && carried 1 wire2'
}

wireguard() {
  local h peer
  need_tools wg || return
  need_modules wireguard || return
  two_hosts_plain || return
  for h in 1 2; do (umask 077 && wg genkey >"$WORK/key$h"); done
  for h in 1 2; do
    peer=$((3 - h))
    check "WireGuard on h$h" \
      eval "ip -n h$h link add wg0 type wireguard &&
      in$h wg set wg0 private-key $WORK/key$h listen-port 51820 \
        peer $(wg pubkey <"$WORK/key$peer") endpoint 10.9.0.$peer:51820 \
        allowed-ips 10.10.0.0/24,fd10::/64 &&
      ip -n h$h link set wg0 up && ip -n h$h addr add 10.10.0.$h/24 dev wg0 &&
      ip -n h$h addr add fd10::$h/64 dev wg0 nodad" ||
      return
    device $h wg0
  done
  transfer 10.10.0.2
  transfer fd10::2
  transfer_by_hand fd10::2
  check "WireGuard carried the data" carried 1 wg0
}

ipsec() {
  need_modules xfrm_user esp4 || return
  two_hosts || return
  esp_between_hosts || return
  transfer 10.9.0.2
  check "ESP carried the data" eval '[ "$(esp_octets)" -ge 1048576 ]'
}

row macvlan "a macvlan at each end, and the netdev under it"
row bridge "a bridge at one end"
row qinq "a VLAN (802.1Q) in a VLAN (802.1ad)"
row bond-failover "a bond that fails over in mid-transfer, three times"
row bond-round-robin "a bond that spreads the packets over two wires"
row wireguard "WireGuard"
row ipsec "IPsec: ESP in transport mode (ip xfrm)"
finish
