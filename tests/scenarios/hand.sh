#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that connect queue pairs by hand, with ibv_modify_qp() alone.
# suite: debug kcsan applications
. "$(dirname "$0")/../lib/scenario.sh"
begin "hand"
load_modules || finish
two_hosts || finish
# set_both ATTRIBUTE VALUE: on both devices
set_both() { set_device rd1 "$1" "$2" && set_device rd2 "$1" "$2" || fail "$1 $2"; }
v() { bounded 250 verbs-test run "$@" --server-ns h2 --client-ns h1; }
some="hand-connect hand-order hand-rtr hand-many hand-itself hand-strangers"
all="$some hand-lost hand-refused hand-forbidden hand-gives-up hand-peer-leaves hand-ends"
all+=" hand-bad-peers hand-resets hand-false-responder"

say "GIDs"
has_gid() { in1 ibv_devinfo -v -d rd1 | grep -E "GID.*$1"; }
check "one for each IPv4 address" has_gid ffff:0a09:0001
check "one for each IPv6 address" has_gid fd09:0000:0000:0000:0000:0000:0000:0001
# The GIDs of newer kernels do not change: Documentation/architecture.md
if [ "$(uname -r | cut -d. -f1,2)" = 6.1 ]; then
  ip -n h1 addr add 10.9.1.1/24 dev wire
  check "also for a new one" until_true 10 has_gid ffff:0a09:0101
  ip -n h1 addr del 10.9.1.1/24 dev wire
  check "and not for a removed one" until_true 10 eval '! has_gid ffff:0a09:0101'
fi

# shellcheck disable=SC2086 # lists of names
cases "between two hosts" v $all --addr 10.9.0.2
# shellcheck disable=SC2086
cases "over IPv6" v $some --addr fd09::2
modprobe -q sch_netem
in1 tc qdisc add dev wire root netem delay 10ms || fail "no delay"
cases "over a path that takes 10 ms" v hand-placed --addr 10.9.0.2
in1 tc qdisc del dev wire root || fail "the delay stays"
set_both receive_wait 0
cases "the device's receive_wait does not apply" v hand-rnr --addr 10.9.0.2
set_both receive_wait 500
cases "it does to a Read that is held up" v hand-rnr-read --addr 10.9.0.2
set_both receive_wait 10000
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
for program in "ib_write_bw -n 200" "ib_write_lat -n 100" "ib_read_bw -n 200" "ib_read_lat -n 100" \
  "ib_send_lat -n 100" "ib_write_bw -n 100 -q 16 -b"; do
  by_hand "$program" 18515 $program -F
done
# To an RNIC ib_send_bw sends credits. It does not release their memory, and fails at its end.
say "as a channel adapter"
set_both node_type ca
by_hand "ib_send_bw" 18515 ib_send_bw -F -n 200
by_hand "ib_send_bw, both ways, events" 18515 ib_send_bw -F -n 200 -b -e
cases "rdma_cm still works" v private-data graceful --addr 10.9.0.2
set_both node_type rnic

say "a port that another program has, and none"
set_both hand_port 0
refused "not permitted" "Operation not supported" v hand-connect --addr 10.9.0.2
set_both hand_port 5003
cases "another port" v hand-connect --addr 10.9.0.2
set_both hand_port 299

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
