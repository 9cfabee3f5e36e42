#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The modules load and unload, refuse wrong parameters, and leave nothing half-made behind.
. "$(dirname "$0")/../lib/scenario.sh"
begin "loading, unloading, parameters"
[ "$LINKTYPE" = iwmpa ] || skip "about iwmpa's own modules"
mpa=$IWMPA_DIR/mpa.ko iwmpa=$IWMPA_DIR/iwmpa.ko
load_prerequisites

for i in 1 2 3; do
  check "load, round $i" load_modules
  check "unload, round $i" unload_modules
done

refused "iwmpa without mpa" "Unknown symbol" insmod "$iwmpa"
refused "a parameter that is not boolean" "Invalid parameters" insmod "$mpa" markers=perhaps
check "mpa is not loaded" test ! -e /sys/module/mpa
refused "a CRC setting that is not boolean" "Invalid parameters" insmod "$mpa" crc=2x
refused "a startup timeout of 0" "[Ii]nvalid|range" insmod "$mpa" startup_timeout=0
refused "a startup timeout beyond its range" "[Ii]nvalid|range" insmod "$mpa" startup_timeout=3601
refused "no half-open startups at all" "[Ii]nvalid|range" insmod "$mpa" max_half_open=0
check "mpa is not loaded after these errors" test ! -e /sys/module/mpa

check "load with Markers on, CRC off" load_modules markers=1 crc=0
check "Markers are on" grep -qx Y /sys/module/mpa/parameters/markers
check "CRCs are off when the administrator says so [CRC-06]" \
  grep -qx N /sys/module/mpa/parameters/crc
refused "mpa while iwmpa uses it" "in use" rmmod mpa
refused "a wrong value while running" "[Ii]nvalid" \
  bash -c 'echo perhaps >/sys/module/mpa/parameters/markers'
refused "a timeout out of range while running" "[Ii]nvalid|range" \
  bash -c 'echo 0 >/sys/module/mpa/parameters/startup_timeout'
check "and the old value stays" grep -qx Y /sys/module/mpa/parameters/markers
check "unload" unload_modules

check "load without parameters" load_modules
check "CRCs are on by default [CRC-06]" grep -qx Y /sys/module/mpa/parameters/crc
check "large FPDUs are local by default" grep -qx local /sys/module/mpa/parameters/large_fpdus
check "Markers are off by default" grep -qx N /sys/module/mpa/parameters/markers
refused "a second instance" "File exists" insmod "$mpa"

# With an idle link: unloading the module also removes the link.
one_host
check "a module with an idle link unloads" unload_modules
check "and its link is gone" test -z "$(links)"
finish
