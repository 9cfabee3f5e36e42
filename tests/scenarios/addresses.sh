#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which device and which VRF an address belongs to: netdevs in VRFs, service addresses, link-local
# addresses that several links have, and netdevs that share a link address. rping compares the data.
. "$(dirname "$0")/../lib/scenario.sh"
begin "addresses, VRFs and their devices"
[ "$LINKTYPE" = iwmpa ] || skip "about iwmpa's own choice of devices"
load_modules || finish

# pings TEXT SERVER-NAMESPACE SERVER-OPTIONS CLIENT-NAMESPACE CLIENT-OPTIONS [PREFIX-OF-CLIENT]
pings() { client_server "$1" 30 7174 "$2" "rping -s -V -C 5 $3" "$4" "${6:-} rping -c -V -C 5 $5"; }

# fails TEXT REGEX SERVER-OPTIONS CLIENT-OPTIONS: from h1 to h2; the client fails, and the kernel
# log says why.
fails() {
  local text=$1 regex=$2 server=$3 client=$4 pid
  mark_log
  # shellcheck disable=SC2086 # the options are words
  timeout -k 5 $((30 * PATIENCE)) ip netns exec h2 rping -s -V -C 5 $server >"$WORK/server" 2>&1 &
  pid=$!
  until_true 20 listening h2 7174 || fail "$text: no listener: $(cat "$WORK/server")"
  # shellcheck disable=SC2086
  refused "$text" "REJECTED|UNREACHABLE|error" bounded 20 ip netns exec h1 rping -c -V -C 5 $client
  kill $pid 2>/dev/null
  wait $pid
  check "$text: the kernel log says why" until_true 5 log_has "$regex"
}

# in_vrf NETDEV VRF ADDRESS...: of h2. Addresses come after the VRF, which removes those of IPv6.
in_vrf() {
  local dev=$1 address
  ip -n h2 link set "$dev" master "$2" || return 1
  shift 2
  for address; do ip -n h2 addr replace "$address" dev "$dev" nodad || return 1; done
}

two_hosts_plain || finish
for h in 1 2; do
  ip link add wire2 index 78 netns h1 type veth peer name wire2 index 78 netns h2 2>/dev/null
  ip -n h$h link set wire2 up && ip -n h$h addr add 10.9.2.$h/24 dev wire2
  ip -n h$h addr add fe80::99:$h/64 dev wire nodad &&
    ip -n h$h addr add fe80::99:$h/64 dev wire2 nodad
done
for h in 1 2; do
  for n in '' 2; do
    check "device rd$h$n" ip netns exec h$h rdma link add rd$h$n type iwmpa netdev wire$n
  done
done

say "a link-local address that two links have"
pings "the first link" h2 "-a ::" h1 "-a fe80::99:2%wire"
pings "the second link" h2 "-a ::" h1 "-a fe80::99:2%wire2"
pings "the first link, a listener of its own" h2 "-a fe80::99:2%wire" h1 "-a fe80::99:2%wire"
fails "the second link, a listener of its own" \
  "fe80::99:2" "-a fe80::99:2%wire2" "-a fe80::99:2%wire2"

say "a service address on a netdev of its own"
check "dum0" \
  eval 'ip -n h2 link add dum0 type dummy && ip -n h2 link set dum0 up &&
  ip -n h2 addr add 10.9.9.9/32 dev dum0 && ip -n h2 addr add fd09:9::9/128 dev dum0 nodad &&
  ip -n h1 route add 10.9.9.9 via 10.9.0.2 && ip -n h1 route add fd09:9::9 via fd09::2'
fails "without a device on it, IPv4" "10.9.9.9.* dum0" "" "-a 10.9.9.9"
fails "without a device on it, IPv6" "fd09:9::9.* dum0" "-a ::" "-a fd09:9::9"
check "the client was refused in the startup, and did not try revision 1" \
  test "$(counter rd1 cm_fallbacks)" = 0
check "a device on it" in2 rdma link add rd_dum type iwmpa netdev dum0
pings "IPv4, a listener of its own" h2 "-a 10.9.9.9" h1 "-a 10.9.9.9"
pings "IPv4, wildcard listener" h2 "" h1 "-a 10.9.9.9"
pings "IPv6, a listener of its own" h2 "-a fd09:9::9" h1 "-a fd09:9::9"
pings "IPv6, wildcard listener" h2 "-a ::" h1 "-a fd09:9::9"
check "delete" ip -n h2 link delete dum0

say "a link address that netdevs of two namespaces have"
for h in 1 2; do
  check "twin of h$h" \
    eval "ip -n h$h link add twin address 02:00:00:00:00:77 type dummy &&
    ip -n h$h link set twin up && ip -n h$h addr add 10.9.7.$h/24 dev twin"
done
check "a device on that of h1" in1 rdma link add rd_twin type iwmpa netdev twin
refused "no listener on that of h2" "Cannot assign|No such device" \
  bounded 20 ip netns exec h2 rping -s -a 10.9.7.2
pings "a listener on that of h1" h1 "-a 10.9.7.1" h1 "-a 10.9.7.1"
check "twins are deleted" eval 'ip -n h1 link delete twin && ip -n h2 link delete twin'

say "a device that is made after tcp_l3mdev_accept has changed"
# late_device FROM TO: the server listens before the change.
late_device() {
  local pid
  in2 sysctl -qw net.ipv4.tcp_l3mdev_accept="$1"
  timeout -k 5 $((60 * PATIENCE)) ip netns exec h2 rping -s -V -C 5 >"$WORK/server" 2>&1 &
  pid=$!
  until_true 20 listening h2 7174 && in2 rdma link delete rd22 &&
    in2 sysctl -qw net.ipv4.tcp_l3mdev_accept="$2" || return 1
  in2 rdma link add rd22 type iwmpa netdev wire2 &&
    bounded 20 ip netns exec h1 rping -c -V -C 5 -a 10.9.2.2 && wait $pid
}
check "from 0 to 1" late_device 0 1
check "from 1 to 0" late_device 1 0

say "a VRF"
modprobe vrf
check "VRF" eval 'ip -n h2 link add blue type vrf table 10 && ip -n h2 link set blue up &&
  in_vrf wire blue 10.9.0.2/24 fd09::2/64 fe80::99:2/64'
pings "IPv4" h2 "-a 10.9.0.2" h1 "-a 10.9.0.2"
pings "IPv4, wildcard listener" h2 "" h1 "-a 10.9.0.2"
pings "IPv6" h2 "-a fd09::2" h1 "-a fd09::2"
pings "IPv6, wildcard listener" h2 "-a ::" h1 "-a fd09::2"
pings "link-local" h2 "-a fe80::99:2%wire" h1 "-a fe80::99:2%wire"
pings "link-local, wildcard listener, and another link has it" h2 "-a ::" h1 "-a fe80::99:2%wire2"
pings "beside it, wildcard listener" h2 "" h1 "-a 10.9.2.2"
pings "a client in it, IPv4" h1 "-a 10.9.0.1" h2 "-a 10.9.0.1 -I 10.9.0.2"
pings "a client in it, IPv6" h1 "-a fd09::1" h2 "-a fd09::1 -I fd09::2"
by_hand() {
  bounded 60 verbs-test run hand-connect hand-order --client-ns h1 --server-ns h2 --addr "$1"
}
cases "queue pairs by hand, IPv4" by_hand 10.9.0.2
cases "queue pairs by hand, IPv6" by_hand fd09::2
pings "a client in it, link-local" h1 "-a fe80::99:1%wire" h2 "-a fe80::99:1%wire"
check "a device on lo" in2 rdma link add rd_lo type iwmpa netdev lo
pings "127.0.0.1" h2 "-a 127.0.0.1" h2 "-a 127.0.0.1"
pings "127.0.0.1, wildcard listener" h2 "" h2 "-a 127.0.0.1"
check "delete it" in2 rdma link delete rd_lo
modprobe 8021q
check "a VLAN over its netdev, in no VRF" \
  eval 'for h in 1 2; do ip -n h$h link add link wire name wire.5 type vlan id 5 &&
  ip -n h$h link set wire.5 up && ip -n h$h addr add 10.9.5.$h/24 dev wire.5; done'
check "a device on the VLAN" in2 rdma link add rd_vlan type iwmpa netdev wire.5
pings "the VLAN, a listener of its own" h2 "-a 10.9.5.2" h1 "-a 10.9.5.2"
pings "the VLAN, wildcard listener" h2 "" h1 "-a 10.9.5.2"
check "the VLAN is deleted" eval 'ip -n h1 link delete wire.5 && ip -n h2 link delete wire.5'
in2 sysctl -qw net.ipv4.tcp_l3mdev_accept=1
pings "tcp_l3mdev_accept, IPv4" h2 "-a 10.9.0.2" h1 "-a 10.9.0.2"
pings "tcp_l3mdev_accept, IPv6, wildcard listener" h2 "-a ::" h1 "-a fd09::2"
in2 sysctl -qw net.ipv4.tcp_l3mdev_accept=0

say "programs that are confined to a VRF"
check "another VRF" \
  eval 'ip -n h2 link add red type vrf table 11 && ip -n h2 link set red up &&
  in_vrf wire2 red 10.9.2.2/24'
vrf_exec() { in2 ip vrf exec "$@"; } # in_vrf's devices: wire in blue, wire2 in red
if vrf_exec red true; then # needs BPF programs of cgroups
  refused "in red: no listener on an address in blue" "Cannot assign" \
    vrf_exec red timeout $((20 * PATIENCE)) rping -s -a 10.9.0.2
  refused "in red: ... nor as an unprivileged user" "Cannot assign" \
    vrf_exec red setpriv --reuid nobody --regid rdma --clear-groups \
    timeout $((20 * PATIENCE)) rping -s -a 10.9.0.2
  # rping would wait for ever for a completion.
  refused "in red: no connection from an address in blue" "Cannot assign" \
    vrf_exec red timeout $((20 * PATIENCE)) \
    ucmatose -s 10.9.0.1 -b 10.9.0.2 -c 1
  in2 ip vrf exec red timeout -k 5 $((60 * PATIENCE)) rping -s -V -C 5 >"$WORK/server" 2>&1 &
  pid=$!
  check "in red: a wildcard listener" until_true 20 listening h2 7174
  refused "in red: ... does not serve blue" "REJECTED|UNREACHABLE" \
    bounded 20 ip netns exec h1 rping -c -V -C 5 -a 10.9.0.2
  check "in red: ... but serves red" bounded 20 ip netns exec h1 rping -c -V -C 5 -a 10.9.2.2
  wait $pid
  check "... and ends well" test $? = 0
else
  say "ip vrf exec does not work here"
fi

say "a VRF that goes, with listeners in it"
talk_to server h2 rdma-target
answers "a listener in blue" server "listen 10.9.0.2 7471" "^= ok port=7471"
answers "a wildcard listener" server "listen :: 7472" "^= ok port=7472"
check "blue is deleted" ip -n h2 link delete blue
check "addresses" \
  eval 'ip -n h2 addr replace 10.9.0.2/24 dev wire &&
  ip -n h2 addr replace fd09::2/64 dev wire nodad'
hang_up server
check "the program ends" until_true 20 not_listening h2 7472
pings "the next listener, without the VRF" h2 "-a 10.9.0.2" h1 "-a 10.9.0.2"
check "red is deleted" ip -n h2 link delete red
check "its netdev is deleted" ip -n h2 link delete wire2
check "... and the devices" until_true 20 eval '[ "$(links | grep -c 2$)" = 1 ]'

say "ipvlan: all netdevs have the link address of the one under them"
modprobe ipvlan
ip netns add router
ip -n router link set lo up
for mode in l2 l3; do
  check "$mode: two netdevs over wire of h2" eval "
    ip -n h2 link add ipvl link wire type ipvlan mode $mode && ip -n h2 link set ipvl up &&
    ip -n h2 addr add 10.9.3.2/24 dev ipvl &&
    ip -n h2 link add ipvr link wire type ipvlan mode $mode &&
    ip -n h2 link set ipvr netns router && ip -n router link set ipvr up &&
    ip -n router addr add 10.9.3.3/24 dev ipvr &&
    ip -n router addr add fd09:3::3/64 dev ipvr nodad &&
    ip -n h2 addr add fd09:3::2/64 dev ipvl nodad"
  check "$mode: a device on each" eval 'in2 rdma link add rd_ipvl type iwmpa netdev ipvl &&
    ip netns exec router rdma link add rd_ipvr type iwmpa netdev ipvr'
  pings "$mode, IPv4" h2 "-a 10.9.3.2" router "-a 10.9.3.2"
  pings "$mode, IPv4, wildcard listener" h2 "" router "-a 10.9.3.2"
  pings "$mode, IPv6, the other way" router "-a fd09:3::3" h2 "-a fd09:3::3"
  pings "$mode, IPv6, wildcard listener, the other way" router "-a ::" h2 "-a fd09:3::3"
  pings "$mode, the netdev under them" h2 "-a 10.9.0.2" h1 "-a 10.9.0.2"
  check "$mode: the link address shows no difference" \
    test "$(ip -n h2 -br link show ipvl | awk '{ print $3 }')" = \
    "$(ip -n h2 -br link show wire | awk '{ print $3 }')"
  check "$mode: deleted" eval 'ip -n h2 link delete ipvl && ip -n router link delete ipvr'
  check "$mode: ... with the devices" until_true 20 eval '! links | grep -q ipv'
done
finish
