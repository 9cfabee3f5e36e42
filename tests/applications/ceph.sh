#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Ceph with its messenger over RDMA: a monitor on h2, an OSD on each host, their stores in memory,
# and objects that h1 writes and reads. Each object is on both OSDs; one of them ends and starts
# again.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "Ceph's messenger"
has ceph-mon && has ceph-osd && has rados || skip "ceph-mon, ceph-osd or ceph-common is missing"
load_modules || finish
two_hosts || finish

export CEPH_CONF=$WORK/ceph.conf
id=6a5b8f1e-0b1c-4f2e-9d6e-0c3c5d2f1a10
mkdir "$WORK/mon" "$WORK/osd.0" "$WORK/osd.1"
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
osd data = $WORK/osd.\$id
osd objectstore = memstore
memstore device bytes = 268435456
enable experimental unrecoverable data corrupting features = memstore
osd crush chooseleaf type = 0
osd pool default size = 2
osd pool default min size = 1
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
[osd.1]
public addr = 10.9.0.1
cluster addr = 10.9.0.1
ms async rdma device name = rd1
[client]
ms async rdma device name = rd1
EOF

client() { bounded 60 ip netns exec h1 "$@"; }
is_clean() { client ceph pg 1.0 query | grep '"state": "active+clean"'; }
osds_up() { client ceph osd stat | grep "$1 up"; }
# Make the stores without a device. --no-mon-config, because an OSD that asks the monitor for its
# configuration loses the cluster's id until the monitor answers, which may be too late for its
# first command.
make_monitor() {
  monmaptool --create --addv a '[v1:10.9.0.2:6789]' --fsid $id "$WORK/monmap" &&
    bounded 60 ceph-mon -i a --mkfs --monmap "$WORK/monmap" --ms-type=async+posix
}
make_osd() {
  client ceph osd create && bounded 60 ceph-osd -i "$1" --mkfs --no-mon-config --ms-type=async+posix
}
declare -A daemons
start_osd() { # NUMBER NAMESPACE
  ip netns exec "$2" ceph-osd -i "$1" -f --no-mon-config >"$WORK/osd.$1.out" 2>&1 &
  daemons[osd.$1]=$!
}
ends() { kill "${daemons[$1]}" && until_true 60 gone "${daemons[$1]}" && wait "${daemons[$1]}"; }
put() { client rados -p data put "$1" "$WORK/object"; }
same() { client rados -p data get "$1" "$WORK/read" && cmp "$WORK/object" "$WORK/read"; }

ulimit -l unlimited
check "the monitor's store is made" make_monitor
ip netns exec h2 ceph-mon -i a -f >"$WORK/mon.out" 2>&1 &
daemons[mon]=$!
check "the monitor listens" until_true 60 listening h2 6789
check "ceph -s" client ceph -s
for n in 0 1; do check "the store of OSD $n is made" make_osd $n; done
start_osd 0 h2
start_osd 1 h1
check "both OSDs are up" until_true 50 osds_up 2
check "a pool" client ceph osd pool create data 1

# The client sends an object to one OSD, which sends it to the other one.
for size in 1 4096 8388608; do
  head -c $size /dev/urandom >"$WORK/object"
  sent1=$(counter rd1 tx_octets) sent2=$(counter rd2 tx_octets)
  check "an object of $size octets is written" put "object-$size"
  check "... over the devices, twice" \
    test $(($(counter rd1 tx_octets) + $(counter rd2 tx_octets) - sent1 - sent2)) -gt $((2 * size))
  check "it is the same when it is read" same "object-$size"
done
check "both OSDs keep the objects" \
  eval 'client ceph osd map data object-1 | grep -E "acting \(\[(0,1|1,0)\]"'
check "OSD 1 ends on SIGTERM" ends osd.1
check "the monitor has noticed" until_true 50 osds_up 1
check "an object is read from OSD 0 alone" same object-8388608
head -c 8388608 /dev/urandom >"$WORK/object"
check "and written with other data" put object-8388608
start_osd 1 h1
check "OSD 1 is up again" until_true 50 osds_up 2
check "the object is the new one" same object-8388608
check "OSD 1 has it, too" until_true 100 is_clean
check "OSD 0 ends on SIGTERM" ends osd.0
check "the monitor has noticed" until_true 50 osds_up 1
check "the new object is read from OSD 1 alone" same object-8388608
for daemon in osd.1 mon; do check "$daemon ends on SIGTERM" ends $daemon; done
finish
