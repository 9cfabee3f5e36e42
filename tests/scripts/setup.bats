#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
load lib

@test "'setup deb' installs the build dependencies of debian/control" {
  no_packages
  # dpkg-buildpackage needs build-essential although debian/control does not name it.
  # shellcheck disable=SC2046 # a list
  installs deb build-essential $(sed -n 's/^Build-Depends: //p' ../debian/control |
    sed 's/([^)]*)//g; s/,//g; s/debhelper-compat/debhelper/; s/dh-sequence-/dh-/g')
}

@test "setup says on the terminal that it cannot become root, although its commands as root write to a log" {
  no_packages
  run timeout 200 ./setup host </dev/null
  [ "$status" != 0 ]
  [ ${#lines[@]} = 1 ]
  [[ $output == *"needs root for: installing "* ]]
}

# on VERSION SERIES PROVER EMULATOR: kernel and packages are those of the machine's Debian. EMULATOR
# has that of s390x.
on() {
  no_packages
  fake sed <<<"case \"\$*\" in *VERSION_ID*) echo '\"$1\"' ;; *) exec /bin/sed \"\$@\" ;; esac"
  unset KERNEL
  [ "$(. ./lib.sh && echo "$SERIES $KERNEL")" = "$2 $2" ]
  installs uml "linux-source-$2"
  installs prove "$3"
  ARCH=s390x installs vm "$4"
}
@test "for another architecture, only its emulator and compiler are installed: the guest's programs are in a root of its own" {
  no_packages
  ARCH=arm64 installs "vm" qemu-system-arm
  ARCH=arm64 installs "build" g++-aarch64-linux-gnu
  run ./setup list demo tests
  [[ " ${lines[*]} " == *" perftest "*" nfs-kernel-server "* ]]
}

@test "of an architecture's kernels, that with larger pages has a name of its own" {
  local of=$work
  cached() { (IWMPA_CACHE=$of ARCH=$1 KERNEL=$2 && . ./lib.sh && cached_kernel "$2"); }
  for release in 6.12.9+deb13-arm64 6.12.10+deb13-arm64 6.12.10+deb13-arm64-16k \
    6.1.0-50-powerpc64le; do
    mkdir -p "$of/kernel-$release/usr/src/linux-headers-$release"
  done
  [ "$(cached arm64 6.12)" = 6.12.10+deb13-arm64 ]
  [ "$(cached arm64 6.12-16k)" = 6.12.10+deb13-arm64-16k ]
  [ "$(cached arm64 6.12.10+deb13-arm64)" = 6.12.10+deb13-arm64 ]
  [ "$(cached ppc64el 6.1)" = 6.1.0-50-powerpc64le ]
  [ -z "$(cached ppc64el 6.12-64k)" ]
}

@test "Debian 12 has Linux 6.1" { on 12 6.1 frama-c-base qemu-system-misc; }
@test "Debian 13 has Linux 6.12" { on 13 6.12 spin qemu-system-s390x; }
