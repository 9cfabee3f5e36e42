#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The perftest programs through rdma_cm (-R), between two hosts, Markers off and on.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
begin "perftest"
command -v ib_send_bw >/dev/null || skip "perftest is not installed"
load_modules || finish
two_hosts || finish

# measure PROGRAM [OPTIONS]: -F because an emulated CPU has no meaningful frequency, -e because
# polling starves the other side. WRITE tests have no -e. ib_send_bw must not use it: over iWARP its
# last message needs a credit that comes by RDMA WRITE, which does not wake up a sleeping program.
measure() {
  local program=$1; shift
  client_server "$program $*" 100 18515 h2 "$program -R -F -p 18515 -d rd2 $*" \
    h1 "$program -R -F -p 18515 -d rd1 $* 10.9.0.2"
}

# The responder of a READ buffers data in memory that is charged to its program, although a worker
# sends the Response.
kernel_memory() { awk '$1 == "kernel" { print $2 }' "$WORK/cgroup/server/memory.stat"; }
# The client takes data all the time, so that the amount goes up and down: the highest one is
# compared.
highest=0
much_charged() {
  local now
  now=$(kernel_memory)
  [ "$now" -le $highest ] || highest=$now
  echo "at most $highest bytes were charged"
  [ $highest -ge $((2 << 20)) ]
}
little_charged() { [ "$(kernel_memory)" -lt $((1 << 20)) ]; }
charged() {
  local read_bw=(ib_read_bw -R -F -p 18515 -q 4 -s 1048576 -n 2000 -e) server client start status
  if ! { mkdir "$WORK/cgroup" && mount -t cgroup2 none "$WORK/cgroup" &&
    echo +memory >"$WORK/cgroup/cgroup.subtree_control" &&
    mkdir "$WORK/cgroup/server"; }; then fail "a memory cgroup"; return; fi
  for start in 1 2 3; do
    (
      echo $BASHPID >"$WORK/cgroup/server/cgroup.procs"
      exec ip netns exec h2 "${read_bw[@]}" -d rd2
    ) >"$WORK/server" 2>&1 &
    server=$!
    check "ib_read_bw listens" until_true 20 listening h2 18515
    ip netns exec h1 "${read_bw[@]}" -d rd1 10.9.0.2 >"$WORK/client" 2>&1 &
    client=$! status=0
    until_true 40 eval "much_charged || gone $client"
    ! gone $client || wait $client || status=$?
    perftest_again $start $status "$WORK/client" || break
    kill $server
    wait $server
    until_true 10 not_listening h2 18515
  done
  check "buffers that a worker sends for a program are charged to its memory cgroup" much_charged
  kill $client $server
  wait $client $server
  check "they are uncharged" until_true 20 little_charged
  check "the cgroup is removed" rmdir "$WORK/cgroup/server"
  echo -memory >"$WORK/cgroup/cgroup.subtree_control"
  umount "$WORK/cgroup"
}
[ "$LINKTYPE" != iwmpa ] || charged

for markers in N Y; do
  if [ $markers = Y ]; then set_parameter markers Y || break; fi
  say "Markers: $markers"
  measure ib_send_bw -n 200 -s 65536
  measure ib_write_bw -n 200 -s 65536
  measure ib_read_bw -e -n 200 -s 65536
  measure ib_send_bw -n 500 -s 64
  measure ib_write_bw -n 200 -s 4096 -b
  measure ib_send_lat -e -n 200 -s 64
  measure ib_write_lat -n 100 -s 64
  measure ib_read_lat -e -n 200 -s 64
done
finish
