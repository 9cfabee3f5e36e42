#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernel consumers: NVMe over RDMA, target and host, with data compared. They use what user space cannot: fast registration of
# pages, local and remote invalidation, the DMA key.
# suite: ulps
# timeout: 300
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/nvme-lib.sh"
begin "NVMe over RDMA"
nvme_needs
load_modules || finish
one_host || finish

attach() { bounded 60 bash -c "echo transport=rdma,traddr=10.8.0.1,trsvcid=4420,nqn=$nqn,nr_io_queues=2 >/dev/nvme-fabrics"; }
detach() {
  local c
  for c in /sys/class/nvme/nvme*/delete_controller; do bounded 60 bash -c "echo 1 >$c" || return 1; done
}
write_and_read() {
  dd if=/dev/urandom of="$WORK/data" bs=1M count=16 status=none
  bounded 90 dd if="$WORK/data" of=/dev/nvme0n1 bs="$1" oflag=direct status=none || return 1
  bounded 90 dd if=/dev/nvme0n1 of="$WORK/back" bs="$1" count=$((16 * 1048576 / $1)) iflag=direct status=none || return 1
  cmp "$WORK/data" "$WORK/back" || return 1
  dd if=/dev/ram0 of="$WORK/back" bs=1M count=16 iflag=direct status=none # not what the page cache remembers
  cmp "$WORK/data" "$WORK/back"
}

check "a target" make_target && check "a port" add_port || { remove_target; finish; }
for markers in N Y; do
  if [ $markers = Y ]; then set_parameter markers Y || break; fi
  say "Markers: $markers"
  check "attach" attach || break
  check "the disk is there" until_true 20 test -b /dev/nvme0n1
  check "16 MiB in 128 KiB pieces, compared" write_and_read 131072
  check "16 MiB in 4 KiB pieces, compared" write_and_read 4096
  check "detach" detach
done
say "the link goes while the disk is in use"
if check "attach" attach; then
  until_true 20 test -b /dev/nvme0n1
  bounded 100 dd if=/dev/zero of=/dev/nvme0n1 bs=64k count=1000 oflag=direct status=none 2>/dev/null &
  sleep 1
  check "rdma link delete" bounded 90 rdma link delete rd0
  check "the controller goes with it" until_true 30 no_controller
  wait
fi
nvme_end
finish
