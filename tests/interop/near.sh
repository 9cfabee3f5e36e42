#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# near.sh NEAR FAR: runs the tests of a pair of guests. NEAR and FAR are the types of the guests'
# devices: iwmpa or siw. This guest is the client. FAR_ARCH: the other guest's architecture, if it
# is not this one's.
. "$(dirname "$0")/../lib/interop-storage.sh"
. "$(dirname "$0")/../lib/interop-connections.sh"
. "$(dirname "$0")/../lib/interop-memory.sh"
mine=$1 theirs=$2
combination="$1-$2"
last=$EPOCHREALTIME

# Writes a line for each result: combination, test, verdict, seconds since the previous line.
book() {
  local now=$EPOCHREALTIME seconds
  seconds=$(awk -v a="$last" -v b="$now" 'BEGIN { printf "%.1f", b - a }')
  last=$now
  booked=$((booked + 1))
  printf '%s\t%s\t%s\t%s\n' "$combination" "${2//[$'\t\n']/ }" "$1" "$seconds" >>"$VMOUT/near.tsv"
  printf '%-4s  %-30s %-56s %6s s\n' "$1" "$combination" "${2%% (*}" "$seconds"
}
good() { book ok "$1"; }
# known KIND TEXT: whether tests/interop/known lists this result as a difference of siw; prints the
# reason.
known() {
  awk -F '\t+' -v k="$1" -v c="$combination" -v t="$2" \
    '$0 !~ /^(#|$)/ && c ~ $1 && t ~ $2 && k == $3 { print $4; found = 1; exit }
    END { exit !found }' "$(dirname "$0")/known"
}
fail() {
  local reason
  if reason=$(known may "$*"); then
    book skip "$* ($reason)"
    return 0
  fi
  book FAIL "$*"
  failures=$((failures + 1))
}

# state PORT PROGRAM: prints information about a program that hangs.
state() {
  ss -tnio | grep -A1 ":$1 "
  rdma resource show qp
  rdma statistic show link rd0/1
  ps -C "$2" -o pid,stat,wchan,args
  dmesg | tail -5
}
both_state() {
  echo "    here:"; state "$@" 2>&1 | sed 's/^/    /'
  echo "    there:"; far "$(declare -f state); state $*" 2>&1 | sed 's/^/    /'
}

# pair TEXT SECONDS PORT SERVER CLIENT: runs the server in the far guest and the client here. Both
# must succeed. perftest may need more than one START.
pair() {
  local text=$1 limit=$2 port=$3 server=$4 client=$5 start=${6:-1} spid status=0 server_status=0 \
    reason
  if reason=$(known never "$text"); then
    book skip "$text ($reason)"
    return 0
  fi
  far "timeout -k 5 $((limit * PATIENCE + 30)) $server" >"$WORK/server" 2>&1 &
  spid=$!
  if ! until_true 30 far "listening '' $port"; then
    far "killall -q ${server%% *}"
    wait $spid
    fail "$text: the server does not listen on port $port: $(tr '\n' ' ' <"$WORK/server")"
    return 1
  fi
  bash -c "$client" >"$WORK/client" 2>&1 &
  if until_true "$limit" gone $!; then
    wait $! || status=$?
  else
    both_state "$port" "${server%% *}"
    kill $!
    wait $! || status=124
  fi
  [ $status = 0 ] || far "killall -q ${server%% *}"
  wait $spid || server_status=$?
  if perftest_again "$start" $status "$WORK/client"; then
    say "$text: perftest's client did not wait for its server: both are started again"
    until_true 30 far "not_listening '' $port" || {
      fail "$text: port $port stays taken"
      return 1
    }
    pair "${@:1:5}" $((start + 1))
    return
  fi
  ended_well "$text" $status $server_status
}

# --- captures of the wire ---

capture_begin() {
  tcpdump -i wire -s 0 -B 16384 -U -w "$WORK/wire.pcap" tcp >"$WORK/tcpdump" 2>&1 &
  tcpdump=$!
  until_true 20 grep -q 'listening on' "$WORK/tcpdump"
}
# capture_end CRC MTU: every octet on the wire belongs to MPA, the CRC is in use or not, as CRC
# says, and segments are of full size.
capture_end() {
  kill -INT $tcpdump
  wait $tcpdump
  mpa-peer capture --quiet --tsv "$WORK/wire.tsv" "$WORK/wire.pcap" || return 1
  awk -F '\t' -v crc="$([ "$1" = N ] && echo 0 || echo 1)" -v mtu="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["crc"] != crc { print "CRC " $at["crc"]; bad = 1 }
    $at["largest_segment"] > largest { largest = $at["largest_segment"] }
    END {
      if (NR < 3 || largest < mtu - 200 || largest > mtu) {
        print "largest segment " largest; bad = 1
      }
      exit bad
    }' "$WORK/wire.tsv"
}

# --- programs ---

startup() { # CRC MTU
  capture_begin
  pair "rping, 30 rounds of 20,000 octets, verified" 60 7174 "rping -s -a $far -V -C 30 -S 20000" \
    "rping -c -a $far -V -C 30 -S 20000"
  check "the wire: FPDUs, CRC as agreed, segments for the MTU" capture_end "$1" "$2"
}
server_first() {
  pair "ucmatose, 20 connections whose server sends first" 60 7472 \
    "ucmatose -p 7472 -b $far -c 20" "ucmatose -p 7472 -s $far -c 20"
}
programs() {
  startup "$@"
  pair "rping, IPv6, wildcard listener" 60 7174 "rping -s -a :: -V -C 10" \
    "rping -c -a $far6 -V -C 10"
  # Not with -e: over iWARP perftest grants receive credits by RDMA WRITE, which does not wake up a
  # sleeping program.
  pair "ib_send_bw" 90 18515 "ib_send_bw -R -F -d rd0 -n 100 -s 65536" \
    "ib_send_bw -R -F -d rd0 -n 100 -s 65536 $far"
  pair "ib_write_bw" 90 18515 "ib_write_bw -R -F -d rd0 -n 100 -s 65536" \
    "ib_write_bw -R -F -d rd0 -n 100 -s 65536 $far"
  pair "ib_read_bw" 90 18515 "ib_read_bw -R -F -e -d rd0 -n 100 -s 65536" \
    "ib_read_bw -R -F -e -d rd0 -n 100 -s 65536 $far"
  server_first
  pair "rstream" 10 7471 "rstream -b $far -S 65536 -I 10 -C 10" \
    "rstream -s $far -S 65536 -I 10 -C 10"
}

# iwmpa-peer, as users run it: on the other side it needs only a program that accepts. With siw,
# only
# the startup cases that it survives run. siw may lose an FPDU that arrives before siw has reported
# the connection to its program, and the test cannot ask a program there.
peer() {
  local options=()
  [ "$theirs" = iwmpa ] || mapfile -t options < <(echo --siw && iwmpa-peer --list |
    awk 'FNR == NR { if (sub("/initiator", "", $1)) known[$1] = 1; next }
      /^startup-/ && !($1 in known) { print $1 }' "$(dirname "$0")/../siw/known" -)
  far "rping -s -P -a $far >/dev/null 2>&1 &" # until it is killed
  check "iwmpa-peer: a listener there" until_true 30 far "listening '' 7174" || return 1
  check "iwmpa-peer: its cases" bounded 300 iwmpa-peer "${options[@]}" --target "$far:7174" &&
    tail -1 "$WORK/out"
  far "killall -q rping"
}

# --- storage ---

nfs() {
  local version
  check "NFS: a server there" far nfs_serve || { far nfs_unserve; return 1; }
  for version; do
    check "NFS $version: mount over RDMA" nfs_mount "$version" || continue
    check "NFS $version: 4 MiB each way, compared" files_travel 262144
    check "NFS $version: 50 files" many_files
    check "NFS $version: unmount" bounded 60 umount $mount_dir
  done
  check "NFS: released on both sides" both_release nfs
}
block() { # ULP
  check "$1: a target there" far "$1_serve" || { far "$1_unserve"; return 1; }
  if check "$1: attach" "$1_connect"; then
    check "$1: 4 MiB in 128 KiB, compared on both sides" blocks_travel "$1" 131072
    check "$1: a filesystem" filesystem_travels "$1"
    check "$1: detach" "$1_detach"
  fi
  check "$1: released on both sides" both_release "$1"
}
both_release() { "$1_release" && far "$1_unserve"; }
storage() {
  nfs 3 4.2
  block nvme
  block iser
}

# --- the run ---

# with CRC MTU FUNCTION...: makes both devices, calls the functions, removes both devices.
with() {
  local crc=$1 mtu=$2 f; shift 2
  combination="$mine-$theirs CRC $crc MTU $mtu${FAR_ARCH:+ $FAR_ARCH}"
  check "devices" both_up "$crc" "$mtu" || return 1
  for f; do $f "$crc" "$mtu"; done
  [ -n "${far_died:-}" ] || check "devices and modules are removed" both_down
}
both_up() { up "$mine" "$1" "$2" && far "up $theirs $1 $2"; }
both_down() { down && far down; }

# Replaces scenario.sh's: the guest ends, so that there is nothing to remove.
take_down() {
  # shellcheck disable=SC2046 # a list of process ids
  kill $(jobs -p) 2>/dev/null
  # End the far guest after its agent has answered and exited, because a guest that has ended sends
  # nothing, not even a FIN.
  [ -n "${far_died:-}" ] || far 'tail -f /dev/null --pid=$$ && echo 0 >/run/end &' 2>/dev/null
}

begin "$mine here, $theirs there"
network 1 || { fail "no network"; finish; }
until_true 60 far true || { fail "the other guest does not answer"; finish; }
steps="Y,1500,programs,connections,removals,storage,peer N,1500,programs Y,9000,programs"
steps+=" N,9000,programs,storage"
case $mine-$theirs in
*siw*) steps+=" only,1500,startup p2p,1500,startup,server_first rev1,1500,startup" ;;
*) steps+=" Y,9000,memory" ;;
esac
for step in ${INTEROP_STEPS:-$steps Y,1500,death}; do
  # shellcheck disable=SC2086 # words
  with ${step//,/ }
done
finish
