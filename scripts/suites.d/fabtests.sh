# SPDX-License-Identifier: GPL-2.0
# libfabric's tests, of Debian's libfabric: both ends in one kernel.
# shellcheck shell=bash disable=SC2034 # scripts/suites uses the variables
url=https://github.com/ofiwg/libfabric
revision=v1.17.0
transports=(iwmpa siw tcp)
arguments=(quick)

# Programs have buffers for 64 messages of the longest size, 1 GiB. User Mode Linux takes most of a
# minute to give it to them: longer than a peer waits for a connection.
build_suite() {
  cd fabtests && sed -i 's/\.window_size = 64/.window_size = 2/' include/shared.h && ./autogen.sh &&
    ./configure --prefix="$PWD/installed" && make && make install
}

# Messages are those of an RDMA device, and datagrams those that ofi_rxm makes of them. fi_cq_test
# never ends in User Mode Linux, over TCP neither.
run_suite() {
  local provider providers=("verbs" "verbs;ofi_rxm")
  [ "$1" != tcp ] || providers=("tcp" "tcp;ofi_rxm")
  rdma_link "$1" && cd fabtests || exit 1
  for provider in "${providers[@]}"; do
    scripts/runfabtests.sh -vv -t "${*:2}" -p "$PWD/installed/bin" -T 120 -e cq_test \
      -f "test_configs/${provider#*;}/${provider#*;}.exclude" \
      -s 10.9.0.1 -c 10.9.0.1 -g 10.9.0.1 "$provider"
  done | tee /run/vm/check.log
  # It prints "- name:   TEST -p PROVIDER", and later "result: Pass".
  sed -nE 's/^- name: +(.*)/\1/p; s/^ +result: ([A-Z][a-z]*).*/\1/p' /run/vm/check.log | paste - - |
    sed -E 's/(.*)\t(.*)/\2\t\1/; s/^Pass/ok/; s/^Fail/FAIL/; s/^(Notrun|Excluded)/skip/
      s/ -p "[a-z]*"//; s/ -p "[a-z]*;ofi_rxm"/ (ofi_rxm)/' >/run/vm/results
}
