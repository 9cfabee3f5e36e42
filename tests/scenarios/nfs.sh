#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA: the kernel's server and client, NFSv3, v4.0 and v4.2, with data compared, and a
# server that restarts under I/O.
# suite: applications debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nfs.sh"
begin "NFS over RDMA"
nfs_needs
load_modules || finish
one_host || finish

check "a server on RDMA port 20049" nfs_make_server || { nfs_remove_server; finish; }
# As a BPF program that forbids connect(), a policy of IPsec makes TCP's connect() fail with EPERM.
# SunRPC fails I/O with that error.
if modprobe -q xfrm_user; then # the debug kernels have no IPsec
  policy="dst $server_address proto tcp dport 20049 dir out"
  check "a policy of this host blocks connects" \
    eval 'sysctl -qw net.ipv4.conf.lo.disable_xfrm=0 && ip xfrm policy add $policy action block'
  refused "a mount is refused" "Connection refused" nfs_attach 4.2 retry=0
  check "the policy is gone" \
    eval 'ip xfrm policy delete $policy && sysctl -qw net.ipv4.conf.lo.disable_xfrm=1'
fi

for version in 3 4.0 4.2; do
  say "NFS version $version"
  check "mount" nfs_attach $version || continue
  check "its transport is RDMA" nfs_over_rdma
  check "16 MiB in 64 KiB pieces, compared" write_and_read 65536 $export_dir
  # 4.0 differs from 4.2 in what is within the requests, not in how they are transferred.
  if [ $version != 4.0 ]; then
    check "16 MiB in 1 MiB pieces, compared" write_and_read 1048576 $export_dir
    check "200 files made, renamed, removed" many_files $export_dir
  fi
  [ $version != 4.2 ] || check "the server restarts while a file is written" restart_under_io
  check "unmount" bounded 60 umount $mount_dir
done
nfs_end
finish
