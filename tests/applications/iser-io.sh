#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Longer tests of iSER: an iSCSI/TCP portal beside it, checksums, a file system, logins and logouts.
# While data is written, connections break, and the target is disabled.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/iser.sh"
. "$(dirname "$0")/../lib/io.sh"
begin "iSCSI over RDMA (iSER), longer tests"
iser_needs
for c in fio mkfs.ext4; do command -v $c >/dev/null || skip "$c is missing"; done
load_modules || finish
one_host || finish
modprobe -qa ext4 loop
tcp_portal=10.8.0.1:3260 portal=10.8.0.1:3261
direct=(--direct=1 --ioengine=libaio --iodepth=16)

portals() { mkdir "$tpg/np/$tcp_portal" && iser_portal $portal; }
tcp_session() { bounded 60 iscsiadm -m node -T $target -p $tcp_portal -I default "$1"; }
discover_tcp() { bounded 60 iscsiadm -m discovery -t st -p $tcp_portal -I default; }
both_disks() { iscsi_has_disk iser && iscsi_has_disk tcp && iscsi_no_power_management; }
# Data written over one transport are read over the other.
both_transports() {
  local rdma tcp
  rdma=$(iscsi_disk_of iser) tcp=$(iscsi_disk_of tcp)
  dd if=/dev/urandom of="$WORK/data" bs=1M count=4 status=none
  bounded 90 dd if="$WORK/data" of="$tcp" bs=64k seek=16 oflag=direct status=none || return 1
  bounded 90 dd if="$rdma" of="$WORK/back" bs=64k skip=16 count=64 iflag=direct status=none &&
    cmp "$WORK/data" "$WORK/back"
}
# while there is one session
state() { [ "$(cat /sys/class/iscsi_session/session*/state)" = "$1" ]; }
shut_out() { echo 0 >$tpg/enable && until_true 60 state FAILED; }
let_in() { echo 1 >$tpg/enable && until_true 100 state LOGGED_IN; }
five_logins() {
  local i
  for i in 1 2 3 4 5; do
    iser_detach && iser_attach || return 1
    verified "$(iscsi_disk_of iser)" 1 "${direct[@]}" || return 1
  done
}

iser_make_target 128
check "a target, and a tree of files" make_tree
check "a TCP portal and an iSER portal on one address" portals || { iser_remove_target; finish; }
iser_start_initiator
check "discovery over TCP" discover_tcp
check "a target over iSER" iser_tell_target
check "login over TCP" tcp_session -l
if check "login over iSER" iser_attach; then
  check "the disks are there" until_true 20 both_disks
  check "written over TCP, read over iSER" both_transports
  check "logout over TCP" tcp_session -u
  check "32 MiB mixed, two jobs, 16 deep" \
    verified "$(iscsi_disk_of iser)" 16 "${direct[@]}" --numjobs=2 --offset_increment=64m
  check "through the page cache" verified "$(iscsi_disk_of iser)" 8 --ioengine=psync --end_fsync=1

  say "while data is written"
  check "I/O runs" start_rounds "$(iscsi_disk_of iser)" 4 "${direct[@]}"
  check "the TCP connections die" connections_die 3261
  check "I/O continues, and all data were right" goes_on
  check "the target is disabled, and the session fails" shut_out
  check "the target is enabled, and the session recovers" let_in
  check "I/O continues, and all data were right" goes_on
  check "no round of I/O has failed" stop_rounds

  check "logout and login, five times, with I/O" five_logins
  check "a file system, files compared" file_system "$(iscsi_disk_of iser)"
  umount "$WORK/mnt"
  check "logout" iser_detach
  check "files compared below iSCSI" same_below $iser_file
  umount "$WORK/mnt"
fi
iser_end
finish
