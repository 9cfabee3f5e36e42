#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "setup deb" installs the build dependencies of debian/control.
set -u
cd "$(dirname "$0")/../../scripts" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"; chmod +x "$work/$1"; }
fake id 'echo 1000'
fake sudo 'exit 1'
fake dpkg-query 'exit 1' # every package is missing

installs=" $(PATH=$work:$PATH timeout 20 ./setup deb 2>&1 </dev/null) "
bad=0
# dpkg-buildpackage needs build-essential although debian/control does not name it.
for package in build-essential $(sed -n 's/^Build-Depends: //p' ../debian/control | sed 's/([^)]*)//g; s/,//g'); do
  case $package in debhelper-compat) package=debhelper ;; dh-sequence-*) package=dh-${package#dh-sequence-} ;; esac
  [[ $installs == *" $package "* ]] || [[ $installs == *" $package ("* ]] || { echo "'setup deb' does not install $package"; bad=1; }
done
exit $bad
