#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA with Kerberos: krb5, krb5i and, where it works over TCP, krb5p, with data compared.
# The server restarts under I/O, a capture shows what the wire carries, and a user without a ticket
# and a mount without Kerberos are refused.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/nfs.sh"
begin "NFS over RDMA with Kerberos"
nfs_needs
modprobe -n -q rpcsec_gss_krb5 || skip "this kernel has no rpcsec_gss_krb5"
for c in krb5kdc kdb5_util kadmin.local kinit rpc.gssd rpc.svcgssd rpc.idmapd tcpdump setpriv; do
  command -v $c >/dev/null ||
    skip "$c is missing: krb5-kdc, krb5-admin-server, krb5-user, nfs-common, tcpdump"
done
load_modules || finish
nfs_two_hosts || finish
server_address=server.test

user=1234 pipes=/run/nfs-test-pipes
export KRB5_CONFIG=$WORK/krb5.conf KRB5_KDC_PROFILE=$WORK/kdc.conf
chmod 755 "$WORK" # for the user's programs
# extend FILE: adds standard input to /etc/FILE, until restore_files.
extend() {
  { cat "/etc/$1"; cat; } >"$WORK/$1" && chmod 644 "$WORK/$1" && mount --bind "$WORK/$1" "/etc/$1"
}
extend_files() {
  printf '%s\n' "10.9.0.1 server.test" "10.9.0.2 client.test $(hostname)" | extend hosts &&
    echo "alice:x:$user:$user::/:/bin/sh" | extend passwd &&
    printf '[General]\nDomain = test\nLocal-Realms = TEST\n' | extend idmapd.conf
}
restore_files() { umount /etc/hosts /etc/passwd /etc/idmapd.conf; }

manage() { bounded 60 kadmin.local -r TEST -q "$1" && echo; }
kdc_answers() { in1 ss -Hlun "sport = :88" | grep -q .; }
make_realm() {
  cat >"$KRB5_CONFIG" <<CONF
[libdefaults]
	default_realm = TEST
	dns_lookup_kdc = false
	dns_canonicalize_hostname = false
[realms]
	TEST = {
		kdc = 10.9.0.1
	}
[domain_realm]
	.test = TEST
CONF
  cat >"$KRB5_KDC_PROFILE" <<CONF
[realms]
	TEST = {
		database_name = $WORK/principal
		key_stash_file = $WORK/stash
	}
CONF
  bounded 100 kdb5_util create -s -r TEST -P master && manage "addprinc -pw secret alice" ||
    return 1
  manage "addprinc -randkey nfs/server.test" &&
    manage "ktadd -k $WORK/server.keytab nfs/server.test" || return 1
  manage "addprinc -randkey host/client.test" &&
    manage "ktadd -k $WORK/client.keytab host/client.test" || return 1
  in1 krb5kdc && until_true 30 kdc_answers
}

# The kernel asks these daemons for tokens and names, each in the namespace of its host.
start_daemons() {
  modprobe rpcsec_gss_krb5 && mkdir -p $pipes || return 1
  KRB5_KTNAME=$WORK/server.keytab "${in_server[@]}" rpc.svcgssd &&
    "${in_server[@]}" rpc.idmapd -S || return 1
  "${in_client[@]}" mount -t rpc_pipefs rpc_pipefs $pipes &&
    "${in_client[@]}" rpc.gssd -p $pipes -k "$WORK/client.keytab"
}
stop_daemons() {
  killall rpc.gssd rpc.svcgssd rpc.idmapd krb5kdc
  until_true 30 umount $pipes
}
# Only with Kerberos.
export_again() {
  "${in_server[@]}" exportfs -o "rw,sec=krb5:krb5i:krb5p,no_subtree_check,fsid=0" "*:$export_dir" &&
    chmod 1777 $export_dir
}

as=(setpriv --reuid "$user" --regid "$user" --clear-groups)
as_alice() { bounded 120 "${as[@]}" "$@"; }
log_in() { echo secret | bounded 60 "${in_client[@]}" "${as[@]}" kinit alice; }

works_over_tcp() {
  bounded 90 "${in_client[@]}" mount -t nfs -o "vers=4.2,proto=tcp,sec=$1" \
    $server_address:/ $mount_dir && umount $mount_dir
}

# The text is in the packets unless they are encrypted.
text=iwmpa-Kerberos-test
capture() {
  local tcpdump
  rm -f "$WORK/tcpdump" "$WORK/capture"
  "${in_client[@]}" tcpdump -i wire --immediate-mode -s 0 -B 65536 -U -w "$WORK/capture" \
    tcp port 20049 2>"$WORK/tcpdump" &
  tcpdump=$!
  until_true 20 grep -q "listening on" "$WORK/tcpdump" || return 1
  yes $text | head -c 64k | as_alice dd of=$mount_dir/text conv=fsync status=none &&
    grep -q $text $export_dir/text || return 1
  kill -INT $tcpdump
  wait $tcpdump
  grep -q "^0 packets dropped by kernel" "$WORK/tcpdump" &&
    [ "$(stat -c %s "$WORK/capture")" -gt 65536 ]
}
shows_text() { capture && grep -aq $text "$WORK/capture"; }
hides_text() { capture && ! grep -aq $text "$WORK/capture"; }

check "names" extend_files
check "a realm" make_realm || finish
check "a server on h1" nfs_make_server || { nfs_remove_server; finish; }
check "its export wants Kerberos" export_again
check "the daemons" start_daemons
refused "mount without Kerberos" "not permitted|denied" nfs_attach 4.2 sec=sys
check "krb5i works over TCP" works_over_tcp krb5i
kinds="krb5 krb5i"
# With Linux 6.1.192 a mount with krb5p fails with EIO, over TCP too.
if works_over_tcp krb5p >"$WORK/krb5p" 2>&1; then kinds+=" krb5p"
elif [[ $(uname -r) == 6.1.* ]]; then book ok krb5p "SKIP fails over TCP: $(tail -1 "$WORK/krb5p")"
else fail "krb5p works over TCP: $(tail -1 "$WORK/krb5p")"
fi
for security in $kinds; do
  say "sec=$security"
  check "mount" nfs_attach 4.2 sec=$security || continue
  check "its transport is RDMA" nfs_over_rdma
  check "it is mounted so" grep " $mount_dir nfs4.*,sec=$security," /proc/mounts
  if [ $security = krb5 ]; then
    refused "a user without a ticket" "denied|expired" as_alice touch $mount_dir/none
    check "the user gets a ticket" log_in
  fi
  check "16 MiB in 4 KiB pieces, compared" write_and_read 4096 $export_dir
  check "16 MiB in 1 MiB pieces, compared" write_and_read 1048576 $export_dir
  check "the file is the user's" test "$(stat -c %u $export_dir/data)" = $user
  check "200 files made, renamed, removed" many_files $export_dir
  case $security in
  krb5p) check "the wire does not show the data" hides_text ;;
  *) check "the wire shows the data" shows_text ;;
  esac
  [ $security != krb5i ] || check "the server restarts while a file is written" restart_under_io
  check "unmount" bounded 60 umount $mount_dir
done
check "the daemons stop" stop_daemons
rm -f /tmp/krb5cc_$user /tmp/krb5ccmachine_TEST
check "names are as before" restore_files
nfs_end
finish
