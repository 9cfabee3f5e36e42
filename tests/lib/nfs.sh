# SPDX-License-Identifier: GPL-2.0
# Sourced by the NFS scenarios: the kernel's server and client over RDMA. Each is on this host, or
# in the namespace that in_server or in_client enters. They use nsenter, because `ip netns exec`
# would hide the mounts of one from the other.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/io.sh"

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

# nfs_two_hosts [MTU]: the server is on h1, the client on h2.
# Linux leaks a reference to h1 when a client mounts from it over RDMA with NFS 4.1 or later, but
# not with 4.0 or 3, nor over TCP. svc_rdma sets up a backchannel for such a mount:
# xprt_setup_rdma_bc() takes a reference that __svc_rdma_free() should put, which 6.1 does not do.
nfs_two_hosts() {
  namespace_stays=kept-by-svc-rdma
  two_hosts "$@" || return 1
  server_address=10.9.0.1
  in_server=(nsenter --net=/run/netns/h1) in_client=(nsenter --net=/run/netns/h2)
}

# nfs_start: starts the threads and opens the RDMA port; may be called again after nfs_stop. Clients
# have nfs_grace seconds to come back.
nfs_grace=10
nfs_start() {
  echo 10 >/proc/fs/nfsd/nfsv4leasetime
  echo $nfs_grace >/proc/fs/nfsd/nfsv4gracetime
  "${in_server[@]}" rpc.nfsd -V 3 -V 4.0 -V 4.2 4 || return 1
  echo "rdma 20049" >/proc/fs/nfsd/portlist && grep -q rdma /proc/fs/nfsd/portlist
}
# End the grace period, because no client needs to reclaim locks. With nfsdcld there may be no grace
# period. When no daemon tracks clients, newer kernels refuse to end it (EBUSY): wait until it is
# over.
nfs_grace_is_over() {
  grep -q Y /proc/fs/nfsd/v4_end_grace || echo Y >/proc/fs/nfsd/v4_end_grace
  grep -q Y /proc/fs/nfsd/v4_end_grace
} 2>/dev/null
nfs_end_grace() { until_true 60 nfs_grace_is_over; }
# svc_rdma leaks a connection whose client connects while the server stops: see
# Documentation/kernel/svcrdma-unaccepted.patch. So drop the SYNs meanwhile; the client's TCP sends
# them again.
nfs_stop() {
  local dev=lo status=0
  [ ${#in_server[@]} = 0 ] || dev=wire
  "${in_server[@]}" tc qdisc add dev $dev clsact &&
    "${in_server[@]}" tc filter add dev $dev ingress protocol ip u32 \
      match ip dport 20049 0xffff match u8 0x02 0x12 at 33 action drop || return 1
  "${in_server[@]}" rpc.nfsd 0 || status=$?
  "${in_server[@]}" tc qdisc delete dev $dev clsact
  return $status
}

# In a network namespace other than the initial one, nfsd tracks its clients only with this program.
# nfsdcld returns before it watches for the pipe, which it must open within a second after nfsd
# starts: wait until it watches.
nfs_start_nfsdcld() {
  mkdir -p /var/lib/nfs/nfsdcld && "${in_server[@]}" nfsdcld && until_true 20 nfs_nfsdcld_watches
}
nfs_nfsdcld_watches() { find /proc/"$(pidof nfsdcld)"/fd -lname '*inotify*' | grep -q .; }

# nfs_make_server [SIZE]: exports a tmpfs of SIZE.
nfs_make_server() {
  modprobe -a rpcrdma nfsd nfsv3 nfsv4
  mkdir -p $export_dir $mount_dir /run/rpc_pipefs /run/lock
  mount -t tmpfs -o "size=${1:-400m}" tmpfs $export_dir || return 1
  "${in_server[@]}" mount -t nfsd nfsd /proc/fs/nfsd || return 1
  "${in_server[@]}" mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs || return 1
  [ ${#in_server[@]} = 0 ] || nfs_start_nfsdcld || return 1
  "${in_server[@]}" bash -c "rpcbind -w 2>/dev/null || rpcbind"
  "${in_server[@]}" exportfs -o rw,no_root_squash,no_subtree_check,fsid=0 "*:$export_dir" ||
    return 1
  "${in_server[@]}" rpc.mountd || return 1
  nfs_start && nfs_end_grace
}
nfs_remove_server() {
  nfs_stop
  "${in_server[@]}" exportfs -ua
  killall -q rpc.mountd rpcbind rpc.statd nfsdcld
  # nfsdcld keeps it busy until it has ended
  umount $export_dir /proc/fs/nfsd && until_true 20 umount /run/rpc_pipefs
}

# nfs_attach VERSION [OPTIONS]
nfs_attach() {
  local version=$1 options=${2:-rw} path=/
  if [ "$version" = 3 ]; then path=$export_dir options+=,nolock; fi
  bounded 90 "${in_client[@]}" mount -t nfs -o "vers=$version,proto=rdma,port=20049,$options" \
    "$server_address:$path" $mount_dir
}
nfs_over_rdma() {
  awk -v d=$mount_dir '$5 == d { on = 1 } on && /xprt:/ { print $2; exit }' /proc/self/mountstats |
    grep -q rdma
}

# restart_under_io: the server restarts while programs write the same 24 MiB again and again, a
# piece after the other.
restart_under_io() {
  local writer
  dd if=/dev/urandom of="$WORK/data" bs=1M count=24 status=none
  rm -f "$WORK/stopped"
  write_until_stopped &
  writer=$!
  until_true 30 test -s $export_dir/again || { touch "$WORK/stopped"; return 1; }
  nfs_stop
  touch "$WORK/stopped"
  nfs_start && nfs_end_grace && wait $writer && cmp "$WORK/data" $export_dir/again
}
write_until_stopped() {
  until [ -e "$WORK/stopped" ]; do
    bounded 180 "${as[@]}" dd if="$WORK/data" of=$mount_dir/again bs=32k oflag=dsync conv=notrunc \
      status=none || return
  done
}

nfs_end() {
  check "the server is removed" nfs_remove_server
  check "the kernel's modules unload" bounded 60 modprobe -r nfsv3 nfsv4 nfsd rpcrdma
}
