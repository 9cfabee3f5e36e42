#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libfabric: the device in its list, and its ping-pong with both kinds of endpoint that the device supports, data compared.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "libfabric"
has fi_pingpong || skip "libfabric-bin is missing"
load_modules || finish
two_hosts || finish

# found PROVIDER TYPE: whether fi_info lists the device with this provider and endpoint type.
found() {
  in1 fi_info -p "$1" -t "$2"
  in1 fi_info -p "$1" -t "$2" | grep -q 'domain: rd1'
}
pingpong() {
  local text=$1 provider=$2 type=$3 options=$4 address=${5:-10.9.0.2}
  over_rdma "$text" 120 47592 h2 "fi_pingpong -p '$provider' -e $type $options" h1 "fi_pingpong -p '$provider' -e $type $options $address"
}

check "fi_info lists it: verbs, messages" found verbs FI_EP_MSG
check "fi_info lists it: verbs;ofi_rxm, reliable datagrams" found 'verbs;ofi_rxm' FI_EP_RDM
refused "no datagrams: the device has no UD (ENODATA)" "fi_getinfo: -61" in1 fi_info -p verbs -t FI_EP_DGRAM
for markers in N Y; do
  set_parameter markers $markers || break
  say "Markers: $markers"
  for size in 1 65536 1048576; do
    pingpong "verbs, $size octets" verbs msg "-I 20 -c -S $size"
    pingpong "verbs;ofi_rxm, $size octets" 'verbs;ofi_rxm' rdm "-I 20 -c -S $size"
    pingpong "verbs;ofi_rxm, tagged, $size octets" 'verbs;ofi_rxm' rdm "-I 20 -c -m tagged -S $size"
  done
done
pingpong "verbs, IPv6" verbs msg "-I 20 -c -6" fd09::2
pingpong "verbs, 6 MiB" verbs msg "-I 4 -c -S 6291456"
finish
