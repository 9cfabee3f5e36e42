# SPDX-License-Identifier: GPL-2.0
# syzkaller: programs that it makes from descriptions of system calls, on a kernel with KASAN,
# lockdep and KCOV. The argument is a number of minutes. syzkaller describes RDMA CM and RDMA's
# netlink; syzkaller/iwmpa.txt describes the rings, the commands of uverbs and MPA on sockets, and
# the seeds are programs that get far. The results are the basic blocks of each file that a system
# call reached; those of workers and softirqs are not counted.
# shellcheck shell=bash disable=SC2034,SC2154 # scripts/suites uses and sets the variables
url=https://github.com/google/syzkaller
revision=a44b0418a
transports=(iwmpa)
arguments=(60)
configs=("$ROOT/scripts/configs/faults" "$suites/syzkaller/config")
settings=(KCOV_INSTRUMENT=y)
# Faults of iw_cm that its programs find at once.
patches=("$ROOT"/Documentation/kernel/iwcm-{connect-wait,disconnect-reference}.patch)
executor=bin/linux_amd64/syz-executor

# in_file FILE EXPRESSION...: dies unless an expression changes the file.
in_file() {
  local file=$1 before
  shift
  before=$(cksum <"$file")
  sed -i "${@/#/-e}" "$file"
  [ "$(cksum <"$file")" != "$before" ] || die "syzkaller's $file is not as expected"
}

# syzkaller knows where the code of x86 kernels is, expects machines around the kernel, and gives
# each program a network of its own, where the device is not.
adapt() {
  in_file sys/targets/targets.go 's/\(TextStart: *\)0xffffffff80000000/\10x60000000/' \
    's/\(TextEnd: *\)0xffffffffff000000/\10x7f00000000/'
  in_file pkg/vminfo/linux.go 's/ T _stext/ [tT] _stext/'
  # The calls by which it looks for KCOV reach nothing that is instrumented.
  in_file pkg/vminfo/features.go 's/return "got no coverage"/return ""/'
  in_file syz-manager/manager.go \
    's/newPhase == phaseTriagedHub {/newPhase == phaseTriagedHub \&\& mgr.reproLoop != nil {/'
  in_file executor/common_linux.h \
    '/^static int do_sandbox_none/,/^}/ s/unshare(CLONE_NEWNET)/0/' \
    '/^static int do_sandbox_none/,/^}/ s/\(initialize_[a-z_]*\)();/(void)\1;/'
}

build_suite() {
  local version
  version=$(go env GOVERSION || echo go1.0)
  version=${version#go1.}
  [ "${version%%.*}" -ge 22 ] || die "syzkaller needs Go 1.22, which Debian has from 13 on"
  adapt
  cp "$suites"/syzkaller/iwmpa.txt* sys/linux/
  export GOFLAGS=-mod=vendor CGO_ENABLED=0
  make REV=$revision executor manager execprog db || return 1
  bin/syz-db pack "$suites/syzkaller/seeds" corpus.db || return 1
  # The rest is more than a guest's memory.
  find . -mindepth 1 -maxdepth 1 ! -name bin ! -name sys ! -name corpus.db -exec rm -rf {} +
  rm bin/syz-db
}

configure() {
  cat >config <<CONFIG
{
  "target": "linux/amd64", "type": "none", "sandbox": "none", "procs": 3, "cover": true,
  "http": "", "rpc": "127.0.0.1:56700", "workdir": "/run/vm/work", "syzkaller": "$PWD",
  "enable_syscalls": [
    $(sed -n 's/^\([a-z0-9_]*\$[a-z0-9_]*\)(.*/"\1",/p' "$suites/syzkaller/iwmpa.txt")
    "openat\$rdma_cm", "write\$RDMA_USER_CM_CMD_*", "socket\$nl_rdma", "sendmsg\$RDMA_NLDEV_CMD_*",
    "socket\$inet_tcp", "bind\$inet", "listen", "connect\$inet", "shutdown", "sendto\$inet",
    "sendmsg\$inet", "sendmmsg\$inet", "recvfrom\$inet", "recvmsg", "recvmmsg", "splice",
    "sendfile", "setsockopt\$inet_tcp_*", "getsockopt\$inet_tcp_*", "ioctl\$sock_inet_tcp_*",
    "pipe", "poll", "epoll_*", "fcntl\$setstatus", "close", "dup", "dup3", "syz_clone",
    "memfd_create", "ftruncate", "munmap", "mremap", "mprotect", "madvise",
    "clock_gettime", "nanosleep"
  ],
  "disable_syscalls": [
    "sendmsg\$RDMA_NLDEV_CMD_DELLINK", "sendmsg\$RDMA_NLDEV_CMD_SYS_SET",
    "sendmsg\$RDMA_NLDEV_CMD_SET"
  ]
}
CONFIG
}

# reached MODULE: prints "ok<TAB>FILE COUNT of ALL" for each file, from the addresses that execprog
# printed. It subtracts the length of a call, of which KCOV knows nothing.
reached() {
  local object=$SUITES_MODULES/$1.ko base
  base=$(cat "/sys/module/$1/sections/.text")
  objdump -dr --no-show-raw-insn -j .text "$object" | gawk -f "$suites/syzkaller/blocks.awk" >blocks
  addr2line -e "$object" <blocks | sed -E 's!.*/(mpa|ddp_glue|include)/!\1/!; s/:.*//' >files
  sort -u cover/* | gawk -v base="$base" '
    NR == FNR { seen[sprintf("%x", strtonum($1) + 5 - strtonum(base))] = 1; next }
    { getline file <"files"; all[file]++; some[file] += $1 in seen }
    END { for (file in all) print "ok\t" file " " some[file] " of " all[file] }' - blocks |
    grep -E $'\t(mpa|ddp_glue)/' | sort
}

# wait_for_progress PID LOG: waits until the process has ended, or LOG has not changed for two
# minutes.
wait_for_progress() {
  while kill -0 "$1" 2>/dev/null && [ $(($(date +%s) - $(stat -c %Y "$2"))) -lt 120 ]; do
    sleep 1
  done
}

# fuzz SECONDS: a manager that crashes, or runs in circles in Go's runtime, leaves the programs that
# it kept, and the next goes on with them. Prints how many programs were executed, and by how many
# managers.
fuzz() {
  local end=$((SECONDS + $1)) managers=0 executed=0 log manager last
  while [ $SECONDS -lt $end ]; do
    log=/run/vm/manager-$((++managers)).log
    GODEBUG=asyncpreemptoff=1 bin/syz-manager -config config >"$log" 2>&1 &
    manager=$!
    until grep -q 'supposed to start' "$log" || [ $SECONDS -ge $end ]; do
      kill -0 $manager 2>/dev/null || { echo $'FAIL\ta manager does not start'; break 2; }
      sleep 1
    done
    timeout $((end > SECONDS ? end - SECONDS : 1)) "$executor" runner 0 127.0.0.1 56700 \
      >/run/vm/executor.log 2>&1 &
    wait_for_progress $! "$log"
    kill $! 2>/dev/null
    kill -INT $manager 2>/dev/null
    timeout 60 tail -f --pid=$manager /dev/null # it stores the programs
    kill -KILL $manager 2>/dev/null
    wait
    last=$(sed -n 's/.* exec total=\([0-9]*\).*/\1/p' "$log" | tail -1)
    executed=$((executed + ${last:-0}))
  done
  printf 'ok\t%d programs executed by %d managers\n' $executed $managers
  sed -n 's/.* \(broken programs in the corpus\)/FAIL\t\1/p' /run/vm/manager-*.log
}

run_suite() {
  local verbose
  modprobe rdma_ucm && rdma_link "$1" || exit 1
  sysctl -q net.ipv4.tcp_max_tw_buckets=0 # the programs use a few ports, again and again
  for verbose in /sys/kernel/debug/fail*/verbose; do
    echo 0 >"$verbose" # no call trace for each allocation that syzkaller lets fail
  done
  mkdir -p /run/vm/work cover && cp corpus.db /run/vm/work && configure
  fuzz $((60 * $2)) >executed
  bin/linux_amd64/syz-execprog -executor $executor -sandbox none -procs 2 -coverfile cover/of \
    /run/vm/work/corpus.db >/run/vm/execprog.log 2>&1
  { cat executed; reached mpa; reached iwmpa; } >/run/vm/results
}
