#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The unit iwmpa@ among the units of this machine.
load lib

# Fakes a boot with a device on eth0, and with PATH on the network; prints where units wait for each
# other.
cycles() { # PATH
  local dir=$work/units unit
  unit=$(systemd-escape --path --suffix=mount "$1")
  rm -rf "$dir" && mkdir -p "$dir/multi-user.target.wants" "$dir/remote-fs.target.requires"
  cp "$work/iwmpa@.service" "$dir"
  ln -s ../iwmpa@.service "$dir/multi-user.target.wants/iwmpa@eth0.service"
  ln -s "../$unit" "$dir/remote-fs.target.requires"
  cat >"$dir/$unit" <<UNIT
[Unit]
After=remote-fs-pre.target network.target
Before=remote-fs.target
[Mount]
What=10.9.0.1:/export
Where=$1
Type=nfs
Options=_netdev
UNIT
  SYSTEMD_UNIT_PATH=$dir: systemd-analyze --man=no verify "$unit" iwmpa@eth0.service \
    multi-user.target 2>&1 | grep cycle
}

@test "file systems on the network that the boot needs early are mounted behind the device" {
  local path edit
  cp ../tools/link/iwmpa@.service "$work"
  for path in /var /var/tmp /tmp /home; do
    run cycles "$path"
    [ -z "$output" ]
  done
  for edit in '/^DefaultDependencies/d' '/^Before=/a After=var-tmp.mount'; do
    cp ../tools/link/iwmpa@.service "$work"
    sed -i "$edit" "$work/iwmpa@.service"
    run cycles /var/tmp
    [ -n "$output" ]
  done
}
