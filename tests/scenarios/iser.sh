#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iSER: LIO's target and the open-iscsi initiator, with data compared; and LIO's TCP listener, which
# takes the port first.
# suite: applications debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/iser.sh"
begin "iSCSI over RDMA (iSER)"
iser_needs
load_modules || finish
one_host || finish

# LIO's own TCP listener has the port of its RDMA one: the failure must be logged, and the TCP
# listener must keep working.
says_who_has_the_port() {
  local in_use="rd0: cannot listen on $portal: a TCP socket has this port"
  mkdir "$tpg/np/$portal" || return 1
  ! echo 1 2>/dev/null >"$tpg/np/$portal/iser" || return 1
  dmesg | grep -F "$in_use" || return 1
  listening "" ${portal#*:} || return 1
  rmdir "$tpg/np/$portal"
}
write_and_read() {
  local d
  d=$(iscsi_disk_of iser)
  dd if=/dev/urandom of="$WORK/data" bs=1M count=16 status=none
  bounded 90 dd if="$WORK/data" of="$d" bs="$1" oflag=direct status=none || return 1
  bounded 90 dd if="$d" of="$WORK/back" bs="$1" count=$((16 * 1048576 / $1)) iflag=direct \
    status=none || return 1
  cmp "$WORK/data" "$WORK/back" && cmp -n 16777216 "$WORK/data" $iser_file
}

check "a target" iser_make_target || { iser_remove_target; finish; }
check "a portal whose port TCP has is refused, and the log says why" says_who_has_the_port
check "an iSER portal" iser_portal $portal || { iser_remove_target; finish; }
iser_start_initiator
check "the initiator is configured for it" iser_tell_target
if check "login over iSER, and a disk" iser_attach; then
  check "16 MiB in 128 KiB pieces, compared" write_and_read 131072
  check "16 MiB in 4 KiB pieces, compared" write_and_read 4096
  check "logout" iser_detach
fi
iser_end
finish
