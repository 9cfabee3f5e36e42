#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the far guest: executes the commands from the control wire until it gets the command to
# end.
. "$(dirname "$0")/../lib/interop.sh"
network 2 || { echo "no network"; exit 1; }
mkfifo /run/end
cat >/run/inetd.conf <<INETD
$control_port stream tcp nowait.4000 root $(dirname "$(readlink -f "$0")")/agent agent
$target_port stream tcp nowait root $TOOLS/verbs/rdma-target rdma-target
INETD
inetd -i /run/inetd.conf & # not as a daemon, so that it keeps this environment
read -r status </run/end
exit "$status"
