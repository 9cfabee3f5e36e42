#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A thousand connections, one after the other, leak no objects, sockets or references.
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/leaks.sh"
begin "1000 connects and disconnects"
load_modules || finish
two_hosts || finish
without_time_wait h1 h2
run_cycles() {
  bounded 500 verbs-test run cycles --addr 10.9.0.2 --server-ns h2 --client-ns h1 --count "$1"
}

check "a first round, which fills caches" run_cycles 100
remember
check "1000 cycles" run_cycles 1000
# 1000 leaked connections of one page each would be 4000 KiB; half of that is more than the noise of
# a quiet guest. No slab may have grown by an object per connection.
nothing_left 900 2000
finish
