#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The verbs of programs: queues, errors, connections, between two hosts.
# shows requirements by the IDs of its cases
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "verbs"
load_modules || finish
two_hosts || finish
# may_wait MS: for how long a SEND may wait for a receive, on both hosts
may_wait() {
  set_device rd1 receive_wait "$1" && set_device rd2 receive_wait "$1" || fail "receive_wait $1"
}
v() { bounded 250 verbs-test run "$@" --addr 10.9.0.2 --server-ns h2 --client-ns h1; }

queues="solicited armed-once unsignalled send-queue-full receive-queue-full many-reads depths-stay
  read-order fence shared-cq srq srq-size srq-domain srq-empty srq-last unread-events
  posted-together ping-pong"
errors="wrong-rkey bounds rights other-domain local-key local-bounds receive-key read-sink-rights
  too-long deregister deregister-many deregister-source flush flush-refilled error-under-load
  send-invalidate"
connections="private-data reject server-goes client-goes nobody-listens posted-early graceful
  abortive both-disconnect wildcard other-space cycles many-connections"
hostile="read-only-mapping keys stags last-address cq-overflow cq-overflow-receives
  cq-overflow-destroy malformed-sends malformed-receives receiver-not-ready peer-killed
  foreign-connect foreign-accept foreign-rings forged-client"
late="late-receive late-both-ways late-stream late-srq late-closed late-left"
may_wait 600000
# shellcheck disable=SC2086
cases "receives that come late" v $late
set_parameter markers Y
cases "receives that come late, with Markers" v late-receive late-stream late-srq
set_parameter markers N
may_wait 300
cases "receives that come too late" v late-never late-deadlock
may_wait 0
# shellcheck disable=SC2086 # lists of names
cases "queues and completions" v $queues
# shellcheck disable=SC2086
cases "errors" v $errors
# shellcheck disable=SC2086
cases "connections" v $connections
# shellcheck disable=SC2086
cases "hostile programs and peers" v $hostile

# Workers serve a peer's READs and WRITEs. While they do, ps shows the queue in their names, and an
# H for high priority. They must not get more of a CPU than the machine's programs.
workers() { ps -eo comm= | grep -E '^kworker/.*[-+](iwmpa|mpa)(_user)?$'; }
say "workers' priority"
v bulk --count 8 >"$WORK/bulk" 2>&1 &
reader=$!
if until_true 60 workers; then cp "$WORK/until" "$WORK/workers"; else fail "ps shows no worker"; fi
while kill -0 $reader 2>/dev/null; do workers >>"$WORK/workers"; done
wait $reader || fail "transfer: $(tail -3 "$WORK/bulk")"
check "no worker of high priority" bash -c "! grep -E '^kworker/[0-9]+:[0-9]+H' '$WORK/workers'"

cases "locked memory" bounded 100 setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock \
  verbs-test run memlock --addr 10.9.0.2 --server-ns h2 --client-ns h1
mount_cgroups memory && mkdir /sys/fs/cgroup/verbs || fail "no memory cgroup"
in_group=(bash -c 'echo $$ >/sys/fs/cgroup/verbs/cgroup.procs; exec "$@"' -)
cases "memory in the kernel" \
  bounded 100 "${in_group[@]}" verbs-test run accounted full-cgroup --addr 10.9.0.2 --server-ns h2 \
  --client-ns h1
rmdir /sys/fs/cgroup/verbs
cases "connections beside BPF" v sockmap
cases "connections over IPv6" \
  bounded 100 verbs-test run private-data wildcard other-space graceful --addr fd09::2 \
  --server-ns h2 --client-ns h1

# Less than one segment of lo. No transfer may depend on TCP's timer, which expires after 100
# seconds here, so the waits must be shorter.
in1 sysctl -qw net.ipv4.tcp_notsent_lowat=16384 &&
  in1 ip route change local 10.9.0.1 dev wire table local rto_min 100s ||
  fail "nothing is set"
cases "few octets, which TCP takes and cannot send yet" \
  bounded 60 env PATIENCE=4 verbs-test run bulk --addr 10.9.0.1 --server-ns h1 --client-ns h1
in1 sysctl -qw net.ipv4.tcp_notsent_lowat=4294967295 &&
  in1 ip route change local 10.9.0.1 dev wire table local

say "a device is removed while a SEND waits"
may_wait 600000
before=$(counter rd2 rx_waits)
more_waits() { [ "$(counter rd2 rx_waits)" -gt "$before" ]; }
v late-never >"$WORK/waiting" 2>&1 &
check "it waits" until_true 60 more_waits
check "rdma link delete rd2" bounded 60 rdma link delete rd2
kill $!
wait $!
check "link rd2 on h2 again" in2 rdma link add rd2 type "$LINKTYPE" netdev wire

say "a device is removed while completion queues overflow"
before=$(counter rd1 cq_overflows)
more_overflows() { [ "$(counter rd1 cq_overflows)" -gt "$before" ]; }
bounded 100 verbs-test run cq-overflow-destroy --count 100000 --addr 10.9.0.2 --server-ns h2 \
  --client-ns h1 >"$WORK/overflow" 2>&1 &
check "they overflow" until_true 60 more_overflows
check "rdma link delete rd1" bounded 60 rdma link delete rd1
wait $!
check "the program notices" [ $? = 1 ]
finish
