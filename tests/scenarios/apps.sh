#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# User-space stacks on the device, each between two hosts: rsockets (also preloaded into a TCP
# program), many connections (thousands in tests/applications/connections.sh), fio, libfabric.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "user-space stacks"
load_modules || finish
two_hosts || finish

if has rstream; then
  over_rdma "rsockets: rstream" 60 7471 h2 "rstream -b 10.9.0.2 -S 65536 -I 20 -C 10" \
    h1 "rstream -s 10.9.0.2 -S 65536 -I 20 -C 10"
  over_rdma "rsockets: riostream" 60 7471 h2 "riostream -b 10.9.0.2 -S 65536 -I 20 -C 10" \
    h1 "riostream -s 10.9.0.2 -S 65536 -I 20 -C 10"
  if has iperf; then
    over_rdma "rsockets: iperf, which knows only TCP" 60 5555 h2 "$preload iperf -s -p 5555 -P 1" \
      h1 "$preload iperf -c 10.9.0.2 -p 5555 -n 4M"
  fi
fi
if has ucmatose; then
  over_rdma "200 connections: ucmatose" 120 7471 h2 "ucmatose -b 10.9.0.2 -c 200" \
    h1 "ucmatose -s 10.9.0.2 -c 200"
fi
# iWARP has no flow control of its own: fio's receives must suffice for all SENDs.
if has fio; then
  for verb in write read send; do
    printf '%s\n' '[r]' ioengine=rdma port=8888 bs=64k size=8m iodepth=128 rw=read \
      >"$WORK/server.fio"
    printf '%s\n' '[w]' ioengine=rdma hostname=10.9.0.2 port=8888 verb=$verb bs=64k size=8m \
      iodepth=4 rw=write >"$WORK/client.fio"
    over_rdma "fio, verb $verb" 60 8888 h2 "fio $WORK/server.fio" h1 "fio $WORK/client.fio"
  done
fi
if has fi_pingpong; then
  over_rdma "libfabric: verbs" 60 47592 h2 "fi_pingpong -p verbs -e msg -I 10 -c" \
    h1 "fi_pingpong -p verbs -e msg -I 10 -c 10.9.0.2"
  over_rdma "libfabric: verbs;ofi_rxm" 60 47592 h2 "$(rxm 6 "-I 10 -c")" \
    h1 "$(rxm 6 "-I 10 -c 10.9.0.2")"
fi
finish
