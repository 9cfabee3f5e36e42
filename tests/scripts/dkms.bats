#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Debian's dkms with dkms.conf when a kernel is installed. For a kernel that the code does not
# support,
# dkms must build nothing and return no error, or the kernel's package would stay half-configured.
# For
# the others it must build the modules. The package's own hook then tries the kernels that dkms has
# left out, and never returns an error. The package of dkms is unpacked and not installed, because
# an
# installation would enable a service. The test has trees of its own, fake kernels, and a make that
# fails.
bats_require_minimum_version 1.5.0
load lib

setup_file() {
  . "$BATS_TEST_DIRNAME/../../scripts/lib.sh"
  export DKMS=$CACHE/dkms/usr/sbin/dkms
  [ ! -e "$DKMS" ] || return 0
  cd "$BATS_FILE_TMPDIR" || return
  apt-get -q download dkms && dpkg -x dkms_*.deb root && mkdir -p "$CACHE" &&
    rm -rf "$CACHE/dkms" && mv root "$CACHE/dkms"
}

# dkms ARGUMENT...
dkms() {
  timeout 200 bash "$DKMS" --dkmstree "$work/tree" --sourcetree "$work/source" \
    --installtree "$work/install" "$@"
}

# add: adds the modules.
add() {
  mkdir -p "$work"/{source,tree,install} "$work/source/iwmpa-0"
  sed "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=0/; s,/lib/modules,$work/install," ../dkms.conf \
    >"$work/source/iwmpa-0/dkms.conf"
  cp ../Kbuild "$work/source/iwmpa-0/"
  # dkms insists on root, which it does not need in these trees. The fake make leaves a file when it
  # is called.
  fake id <<<'echo 0'
  fake make <<<"case \"\$*\" in *' modules') : >$work/asked ;; esac; exit 2"
  dkms add iwmpa/0
}
# installed: another kernel has the modules, for which dkms calls make in that kernel's name.
installed() {
  mkdir -p "$work/headers/include" "$work/tree/iwmpa/0/6.1.0-1-amd64/$(uname -m)/module"
  touch "$work/tree/iwmpa/0/6.1.0-1-amd64/$(uname -m)/module"/{mpa,iwmpa}.ko
}
# left_alone KERNEL [ARCHITECTURE]
left_alone() { dkms autoinstall -k "$1" ${2:+-a "$2"} && [ ! -e "$work/asked" ]; }

@test "6.2 is left alone" { add; left_alone 6.2.0-1-amd64; }
@test "6.2 is left alone when another kernel has the modules" {
  add
  installed
  left_alone 6.2.0-1-amd64
}
@test "7.20 is left alone" { add; installed; left_alone 7.20.1+deb13-amd64; }
@test "a kernel for i686 is left alone" { add; installed; left_alone 6.1.99-686-pae i686; }

# configured KERNEL [LINE]: its headers are installed, with this line in the configuration.
configured() {
  mkdir -p "$work/install/$1/build/include"
  echo "${2:-}" >"$work/install/$1/build/.config"
}

@test "a kernel without the RDMA core is left alone, also by the hook" {
  add
  configured 6.12.9-rpi
  left_alone 6.12.9-rpi
  installed
  left_alone 6.12.9-rpi
  configured 6.8.0-rpi
  hook 6.8.0-rpi
  [ -z "$output" ] && [ ! -e "$work/asked" ]
  configured 6.8.0-rpi CONFIG_INFINIBAND_USER_ACCESS=m
  hook 6.8.0-rpi
  [ -e "$work/asked" ]
}

@test "a kernel with the RDMA core is built for" {
  add
  installed
  configured 6.12.9-amd64 CONFIG_INFINIBAND_USER_ACCESS=m
  cp "$work/install/6.12.9-amd64/build/.config" "$work/headers/"
  run ! dkms autoinstall -k 6.12.9-amd64 --kernelsourcedir "$work/headers"
  echo "$output"
  [ -e "$work/asked" ]
}

@test "the kernels of Kbuild are built for" {
  add
  installed
  for series in $(sed -n 's/^IWMPA_KERNELS ?= //p' ../Kbuild); do
    rm -f "$work/asked"
    run ! dkms autoinstall -k "$series.99-amd64" --kernelsourcedir "$work/headers"
    echo "$series: $output"
    [ -e "$work/asked" ]
  done
}

# hook KERNEL: runs the package's hook, whose dkms uses the test's trees, for a kernel whose headers
# are installed.
hook() {
  { declare -f dkms; echo "work=$work DKMS=$DKMS; dkms \"\$@\" --kernelsourcedir $work/headers"; } |
    fake dkms
  mkdir -p "$work/headers/include"
  sed "s,/lib/modules,$work/install," ../debian/kernel-hook/iwmpa-dkms >"$work/hook"
  mkdir -p "$work/install/$1/build/include"
  run sh "$work/hook" "$1"
  [ "$status" = 0 ]
}

@test "the hook builds for a kernel that dkms has left alone" {
  add
  fake make <<<"case \"\$*\" in
    *' modules') : >$work/asked; touch $work/tree/iwmpa/0/build/{mpa,iwmpa}.ko ;;
    esac"
  fake strip <<<'exit 0'
  fake depmod <<<'exit 0'
  hook 6.8.0-1-amd64
  echo "$output"
  [ -e "$work/asked" ]
  [[ $output == "iwmpa: built for 6.8.0-1-amd64, a kernel that it was not tested on" ]]
  rm "$work/asked"
  hook 6.8.0-1-amd64
  [ -z "$output" ] && [ ! -e "$work/asked" ]
}

@test "a kernel that the modules do not build for gives one line and no error" {
  add
  hook 6.8.0-1-amd64
  [ -e "$work/asked" ]
  [ "${#lines[@]}" = 1 ] && [[ $output == "iwmpa: no modules for 6.8.0-1-amd64"* ]]
}

@test "the hook is silent without headers, and without the modules' sources" {
  fake dkms <<<'echo asked'
  run sh ../debian/kernel-hook/iwmpa-dkms 6.8.0-1-amd64
  [ "$status" = 0 ] && [ -z "$output" ]
  fake dkms <<<'exit 1'
  sed "s,/lib/modules,$work/install," ../debian/kernel-hook/iwmpa-dkms >"$work/hook"
  mkdir -p "$work/install/6.8.0-1-amd64/build/include"
  run sh "$work/hook" 6.8.0-1-amd64
  [ "$status" = 0 ] && [ -z "$output" ]
}

# postinst MODULE...: what the package says at its installation on a kernel with these modules.
postinst() {
  fake modprobe <<<"[[ ' $* ' == *\" \${*: -1} \"* ]]"
  fake uname <<<'echo 6.8.0-1-cloud-amd64'
  for program in getent udevadm; do fake $program <<<'exit 0'; done
  run sh ../debian/iwmpa-dkms.postinst configure
  [ "$status" = 0 ]
}

@test "an installation names the services that the running kernel lacks" {
  postinst ib_uverbs nvme-rdma rpcrdma ib_iser
  [ -z "$output" ]
  postinst ib_uverbs nvme-rdma
  [[ $output == "iwmpa: the running kernel 6.8.0-1-cloud-amd64 lacks NFS (rpcrdma), iSER"* ]]
  postinst # a build of an image, whose kernel is another
  [ -z "$output" ]
}
