# SPDX-License-Identifier: GPL-2.0
# Sourced by the NFS scenarios: the kernel's server and client over RDMA. Each is on this host, or in the namespace that in_server
# and in_client enter; nsenter and not `ip netns exec`, which would hide the mounts from each other.
# shellcheck shell=bash

export_dir=/run/nfs-test-export mount_dir=/run/nfs-test-mount server_address=10.8.0.1
in_server=() in_client=()

nfs_needs() {
  local m c
  for m in rpcrdma nfsd nfsv3 nfsv4; do
    modprobe -n -q $m || skip "this kernel has no $m"
  done
  for c in rpc.nfsd rpc.mountd exportfs mount.nfs; do
    command -v $c >/dev/null || skip "$c is missing: nfs-kernel-server, nfs-common"
  done
}

# The server is on h1, the client on h2. [MTU]
# Linux keeps h1 for ever once it was mounted from over RDMA with NFS 4.1 or later, by 4.0 and 3 not, nor over TCP. What svc_rdma sets
# up then is the backchannel: xprt_setup_rdma_bc() takes a reference for a put in __svc_rdma_free(), where 6.1 has none.
nfs_two_hosts() {
  namespace_stays=kept-by-svc-rdma
  two_hosts "$@" || return 1
  server_address=10.9.0.1
  in_server=(nsenter --net=/run/netns/h1) in_client=(nsenter --net=/run/netns/h2)
}

# nfs_start: the threads and the RDMA port; also after nfs_stop.
nfs_start() {
  echo 10 >/proc/fs/nfsd/nfsv4leasetime
  echo 10 >/proc/fs/nfsd/nfsv4gracetime
  "${in_server[@]}" rpc.nfsd -V 3 -V 4.0 -V 4.2 4 || return 1
  echo "rdma 20049" >/proc/fs/nfsd/portlist && grep -q rdma /proc/fs/nfsd/portlist
}
# Nobody has anything to reclaim, or does without. nfsdcld knows, and there may be no such time at all. Newer kernels refuse to end it
# (EBUSY) when there is nothing that keeps track of clients, and then wait until it is over.
nfs_grace_is_over() {
  grep -q Y /proc/fs/nfsd/v4_end_grace || echo Y >/proc/fs/nfsd/v4_end_grace
  grep -q Y /proc/fs/nfsd/v4_end_grace
} 2>/dev/null
nfs_end_grace() { until_true 60 nfs_grace_is_over; }
nfs_stop() { "${in_server[@]}" rpc.nfsd 0; }

# In a namespace of its own nfsd remembers its clients by this program only. It has a second to open the pipe when nfsd starts, and
# returns before it watches for it.
nfs_start_nfsdcld() {
  mkdir -p /var/lib/nfs/nfsdcld && "${in_server[@]}" nfsdcld && until_true 20 nfs_nfsdcld_watches
}
nfs_nfsdcld_watches() { find /proc/"$(pidof nfsdcld)"/fd -lname '*inotify*' | grep -q .; }

# nfs_make_server [SIZE]: of the exported tmpfs.
nfs_make_server() {
  modprobe -a rpcrdma nfsd nfsv3 nfsv4
  mkdir -p $export_dir $mount_dir /run/rpc_pipefs /run/lock
  mount -t tmpfs -o "size=${1:-400m}" tmpfs $export_dir || return 1
  "${in_server[@]}" mount -t nfsd nfsd /proc/fs/nfsd || return 1
  "${in_server[@]}" mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs || return 1
  [ ${#in_server[@]} = 0 ] || nfs_start_nfsdcld || return 1
  "${in_server[@]}" bash -c "rpcbind -w 2>/dev/null || rpcbind"
  "${in_server[@]}" exportfs -o rw,no_root_squash,no_subtree_check,fsid=0 "*:$export_dir" || return 1
  "${in_server[@]}" rpc.mountd || return 1
  nfs_start && nfs_end_grace
}
nfs_remove_server() {
  nfs_stop
  "${in_server[@]}" exportfs -ua
  killall -q rpc.mountd rpcbind rpc.statd nfsdcld
  umount $export_dir /proc/fs/nfsd && until_true 20 umount /run/rpc_pipefs # nfsdcld has it, until it has ended
}

# nfs_attach VERSION [OPTIONS]
nfs_attach() {
  local version=$1 options=${2:-rw} path=/
  if [ "$version" = 3 ]; then path=$export_dir options+=,nolock; fi
  bounded 90 "${in_client[@]}" mount -t nfs -o "vers=$version,proto=rdma,port=20049,$options" "$server_address:$path" $mount_dir
}
nfs_over_rdma() { awk -v d=$mount_dir '$5 == d { on = 1 } on && /xprt:/ { print $2; exit }' /proc/self/mountstats | grep -q rdma; }

nfs_end() {
  check "the server goes" nfs_remove_server
  check "the kernel's modules unload" bounded 60 modprobe -r nfsv3 nfsv4 nfsd rpcrdma
}
