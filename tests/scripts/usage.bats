#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Every script of scripts/ answers --help with the comment at its top, and refuses unknown
# arguments, with one line and before it does anything.
load lib

# bash_scripts: prints them, without those that run in a guest without bash.
bash_scripts() {
  find . -maxdepth 2 -type f -perm -u+x \
    -exec awk 'FNR == 1 && $0 == "#!/bin/bash" { print substr(FILENAME, 3) }' {} +
}

# refused SCRIPT ARGUMENT
refused() {
  IWMPA_NO_SETUP=1 run timeout 100 "./$1" "$2" </dev/null
  if [ "$status" = 0 ]; then echo "scripts/$1 $2: takes it"; return 1; fi
  [ ${#lines[@]} = 1 ] && [[ $output == *"'"*"${2#-}"*"'"* ]] || {
    echo "scripts/$1 $2: no single line that names it: $output"
    return 1
  }
}

@test "--help prints the comment at the top" {
  for script in $(bash_scripts); do
    IWMPA_NO_SETUP=1 run timeout 100 "./$script" --help </dev/null
    [ "$status" = 0 ] || { echo "scripts/$script --help: fails: $output"; false; }
    [ "${lines[0]}" = "$(sed -n '3s/^# //p' "$script")" ] || {
      echo "scripts/$script --help: does not begin as the script does"
      false
    }
  done
}

@test "unknown options are refused" {
  for script in $(bash_scripts); do refused "$script" --nosuch; done
}

@test "unknown words are refused, except by scripts that take commands or files of any name" {
  for script in $(bash_scripts | grep -vxE '.*/run|vm/check-log'); do refused "$script" nosuch; done
}

@test "scenarios refuse to run outside a guest" {
  run env -u HOST bash -c '. ../tests/lib/scenario.sh; echo "goes on"' scenario
  [ "$status" = 2 ] && [[ $output == scenario:*guest* ]]
  HOST=1 run bash -c '. ../tests/lib/scenario.sh; echo "goes on"' scenario
  [ "$output" = "goes on" ]
}
