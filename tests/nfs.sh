#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA: the kernel's server and client, NFSv3, v4.0 and v4.2, with data compared, and a server that restarts under I/O.
# suite: ulps
# timeout: 400
. "$(dirname "$0")/lib.sh"
begin "NFS over RDMA"
for m in rpcrdma nfsd nfsv3 nfsv4; do
  modprobe -n -q $m || skip "this kernel has no $m"
done
for c in rpc.nfsd rpc.mountd exportfs mount.nfs; do
  command -v $c >/dev/null || skip "$c is missing: nfs-kernel-server, nfs-common"
done
load_modules || finish
one_host || finish
export_dir=/run/nfs-test-export mount_dir=/run/nfs-test-mount

serve() {
  echo 10 >/proc/fs/nfsd/nfsv4leasetime
  echo 10 >/proc/fs/nfsd/nfsv4gracetime
  rpc.nfsd -V 3 -V 4.0 -V 4.2 4 || return 1
  echo "rdma 20049" >/proc/fs/nfsd/portlist && grep -q rdma /proc/fs/nfsd/portlist || return 1
  echo Y >/proc/fs/nfsd/v4_end_grace
}
make_server() {
  modprobe -a rpcrdma nfsd nfsv3 nfsv4
  mkdir -p $export_dir $mount_dir /run/rpc_pipefs /run/lock
  mount -t tmpfs -o size=400m tmpfs $export_dir || return 1
  mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd || return 1
  mountpoint -q /run/rpc_pipefs || mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
  rpcbind -w 2>/dev/null || rpcbind
  exportfs -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 "*:$export_dir" || return 1
  rpc.mountd || return 1
  serve
}
remove_server() {
  rpc.nfsd 0
  exportfs -ua
  killall -q rpc.mountd rpcbind rpc.statd
  umount $export_dir /proc/fs/nfsd
}
attach() { bounded 90 mount -t nfs -o "vers=$1,proto=rdma,port=20049,$2" "10.8.0.1:$3" $mount_dir; }
over_rdma() { awk -v d=$mount_dir '$5 == d { on = 1 } on && /xprt:/ { print $2; exit }' /proc/self/mountstats | grep -q rdma; }
# The server's copy is looked at below NFS, the client's after its cache was dropped.
write_and_read() {
  dd if=/dev/urandom of="$WORK/data" bs=1M count=16 status=none
  bounded 90 dd if="$WORK/data" of=$mount_dir/data bs="$1" conv=fsync status=none || return 1
  cmp "$WORK/data" $export_dir/data || return 1
  echo 3 >/proc/sys/vm/drop_caches
  bounded 90 cmp "$WORK/data" $mount_dir/data
}
many_files() {
  bounded 90 bash -c "mkdir $mount_dir/d && for i in \$(seq 200); do echo \$i >$mount_dir/d/\$i; done" || return 1
  [ "$(find $export_dir/d -type f | wc -l)" = 200 ] && [ "$(cat $export_dir/d/77)" = 77 ] || return 1
  bounded 90 bash -c "for i in \$(seq 200); do mv $mount_dir/d/\$i $mount_dir/d/x\$i; done; rm -r $mount_dir/d" && [ ! -e $export_dir/d ]
}
restart_under_io() {
  dd if=/dev/urandom of="$WORK/data" bs=1M count=24 status=none
  bounded 180 dd if="$WORK/data" of=$mount_dir/data bs=256k oflag=dsync status=none &
  local writer=$!
  until_true 30 test -s $export_dir/data || return 1
  rpc.nfsd 0
  serve || return 1
  wait $writer || return 1
  cmp "$WORK/data" $export_dir/data
}

check "a server on RDMA port 20049" make_server || { remove_server; finish; }
for version in 3 4.0 4.2; do
  say "NFS version $version"
  if [ $version = 3 ]; then set -- nolock $export_dir; else set -- rw /; fi
  check "mount" attach $version "$1" "$2" || continue
  check "its transport is RDMA" over_rdma
  check "16 MiB in 64 KiB pieces, compared" write_and_read 65536
  check "16 MiB in 1 MiB pieces, compared" write_and_read 1048576
  check "200 files made, renamed, removed" many_files
  [ $version != 4.2 ] || check "the server restarts while a file is written" restart_under_io
  check "unmount" bounded 60 umount $mount_dir
done
check "the server goes" remove_server
check "the kernel's modules unload" bounded 60 modprobe -r nfsv3 nfsv4 nfsd rpcrdma
finish
