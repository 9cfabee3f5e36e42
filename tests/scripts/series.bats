#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What tools/runner does with processes and files; tools/unit/runner_test.cpp tests what it decides.
load lib

# The guest is fake: it does what the runner and the loop in a real guest do. Its time is the
# machine's.
fake_guest() {
  fake runner <<'RUNNER'
while [ "$1" != -- ]; do [ "$1" != -o ] || out=$2; shift; done
{ while sleep 0.1; do echo $((SECONDS * 1000)) >"$out/own-time"; done; } >/dev/null 2>&1 &
echo "a message of the runner" >&2
echo "the kernel boots" >"$out/console"
begin() { echo "start $1"; name=$1; }
end() { printf 'end\t%s\t%s\t0.1\n' "$name" "$1"; }
good() { end 0; }
meets() { # two guests
  until ls "$out"/../{one,two}/console*; do sleep 0.1; done >/dev/null 2>&1
  end 0
}
leaves() { end 0; exit; }
waits() { until [ -e "$out/end-$name" ]; do sleep 0.1; done; end 124; exit; }
halves() { printf 'end\t%s\t' "$name"; sleep 1.5; printf '0\t0.1\n'; }
dies() { kill -9 $$; }
hangs() { trap '' TERM; echo $BASHPID >"$out/pid"; while :; do sleep 1000; done; }
next() {
  echo ready
  until [ -e "$out/next" ]; do sleep 0.1; done
  IFS=$'\t' read -r name _ command <"$out/next"
  rm "$out/next"
  [ -n "$name" ]
}
while next; do
  begin "$name"
  $command
done
RUNNER
}
list() { for command; do printf '%s\t1\t%s\n' "$command" "$command"; done >"$work/list"; }

@test "series executes commands in order, and those behind one that ends its guest in another" {
  fake_guest
  list halves leaves good waits dies
  run ./series "$work/bin/runner" "$work/out" <"$work/list"
  echo "$output"
  [ "$(cut -f 1,2 <<<"$output" | tr '\t\n' ' ;')" = "halves 0;leaves 0;good 0;waits 124;dies 125;" ]
  [ "$status" = 0 ]
  [ -e "$work/out/console.3" ] && [ ! -e "$work/out/console.4" ]
  grep -q "a message of the runner" "$work/out/dies.log" &&
    grep -q "the kernel boots" "$work/out/dies.log"
}

@test "two series that share a list execute each command once" {
  fake_guest
  for name in a b c d e f; do printf '%s\t60\tmeets\n' $name; done >"$work/list"
  mkdir "$work/claims"
  ./series "$work/bin/runner" "$work/one" "$work/claims" <"$work/list" >"$work/results.one" &
  tac "$work/list" | ./series "$work/bin/runner" "$work/two" "$work/claims" >"$work/results.two"
  wait $!
  head "$work"/results.*
  [ "$(sort "$work"/results.* | cut -f 1,2 | tr '\t\n' ' ;')" = "a 0;b 0;c 0;d 0;e 0;f 0;" ]
  grep -q ^a "$work/results.one" && grep -q ^f "$work/results.two"
  # Nothing is left: no guest boots.
  run ./series /no/runner "$work/three" "$work/claims" <"$work/list"
  [ "$status" = 0 ] && [ -z "$output" ]
}

@test "series fails when a guest executes nothing" {
  fake runner <<<'echo "no kernel" >&2'
  list good
  run ./series "$work/bin/runner" "$work/out" <"$work/list"
  [ "$status" = 1 ] && [[ $output == *"no kernel"* ]]
}

@test "a series that is interrupted leaves no process behind, even one that ignores SIGTERM" {
  fake_guest
  list hangs
  ./series "$work/bin/runner" "$work/out" <"$work/list" 3>&- &
  until [ -s "$work/out/pid" ]; do sleep 0.1; done
  kill $!
  wait $! || true
  # The kernel ends killed processes some time after the signal.
  timeout 60 bash -c 'while pgrep -s "$1"; do sleep 0.1; done' - "$(cat "$work/out/pid")"
}
