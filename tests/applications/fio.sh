#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fio's rdma engine: all verbs, several jobs and block sizes, and data that the receiver verifies.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "fio's rdma engine"
has fio || skip "fio is missing"
load_modules || finish
two_hosts || finish

# transfer TEXT VERB SIZE BLOCK DEPTH [OPTION...]: the options are for both ends. fio has no flow
# control of its own: SENDs overtake the server's DEPTH receives, and wait.
transfer() {
  local text=$1 verb=$2 size=$3 bs=$4 depth=$5; shift 5
  printf '%s\n' '[r]' ioengine=rdma port=8888 "bs=$bs" "size=$size" "iodepth=$depth" rw=read "$@" \
    >"$WORK/server.fio"
  printf '%s\n' '[w]' ioengine=rdma hostname=10.9.0.2 port=8888 "verb=$verb" "bs=$bs" "size=$size" \
    iodepth=16 rw=write "$@" >"$WORK/client.fio"
  over_rdma "$text" 120 8888 h2 "fio $WORK/server.fio" h1 "fio $WORK/client.fio"
}

for markers in N Y; do
  set_parameter markers $markers || break
  say "Markers: $markers"
  for verb in write read; do
    transfer "64 MiB in 64 KiB, verb $verb" $verb 64m 64k 32
    transfer "8 MiB in 4 KiB, verb $verb" $verb 8m 4k 32
  done
  transfer "8 MiB in 64 KiB, verb send" send 8m 64k 4
  transfer "1 MiB in 4 KiB, verb send" send 1m 4k 4
  transfer "8 MiB in 64 KiB, verb send, verified by the receiver" \
    send 8m 64k 4 verify=crc32c verify_fatal=1
done
finish
