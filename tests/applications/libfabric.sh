#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libfabric: the device in its list, and its ping-pong with both kinds of endpoint that the device
# supports, data compared.
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
messages() {
  local text=$1 options=$2 address=${3:-10.9.0.2}
  over_rdma "$text" 120 47592 h2 "fi_pingpong -p verbs -e msg $options" \
    h1 "fi_pingpong -p verbs -e msg $options $address"
}
datagrams() { over_rdma "$1" 120 47592 h2 "$(rxm 1 "$2")" h1 "$(rxm 1 "$2 10.9.0.2")"; }

check "fi_info lists it: verbs, messages" found verbs FI_EP_MSG
check "fi_info lists it: verbs;ofi_rxm, reliable datagrams" found 'verbs;ofi_rxm' FI_EP_RDM
refused "no datagrams: the device has no UD (ENODATA)" "fi_getinfo: -61" \
  in1 fi_info -p verbs -t FI_EP_DGRAM
for markers in N Y; do
  set_parameter markers $markers || break
  say "Markers: $markers"
  for size in 1 65536 1048576; do
    messages "verbs, $size octets" "-I 20 -c -S $size"
    datagrams "verbs;ofi_rxm, $size octets" "-I 20 -c -S $size"
    datagrams "verbs;ofi_rxm, tagged, $size octets" "-I 20 -c -m tagged -S $size"
  done
done
messages "verbs, IPv6" "-I 20 -c -6" fd09::2
messages "verbs, 6 MiB" "-I 4 -c -S 6291456"
finish
