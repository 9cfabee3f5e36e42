#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Transfers with offloads of the netdev off and on, and with XDP.
# suite: network
. "$(dirname "$0")/../lib/network.sh"
begin "offloads and XDP"
load_modules || finish

# feature NAME on|off: whether both hosts' wires have the feature switched on or off.
feature() { both ethtool -k wire | grep -c "^$1: $2" | grep -qx 2; }
# offloads NAME STATE...: switches them on both hosts, and transfers.
offloads() {
  two_hosts || return
  check "ethtool -K wire $*" both ethtool -K wire "$@" || return
  transfer 10.9.0.2
  transfer fd09::2
}
gro_on() {
  offloads gro on || return
  check "GRO was on" feature generic-receive-offload on
}
tso_off() {
  offloads tso off || return
  check "TSO was off" feature tcp-segmentation-offload off
}
gso_off() {
  offloads tso off gso off gro on || return
  check "GSO was off" feature generic-segmentation-offload off
}
no_offloads() {
  offloads tso off gso off gro off sg off tx off rx off || return
  check "checksums were computed by the CPU" feature tx-checksumming off
}
lro() { lacks "no netdev of the guest has LRO"; }

# xdp FLAG: a program that passes all packets, on both hosts.
xdp() {
  need_tools clang || return
  two_hosts || return
  echo '__attribute__((section("xdp"))) int pass(void *packet) { return 2; /* XDP_PASS */ }' \
    >"$WORK/pass.c"
  check "a program" bounded 60 clang -target bpf -O2 -c "$WORK/pass.c" -o "$WORK/pass.o" || return
  check "$1 on both hosts" both ip link set dev wire "$1" obj "$WORK/pass.o" sec xdp || return
  transfer 10.9.0.2
  transfer fd09::2
  check "the programs were there" eval "both ip link show dev wire | grep -c 'prog/xdp' | grep -x 2"
}
xdp_generic() { xdp xdpgeneric; }
xdp_driver() { xdp xdpdrv; }

row gro-on "GRO on"
row tso-off "TSO off"
row gso-off "TSO and GSO off, GRO on"
row no-offloads "no offload at all: linear packets, checksums by the CPU"
row lro "LRO"
row xdp-generic "XDP, generic mode"
row xdp-driver "XDP in veth's driver"
finish
