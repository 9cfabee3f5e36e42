#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Gates find the faults that they are for.
load lib

# finds GATE TEXT: the gate fails on the files of $work/tree, and says TEXT.
finds() {
  cp -r . "$work/tree/scripts"
  run env IWMPA_NO_SETUP=1 bash -c '
    set -euo pipefail
    cd "$1" && . scripts/lib.sh
    . scripts/gates-lib.sh
    listing="find . -name page.md"
    "gate_$2"' _ "$work/tree" "$1"
  [ "$status" != 0 ] && [[ $output == *"$2"* ]] || {
    echo "gate $1, status $status: $output"
    false
  }
}

@test "merges finds the marks of a merge" {
  mkdir "$work/tree"
  printf '%s\n' 'One side.' '>>>>>>> theirs' >"$work/tree/page.md"
  finds merges "page.md:2"
}

@test "merges finds the headings of both sides" {
  mkdir "$work/tree"
  printf '%s\n' '# Page' '' '## One side' '## The other side' >"$work/tree/page.md"
  finds merges "page.md:4"
}

@test "built files in a tree without a repository are not the project's" {
  cp -r . "$work/scripts"
  cp ../.gitignore "$work/"
  mkdir -p "$work/build/x" "$work/mpa" "$work/.cache"
  touch "$work/build/x/page.md" "$work/mpa.mod.c" "$work/mpa/"{conn.c,conn.o} "$work/.cache/index"
  run env GIT_CEILING_DIRECTORIES="$work" \
    bash -c 'cd "$0" && . scripts/lib.sh && project_files | grep -v ^scripts/' "$work"
  [ "$output" = $'.gitignore\nmpa/conn.c' ] || { echo "$output"; false; }
}
