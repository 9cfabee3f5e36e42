#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# RDMA devices that belong to network namespaces, as container runtimes use them. A device goes to a
# namespace and comes back while programs use it; an unprivileged user namespace; limits of the rdma
# cgroup. tests/scenarios/users.sh has rights on device files and links.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
begin "containers"
[ "$LINKTYPE" = iwmpa ] || skip "siw refuses namespaces of RDMA devices"
load_modules || finish

nobody=(setpriv --reuid nobody --regid nogroup --clear-groups)
group=/sys/fs/cgroup/box

# sees NAMESPACE DEVICE: whether the namespace (h1, h2; "": the initial one) has the device.
sees() {
  local run=()
  [ -z "$1" ] || run=(ip netns exec "$1")
  "${run[@]}" rdma link show | grep -q " $2/"
}
sees_not() { ! sees "$@"; }
# give NAMESPACE DEVICE; take NAMESPACE DEVICE: from and to the initial namespace.
give() { bounded 60 rdma dev set "$2" netns "$1" && sees "$1" "$2" && sees_not "" "$2"; }
# rdma knows namespaces by names only, and the initial one has none. Keep the name no longer than
# that: at the end of a scenario, the processes of all named namespaces are killed.
to_initial() {
  local status=0
  ip netns attach initial 1 || return 1
  "$@" netns initial || status=$?
  ip netns delete initial
  return $status
}
take() {
  to_initial bounded 60 ip netns exec "$1" rdma dev set "$2" && sees "" "$2" && sees_not "$1" "$2"
}
device_for() { ip netns exec "$1" rdma link add "$2" type "$LINKTYPE" netdev wire && sees "" "$2"; }

# endless: a transfer from h2 to h1 that ends only by an error. Both programs are of the container.
endless() {
  bounded 300 ip netns exec h1 "$@" rping -s -a 10.9.0.1 -p 7180 -V -S 4000 >"$WORK/server" 2>&1 &
  server=$!
  until_true 20 listening h1 7180 || return 1
  bounded 300 ip netns exec h2 "$@" rping -c -a 10.9.0.1 -p 7180 -V -S 4000 >"$WORK/client" 2>&1 &
  client=$!
  until_true 30 runs
}
octets() { in2 rdma statistic show link rd2/1 | grep -o ' tx_octets [0-9]*' | cut -d ' ' -f 3; }
runs() { [ "$(octets)" -gt $((${start:-0} + 200000)) ]; }
# both_end: whether both programs of the transfer, which has no end, end by themselves. rping says
# why; its status is 0 if the peer has disconnected.
both_end() {
  local status_s=0 status_c=0
  until_true 60 gone $client && until_true 60 gone $server || return 1
  wait $client || status_c=$?
  wait $server || status_s=$?
  echo "client $status_c, server $status_s"
  cat "$WORK/client" "$WORK/server"
  [[ $status_c != @(124|137) && $status_s != @(124|137) ]] && [ -s "$WORK/client" ] &&
    [ -s "$WORK/server" ]
}
ping_pong() { # TEXT [COMMAND...]
  local text=$1; shift
  client_server "$text" 60 7174 h1 "$* rping -s -a 10.9.0.1 -V -C 50" \
    h2 "$* rping -c -a 10.9.0.1 -V -C 50"
}

say "devices that belong to a namespace"
check "rdma system set netns exclusive" rdma system set netns exclusive || finish
two_hosts_plain || finish
for h in 1 2; do
  check "a device made in h$h belongs to the initial namespace" device_for h$h rd$h
  check "it is handed to h$h" give h$h rd$h
done
check "h2 does not see the device of h1" sees_not h2 rd1
ping_pong "rping between the two"
ping_pong "by an ordinary user" "${nobody[*]}"
ping_pong "by root of an unprivileged user namespace" "${nobody[*]} unshare --user --map-root-user"
refused "who cannot hand the device on" "not permitted|Permission denied" \
  to_initial in1 "${nobody[@]}" unshare --user --map-root-user rdma dev set rd1
refused "nor delete it" "not permitted" \
  in1 "${nobody[@]}" unshare --user --map-root-user rdma link delete rd1

say "a device is taken away while a program transfers over it"
check "a transfer runs" endless
check "the device is taken back" take h1 rd1
check "both programs notice and end" both_end
refused "a program in h1 finds no device" "No RDMA devices were detected" \
  bounded 20 ip netns exec h1 rping -s -a 10.9.0.1 -p 7181
check "it is handed to h1 again" give h1 rd1
ping_pong "rping"
start=$(octets)
check "a transfer runs" endless
check "the device of h2 goes to the other container, whose netdev it does not have" \
  bounded 60 ip netns exec h2 rdma dev set rd2 netns h1
check "both programs notice and end" both_end
check "h1 has both devices" sees h1 rd2
refused "a program in h2 does not connect" \
  "No RDMA devices|rdma_resolve_addr|REJECTED|UNREACHABLE|ADDR_ERROR" \
  bounded 20 ip netns exec h2 rping -c -a 10.9.0.1 -p 7181
check "it is handed back" bounded 60 ip netns exec h1 rdma dev set rd2 netns h2
ping_pong "rping"

say "limits of the rdma cgroup"
current() { grep "^rd1 " $group/rdma.current; }
holds() { current | tee /dev/stderr | grep -qx "rd1 hca_handle=$1 hca_object=$2 *"; }
joined=(bash -c "echo \$\$ >$group/cgroup.procs; exec \"\$@\"" -) # for a command line
in_group() { "${joined[@]}" "$@"; }
mount_cgroups rdma && mkdir $group || fail "no rdma cgroup"
limit() { echo "$1" >$group/rdma.max; }
check "one open device, twenty objects" limit "rd1 hca_handle=1 hca_object=20"
"${joined[@]}" ip netns exec h1 rping -s -P -a 10.9.0.1 -p 7180 -V -S 4000 >"$WORK/server" 2>&1 &
server=$!
check "a server of the container listens" until_true 20 listening h1 7180
ip netns exec h2 rping -c -a 10.9.0.1 -p 7180 -V -S 4000 >"$WORK/client" 2>&1 &
client=$!
start=$(octets)
check "a client is connected" until_true 30 runs
check "the cgroup counts one handle" \
  eval "current | tee /dev/stderr | grep -q 'hca_handle=1 hca_object=[1-9]'"
refused "a second program of the group gets no device" "Failed to open device" \
  in_group ip netns exec h1 ibv_devinfo -d rd1
check "the client is killed" kill -9 $client
wait $client 2>/dev/null
check "the server is killed" kill -9 $server
wait $server 2>/dev/null
check "nothing is counted afterwards" until_true 20 holds 0 0
limit "rd1 hca_handle=1 hca_object=2"
refused "a program with too few objects says which it cannot create" \
  "Couldn't (create|register|allocate)" \
  in_group ip netns exec h1 timeout $((60 * PATIENCE)) ibv_rc_pingpong -d rd1 -g 0
check "nothing is counted afterwards" until_true 20 holds 0 0
limit "rd1 hca_handle=0"
check "the device goes to another namespace and back" eval "take h1 rd1 && give h1 rd1"
refused "the limits hold for a device that has changed its namespace" "Failed to open device" \
  in_group ip netns exec h1 ibv_devinfo -d rd1
limit "rd1 hca_handle=max"
check "without the limit the group opens it" in_group ip netns exec h1 ibv_devinfo -d rd1
rmdir $group

say "a namespace is deleted with its device"
in1 rdma link delete rd1
check "the device of h2 is there" sees h2 rd2
check "h2 is deleted" ip netns delete h2
check "its device is gone, because its netdev is" until_true 30 sees_not "" rd2
ip netns delete h1
check "devices are shared again" until_true 60 rdma system set netns shared
finish
