#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rping with verification, IPv4 and IPv6: between two hosts whose interfaces have the same index,
# over a dummy device, over lo.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
begin "rping"
load_modules || finish

# ping_pong TEXT SERVER-NAMESPACE LISTEN-ADDRESS CLIENT-NAMESPACE ADDRESS [OPTIONS]
ping_pong() {
  client_server "$1" 60 7174 "$2" "rping -s -a $3 -V -C 100 ${6:-}" \
    "$4" "rping -c -a $5 -V -C 100 ${6:-}"
}

say "two hosts"
two_hosts || finish
ping_pong "IPv4, wildcard listener" h2 0.0.0.0 h1 10.9.0.2
ping_pong "IPv4, from the other side" h1 0.0.0.0 h2 10.9.0.1
ping_pong "IPv4, listener on its address" h2 10.9.0.2 h1 10.9.0.2
ping_pong "IPv6, wildcard listener" h2 :: h1 fd09::2
ping_pong "IPv6, listener on its address" h1 fd09::1 h2 fd09::1
ping_pong "large messages" h2 0.0.0.0 h1 10.9.0.2 "-S 65000"

# the interface indexes are equal: a listener must not get the other's connections
say "the same port on both hosts at once"
bounded 120 ip netns exec h1 rping -s -a 0.0.0.0 -V -C 100 >"$WORK/other" 2>&1 &
other=$!
until_true 20 listening h1 7174 || fail "the first listener does not come up"
ping_pong "a client of h2's listener" h2 0.0.0.0 h1 10.9.0.2
check "a client of h1's listener" bounded 60 ip netns exec h2 rping -c -a 10.9.0.1 -V -C 100
check "its server ends with status 0" wait $other
for l in rd1 rd2; do check "delete $l" rdma link delete $l; done
ip netns delete h1
ip netns delete h2

say "one host"
one_host || finish
ping_pong "dummy, IPv4" "" 10.8.0.1 "" 10.8.0.1
ping_pong "dummy, IPv6" "" fd08::1 "" fd08::1
ping_pong "dummy, wildcard" "" 0.0.0.0 "" 10.8.0.1
# On a host that also has an RNIC. client_server sees the listener at the port that the program
# named.
if command -v iwpmd >/dev/null &&
  check "the port mapper of RNICs starts" eval 'iwpmd && until_true 20 pidof iwpmd'; then
  ping_pong "beside the port mapper" "" 0.0.0.0 "" 10.8.0.1
  check "the port mapper still runs" killall iwpmd
fi
check "delete rd0" rdma link delete rd0

say "loopback"
check "link on lo" rdma link add rd0 type "$LINKTYPE" netdev lo
ping_pong "127.0.0.1" "" 127.0.0.1 "" 127.0.0.1
ping_pong "127.0.0.1, wildcard listener" "" 0.0.0.0 "" 127.0.0.1
ping_pong "::1" "" ::1 "" ::1
finish
