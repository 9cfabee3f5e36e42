# SPDX-License-Identifier: GPL-2.0
# Storage between two guests: the far one serves (xxx_serve, xxx_unserve), the near one uses it (xxx_attach, xxx_detach, xxx_disk).
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
store=/run/interop # what is served
mkdir -p $store
config=/sys/kernel/config
iqn=iqn.2026-01.test:iwmpa nqn=iwmpa-test

configfs() { mountpoint -q $config || mount -t configfs none $config; }
# first_octets FILE COUNT: their checksum, past the page cache where that is not the data itself.
first_octets() { head -c "$2" "$1" | sha256sum | cut -d' ' -f1; }

# --- NFS ---

nfs_serve() {
  modprobe -a rpcrdma nfsd nfsv3 nfsv4 || return 1
  mkdir -p $store/export /run/rpc_pipefs /run/lock
  mount -t tmpfs -o size=400m tmpfs $store/export || return 1
  mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd || return 1
  mountpoint -q /run/rpc_pipefs || mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
  rpcbind -w 2>/dev/null || rpcbind
  exportfs -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 "*:$store/export" || return 1
  rpc.mountd || return 1
  echo 10 >/proc/fs/nfsd/nfsv4leasetime
  echo 10 >/proc/fs/nfsd/nfsv4gracetime
  rpc.nfsd -V 3 -V 4.0 -V 4.2 4 || return 1
  echo "rdma 20049" >/proc/fs/nfsd/portlist && grep -q rdma /proc/fs/nfsd/portlist || return 1
  echo Y >/proc/fs/nfsd/v4_end_grace
}
nfs_unserve() {
  rpc.nfsd 0
  exportfs -ua
  killall -q rpc.mountd rpcbind rpc.statd
  umount $store/export /proc/fs/nfsd && bounded 60 modprobe -r nfsv3 nfsv4 nfsd rpcrdma
}
# nfs_attach VERSION
nfs_attach() {
  local path=/ options=
  if [ "$1" = 3 ]; then path=$store/export options=,nolock; fi
  modprobe -a rpcrdma nfsv3 nfsv4 && mkdir -p $store/mount || return 1
  bounded 90 mount -t nfs -o "vers=$1,proto=rdma,port=20049,soft,timeo=100$options" $far:$path $store/mount || return 1
  awk -v d=$store/mount '$5 == d { on = 1 } on && /xprt:/ { print $2; exit }' /proc/self/mountstats | grep -q rdma
}
nfs_detach() { bounded 60 umount $store/mount; }
nfs_release() { bounded 60 modprobe -r nfsv3 nfsv4 rpcrdma; }

# --- NVMe ---

nvme_serve() {
  local subsystem=$config/nvmet/subsystems/$nqn port=$config/nvmet/ports/1
  configfs
  modprobe -a nvmet-rdma && modprobe brd rd_nr=1 rd_size=65536 || return 1
  mkdir $subsystem $subsystem/namespaces/1 $port || return 1
  echo 1 >$subsystem/attr_allow_any_host
  echo -n /dev/ram0 >$subsystem/namespaces/1/device_path
  echo 1 >$subsystem/namespaces/1/enable || return 1
  echo rdma >$port/addr_trtype
  echo ipv4 >$port/addr_adrfam
  echo $far >$port/addr_traddr
  echo 4420 >$port/addr_trsvcid
  ln -s $subsystem $port/subsystems/$nqn
}
nvme_unserve() {
  local subsystem=$config/nvmet/subsystems/$nqn port=$config/nvmet/ports/1
  rm -f $port/subsystems/$nqn
  rmdir $port
  echo 0 >$subsystem/namespaces/1/enable
  rmdir $subsystem/namespaces/1 $subsystem
  bounded 60 modprobe -r nvmet-rdma brd
}
# nvme_attach [OPTIONS]
nvme_attach() {
  modprobe nvme-rdma || return 1
  bounded 60 bash -c "echo transport=rdma,traddr=$far,trsvcid=4420,nqn=$nqn,nr_io_queues=2${1:+,$1} >/dev/nvme-fabrics" || return 1
  until_true 20 test -b /dev/nvme0n1
}
nvme_detach() {
  local c
  for c in /sys/class/nvme/nvme*/delete_controller; do bounded 60 bash -c "echo 1 >$c" || return 1; done
}
nvme_release() { bounded 60 modprobe -r nvme-rdma; }
nvme_disk() { echo /dev/nvme0n1; }
nvme_store() { echo /dev/ram0; }

# --- iSER ---

# LIO opens a plain TCP listener for every portal first, and the port belongs to whoever listens on it first. It opens TCP in the
# caller's namespace and RDMA in the first one: here TCP gets one of its own.
iser_serve() {
  local c=$config/target tpg=$config/target/iscsi/$iqn/tpgt_1
  configfs
  modprobe -a target_core_mod target_core_file iscsi_target_mod ib_isert || return 1
  truncate -s 64M $store/disk
  mkdir -p $c/core/fileio_0/disk $tpg/lun/lun_0 || return 1
  echo "fd_dev_name=$store/disk,fd_dev_size=67108864" >$c/core/fileio_0/disk/control
  echo 1 >$c/core/fileio_0/disk/enable || return 1
  ln -s $c/core/fileio_0/disk $tpg/lun/lun_0/disk
  unshare --net mkdir $tpg/np/$far:3260 && echo 1 >$tpg/np/$far:3260/iser || return 1
  echo 0 >$tpg/attrib/authentication
  echo 1 >$tpg/attrib/generate_node_acls
  echo 0 >$tpg/attrib/demo_mode_write_protect
  echo 1 >$tpg/enable
}
iser_unserve() {
  local c=$config/target tpg=$config/target/iscsi/$iqn/tpgt_1
  echo 0 >$tpg/enable
  rmdir $tpg/np/$far:3260
  rm -f $tpg/lun/lun_0/disk
  rmdir $tpg/lun/lun_0 $tpg $c/iscsi/$iqn $c/core/fileio_0/disk
  bounded 60 modprobe -r ib_isert
}
iscsi() { bounded 60 iscsiadm -m node -T $iqn -p $far:3260 -I iser "$@"; }
iser_attach() {
  local control
  mkdir -p /run/lock/iscsi
  echo InitiatorName=iqn.2026-01.test:initiator >/etc/iscsi/initiatorname.iscsi
  modprobe -a sd_mod ib_iser || return 1
  pidof iscsid >/dev/null || iscsid
  bounded 60 iscsiadm -m discovery -t st -p $far:3260 -I iser && iscsi -l || return 1
  iscsiadm -m session -P 1 | grep -q 'Iface Transport: iser' || return 1
  until_true 20 iser_has_disk || return 1
  # When a session of whatever transport goes, 6.1 warns if power management happens to look at its SCSI target.
  for control in /sys/class/iscsi_session/session*/device/target*/power/control; do echo on >"$control" || return 1; done
}
iser_has_disk() { [ -b "$(iser_disk)" ]; }
iser_detach() { iscsi -u; }
iser_release() {
  killall -q iscsid
  bounded 60 modprobe -r ib_iser
}
iser_disk() { iscsiadm -m session -P 3 2>/dev/null | awk '/Attached scsi disk/ { print "/dev/" $4; exit }'; }
iser_store() { echo $store/disk; }

# --- use ---

data=4194304 # octets

# same_there FILE THEIR-FILE: here and on the other guest.
same_there() {
  local there
  there=$(far "sync; first_octets $2 $data") || return 1
  [ "$(first_octets "$1" $data)" = "$(tail -n 1 <<<"${there%$'\n'}")" ]
}
# files_travel PIECE: NFS, both ways.
files_travel() {
  dd if=/dev/urandom of=$store/data bs=1M count=4 status=none
  bounded 90 dd if=$store/data of=$store/mount/data bs="$1" conv=fsync status=none || return 1
  same_there $store/data $store/export/data || return 1
  far "head -c $data /dev/urandom >$store/export/back" || return 1
  echo 3 >/proc/sys/vm/drop_caches
  same_there $store/mount/back $store/export/back
}
many_files() {
  local d=$store/mount/d there=$store/export/d
  bounded 90 bash -c "mkdir $d && for i in \$(seq 50); do echo \$i >$d/\$i; done" || return 1
  far "[ \$(find $there -type f | wc -l) = 50 ] && [ \$(cat $there/37) = 37 ]" || return 1
  bounded 90 rm -r $d && far "[ ! -e $there ]"
}
# blocks_travel ULP PIECE: written, compared there, read back.
blocks_travel() {
  local disk
  disk=$("$1_disk")
  dd if=/dev/urandom of=$store/data bs=1M count=4 status=none
  bounded 90 dd if=$store/data of="$disk" bs="$2" oflag=direct status=none || return 1
  same_there $store/data "$("$1_store")" || return 1
  bounded 90 dd if="$disk" of=$store/back bs="$2" count=$((data / $2)) iflag=direct status=none || return 1
  cmp $store/data $store/back
}
# filesystem_travels ULP: mkfs, mount, a file, remount, compared.
filesystem_travels() {
  local disk
  disk=$("$1_disk")
  mkdir -p $store/fs
  bounded 90 mkfs.ext4 -q -F -O ^has_journal "$disk" && mount "$disk" $store/fs || return 1
  cp $store/data $store/fs/data && umount $store/fs && mount "$disk" $store/fs || return 1
  cmp $store/data $store/fs/data && umount $store/fs
}
