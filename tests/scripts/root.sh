#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# When setup cannot become root it says so on the terminal, although the output of its commands as root goes to a log.
set -u
cd "$(dirname "$0")/../../scripts" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"; chmod +x "$work/$1"; }
fake id 'echo 1000'
fake sudo 'echo "sudo: a password is required" >&2; exit 1'
fake dpkg-query 'exit 1' # every package is missing

said=$(PATH=$work:$PATH timeout 20 ./setup host 2>&1 </dev/null) && { echo "setup succeeds"; exit 1; }
[[ $said == *"needs root for: installing "* ]] && [ "$(wc -l <<<"$said")" = 1 ] || { echo "setup says: $said"; exit 1; }
