#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Ceph with its messenger over RDMA: a monitor and an OSD on h2, the OSD's store in memory, and objects that h1 writes and reads.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "Ceph's messenger"
has ceph-mon && has ceph-osd && has rados || skip "ceph-mon, ceph-osd or ceph-common is missing"
load_modules || finish
two_hosts || finish

export CEPH_CONF=$WORK/ceph.conf
id=6a5b8f1e-0b1c-4f2e-9d6e-0c3c5d2f1a10
mkdir "$WORK/mon" "$WORK/osd"
cat >"$CEPH_CONF" <<EOF
[global]
fsid = $id
mon host = v1:10.9.0.2:6789
auth cluster required = none
auth service required = none
auth client required = none
ms type = async+rdma
ms bind msgr2 = false
ms async rdma type = iwarp
ms async rdma cm = true
ms async rdma support srq = false
ms async rdma receive queue len = 64
ms async rdma buffer size = 16384
ms async op threads = 1
mon data = $WORK/mon
mon cluster log file = $WORK/cluster.log
osd data = $WORK/osd
osd objectstore = memstore
memstore device bytes = 268435456
enable experimental unrecoverable data corrupting features = memstore
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
run dir = $WORK
admin socket = $WORK/\$name.\$pid.asok
log file = $WORK/\$name.log
[mon.a]
mon addr = v1:10.9.0.2:6789
ms async rdma device name = rd2
[osd.0]
public addr = 10.9.0.2
cluster addr = 10.9.0.2
ms async rdma device name = rd2
[client]
ms async rdma device name = rd1
EOF

client() { bounded 60 ip netns exec h1 "$@"; }
osd_is_up() { client ceph osd stat | grep "1 up"; }
# Make the stores without a device. --no-mon-config, because an OSD that asks the monitor for its configuration loses the cluster's id
# until the monitor answers, which may be too late for its first command.
make_monitor() {
  monmaptool --create --addv a '[v1:10.9.0.2:6789]' --fsid $id "$WORK/monmap" &&
    bounded 60 ceph-mon -i a --mkfs --monmap "$WORK/monmap" --ms-type=async+posix
}
make_osd() { client ceph osd create && bounded 60 ceph-osd -i 0 --mkfs --no-mon-config --ms-type=async+posix; }

ulimit -l unlimited
check "the monitor's store is made" make_monitor
ip netns exec h2 ceph-mon -i a -f >"$WORK/mon.out" 2>&1 &
daemons=$!
check "the monitor listens" until_true 60 listening h2 6789
check "ceph -s" client ceph -s
check "the OSD's store is made" make_osd
ip netns exec h2 ceph-osd -i 0 -f --no-mon-config >"$WORK/osd.out" 2>&1 &
daemons+=" $!"
check "the OSD is up" until_true 120 osd_is_up
check "a pool" client ceph osd pool create data 1

for size in 1 4096 8388608; do
  head -c $size /dev/urandom >"$WORK/object"
  octets=$(counter rd1 tx_octets)
  check "an object of $size octets is written" client rados -p data put "object-$size" "$WORK/object"
  check "... over the device" test $(($(counter rd1 tx_octets) - octets)) -gt $size
  octets=$(counter rd2 tx_octets)
  check "it is read" client rados -p data get "object-$size" "$WORK/read"
  check "... over the device" test $(($(counter rd2 tx_octets) - octets)) -gt $size
  check "it is the same" cmp "$WORK/object" "$WORK/read"
done
for daemon in $daemons; do
  kill $daemon && wait $daemon
  check "a daemon ends on SIGTERM" [ $? = 0 ]
done
finish
