# SPDX-License-Identifier: GPL-2.0
# Sourced by the scenarios, which run as root in a guest of their own. A scenario calls `begin`,
# builds its network, uses `check` and `refused`, and ends with `finish`. However it ends,
# everything that it has made is removed and the modules are unloaded.
#
# Exit status of a scenario: 0 passed, 77 skipped, anything else failed. Its output is TAP: a line
# for each check, the cases of a tool as a subtest, the plan at the end. The IDs of the requirements
# that a check shows are in brackets at the end of its text: [TX-01 TX-05].
#
#   IWMPA_DIR   the checkout (given by the runner)
#   TOOLS       where the tools were built (default: IWMPA_DIR/build/tools)
#   LINKTYPE    link type to test (default: iwmpa)
#   MODULES     module files in loading order (default: mpa.ko iwmpa.ko)
#   HOST=1      run on this kernel, outside a guest
# shellcheck shell=bash

set -u
if [ ! -e /run/vm/command ] && [ -z "${HOST:-}" ]; then
  echo "$0: kills the processes of all network namespaces and deletes all RDMA links" \
    "of this machine, and so belongs in a guest:" >&2
  echo "make test SUITE=scenarios T=$(basename "$0" .sh) (HOST=1 runs it here)" >&2
  exit 2
fi
IWMPA_DIR=${IWMPA_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)}
. "$IWMPA_DIR/scripts/perftest-lib.sh"
LINKTYPE=${LINKTYPE:-iwmpa}
TOOLS=${TOOLS:-$IWMPA_DIR/build/tools}
MODULES=${MODULES:-$IWMPA_DIR/mpa.ko $IWMPA_DIR/iwmpa.ko}
export PATH=$TOOLS/peer:$TOOLS/verbs:$TOOLS/socket:$TOOLS/mpi:$TOOLS/top:$PATH:/usr/sbin:/sbin \
  LC_ALL=C
WORK=$(mktemp -d)
booked=0 failures=0 indent=''
finished=

say() { echo "# $*"; }
skip() { skipped=$*; finished=skip; exit 77; }

# book "ok"|"not ok" TEXT [DIRECTIVE]: prints a result, of a subtest where $indent is not empty.
book() {
  booked=$((booked + 1))
  echo "$indent$1 $booked - ${2//[$'\n#']/ }${3:+ # $3}"
}

good() { book ok "$1"; }

fail() {
  book "not ok" "$*"
  failures=$((failures + 1))
}

# details [PREFIX]: passes its input on as comments.
details() { sed "s/^/#   ${1:-}/"; }

# check TEXT COMMAND...: the command must succeed.
check() {
  local text=$1 status=0; shift
  "$@" >"$WORK/out" 2>&1 || status=$?
  if [ $status = 0 ]; then good "$text"; return 0; fi
  fail "$text (status $status): $*"
  tail -40 "$WORK/out" | details
  return 1
}

# refused TEXT REGEX COMMAND...: the command must fail, and its output must match REGEX.
refused() {
  local text=$1 regex=$2; shift 2
  if "$@" >"$WORK/out" 2>&1; then fail "$text: succeeded: $*"; return 1; fi
  if ! grep -qE -- "$regex" "$WORK/out"; then
    fail "$text: does not say '$regex', but: $(tr '\n' ' ' <"$WORK/out")"
    return 1
  fi
  good "$text"
  tail -1 "$WORK/out" | details
}

# cases TEXT COMMAND...: runs a tool that prints TAP, a line for each case; it becomes a subtest.
cases() {
  local text=$1 status; shift
  say "$text"
  "$@" | sed -u 's/^/    /'
  status=${PIPESTATUS[0]}
  case $status in
  0) good "$text" ;;
  77) book ok "$text" "SKIP none of these cases can run here" ;;
  *) fail "$text (status $status)" ;;
  esac
}

# The runner sets PATIENCE: timeouts are those of an idle machine and a stock kernel, multiplied by
# it.
PATIENCE=${PATIENCE:-1}

# until_true SECONDS COMMAND...: runs COMMAND ten times a second until it succeeds; fails after
# PATIENCE times SECONDS.
until_true() {
  local end=$((SECONDS + $1 * PATIENCE)); shift
  until "$@" >"$WORK/until" 2>&1; do
    [ $SECONDS -lt $end ] || { cat "$WORK/until"; return 1; }
    sleep 0.1
  done
}

# bounded SECONDS COMMAND...: kills COMMAND after PATIENCE times SECONDS.
bounded() { timeout -k 5 $(($1 * PATIENCE)) "${@:2}"; }

# --- modules ---

load_prerequisites() {
  local m
  for m in ib_uverbs rdma_ucm libcrc32c crc32c_intel veth dummy; do modprobe -q $m || true; done
}

# for_this_kernel FILE: checks the module's kernel, because insmod would only say "Invalid module
# format".
for_this_kernel() {
  local built
  built=$(modinfo -F vermagic "$1" | cut -d' ' -f1)
  [ "$built" = "$(uname -r)" ] || {
    fail "$(basename "$1") is built for Linux ${built:-?}, and this is $(uname -r):" \
      "make modules KERNEL=..."
    return 1
  }
}

# load_modules [PARAMETER=VALUE...]: the parameters are those of the first module.
load_modules() {
  local m
  load_prerequisites
  for m in $MODULES; do
    for_this_kernel "$m" || return 1
    if ! insmod "$m" "$@"; then fail "insmod $m $*"; return 1; fi
    set --
  done
}

loaded() { [ -d "/sys/module/$(basename "${1%.ko}")" ]; }

# Every module must unload, or the scenario fails: this finds leaked references.
unload_modules() {
  local m
  for m in $(printf '%s\n' $MODULES | tac); do
    loaded "$m" || continue
    until_true 10 rmmod "$(basename "${m%.ko}")" ||
      fail "$(basename "$m") does not unload: $(rmmod "$(basename "${m%.ko}")" 2>&1)"
  done
}

# set_parameter NAME VALUE: for new connections. Fails when the link type does not have the
# parameter.
set_parameter() {
  local file=/sys/module/mpa/parameters/$1
  if [ "$LINKTYPE" != iwmpa ]; then return 1; fi
  { echo "$2" >"$file" && [ "$(cat "$file")" = "$2" ]; } || {
    fail "the parameter $1=$2"
    return 1
  }
}

# set_device NAME ATTRIBUTE VALUE: likewise, for one device.
set_device() {
  local file=/sys/class/infiniband/$1/iwmpa/$2
  echo "$3" >"$file" && [ "$(cat "$file")" = "$3" ]
}

# --- the kernel's log ---

# A line for each error would let any peer fill the log. A few lines are allowed, because the kernel
# itself may log at any time.
mark_log() { dmesg >"$WORK/dmesg"; }
# new_log: prints the lines since then.
new_log() { dmesg | tail -n "+$(($(wc -l <"$WORK/dmesg") + 1))"; }
# log_has REGEX: a line since then matches.
log_has() { new_log >"$WORK/new" && grep -E -- "$1" "$WORK/new"; }
log_grew_less_than() {
  new_log >"$WORK/new"
  cat "$WORK/new"
  [ "$(wc -l <"$WORK/new")" -lt "$1" ]
}

# --- networks ---

in1() { ip netns exec h1 "$@"; }
in2() { ip netns exec h2 "$@"; }

no_network() { fail "the network cannot be made"; return 1; }

# two_hosts_plain [MTU]: two hosts, h1 (10.9.0.1, fd09::1) and h2 (.2, ::2), joined by a veth pair
# whose ends have the same interface index.
two_hosts_plain() {
  local h
  ip netns add h1 && ip netns add h2 &&
    ip link add wire index 77 netns h1 type veth peer name wire index 77 netns h2 ||
    { no_network; return; }
  for h in 1 2; do
    ip -n h$h link set lo up
    ip -n h$h link set wire mtu "${1:-1500}" up
    ip -n h$h addr add 10.9.0.$h/24 dev wire
    ip -n h$h addr add fd09::$h/64 dev wire nodad
  done
}

# two_hosts [MTU]: the same with the RDMA devices rd1 and rd2.
two_hosts() {
  local h
  two_hosts_plain "$@" || return 1
  for h in 1 2; do
    check "link rd$h on h$h" \
      ip netns exec h$h rdma link add rd$h type "$LINKTYPE" netdev wire || return 1
  done
}

# one_host [MTU]: one host, both ends on a dummy device (10.8.0.1, fd08::1), RDMA device rd0.
one_host() {
  ip link add wire type dummy && ip link set wire mtu "${1:-1500}" up || { no_network; return; }
  ip addr add 10.8.0.1/24 dev wire
  ip addr add fd08::1/64 dev wire nodad
  check "link rd0 on a dummy device" rdma link add rd0 type "$LINKTYPE" netdev wire
}

links() { rdma link show | awk '{ sub("/.*", "", $2); print $2 }'; }

# search_leaks: runs kmemleak, where the kernel has it, after the modules are unloaded. It scans the
# running kernel: the second scan finds memory that a register still pointed to during the first.
search_leaks() {
  local leaks=/sys/kernel/debug/kmemleak
  [ -w $leaks ] || return 0
  # kmemleak reports no memory that is younger than 5 seconds
  echo scan >$leaks && sleep 5 && echo scan >$leaks && cat $leaks >"$WORK/leaks" || {
    fail "kmemleak does not scan"
    return
  }
  [ ! -s "$WORK/leaks" ] || { fail "memory is lost"; details <"$WORK/leaks"; }
  echo clear >$leaks
}

# no_namespaces: whether only the initial network namespace exists. The kernel accepts "exclusive"
# in this case only.
no_namespaces() { rdma system set netns exclusive && rdma system set netns shared; }

# A namespace is freed some time after its name is removed, unless it has a process or a module
# leaks a reference. Where the kernel is known to leak one, for the reason that $namespace_stays
# names, leave a name for the runner, which then runs the next scenario in a new guest.
namespaces_go() {
  [ -z "${namespace_stays:-}" ] || { ip netns add "$namespace_stays"; return; }
  [ ! -d /sys/module/ib_core ] || until_true 60 no_namespaces ||
    fail "a network namespace is left: $(lsns -n -t net -o NS,PID,COMMAND)"
}

no_jobs() { [ -z "$(jobs -pr)" ]; }

# clear_network: ends the processes, and removes the devices and namespaces that a scenario has
# made.
clear_network() {
  local l n
  # shellcheck disable=SC2046 # a list of process ids
  kill $(jobs -p) 2>/dev/null
  # The job of `in1 COMMAND &` is a shell, so kill the namespaces' processes also.
  for n in $(ip netns list | cut -d ' ' -f 1); do ip netns pids "$n" | xargs -r kill; done
  # shellcheck disable=SC2046
  until_true 20 no_jobs || { fail "still running: $(jobs -lr)"; kill -KILL $(jobs -pr); }
  wait 2>/dev/null
  for l in $(links); do bounded 30 rdma link delete "$l" || fail "rdma link delete $l"; done
  for n in h1 h2 router; do [ ! -e /run/netns/$n ] || ip netns delete $n; done
  # To search for a netdev that is gone, ip would make the kernel load the module "wire", the driver
  # of another bus.
  [ ! -e /sys/class/net/wire ] || ip link delete wire
}

# mount_cgroups CONTROLLER: groups below /sys/fs/cgroup get the controller. The scenario's end
# unmounts them: the next one in this guest mounts them again.
mount_cgroups() {
  mount -t cgroup2 none /sys/fs/cgroup && cgroups=mounted &&
    echo "+$1" >/sys/fs/cgroup/cgroup.subtree_control
}

take_down() {
  clear_network
  [ -z "${cgroups:-}" ] || umount /sys/fs/cgroup || fail "the cgroups are busy"
  unload_modules
  namespaces_go
  search_leaks
  rm -rf "$WORK"
}

# A signal may come while `check` redirects the output to a file.
leave() {
  local status=$?
  exec 1>&"$report" 2>&1
  trap - EXIT
  if [ -z "$finished" ]; then
    fail "the scenario stopped before its end" \
      "(status $status, in ${FUNCNAME[*]:1}, lines ${BASH_LINENO[*]:1})"
    tail -q -n 40 "$WORK/out" "$WORK/until" 2>/dev/null | details
  fi
  take_down
  if [ "$finished" = skip ] && [ $failures = 0 ]; then
    echo "1..$booked # SKIP $skipped"
    exit 77
  fi
  [ $booked != 0 ] || fail "the scenario has checked nothing"
  echo "1..$booked"
  [ $failures = 0 ] || exit 1
  exit 0
}

# begin TEXT: prints what is tested, and arranges that everything is removed at the end.
begin() {
  say "$*, Linux $(uname -r)"
  exec {report}>&1
  trap leave EXIT
}

finish() { finished=yes; exit; }

# --- programs ---

# listening NAMESPACE PORT: whether the port has a listener (namespace "": this one).
listening() {
  local run=()
  [ -z "$1" ] || run=(ip netns exec "$1")
  "${run[@]}" ss -Hltn "sport = :$2" | grep -q .
}

not_listening() { ! listening "$@"; }

# stalled PORT: whether TCP of h1 (to the port) or of h2 (from it) is in exponential backoff. When
# h1 has nothing in flight, the transfer waits for a segment that h2 has lost.
stalled() { { in1 ss -tino dport = ":$1"; in2 ss -tino sport = ":$1"; } | grep -q "backoff:"; }

# gone PID: whether the process has ended.
gone() { ! kill -0 "$1" 2>/dev/null; }

# ended_well TEXT CLIENT-STATUS SERVER-STATUS: their output is in $WORK/client and $WORK/server.
ended_well() {
  if [ "$2" = 0 ] && [ "$3" = 0 ]; then good "$1"; return 0; fi
  fail "$1 (client status $2, server status $3)"
  tail -15 "$WORK/client" | details "client: "
  tail -15 "$WORK/server" | details "server: "
  return 1
}

# client_server TEXT SECONDS PORT SERVER-NAMESPACE SERVER-COMMAND CLIENT-NAMESPACE CLIENT-COMMAND:
# commands are shell text. Starts the server, waits until it listens, and starts the client. Both
# must succeed. perftest may need more than one START.
client_server() {
  local text=$1 limit=$2 port=$3 sns=$4 server=$5 cns=$6 client=$7 start=${8:-1} spid status=0 \
    server_status=0 in_s=() in_c=()
  [ -z "$sns" ] || in_s=(ip netns exec "$sns")
  [ -z "$cns" ] || in_c=(ip netns exec "$cns")
  # Not by bounded: $! would be a shell, and kill would hit it instead of the server.
  timeout -k 5 $((limit * PATIENCE)) "${in_s[@]}" bash -c "$server" >"$WORK/server" 2>&1 &
  spid=$!
  if ! until_true 20 listening "$sns" "$port"; then
    fail "$text: the server does not listen on port $port"
    kill $spid 2>/dev/null; wait $spid
    details <"$WORK/server"
    return 1
  fi
  bounded "$limit" "${in_c[@]}" bash -c "$client" >"$WORK/client" 2>&1 || status=$?
  if perftest_again "$start" $status "$WORK/client"; then
    kill $spid; wait $spid
    say "$text: perftest's client did not wait for its server: both are started again"
    until_true 20 not_listening "$sns" "$port" || {
      fail "$text: port $port stays taken"
      return 1
    }
    client_server "${@:1:7}" $((start + 1))
    return
  fi
  # A server may wait for ever for a client that has failed.
  [ $status = 0 ] || until_true 5 gone $spid || kill $spid
  wait $spid || server_status=$?
  ended_well "$text" $status $server_status
}

# --- programs that read commands, line by line: rdma-target, mpa-flood ---

declare -A told_by told_from

# talk_to NAME NAMESPACE COMMAND...: starts such a program (namespace "": in this one).
talk_to() {
  local name=$1 fd run=(); [ -z "$2" ] || run=(ip netns exec "$2"); shift 2
  mkfifo "$WORK/$name.in" && : >"$WORK/$name.out" || return 1
  "${run[@]}" "$@" <"$WORK/$name.in" >"$WORK/$name.out" 2>&1 &
  exec {fd}>"$WORK/$name.in"
  told_by[$name]=$fd
}

# hang_up NAME...: closes their input. A program that was started later keeps the input open until
# it has ended itself.
hang_up() {
  local name fd
  for name; do
    fd=${told_by[$name]}
    exec {fd}>&-
    rm -f "$WORK/$name.in"
  done
}

# tell NAME COMMAND: sends a command; heard looks at the output from here on.
tell() {
  told_from[$1]=$(($(wc -l <"$WORK/$1.out") + 1))
  echo "$2" >&"${told_by[$1]}"
}

lines_of() { tail -n "+${told_from[$1]}" "$WORK/$1.out"; }

# heard NAME REGEX: whether it has printed a matching line since the last command.
heard() { lines_of "$1" | grep -E -- "$2"; }

# answers TEXT NAME COMMAND REGEX [SECONDS]: sends COMMAND; the program must print a matching line.
answers() {
  tell "$2" "$3"
  if until_true "${5:-20}" heard "$2" "$4"; then good "$1"; return 0; fi
  fail "$1: $2 does not print '$4' when told '$3', but: $(lines_of "$2" | tr '\n' ';')"
  return 1
}

# ask NAME COMMAND: prints the answer of an rdma-target; fails unless it is "= ok".
ask() {
  local answers answer end=$((SECONDS + 30 * PATIENCE))
  answers=$(grep -c '^= ' "$WORK/$1.out")
  echo "$2" >&"${told_by[$1]}"
  until answer=$(grep '^= ' "$WORK/$1.out" | sed -n "$((answers + 1))p") && [ -n "$answer" ]; do
    [ $SECONDS -lt $end ] || { echo "$1 does not answer '$2'"; return 1; }
    sleep 0.02
  done
  echo "$answer"
  [[ $answer == "= ok"* ]]
}

# counter LINK NAME: prints a counter of rdma statistic.
counter() {
  rdma statistic show link "$1/1" |
    awk -v name="$2" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }'
}

# counts LINK NAME NUMBER: whether the counter has this value. Repeat it with until_true: the RDMA
# core caches counters for 10 ms.
counts() {
  local counted
  counted=$(counter "$1" "$2")
  echo "$2 is $counted, not $3"
  [ "$counted" = "$3" ]
}
