#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# MPA with other sides that do not speak it: the device connects to real services, and plain clients
# connect to the device.
. "$(dirname "$0")/../lib/scenario.sh"
begin "services and clients that do not speak MPA"
[ "$LINKTYPE" = iwmpa ] || skip "about iwmpa's own errors and counters"
load_modules || finish
two_hosts || finish

# The services are on h1, the device is rd2 on h2.
mkdir "$WORK/www"
echo hello >"$WORK/www/index.html"
cat >"$WORK/smtp" <<'SMTP'
printf '220 h1 ESMTP\r\n'
while read -r line; do printf '500 what?\r\n'; done
SMTP
cat >"$WORK/inetd.conf" <<CONF
echo stream tcp nowait root internal
discard stream tcp nowait root internal
chargen stream tcp nowait root internal
daytime stream tcp nowait root internal
time stream tcp nowait root internal
smtp stream tcp nowait root /bin/sh sh $WORK/smtp
telnet stream tcp nowait root /bin/busybox busybox telnetd -i
finger stream tcp nowait root /usr/bin/dd dd of=/dev/null bs=24 count=1 status=none
whois stream tcp nowait root /bin/true true
CONF
in1 inetd -i "$WORK/inetd.conf" &
in1 busybox httpd -f -p 80 -h "$WORK/www" &
in1 dnsmasq -k -C /dev/null --no-resolv --no-hosts --pid-file= --user=root \
  --address=/example.org/192.0.2.1 --log-facility=- >"$WORK/dns" 2>&1 &
for port in 7 9 13 19 23 25 37 43 53 79 80; do
  check "port $port of h1 is served" until_true 20 listening h1 $port
done
check "HTTP works" bash -c "ip netns exec h1 curl -s http://10.9.0.1/ | grep -qx hello"
check "DNS over TCP works" \
  bash -c "ip netns exec h1 dig +tcp +short @10.9.0.1 example.org | grep -qx 192.0.2.1"

talk_to device h2 rdma-target
closed_to() { [ -z "$(in2 ss -Htn "dport = :$1"; in1 ss -Htn state established "sport = :$1")" ]; }
mark_log

# connects SERVICE PORT EVENT STATUS [PRIVATE-DATA]: the device's connect must end with exactly this
# event, and with no other.
connects() {
  answers "$1: $3 $4 [ENB-01]" \
    device "connect 10.9.0.1 $2 pd=${5:-}" "^! cm event=$3 status=$4 " 30 || return
  check "$1: the connection is closed [ENB-01]" until_true 10 closed_to "$2"
  check "$1: no connection, no message [ENB-01]" \
    bash -c "! grep -E 'ESTABLISHED|status=SUCCESS' '$WORK/device.out'"
  answers "$1: memory is unchanged [ENB-01]" device "sum 0" "^= ok sum=$untouched"
  answers "$1: the connection is destroyed" device "reset" "^= ok"
}
tell device "connect 10.9.0.1 4444"
until_true 20 heard device "! cm" || fail "connect to port 4444, which has no listener: no event"
tell device "sum 0"
until_true 20 heard device "= ok sum=" || fail "sum 0: no answer"
untouched=$(heard device "= ok sum=" | sed 's/.*sum=//')

say "services that send something"
set_parameter startup_timeout 100
errors=$(counter rd2 startup_errors) timeouts=$(counter rd2 startup_timeouts)
# An echo of our own Request: both sides want to be Initiator (EISCONN, 106). Other text: no MPA key
# (EPROTO, 71). A FIN: ECONNRESET, 104.
connects echo 7 CONNECT_ERROR -106
connects chargen 19 CONNECT_ERROR -71
connects daytime 13 CONNECT_ERROR -71
connects time 37 CONNECT_ERROR -71
connects SMTP 25 CONNECT_ERROR -71
connects telnet 23 CONNECT_ERROR -71
connects "HTTP, asked with an empty line" 80 CONNECT_ERROR -71 0d0a0d0a
connects "a service that reads the Request and closes" 79 REJECTED -104
# The last one counts twice: it could be a peer that knows revision 1 only, so that the device tried
# a second time.
check "each counted as a startup error [ENB-01]" \
  until_true 10 counts rd2 startup_errors $((errors + 9))
check "none had to wait for the timeout [ENB-01]" \
  until_true 10 counts rd2 startup_timeouts "$timeouts"
connects "a service that closes without reading" 43 REJECTED -104
errors=$(counter rd2 startup_errors)

say "services that wait"
set_parameter startup_timeout 2
connects discard 9 UNREACHABLE -110
connects "HTTP, without an end of line" 80 UNREACHABLE -110
connects "DNS over TCP, which takes the key as a length" 53 UNREACHABLE -110
check "each counted as a timeout [ENB-01 ENB-03]" \
  until_true 10 counts rd2 startup_timeouts $((timeouts + 3))
check "none is counted as another error" until_true 10 counts rd2 startup_errors "$errors"

say "plain clients against our listener"
set_parameter startup_timeout 100
answers "a listener" device "listen 10.9.0.2 7471" "^= ok port=7471"
errors=$(counter rd2 startup_errors)
nobody() { [ -z "$(in2 ss -Htn "sport = :7471"; in1 ss -Htn state established "dport = :7471")" ]; }
# fails TEXT COMMAND...: the client's command must end by itself, soon, and with an error.
fails() {
  local text=$1 status=0; shift
  bounded 30 ip netns exec h1 "$@" >"$WORK/client" 2>&1 </dev/null || status=$?
  if [ $status != 0 ] && [ $status != 124 ]; then good "$text [ENB-02]"
  else fail "$text [ENB-02] (status $status): $(cat "$WORK/client")"; fi
  check "$text: the connection is closed [ENB-02]" until_true 10 nobody
}
fails "curl, HTTP" curl -sS http://10.9.0.2:7471/
fails "curl, HTTPS" curl -sS -k https://10.9.0.2:7471/
fails "busybox wget" busybox wget -O - http://10.9.0.2:7471/
fails "dig over TCP" dig +tcp +tries=1 +time=20 -p 7471 @10.9.0.2 example.org
check "each counted as a startup error [ENB-02]" \
  until_true 10 counts rd2 startup_errors $((errors + 4))
errors=$(counter rd2 startup_errors)
nc_lines() { bounded 10 ip netns exec h1 busybox nc 10.9.0.2 7471; }
nc_lines </dev/null >"$WORK/client" 2>&1
check "nc that closes at once: also counted [ENB-02]" \
  until_true 10 counts rd2 startup_errors $((errors + 1))
timeouts=$(counter rd2 startup_timeouts)
set_parameter startup_timeout 2
fails "curl, FTP: a client that waits for a greeting" curl -sS --max-time 25 ftp://10.9.0.2:7471/
check "counted as a timeout [ENB-02]" until_true 10 counts rd2 startup_timeouts $((timeouts + 1))
check "the application gets no event of any of them [ENB-02]" \
  bash -c "! grep CONNECT_REQUEST '$WORK/device.out'"

say "many of them"
errors=$(counter rd2 startup_errors)
set_parameter startup_timeout 100
for _ in $(seq 100); do printf 'EHLO h1\r\n' | nc_lines; done >"$WORK/client" 2>&1
check "a hundred lines of text are a hundred errors [ENB-02]" \
  until_true 20 counts rd2 startup_errors $((errors + 100))
check "no connection is left [ENB-02]" until_true 20 nobody
check "the kernel's log does not fill with all this [ENB-01 ENB-02]" log_grew_less_than 10

check "RDMA still works" \
  bounded 60 verbs-test run graceful --addr 10.9.0.2 --server-ns h2 --client-ns h1
finish
