#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Longer tests of NFS over RDMA: metadata storms and, over all versions together, 1 GiB of mixed
# reads and writes with checksums. Of the public test programs, Debian 12 has packages of fio and
# stress-ng, but not of fsx, fsstress and xfstests.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nfs.sh"
. "$(dirname "$0")/../lib/io.sh"
begin "NFS over RDMA: metadata and data"
nfs_needs
for c in fio stress-ng; do command -v $c >/dev/null || skip "$c is missing"; done
load_modules || finish
nfs_two_hosts || finish

# storm STRESSOR:OPERATIONS...: runs two processes of each stressor, all at once.
storm() {
  local s args=()
  mkdir $mount_dir/storm || return 1
  for s; do args+=("--${s%:*}" 2 "--${s%:*}-ops" "${s#*:}"); done
  bounded 200 stress-ng --temp-path $mount_dir/storm --verify --dir-dirs 100 --dentries 100 \
    --hdd-bytes 4m --hdd-write-size 32k \
    "${args[@]}" || return 1
  rm -r $mount_dir/storm && [ ! -e $export_dir/storm ]
}

check "a server on h1" nfs_make_server 2g || { nfs_remove_server; finish; }
for version in 3 4.0 4.2; do
  say "NFS version $version"
  check "mount from h2" nfs_attach $version || continue
  check "its transport is RDMA" nfs_over_rdma
  check "metadata storm" storm dir:100 dentry:200 rename:200 touch:200
  check "stress-ng writes and reads files, verified" storm hdd:400
  [ $version = 3 ] || check "locks are taken and released" storm flock:200 lockf:200
  # 120 MiB each, and the written half of it is read once more: over the three versions together 1
  # GiB.
  check "120 MiB mixed, 16 at a time" \
    verified $mount_dir/direct 120 --direct=1 --ioengine=libaio --iodepth=16
  check "120 MiB mixed, through the page cache" \
    verified $mount_dir/buffered 120 --ioengine=psync --fsync=64
  check "unmount" bounded 60 umount $mount_dir
done
nfs_end
finish
