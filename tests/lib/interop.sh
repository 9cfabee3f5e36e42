# SPDX-License-Identifier: GPL-2.0
# Sourced in both guests of a pair. One wire (10.9.0.1 near, 10.9.0.2 far) joins them, and a second
# one carries commands. The near guest runs tests/interop/near.sh. The far one runs the commands of
# `far`, with the functions of these files.
#
# INTEROP_MODULES: the folder of mpa.ko and iwmpa.ko for this guest's kernel. INTEROP_SIW: that of
# siw's modules, as scripts/siw prints it.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/scenario.sh"
near=10.9.0.1 far=10.9.0.2 near6=fd09::1 far6=fd09::2
control_far=10.99.0.2 control_port=9 target_port=10

# name_nic NAME MAC ADDRESS...: gives the interface with this link address a name and addresses.
name_nic() {
  local name=$1 file a; shift
  for file in /sys/class/net/*/address; do
    [ "$(cat "$file")" = "$1" ] || continue
    shift
    ip link set "$(basename "${file%/address}")" name "$name" up || return 1
    for a; do
      ip addr add "$a" dev "$name" nodad 2>/dev/null || ip addr add "$a" dev "$name" || return 1
    done
    return 0
  done
  return 1
}

# network NUMBER: sets up the guest's two interfaces; 1 near, 2 far. scripts/interop sets their link
# addresses.
network() {
  load_prerequisites
  modprobe virtio_net || return 1
  name_nic control 52:54:00:00:02:0$1 10.99.0.$1/24 || return 1
  # so that captures show the segments as they arrive
  name_nic wire 52:54:00:00:01:0$1 10.9.0.$1/24 fd09::$1/64 && ethtool -K wire gro off
}

# up KIND CRC MTU: makes this guest's device, rd0, on the wire. KIND: iwmpa or siw. CRC: Y, N, or a
# variant of siw: with "only", only siw asks for CRCs; with "p2p" and "rev1", only iwmpa does.
up() {
  local crc=Y variant=$2 # siw: all of these variants have a fix, see scripts/siw
  ip link set wire mtu "$3" || return 1
  case $2 in
  Y) variant=mended1 ;;
  N) variant=mended0 crc=N ;;
  only) variant=mended1 crc=N ;;
  esac
  case $1 in
  iwmpa)
    insmod "$INTEROP_MODULES/mpa.ko" crc=$crc && insmod "$INTEROP_MODULES/iwmpa.ko" || return 1
    ;;
  siw) insmod "$INTEROP_SIW/siw-$variant/siw.ko" || return 1 ;;
  esac
  rdma link add rd0 type "$1" netdev wire
}

# down: removes the device and unloads the modules; fails when a reference holds a module.
down() {
  local m
  [ -z "$(links)" ] || bounded 30 rdma link delete rd0 || return 1
  for m in iwmpa mpa siw; do
    [ ! -d /sys/module/$m ] || until_true 20 rmmod $m || return 1
  done
}

# die: for the far guest. Writes the guest's results, then ends the emulator at once, so that the
# guest sends nothing more.
die() {
  dmesg >/run/vm/dmesg
  echo 0 >/run/vm/rc
  sync
  [ ! -e /dev/port ] || printf '\0' | dd of=/dev/port bs=1 seek=$((0xf4)) 2>/dev/null
  busybox poweroff -f
}

# far COMMAND...: runs shell text in the other guest, with these functions. Output and exit status
# are the command's.
far() {
  local fd line status=
  exec {fd}<>/dev/tcp/$control_far/$control_port || return 125
  printf '%s\0' "$*" >&$fd
  while IFS= read -r line <&$fd; do
    case $line in
    $'\001'*) status=${line#?}; break ;;
    *) printf '%s\n' "$line" ;;
    esac
  done
  exec {fd}>&-
  return "${status:-125}"
}

# both COMMAND...: runs a command in both guests.
both() {
  local there status=0
  far "$*" &
  there=$!
  "$@" || status=$?
  wait $there && return $status
}
