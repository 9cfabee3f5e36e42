#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
load lib

# The guest is fake: it prints what the loop in a real guest prints.
@test "series ends a command that stops printing, not one that keeps printing for ten times its limit" {
  fake runner <<'RUNNER'
while [ "$1" != -- ]; do [ "$1" != -o ] || out=$2; shift; done
begin() { echo "start $1"; name=$1; }
end() { printf 'end\t%s\t%s\t0.1\n' "$name" "$1"; }
asked() { [ -e "$out/end-$name" ]; }
sleeps() { until asked; do sleep 0.1; done; end 124; exit; }
spins() { until asked; do :; done; end 124; exit; }
prints() { for _ in {1..30}; do echo line >>"$out/$name.log"; sleep 0.1; done; if asked; then end 124; exit; fi; end 0; }
halves() { printf 'end\t%s\t' "$name"; sleep 1.5; printf '0\t0.1\n'; }
while IFS=$'\t' read -r name _ command; do
  begin "$name"
  $command
done <"$out/todo"
RUNNER
  printf '%s\t1\t%s\n' prints prints halves halves sleeps sleeps spins spins prints2 prints >"$work/list"

  run ./series "$work/bin/runner" "$work/out" <"$work/list"
  echo "$output"
  [ "$(cut -f 1,2 <<<"$output" | tr '\t\n' ' ;')" = "prints 0;halves 0;sleeps 124;spins 124;prints2 0;" ]
}
