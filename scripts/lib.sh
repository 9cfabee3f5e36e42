# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts here: where things are, and how to stop with one clear line.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=$ROOT/build
# Large files that do not depend on this checkout (kernel source, kernels) are kept outside it, so
# that a fresh clone starts fast.
CACHE=${IWMPA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/iwmpa}
# The stock kernel series of this machine's Debian; KERNEL names another.
case $(sed -n 's/^VERSION_ID=//p' /etc/os-release 2>/dev/null) in
'"13"') SERIES=6.12 ;;
*) SERIES=6.1 ;;
esac
KERNEL=${KERNEL:-$SERIES}
# The architecture to build for and to test, as Debian names it; amd64 is this machine's. Kernel
# packages (FLAVOUR), compilers (TRIPLET) and QEMU (CPU) have other names.
ARCH=${ARCH:-amd64} CPU=${ARCH:-amd64} FLAVOUR=${ARCH:-amd64} TRIPLET=''
case $ARCH in
amd64) CPU=x86_64 ;;
arm64) CPU=aarch64 ;;
ppc64el) CPU=ppc64le FLAVOUR=powerpc64le TRIPLET=powerpc64le-linux-gnu ;;
riscv64) ;;
s390x) ;;
*)
  echo "${0##*/}: no architecture '$ARCH' (there are: amd64 arm64 ppc64el riscv64 s390x)" >&2
  exit 1 ;;
esac
TRIPLET=${TRIPLET:-$CPU-linux-gnu}
# Some architectures have a second kernel, with larger pages: KERNEL=6.12-16k (arm64), 6.12-64k
# (ppc64el). KERNEL=6.12-rt is the one with PREEMPT_RT, 6.12-cloud that of virtual machines.
[[ $KERNEL != *-*k ]] || FLAVOUR+=-${KERNEL##*-}
[[ $KERNEL != *-@(rt|cloud) ]] || FLAVOUR=${KERNEL##*-}-$FLAVOUR
# series_of KERNEL: prints it without its flavour.
series_of() {
  local series=${1%-rt}
  series=${series%-cloud} series=${series%-[0-9]*k}
  echo "${series%-oldest}"
}
CROSS_CMAKE=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$CPU"
  "-DCMAKE_C_COMPILER=$TRIPLET-gcc" "-DCMAKE_CXX_COMPILER=$TRIPLET-g++")
foreign() { [ "$ARCH" != amd64 ]; }
! foreign || BUILD+=/$ARCH
RESULTS=${IWMPA_RESULTS:-$BUILD/results} # the tests' results: a folder for each stage, files of TAP
# Is KERNEL one that scripts/vm/build makes? SLOWNESS is the factor by which it is slower.
looks_for_faults() { [[ $KERNEL == @(debug|kcsan) ]]; }
SLOWNESS=1
! looks_for_faults || SLOWNESS=10
# The factor of all timeouts in tests, because the machine may be busy.
export PATIENCE=$((SLOWNESS * 10))

# QEMU's options for an emulated amd64 CPU, and arguments for the kernel, without which a guest
# takes up to twice as long:
# erms=off      or the kernel and the C library use "rep movsb" and "rep stosb", which QEMU emulates
#               octet by octet
# tsc=reliable  or the kernel reads the HPET, a device, whenever it needs the time, because it
#               trusts no TSC of several such CPUs
# norandmaps    or QEMU translates a program's code again for each process, which has addresses of
#               its own
EMULATED_CPU='-accel tcg,thread=multi -cpu max,la57=off,erms=off' \
  FAST_GUEST='tsc=reliable norandmaps'

# session_nice NICE: sets the priority of this session. The scheduler divides the processors among
# sessions (autogroups); the nice values of programs count only within their session. The file is
# missing on kernels without autogroups, and empty for a session that has none.
AUTOGROUP=${AUTOGROUP:-/proc/self/autogroup}
session_nice() { { echo "$1" >"$AUTOGROUP"; } 2>/dev/null || true; }

# A plain user's PATH on Debian lacks the folders where modprobe, rdma and depmod live.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin LC_ALL=C
umask 022

die() { echo "${0##*/}: $*" >&2; exit 1; }
note() { echo "== $*" >&2; }
# die_with_log LOG TEXT: for a tool that failed; shows the end of its LOG, which has the reason.
die_with_log() { tail -n 25 "$1" >&2; die "$2: ${1#"$ROOT"/}"; }

# The comment at the top of a script is its help text.
usage() { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }

# arguments MIN MAX "$@": for scripts without options. Answers --help, refuses other options and a
# wrong number of arguments.
arguments() {
  local min=$1 max=$2 a; shift 2
  for a; do
    case $a in -h | --help) usage ;; -*) die "no option '$a': see --help" ;; esac
  done
  [ $# -ge "$min" ] && [ $# -le "$max" ] || die "wrong arguments '$*': see --help"
}

# other_option OPTION OPTARG: handles what getopts ":...h-:" returns for anything but the script's
# own options.
other_option() {
  case $1$2 in
  h | -help) usage ;;
  -*) die "no option '--$2': see --help" ;;
  :*) die "option '-$2' needs a value: see --help" ;;
  *) die "no option '-$2': see --help" ;;
  esac
}

# need_root WHAT-FOR: dies when as_root cannot work. Without a terminal, sudo must not ask for a
# password.
need_root() {
  [ "$(id -u)" != 0 ] || return 0
  command -v sudo >/dev/null || die "needs root for: $* (run it as root, or install sudo)"
  [ -t 0 ] || sudo -n true 2>/dev/null ||
    die "needs root for: $* (sudo asks for a password, and there is no terminal)"
}
# as_root COMMAND...: call need_root first: its message reaches the user, while the output of
# COMMAND may go to a log.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif [ -t 0 ]; then sudo "$@"; else sudo -n "$@"; fi
}

# need_space DIR MIB WHAT-FOR
need_space() {
  local have
  mkdir -p "$1" || die "cannot create $1 (set IWMPA_CACHE to a folder that you can write)"
  have=$(df --output=avail -BM "$1" | tail -1 | tr -dc 0-9)
  [ "$have" -ge "$2" ] ||
    die "$3 needs $2 MiB in $1, which has $have MiB: free some, or set IWMPA_CACHE to another disk"
}

# need_commands HINT COMMAND...
need_commands() {
  local hint=$1 c; shift
  for c; do command -v "$c" >/dev/null || die "$c is missing: run '$hint'"; done
}

# lock_cache NAME: allows one writer at a time for an entry of the cache; the lock (file descriptor
# 9) ends with the process.
lock_cache() { mkdir -p "$CACHE" && exec 9>"$CACHE/$1.lock" && flock 9; }

# cached_kernel SERIES-OR-RELEASE: prints the newest release of it that scripts/fetch-kernel has put
# into the cache, if any; of SERIES-oldest, the one that it found to be the oldest.
cached_kernel() {
  local series
  if [ "${1%-oldest}" != "$1" ]; then
    basename "$(readlink -e "$CACHE/oldest-${1%-oldest}-$FLAVOUR")" | sed -n 's/^kernel-//p'
    return
  fi
  series=$(series_of "$1")
  {
    find "$CACHE"/kernel-*/usr/src -maxdepth 1 -name "linux-headers-$series*" \
      -name "*[0-9]-$FLAVOUR" -printf '%f\n' 2>/dev/null || true
  } |
    sed -n "s/^linux-headers-\(${series//./\\.}\([.-].*\)\?\)$/\1/p" | sort -V | tail -1
}

# Prints the kernel release to build for and boot: KVER, or the newest of KERNEL. It is a stock one
# whose headers are installed on this machine, or one in the cache.
kver() {
  local d
  if [ -n "${KVER:-}" ]; then echo "$KVER"; return; fi
  if looks_for_faults; then "$ROOT/scripts/vm/build" "$KERNEL"; return; fi
  if foreign || [ "$KERNEL" != "$SERIES" ]; then
    d=$(cached_kernel "$KERNEL")
    [ -n "$d" ] || d=$("$ROOT/scripts/fetch-kernel" "$KERNEL") || exit 1
    echo "$d"
    return
  fi
  d=$(find /usr/src -maxdepth 1 -name "linux-headers-$SERIES.*-amd64" \
    ! -name '*-rt-*' ! -name '*-cloud-*' | sort -V | tail -1)
  [ -n "$d" ] ||
    die "no headers of Debian's stock $SERIES kernel: run 'make setup'" \
      "(or name another kernel: KVER=...)"
  echo "${d##*/linux-headers-}"
}

# kdir RELEASE: prints the folder of its headers.
kdir() {
  local d
  for d in "/lib/modules/$1/build" "/usr/src/linux-headers-$1" \
    "$CACHE/kernel-$1/usr/src/linux-headers-$1"; do
    if [ -e "$d/Makefile" ]; then echo "$d"; return; fi
  done
  die "no kernel headers for $1: apt-get install linux-headers-$1"
}

# kernel_source RELEASE: prints the path of Debian's source of this kernel: the archive of the
# installed package linux-source-SERIES, or the folder in the cache where scripts/fetch-kernel has
# unpacked it.
kernel_source() {
  local series tar
  series=$(cut -d. -f1,2 <<<"$1")
  tar=/usr/src/linux-source-$series.tar.xz
  if [ -e "$tar" ]; then echo "$tar"; else "$ROOT/scripts/fetch-kernel" "$series" source; fi
}
# kernel_files SOURCE DIR PATTERN...: copies files of a source that kernel_source has printed into
# DIR, below the folders that they have there.
kernel_files() {
  local tree=$1 dir=$2
  shift 2
  if [ -f "$tree" ]; then
    tar -C "$dir" --strip-components=1 -xf "$tree" --wildcards "${@/#/*/}"
    return
  fi
  # shellcheck disable=SC2068 # patterns
  (cd "$tree" && cp -r --parents $@ "$dir")
}

# change FILE SED TEXT: edits FILE, or ends the script with TEXT if the edit changes nothing.
change() {
  local before
  before=$(cksum <"$1")
  sed -i "$2" "$1"
  [ "$(cksum <"$1")" != "$before" ] || die "$3"
}

# build_tools [OPTION...]: builds tools/ for ARCH, with the libraries of its guest. The options are
# those of "cmake --build".
build_tools() {
  local options=()
  ! foreign ||
    options=(--fresh "${CROSS_CMAKE[@]}" "-DCMAKE_SYSROOT=$("$ROOT/scripts/vm/root")" -DTESTS=OFF)
  cmake -S "$ROOT/tools" -B "$BUILD/tools" "${options[@]}" &&
    nice cmake --build "$BUILD/tools" -j "$(nproc)" "$@"
}

# shows_requirements SCENARIO-FILE: whether it names IDs, or runs programs whose cases name them.
shows_requirements() {
  grep -qE '\[[A-Z]{2,3}-[0-9]{2}|\b(mpa-peer|peer_matrix|socket-test)\b|^# shows requirements' \
    "$1"
}

# Prints the path of every file of the project, without the files that .gitignore names. A release's
# tree has no repository; there tar reads it. It may lie in the repository of something else.
project_files() {
  if [ -e .git ]; then git ls-files -co --exclude-standard
  else tar --exclude-vcs-ignores --exclude=./build -cvf /dev/null . | sed -n 's/^\.\///; /[^/]$/p'
  fi |
    sort -u | while read -r f; do [ ! -e "$f" ] || echo "$f"; done
}

# build_test_runner: builds tools/runner, the program that runs series of tests and counts results:
# TEST_RUNNER, also for the scripts that this one starts.
build_test_runner() {
  local build=$ROOT/build/runner
  [ -z "${TEST_RUNNER:-}" ] || return 0
  mkdir -p "$build"
  {
    cmake -S "$ROOT/tools/runner" -B "$build" && cmake --build "$build" -j "$(nproc)"
  } >"$build/log" 2>&1 || {
    tail -n 25 "$build/log" >&2
    echo "${0##*/}: tools/runner does not build: ${build#"$ROOT"/}/log" >&2
    return 1; }
  export TEST_RUNNER=$build/test-runner
}
