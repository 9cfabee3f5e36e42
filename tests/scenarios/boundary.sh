#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Payloads of 1 to 64 octets at every offset across a page boundary, lists of SGEs, inline data, all
# sizes: compared.
# shows requirements by the IDs of its cases
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
begin "payloads and page boundaries"
load_modules || finish
one_host || finish
for markers in N Y; do
  if [ $markers = Y ]; then set_parameter markers Y || break; fi
  cases "Markers: $markers" \
    bounded 140 verbs-test run 'boundary-*' inline sge-lists zero-length sizes both-ways \
    --addr 10.8.0.1
done
finish
