#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SMB Direct: the kernel's client and server (cifs, ksmbd), which scripts/smb-direct builds with SMB
# Direct. Files are written at one end and compared at the other; under I/O the server restarts and
# connections die.
# suite: applications
# build: smb-direct
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/io.sh"
begin "SMB Direct"
modules=$IWMPA_DIR/build/smb-direct-$(uname -r)
[ -e "$modules/cifs.ko" ] ||
  skip "cifs.ko and ksmbd.ko with SMB Direct are missing:" \
    "scripts/smb-direct did not build them (build/logs/build-smb-direct.log)"
for c in ksmbd.mountd mount.cifs fio; do
  command -v $c >/dev/null || skip "$c is missing: ksmbd-tools, cifs-utils, fio"
done
load_modules || finish
one_host || finish

share=/run/smb-test-share mount_dir=/run/smb-test-mount address=10.8.0.1 port=5445
# load MODULE: loads it, and what it needs: the kernel's modules, and from Linux 7 on smbdirect.ko.
load() {
  local needed
  for needed in $(modinfo -F depends "$modules/$1.ko" | tr , ' '); do
    if [ -d "/sys/module/$needed" ]; then continue
    elif [ -e "$modules/$needed.ko" ]; then load "$needed"
    else modprobe "$needed"; fi || return 1
  done
  for_this_kernel "$modules/$1.ko" && insmod "$modules/$1.ko"
}

# ksmbd's listener is for port 5445 if a device of iWARP is there when it starts.
start_server() { ksmbd.mountd --config="$WORK/ksmbd.conf" && until_true 30 listening "" $port; }
stop_server() { ksmbd.control -s && until_true 30 not_listening "" $port; }
start_again() { until_true 60 rmmod ksmbd && load ksmbd && start_server; }
make_server() {
  mkdir -p $share $mount_dir && mount -t tmpfs -o size=400m tmpfs $share && chmod 777 $share ||
    return 1
  cat >"$WORK/ksmbd.conf" <<CONF
[global]
	netbios name = SERVER
	server min protocol = SMB3_11
	bind interfaces only = no
	interfaces = wire
[share]
	path = $share
	writeable = yes
	store dos attributes = no
	create mask = 0777
	directory mask = 0777
CONF
  # The place of the passwords has a default; ksmbd-tools 3.4 and 3.5 have different options for
  # another one.
  mkdir -p /etc/ksmbd && : >/etc/ksmbd/ksmbdpwd.db || return 1
  ksmbd.adduser --config="$WORK/ksmbd.conf" -a root -p secret || return 1
  load ksmbd && start_server
}
attach() {
  bounded 90 mount -t cifs -o "rdma,hard,vers=3.1.1,username=root,password=secret,$1" \
    //$address/share $mount_dir &&
    grep " $mount_dir cifs" /proc/mounts | grep ",rdma"
}
detach() { bounded 60 umount $mount_dir; }

# Small requests are Sends. The server fetches large writes by RDMA Reads, and puts large reads by
# RDMA Writes.
declare -A before
rose() {
  local now
  now=$(counter rd0 "$1")
  echo "$1: ${before[$1]}, then $now"
  [ "$now" -gt "${before[$1]}" ]
}
server_writes() {
  dd if=/dev/urandom of=$share/theirs bs=1000 count=5001 status=none
  bounded 90 cmp $mount_dir/theirs $share/theirs
}
qps() { rdma resource show qp link rd0 | grep "state RTS"; }
remove_server() { stop_server; umount $share && until_true 60 rmmod ksmbd; }

check "the client's module" load cifs
check "a server" make_server || { dmesg | tail -20 | details; finish; }
for counter in tx_sends tx_read_requests tx_writes; do
  before[$counter]=$(counter rd0 $counter)
done
if check "mount" attach cache=strict; then
  check "two queue pairs are connected" test "$(qps | wc -l)" = 2
  qps | details
  grep -A 20 SMBDirect /proc/fs/cifs/DebugData | head -24 | details
  check "16 MiB in 4 KiB pieces, compared" write_and_read 4096 $share
  check "16 MiB in 1 MiB pieces, compared" write_and_read 1048576 $share
  check "Sends went" rose tx_sends
  check "the server read from the client's memory" rose tx_read_requests
  check "the server wrote to the client's memory" rose tx_writes
  check "a file that the server wrote" server_writes
  check "200 files made, renamed, removed" many_files $share
  check "a tree of files" make_tree
  check "the tree through SMB" unpack_tree $mount_dir/tree
  check "the tree compared below SMB" same_tree $share/tree
  check "the tree compared through SMB" same_tree $mount_dir/tree
  check "8 MiB at random, with checksums" verified $mount_dir/fio 8
  check "pieces of 512 octets to 1 MiB, past the cache" \
    verified $mount_dir/fio 8 --direct=1 --bsrange=512-1m

  say "while data is written"
  check "I/O runs" start_rounds $mount_dir/rounds 4
  check "the connections die" connections_die $port
  check "I/O continues, and all data were right" goes_on
  check "the server stops" stop_server
  check "the server starts" start_again
  check "I/O continues, and all data were right" goes_on
  check "no round of I/O has failed" stop_rounds
  check "unmount" detach
fi
check "the server is removed" remove_server
check "the client's module unloads" until_true 60 rmmod cifs
[ ! -d /sys/module/smbdirect ] || check "... and what both shared" until_true 60 rmmod smbdirect
finish
