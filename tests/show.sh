#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What an administrator sees: ibv_devinfo, rdma resource, rdma statistic.
# timeout: 120
. "$(dirname "$0")/lib/scenario.sh"
begin "what the tools show"
load_modules || finish
two_hosts || finish

check "ibv_devices lists both" bash -c 'ibv_devices | grep -c "rd[12]" | grep -qx 2'
check "ibv_devinfo -v" ibv_devinfo -v -d rd1
check "it says iWARP and active" bash -c 'ibv_devinfo -d rd1 | grep -q iWARP && ibv_devinfo -d rd1 | grep -q PORT_ACTIVE'
check "elements of a work request: what libsiw has room for" bash -c 'ibv_devinfo -v -d rd1 | grep -qE "max_sge:[[:space:]]+6$"'
check "its limits are not zero" bash -c '! ibv_devinfo -v -d rd1 | grep -E "max_(qp|qp_wr|sge|cq|cqe|mr|pd|srq|qp_rd_atom):" | grep -qE ":[[:space:]]+0$"'

say "resources of a running connection"
mkfifo "$WORK/hold"
in2 rdma-target <"$WORK/hold" >"$WORK/t2" 2>&1 &
exec 5>"$WORK/hold"
echo "listen 10.9.0.2 7471" >&5
check "a listener" until_true 10 listening h2 7471
mkfifo "$WORK/hold1"
in1 rdma-target <"$WORK/hold1" >"$WORK/t1" 2>&1 &
exec 6>"$WORK/hold1"
echo "connect 10.9.0.2 7471" >&6
check "its CONNECT_REQUEST" until_true 10 grep -q CONNECT_REQUEST "$WORK/t2"
echo "accept" >&5
check "established" until_true 10 grep -q ESTABLISHED "$WORK/t1"
check "a QP with its process" bash -c "rdma resource show qp link rd1 | grep -E 'state RTS' | grep -q rdma-target"
check "CQs" bash -c 'rdma resource show cq dev rd1 | grep -q cqe'
check "MRs" bash -c 'rdma resource show mr dev rd1 | grep -q mrlen'
check "PDs" bash -c 'rdma resource show pd dev rd1 | grep -q pdn'
check "connection ids" bash -c 'rdma resource show cm_id | grep -q LISTEN'
check "counts" bash -c 'rdma resource show rd1 | grep -qE "qp [1-9]"'
check "the listing is in JSON too" bash -c 'rdma -j resource show qp | grep -q lqpn'

say "counters"
if rdma statistic show link rd1/1 >"$WORK/before" 2>&1 && grep -q fpdu "$WORK/before"; then
  echo "send 100000 1" >&6
  check "the message arrives" until_true 10 grep -q "op=RECV" "$WORK/t2"
  rdma statistic show link rd1/1 >"$WORK/after"
  check "sending counts" bash -c "! cmp -s '$WORK/before' '$WORK/after'"
  sed 's/^/    /' "$WORK/after"
else
  [ "$LINKTYPE" != iwmpa ] || fail "rdma statistic shows no FPDU counters: $(cat "$WORK/before")"
fi
exec 5>&- 6>&-
wait
check "nothing is left of it" until_true 10 bash -c '! rdma resource show | grep -E "(qp|cq|mr|cm_id) [1-9]"'
finish
