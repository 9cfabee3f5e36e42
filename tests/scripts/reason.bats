#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# When a build fails, the terminal shows the end of the tool's output, and names the log.
load lib

# reason SCRIPT
reason() {
  local tool
  cp -r ../VERSION ../scripts "$work/" # with a build/ of its own
  for tool in make dpkg-buildpackage dh_dkms lintian; do
    fake $tool <<<'echo "this is the reason" >&2; exit 2'
  done
  fake rsync <<<'cat >/dev/null; for last; do :; done; mkdir -p "$last"'
  IWMPA_NO_SETUP=1 run timeout 200 "$work/scripts/$1" </dev/null
  echo "$output"
  [ "$status" != 0 ]
  [[ $output == *"this is the reason"*build/logs/* ]]
}
@test "interop says why the modules do not build" { reason interop; }
@test "deb says why the packages do not build" { reason deb; }
