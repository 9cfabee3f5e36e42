# SPDX-License-Identifier: GPL-2.0
# Sourced by guest-storage: NFS 4.2 from a tmpfs, with the sysctl values of the package.
# shellcheck shell=bash

nfs_made=
nfs_make() {
  [ -z "$nfs_made" ] || return 0
  modprobe -a rpcrdma nfsd nfsv4 && sysctl -qp "$here/../../tools/nfs/10-iwmpa-nfs.conf" || return 1
  mkdir -p /run/bench-export /run/bench-mount /run/rpc_pipefs
  mount -t tmpfs -o size=600m tmpfs /run/bench-export &&
    head -c 64M /dev/urandom >/run/bench-export/f || return 1
  mount -t nfsd nfsd /proc/fs/nfsd && mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs || return 1
  exportfs -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 '*:/run/bench-export' &&
    rpc.mountd -N 3 -N 2 || return 1
  echo 10 >/proc/fs/nfsd/nfsv4gracetime
  echo 10 >/proc/fs/nfsd/nfsv4leasetime
  mkdir -p /var/lib/nfs/nfsdcld && nfsdcld || return 1 # or 7.3 never lets a grace period be ended
  rpc.nfsd -N 3 -V 4.2 2 || return 1
  nfs_made=1
}
# Kerberos: a realm, and the daemons that the kernel asks for tokens. This host is both ends, so one
# key serves both. A ticket lasts longer than the hours by which the clock jumps.
krb5_make() {
  export KRB5_CONFIG=/run/krb5.conf KRB5_KDC_PROFILE=/run/kdc.conf
  hostname server.test && echo "$address server.test" >>/etc/hosts || return 1
  cat >$KRB5_CONFIG <<CONF
[libdefaults]
	default_realm = TEST
	dns_lookup_kdc = false
	dns_canonicalize_hostname = false
	ticket_lifetime = 365d
[realms]
	TEST = {
		kdc = $address
	}
[domain_realm]
	.test = TEST
CONF
  cat >$KRB5_KDC_PROFILE <<CONF
[realms]
	TEST = {
		database_name = /run/krb5-principal
		key_stash_file = /run/krb5-stash
		max_life = 365d
	}
CONF
  kdb5_util create -s -r TEST -P master &&
    kadmin.local -r TEST -q 'addprinc -randkey nfs/server.test' &&
    kadmin.local -r TEST -q 'ktadd -k /run/krb5-keytab nfs/server.test' && krb5kdc || return 1
  # A server's udev loads the fastest hash functions and ciphers that its CPU has. Linux 7 has them
  # built in.
  modprobe -q -a sha1-ssse3 sha512-ssse3 aesni-intel
  modprobe rpcsec_gss_krb5 && KRB5_KTNAME=/run/krb5-keytab rpc.svcgssd &&
    rpc.gssd -k /run/krb5-keytab || return 1
  chmod 666 /run/bench-export/f # the server maps every client to nobody
}
# nfs_krb5_make METHOD: krb5i or krb5p.
nfs_krb5_made=
nfs_krb5_make() {
  [ -z "$nfs_krb5_made" ] || return 0
  exportfs -o rw,sec=krb5i:krb5p,insecure,no_subtree_check,fsid=0 '*:/run/bench-export' &&
    krb5_make || return 1
  # The first request makes the daemons read their libraries from the host. The clock jumps beyond
  # the kernel's timeouts meanwhile.
  if mount -t nfs -o "vers=4.2,sec=$1" server.test:/ /run/bench-mount; then
    umount /run/bench-mount
  fi
  nfs_krb5_made=1
}
nfs_attach() {
  local protocol=proto=tcp server=$address
  nfs_make || return 1
  case $1 in
  tcp-krb5*) nfs_krb5_make "${1#*-}" && protocol+=,sec=${1#*-} server=server.test || return 1 ;;
  tcp-tls)
    tls_make && protocol+=,xprtsec=tls || return 1
    # see nvme_attach
    if mount -t nfs -o "vers=4.2,$protocol" $server:/ /run/bench-mount; then
      umount /run/bench-mount
    fi
    ;;
  tcp*) ;;
  *)
    protocol=proto=rdma,port=20049
    grep -q rdma /proc/fs/nfsd/portlist || echo "rdma 20049" >/proc/fs/nfsd/portlist || return 1
    ;;
  esac
  [ "$(cat /proc/fs/nfsd/v4_end_grace)" = Y ] || echo Y >/proc/fs/nfsd/v4_end_grace
  mount -t nfs -o "vers=4.2,$protocol,rsize=1048576,wsize=1048576" $server:/ /run/bench-mount ||
    return 1
  file=/run/bench-mount/f
}
nfs_detach() { umount /run/bench-mount; }
# Close the server's listener, which is on the device that will be removed.
nfs_end() {
  [ -z "$nfs_made" ] || { rpc.nfsd 0 && rpc.nfsd -N 3 -V 4.2 2; }
}
