#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
load lib

# archive PACKAGE...: the kernel 6.1.0-56 is in the cache, and the archive also has the headers of
# 6.1.0-57 and these packages.
archive() {
  export IWMPA_CACHE=$work/cache
  mkdir -p "$IWMPA_CACHE"/kernel-6.1.0-56-amd64/usr/src/linux-headers-6.1.0-56-amd64
  fake apt-get <<<'case " $* " in
    *indextargets*) echo mirror ;;
    *" update "*) ;;
    *) echo "downloads $*" >&2; exit 1 ;;
    esac'
  fake apt-cache <<CACHE
case "\$*" in
*search*) for n in 56 57; do echo "linux-headers-6.1.0-\$n-amd64 - Header files"; done ;;
*" show linux-image-6.1.0-56-amd64") echo Package ;;
*" show "*) for package in $*; do case "\$*" in *" \$package") echo Package ;; esac; done ;;
esac
CACHE
}

@test "fetch-kernel leaves out a release whose image is not there yet" {
  archive linux-modules-6.1.0-57-amd64
  run ./fetch-kernel 6.1
  echo "$output"
  [ "$status" = 0 ] && [ "$output" = 6.1.0-56-amd64 ]
}

@test "fetch-kernel fetches the newest release that has an image" {
  archive linux-image-6.1.0-57-amd64
  run ./fetch-kernel 6.1
  [ "$status" = 1 ] && [[ $output == *"fetching Debian's kernel 6.1.0-57-amd64"* ]]
}

@test "fetch-kernel SERIES-oldest fetches the oldest release, which the cache then has by that name" {
  archive linux-image-6.1.0-57-amd64
  run ./fetch-kernel 6.1-oldest
  echo "$output"
  [ "$status" = 0 ] && [ "$output" = 6.1.0-56-amd64 ]
  # not of today's archive
  mkdir -p "$IWMPA_CACHE"/kernel-6.1.0-55-amd64/usr/src/linux-headers-6.1.0-55-amd64
  [ "$(. ./lib.sh && cached_kernel 6.1-oldest)" = 6.1.0-56-amd64 ]
}
