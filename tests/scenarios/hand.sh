#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that connect queue pairs by hand, with ibv_modify_qp() alone, between two hosts and on one.
# suite: debug kcsan applications
. "$(dirname "$0")/../lib/scenario.sh"
begin "hand"
load_modules || finish
two_hosts || finish
may_wait() { set_device rd1 receive_wait "$1" && set_device rd2 receive_wait "$1" || fail "receive_wait $1"; }
v() { bounded 250 verbs-test run "$@" --server-ns h2 --client-ns h1; }
all="hand-connect hand-order hand-rtr hand-many hand-itself hand-gives-up hand-peer-leaves hand-ends hand-bad-peers hand-strangers hand-resets
  hand-false-responder"
some="hand-connect hand-order hand-rtr hand-many hand-itself hand-strangers"

say "GIDs"
has_gid() { in1 ibv_devinfo -v -d rd1 | grep -E "GID.*$1"; }
check "one for each IP address" eval 'has_gid ffff:0a09:0001 && has_gid fd09:0000:0000:0000:0000:0000:0000:0001'
if [ "$(uname -r | cut -d. -f1,2)" = 6.1 ]; then # newer rdma_cms would crash: Documentation/architecture.md
  ip -n h1 addr add 10.9.1.1/24 dev wire
  check "also for a new one" until_true 10 has_gid ffff:0a09:0101
  ip -n h1 addr del 10.9.1.1/24 dev wire
  check "and not for a removed one" until_true 10 eval '! has_gid ffff:0a09:0101'
fi

# shellcheck disable=SC2086 # lists of names
cases "between two hosts" v $all --addr 10.9.0.2
# shellcheck disable=SC2086
cases "over IPv6" v $some --addr fd09::2
may_wait 0
cases "the device's receive_wait does not apply" v hand-rnr --addr 10.9.0.2
may_wait 10000
# shellcheck disable=SC2086
cases "on one host" bounded 100 verbs-test run $some --addr 10.9.0.2 --server-ns h2 --client-ns h2

# by_hand TEXT SERVER-PORT PROGRAM OPTION...: between two hosts
by_hand() {
  local text=$1 port=$2; shift 2
  client_server "$text" 60 "$port" h2 "$1 -d rd2 ${*:2}" h1 "$1 -d rd1 ${*:2} 10.9.0.2"
}
say "rdma-core's examples"
by_hand "ibv_rc_pingpong, IPv4" 18515 ibv_rc_pingpong -g 2 -n 200
by_hand "ibv_rc_pingpong, IPv6, events" 18515 ibv_rc_pingpong -g 3 -n 200 -e
by_hand "ibv_srq_pingpong" 18515 ibv_srq_pingpong -g 2 -n 200
say "perftest without -R"
for program in "ib_write_bw -n 200" "ib_write_lat -n 100" "ib_read_bw -n 200" "ib_read_lat -n 100" "ib_send_lat -n 100" "ib_write_bw -n 100 -q 16 -b"; do
  by_hand "$program" 18515 $program -F
done
# To an RNIC ib_send_bw sends credits, whose memory it does not release at the end, so that it fails.
say "as a channel adapter"
set_device rd1 node_type ca && set_device rd2 node_type ca || fail "node_type"
by_hand "ib_send_bw" 18515 ib_send_bw -F -n 200
by_hand "ib_send_bw, both ways, events" 18515 ib_send_bw -F -n 200 -b -e
cases "rdma_cm still works" v private-data graceful --addr 10.9.0.2
set_device rd1 node_type rnic && set_device rd2 node_type rnic || fail "node_type"

say "a port that another program has, and none"
set_device rd1 hand_port 0 && set_device rd2 hand_port 0 || fail "hand_port"
refused "not permitted" "Operation not supported" v hand-connect --addr 10.9.0.2
set_device rd1 hand_port 5003 && set_device rd2 hand_port 5003 || fail "hand_port"
cases "another port" v hand-connect --addr 10.9.0.2
set_device rd1 hand_port 299 && set_device rd2 hand_port 299 || fail "hand_port"

say "a device is removed while queue pairs wait for their peers"
v hand-gives-up --addr 10.9.0.2 >"$WORK/waiting" 2>&1 &
listens() { ss -ltnHN h2 | grep -q ':299 ' || ss -ltnHN h1 | grep -q ':299 '; }
check "one waits" until_true 60 listens
check "rdma link delete rd1" bounded 60 rdma link delete rd1
check "rdma link delete rd2" bounded 60 rdma link delete rd2
check "nobody listens any more" until_true 20 eval '! listens'
kill $! 2>/dev/null
wait $!
finish
