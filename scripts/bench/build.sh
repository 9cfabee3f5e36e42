# SPDX-License-Identifier: GPL-2.0
# Sourced by run: what the guests need is installed and built. Uses the variables of run.
# shellcheck shell=bash disable=SC2154

# What only shows something needs the tool alone.
prerequisites() {
  local c programs=(g++ cmake make) files=(/usr/include/nlohmann/json.hpp)
  [ -n "$show" ] || programs+=(qemu-system-x86_64 busybox cpio xz rdma modprobe fio nvme
    rpc.nfsd mount.nfs krb5kdc kadmin.local openssl wg)
  [ -n "$show" ] || files+=(/usr/include/{rdma/rdma_cma.h,infiniband/verbs.h}
    /etc/libibverbs.d/{siw,rxe}.driver
    "/usr/src/linux-source-$SERIES.tar.xz")
  [ -z "$record" ] || programs+=(gnuplot)
  for c in "${programs[@]}"; do command -v "$c" >/dev/null || { echo "$c"; return; }; done
  for c in "${files[@]}"; do [ -e "$c" ] || { echo "$c"; return; }; done
}

install_missing() {
  local missing
  missing=$(prerequisites)
  if [ -n "$missing" ] && [ -x "$ROOT/scripts/setup" ]; then
    note "$missing is missing: installing what the benchmark needs"
    # shellcheck disable=SC2046 # groups
    "$ROOT/scripts/setup" build $([ -n "$show" ] || echo vm demo tests uml bench)
    missing=$(prerequisites)
  fi
  [ -z "$missing" ] || die "$missing is missing: run 'scripts/setup'"
}

# build_tools: the programs, or only the one that shows what is recorded. Sets tool and layers.
build_tools() {
  tools=$bench/tools tool=$bench/tools/bench_tool layers=$ROOT/tools/bench/layers.txt
  {
    cmake -S "$ROOT/tools/bench" -B "$tools" &&
      nice cmake --build "$tools" -j2 ${show:+--target bench_tool}
  } >"$bench/tools.log" 2>&1 ||
    die_with_log "$bench/tools.log" "the benchmark's programs do not build"
}

build_iwmpa() {
  local module
  if [ -z "$modules" ]; then
    modules=$ROOT
    nice make --no-print-directory -C "$ROOT" modules KVER="$release" >"$bench/modules.log" 2>&1 ||
      die_with_log "$bench/modules.log" "the modules do not build; ROWS=siw,tcp measures the others"
  fi
  for module in mpa iwmpa; do
    [ -e "$modules/$module.ko" ] || die "there is no $modules/$module.ko"
    [[ "$(modinfo -F vermagic "$modules/$module.ko") " == "$release "* ]] ||
      die "$module.ko is not for kernel $release: make modules"
    cp "$modules/$module.ko" "$work/"
  done
}

# build_modules: puts the modules that the guests need into $work, as mpa.ko, iwmpa.ko and
# siw-crc[01].ko, and the kernel consumer of the rows k64 and krtt.
build_modules() {
  local guest siw crc
  for guest in "${guests[@]}"; do
    case $guest in
    *siw | cpus-*)
      siw=$("$ROOT/scripts/siw")
      for crc in 0 1; do cp "$siw/siw-crc$crc/siw.ko" "$work/siw-crc$crc.ko"; done ;;&
    *iwmpa* | cpus-* | queues-*) [ -e "$work/mpa.ko" ] || build_iwmpa ;;
    esac
  done
  grep -qs 'kernel_bench' "$work"/*.plan || return 0
  nice "$ROOT/scripts/kernel" build M="$ROOT/tools/kverbs" modules >"$bench/kverbs.log" 2>&1 ||
    die_with_log "$bench/kverbs.log" "kverbs.ko does not build"
  cp "$ROOT/tools/kverbs/kverbs.ko" "$work/"
}
