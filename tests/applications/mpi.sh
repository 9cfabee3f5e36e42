#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Open MPI between two hosts. Over libfabric's verbs;ofi_rxm, a rank on each: collectives and
# messages compared, then NetPIPE. Over UCX, which connects queue pairs by hand, two ranks on each:
# one is killed in the end.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/apps.sh"
begin "Open MPI"
has mpirun || skip "openmpi-bin is missing"
has mpi-test || has NPopenmpi ||
  skip "neither mpi-test nor NPopenmpi is there: libopenmpi-dev, netpipe-openmpi"
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
# start RANKS OPTION... PROGRAM...: half of the ranks on each host
start() {
  printf 'h%d slots='$(($1 / 2))'\n' 1 2 >"$WORK/hosts"
  bounded 150 ip netns exec h1 mpirun -np "$1" --hostfile "$WORK/hosts" \
    --mca plm_rsh_agent "$WORK/on_host" \
    --mca oob_tcp_if_include wire --mca mpi_yield_when_idle 1 "${@:2}"
}
mpi() { start 2 --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' "$@"; }
sent() { counter rd1 tx_octets; }
# sent_more_than OCTETS: whether the ranks have sent more than that over the device, so that no data
# took another way.
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
  mpi NPopenmpi -l 65536 -u 262144 -o "$WORK/netpipe" >"$WORK/np" 2>&1 || {
    cat "$WORK/np"
    return 1
  }
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

say "over UCX"
ucx=$(dpkg-query -Wf '${Version}' libucx0)
if dpkg --compare-versions "$ucx" lt 1.18; then # Documentation/applications/by-hand.md
  say "not run: UCX $ucx cannot carry its own handshake over TCP"
  finish
fi
set_device rd1 node_type ca && set_device rd2 node_type ca || fail "node_type"
# Without han: in Debian 13's Open MPI it uses a pointer that is not set, before it has sent
# anything.
over_ucx() {
  # shellcheck disable=SC2016 # for the rank's shell
  start 4 --mca pml ucx --mca coll ^han -x UCX_IB_GID_INDEX=2 -x UCX_TLS=rc_verbs,tcp,self \
    bash -c 'UCX_NET_DEVICES=rd${HOSTNAME#h}:1,wire exec "$@"' - "$@"
}
octets=$(sent)
cases "four ranks: collectives and messages, compared" over_ucx mpi-test
check "... and they went over RDMA" sent_more_than 20000000
over_ucx mpi-test endless >"$WORK/endless" 2>&1 &
pid=$!
check "four ranks send without end" until_true 60 grep -q running "$WORK/endless"
check "one of them is killed" pkill -KILL -n -x mpi-test
world_ends() { local status=0; wait $pid || status=$?; cat "$WORK/endless"; return $status; }
refused "the others end" "signal 9" world_ends
check "nothing is left" until_true 20 eval '! rdma resource show | grep -E "(qp|mr) [1-9]"'
finish
