# SPDX-License-Identifier: GPL-2.0
# Sourced by run: boots the guests and lets them measure. Uses the variables of run.
# shellcheck shell=bash disable=SC2154

# module_files MODULE-NAME...: prints the files of these modules and their dependencies, in load
# order; some of them several times.
module_files() {
  local name
  for name; do
    modprobe -d "$kernel_root" -S "$release" --show-depends "$name"
  done | sed -n 's/^insmod \([^ ]*\).*/\1/p'
}

# if_modules NAME...: prints those that are modules. Newer kernels have their CRC functions built
# in.
if_modules() {
  local name
  for name; do
    ! modinfo -b "$kernel_root" -k "$release" "$name" >/dev/null 2>&1 || echo "$name"
  done
}

# unpack_modules FOLDER MODULE-NAME...: puts these modules and their dependencies into FOLDER;
# prints the names in load order.
unpack_modules() {
  local folder=$1 file name
  module_files "${@:2}" | while read -r file; do
    name=${file##*/} name=${name%.[xz]*}
    [ ! -e "$folder/$name" ] || continue
    case $file in
    *.xz) xz -dc "$file" ;;
    *.zst) zstd -qdc "$file" ;;
    *) cat "$file" ;;
    esac >"$folder/$name"
    echo "$name"
  done
}

# pack DIR OUT: packs an initramfs, uncompressed, because an emulated CPU unpacks more slowly than
# it reads.
pack() { (cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc --quiet --reproducible) >"$2"; }

# make_root OUT: packs those files of the counting guests that all transports share.
make_root() {
  local out=$1 root=$work/root names file program dependencies
  mkdir -p "$root"/{bin,mod,etc/libibverbs.d}
  cp "$(command -v busybox)" "$root/bin/busybox"
  cp "$here/guest-init" "$root/init"
  cp "$here/veth-lib.sh" "$root/"
  cp "$here/kernel_bench" "$root/bin/"
  cp /etc/libibverbs.d/{siw,rxe}.driver "$root/etc/libibverbs.d/"
  cp "$tools"/{rdma,conn,tcp}_bench "$(command -v rdma)" "$root/bin/"
  for program in "$root"/bin/{rdma,conn,tcp}_bench "$root/bin/rdma" \
    /usr/lib/*/libibverbs/lib{siw,rxe}-rdmav*.so; do
    case $program in */libibverbs/*) cp --parents "$program" "$root" ;; esac
    dependencies=$(ldd "$program" | grep -o '/[^ )]*')
    # shellcheck disable=SC2086
    cp --parents -L -u $dependencies "$root"
  done
  names=$(for file in "$work"/*.ko; do
    [ ! -e "$file" ] || modinfo -F depends "$file" | tr , '\n'
  done | grep -vxE 'mpa|' || true)
  ! grep -qs '^over_veth' "$work"/*.plan || names+=' veth'
  # shellcheck disable=SC2046,SC2086 # names
  unpack_modules "$root/mod" $(if_modules crc32c-intel libcrc32c) ib_uverbs rdma_ucm dummy $names \
    >"$root/mod/order"
  [ ! -e "$work/kverbs.ko" ] || cp "$work/kverbs.ko" "$root/mod/"
  cp "$root/mod/order" "$work/loaded"
  pack "$root" "$out"
  rm -rf "$root"
}

# plugin_of GUEST FOLDER: prints the plugin and its arguments. The file `profile` in FOLDER tells
# the guest which symbols to print.
plugin_of() {
  local plugin=$tools/insn_count.so,out=$work/$1.counts
  if [ -n "$profile" ]; then
    plugin+=,profile=on
    if [ -s "$symbols" ]; then echo modules; else echo all; fi >"$2/profile"
  fi
  echo "$plugin"
}

# boot_counting TRANSPORT: boots a guest that has only the measured programs and modules.
boot_counting() {
  local transport=$1 extra=$work/$1.root plugin
  local kernel_arguments='console=ttyS0 quiet panic=-1 oops=panic nokaslr norandmaps'
  kernel_arguments+=' random.trust_cpu=off tsc=reliable'
  mkdir -p "$extra/mod"
  mv "$work/$transport.plan" "$extra/plan"
  case $transport in
  siw) cp "$work"/siw-crc?.ko "$extra/mod/" ;;
  iwmpa) cp "$work"/{mpa,iwmpa}.ko "$extra/mod/" ;;
  # rxe takes the fastest CRC-32 that is there. Modules that the guest has already are not loaded
  # again.
  rxe)
    # shellcheck disable=SC2046 # a name or none
    unpack_modules "$extra/mod" $(if_modules crc32-pclmul) rdma_rxe |
      grep -vxFf "$work/loaded" >"$extra/mod/rxe.order" ;;
  esac
  plugin=$(plugin_of "$transport" "$extra")
  pack "$extra" "$work/$transport.cpio"
  cat "$work/root.cpio" "$work/$transport.cpio" >"$work/$transport.initrd.cpio"
  rm -r "$extra" "$work/$transport.cpio"

  nice timeout -k 5 1200 qemu-system-x86_64 -machine pc,accel=tcg -cpu Westmere-v1 -smp 1 -m 512 \
    -icount shift=0,sleep=off -rtc base=2026-01-01,clock=vm -seed 1 \
    -nodefaults -no-user-config -display none -no-reboot \
    -pidfile "$work/$transport.pid" \
    -serial file:"$work/$transport.kernel" -serial stdio -plugin "$plugin" \
    -kernel "$vmlinux" -initrd "$work/$transport.initrd.cpio" \
    -append "$kernel_arguments" \
    </dev/null 2>"$work/$transport.qemu"
}

# boot_whole GUEST: boots a guest that has all of this machine's programs. The guest writes to its
# folder.
boot_whole() {
  local guest=$1 folder=$work/$1.folder options=(-i) script=guest-storage argument='' \
    programs=(bench_mark) status=0
  mkdir "$folder"
  mv "$work/$guest.plan" "$folder/plan"
  for file in "$work"/*.ko; do [ ! -e "$file" ] || cp "$file" "$folder/"; done
  case $guest in
  cpus-*) options=(-p -c "${guest#cpus-}") script=guest-cpus programs=(parallel_bench) ;;
  queues-*) options=(-p -c "${guest#queues-}") argument=veth ;;
  veth-* | secure-*) programs+=(parallel_bench) argument=veth ;;
  esac
  cp "${programs[@]/#/$tools/}" "$folder/"
  if [ -n "$profile" ] && [ "${options[0]}" = -i ]; then
    options+=(-q -plugin -q "$(plugin_of "$guest" "$folder")")
  fi
  nice "$ROOT/scripts/vm/run" -n -t 3600 "${options[@]}" \
    -q -pidfile -q "$work/$guest.pid" -a norandmaps -o "$folder" -- \
    "bash '$here/$script' /run/vm $argument" 2>"$work/$guest.qemu" || status=$?
  mv "$folder/console" "$work/$guest.kernel"
  rm -r "$folder"
  return $status
}

# measure GUEST
measure() {
  local guest=$1 boot=boot_whole started=$SECONDS
  case $guest in *-*) ;; *) boot=boot_counting ;; esac
  note "$guest: booting $release"
  "$boot" "$guest" | "$tool" --dir "$work" "${selections[@]}" progress "$guest" &
  wait $! || true # in the background, so that this shell handles a signal at once
  rm -f "$work/$guest.initrd.cpio"
  if [ ! -s "$work/$guest.console" ] && [ -s "$work/$guest.qemu" ]; then
    die "$guest: QEMU: $(tail -n 1 "$work/$guest.qemu")"
  fi
  note "$guest: $((SECONDS - started)) s"
}

# measure_all: as many guests at the same time as asked for.
measure_all() {
  local running=0 guest parallel
  for guest in "${guests[@]}"; do
    case $guest in cpus-* | queues-*) parallel=1 ;; *) parallel=$jobs ;; esac
    while [ "$running" -ge "$parallel" ]; do wait -n; running=$((running - 1)); done
    if [ "$parallel" = 1 ]; then measure "$guest"; continue; fi
    measure "$guest" &
    running=$((running + 1))
  done
  while [ "$running" -gt 0 ]; do wait -n; running=$((running - 1)); done
}
