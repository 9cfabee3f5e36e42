# SPDX-License-Identifier: GPL-2.0
# Loaded by the tests of scripts, which run in scripts/ with fake programs in front of the real
# ones.
# shellcheck shell=bash

setup() {
  cd "$BATS_TEST_DIRNAME/../../scripts" || return
  work=$BATS_TEST_TMPDIR
  mkdir "$work/bin"
  PATH=$work/bin:$PATH
}

# fake NAME: makes a program, whose text is on standard input.
fake() {
  { echo '#!/bin/bash'; cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# no_packages: fakes a user without sudo on a machine where no package is installed.
no_packages() {
  fake id <<<'echo 1000'
  fake sudo <<<'echo "sudo: a password is required" >&2; exit 1'
  fake dpkg-query <<<'exit 1'
}

# installs GROUP PACKAGE...: setup must say that it wants to install these.
installs() {
  local package
  run timeout 200 ./setup "$1" </dev/null
  for package in "${@:2}"; do
    [[ " $output " == *" $package "* ]] || {
      echo "'setup $1' does not install $package: $output"
      return 1
    }
  done
}
