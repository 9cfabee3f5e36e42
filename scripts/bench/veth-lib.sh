# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the benchmark guests' scripts: a veth pair whose two ends are in one namespace, for
# busybox's shell and tools also.
#
# The kernel sends a packet to an address of its own through lo, whatever device has the address.
# rxe has no port on lo, and hands a packet to itself without IP when the sender's device is the
# receiver's. Here, packets from one end's address to the other's pass the pair as they would pass a
# wire: rules send them there, before the table of local addresses is asked. Packets that arrive
# match no such rule (iif lo), so they are delivered. This needs no namespaces, which rxe does not
# know before Linux 7.

veth_client=10.9.1.2 veth_server=10.9.1.1 veth_devices='near far'

# pair_make CLIENT-DEVICE ADDRESS SERVER-DEVICE ADDRESS TABLE: gives a pair of devices these
# addresses and rules; the tables TABLE and TABLE + 1 have the routes.
pair_make() {
  # Both ends take packets that have an address of this host as their source, and answer ARP for
  # their own address only.
  for veth_device in $1 $3; do
    for veth_setting in accept_local=1 rp_filter=0 arp_ignore=1 arp_announce=2; do
      echo ${veth_setting#*=} \
        >"/proc/sys/net/ipv4/conf/$veth_device/${veth_setting%=*}" || return 1
    done
  done
  ip address add $2/24 dev $1 && ip address add $4/24 dev $3 &&
    ip link set $1 up && ip link set $3 up &&
    ip route add $4/32 dev $1 src $2 table $5 &&
    ip route add $2/32 dev $3 src $4 table $(($5 + 1)) &&
    ip rule add iif lo to $4 pref $5 table $5 &&
    ip rule add iif lo to $2 pref $(($5 + 1)) table $(($5 + 1))
}

# veth_make: the client's end is near, the server's far. iproute2 has other words for a peer's name
# than busybox: the peer's is veth0.
veth_make() {
  [ ! -e /sys/class/net/near ] || return 0
  ip link add near type veth && ip link set veth0 name far || return 1
  echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
  pair_make near $veth_client far $veth_server 101 &&
    ip rule add pref 201 table local && ip rule del pref 0
}
