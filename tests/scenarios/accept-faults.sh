#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A listener that cannot accept for a while, for instance without memory: afterwards it serves the
# waiting clients by itself.
. "$(dirname "$0")/../lib/scenario.sh"
begin "accepting fails"
[ "$LINKTYPE" = iwmpa ] || skip "about iwmpa's own listeners"
load_modules startup_timeout=200 || finish # longer than the listener cannot accept
two_hosts || finish
check "load a module that makes kernel_accept() fail" \
  insmod "$IWMPA_DIR/tools/kverbs/kfault.ko" || finish
fault=/sys/module/kfault/parameters

for c in client second third; do talk_to $c h1 rdma-target; done
talk_to server h2 rdma-target # the last one, so that no other program keeps its input open
answers "a listener" server "listen 10.9.0.2 7471" "^= ok port=7471"

failed() { [ "$(cat $fault/failed)" -ge "$1" ]; }
# fails ERRNO COUNT: makes the next COUNT calls of kernel_accept() fail.
fails() { echo "$1" >$fault/error; echo 0 >$fault/failed; echo "$2" >$fault/accepts; }

# connects TEXT: the client must be connected before its startup timer expires.
connects() {
  until_true 10 heard server "event=CONNECT_REQUEST" || {
    fail "$1: no request: $(lines_of client)"
    return
  }
  echo accept >&"${told_by[server]}"
  check "$1" until_true 10 heard client "event=ESTABLISHED"
}
ends() {
  answers "  and ends" client "reset" "^= ok"
  answers "  on both sides" server "reset" "^= ok"
}
connect() {
  tell server "sum 0" # no effect: heard looks at the output from here on
  tell "${1:-client}" "connect 10.9.0.2 7471"
}

# ENOMEM, EACCES, ECONNABORTED
for error in 12 13 103; do
  fails $error 1
  connect
  connects "a connection behind errno $error"
  check "  which kernel_accept() returned" failed 1
  ends
done

fails 12 1000000
connect
check "no memory for a while: the listener tries again" until_true 10 failed 5
milliseconds() { echo $((${EPOCHREALTIME//[.,]/} / 1000)); }
from=$(milliseconds)
echo 0 >$fault/failed
check "and again" until_true 10 failed 30
tries=$(cat $fault/failed) took=$(($(milliseconds) - from))
say "$tries attempts in $took ms"
check "it does not try too often" test $((tries * 1000)) -le $((took * 30))
fails 12 0
connects "with memory again it serves the client that has waited"
ends

say "three Requests arrive before the first accept, and only one startup may be half-open"
set_parameter max_half_open 1
fails 12 1000000
for c in client second third; do connect $c; done
waiting() { [ "$(in2 ss -Htn state established "sport = :7471" | awk '$1 > 0' | wc -l)" = "$1" ]; }
check "they are in TCP's queues" until_true 10 waiting 3
fails 12 0
requests() { [ "$(heard server event=CONNECT_REQUEST | wc -l)" = "$1" ]; }
check "the program gets each of them" until_true 10 requests 3
for c in client second third; do echo reject >&"${told_by[server]}"; done
for c in client second third; do
  check "  and is answered" until_true 10 heard $c "event=REJECTED status=-111"
  tell $c reset
done

fails 12 1000000
connect
check "no memory again" until_true 10 failed 3
# End of input: the program closes its listener and exits.
hang_up server
check "a listener that waits to try again is closed" until_true 10 not_listening h2 7471
check "the client that has waited gets an event" \
  until_true 20 heard client "event=(REJECTED|UNREACHABLE)"
echo 0 >$fault/failed
sleep 1
check "the listener does not try again" test "$(cat $fault/failed)" = 0
check "the module unloads" rmmod kfault
finish
