#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The package's sysctl values for NFS over RDMA. They are set once rpcrdma is loaded, a write of 4
# KiB
# needs no RDMA Read, and the administrator's values in /etc override them.
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nfs.sh"
. "$(dirname "$0")/../lib/udev.sh"
begin "NFS over RDMA: the package's settings"
[ "$LINKTYPE" = iwmpa ] || skip "about iwmpa's own package"
nfs_needs
[ -x /lib/systemd/systemd-sysctl ] && [ -x /lib/systemd/systemd-udevd ] ||
  skip "systemd's programs are missing"
load_modules || finish
one_host || finish

writes=32
inline=(sunrpc/rdma_max_inline_write sunrpc/rdma_max_inline_read sunrpc/svc_rdma/max_req_size)
inline_is() { (cd /proc/sys && head "${inline[@]}" && ! grep -vx "$1" "${inline[@]}"); }
# become VALUE: loads rpcrdma, waits for udev, and checks that the values are VALUE.
become() { settled modprobe rpcrdma && inline_is "$1"; }
read_requests() {
  rdma statistic show link rd0/1 | grep -o ' rx_read_requests [0-9]*' | cut -d ' ' -f 3
}
# reads_for_writes NUMBER: the writes of 4 KiB, each sent to the server separately, need that many
# RDMA Reads.
reads_for_writes() {
  local before
  before=$(read_requests)
  bounded 90 dd if="$WORK/data" of=$mount_dir/data bs=4k count=$writes oflag=direct conv=notrunc \
    status=none || return 1
  echo "RDMA Reads: $before, then $(read_requests)"
  [ $(($(read_requests) - before)) = "$1" ] && cmp "$WORK/data" $export_dir/data
}
# writes_take TEXT READS: tests this on a new connection, which uses the current values.
writes_take() {
  check "a server on RDMA port 20049" nfs_make_server || { nfs_remove_server; finish; }
  if check "mount" nfs_attach 4.2; then
    check "$1" reads_for_writes "$2"
    check "unmount" bounded 60 umount $mount_dir
  fi
  nfs_end
}

dd if=/dev/urandom of="$WORK/data" bs=4k count=$writes status=none
check "the files that are not modules are installed" \
  make -s -C "$IWMPA_DIR" install-files PREFIX=/usr || finish
check "udev runs" start_udev || finish

say "the package's values"
check "8192, when rpcrdma is loaded" become 8192
writes_take "$writes writes of 4 KiB go without an RDMA Read" 0

say "an administrator's own values"
for key in "${inline[@]}"; do echo "$key = 4096"; done >/etc/sysctl.d/60-own.conf
check "they are used instead" become 4096
writes_take "$writes writes of 4 KiB take as many RDMA Reads" $writes
rm /etc/sysctl.d/60-own.conf

say "a link to /dev/null disables the package's file"
ln -s /dev/null /etc/sysctl.d/10-iwmpa-nfs.conf
check "the kernel's values remain" become 4096
check "rpcrdma unloads" bounded 60 modprobe -r rpcrdma
check "udev has handled all events" stop_udev
finish
