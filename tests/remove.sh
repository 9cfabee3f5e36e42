#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Things that go while a transfer runs: the link, the netdev, the network namespace, the module, the processes.
# timeout: 600
. "$(dirname "$0")/lib.sh"
begin "removal during a running transfer"
load_modules || finish
port=18515

# start_transfer: an endless one between the hosts; its processes are $server and $client.
start_transfer() {
  ip netns exec h2 ib_write_bw -R -F -e -p $port -d rd2 -s 65536 -D 300 >"$WORK/server" 2>&1 &
  server=$!
  until_true 20 listening h2 $port || { fail "the server does not listen"; sed 's/^/    /' "$WORK/server"; return 1; }
  ip netns exec h1 ib_write_bw -R -F -e -p $port -d rd1 -s 65536 -D 300 10.9.0.2 >"$WORK/client" 2>&1 &
  client=$!
  until_true 20 running || { fail "the transfer does not start"; sed 's/^/    /' "$WORK/client" "$WORK/server"; return 1; }
}

# Octets move over the wire.
octets() { ip netns exec h2 cat /sys/class/net/wire/statistics/rx_bytes 2>/dev/null || echo 0; }
running() {
  local a
  a=$(octets)
  sleep 0.3
  [ "$(octets)" -gt $((a + 1000000)) ]
}

gone() { ! kill -0 "$1" 2>/dev/null; }
both_end() {
  # They are told, or find out by themselves; a program that sleeps for ever on a removed device is killed and that is a failure.
  local p
  for p in $server $client; do
    until_true "${1:-30}" gone $p || fail "process $p does not end"
  done
  kill -9 $server $client 2>/dev/null
  wait $server $client 2>/dev/null
}

clean_slate() {
  local l n
  for l in $(links); do bounded 30 rdma link delete $l || fail "delete $l"; done
  for n in h1 h2; do [ ! -e /run/netns/$n ] || ip netns delete $n; done
}

# works_again: after whatever happened, new links carry connections.
works_again() {
  clean_slate
  two_hosts || return 1
  check "everything works again" bounded 60 verbs-test run cycles --count 3 --addr 10.9.0.2 --server-ns h2 --client-ns h1
}

say "the client is killed"
two_hosts || finish
start_transfer && { kill -9 $client; both_end; }
works_again

say "the server is killed"
start_transfer && { kill -9 $server; both_end; }
works_again

say "the client's link is deleted"
start_transfer && { check "rdma link delete" bounded 60 rdma link delete rd1; both_end; }
works_again

say "the server's link is deleted"
start_transfer && { check "rdma link delete" bounded 60 rdma link delete rd2; both_end; }
works_again

say "the netdev is deleted"
start_transfer && { check "ip link delete" bounded 60 ip -n h1 link delete wire; both_end 60; check "the links went with it" until_true 20 test -z "$(links)"; }
works_again

say "a network namespace is deleted"
# The name goes at once; the namespace itself, when its last process has gone.
start_transfer && { ip netns delete h1; kill -9 $client; both_end 60; check "its link went with it" until_true 20 bash -c '! rdma link show | grep -q rd1/'; }
works_again

say "the netdev goes down for a moment" # TCP outlives that, and so do connections
start_transfer && {
  ip -n h1 link set wire down
  sleep 1
  ip -n h1 link set wire up
  ip -n h1 addr replace fd09::1/64 dev wire nodad
  check "the transfer goes on" until_true 30 running
  kill $client $server
  both_end
}
works_again

say "the module is unloaded"
start_transfer && {
  last=$(basename "${MODULES##* }" .ko)
  if rmmod "$last" 2>"$WORK/rmmod"; then
    echo "ok: it went at once"
  else
    check "refused, because it is in use" grep -q "in use" "$WORK/rmmod"
    check "the transfer goes on" until_true 30 running
    kill $client
  fi
  both_end
  check "all of it unloads now" unload_modules
  check "no link is left" test -z "$(links)"
  load_modules
}
works_again
finish
