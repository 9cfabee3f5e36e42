# SPDX-License-Identifier: GPL-2.0
# NFS while this guest is short of memory: it must write dirty pages back through the device to free
# memory. The server is in the other guest, because client and server in one kernel could wait for
# each other. Sourced by near.sh.
# shellcheck shell=bash

# available: prints the available memory in MiB.
available() { awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo; }
# short_of_memory MIB: leaves MIB of memory and reserves the rest as huge pages; lets most of the
# memory become dirty.
short_of_memory() {
  echo 60 >/proc/sys/vm/dirty_ratio
  echo 30 >/proc/sys/vm/dirty_background_ratio
  echo 3 >/proc/sys/vm/drop_caches
  echo $((($(available) - $1) / 2)) >/proc/sys/vm/nr_hugepages
  echo "$(available) MiB are left"
  [ "$(available)" -lt $(($1 + $1 / 4)) ]
}
enough_memory() {
  echo 0 >/proc/sys/vm/nr_hugepages
  echo 20 >/proc/sys/vm/dirty_ratio # the kernel's defaults
  echo 10 >/proc/sys/vm/dirty_background_ratio
}
reclaimed() { awk '$1 ~ /^pgsteal_(kswapd|direct)$/ { n += $2 } END { print n }' /proc/vmstat; }
# reclaimed_more_than PAGES BEFORE
reclaimed_more_than() {
  echo "$(($(reclaimed) - $2)) pages"
  [ $(($(reclaimed) - $2)) -gt "$1" ]
}
# Writes a file and reads it back, with a checksum for each piece. The file is larger than the
# available memory.
written_and_verified() {
  bounded 500 fio --name=memory --filename=$mount_dir/big --size="$1m" --rw=randwrite \
    --bsrange=4k-128k --verify=crc32c \
    --verify_fatal=1 --ioengine=psync --end_fsync=1 --fallocate=none --thread
}

memory() {
  local before
  check "NFS: a server there" far nfs_serve || { far nfs_unserve; return 1; }
  # a hard mount, because I/O may take long
  if check "NFS 4.2: mount over RDMA" eval 'nfs_attach 4.2 && nfs_over_rdma'; then
    before=$(reclaimed)
    check "160 MiB of memory are left" short_of_memory 160
    check "256 MiB written through the page cache, and compared" written_and_verified 256
    check "memory was reclaimed meanwhile: 128 MiB at least" reclaimed_more_than 32768 "$before"
    enough_memory
    check "unmount" bounded 60 umount $mount_dir
  fi
  check "released on both sides" both_release nfs
}
