#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The tools that show devices and connections (ibv_devinfo, rdma resource, rdma statistic,
# iwmpa-top), and the settings of one device.
. "$(dirname "$0")/../lib/scenario.sh"
begin "what the tools show"
load_modules || finish
two_hosts || finish

check "ibv_devices lists both" bash -c 'ibv_devices | grep -c "rd[12]" | grep -qx 2'
check "ibv_devinfo -v" ibv_devinfo -v -d rd1
check "it says iWARP and active" \
  bash -c 'ibv_devinfo -d rd1 | grep -q iWARP && ibv_devinfo -d rd1 | grep -q PORT_ACTIVE'
check "max_sge is what libsiw has room for" \
  bash -c 'ibv_devinfo -v -d rd1 | grep -qE "max_sge:[[:space:]]+6$"'
check "its limits are not zero" \
  bash -c '! ibv_devinfo -v -d rd1 | grep -E "max_(qp|qp_wr|sge|cq|cqe|mr|pd|srq|qp_rd_atom):" |
  grep -qE ":[[:space:]]+0$"'

say "resources of a running connection"
for h in 1 2; do talk_to t$h h$h rdma-target; done
ask t2 "listen 10.9.0.2 7471" >"$WORK/out"
check "a listener" until_true 10 listening h2 7471

# has_seen NAME EVENT NUMBER: whether the program has printed the event this often.
has_seen() { [ "$(grep -c "$2" "$WORK/$1.out")" = "$3" ]; }
# connect NUMBER: makes a connection, which is the one with this number.
connect() {
  ask t1 "connect 10.9.0.2 7471" >"$WORK/out"
  check "connection $1" until_true 10 has_seen t2 CONNECT_REQUEST "$1"
  ask t2 accept >"$WORK/out"
  check "it is established" until_true 10 \
    eval "has_seen t1 ESTABLISHED $1 && has_seen t2 ESTABLISHED $1"
}
# again NUMBER: the same, after both have destroyed the last one. If the server read its reset after
# the new Request, it would reject that.
again() {
  ask t1 reset >"$WORK/out"
  ask t2 reset >"$WORK/out"
  connect "$1"
}
connect 1
check "a QP with its process" \
  bash -c "rdma resource show qp link rd1 | grep -E 'state RTS' | grep -q rdma-target"
check "CQs" bash -c 'rdma resource show cq dev rd1 | grep -q cqe'
check "MRs" bash -c 'rdma resource show mr dev rd1 | grep -q mrlen'
check "PDs" bash -c 'rdma resource show pd dev rd1 | grep -q pdn'
check "connection ids" bash -c 'rdma resource show cm_id | grep -q LISTEN'
check "counts" bash -c 'rdma resource show rd1 | grep -qE "qp [1-9]"'
check "the listing is in JSON too" bash -c 'rdma -j resource show qp | grep -q lqpn'

# on_terminal KEYS ARGUMENT...: runs iwmpa-top on a terminal of 200 columns and types KEYS.
on_terminal() {
  local keys=$1; shift
  printf %s "$keys" |
    TERM=xterm COLUMNS=200 LINES=50 bounded 60 script -qec "ip netns exec h1 iwmpa-top $*" /dev/null
}
shows_connection() {
  on_terminal '' --count 1 --interval 0.1 | grep 10.9.0.2:7471 | grep -q rdma-target
}
if [ "$LINKTYPE" = iwmpa ]; then
  say "iwmpa-top"
  check "as text: a device with one connection" bash -c "iwmpa-top | grep -qE '^rd1 .* ACTIVE +1 '"
  check "JSON: the connection, with TCP's times" bash -c \
    "ip netns exec h1 iwmpa-top --json | grep -q \
    '\"remote\":\"10.9.0.2:7471\",\"process\":\"rdma-target.[0-9]*.\",\"tcp\":{\"busy_ms\"'"
  check "for Prometheus: the open connection of the device in its namespace" bash -c \
    "ip netns exec h1 iwmpa-top --prometheus |
    grep -qx 'iwmpa_open_connections{device=\"rd1\",netdev=\"wire\"} 1'"
  check "JSON: the parameters of the connection" \
    bash -c "iwmpa-top --json | grep -q '\"drv_mulpdu\":1442'"
  check "CSV: rates in the second snapshot only" bash -c \
    "iwmpa-top --csv --count 2 --interval 0.1 |
    grep -c '^[^,]*,rd1,,tx_octets,[0-9]*,[0-9]' | grep -qx 1"
  check "on a terminal" shows_connection
  check "q leaves" on_terminal q --interval 3600
fi

say "parameters and counters of a connection"
# shown DEVICE KEY VALUE: whether the connection's queue pair shows this value. Debian 13's rdma
# folds long lines.
shown() {
  rdma -dd resource show qp link "$1" | sed -z 's/ *\n[ \t]\+/ /g' >"$WORK/qps"
  grep 'state RTS' "$WORK/qps" | grep -qE " drv_$2 $3( |\$)" || {
    echo "not '$2 $3':"
    cat "$WORK/qps"
    return 1
  }
}
if [ "$LINKTYPE" = iwmpa ]; then
  check "the role of each end" eval 'shown rd1 role Initiator && shown rd2 role Responder'
  for fact in "revision 2" "tx_markers 0" "rx_markers 0" "crc 1" "ird 16" "ord 16" "emss 1448" \
    "mulpdu 1442" "large_fpdus 0" "blocked no"; do
    check "$fact" eval "shown rd1 $fact && shown rd2 $fact"
  done
  check "the ready-to-receive message" \
    until_true 10 eval 'shown rd1 tx_fpdus 1 && shown rd2 rx_fpdus 1'
  check "20 octets" eval 'shown rd1 tx_octets 20 && shown rd2 rx_octets 20'
  ask t1 "send 3000 1" >"$WORK/out"
  check "a message" until_true 10 grep -q "op=RECV status=SUCCESS" "$WORK/t2.out"
  check "3 FPDUs" until_true 10 \
    eval 'shown rd1 tx_fpdus 4 && shown rd2 rx_fpdus 4 && shown rd2 rx_octets 3092 &&
    shown rd1 tx_octets 3092'
  check "the peer has sent none" eval 'shown rd2 tx_fpdus 0 && shown rd1 rx_fpdus 0'
  check "the sender was never blocked" eval 'shown rd1 tx_blocked 0 && shown rd1 tx_blocked_us 0'
  check "the same in JSON" \
    bash -c 'rdma -dd -j resource show qp link rd1 | grep -q "\"drv_mulpdu\":1442"'

  say "settings of one device apply to the next connection"
  check "Markers and large FPDUs on h1" \
    eval 'set_device rd1 markers Y && set_device rd1 large_fpdus always'
  check "no CRC on h1" set_device rd1 crc N
  check "this connection is unchanged" \
    eval 'shown rd1 rx_markers 0 && shown rd1 crc 1 && shown rd1 large_fpdus 0'
  check "no CRC on h2" set_device rd2 crc N
  again 2
  check "h1 gets Markers" eval 'shown rd1 rx_markers 1 && shown rd2 tx_markers 1'
  check "h1 sends none" eval 'shown rd1 tx_markers 0 && shown rd2 rx_markers 0'
  check "no CRC" eval 'shown rd1 crc 0 && shown rd2 crc 0'
  check "h1 may send large FPDUs, h2 not" \
    eval 'shown rd1 large_fpdus "[1-9][0-9]*" && shown rd2 large_fpdus 0'

  say "large FPDUs by agreement"
  check "h1 asks, h2 does not agree" set_device rd1 large_fpdus agreed
  again 3
  check "none sends large FPDUs [STA-20]" eval 'shown rd1 large_fpdus 0 && shown rd2 large_fpdus 0'
  check "h2 agrees" set_device rd2 large_fpdus agreed
  again 4
  check "both may [STA-20]" \
    eval 'shown rd1 large_fpdus "[1-9][0-9]*" && shown rd2 large_fpdus "[1-9][0-9]*"'
  check "h1 does not ask" set_device rd1 large_fpdus never
  again 5
  check "none sends large FPDUs" eval 'shown rd1 large_fpdus 0 && shown rd2 large_fpdus 0'
fi

say "counters"
if rdma statistic show link rd1/1 >"$WORK/before" 2>&1 && grep -q fpdu "$WORK/before"; then
  sent=$(counter rd1 tx_octets)
  ask t1 "send 4000 1" >"$WORK/out"
  check "the message arrives" \
    until_true 10 grep -q "op=RECV status=SUCCESS bytes=4000" "$WORK/t2.out"
  has_grown() { [ $(($(counter rd1 tx_octets) - sent)) -ge 4000 ]; }
  check "sending counts" until_true 10 has_grown
else
  [ "$LINKTYPE" != iwmpa ] || fail "rdma statistic shows no FPDU counters: $(cat "$WORK/before")"
fi
hang_up t1 t2
wait
check "no object is left" \
  until_true 10 bash -c '! rdma resource show | grep -E "(qp|cq|mr|cm_id) [1-9]"'
finish
