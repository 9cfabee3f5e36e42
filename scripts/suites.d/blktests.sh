# SPDX-License-Identifier: GPL-2.0
# blktests' groups nvme and srp. Host and target are in one kernel.
# shellcheck shell=bash disable=SC2034 # scripts/suites uses the variables
url=https://github.com/linux-blktests/blktests
revision=a608cb5
transports=(iwmpa siw rxe tcp)
arguments=(nvme srp)

build_suite() { make; }

# The suite chooses between siw and rxe. Where it says siw, the copy in the guest says TRANSPORT.
run_suite() {
  local settings=("NVMET_TRTYPES=rdma") groups=("${@:2}")
  case $1 in
  tcp) settings=("NVMET_TRTYPES=tcp") groups=("${groups[@]/#srp*/}") ;;
  rxe) settings+=(USE_RXE=1) ;;
  iwmpa) sed -i 's/\<siw\>/iwmpa/g' common/multipath-over-rdma tests/srp/rc ;;
  esac
  rdma_link tcp && modprobe loop || exit 1 # the suite makes the device
  /lib/systemd/systemd-udevd --daemon
  printf '%s\n' "${settings[@]}" nvme_img_size=350M nvme_num_iter=20 >config
  # The disks are files in the folder of the results.
  # shellcheck disable=SC2048,SC2086 # an empty group is none
  ./check -o /tmp/results ${groups[*]} | tee /run/vm/check.log
  cp -r /tmp/results /run/vm/blktests
  # check prints "nvme/003 (tr=rdma bd=device) (what it does)   [passed]".
  sed -nE 's!^([a-z]+/[0-9]+) (\([a-z]*=[^)]*\))?.*\[(passed|failed|not run)\].*!\3\t\1\2!p' \
    /run/vm/check.log |
    sed 's/tr=[a-z]*//; s/( *)//; s/( /(/; s/^passed/ok/; s/^failed/FAIL/; s/^not run/skip/' \
      >/run/vm/results
}
