#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh MODULES PROGRAM OPTION...: runs in the guest of scripts/fuzz. Makes a device and runs
# PROGRAM, one of tools/fuzz/guest. PROGRAM reads its corpus from VMOUT/corpus and adds new inputs
# there; inputs that break something go to VMOUT/found.
set -u
modules=$1 program=$2 status=0; shift 2
ip link add wire type dummy && ip link set wire up && ip addr add 10.8.0.1/24 dev wire || exit
insmod "$modules/mpa.ko" && insmod "$modules/iwmpa.ko" &&
  rdma link add rd0 type iwmpa netdev wire || exit
"$program" -artifact_prefix="$VMOUT/found/" "$@" "$VMOUT/corpus" || status=$?
if rdma resource show qp link rd0 | grep .; then echo "FAULT: QPs are left"; status=1; fi
rdma link delete rd0
rmmod iwmpa mpa || status=$?
exit $status
