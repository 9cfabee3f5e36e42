# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts here: where things are, and how to stop with one clear line.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=$ROOT/build
RESULTS=${IWMPA_RESULTS:-$BUILD/results} # what each test has shown: a folder for each stage, files of lines "name, IDs, ok|FAIL|skip, text"
# Large things that do not depend on this checkout (kernel source, kernels) outlive it, so that a fresh clone starts fast.
CACHE=${IWMPA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/iwmpa}
# The stock kernel series of this machine's Debian; KERNEL names another.
case $(sed -n 's/^VERSION_ID=//p' /etc/os-release 2>/dev/null) in '"13"') SERIES=6.12 ;; *) SERIES=6.1 ;; esac
KERNEL=${KERNEL:-$SERIES}
# One of scripts/vm/build's? Everything may take so many times as long there.
looks_for_faults() { [[ $KERNEL == @(debug|kcsan) ]]; }
SLOWNESS=1
! looks_for_faults || SLOWNESS=10
# What waits in a test for something that has to happen waits so many times as long as that takes: the machine may be busy.
export PATIENCE=$((SLOWNESS * 10))

# A plain user's PATH on Debian lacks the folders where modprobe, rdma and depmod live.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin LC_ALL=C
umask 022

die() { echo "${0##*/}: $*" >&2; exit 1; }
note() { echo "== $*" >&2; }
# die_with_log LOG TEXT: for a tool that failed; the reason is at the end of what it has written to LOG.
die_with_log() { tail -n 25 "$1" >&2; die "$2: ${1#"$ROOT"/}"; }

# What stands at the top of a script is its help.
usage() { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }

# arguments MIN MAX "$@": for scripts without options. --help is answered, anything else that does not fit is refused.
arguments() {
  local min=$1 max=$2 a; shift 2
  for a; do
    case $a in -h | --help) usage ;; -*) die "no option '$a': see --help" ;; esac
  done
  [ $# -ge "$min" ] && [ $# -le "$max" ] || die "not to be called with '$*': see --help"
}

# other_option OPTION OPTARG: what is left when getopts ":...h-:" has found none of the script's own options.
other_option() {
  case $1$2 in
  h | -help) usage ;;
  -*) die "no option '--$2': see --help" ;;
  :*) die "option '-$2' wants a value: see --help" ;;
  *) die "no option '-$2': see --help" ;;
  esac
}

# need_root WHAT-FOR: ends here when as_root has no way. Without a terminal sudo must not want a password.
need_root() {
  [ "$(id -u)" != 0 ] || return 0
  command -v sudo >/dev/null || die "needs root for: $* (run it as root, or install sudo)"
  [ -t 0 ] || sudo -n true 2>/dev/null || die "needs root for: $* (sudo wants a password, and there is no terminal)"
}
# as_root COMMAND...: after need_root, which says what is wrong where somebody reads it: the output of COMMAND may go to a log.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif [ -t 0 ]; then sudo "$@"; else sudo -n "$@"; fi
}

# need_space DIR MIB WHAT-FOR
need_space() {
  local have
  mkdir -p "$1" || die "cannot create $1 (set IWMPA_CACHE to a folder that you can write)"
  have=$(df --output=avail -BM "$1" | tail -1 | tr -dc 0-9)
  [ "$have" -ge "$2" ] || die "$3 needs $2 MiB in $1, which has $have MiB: free some, or set IWMPA_CACHE to another disk"
}

# need_commands HINT COMMAND...
need_commands() {
  local hint=$1 c; shift
  for c; do command -v "$c" >/dev/null || die "$c is missing: run '$hint'"; done
}

# One writer at a time for something in the cache; the lock goes with the process (file descriptor 9).
lock_cache() { mkdir -p "$CACHE" && exec 9>"$CACHE/$1.lock" && flock 9; }

# cached_kernel SERIES-OR-RELEASE: the newest release of it that scripts/fetch-kernel has left in the cache, or nothing.
cached_kernel() {
  { find "$CACHE"/kernel-*/usr/src -maxdepth 1 -name "linux-headers-$1*" -name "*-amd64" -printf '%f\n' 2>/dev/null || true; } |
    sed -n "s/^linux-headers-\(${1//./\\.}\([.-].*\)\?\)$/\1/p" | sort -V | tail -1
}

# The kernel release to build for and boot: KVER, or the newest of KERNEL: a stock one with headers of this machine, or one of the cache.
kver() {
  local d
  if [ -n "${KVER:-}" ]; then echo "$KVER"; return; fi
  if looks_for_faults; then "$ROOT/scripts/vm/build" "$KERNEL"; return; fi
  if [ "$KERNEL" != "$SERIES" ]; then
    d=$(cached_kernel "$KERNEL")
    [ -n "$d" ] || d=$("$ROOT/scripts/fetch-kernel" "$KERNEL") || exit 1
    echo "$d"
    return
  fi
  d=$(find /usr/src -maxdepth 1 -name "linux-headers-$SERIES.*-amd64" ! -name '*-rt-*' ! -name '*-cloud-*' | sort -V | tail -1)
  [ -n "$d" ] || die "no headers of Debian's stock $SERIES kernel: run 'make setup' (or name another kernel: KVER=...)"
  echo "${d##*/linux-headers-}"
}

# The headers' folder of a release.
kdir() {
  local d
  for d in "/lib/modules/$1/build" "/usr/src/linux-headers-$1" "$CACHE/kernel-$1/usr/src/linux-headers-$1"; do
    if [ -e "$d/Makefile" ]; then echo "$d"; return; fi
  done
  die "no kernel headers for $1: apt-get install linux-headers-$1"
}

# shows_requirements SCENARIO-FILE: it names IDs, or runs programs whose cases do.
shows_requirements() { grep -qE '\[[A-Z]{2,3}-[0-9]{2}|\b(mpa-peer|peer_matrix|socket-test)\b|^# shows requirements' "$1"; }

# Every file of the project, by its path here; what git ignores is none of ours.
project_files() {
  { git ls-files -co --exclude-standard 2>/dev/null || find . -path ./build -prune -o -type f -printf '%P\n'; } |
    sort -u | while read -r f; do [ ! -e "$f" ] || echo "$f"; done
}

# spoil FILE STATUS: what is good in a file of results is not, because the whole ended with STATUS: the kernel's log is dirty, or it
# died, or something else failed that has no line there. 1 with failures in the file says no more than these.
spoil() {
  case $2 in
  0 | 77) return ;;
  1) if grep -qP '\tFAIL\t' "$1"; then return; fi ;;
  esac
  sed -i "s/\tok\t[^\t]*$/\tFAIL\tthe whole ended with status $2/" "$1"
}
