#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA as clients use it: several connections for a mount, odd sizes, mapped files, many
# small files, autofs. With NFS 4.2, locks survive a restart of the server, and the server recalls
# delegations over the client's connection.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nfs.sh"
. "$(dirname "$0")/../lib/io.sh"
begin "NFS over RDMA: clients"
nfs_needs
command -v fio >/dev/null || skip "fio is missing"
load_modules || finish
nfs_two_hosts || finish

connections() { in2 ss -Htn state established "dport = :20049" | wc -l; }
has_connections() { [ "$(connections)" = "$1" ]; }
many_writers() {
  local n writers=() status=0
  for n in {1..8}; do verified "$mount_dir/many.$n" 4 --direct=1 & writers+=($!); done
  for n in "${writers[@]}"; do wait "$n" || status=1; done
  return $status
}
sizes() {
  nfs_attach "$1" "rsize=$2,wsize=$3" &&
    grep " $mount_dir nfs" /proc/mounts | grep "rsize=$2,wsize=$3," || return 1
  verified $mount_dir/sizes 8 --ioengine=psync --fsync=32 && bounded 60 umount $mount_dir
}
small_files() {
  mkdir "$WORK/small" $mount_dir/small &&
    head -c 1m /dev/urandom | split -a 4 -b 1000 - "$WORK/small/f" || return 1
  bounded 400 cp -r "$WORK/small/." $mount_dir/small && diff -r "$WORK/small" $export_dir/small &&
    forget_cache || return 1
  [ "$(find $mount_dir/small -type f | wc -l)" = 1049 ] &&
    bounded 400 diff -r "$WORK/small" $mount_dir/small || return 1
  bounded 400 rm -r $mount_dir/small && [ ! -e $export_dir/small ] && rm -r "$WORK/small"
}

# The server's own locks are in /proc/locks.
held() { grep "$1.*:$(stat -c %i $export_dir/"$2") 0 EOF" /proc/locks; }
not_held() { ! held "$@"; }
# Newer servers lend a file that is opened for writing, and the client then keeps its locks to
# itself: lend nothing meanwhile.
take_lock() {
  : >$export_dir/lock
  echo 0 >/proc/sys/fs/leases-enable
  talk_to holder "" flock $mount_dir/lock cat
  until_true 30 held "POSIX.*WRITE" lock
}
stop_server() { nfs_stop && not_held "POSIX" lock; }
# On a busy machine the client needs longer than the usual grace period to come back.
start_server() { nfs_grace=$((10 * PATIENCE)) nfs_start; }
drop_lock() {
  hang_up holder && until_true 60 not_held "POSIX" lock && echo 1 >/proc/sys/fs/leases-enable
}

# The server lends nothing before its grace period is over and its callback has worked.
open_lent() {
  [ -z "${lent:-}" ] || exec {lent}<&-
  exec {lent}<$mount_dir/lent && held "DELEG.*READ" lent
}
take_delegation() {
  echo first >$export_dir/lent && until_true 60 open_lent && grep -qx first $mount_dir/lent
}
# A writer on the server waits until the client has given the delegation back.
recall() { bounded 60 bash -c "echo second >$export_dir/lent" && not_held DELEG lent; }
sees_the_change() { exec {lent}<&-; grep -qx second $mount_dir/lent; }

# The kernel shows the directory under the mount to automount's process group: it must not be this
# script's.
start_automount() {
  modprobe autofs && echo "/- $WORK/auto.map --timeout=2" >"$WORK/auto.master" || return 1
  echo "$mount_dir -fstype=nfs,vers=4.2,proto=rdma,port=20049 $server_address:/" >"$WORK/auto.map"
  "${in_client[@]}" setsid automount --foreground "$WORK/auto.master" >"$WORK/automount" 2>&1 &
  automount=$!
  until_true 30 grep "$mount_dir autofs" /proc/mounts
}
# While a file is open, automount does not unmount.
mounts_by_itself() {
  echo here >$export_dir/here && { grep -x here && nfs_over_rdma; } <$mount_dir/here
}
not_mounted() { ! grep "$mount_dir nfs" /proc/mounts; }
end_automount() { kill $automount && until_true 60 gone $automount && not_mounted; }

check "a server on h1" nfs_make_server 2g || { nfs_remove_server; finish; }

say "NFS version 3"
if check "mount with nconnect=4" nfs_attach 3 nconnect=4; then
  check "8 writers" many_writers
  check "they used 4 connections" has_connections 4
  check "unmount" bounded 60 umount $mount_dir
fi
for sizes in "1024 1024" "12288 20480" "65536 36864"; do
  check "rsize, wsize: $sizes" sizes 3 ${sizes}
done

say "NFS version 4.2"
check "rsize, wsize: 12288 69632" sizes 4.2 12288 69632
if check "mount with nconnect=4,trunkdiscovery" nfs_attach 4.2 nconnect=4,trunkdiscovery; then
  check "8 writers" many_writers
  check "a mapped file" verified $mount_dir/mapped 8 --ioengine=mmap
  check "1,049 small files" small_files
  check "a lock" take_lock
  check "the server stops: the lock is gone" stop_server
  check "the server starts" start_server
  check "the client takes the lock again" until_true 90 held "POSIX.*WRITE" lock
  check "the lock is released" drop_lock
  check "a delegation" take_delegation
  check "the server recalls it" recall
  check "the client sees the change" sees_the_change
  check "unmount" bounded 60 umount $mount_dir
fi
if command -v automount >/dev/null && check "autofs starts" start_automount; then
  check "an access mounts" mounts_by_itself
  check "after a time without an access it is unmounted" until_true 60 not_mounted
  check "another access mounts it again" mounts_by_itself
  check "autofs ends" end_automount
fi
nfs_end
finish
