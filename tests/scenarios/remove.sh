#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Removals during a transfer: the link, the netdev, the network namespace, the module, the
# processes. The programs get an event and end. Programs that ignore their events cannot block the
# removal of the link.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "removal during a running transfer"
load_modules || finish
port=7480

# start_transfer [OPTIONS]: starts an endless transfer from h1 to h2; its processes are $server and
# $client.
start_transfer() {
  ip netns exec h2 rdma-stream listen 10.9.0.2 $port "$@" >"$WORK/server" 2>&1 &
  server=$!
  until_true 20 listening h2 $port || {
    fail "the server does not listen: $(cat "$WORK/server")"
    return 1
  }
  ip netns exec h1 rdma-stream connect 10.9.0.2 $port "$@" >"$WORK/client" 2>&1 &
  client=$!
  runs || { fail "the transfer does not start: $(cat "$WORK/client" "$WORK/server")"; return 1; }
}

octets() { ip netns exec h2 cat /sys/class/net/wire/statistics/rx_bytes; }
# runs: whether h2 receives a MiB from now on.
runs() {
  local before
  before=$(octets)
  until_true 40 received $((before + 1048576))
}
received() { [ "$(octets)" -gt "$1" ]; }

# ends SIDE PID [REGEX]: the process must end by itself, with status 0, and print why.
ends() {
  local status=0
  if ! until_true 40 gone "$2"; then
    fail "the $1 does not end: $(cat "$WORK/$1")"
    kill -9 "$2"
    wait "$2" 2>/dev/null
    return 1
  fi
  wait "$2" || status=$?
  if [ $status = 0 ] && grep -qE "ended: ${3:-.}" "$WORK/$1"; then
    good "the $1 ends"
    grep ended: "$WORK/$1" | details
  else
    fail "the $1 ends with status $status: $(cat "$WORK/$1")"
  fi
}

killed() {
  kill -9 "$@" 2>/dev/null
  wait "$@" 2>/dev/null
}

clean_slate() {
  local l n
  for l in $(links); do bounded 30 rdma link delete "$l" || fail "delete $l"; done
  for n in h1 h2; do [ ! -e /run/netns/$n ] || ip netns delete $n; done
}

works_again() {
  check "everything works again" \
    bounded 60 verbs-test run cycles --count 3 --addr 10.9.0.2 --server-ns h2 --client-ns h1
}
# works_anew: new links must carry connections.
works_anew() {
  clean_slate
  two_hosts && works_again
}

say "the client is killed"
two_hosts || finish
start_transfer && { killed $client; ends server $server "disconnected|FLUSH"; }
works_again

say "the server is killed"
start_transfer && { killed $server; ends client $client "disconnected|FLUSH"; }
works_again

say "the client's link is deleted"
start_transfer && {
  check "rdma link delete" bounded 60 rdma link delete rd1
  ends client $client
  ends server $server
}
works_anew

say "the server's link is deleted"
start_transfer && {
  check "rdma link delete" bounded 60 rdma link delete rd2
  ends server $server
  ends client $client
}
works_anew

# the peer withholds the READ's Response
say "a link is deleted under a peer that writes to the memory of a READ"
cases "no write after the removal" \
  ip netns exec h1 mpa-peer run removal-write --addr 10.9.0.2 --own-addr 10.9.0.1 \
  --target "ip netns exec h2 rdma-target" --removal "rdma link delete rd2"
works_anew

say "a link is deleted under programs that ignore events"
start_transfer --stubborn && {
  check "rdma link delete on the client's side" bounded 60 rdma link delete rd1
  check "rdma link delete on the server's side" bounded 60 rdma link delete rd2
  check "the client is still there" kill -0 $client
  killed $client $server
}
works_anew

say "the netdev is deleted"
start_transfer && {
  check "ip link delete" bounded 60 ip -n h1 link delete wire
  ends client $client
  ends server $server
  check "the links are removed with it" until_true 20 bash -c '[ -z "$(rdma link show)" ]'
}
works_anew

say "a network namespace is deleted"
start_transfer && { # the namespace exists until its last process has ended
  ip netns delete h1
  killed $client
  ends server $server
  check "its link is removed with it" until_true 20 bash -c '! rdma link show | grep -q rd1/'
}
works_anew

say "the netdev is down for a moment" # TCP survives that, and so do RDMA connections
start_transfer && {
  ip -n h1 link set wire down
  check "TCP waits" until_true 40 stalled $port
  ip -n h1 link set wire up
  check "the transfer goes on" runs
  killed $client
  ends server $server
}
works_again

say "the module is unloaded"
start_transfer && {
  last=$(basename "${MODULES##* }" .ko)
  if rmmod "$last" 2>"$WORK/rmmod"; then
    good "it unloads at once"
  else
    check "refused, because it is in use" grep -q "in use" "$WORK/rmmod"
    check "the transfer goes on" runs
    killed $client
  fi
  ends server $server
  killed $client
  check "all modules unload now" unload_modules
  check "no link is left" test -z "$(links)"
  load_modules
}
works_anew
finish
