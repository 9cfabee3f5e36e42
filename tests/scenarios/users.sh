#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What users and containers may and may not do with the device: device files, links, settings,
# ports, objects. And RDMA over IPsec.
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/udev.sh"
. "$(dirname "$0")/../lib/esp.sh"
begin "users and containers"
[ "$LINKTYPE" = iwmpa ] || skip "about iwmpa's own settings"
load_modules || finish

nobody=(setpriv --reuid nobody --regid nogroup --clear-groups)
# Root in a user namespace of its own with a network, as in a container whose root is not root
# outside.
container=("${nobody[@]}" unshare --user --map-root-user --net)
# Root of this machine, without rights over its network, as in a container without a user namespace.
plain_root=(capsh "--drop=cap_net_admin,cap_sys_admin,cap_sys_module,cap_dac_override"
  -- -c 'exec "$@"' -)
# opens COMMAND...: whether the user that COMMAND switches to can open the device.
opens() { "$@" ibv_devinfo -d rd1 | grep -q "max_mtu"; }

# The package's udev rule.
mkdir -p /run/udev/rules.d && cp "$IWMPA_DIR/tools/link/90-iwmpa-uverbs.rules" /run/udev/rules.d ||
  fail "no rule"
uverbs_of() { grep -lx "$1" /sys/class/infiniband_verbs/uverbs*/ibdev | cut -d / -f 5; }
is_open_to() {
  stat -c '%G %a' "/dev/infiniband/$(uverbs_of "$1")" | tee /dev/stderr | grep -x "$2"
}
becomes_open_to() { until_true 60 is_open_to "$@"; }

say "device files, with RDMA devices that belong to a network namespace"
check "udev runs" start_udev
rdma system set netns exclusive || fail "devices do not belong to a namespace"
ip netns add h1 && settled rdma link add rd0 type iwmpa netdev lo || fail "no device"
check "they are for the group rdma" becomes_open_to rd0 "rdma 660"
settled rdma dev set rd0 netns h1 || fail "cannot move the device to h1"
check "the same for a device that udev does not see any more" becomes_open_to rd0 "rdma 660"
in1 rdma link delete rd0 && ip netns delete h1
until_true 60 rdma system set netns shared || fail "devices are not shared again"
check "udev has handled all events" stop_udev

say "device files"
two_hosts || finish
for file in uverbs0 uverbs1 rdma_cm; do
  check "$file is open to everybody: the kernel's default" \
    test "$(stat -c %a /dev/infiniband/$file)" = 666
done
check "so a user can open a device" opens "${nobody[@]}"
chgrp rdma /dev/infiniband/uverbs* && chmod 660 /dev/infiniband/uverbs*
refused "no user can when uverbs is for a group" "Failed to open device" \
  "${nobody[@]}" ibv_devinfo -d rd1
check "the group's members can" opens setpriv --reuid nobody --regid nogroup --groups rdma
# rdma_cm alone is enough to listen on the wildcard address, because that opens no device.
server=(ip netns exec h2 "${nobody[@]}" timeout $((60 * PATIENCE)) rping -s -p 7175)
"${server[@]}" >"$WORK/rping" 2>&1 &
check "a user without a device listens" until_true 40 listening h2 7175
kill $!; wait $!
in2 sysctl -qw net.ipv4.ip_unprivileged_port_start=8000
refused "no user listens below ip_unprivileged_port_start" "Permission denied" "${server[@]}"
in2 sysctl -qw net.ipv4.ip_unprivileged_port_start=1024
chgrp rdma /dev/infiniband/rdma_cm && chmod 660 /dev/infiniband/rdma_cm
refused "no user listens when rdma_cm is for a group" "failed to create RDMA CM event channel" \
  "${server[@]}"
chmod 666 /dev/infiniband/rdma_cm
chmod 666 /dev/infiniband/uverbs*
# With the package's rule, which must not apply to another driver's device. A cloud kernel has no
# other driver.
has_rxe() { modprobe -n -q rdma_rxe; }
if has_rxe; then
  ip link add other up type dummy && modprobe rdma_rxe &&
    rdma link add other type rxe netdev other || fail "no other driver's device"
fi
check "udev runs" start_udev
settled udevadm trigger --action=change --subsystem-match=infiniband_verbs ||
  fail "cannot trigger udev"
check "with the rule rd1 is for the group rdma" becomes_open_to rd1 "rdma 660"
check "rd2 also" becomes_open_to rd2 "rdma 660"
! has_rxe || check "another driver's device is not" is_open_to other "root 666"
settled rdma link add rd3 type iwmpa netdev lo || fail "no later device"
check "a device made later also is" becomes_open_to rd3 "rdma 660"
check "udev has handled all events" stop_udev
rdma link delete rd3
! has_rxe || { rdma link delete other && rmmod rdma_rxe && ip link delete other; }
chmod 666 /dev/infiniband/uverbs*

say "links and settings"
# not_by WHO COMMAND...: WHO, whom COMMAND switches to, may do none of this.
not_by() {
  local who=$1 name; shift
  refused "$who makes no device" "not permitted" "$@" rdma link add rd9 type iwmpa netdev lo
  refused "$who deletes no device" "not permitted" "$@" rdma link delete rd1
  refused "$who cannot change namespaces' mode" "not permitted" "$@" rdma system set netns exclusive
  refused "$who sets nothing" "not permitted|Permission denied" \
    "$@" bash -c "echo always >/sys/class/infiniband/rd1/iwmpa/large_fpdus"
}
not_by "a user" "${nobody[@]}"
not_by "a container's root" "${container[@]}"
not_by "root without CAP_NET_ADMIN" "${plain_root[@]}"
for who in nobody container; do
  declare -n as=$who
  for name in crc markers rdmac max_half_open startup_timeout; do
    refused "no parameter for $who: $name" "Permission denied" \
      "${as[@]}" bash -c "echo 1 >/sys/module/mpa/parameters/$name"
  done
done
check "both devices are there" test "$(links | wc -l)" = 2

say "ports"
refused "a user has no port below 1024" "Permission denied" \
  in2 "${nobody[@]}" rping -s -a 10.9.0.2 -p 700
client_server "a user's server and client" 60 7174 h2 "${nobody[*]} rping -s -a 10.9.0.2 -V -C 10" \
  h1 "${nobody[*]} rping -c -a 10.9.0.2 -V -C 10"

say "routes of a user"
# Only the user's own route leads to the peer; the route of all others, the device's own lookups
# included, ends at no host.
ip -n h2 neigh add 10.9.0.77 lladdr 02:00:00:00:00:77 dev wire nud permanent
ip -n h2 route add 10.9.0.1/32 via 10.9.0.77 dev wire
ip -n h2 route add 10.9.0.1/32 dev wire table 100
ip -n h2 rule add uidrange 65534-65534 table 100
cases "the second attempt to connect also takes the user's route" \
  in1 timeout -k 5 $((120 * PATIENCE)) mpa-peer run enhanced-fallback \
  --addr 10.9.0.2 --own-addr 10.9.0.1 --target "ip netns exec h2 ${nobody[*]} rdma-target"
ip -n h2 rule delete uidrange 65534-65534 table 100
ip -n h2 route delete 10.9.0.1/32 via 10.9.0.77 dev wire

# The memory of the RDMA core's part of an object is charged to no cgroup.
limit_of() { ibv_devinfo -v -d rd2 | awk -v name="$1:" '$1 == name { print $2 }'; }
check "no more protection domains than one for each queue pair and each shared receive queue" \
  test "$(limit_of max_pd)" -le $(($(limit_of max_qp) + $(limit_of max_srq)))

say "the rdma cgroup"
group=/sys/fs/cgroup/users
mount_cgroups rdma && mkdir $group || fail "no rdma cgroup"
in_group() { bash -c 'echo $$ >'$group'/cgroup.procs; exec "$@"' - "$@"; }
echo "rd2 hca_handle=0" >$group/rdma.max
refused "no open device" "Failed to open device" in_group ibv_devinfo -d rd2
inline=(in_group timeout -k 5 $((60 * PATIENCE)) verbs-test run inline
  --addr 10.9.0.2 --server-ns h2 --client-ns h1)
echo "rd2 hca_handle=max hca_object=3" >$group/rdma.max
refused "no more objects than the cgroup allows" "temporarily unavailable" "${inline[@]}"
echo "rd2 hca_object=max" >$group/rdma.max
check "it works when the cgroup allows enough objects" "${inline[@]}"
rmdir $group

say "IPsec: ESP between the two hosts"
esp_between_hosts || finish
client_server "rping through it" 60 7174 h2 "rping -s -a 10.9.0.2 -V -C 50 -S 4000" \
  h1 "rping -c -a 10.9.0.2 -V -C 50 -S 4000"
check "its octets are ESP's" test "$(esp_octets)" -gt 200000
finish
