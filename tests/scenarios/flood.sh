#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Thousands of startups that never complete, against one listener: their number is bounded, they do
# not block other connections, they end by timeout, and leave nothing behind.
# suite: debug kcsan
. "$(dirname "$0")/../lib/scenario.sh"
. "$(dirname "$0")/../lib/leaks.sh"
begin "half-open startups"
[ "$LINKTYPE" = iwmpa ] || skip "about iwmpa's own limits"
load_modules startup_timeout=3600 || finish
two_hosts || finish

# Slab caches keep freed objects, newer kernels more than older ones: shrink them.
shrink_slabs() { local f; for f in /sys/kernel/slab/*/shrink; do echo 1 >"$f"; done; }
in_use() { drop_caches; shrink_slabs; unreclaimed; }
ours() { in2 ss -Htn "sport = :7471" | wc -l; }
no_more_than() { [ "$(ours)" -le "$1" ]; }

talk_to server h2 rdma-target
talk_to client h1 rdma-target
talk_to flood h1 mpa-flood 10.9.0.2 7471
answers "a listener" server "listen 10.9.0.2 7471" "^= ok port=7471"

# good_connection TEXT: makes and ends a connection through the same listener.
good_connection() {
  tell server "sum 0" # no effect: heard looks at the output from here on
  tell client "connect 10.9.0.2 7471"
  until_true 20 heard server "event=CONNECT_REQUEST" || {
    fail "$1: no request: $(lines_of client)"
    return
  }
  echo accept >&"${told_by[server]}"
  check "$1" until_true 20 heard client "event=ESTABLISHED"
  answers "  and ends" client "reset" "^= ok"
  answers "  on both sides" server "reset" "^= ok"
}
good_connection "a good connection before"
answers "ten that end, to fill caches" flood "open 10" "^= ok"
tell flood "close 10"
check "their ends are counted" until_true 20 counts rd2 startup_errors 10

say "silent ones from one source, while others connect"
before=$(in_use)
answers "2100 opened one by one" flood "open 2100" "^= ok .* answered=0" 120
answers "128 may stay, an eighth of 1024; the oldest are reset [STA-15]" \
  flood "wait 128 60" "^= ok open=128 .* answered=0" 70
check "and counted [STA-15]" until_true 10 counts rd2 startup_refused 1972
check "the device's side has no more than these" test "$(ours)" = 128
good_connection "a good connection from the same source [STA-15]"
check "the oldest is reset for it" until_true 10 counts rd2 startup_refused 1973
tell flood "open 500"
good_connection "a good connection from the same source while 500 more come [STA-15]"
check "they are all there" until_true 120 heard flood "^= ok"
answers "no more than 128 stay" flood "wait 128 60" "^= ok .* answered=0" 70
answers "the others are closed" flood "close 128" "^= ok open=0 "
check "the device's side has none left" until_true 30 no_more_than 0

say "silent ones from 16 sources"
# Two sources may share a class, so that 8 of them would not suffice.
for ((i = 11; i <= 26; i++)); do ip -n h1 addr add 10.9.0.$i/24 dev wire; done
refused=$(counter rd2 startup_refused)
for ((i = 11; i <= 26; i++)); do
  tell flood "open 128 10.9.0.$i"
  until_true 60 heard flood "^= ok .* answered=0" ||
    fail "128 silent ones from 10.9.0.$i: $(lines_of flood)"
done
answers "1024 may stay in all, the oldest are reset [STA-15]" \
  flood "wait 1024 60" "^= ok open=1024 .* answered=0" 70
check "and counted [STA-15]" until_true 10 counts rd2 startup_refused $((refused + 1024))
check "the device's side has no more than these" test "$(ours)" = 1024
during=$(in_use)
say "memory that cannot be reclaimed: $before KiB before, $during KiB with 1024 of them:" \
  "$((during - before)) more"
# The guest's kmalloc() adds red zones to every object, which nearly doubles its size.
check "no more than 32 KiB for each of them, both ends together [STA-15]" \
  test $((during - before)) -lt $((1024 * 32))
good_connection "a good connection from yet another source [STA-15]"
check "the oldest is reset for it" until_true 10 counts rd2 startup_refused $((refused + 1025))
answers "the others are closed" flood "close 1024" "^= ok open=0 "
check "the device's side has none left" until_true 30 no_more_than 0

say "400 that only wait, then 400 that send an octet a second"
# On a busy machine the first startups time out while the last are being opened.
set_parameter startup_timeout 4
set_parameter max_half_open 3200
refused=$(counter rd2 startup_refused)
answers "400 silent ones" flood "open 400" "^= ok .* answered=0" 60
answers "end by timeout [STA-15 ENB-03]" flood "wait 0 30" "^= ok open=0 .* answered=0" 40
check "each of them [STA-15 ENB-03]" until_true 10 counts rd2 startup_timeouts 400
answers "400 slow ones" flood "open 400" "^= ok .* answered=0" 60
answers "end by timeout although octets arrive [STA-15]" \
  flood "drip 30" "^= ok open=0 .* answered=0" 40
check "each of them [STA-15]" until_true 10 counts rd2 startup_timeouts 800
check "none was refused" until_true 10 counts rd2 startup_refused "$refused"

good_connection "a good connection after all this [STA-15]"
# Memory that TCP and RCU free later is not a leak.
back() { [ $(($(in_use) - before)) -lt 1500 ]; }
check "memory is back [STA-15]" until_true 90 back
say "memory that cannot be reclaimed: $before KiB before, $(in_use) KiB after"
finish
