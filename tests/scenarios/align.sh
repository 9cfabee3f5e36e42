#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The positions of FPDUs in TCP segments, from captures behind a router: several MTUs, with and
# without TSO, Markers, packing and timestamps, IPv4 and IPv6. The devices' counters must agree with
# the captures.
. "$(dirname "$0")/../lib/scenario.sh"
begin "alignment"
command -v tcpdump >/dev/null || skip "tcpdump is not installed"
load_modules || finish
. "$(dirname "$0")/../lib/routed.sh"
routed_hosts || finish

# transfer [ADDRESS]: captures SENDs, WRITEs and READs, large and small, whose data are compared. On
# one CPU, so that packets keep their order: SACK blocks in data segments would make these smaller.
transfer() {
  start_router_capture
  cases "transfer" \
    bounded 60 taskset -c 0 verbs-test run integrity bulk --count 4 --addr "${1:-10.9.2.2}" \
    --server-ns h2 --client-ns h1
  end_capture 10.9.2.2
}

# mulpdu EMSS: prints the MULPDU of RFC 5044 section 4.5, with or without Markers as $markers says.
mulpdu() {
  if [ "$markers" = Y ]; then
    echo $(($1 - 6 - 4 * (($1 + 511) / 512) - $1 % 4))
  else
    echo $(($1 - 6 - $1 % 4))
  fi
}

# emss_is EMSS: segments must be full, and FPDUs as large as possible. With one Marker less than the
# maximum, 4 octets more fit.
emss_is() {
  local want
  want=$(mulpdu "$1")
  check "segments of $1 octets [SIZ-06]" test "$(largest largest_segment)" = $(($1 - $1 % 4))
  check "ULPDUs of $want octets [SIZ-01 SIZ-02 SIZ-04]" \
    test "$(largest largest_ulpdu)" -ge "$want" -a \
    "$(largest largest_ulpdu)" -le $((want + ($(largest markers) ? 4 : 0)))
}

remember() {
  read_counters
  fpdus=${counts[tx_fpdus]} octets=${counts[tx_octets]} unaligned=${counts[tx_unaligned]}
}

# counters_agree: compares the devices' counters with the capture.
counters_agree() {
  read_counters
  check "tx_fpdus" test "$((counts[tx_fpdus] - fpdus))" = "$(figure fpdus)"
  check "tx_octets" test "$((counts[tx_octets] - octets))" = "$(figure octets)"
  check "tx_unaligned is $(figure unaligned) [TX-01]" \
    test "$((counts[tx_unaligned] - unaligned))" = "$(figure unaligned)"
}

# aligned TEXT EMSS [ADDRESS]
aligned() {
  say "$1"
  remember
  transfer "${3:-}"
  judged "every segment starts with an FPDU and holds whole ones [TX-01 TX-02 TX-07]" \
    --expect all-aligned --least-segments 100
  emss_is "$2"
  counters_agree
}

sysctl -qw net.core.netdev_max_backlog=100000 # no packet may be lost between the hosts here
# On a busy machine acknowledgements come late, so that TCP sends segments again. The answer, a
# D-SACK, is an option that makes the next segments shorter than FPDUs that wait to be sent already.
in1 sysctl -qw net.ipv4.tcp_dsack=0
in2 sysctl -qw net.ipv4.tcp_dsack=0
for tso in on off; do
  set_tso $tso
  for mtu in 1500 4200 9000; do
    set_mtu $mtu
    for markers in N Y; do
      set_parameter markers $markers || break 3
      aligned "MTU $mtu, TSO $tso, Markers $markers" $((mtu - 52))
    done
  done
done

set_tso on
set_mtu 1503
aligned "MTU 1503: an EMSS that is no multiple of 4" 1451
set_mtu 1500
aligned "IPv6" 1428 fd09:2::2
set_timestamps() { in1 sysctl -qw net.ipv4.tcp_timestamps="$1"; }
set_timestamps 0
aligned "without TCP's timestamps" 1460
set_timestamps 1
# Newer kernels only: an option in every segment
set_ecn() {
  in1 sysctl -qw net.ipv4.tcp_ecn="$1" && in2 sysctl -qw net.ipv4.tcp_ecn="$1"
} 2>/dev/null
if set_ecn 3; then
  aligned "with Accurate ECN" 1436
  set_ecn 2
fi
markers=N
set_parameter markers N

say "without packing"
set_parameter packing N
transfer
judged "one FPDU in each segment [RDC-07]" --expect all-aligned --most-fpdus 1 --least-segments 100
set_parameter packing Y

# FPDUs across segments, if the administrator chooses so without the peer's consent: the peer must
# accept them. With Markers and CRC.
say "large FPDUs"
set_parameter markers Y
for large in local always; do
  set_parameter large_fpdus $large
  remember
  transfer
  if [ $large = local ]; then
    judged "large_fpdus=local: none between hosts [TX-01]" --expect all-aligned
  else
    judged "FPDUs and Markers are correct, large_fpdus=always"
    check "FPDUs across segments [DDP-04]" test "$(largest largest_ulpdu)" -gt 20000
  fi
done

# A device's setting overrides the parameter.
for choice in never default always agreed; do
  if [ $choice = always ]; then set_parameter large_fpdus never || fail "large_fpdus"; fi
  set_device rd1 large_fpdus $choice && set_device rd2 large_fpdus $choice ||
    fail "large_fpdus of the devices"
  transfer
  if [ $choice = never ]; then
    judged "no large FPDUs on devices with never, although large_fpdus=always" --expect all-aligned
  else
    judged "FPDUs and Markers are correct, the devices' setting is $choice"
    check "FPDUs across segments: $choice" test "$(largest largest_ulpdu)" -gt 20000
  fi
done
set_device rd1 large_fpdus default && set_device rd2 large_fpdus default ||
  fail "large_fpdus of the devices"
set_parameter markers N

say "64 SENDs of 64 octets, posted in one call"
start_router_capture
cases "transfer" \
  bounded 60 verbs-test run posted-together --addr 10.9.2.2 --server-ns h2 --client-ns h1
end_capture 10.9.2.2
judged "few segments [TX-02 TX-09]" --from 10.9.1.1 --expect all-aligned --most-segments 8
finish
