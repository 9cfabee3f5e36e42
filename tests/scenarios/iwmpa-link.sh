#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iwmpa-link, which the unit iwmpa@ runs: devices by the names of their netdevs, repeated calls,
# settings from a file, clear errors.
. "$(dirname "$0")/../lib/scenario.sh"
begin "iwmpa-link: devices as the unit makes them"
load_modules || exit
link=$IWMPA_DIR/tools/link/iwmpa-link
export IWMPA_CONF=$WORK
# The modules are loaded but not installed: replace modprobe.
mkdir "$WORK/bin"
printf '#!/bin/sh\n' >"$WORK/bin/modprobe"
chmod +x "$WORK/bin/modprobe"
export PATH=$WORK/bin:$PATH
on_netdev() { rdma link show "$1/1" | grep -q " netdev $2 "; }
is_set() { [ "$(cat "/sys/class/infiniband/$1/iwmpa/$2")" = "$3" ]; }
no_device() { [ ! -e "/sys/class/infiniband/$1" ]; }

ip link add wire type dummy && ip link set wire up
ip link add link wire name wire.5 type vlan id 5
ip link add br-lan-0 type bridge
ip link add bond7 type bond
ip link add name netdev type dummy
for netdev in wire wire.5 br-lan-0 bond7 netdev; do
  check "a device on $netdev" "$link" add $netdev
  check "it is named iw_$netdev" on_netdev iw_$netdev $netdev
  check "added once more" "$link" add $netdev
  check "deleted" "$link" delete $netdev
  check "it is gone" no_device iw_$netdev
  check "deleted once more" "$link" delete $netdev
done
check "systemd's path for br-lan-0" "$link" add br/lan/0
check "the device is on that netdev" on_netdev iw_br-lan-0 br-lan-0
check "it is deleted by this path" "$link" delete br/lan/0

printf '# a comment\n\n \t large_fpdus=always \n' >"$WORK/iw_wire.conf"
check "a device with settings" "$link" add wire
check "it has them" is_set iw_wire large_fpdus always
printf 'large_fpdus=never' >"$WORK/iw_wire.conf"
check "add applies settings to an existing device, also without a newline" "$link" add wire
check "and has the new settings" is_set iw_wire large_fpdus never
printf 'large_fpdus=always\ncolour=red\n' >"$WORK/iw_wire.conf"
refused "an unknown setting" "iw_wire.conf:2: no setting 'colour' \(there are: .*large_fpdus.*\)" \
  "$link" set wire
check "the settings before it are unchanged" is_set iw_wire large_fpdus never
check "the device is unchanged" on_netdev iw_wire wire
echo large_fpdus=often >"$WORK/iw_wire.conf"
refused "an unknown value" "iw_wire.conf:1: large_fpdus does not take 'often'" "$link" set wire
echo ../node_desc=x >"$WORK/iw_wire.conf"
refused "a path as a setting" "iw_wire.conf:1: no setting '../node_desc'" "$link" set wire
echo large_fpdus >"$WORK/iw_wire.conf"
refused "a line without a value" "iw_wire.conf:1: 'large_fpdus' is not KEY=value" "$link" set wire
check "the device is deleted" "$link" delete wire
refused "there is nothing to set" "there is no device iw_wire" "$link" set wire
refused "no device is made with a wrong file" "is not KEY=value" "$link" add wire
check "no device is left" no_device iw_wire
rm "$WORK/iw_wire.conf"

refused "a netdev that is not there" "there is no netdev 'nosuch'" "$link" add nosuch
refused "no netdev" "'add' takes one netdev" "$link" add
refused "no such verb" "'make' is not add, set or delete" "$link" make wire
rdma link add mine type iwmpa netdev wire
refused "a netdev that carries another device: why" \
  "no device iw_wire on wire \(iwmpa: wire: already carries mine\)" "$link" add wire
rdma link delete mine
ip link add old type dummy
check "a device on old" "$link" add old
ip link set old name older
ip link add old type dummy
refused "another netdev now has the old name" "the device iw_old is there, on older" "$link" add old
check "it is deleted by the old name" "$link" delete old
check "and made on the new netdev" "$link" add old
check "it is on the new netdev" on_netdev iw_old old
# The device is removed by itself some time after its netdev: iwmpa-link must work before and after
# that.
ip link delete old && ip link add old type dummy
check "the netdev is made again: a device" "$link" add old
check "on the new one" on_netdev iw_old old
ip link delete old
check "the netdev is deleted: the device is deleted" "$link" delete old
check "and gone" no_device iw_old
ip link delete older
for netdev in bond7 br-lan-0 wire.5; do ip link delete $netdev; done
finish
