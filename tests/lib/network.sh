# SPDX-License-Identifier: GPL-2.0
# Sourced by tests/network/*.sh: a table of rows. A row is a function that gets a network of its
# own, changes one thing in it, and transfers data, which are compared. Its checks are a subtest.
# The row fails also when it leaves a complaint in the kernel log.
#
#   ROW   only the rows whose name contains it
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/scenario.sh"
. "$(dirname "${BASH_SOURCE[0]}")/routed.sh"

# row NAME TEXT: runs the function NAME (with _ for -) and books the row.
row() {
  local name=$1 text=$2 rows=$booked failed=$failures begun broken
  [[ $name == *"${ROW:-}"* ]] || return 0
  say "$name: $text"
  begun=$(uptime_seconds)
  booked=0 failures=0 indent='    ' lacking=''
  mark_log
  "${name//-/_}" || [ $failures != 0 ] || [ -n "$lacking" ] || fail "its network cannot be made"
  clear_network
  check "the kernel log is clean" clean_log
  echo "    1..$booked"
  broken=$failures
  booked=$rows failures=$failed indent=''
  echo "# seconds: $(($(uptime_seconds) - begun))"
  if [ "$broken" != 0 ]; then fail "$name: $text"
  elif [ -n "$lacking" ]; then book ok "$name: $text" "SKIP $lacking"
  else good "$name: $text"
  fi
}
uptime_seconds() { cut -d . -f 1 /proc/uptime; } # rows may change the clock
clean_log() {
  new_log >"$WORK/row.log"
  "$IWMPA_DIR/scripts/vm/check-log" "$WORK/row.log"
}

# lacks REASON: the row cannot run here.
lacks() { lacking=$*; return 1; }
need_modules() {
  local m
  for m; do modprobe -q "$m" || { lacks "this kernel has no $m"; return; }; done
}
need_tools() {
  local t
  for t; do command -v "$t" >/dev/null || { lacks "$t is not installed"; return; }; done
}
# need_congestion NAME: the congestion control NAME, for any namespace.
need_congestion() {
  need_modules "tcp_$1" && sysctl -qw net.ipv4.tcp_allowed_congestion_control="reno cubic $1"
}

# --- networks ---

both() { in1 "$@" && in2 "$@"; }
# on_both KEY=VALUE...: sets sysctl values of both hosts.
on_both() { check "$*" both sysctl -qw "$@"; }
# device HOST NETDEV: makes the RDMA device rd_NETDEV.
device() {
  check "a device on $2 of h$1" \
    ip netns exec "h$1" rdma link add "rd$1_$2" type "$LINKTYPE" netdev "$2"
}
# second_wire: joins the hosts by another veth pair, without addresses.
second_wire() {
  ip link add wire2 index 78 netns h1 type veth peer name wire2 index 78 netns h2 &&
    ip -n h1 link set wire2 up && ip -n h2 link set wire2 up
}
# qdisc HOST ARGUMENT...: sets the root qdisc of the host's wire.
qdisc() { ip netns exec "h$1" tc qdisc replace dev wire root "${@:2}"; }
# qdiscs ARGUMENT...: the same qdisc on both hosts.
qdiscs() { check "qdisc $*" eval "qdisc 1 $* && qdisc 2 $*"; }
# sent_by_qdisc HOST: prints the octets that its root qdisc has sent.
sent_by_qdisc() {
  ip netns exec "h$1" tc -s qdisc show dev wire root | awk '/ Sent / { print $2; exit }'
}
netdev_octets() { ip netns exec "h$1" cat "/sys/class/net/$2/statistics/$3_bytes"; }
# carried HOST NETDEV: whether the netdev has sent at least a MiB.
carried() { [ "$(netdev_octets "$1" "$2" tx)" -ge 1048576 ]; }
# tcp_counter HOST NAME: prints a counter of TCP or IP.
tcp_counter() { ip netns exec "h$1" nstat -asz "$2" | awk 'END { print $2 }'; }

# --- transfers ---

# transfer ADDRESS [SECONDS] [SERVER-NAMESPACE] [CLIENT-NAMESPACE]: Sends, Writes and Reads, which
# are compared; 8 MiB altogether.
transfer() {
  check "data to $1 arrive unchanged" \
    bounded "${2:-60}" verbs-test run integrity bulk both-ways --addr "$1" --server-ns "${3:-h2}" \
    --client-ns "${4:-h1}" --seed 7 --count 4
}

# transfer_by_hand ADDRESS: between queue pairs that are connected by hand, and find each other in
# either order.
transfer_by_hand() {
  check "... also by hand" \
    bounded 120 verbs-test run hand-connect hand-order hand-many --addr "$1" --server-ns h2 \
    --client-ns h1 --count 8
}

# start_stream ADDRESS [OPTION...]: starts a stream from h1 to h2, which compares the data on
# arrival. Options are the sender's.
start_stream() {
  ip netns exec h2 rdma-stream listen "$1" 7480 >"$WORK/server" 2>&1 &
  check "the receiver listens" until_true 20 listening h2 7480 || return
  ip netns exec h1 rdma-stream connect "$1" 7480 "${@:2}" >"$WORK/client" 2>&1 &
  sender=$!
  check "a stream to $1 runs" until_true 30 grep -q first "$WORK/server"
}
ended() { grep -hv first "$WORK/server" "$WORK/client"; }
# messages: prints how many messages all devices have received.
messages() {
  rdma statistic show |
    awk '{ for (i = 1; i < NF; i++) if ($i == "rx_sends") sum += $(i + 1) } END { print sum + 0 }'
}
more_messages() { ended || [ "$(messages)" -gt "$1" ]; }
# goes_on TEXT: waits for more messages than can have been in transit.
goes_on() { check "$1" eval "until_true 90 more_messages $(($(messages) + 100)) && ! ended"; }
# end_stream: the sender ends the stream; no message was changed.
end_stream() {
  check "the stream has not ended by itself" eval '! ended'
  kill $sender
  check "all data arrived unchanged" \
    eval 'until_true 30 grep "ended: " "$WORK/server" && ! grep changed "$WORK/server"'
}
# tcp_of_stream REGEX: whether the kernel shows this of the sender's connection.
tcp_of_stream() { in1 ss -Htino dport = :7480 | grep -E -- "$1"; }
