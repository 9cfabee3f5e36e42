#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Open MPI between two hosts, a rank on each, over libfabric's verbs;ofi_rxm: collectives and messages compared, then NetPIPE.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "Open MPI"
has mpirun || skip "openmpi-bin is missing"
has mpi-test || has NPopenmpi || skip "neither mpi-test nor NPopenmpi is there: libopenmpi-dev, netpipe-openmpi"
load_modules || finish
two_hosts || finish
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Replaces ssh: starts mpirun's daemon on a host, whose name it reports.
cat >"$WORK/on_host" <<'END'
#!/bin/bash
host=$1; shift
exec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"
END
chmod +x "$WORK/on_host"
printf 'h1 slots=1\nh2 slots=1\n' >"$WORK/hosts"
mpi() {
  bounded 150 ip netns exec h1 mpirun -np 2 --hostfile "$WORK/hosts" --mca plm_rsh_agent "$WORK/on_host" \
    --mca oob_tcp_if_include wire --mca mpi_yield_when_idle 1 \
    --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' "$@"
}
sent() { counter rd1 tx_octets; }
# sent_more_than OCTETS: whether the ranks have sent more than that over the device, so that no data took another way.
sent_more_than() {
  echo "octets sent: $(($(sent) - octets))"
  [ $(($(sent) - octets)) -gt "$1" ]
}
# NetPIPE prints a line for each size: number, octets, repetitions, and the result.
integrity() {
  mpi NPopenmpi -i -u 65536 -o "$WORK/netpipe" >"$WORK/np" 2>&1 || { cat "$WORK/np"; return 1; }
  [ "$(grep -c 'Integrity check passed' "$WORK/np")" -ge 25 ] || { cat "$WORK/np"; return 1; }
}
bandwidth() {
  mpi NPopenmpi -l 65536 -u 262144 -o "$WORK/netpipe" >"$WORK/np" 2>&1 || { cat "$WORK/np"; return 1; }
  grep -q Mbps "$WORK/np" || { cat "$WORK/np"; return 1; }
}

check "a rank on each host" mpi bash -c 'ip netns identify $$'
check "they are h1 and h2" test "$(grep -xE 'h[12]' "$WORK/out" | sort | tr -d '\n')" = h1h2
for markers in N Y; do
  set_parameter markers $markers || break
  say "Markers: $markers"
  if has mpi-test; then
    octets=$(sent)
    cases "all-reduce, all-to-all, broadcast, messages: compared" mpi mpi-test
    check "... and it went over RDMA" sent_more_than 20000000
  fi
  has NPopenmpi || continue
  octets=$(sent)
  check "NetPIPE: sizes up to 64 KiB, data compared" integrity
  check "... and it went over RDMA" sent_more_than 500000
done
if has NPopenmpi; then
  check "NetPIPE: bandwidth" bandwidth
  grep Mbps "$WORK/np"
fi
finish
