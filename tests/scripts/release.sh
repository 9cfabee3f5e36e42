#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernel and packages are those of the machine's Debian: setup installs nothing for another series than the one that is built for.
set -u
cd "$(dirname "$0")/../../scripts" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"; chmod +x "$work/$1"; }
fake id 'echo 1000'
fake sudo 'exit 1'
fake dpkg-query 'exit 1' # every package is missing
bad=0
while read -r version series prover; do
  fake sed "case \"\$*\" in *VERSION_ID*) echo '\"$version\"' ;; *) exec /bin/sed \"\$@\" ;; esac"
  got=$(PATH=$work:$PATH; unset KERNEL; . ./lib.sh && echo "$SERIES $KERNEL")
  [ "$got" = "$series $series" ] || { echo "Debian $version has Linux $series, not $got"; bad=1; }
  for want in "uml linux-source-$series" "prove $prover"; do
    said=" $(PATH=$work:$PATH timeout 20 ./setup "${want% *}" 2>&1 </dev/null) "
    [[ $said == *" ${want#* } "* ]] || { echo "Debian $version: 'setup ${want% *}' does not install ${want#* }: $said"; bad=1; }
  done
done <<'RELEASES'
12 6.1 frama-c-base
13 6.12 spin
RELEASES
exit $bad
