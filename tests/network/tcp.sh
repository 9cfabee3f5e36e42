#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Transfers with settings of TCP: options, congestion control, memory, sequence numbers that wrap,
# and a clock that is set.
# suite: network
. "$(dirname "$0")/../lib/network.sh"
begin "settings of TCP"
load_modules || finish

# with KEY=VALUE...: a transfer with these sysctl values on both hosts.
with() {
  two_hosts || return
  on_both "$@" || return
  transfer 10.9.0.2
  transfer fd09::2
}
no_timestamps() { with net.ipv4.tcp_timestamps=0; }
no_sack() { with net.ipv4.tcp_sack=0; }
no_window_scaling() { with net.ipv4.tcp_window_scaling=0; }
no_options() { with net.ipv4.tcp_timestamps=0 net.ipv4.tcp_sack=0 net.ipv4.tcp_window_scaling=0; }
small_buffers() { with "net.ipv4.tcp_rmem=4096 8192 8192" "net.ipv4.tcp_wmem=4096 8192 8192"; }
large_buffers() {
  with "net.ipv4.tcp_rmem=4096 33554432 67108864" "net.ipv4.tcp_wmem=4096 33554432 67108864"
}

# congested NAME: a stream with this congestion control, beside a transfer.
congested() {
  on_both net.ipv4.tcp_congestion_control="$1"
  start_stream 10.9.0.2 || return
  check "the stream uses $1" tcp_of_stream "\b$1\b"
  goes_on "the stream goes on"
  end_stream
  transfer 10.9.0.2
}
bbr() {
  need_congestion bbr && need_modules sch_fq sch_netem || return
  two_hosts || return
  check "a wire that delays and loses" qdisc 2 netem delay 2ms loss 1%
  check "fq paces the sender" qdisc 1 fq
  congested bbr
}
dctcp() {
  need_congestion dctcp && need_modules sch_tbf sch_fq_codel || return
  two_hosts || return
  on_both net.ipv4.tcp_ecn=1
  check "a slow wire that marks packets early" \
    eval 'qdisc 1 handle 1: tbf rate 100mbit burst 32k limit 1m &&
    in1 tc qdisc add dev wire parent 1: handle 2: fq_codel ce_threshold 100us'
  congested dctcp
  check "packets were marked" eval '[ "$(tcp_counter 2 IpExtInCEPkts)" -ge 1 ]'
}

# The modules' sockets are of TCP and not of MPTCP: an endpoint for subflows changes nothing.
mptcp() {
  two_hosts || return
  in1 sysctl -qw net.mptcp.enabled=1 && in2 sysctl -qw net.mptcp.enabled=1 || {
    lacks "this kernel has no MPTCP"
    return
  }
  check "h1 offers subflows" \
    eval 'second_wire && ip -n h1 addr add 10.9.6.1/24 dev wire2 &&
    ip -n h2 addr add 10.9.6.2/24 dev wire2 &&
    ip -n h1 mptcp endpoint add 10.9.6.1 dev wire2 subflow &&
    ip -n h2 mptcp limits set subflow 4 && ip -n h1 mptcp limits set subflow 4'
  transfer 10.9.0.2
  check "the connections were plain TCP" eval '[ "$(tcp_counter 1 MPTcpExtMPCapableSYNTX)" = 0 ]'
}

# tcp_mem counts pages, of all namespaces: here above 256 KiB TCP is under pressure.
memory_pressure() {
  local before
  two_hosts || return
  before=$(sysctl -n net.ipv4.tcp_mem)
  check "tcp_mem is small" sysctl -qw net.ipv4.tcp_mem="32 64 65536"
  transfer 10.9.0.2 120
  check "TCP was under pressure" \
    eval '[ $(($(tcp_counter 1 TcpExtTCPMemoryPressures) +
    $(tcp_counter 2 TcpExtTCPMemoryPressures))) -ge 1 ]'
  sysctl -qw net.ipv4.tcp_mem="$before"
}

# A program sets the key of its own socket before it connects, and starts MPA afterwards. A device's
# sockets have no key.
md5() {
  check "signed segments between two programs" bounded 60 socket-test run data-md5
  check "... over IPv6" bounded 60 socket-test run data-md5 --addr ::1
}
tcp_ao() {
  grep -q ' tcp_v4_parse_ao$' /proc/kallsyms || {
    lacks "this kernel has no CONFIG_TCP_AO"
    return
  }
  check "authenticated segments between two programs" bounded 60 socket-test run data-ao
  check "... over IPv6" bounded 60 socket-test run data-ao --addr ::1
}

# --- the clock, and sequence numbers ---

keep_clock() { true_time=$((EPOCHSECONDS - $(uptime_seconds))); }
restore_clock() { check "the clock is right again" date -s "@$((true_time + $(uptime_seconds)))"; }
clock_steps() {
  local to
  two_hosts || return
  start_stream 10.9.0.2 || return
  keep_clock
  for to in "1 hour" "2 days ago" "10 years"; do
    check "the clock is set: $to" date -s "$to"
    goes_on "the stream goes on"
  done
  restore_clock
  end_stream
}

# 2^32 octets take too long here. Linux begins a connection at a hash of its addresses and ports,
# plus the clock in units of 64 ns. One connection shows the hash; then the clock is set back so
# that a later one with the same ports begins less than 96 MiB before the wrap. The RDMA core takes
# no port twice in a row: with two to choose from, they alternate.

# syn HOST: prints the time and the number of the host's first segment.
syn() {
  tcpdump -nnttSr "$WORK/syn" "src 10.9.0.$1" 2>/dev/null |
    sed -n 's/^\([0-9.]*\) .* seq \([0-9]*\),.*/\1 \2/p' | head -1 | grep .
}
client_port() {
  tcpdump -nnr "$WORK/syn" "src 10.9.0.1" 2>/dev/null |
    sed -n 's/.* IP 10\.9\.0\.1\.\([0-9]*\) .*/\1/p' | head -1
}
# time_before_wrap EARLIER: reads such a line, and prints the last time before it at which the
# numbers began 96 MiB before the wrap, less EARLIER seconds.
time_before_wrap() {
  awk -v earlier="$1" '{
    wait = 4294967296 - 100663296 - $2
    if (wait > 0) wait -= 4294967296
    printf "%.6f\n", $1 + wait * 64e-9 - earlier
  }'
}
wraps_soon() { syn "$1" | awk '{ exit $2 < 4294967296 - 100663296 }'; }
# fixed_stream SENDER MESSAGES [TIME]: between two new hosts; sets the clock before it connects.
fixed_stream() {
  local pid options=(--size 65536 --messages "$2")
  [ "$1" = 1 ] || options+=(--reverse)
  two_hosts && in1 sysctl -qw net.ipv4.ip_local_port_range="50001 50002" || return
  ip netns exec h1 tcpdump -i wire -U -w "$WORK/syn" \
    'tcp port 7480 and tcp[tcpflags] & tcp-syn != 0' 2>"$WORK/tcpdump" &
  check "tcpdump captures" until_true 20 grep -q "listening on" "$WORK/tcpdump" || return
  ip netns exec h2 rdma-stream listen 10.9.0.2 7480 "${options[@]}" >"$WORK/server" 2>&1 &
  pid=$!
  check "h2 listens" until_true 20 listening h2 7480 || return
  [ -z "${3:-}" ] || check "the clock is set" date -s "@$3"
  check "h1 connects, and ends well" \
    bounded 120 ip netns exec h1 rdma-stream connect 10.9.0.2 7480 "${options[@]}" ||
    { kill $pid; return 1; }
  check "h2 ends well" wait $pid
  check "$2 messages arrived unchanged" \
    eval "cat $WORK/server && [ \$(grep -hc ' after $2 messages' $WORK/server) = 1 ]"
  check "the first numbers are known" until_true 20 eval 'syn 1 && syn 2'
}
sequence_wrap() {
  local sender=$1 next='' last='' port when late=0
  local -A seen=()
  need_tools tcpdump || return
  keep_clock
  # A busy machine connects seconds after the clock was set: the next attempt sets it back by as
  # much.
  for _ in 1 2 3 4 5 6; do
    [ -z "$last" ] || clear_network
    when=
    [ -z "$next" ] || when=$(time_before_wrap "$late" <<<"${seen[$next]}")
    fixed_stream "$sender" "$([ -n "$when" ] && echo 1600 || echo 16)" "$when" || break
    port=$(client_port)
    seen[$port]=$(syn "$sender")
    [ -z "$when" ] || ! wraps_soon "$sender" || break
    [ -z "$when" ] || late=$(awk -v set="$when" '{ print $1 - set }' <<<"${seen[$port]}")
    next=$last last=$port
  done
  restore_clock
  check "the numbers wrapped: they began at $(syn "$sender" | cut -d ' ' -f 2)" wraps_soon "$sender"
}
sequence_wrap_client() { sequence_wrap 1; }
sequence_wrap_server() { sequence_wrap 2; }

row no-timestamps "tcp_timestamps=0"
row no-sack "tcp_sack=0"
row no-window-scaling "tcp_window_scaling=0"
row no-options "none of the three"
row bbr "BBR, with fq, delay and loss"
row dctcp "DCTCP with ECN: packets are marked"
row mptcp "MPTCP is enabled, with an endpoint for subflows: the connections are plain TCP"
row md5 "TCP-MD5: programs' sockets with a key"
row tcp-ao "TCP-AO: programs' sockets with a key"
row small-buffers "tcp_rmem and tcp_wmem of 8 KiB"
row large-buffers "tcp_rmem and tcp_wmem of 32 to 64 MiB"
row memory-pressure "tcp_mem: TCP is under memory pressure"
row clock-steps "the clock is set forwards and backwards under load"
row sequence-wrap-client "the client's sequence numbers pass 2^32"
row sequence-wrap-server "the server's sequence numbers pass 2^32"
finish
