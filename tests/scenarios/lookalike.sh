#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A network namespace without a route out, but with a netdev whose addresses equal those of a netdev with a device in another namespace:
# rdma_cm, which finds devices by their link address, selects that device. It must not give connections to the wrong namespace.
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
for to in 10.9.0.2 fd09::2; do
  answers "a connect to $to is refused" stranger "connect $to 7471" "^= error rdma_connect: Network is unreachable"
done
check "the kernel log says why" log_has "in another network namespace"
check "the server gets no event" bash -c "! grep '! cm' '$WORK/server.out'"

talk_to client h1 rdma-target
tell client "connect 10.9.0.2 7471"
check "a connect of h1 itself reaches the server" until_true 20 heard server "event=CONNECT_REQUEST"
finish
