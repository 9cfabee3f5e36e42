#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# MPA on programs' TCP sockets (TCP_ULP "mpa"), with mpa.ko only: the cases, counters, the output of
# ss, unloading.
# suite: debug kcsan
IWMPA_DIR=${IWMPA_DIR:-$(cd "$(dirname "$0")/../.." && pwd -P)}
MODULES=$IWMPA_DIR/mpa.ko
. "$(dirname "$0")/../lib/scenario.sh"
begin "TCP_ULP mpa"
[ "$LINKTYPE" = iwmpa ] || skip "about mpa.ko's own interface"
load_modules || finish
count() { awk -v n="$1" '$1 == n { print $2 }' /proc/net/mpa_stat; }

mount_cgroups memory || fail "no memory cgroups"
cases "over IPv4" bounded 200 socket-test run
cases "over IPv6" \
  bounded 60 socket-test run start-delayed start-rejected start-rdmac data-records 'error-*' \
  --addr ::1
# mpa-copy, the example program, over a veth pair: a line of text, then the startup of Figure 9,
# then the file.
copy() {
  client_server "$1" 60 7000 h2 "mpa-copy receive 7000 $WORK/copy" \
    h1 "mpa-copy send $2 7000 $WORK/file" &&
    check "$1: the same octets" cmp "$WORK/file" "$WORK/copy"
  rm -f "$WORK/copy"
}
two_hosts_plain || finish
head -c 3000001 /dev/urandom >"$WORK/file"
copy "a file over IPv4 [STA-16 STA-18]" 10.9.0.2
set_parameter markers Y
copy "a file over IPv6, with Markers [STA-16 STA-18 MRK-10]" fd09::2
for h in 1 2; do
  check "h$h closed no socket with a record in it" \
    grep -q "AbortOnClose *0 " <(ip netns exec h$h nstat -asz TcpExtTCPAbortOnClose)
done
: >"$WORK/file"
copy "an empty file" 10.9.0.2
set_parameter markers N

# The window is smaller than an FPDU. No transfer may depend on TCP's timer, which expires after
# 100 seconds here.
in1 sysctl -qw net.ipv4.tcp_rmem="4096 16384 16384" &&
  in1 ip route change local 10.9.0.1 dev wire table local rto_min 100s quickack 1 ||
  fail "nothing is set"
cases "a small window" bounded 60 env PATIENCE=4 ip netns exec h1 \
  socket-test run hostile-window --addr 10.9.0.1

check "connections were counted" test "$(count MpaConnections)" -gt 100
check "bad CRCs were counted [ERR-02]" test "$(count MpaRxCrcErrors)" -gt 0
check "bad Markers were counted [ERR-03]" test "$(count MpaRxMarkerErrors)" -gt 0
check "another namespace has counters of its own" \
  in1 awk '$1 == "MpaConnections" && $2 < 10 { ok = 1 } END { exit !ok }' /proc/net/mpa_stat

# An attached socket holds two references to the module: TCP drops the ULP's while a function of the
# module is still running, so the socket's functions have their own.
bounded 60 mpa-copy receive 7001 "$WORK/copy" &
receiver=$!
check "the receiver listens" until_true 20 listening "" 7001
exec 5<>/dev/tcp/127.0.0.1/7001
echo "PUT 10" >&5
check "a socket is attached, and ss shows it" \
  until_true 20 bash -c 'ss -Htin sport = :7001 | grep -q tcp-ulp-mpa'
check "it holds the module twice" until_true 20 grep -qx 2 /sys/module/mpa/refcnt
refused "mpa while a socket is attached" "in use" rmmod mpa
exec 5>&-
wait $receiver
check "mpa unloads when the last socket is gone" unload_modules
finish
