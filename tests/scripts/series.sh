#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# series ends a command that stops printing, whether it sleeps or spins; a command that keeps printing may run for ten times its limit.
# The guest is fake: it prints what the loop in a real guest prints.
set -u
cd "$(dirname "$0")/../../scripts" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/runner" <<'RUNNER'
#!/bin/bash
while [ "$1" != -- ]; do [ "$1" != -o ] || out=$2; shift; done
begin() { echo "start $1"; name=$1; }
end() { printf 'end\t%s\t%s\t0.1\n' "$name" "$1"; }
asked() { [ -e "$out/end-$name" ]; }
while IFS=$'\t' read -r name _ command; do
  begin "$name"
  $command
done <"$out/todo"
RUNNER
cat >>"$work/runner.commands" <<'COMMANDS'
sleeps() { until asked; do sleep 0.1; done; end 124; exit; }
spins() { until asked; do :; done; end 124; exit; }
prints() { for _ in {1..30}; do echo line >>"$out/$name.log"; sleep 0.1; done; if asked; then end 124; exit; fi; end 0; }
halves() { printf 'end\t%s\t' "$name"; sleep 1.5; printf '0\t0.1\n'; }
COMMANDS
sed -i "2r $work/runner.commands" "$work/runner"
chmod +x "$work/runner"
printf '%s\t1\t%s\n' prints prints halves halves sleeps sleeps spins spins prints2 prints >"$work/list"

./series "$work/runner" "$work/out" <"$work/list" >"$work/said" 2>&1
cut -f 1,2 "$work/said" | tr '\t\n' ' ;' >"$work/verdicts"
want="prints 0;halves 0;sleeps 124;spins 124;prints2 0;"
[ "$(cat "$work/verdicts")" = "$want" ] || { echo "series says:"; cat "$work/said"; exit 1; }
