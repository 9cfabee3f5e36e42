# SPDX-License-Identifier: GPL-2.0
# Sourced by the storage scenarios: I/O with checksums, also while connections break, and a tree of
# files.
# shellcheck shell=bash

# forget_cache: the client reads what it has written from the server again.
forget_cache() { sync && echo 3 >/proc/sys/vm/drop_caches; }
# as: a prefix of the commands of write_and_read, many_files and nfs.sh that use the mount: empty,
# or as another user.
as=()
# write_and_read PIECE DIR: writes 16 MiB to mount_dir in pieces of PIECE octets. Compares the file
# in the server's folder DIR, and then what the client reads after it has dropped its cache.
write_and_read() {
  dd if=/dev/urandom of="$WORK/data" bs=1M count=16 status=none
  bounded 90 "${as[@]}" dd if="$WORK/data" of="$mount_dir/data" bs="$1" conv=fsync status=none ||
    return 1
  cmp "$WORK/data" "$2/data" || return 1
  forget_cache
  bounded 90 "${as[@]}" cmp "$WORK/data" "$mount_dir/data"
}

# many_files DIR: makes 200 files in mount_dir, compares them in the server's folder DIR, renames
# and removes them.
many_files() {
  local d=$mount_dir/d there=$1/d
  bounded 200 "${as[@]}" bash -c "mkdir $d && for i in {1..200}; do echo \$i >$d/\$i; done" ||
    return 1
  [ "$(find $there -type f | wc -l)" = 200 ] &&
    [ "$(cat $there/{1..200} | md5sum)" = "$(seq 200 | md5sum)" ] || return 1
  bounded 200 "${as[@]}" bash -c "for i in {1..200}; do mv $d/\$i $d/x\$i; done; rm -r $d" &&
    [ ! -e $there ]
}

# verified FILE MIB [FIO-ARGUMENT...]: writes and reads FILE with fio (at random by default), in
# pieces of 4 to 128 KiB, each with its checksum. Then it reads all that it has written once more.
verified() {
  local file=$1 mib=$2; shift 2
  bounded 400 fio --name=verified --filename="$file" --size="${mib}m" --rw=randrw \
    --bsrange=4k-128k --verify=crc32c --verify_fatal=1 \
    --fallocate=none --thread "$@"
}

# start_rounds FILE MIB [FIO-ARGUMENT...]: repeats this until stop_rounds; returns when the first
# round is done.
start_rounds() {
  rm -f "$WORK/stop" "$WORK/broken"
  : >"$WORK/rounds"
  {
    until [ -e "$WORK/stop" ]; do
      verified "$@" >"$WORK/rounds.log" 2>&1 || { touch "$WORK/broken"; break; }
      echo >>"$WORK/rounds"
    done
  } &
  rounds=$!
  goes_on 1
}
enough_rounds() { [ -e "$WORK/broken" ] || [ "$(wc -l <"$WORK/rounds")" -ge "$1" ]; }
no_round_failed() { [ ! -e "$WORK/broken" ] || { cat "$WORK/rounds.log"; return 1; }; }
# goes_on [ROUNDS]: waits until ROUNDS more rounds have passed. Of two, the default, the second has
# begun after the call.
goes_on() {
  until_true 150 enough_rounds $(($(wc -l <"$WORK/rounds") + ${1:-2})) && no_round_failed
}
stop_rounds() {
  touch "$WORK/stop"
  wait $rounds
  no_round_failed
}

# connections_die PORT [COUNT]: both ends of PORT's TCP connections, COUNT at least, end at once, as
# if a middlebox had forgotten them.
connections_die() {
  ss -K -t state established "( sport = :$1 or dport = :$1 )" >"$WORK/killed" &&
    [ "$(grep -c ":$1\b" "$WORK/killed")" -ge "${2:-1}" ] ||
    { cat "$WORK/killed"; return 1; }
}

# make_tree: takes a part of the kernel headers, which every machine has that builds the modules.
make_tree() {
  local from
  from=$(ls -d /usr/src/linux-headers-*-common | tail -1)
  tar -C "$from" -cf "$WORK/tree.tar" include/net include/rdma include/uapi/rdma || return 1
  mkdir "$WORK/tree" && tar -C "$WORK/tree" -xf "$WORK/tree.tar" || return 1
  (cd "$WORK/tree" && find . -type f -print0 | sort -z | xargs -0 md5sum) >"$WORK/tree.sums"
  [ "$(wc -l <"$WORK/tree.sums")" -gt 400 ]
}
unpack_tree() { mkdir -p "$1" && bounded 300 tar -C "$1" -xf "$WORK/tree.tar"; }
same_tree() { (cd "$1" && bounded 300 md5sum --quiet -c "$WORK/tree.sums"); }
# file_system DISK: makes a file system with the tree on DISK, mounts it again, compares the tree,
# and leaves it mounted.
file_system() {
  mkdir -p "$WORK/mnt"
  bounded 100 mkfs.ext4 -q -F "$1" && mount "$1" "$WORK/mnt" || return 1
  unpack_tree "$WORK/mnt/tree" && umount "$WORK/mnt" || return 1
  bounded 100 e2fsck -fn "$1" && mount -o ro "$1" "$WORK/mnt" || return 1
  same_tree "$WORK/mnt/tree"
}
# same_below FILE: compares the tree in the target's file, below the transport.
same_below() { mount -o loop,ro "$1" "$WORK/mnt" && same_tree "$WORK/mnt/tree"; }
