#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Debian's dkms with dkms.conf when a kernel is installed. For a kernel that the code does not support dkms must build nothing and return
# no error, or the kernel's package would stay half-configured; for the others it must build the modules. The package of dkms is unpacked
# and not installed, because an installation would enable a service. The test has trees of its own, fake kernels, and a make that fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

program=$CACHE/dkms/usr/sbin/dkms
[ -e "$program" ] || (
  mkdir -p "$work/package" "$CACHE"
  cd "$work/package"
  apt-get -q download dkms >"$work/log" 2>&1 || { cat "$work/log"; die "cannot download the package dkms"; }
  dpkg -x dkms_*.deb root
  rm -rf "$CACHE/dkms" && mv root "$CACHE/dkms")

mkdir -p "$work"/{bin,source,tree,install} "$work/source/iwmpa-0"
sed 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION=0/' dkms.conf >"$work/source/iwmpa-0/dkms.conf"
cp Kbuild "$work/source/iwmpa-0/"
# dkms insists on root, which it does not need in these trees: fake id. The fake make leaves a file when it is called.
printf '#!/bin/sh\necho 0\n' >"$work/bin/id"
printf '#!/bin/sh\ncase "$*" in *" modules") : >%s/asked ;; esac; exit 2\n' "$work" >"$work/bin/make"
chmod +x "$work"/bin/*

# dkms ARGUMENT...
dkms() {
  rm -f "$work/asked"
  PATH=$work/bin:$PATH timeout 60 bash "$program" --dkmstree "$work/tree" --sourcetree "$work/source" --installtree "$work/install" "$@" >"$work/log" 2>&1
}
complain() {
  echo "dkms with $*:"
  sed 's/^/    /' "$work/log"
  bad=1
}
# left_alone KERNEL [ARCHITECTURE]
left_alone() {
  dkms autoinstall -k "$1" ${2:+-a "$2"} || complain "kernel $1: fails with $?"
  [ ! -e "$work/asked" ] || complain "kernel $1: builds"
}
built() {
  dkms autoinstall -k "$1" --kernelsourcedir "$work/headers" && complain "kernel $1: does not see that make fails"
  [ -e "$work/asked" ] || complain "kernel $1: does not build"
}

dkms add iwmpa/0 || complain "add: fails"
left_alone 6.2.0-1-amd64
# Another kernel has the modules: dkms calls make in its name.
mkdir -p "$work/headers/include" "$work/tree/iwmpa/0/6.1.0-1-amd64/$(uname -m)/module"
touch "$work/tree/iwmpa/0/6.1.0-1-amd64/$(uname -m)/module"/{mpa,iwmpa}.ko
left_alone 6.2.0-1-amd64
left_alone 7.20.1+deb13-amd64
left_alone 6.1.99-686-pae i686
for series in $(sed -n 's/^IWMPA_KERNELS ?= //p' Kbuild); do built "$series.99-amd64"; done
exit $bad
