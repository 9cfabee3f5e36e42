#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Longer tests of NFS over RDMA: trees of files and git, and faults while files are written: the
# server restarts, connections break, a mount is removed by force.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nfs.sh"
. "$(dirname "$0")/../lib/io.sh"
begin "NFS over RDMA: trees and faults"
nfs_needs
for c in fio git; do command -v $c >/dev/null || skip "$c is missing"; done
load_modules || finish
nfs_two_hosts 9000 || finish

# Compares the tree below NFS, and through the client with an empty cache.
tree() {
  unpack_tree $mount_dir/tree && sync && same_tree $export_dir/tree || return 1
  forget_cache
  same_tree $mount_dir/tree && rm -r $mount_dir/tree && [ ! -e $export_dir/tree ]
}
repository() {
  export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
  git -C "$WORK/tree" init -q && git -C "$WORK/tree" add include/rdma include/net &&
    git -C "$WORK/tree" commit -qm all
}
clone() {
  bounded 200 git clone -q --no-hardlinks "$WORK/tree" $mount_dir/clone && forget_cache || return 1
  bounded 200 git -C $mount_dir/clone fsck --full && git -C $mount_dir/clone diff --exit-code &&
    git -C $export_dir/clone fsck --full || return 1
  rm -r $mount_dir/clone
}
restart() { nfs_stop && nfs_start; }
client_disconnects() {
  in2 ss -K -t state established "dport = :20049" >"$WORK/killed" && grep -q 20049 "$WORK/killed"
}
# refused_for_a_while: no client of h2 can connect any more, connect() fails with EPERM. Both ends
# are gone, so that only connects are counted.
refused_for_a_while() {
  local policy="dst 10.9.0.1 proto tcp dport 20049 dir out" before
  # shellcheck disable=SC2086 # several words
  in2 ip xfrm policy add $policy action block && client_disconnects || return 1
  in1 ss -K -t state established "sport = :20049"
  before=$(blocked)
  # shellcheck disable=SC2086
  until_true 60 blocked_more_than "$before" && in2 ip xfrm policy delete $policy
}
blocked() { in2 awk '$1 == "XfrmOutPolBlock" { print $2 }' /proc/net/xfrm_stat; }
blocked_more_than() { [ "$(blocked)" -gt "$1" ]; }
# Outstanding requests end with an error, which the writer gets; another mount works afterwards.
# `umount -f` itself fails while the file is open. With -l in addition, the transport would be
# destroyed at the same moment: Documentation/applications/nfs.md says why that is wrong.
forced_away() {
  bounded 200 dd if=/dev/zero of=$mount_dir/gone."$1" bs=64k count=10000 oflag=direct &
  writer=$!
  until_true 30 test -s $export_dir/gone."$1" && until_true 30 forced_out || return 1
  wait $writer && return 1
  ! mountpoint -q $mount_dir || bounded 60 umount $mount_dir || return 1
  nfs_attach "$1" && echo here >$mount_dir/after && sync && grep -qx here $export_dir/after
}
forced_out() { umount -f $mount_dir; ! kill -0 $writer; }

check "a server on h1" nfs_make_server 2g || { nfs_remove_server; finish; }
check "a tree of files" make_tree
check "a git repository" repository
for version in 3 4.0 4.2; do
  say "NFS version $version"
  check "mount from h2" nfs_attach $version || continue
  check "files unpacked, compared below and through" tree
  [ $version != 4.2 ] || check "git clone, fsck, diff" clone
  say "while files are written"
  check "I/O runs" start_rounds $mount_dir/file 4 --ioengine=psync --direct=1
  check "the server restarts" restart
  check "I/O continues, and all data were right" goes_on
  check "the connections die" client_disconnects
  check "I/O continues, and all data were right" goes_on
  check "the connections die, and this host refuses new ones for a while" refused_for_a_while
  check "I/O continues, and all data were right" goes_on
  check "no round of I/O has failed" stop_rounds
  check "the mount is removed by force, and made again" forced_away $version
  check "unmount" bounded 60 umount $mount_dir
done
nfs_end
finish
