# SPDX-License-Identifier: GPL-2.0
# Sourced by intree: puts files of this checkout, and what only the tree has, into the tree.
# shellcheck shell=bash disable=SC2154

# lay FOLDER FILE...: puts files of this checkout into a folder of the tree.
lay() {
  local folder=$tree/$1 copies; shift
  local compat=' * The namespace of the symbols, and interfaces that this kernel does not have.'
  mkdir -p "$folder"
  (cd "$ROOT" && cp "$@" "$folder/")
  copies=("${@##*/}")
  copies=("${copies[@]/#/$folder/}")
  unifdef -x2 -B -m "${has[@]}" "${copies[@]}"
  sed -i -e '/^MODULE_VERSION(IWMPA_VERSION);$/d' \
    -e "s,\(TRACE_INCLUDE_PATH\) ../mpa$,\1 ../../$MPA," \
    -e "s,\(TRACE_INCLUDE_PATH\) ../ddp_glue$,\1 ../../$IWMPA," \
    -e 's,"\.\./\(mpa\|ddp_glue\)/,"../,' \
    -e "/^ \* Gives older kernels/,/Kbuild sets\.$/c\\$compat" \
    "${copies[@]}"
}
# insert FILE PROGRAM VARIABLE...: runs an awk program over a file of the tree.
insert() {
  local file=$tree/$1 program=$2 options=() v; shift 2
  for v; do options+=(-v "$v"); done
  awk "${options[@]}" "$program" "$file" >"$home/inserted"
  mv "$home/inserted" "$file"
}
# hook FILE TEXT LINE: puts LINE before the first line that begins with TEXT.
hook() {
  insert "$1" 'index($0, at) == 1 && !n++ { print line } { print }' "at=$2" "line=$3"
  grep -qxF -- "$3" "$tree/$1" || die "$1 of Linux $release has no line '$2'"
}
# maintained NAME LIST PATH...: an entry in MAINTAINERS, which is in the order of the names.
maintained() {
  local name=$1 list=$2 person; shift 2
  person=$(grep -m 1 '^M:' "$ROOT/MAINTAINERS")
  insert MAINTAINERS '
    list && !done && before == "" && /^[0-9A-Z]/ && $0 > name { print entry "\n"; done = 1 }
    /^Maintainers List$/ { list = 1 }
    { print; before = $0 }' "name=$name" \
    "entry=$(printf '%s\n' "$name" "$person" "L:	$list" "S:	Maintained" "${@/#/F:	}")"
}
# objects MODULE FILE.o...: the lines of a Makefile.
objects() {
  echo "$1-y := ${*:2}" | fold -s -w 68 | sed -e 's/ *$/ \\/' -e '$s/ \\$//' -e '2,$s/^/\t/'
}
# makefile FOLDER MODULE SYMBOL NAME: the Makefile of a module, from Kbuild, where its files are
# NAME/FILE.o.
makefile() {
  local list
  list=$(value "$2-y" "$ROOT/Kbuild" "$ROOT")
  # shellcheck disable=SC2086 # words
  { printf '# SPDX-License-Identifier: GPL-2.0\nobj-$(CONFIG_%s) += %s.o\n\n' "$3" "$2"
    objects "$2" ${list//$4\//}; } >"$tree/$1/Makefile"
}
# part NAME: copies the files of scripts/intree.d/NAME, without the lines of Kconfig for the CRC
# that this kernel has elsewhere.
part() {
  local other='select CRC32$'
  [ "$crc_object" = y ] || other='select \(CRYPTO\|CRYPTO_CRC32C\|LIBCRC32C\)$'
  find "$parts/$1" -mindepth 1 -maxdepth 1 -type d -exec cp -r {} "$tree/" \;
  find "$parts/$1" -name Kconfig -printf "$tree/%P\0" | xargs -0r sed -i "/$other/d"
}
# sources FOLDER PATTERN: prints the files of a folder here.
sources() { (cd "$ROOT" && find "$1" -maxdepth 1 -name "$2" | sort); }

put_mpa() {
  local files
  mapfile -t files < <(sources mpa '*.[ch]')
  lay $MPA "${files[@]}"
  if [ "$crc_object" = y ]; then
    rm "$tree/$MPA/crc_library.h"
  else
    rm "$tree/$MPA"/crc{.c,_shash.h}
  fi
  mapfile -t files < <(sources include/mpa '*.h')
  lay include/mpa "${files[@]}"
  lay include/uapi/linux include/uapi/linux/mpa.h
  part mpa
  makefile $MPA mpa MPA mpa
  hook net/Kconfig 'source "net/mptcp/Kconfig"' 'source "net/mpa/Kconfig"'
  hook net/Makefile 'obj-$(CONFIG_MPTCP)' 'obj-$(CONFIG_MPA)		+= mpa/'
  maintained 'MPA (RFC 5044 ON TCP SOCKETS)' netdev@vger.kernel.org \
    include/mpa/ include/uapi/linux/mpa.h $MPA/
}
put_iwmpa() {
  local files
  mapfile -t files < <(sources ddp_glue '*.[ch]')
  lay $IWMPA "${files[@]}"
  lay include/ddp include/ddp/wire.h include/ddp/rdmap.h
  part iwmpa
  makefile $IWMPA iwmpa RDMA_IWMPA ddp_glue
  hook drivers/infiniband/Kconfig 'source "drivers/infiniband/sw/rxe/Kconfig"' \
    "source \"$IWMPA/Kconfig\""
  hook drivers/infiniband/sw/Makefile 'obj-$(CONFIG_RDMA_RXE)' 'obj-$(CONFIG_RDMA_IWMPA)		+= iwmpa/'
  maintained 'IWMPA (SOFTWARE IWARP DEVICE)' linux-rdma@vger.kernel.org $IWMPA/ include/ddp/
}
# suite FOLDER SYMBOL MODULE: a KUnit module's files into FOLDER/tests, with the files of kunit/
# that they include, and its lines of the Makefile.
suite() {
  local folder=$1/tests list files tables before=0
  list=$(value "$3-y" "$ROOT/kunit/Kbuild" "$ROOT/kunit")
  mapfile -t files < <(printf 'kunit/%s.c\n' ${list//.o/})
  while [ "${#files[@]}" != $before ]; do
    before=${#files[@]}
    mapfile -t files < <(cd "$ROOT" && { printf '%s\n' "${files[@]}"
      sed -n 's,^#include "\([a-z].*\)"$,kunit/\1,p' "${files[@]}" |
        while read -r f; do [ ! -e "$f" ] || echo "$f"; done; } | sort -u)
  done
  mapfile -t tables < <(printf '%s\n' "${files[@]}" | grep /vectors/)
  mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v /vectors/)
  lay "$folder" "${files[@]}"
  [ ${#tables[@]} = 0 ] || lay "$folder/vectors" "${tables[@]}"
  # shellcheck disable=SC2086 # words
  { [ -s "$tree/$folder/Makefile" ] ||
      printf '%s\n' '# SPDX-License-Identifier: GPL-2.0' \
        '# Tracepoints exist only in the modules.' "ccflags-y := -DNOTRACE -I\$(srctree)/$1"
    printf '\nobj-$(CONFIG_%s) += %s.o\n' "$2" "$3"
    objects "$3" $list; } >>"$tree/$folder/Makefile"
  echo "obj-\$(CONFIG_$2) += tests/" >>"$tree/$1/Makefile"
}
put_kunit() {
  part kunit
  suite $MPA MPA_KUNIT_TEST mpa_kunit
  suite $MPA MPA_SOCK_KUNIT_TEST mpa_sock_kunit
  suite $IWMPA IWMPA_KUNIT_TEST iwmpa_kunit
  hook net/Kconfig 'source "net/mptcp/Kconfig"' 'source "net/mpa/tests/Kconfig"'
  hook net/Makefile 'obj-$(CONFIG_MPTCP)' 'obj-$(CONFIG_MPA_KUNIT_TEST)	+= mpa/'
  hook net/Makefile 'obj-$(CONFIG_MPTCP)' 'obj-$(CONFIG_MPA_SOCK_KUNIT_TEST)	+= mpa/'
  hook drivers/infiniband/Kconfig 'source "drivers/infiniband/sw/rxe/Kconfig"' \
    "source \"$IWMPA/tests/Kconfig\""
  hook drivers/infiniband/sw/Makefile 'obj-$(CONFIG_RDMA_RXE)' \
    'obj-$(CONFIG_IWMPA_KUNIT_TEST)		+= iwmpa/'
}
put_docs() {
  part docs
  hook Documentation/networking/index.rst '   mpls-sysctl' '   mpa'
  insert Documentation/infiniband/index.rst '{ print } $0 == "   ipoib" { print "   iwmpa" }'
  hook MAINTAINERS 'F:	include/mpa/' 'F:	Documentation/networking/mpa.rst'
  hook MAINTAINERS "F:	$IWMPA/" 'F:	Documentation/infiniband/iwmpa.rst'
}
