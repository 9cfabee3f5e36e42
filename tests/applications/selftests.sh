#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's own tests of TLS, an upper layer of TCP as mpa is one: they must end as they do
# without mpa.
# suite: applications
# build: selftests
. "$(dirname "$0")/../lib/scenario.sh"
begin "the kernel's tests of TLS"
tests=$IWMPA_DIR/build/selftests-$(uname -r)
[ -x "$tests/net/tls" ] ||
  skip "the tests are missing:" \
    "scripts/selftests did not build them (build/logs/build-selftests.log)"
modprobe -q tls || skip "this kernel has no TLS sockets"

# tls_tests FILE: writes the results of all tests to FILE.
tls_tests() {
  bounded 300 "$tests/net/tls" >"$WORK/tls" 2>&1
  grep -E '^(ok|not ok) ' "$WORK/tls" >"$1"
  [ "$(grep -c '^ok ' "$1")" -ge 100 ]
}

check "TLS without mpa" tls_tests "$WORK/without"
load_modules || finish
check "mpa is a layer beside TLS" grep -qw mpa /proc/sys/net/ipv4/tcp_available_ulp
check "TLS with mpa: $(grep -c '^ok ' "$WORK/without") tests pass" tls_tests "$WORK/with"
check "all tests end as without mpa" diff "$WORK/without" "$WORK/with"
finish
