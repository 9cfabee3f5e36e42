# SPDX-License-Identifier: GPL-2.0
# xfstests on NFS 4.2. The server exports XFS with reflinks, client and server in one kernel.
# shellcheck shell=bash disable=SC2034 # scripts/suites uses the variables
url=https://github.com/kdave/xfstests
revision=63a29724
transports=(tcp iwmpa)
arguments=(-g quick)

build_suite() { make; } # its Makefiles do not work in parallel

serve() {
  local dir options=rw,no_root_squash,insecure,no_subtree_check
  modprobe -a rpcrdma nfsd nfsv4 loop xfs && rdma_link iwmpa || return 1
  mkdir -p /disks /export /run/rpc_pipefs /var/lib/nfs/nfsdcld &&
    mount -t tmpfs -o size=80% tmpfs /disks && mount -t tmpfs tmpfs /export || return 1
  for dir in test scratch; do
    mkdir /export/$dir && truncate -s 3G /disks/$dir && mkfs.xfs -q -m reflink=1 /disks/$dir &&
      mount -o loop /disks/$dir /export/$dir || return 1
  done
  mount -t nfsd nfsd /proc/fs/nfsd && mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs &&
    exportfs -o $options,fsid=0,crossmnt '*:/export' &&
    exportfs -o $options,fsid=1 '*:/export/test' &&
    exportfs -o $options,fsid=2 '*:/export/scratch' || return 1
  nfsdcld && rpc.mountd -N 3 && rpc.nfsd -N 3 4 && echo "rdma 20049" >/proc/fs/nfsd/portlist
}

run_suite() {
  local user options=vers=4.2,proto=tcp
  [ "$1" = tcp ] || options=${options%tcp}rdma,port=20049
  serve || exit 1
  for user in fsgqa fsgqa2 123456-fsgqa; do useradd -m $user 2>/dev/null; done
  mkdir -p /mnt/{test,scratch}
  cat >local.config <<CONFIG
export FSTYP=nfs TEST_DEV=10.9.0.1:/test TEST_DIR=/mnt/test
export SCRATCH_DEV=10.9.0.1:/scratch SCRATCH_MNT=/mnt/scratch
export NFS_MOUNT_OPTIONS="-o $options" TEST_FS_MOUNT_OPTS="-o $options" RESULT_BASE=/run/vm/xfstests
CONFIG
  ./check "${@:2}" | tee /run/vm/check.log
  # At its end check prints "Ran: TEST...", and of these "Not run: TEST..." and "Failures: TEST...".
  awk '/^Ran: / { for (i = 2; i <= NF; i++) verdict[$i] = "ok" }
    /^Not run: / { for (i = 3; i <= NF; i++) verdict[$i] = "skip" }
    /^Failures: / { for (i = 2; i <= NF; i++) verdict[$i] = "FAIL" }
    END { for (test in verdict) print verdict[test] "\t" test }' /run/vm/check.log >/run/vm/results
}
