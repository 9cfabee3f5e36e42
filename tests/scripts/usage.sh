#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every script of scripts/ answers --help with the comment at its top, and refuses unknown arguments, with one line and before it does
# anything. make static runs this test, on this machine.
set -u
cd "$(dirname "$0")/../../scripts" || exit 1
export IWMPA_NO_SETUP=1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
bad=0
complain() {
  echo "scripts/$*"
  sed 's/^/    /' "$out"
  bad=1
}
# refused SCRIPT ARGUMENT
refused() {
  if timeout 5 "./$1" "$2" >"$out" 2>&1 </dev/null; then complain "$1 $2: takes it"
  elif [ "$(wc -l <"$out")" != 1 ] || ! grep -qe "'.*${2#-}.*'" "$out"; then complain "$1 $2: no single line that names it"
  fi
}

for script in * */*; do
  [ -x "$script" ] && [ -f "$script" ] || continue
  [ "$(head -1 "$script")" = '#!/bin/bash' ] || continue # skip scripts that run in a guest without bash
  timeout 5 "./$script" --help >"$out" 2>&1 </dev/null || complain "$script --help: fails"
  [ "$(head -1 "$out")" = "$(sed -n '3s/^# //p' "$script")" ] || complain "$script --help: does not begin as the script does"
  refused "$script" --nosuch
  # Scripts that take commands or files of any name cannot refuse a word.
  case $script in */run | vm/check-log) ;; *) refused "$script" nosuch ;; esac
done
exit $bad
