#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A network namespace without a route out has a netdev whose addresses equal those of a netdev with
# a
# device in another namespace. rdma_cm, which finds devices by their link address, selects that
# device. It must not give connections to the wrong namespace.
. "$(dirname "$0")/../lib/scenario.sh"
begin "a namespace that looks like another"
[ "$LINKTYPE" = iwmpa ] || skip "siw connects"
load_modules || finish
two_hosts || finish
ip netns add router || finish
ip -n router link add wire type dummy
ip -n router link set wire address "$(in1 cat /sys/class/net/wire/address)" up
ip -n router addr add 10.9.0.1/24 dev wire
ip -n router addr add fd09::1/64 dev wire nodad
refused "there is no way out of it" "100% packet loss" ip netns exec router ping -c 1 -W 1 10.9.0.2

talk_to server h2 rdma-target
answers "a server" server "listen :: 7471" "^= ok"
talk_to stranger router rdma-target
mark_log
compares_addresses() { [[ $(uname -r) == 6.1.* ]]; } # later ones compare netdevs
for to in 10.9.0.2 fd09::2; do
  if compares_addresses; then
    answers "a connect to $to is refused" \
      stranger "connect $to 7471" "^= error rdma_connect: Network is unreachable"
  else
    answers "rdma_cm finds no device for $to" \
      stranger "connect $to 7471" "^= error RDMA_CM_EVENT_ADDR_ERROR \(status -19\)"
  fi
done
! compares_addresses || check "the kernel log says why" log_has "in another network namespace"
check "the server gets no event" bash -c "! grep '! cm' '$WORK/server.out'"

talk_to client h1 rdma-target
tell client "connect 10.9.0.2 7471"
check "a connect of h1 itself reaches the server" until_true 20 heard server "event=CONNECT_REQUEST"
hang_up server stranger client

# An rdma_cm that compares link addresses takes the first device. Root of a container may set that
# of its netdev, and sets it to h1's.
say "a container with a device looks like h1"
unshare --user --map-root-user --net sleep infinity &
container=$!
own_network() { [ "$(readlink /proc/$container/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
in_container() { nsenter --target $container --user --net --preserve-credentials "$@"; }
until_true 10 own_network && ip netns attach container $container ||
  fail "the container does not start"
in_container ip link add wire type dummy
in_container ip link set wire up
check "the host gives it a device" \
  ip netns exec container rdma link add first type "$LINKTYPE" netdev wire
check "h1's device is younger" in1 rdma link delete rd1 &&
  in1 rdma link add rd1 type "$LINKTYPE" netdev wire
mark_log
check "its root sets the address" \
  in_container ip link set wire address "$(in1 cat /sys/class/net/wire/address)"
! compares_addresses ||
  check "the kernel log says that its device is not used" \
    until_true 10 log_has "first: a device of another network namespace has the same"
talk_to server2 h2 rdma-target
answers "a server" server2 "listen 10.9.0.2 7471" "^= ok"
talk_to client2 h1 rdma-target
answers "h1 listens on its address" client2 "listen 10.9.0.1 7472" "^= ok"
tell client2 "connect 10.9.0.2 7471"
check "h1 connects to h2" until_true 20 heard server2 "event=CONNECT_REQUEST"
hang_up client2 server2
check "the container's device goes" rdma link delete first
ip netns delete container
kill $container
finish
