# SPDX-License-Identifier: GPL-2.0
# Sourced by intree: builds the modules and the KUnit suites in the tree.
# shellcheck shell=bash disable=SC2154

# builds VARIANT CHANGE MODULE.ko...: builds the folders and then the modules, with the lines of
# scripts/intree.d/config as the sed script CHANGE leaves them. Kconfig drops a line whose
# dependencies are missing, without a word: those of $symbols must stay.
builds() {
  local variant=$1 change=$2 out=$home/build-$series-$1 log=$logs/$step-$1.log lost; shift 2
  in_tree() {
    nice make --no-print-directory -C "$tree" ARCH=x86_64 O="$out" -j"$(nproc)" "$@" >>"$log" 2>&1
  }
  mkdir -p "$out"
  : >"$log"
  sed -E "$change" "$parts/config" >"$out/fragment"
  { [ -e "$out/.config" ] || in_tree tinyconfig; } &&
    (cd "$tree" &&
      ARCH=x86_64 scripts/kconfig/merge_config.sh -m -O "$out" "$out/.config" "$out/fragment") \
      >>"$log" 2>&1 &&
    in_tree olddefconfig && in_tree prepare modules_prepare ||
    die_with_log "$log" "cannot configure Linux $release"
  lost=$(grep -E "^CONFIG_($symbols)=" "$out/fragment" | grep -vxFf "$out/.config" || true)
  [ -z "$lost" ] || die "the configuration '$variant' of Linux $release lacks: $lost"
  echo "-- W=1" >>"$log"
  in_tree W=1 "${folders[@]}" &&
    { [ $# = 0 ] || in_tree W=1 KBUILD_MODPOST_WARN=1 "$@"; } ||
    die_with_log "$log" "patch '$step' does not build ($variant)"
  # Without a vmlinux, modpost knows no symbol of it.
  lost=$(sed '1,/^-- W=1$/d' "$log" | grep -E '(warning|WARNING|error): ' |
    grep -vE 'undefined!|vmlinux|Module.symvers|modpost: suppressed' || true)
  [ -z "$lost" ] || die "patch '$step' builds with warnings ($variant): $lost"
}
# joins VARIANT FOLDER...: the linker finds functions that exist twice.
joins() {
  local archives=("${@:2}")
  ld -r -o "$home/joined.o" --whole-archive "${archives[@]/#/$home/build-$series-$1/}" ||
    die "patch '$step': the parts do not link ($1)"
  rm "$home/joined.o"
}
build_both() {
  builds modules '' "${modules[@]}"
  builds builtin '/_KUNIT_TEST/d; s/=m$/=y/'
  joins builtin "${folders[@]/%/built-in.a}"
}
# kunit NAME CONFIG...: has the tree's kunit.py build a User Mode Linux kernel with the suites of
# these configurations, and run them. It fails also when no suite ran.
kunit() {
  local name=$1 log=$logs/kunit.py-$1.log; shift
  note "kunit.py: $name"
  (cd "$tree" && nice tools/testing/kunit/kunit.py run --build_dir="$home/kunit-$series" \
    --jobs="$(nproc)" --timeout=$((60 * PATIENCE)) \
    "${@/#/--kunitconfig=}") >"$log" 2>&1 </dev/null ||
    die_with_log "$log" "kunit.py has not passed ($name)"
  said+=("kunit.py, $name: $(sed -n 's/.*Testing complete\. //p' "$log")")
}
