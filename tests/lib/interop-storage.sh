# SPDX-License-Identifier: GPL-2.0
# Storage between two guests: the far one serves (xxx_serve, xxx_unserve), the near one uses it
# (xxx_connect, xxx_detach, xxx_disk, xxx_release). The other functions are those of the scenarios
# in one guest, with the far guest's address.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/interop.sh"
. "$(dirname "${BASH_SOURCE[0]}")/nfs.sh"
. "$(dirname "${BASH_SOURCE[0]}")/nvme.sh"
. "$(dirname "${BASH_SOURCE[0]}")/iser.sh"
server_address=$far nvme_address=$far portal=$far:3260
store=/run/interop # the data to compare
mkdir -p $store $mount_dir

nfs_serve() { nfs_make_server 400m; }
nfs_unserve() { nfs_remove_server && bounded 60 modprobe -r nfsv3 nfsv4 nfsd rpcrdma; }
nfs_mount() {
  modprobe -a rpcrdma nfsv3 nfsv4 && nfs_attach "$1" rw,soft,timeo=100 && nfs_over_rdma
}
nfs_release() { bounded 60 modprobe -r nfsv3 nfsv4 rpcrdma; }

nvme_serve() { nvme_make_target && nvme_add_port; }
nvme_unserve() { nvme_remove_target && bounded 60 modprobe -r nvme-rdma nvmet-rdma brd; }
nvme_connect() { nvme_attach; }
nvme_release() { bounded 60 modprobe -r nvme-rdma; }
nvme_disk() { echo /dev/nvme0n1; }
nvme_store() { echo /dev/ram0; }

iser_serve() { iser_make_target && iser_portal $portal; }
iser_unserve() { iser_remove_target && bounded 60 modprobe -r ib_isert; }
iser_connect() { iser_start_initiator && iser_tell_target && iser_attach; }
iser_release() {
  killall -q iscsid
  bounded 60 modprobe -r ib_iser
}
iser_disk() { iscsi_disk_of iser; }
iser_store() { echo $iser_file; }

# first_octets FILE COUNT: prints the checksum of the first COUNT octets.
first_octets() { head -c "$2" "$1" | sha256sum | cut -d' ' -f1; }

# --- use ---

data=4194304 # octets

# same_there FILE THEIR-FILE: whether FILE here and THEIR-FILE on the other guest begin with the
# same data.
same_there() {
  local there
  there=$(far "sync; first_octets $2 $data") || return 1
  [ "$(first_octets "$1" $data)" = "$(tail -n 1 <<<"${there%$'\n'}")" ]
}
# files_travel PIECE: copies a file over NFS in each direction and compares them.
files_travel() {
  dd if=/dev/urandom of=$store/data bs=1M count=4 status=none
  bounded 90 dd if=$store/data of=$mount_dir/data bs="$1" conv=fsync status=none || return 1
  same_there $store/data $export_dir/data || return 1
  far "head -c $data /dev/urandom >$export_dir/back" || return 1
  echo 3 >/proc/sys/vm/drop_caches
  same_there $mount_dir/back $export_dir/back
}
many_files() {
  local d=$mount_dir/d there=$export_dir/d
  bounded 90 bash -c "mkdir $d && for i in \$(seq 50); do echo \$i >$d/\$i; done" || return 1
  far "[ \$(find $there -type f | wc -l) = 50 ] && [ \$(cat $there/37) = 37 ]" || return 1
  bounded 90 rm -r $d && far "[ ! -e $there ]"
}
# blocks_travel ULP PIECE: writes blocks, compares them on the other guest, reads them back.
blocks_travel() {
  local disk
  disk=$("$1_disk")
  dd if=/dev/urandom of=$store/data bs=1M count=4 status=none
  bounded 90 dd if=$store/data of="$disk" bs="$2" oflag=direct status=none || return 1
  same_there $store/data "$("$1_store")" || return 1
  bounded 90 dd if="$disk" of=$store/back bs="$2" count=$((data / $2)) iflag=direct status=none ||
    return 1
  cmp $store/data $store/back
}
# filesystem_travels ULP: makes and mounts a file system, writes a file, mounts again, compares the
# file.
filesystem_travels() {
  local disk
  disk=$("$1_disk")
  mkdir -p $store/fs
  bounded 90 mkfs.ext4 -q -F -O ^has_journal "$disk" && mount "$disk" $store/fs || return 1
  cp $store/data $store/fs/data && umount $store/fs && mount "$disk" $store/fs || return 1
  cmp $store/data $store/fs/data && umount $store/fs
}
