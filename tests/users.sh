#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What users and containers may do with the device, and what not: device files, links, settings, ports, objects. And IPsec under it.
. "$(dirname "$0")/lib/scenario.sh"
begin "users and containers"
[ "$LINKTYPE" = iwmpa ] || skip "about iwmpa's own settings"
load_modules || finish

nobody=(setpriv --reuid nobody --regid nogroup --clear-groups)
# Root of a user namespace of its own, with a network: what a container has whose root is none outside.
container=("${nobody[@]}" unshare --user --map-root-user --net)
# Root of this machine, without rights over its network: a container without a user namespace.
plain_root=(capsh "--drop=cap_net_admin,cap_sys_admin,cap_sys_module,cap_dac_override" -- -c 'exec "$@"' -)
# opens COMMAND...: as this user the device can be opened.
opens() { "$@" ibv_devinfo -d rd1 | grep -q "max_mtu"; }

# What the package installs, with udev. It runs only where it is asked: it sets the kernel's modes again, some time after a device came.
mkdir -p /run/udev/rules.d && cp "$IWMPA_DIR/tools/link/90-iwmpa-uverbs.rules" /run/udev/rules.d || fail "no rule"
start_udev() {
  /lib/systemd/systemd-udevd >"$WORK/udev" 2>&1 &
  udev=$!
  until_true 60 udevadm control --ping || fail "no udev: $(tail -1 "$WORK/udev")"
}
stop_udev() { udevadm control --exit && wait $udev || fail "udev does not end"; }
settled() { "$@" && udevadm settle --timeout=$((60 * PATIENCE)); }
uverbs_of() { grep -lx "$1" /sys/class/infiniband_verbs/uverbs*/ibdev | cut -d / -f 5; }
is_open_to() { stat -c '%G %a' "/dev/infiniband/$(uverbs_of "$1")" | tee /dev/stderr | grep -x "$2"; }
becomes_open_to() { until_true 60 is_open_to "$@"; }

say "device files, with RDMA devices that belong to a network namespace"
start_udev
rdma system set netns exclusive || fail "devices are not parted"
ip netns add h1 && settled rdma link add rd0 type iwmpa netdev lo || fail "no device"
check "they are for the group rdma" becomes_open_to rd0 "rdma 660"
settled rdma dev set rd0 netns h1 || fail "cannot give it away"
check "so is one that udev does not see any more" becomes_open_to rd0 "rdma 660"
in1 rdma link delete rd0 && ip netns delete h1
until_true 60 rdma system set netns shared || fail "devices are not shared again"
stop_udev

say "device files"
two_hosts || finish
for file in uverbs0 uverbs1 rdma_cm; do
  check "$file is open to everybody: the kernel's default" test "$(stat -c %a /dev/infiniband/$file)" = 666
done
check "so a user can open a device" opens "${nobody[@]}"
chgrp rdma /dev/infiniband/uverbs* && chmod 660 /dev/infiniband/uverbs*
refused "not when uverbs is a group's" "Failed to open device" "${nobody[@]}" ibv_devinfo -d rd1
check "its members can" opens setpriv --reuid nobody --regid nogroup --groups rdma
# rdma_cm alone is enough to listen, on the wildcard address: no device is opened for that.
server=(ip netns exec h2 "${nobody[@]}" timeout 60 rping -s -p 7175)
"${server[@]}" >"$WORK/rping" 2>&1 &
check "a user without a device listens" until_true 40 listening h2 7175
kill $!; wait $!
in2 sysctl -qw net.ipv4.ip_unprivileged_port_start=8000
refused "not below ip_unprivileged_port_start" "Permission denied" "${server[@]}"
in2 sysctl -qw net.ipv4.ip_unprivileged_port_start=1024
chgrp rdma /dev/infiniband/rdma_cm && chmod 660 /dev/infiniband/rdma_cm
refused "not when rdma_cm is a group's" "failed to create RDMA CM event channel" "${server[@]}"
chmod 666 /dev/infiniband/rdma_cm
chmod 666 /dev/infiniband/uverbs*
# With the package's rule. Another driver's device is none of its business.
ip link add other up type dummy && modprobe rdma_rxe && rdma link add other type rxe netdev other || fail "no other driver's device"
start_udev
settled udevadm trigger --action=change --subsystem-match=infiniband_verbs || fail "udev is not told"
check "with the rule they are for the group rdma" becomes_open_to rd1 "rdma 660"
check "and the other one, too" becomes_open_to rd2 "rdma 660"
check "not another driver's" is_open_to other "root 666"
settled rdma link add rd3 type iwmpa netdev lo || fail "no later device"
check "a device that comes later as well" becomes_open_to rd3 "rdma 660"
stop_udev
rdma link delete rd3
rdma link delete other && rmmod rdma_rxe && ip link delete other
chmod 666 /dev/infiniband/uverbs*

say "links and settings"
# not_by WHO COMMAND...: none of this for whom that command makes one.
not_by() {
  local who=$1 name; shift
  refused "$who makes no device" "not permitted" "$@" rdma link add rd9 type iwmpa netdev lo
  refused "$who takes none away" "not permitted" "$@" rdma link delete rd1
  refused "$who does not share or part namespaces" "not permitted" "$@" rdma system set netns exclusive
  refused "$who chooses nothing for a device" "not permitted|Permission denied" "$@" bash -c "echo always >/sys/class/infiniband/rd1/iwmpa/large_fpdus"
}
not_by "a user" "${nobody[@]}"
not_by "a container's root" "${container[@]}"
not_by "root without CAP_NET_ADMIN" "${plain_root[@]}"
for who in nobody container; do
  declare -n as=$who
  for name in crc markers rdmac max_half_open startup_timeout; do
    refused "no parameter for $who: $name" "Permission denied" "${as[@]}" bash -c "echo 1 >/sys/module/mpa/parameters/$name"
  done
done
check "both devices are there" test "$(links | wc -l)" = 2

say "ports"
refused "a user has no port below 1024" "Permission denied" in2 "${nobody[@]}" rping -s -a 10.9.0.2 -p 700
client_server "a user's server and client" 60 7174 h2 "${nobody[*]} rping -s -a 10.9.0.2 -V -C 10" h1 "${nobody[*]} rping -c -a 10.9.0.2 -V -C 10"

say "routes of a user"
# Only the user's own way leads to the peer; that of all others, the device's own lookups among them, ends at no host.
ip -n h2 neigh add 10.9.0.77 lladdr 02:00:00:00:00:77 dev wire nud permanent
ip -n h2 route add 10.9.0.1/32 via 10.9.0.77 dev wire
ip -n h2 route add 10.9.0.1/32 dev wire table 100
ip -n h2 rule add uidrange 65534-65534 table 100
check "the second attempt to connect takes the user's way, too" in1 timeout -k 5 $((120 * PATIENCE)) mpa-peer run enhanced-fallback \
  --addr 10.9.0.2 --own-addr 10.9.0.1 --target "ip netns exec h2 ${nobody[*]} rdma-target"
ip -n h2 rule delete uidrange 65534-65534 table 100
ip -n h2 route delete 10.9.0.1/32 via 10.9.0.77 dev wire

# The core's part of an object is charged to nobody.
limit_of() { ibv_devinfo -v -d rd2 | awk -v name="$1:" '$1 == name { print $2 }'; }
check "no more protection domains than one for each queue pair and each shared receive queue" \
  test "$(limit_of max_pd)" -le $(($(limit_of max_qp) + $(limit_of max_srq)))

say "the rdma cgroup"
group=/sys/fs/cgroup/users
mount -t cgroup2 none /sys/fs/cgroup && echo +rdma >/sys/fs/cgroup/cgroup.subtree_control && mkdir $group || fail "no rdma cgroup"
in_group() { bash -c 'echo $$ >'$group'/cgroup.procs; exec "$@"' - "$@"; }
echo "rd2 hca_handle=0" >$group/rdma.max
refused "no open device" "Failed to open device" in_group ibv_devinfo -d rd2
inline=(in_group timeout -k 5 $((60 * PATIENCE)) verbs-test run inline --addr 10.9.0.2 --server-ns h2 --client-ns h1)
echo "rd2 hca_handle=max hca_object=3" >$group/rdma.max
refused "no more objects than it is given" "temporarily unavailable" "${inline[@]}"
echo "rd2 hca_object=max" >$group/rdma.max
check "as many as are needed" "${inline[@]}"
rmdir $group && umount /sys/fs/cgroup

say "IPsec: ESP between the two hosts"
key="rfc4106(gcm(aes)) 0x$(printf '%040d' 7) 128"
for h in 1 2; do
  to=10.9.0.$((3 - h))
  for pair in "10.9.0.1 10.9.0.2" "10.9.0.2 10.9.0.1"; do
    read -r src dst <<<"$pair"
    # shellcheck disable=SC2086 # name, key, length
    check "h$h: $src to $dst" ip -n h$h xfrm state add src "$src" dst "$dst" proto esp spi 0x77 mode transport aead $key || finish
  done
  ip -n h$h xfrm policy add src 10.9.0.$h dst $to dir out tmpl src 10.9.0.$h dst $to proto esp mode transport level required
  ip -n h$h xfrm policy add src $to dst 10.9.0.$h dir in tmpl src $to dst 10.9.0.$h proto esp mode transport level required
done
octets() { in2 ip -s xfrm state get src 10.9.0.1 dst 10.9.0.2 proto esp spi 0x77 | sed -n 's/^[[:space:]]*\([0-9]*\)(bytes),.*/\1/p'; }
client_server "rping through it" 60 7174 h2 "rping -s -a 10.9.0.2 -V -C 50 -S 4000" h1 "rping -c -a 10.9.0.2 -V -C 50 -S 4000"
check "its octets are ESP's" test "$(octets)" -gt 200000
finish
