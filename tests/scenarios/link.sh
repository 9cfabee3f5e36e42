#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma link add and delete: on every kind of netdev; each mistake is reported by one clear line that
# says what is wrong and what to do.
. "$(dirname "$0")/../lib/scenario.sh"
begin "rdma link add and delete"
load_modules || finish

# said REGEX: whether a refusal has logged a matching line since the last call. (In 6.1 a link type
# can return only an error number.)
mark_log
said() {
  local text
  text=$(new_log)
  mark_log
  grep -qE -- "$1" <<<"$text" || { echo "the kernel log says: $text"; return 1; }
}

ip link add wire type dummy
ip link set wire up
ip addr add 10.8.0.1/24 dev wire
check "a dummy device" rdma link add rd0 type "$LINKTYPE" netdev wire
check "it is there" rdma link show rd0/1
check "it is active" bash -c 'rdma link show rd0/1 | grep -q "state ACTIVE"'
check "it names its netdev" bash -c 'rdma link show rd0/1 | grep -q "netdev wire"'
check "ibv_devinfo sees an iWARP device" bash -c 'ibv_devinfo -d rd0 | grep -q iWARP'

if [ "$LINKTYPE" = iwmpa ]; then
  say "settings of one device"
  chosen=/sys/class/infiniband/rd0/iwmpa
  for setting in markers crc rdmac packing early_placement large_fpdus; do
    choices="Y N" wrong="maybe"
    [ $setting != large_fpdus ] || choices="never local always agreed" wrong="sometimes"
    check "$setting: default at first" grep -qx default $chosen/$setting
    for choice in $choices default; do
      check "$setting: $choice" set_device rd0 $setting $choice
    done
    for choice in "$wrong" "" "2 3" "-1"; do
      refused "$setting: not '$choice'" "Invalid argument" \
        bash -c "echo '$choice' >$chosen/$setting"
    done
    refused "$setting: not without CAP_NET_ADMIN" "not permitted" \
      capsh --drop=cap_net_admin -- -c "echo default >$chosen/$setting"
    refused "$setting: not by others" "Permission denied" \
      setpriv --reuid nobody bash -c "echo default >$chosen/$setting"
    check "$setting: unchanged" grep -qx default $chosen/$setting
  done
  check "receive_wait: 10 s at first" grep -qx 10000 $chosen/receive_wait
  for choice in 0 600000 1; do
    check "receive_wait: $choice" set_device rd0 receive_wait $choice
  done
  for choice in 600001 4294967297 -1 "" never "2 3"; do
    refused "receive_wait: not '$choice'" "Invalid argument|out of range" \
      bash -c "echo '$choice' >$chosen/receive_wait"
  done
  refused "receive_wait: not without CAP_NET_ADMIN" "not permitted" \
    capsh --drop=cap_net_admin -- -c "echo default >$chosen/receive_wait"
  check "receive_wait: unchanged" grep -qx 1 $chosen/receive_wait
  check "receive_wait: default" \
    eval "echo default >$chosen/receive_wait && grep -qx 10000 $chosen/receive_wait"
  check "hand_port: 299 at first" grep -qx 299 $chosen/hand_port
  for choice in 0 65535 5003; do check "hand_port: $choice" set_device rd0 hand_port $choice; done
  for choice in 65536 -1 "" ssh; do
    refused "hand_port: not '$choice'" "Invalid argument|out of range" \
      bash -c "echo '$choice' >$chosen/hand_port"
  done
  check "hand_port: default" \
    eval "echo default >$chosen/hand_port && grep -qx 299 $chosen/hand_port"
  check "node_type: an RNIC at first" grep -qx rnic $chosen/node_type
  check "node_type: ca" set_device rd0 node_type ca
  check "... and rdma says so" eval "rdma dev show rd0 | grep -w ca"
  for choice in "" switch; do
    refused "node_type: not '$choice'" "Invalid argument" \
      bash -c "echo '$choice' >$chosen/node_type"
  done
  check "node_type: default" \
    eval "echo default >$chosen/node_type && grep -qx rnic $chosen/node_type"
  for setting in hand_port node_type; do
    refused "$setting: not without CAP_NET_ADMIN" "not permitted" \
      capsh --drop=cap_net_admin -- -c "echo default >$chosen/$setting"
  done
  check "there are no other settings" test "$(ls $chosen | wc -l)" = 9
fi

refused "a name that is taken" "File exists|Name not unique|exists" \
  rdma link add rd0 type "$LINKTYPE" netdev lo
[ "$LINKTYPE" != iwmpa ] || check "... and the kernel log says why" said "exists"
if [ "$LINKTYPE" = iwmpa ]; then
  longest=$(printf 'r%030d' 1)
  refused "a name that is longer than iw_cm takes" "File name too long" \
    rdma link add "${longest}2" type iwmpa netdev lo
  check "... and the kernel log says why" said "more than 31 characters"
  check "a link with the longest name" rdma link add "$longest" type iwmpa netdev lo
  client_server "rping through it, from a wildcard listener" 60 7179 '' "rping -s -p 7179 -V -C 3" \
    '' "rping -c -a 127.0.0.1 -p 7179 -V -C 3"
  check "it is deleted" rdma link delete "$longest"
fi
refused "a netdev that has a link already" "exists|busy" \
  rdma link add rd1 type "$LINKTYPE" netdev wire
[ "$LINKTYPE" != iwmpa ] || check "... and the kernel log says why" said "wire"
refused "a netdev that does not exist" \
  "No such device|Cannot find|Wrong device|Unknown device|not found" \
  rdma link add rd1 type "$LINKTYPE" netdev nowhere
refused "a link type that does not exist" "Unknown device type|Invalid argument|not supported" \
  rdma link add rd1 type nothing netdev lo
refused "a link that does not exist" "No such device|Wrong device name|not found|Invalid" \
  rdma link delete rd9
check "nothing half-made is there" test "$(links)" = rd0

check "it can be deleted" rdma link delete rd0
check "and is gone" test -z "$(links)"
check "and can be made again" rdma link add rd0 type "$LINKTYPE" netdev wire
check "and deleted again" rdma link delete rd0

if [ "$LINKTYPE" = iwmpa ]; then
  say "a program listens on all devices, and meanwhile a TCP socket takes its port"
  # librdmacm wants a device. One of another namespace leaves the port free.
  ip netns add elsewhere
  ip link add far type dummy
  ip link set far netns elsewhere
  check "a device in another namespace" \
    ip netns exec elsewhere rdma link add rd9 type "$LINKTYPE" netdev far
  setpriv --reuid nobody timeout $((60 * PATIENCE)) stdbuf -oL rping -s -d -p 7180 \
    >"$WORK/rping" 2>&1 &
  rping=$!
  check "an unprivileged program listens" until_true 20 grep -q '^rdma_listen' "$WORK/rping"
  busybox nc -l -p 7180 >/dev/null 2>&1 </dev/null &
  nc=$!
  check "a TCP socket has its port" until_true 20 listening "" 7180
  said . >/dev/null
  check "a device can still be made" rdma link add rd0 type "$LINKTYPE" netdev wire
  check "the kernel log names the listener" said "listener on .*7180 is not on this device"
  client_server "rping through the device" 60 7181 '' "rping -s -p 7181 -V -C 10" \
    '' "rping -c -a 10.8.0.1 -p 7181 -V -C 10"
  kill $nc $rping
  wait $nc $rping 2>/dev/null
  check "delete" rdma link delete rd0
  check "delete the other" rdma link delete rd9
  ip netns delete elsewhere
fi

say "netdevs of other kinds"
check "lo" rdma link add rd0 type "$LINKTYPE" netdev lo
check "delete" rdma link delete rd0
ip link add br0 type bridge
ip link set br0 up
check "a bridge" rdma link add rd0 type "$LINKTYPE" netdev br0
check "delete" rdma link delete rd0
ip link delete br0
if modprobe -q 8021q && ip link add link wire name wire.5 type vlan id 5 2>/dev/null; then
  check "a VLAN" rdma link add rd0 type "$LINKTYPE" netdev wire.5
  check "delete" rdma link delete rd0
  ip link delete wire.5
fi
# rdma_cm finds a device by its netdev's link address (6.1), which VLANs share, or treats a VLAN and
# its netdev as one: it uses the first.
devices_on() { # NETDEV...
  local dev address
  say "devices on $*"
  for dev; do check "$dev" rdma link add "rd_$dev" type iwmpa netdev "$dev"; done
  for dev; do
    address=$(ip -4 -o addr show dev "$dev" | sed 's,.*inet \([^/]*\)/.*,\1,')
    client_server "rping, $address" 60 7174 '' "rping -s -a $address -V -C 10" \
      '' "rping -c -a $address -V -C 10"
    client_server "rping, $address, wildcard listener" 60 7174 '' "rping -s -V -C 10" \
      '' "rping -c -a $address -V -C 10"
  done
  for dev; do check "delete" rdma link delete "rd_$dev"; done
}
if [ "$LINKTYPE" = iwmpa ] && modprobe -q 8021q; then
  for n in 5 6; do
    ip link add link wire name wire.$n type vlan id $n && ip link set wire.$n up &&
      ip addr add 10.8.$n.1/24 dev wire.$n || fail "VLAN $n"
  done
  devices_on wire wire.5
  devices_on wire.5 wire
  devices_on wire.5 wire.6
  ip link set wire.5 address 02:00:00:00:00:05
  devices_on wire wire.5
  devices_on wire.5 wire
  ip link delete wire.5 && ip link delete wire.6
fi
mark_log
if modprobe -q sit && ip link show sit0 >/dev/null 2>&1; then
  refused "a tunnel that is no iWARP netdev" "not supported|Invalid" \
    rdma link add rd0 type "$LINKTYPE" netdev sit0
  [ "$LINKTYPE" != iwmpa ] || check "... and the kernel log says why" said "sit0"
fi
check "nothing half-made is there" test -z "$(links)"

# Link type "none": packets without a link header, and no link address by which rdma_cm could find
# the device.
if [ "$LINKTYPE" = iwmpa ]; then
  say "netdevs without a link address"
  modprobe tun # makes its device file
  check "a tun device" \
    eval 'ip tuntap add mode tun name tun0 && rdma link add rd0 type iwmpa netdev tun0'
  check "delete" eval 'rdma link delete rd0 && ip link delete tun0'
  two_hosts_plain || finish
  for h in 1 2; do
    check "h$h: a VXLAN-GPE tunnel" \
      eval "ip -n h$h link add vx0 type vxlan dstport 4790 external gpe &&
      ip -n h$h link set vx0 up && ip -n h$h addr add 10.10.0.$h/32 dev vx0 &&
      ip -n h$h addr add fd10::$h/128 dev vx0 nodad &&
      ip -n h$h route add 10.10.0.0/24 encap ip id 7 dst 10.9.0.$((3 - h)) dev vx0 src 10.10.0.$h &&
      ip -n h$h -6 route add fd10::/64 encap ip id 7 dst 10.9.0.$((3 - h)) dev vx0 src fd10::$h"
    check "h$h: it has link type none" eval "ip -n h$h link show vx0 | grep -q link/none"
    check "h$h: a device on it" ip netns exec h$h rdma link add rd$h type iwmpa netdev vx0
  done
  client_server "rping through it, IPv4" 60 7174 h2 "rping -s -a 10.10.0.2 -V -C 10" \
    h1 "rping -c -a 10.10.0.2 -V -C 10"
  client_server "rping through it, IPv6, wildcard listener" 60 7174 h2 "rping -s -a :: -V -C 10" \
    h1 "rping -c -a fd10::2 -V -C 10"
  check "the devices are deleted" eval 'rdma link delete rd1 && rdma link delete rd2'
fi

say "a netdev that goes down and comes up again"
check "link" rdma link add rd0 type "$LINKTYPE" netdev wire
ip link set wire down
check "the port goes down" until_true 5 bash -c 'rdma link show rd0/1 | grep -q "state DOWN"'
check "its netdev is renamed" ip link set wire name wire2
check "and its link shows it" bash -c 'rdma link show rd0/1 | grep -q "netdev wire2"'
ip link set wire2 name wire
ip link set wire up
check "the port comes up" until_true 5 bash -c 'rdma link show rd0/1 | grep -q "state ACTIVE"'
check "delete" rdma link delete rd0

say "many links"
for i in $(seq 20); do
  ip link add d$i type dummy && ip link set d$i up && rdma link add m$i type "$LINKTYPE" netdev d$i
done
check "20 links" test "$(links | wc -l)" = 20
for i in $(seq 20); do ip link delete d$i; done
check "the links are removed with their netdevs" until_true 10 bash -c '[ -z "$(rdma link show)" ]'
finish
