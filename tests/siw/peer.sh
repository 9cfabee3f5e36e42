#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# peer.sh PATTERN...: runs cases of the wire peer against siw, in a guest of `make test
# SUITE=conformance-siw`.
# NEVER in the environment: names (case/role) that must not run.
. "$(dirname "$0")/../lib/scenario.sh"
begin "wire peer against siw: $*"
load_modules || finish
two_hosts || finish
for role in initiator responder; do
  mapfile -t names < <(for pattern; do
    mpa-peer list | awk -v p="$pattern" '$1 ~ "^" p { print $1 }'
  done |
    awk -v never=" ${NEVER:-} " -v role=$role '!index(never, " " $1 "/" role " ")')
  [ ${#names[@]} -gt 0 ] || continue
  cases "siw's peer is the $role" \
    bounded 500 ip netns exec h1 mpa-peer run "${names[@]}" --role $role --siw --startup-bound 30 \
    --addr 10.9.0.2 --own-addr 10.9.0.1 --target "ip netns exec h2 rdma-target"
done
finish
