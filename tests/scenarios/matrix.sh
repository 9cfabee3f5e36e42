#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Data integrity with Markers off and on, CRC on and off, MTU 1500, 9000 and 65535: random
# operations of random sizes.
. "$(dirname "$0")/../lib/scenario.sh"
begin "Markers, CRC, MTU"
load_modules || finish
ip link add wire type dummy
ip link set wire up
ip addr add 10.8.0.1/24 dev wire
seed=1
for mtu in 1500 9000 65535; do
  # Both ends are on this host, so that lo's MTU limits their segments.
  ip link set lo mtu $mtu
  ip link set wire mtu $mtu || fail "MTU $mtu"
  check "link at MTU $mtu" rdma link add rd0 type "$LINKTYPE" netdev wire
  for crc in Y N; do
    for markers in N Y; do
      if [ "$LINKTYPE" = iwmpa ]; then
        set_parameter crc $crc && set_parameter markers $markers
      elif [ $crc$markers != YN ]; then
        continue
      fi
      settings="MTU $mtu, CRC $crc, Markers $markers, seed $seed"
      cases "$settings: the program sees no difference [CRC-09]" \
        bounded 60 verbs-test run integrity sizes --addr 10.8.0.1 --seed $seed --count 10
      seed=$((seed + 1))
    done
  done
  check "delete" rdma link delete rd0
done
finish
