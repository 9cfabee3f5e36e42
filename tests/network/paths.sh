#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Transfers whose routes, addresses or MTU are special or change, and through packet filters.
# Service addresses and IPv6 link-local addresses: tests/scenarios/addresses.sh. A link that goes
# down: tests/scenarios/linkdown.sh.
# suite: network
. "$(dirname "$0")/../lib/network.sh"
begin "routes and addresses"
load_modules || finish

# Each host's table main says that the other's address is unreachable; a rule leads to the route
# over wire2.
policy_routing() {
  two_hosts && second_wire || return
  check "addresses on wire2" \
    eval 'ip -n h1 addr add 10.9.8.1/32 dev wire2 && ip -n h2 addr add 10.9.9.2/32 dev wire2'
  device 1 wire2
  device 2 wire2
  check "a rule on h1 by destination" \
    eval 'ip -n h1 route add unreachable 10.9.9.2 && ip -n h1 rule add to 10.9.9.2 lookup 100 &&
    ip -n h1 route add 10.9.9.2 dev wire2 src 10.9.8.1 table 100'
  check "a rule on h2 by source" \
    eval 'ip -n h2 route add unreachable 10.9.8.1 && ip -n h2 rule add from 10.9.9.2 lookup 100 &&
    ip -n h2 route add default dev wire2 table 100'
  transfer 10.9.9.2
  check "the route of the rules carried the data" eval 'carried 1 wire2 && ! carried 1 wire'
}

nat() {
  need_tools nft || return
  need_modules nft_masq nft_chain_nat || return
  routed_hosts || return
  check "h2 has no route to h1" \
    eval 'ip -n h2 route delete default && ip -n h2 -6 route delete default &&
    ! in2 ping -c 1 -W 1 10.9.1.1'
  check "the router masquerades h1" router nft \
    'add table inet nat; add chain inet nat out { type nat hook postrouting priority 100; };
    add rule inet nat out oifname "port2" counter masquerade'
  transfer 10.9.2.2
  transfer fd09:2::2
}

# The rules admit a new connection from h1 to h2 only; all else must belong to one.
filtered() {
  local h
  for h in 1 2; do
    check "h$h accepts only what conntrack knows" "in$h" nft "add table inet fw;
      add chain inet fw in { type filter hook input priority 0; policy drop; };
      add chain inet fw out { type filter hook output priority 0; policy drop; };
      add rule inet fw in meta l4proto { icmp, ipv6-icmp } accept;
      add rule inet fw out meta l4proto { icmp, ipv6-icmp } accept;
      add rule inet fw in ct state established counter accept;
      add rule inet fw out ct state established counter accept;
      add rule inet fw $([ $h = 1 ] && echo out || echo in) \
        tcp flags & (syn | ack) == syn ct state new counter accept" ||
      return
  done
}
conntrack() {
  need_tools nft || return
  need_modules nft_ct nf_tables || return
  two_hosts || return
  filtered || return
  transfer 10.9.0.2
  transfer fd09::2
  transfer_by_hand 10.9.0.2
  check "conntrack knew the packets" \
    eval '[ "$(in2 nft list chain inet fw in | awk "/established/ { print \$6 }")" -ge 100 ]'
}

secondary_addresses() {
  two_hosts || return
  check "more addresses on h2" \
    eval 'ip -n h2 addr add 10.9.0.12/24 dev wire &&
    ip -n h2 addr show dev wire | grep "10.9.0.12.*secondary" &&
    ip -n h2 addr add fd09::12/64 dev wire nodad &&
    ip -n h2 addr add fd09::13/64 dev wire nodad preferred_lft 0'
  transfer 10.9.0.12
  transfer fd09::12
  transfer fd09::13
  check "h2 loses the address that was first" \
    eval 'in2 sysctl -qw net.ipv4.conf.wire.promote_secondaries=1 &&
    ip -n h2 addr delete 10.9.0.2/24 dev wire'
  transfer 10.9.0.12
}

# address_returns HOST ADDRESS/LENGTH [nodad]: the host's address goes and comes back under the
# stream that runs.
address_returns() {
  ip -n "$1" addr delete "$2" dev wire
  check "$1 has lost its address: TCP retransmits" until_true 60 stalled 7480
  ip -n "$1" addr add "$2" dev wire "${@:3}"
  goes_on "the address is back, the stream goes on"
}
address_under_load() {
  two_hosts || return
  start_stream 10.9.0.2 || return
  address_returns h2 10.9.0.2/24
  address_returns h1 10.9.0.1/24
  end_stream
}
address6_under_load() {
  two_hosts || return
  start_stream fd09::2 || return
  address_returns h2 fd09::2/64 nodad
  address_returns h1 fd09::1/64 nodad
  end_stream
}

temporary() {
  ip -n h1 -6 -o addr show dev wire temporary | grep -v tentative | awk '{ print $4 }' | grep .
}
temporary_address() {
  local address
  two_hosts || return
  check "h1 makes temporary addresses" eval 'in1 sysctl -qw net.ipv6.conf.wire.use_tempaddr=2 &&
    ip -n h1 addr add fd09:5::1/64 dev wire mngtmpaddr nodad &&
    ip -n h2 addr add fd09:5::2/64 dev wire nodad && until_true 20 temporary' ||
    return
  address=$(temporary)
  transfer fd09:5::2
  start_stream fd09:5::2 || return
  check "the stream comes from the temporary address" \
    eval "in1 ss -Htn dport = :7480 | grep -F '${address%/*}'"
  check "its preferred lifetime ends" \
    ip -n h1 addr change "$address" dev wire preferred_lft 0 valid_lft 600
  goes_on "the stream goes on"
  end_stream
}

# --- MTU. tests/scenarios/align-faults.sh examines the alignment of FPDUs while the path's MTU
# shrinks, without probing. ---

mss_below() {
  tcp_of_stream "mss:" | grep -o ' mss:[0-9]*' |
    awk -F : -v most="$1" '$2 >= most { bad = 1 } END { exit bad || !NR }'
}
# shrink [MTU]: of the router's port to h2.
shrink() { ip -n router link set port2 mtu "${1:-1280}"; }
black_hole() {
  check "h1 gets no ICMP" eval 'in1 tc qdisc add dev wire clsact &&
    in1 tc filter add dev wire ingress protocol ip u32 match ip protocol 1 0xff action drop'
}
mtu_shrinks() {
  routed_hosts || return
  on_both net.ipv4.tcp_mtu_probing="$1"
  start_stream 10.9.2.2 || return
  check "the path's MTU shrinks to 1280" shrink
  check "the MSS follows" until_true 60 mss_below 1280
  goes_on "the stream goes on"
  end_stream
}
mtu_icmp() { mtu_shrinks 0; }
mtu_icmp_probing() { mtu_shrinks 1; }
mtu_black_hole() {
  need_modules cls_u32 act_gact sch_ingress || return
  routed_hosts || return
  black_hole
  start_stream 10.9.2.2 || return
  check "the path's MTU shrinks to 1280" shrink
  check "TCP retransmits" until_true 60 stalled 7480
  check "the path's MTU grows again" shrink 1500
  goes_on "the stream goes on"
  end_stream
}
mtu_black_hole_probing() {
  need_modules cls_u32 act_gact sch_ingress || return
  routed_hosts || return
  black_hole
  on_both net.ipv4.tcp_mtu_probing=1
  start_stream 10.9.2.2 || return
  check "the path's MTU shrinks to 1280" shrink
  check "TCP finds an MSS that passes" until_true 90 mss_below 1280
  goes_on "the stream goes on"
  end_stream
}
mtu_probing_always() {
  routed_hosts || return
  on_both net.ipv4.tcp_mtu_probing=2 net.ipv4.tcp_base_mss=512
  transfer 10.9.2.2
  start_stream 10.9.2.2 || return
  goes_on "the stream goes on"
  end_stream
}

row policy-routing "routes by rules, against the main table"
row nat "NAT at the client's side: nftables masquerades, IPv4 and IPv6"
row conntrack "nftables accepts only what conntrack knows"
row secondary-addresses "secondary and deprecated addresses; the first address goes"
row address-under-load "an IPv4 address of either host goes under load, and comes back"
row address6-under-load "an IPv6 address of either host goes under load, and comes back"
row temporary-address "an IPv6 temporary address, which is deprecated under load"
row mtu-icmp "the path's MTU shrinks under load, ICMP says so"
row mtu-icmp-probing "the same with tcp_mtu_probing=1"
row mtu-black-hole "the path's MTU shrinks under load without ICMP, and grows again"
row mtu-black-hole-probing "the path's MTU shrinks under load without ICMP, tcp_mtu_probing=1"
row mtu-probing-always "tcp_mtu_probing=2: TCP begins with an MSS of 512 and probes"
finish
