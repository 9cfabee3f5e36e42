# SPDX-License-Identifier: GPL-2.0
# Sourced by scripts/stages/static and scripts/lint: the gates that read files and build nothing.
# Each is a function that prints its findings and fails if there are any. They work in the
# checkout's root, on the files that $listing prints, with $work as a scratch folder.
# shellcheck shell=bash

text_gates=(shell spdx version kernel_doc checkpatch parameters format spelling words names lines
  merges commits)
kernel_source=$("$ROOT/scripts/kernel" source)
listing=project_files

# files PATTERN: prints the listed files whose paths match PATTERN.
files() { $listing | { grep -E "$1" || true; }; }
kernel_c() { files '^(mpa|ddp_glue|kunit|include|tools/kverbs)/.*\.[ch]$'; }
scripts() {
  files '^(scripts|tests|\.ci|\.githooks|tools|debian)/' |
    xargs -r awk 'FNR == 1 && /^#!.*[\/ ](ba)?sh( |$)/ { print FILENAME } { nextfile }'
}

# Ignored types:
#   FILE_PATH_CHANGES, MAINTAINERS   no patch, and no kernel tree
#   LINUX_VERSION_CODE               compat shims say which kernel they are for
#   CAMELCASE                        names of the kernel's own (PageXxx, min_t on uXX)
#   PREFER_KERNEL_TYPES              the wire headers are also compiled in user space
#   MACRO_ARG_UNUSED                 a macro that replaces a function that a kernel lacks need not
#                                    use its arguments
# Headers of tracepoints use TRACE_EVENT() in the usual style, which checkpatch mistakes for calls
# and expressions. It also mistakes macros that make a table's entry, or several lines, from each
# line of a list (include/mpa/settings.h).
checkpatch() {
  local ignore=FILE_PATH_CHANGES,LINUX_VERSION_CODE,CAMELCASE,PREFER_KERNEL_TYPES,MACRO_ARG_UNUSED$1
  shift
  # Run it in $work, because it leaves a file in its current folder.
  (cd "$work" && "$kernel_source/scripts/checkpatch.pl" --no-tree --strict --terse \
    --show-types --no-summary --color=never \
    --max-line-length=100 --ignore "$ignore" -f "${@/#/$ROOT/}")
}
gate_checkpatch() {
  local bad=0 list traces tables
  local of_tables=,TRAILING_SEMICOLON,COMPLEX_MACRO,MULTISTATEMENT_MACRO_USE_DO_WHILE
  of_tables+=,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
  mapfile -t tables < <(kernel_c | xargs -r grep -lE '#define (MPA|IWM)_(COUNTER|SETTING|OPTION)\(')
  mapfile -t list < <(kernel_c | grep -v '/trace\.h$' | grep -vxFf <(printf '%s\n' "${tables[@]}"))
  mapfile -t traces < <(kernel_c | grep '/trace\.h$')
  [ ${#list[@]} = 0 ] || checkpatch '' "${list[@]}" || bad=1
  [ ${#tables[@]} = 0 ] || checkpatch "$of_tables" "${tables[@]}" || bad=1
  [ ${#traces[@]} = 0 ] || checkpatch \
    ,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,COMPLEX_MACRO,MACRO_ARG_REUSE,SPACING \
    "${traces[@]}" || bad=1
  return $bad
}
gate_kernel_doc() {
  local list
  mapfile -t list < <(files '^include/.*\.h$|^(mpa|ddp_glue)/.*\.c$' | xargs -r grep -lE '^/\*\*$')
  [ ${#list[@]} = 0 ] || "$kernel_source/scripts/kernel-doc" -none -Werror "${list[@]}"
}

# finds_nothing ARGUMENT...: runs grep; its own failure fails also.
finds_nothing() {
  local status=0
  grep "$@" || status=$?
  [ $status = 1 ]
}

# A function and a tracepoint have at most five parameters, except a callback that the kernel
# declares.
gate_parameters() {
  local list status=0
  mapfile -t list < <(files '^(mpa|ddp_glue|include)/.*\.[ch]$')
  [ ${#list[@]} != 0 ] || return 0
  grep -HPzo \
    '(?:(?:(?<=\n)[a-z][\w *\n]*?\b|\(\*)\w+\)?|TP_PROTO)\((?:(?:[^(),;{}]|\([^()]*\))++,){5}.*\n' \
    "${list[@]}" \
    >"$work/parameters" || status=$?
  [ $status -le 1 ] && finds_nothing -zv iwm_reg_user_mr "$work/parameters"
}

gate_shell() {
  local bad=0 f list
  mapfile -t list < <(scripts; files '^scripts/.*\.sh$|^tests/lib/|\.bash$')
  for f in "${list[@]}"; do bash -n "$f" || bad=1; done
  [ ${#list[@]} = 0 ] ||
    shellcheck -x -S warning -e SC1090,SC1091,SC2034,SC2154 -s bash "${list[@]}" || bad=1
  files '\.bats$' | xargs -r shellcheck -S warning -e SC2034,SC2154 || bad=1
  return $bad
}
# Kbuild, CMake and the package's dkms.conf read the version from VERSION. It is also the newest in
# both changelogs.
gate_version() {
  local version said
  version=$(cat VERSION)
  said="debian/changelog $(sed -n '1s/^iwmpa (\(.*\)) .*/\1/p' debian/changelog), CHANGELOG.md $(
    sed -nE 's/^## ([0-9]\S*)( - [0-9-]+)?$/\1/p' CHANGELOG.md | head -1)"
  [ "$said" = "debian/changelog $version, CHANGELOG.md $version" ] || {
    echo "VERSION says $version, but $said"
    return 1
  }
}
gate_spdx() {
  local list
  local pattern='\.([ch]|cpp|hpp|sh|bash|bats|txt|cmake|conf|json|awk)$'
  pattern+='|(^|/)(Kbuild|Makefile|\.[a-z-]*)$|^(scripts|\.ci|\.githooks)/[^.]*$'
  mapfile -t list < <(files "$pattern" | grep -vE 'corpus/|vectors/.*\.txt$')
  [ ${#list[@]} = 0 ] || awk '
    BEGIN { for (i = 1; i < ARGC; i++) without[ARGV[i]] }
    /SPDX-License-Identifier: / { delete without[FILENAME] }
    FNR == 4 { nextfile }
    END { for (f in without) { print f ": no SPDX line"; bad = 1 } exit bad }' "${list[@]}"
}

# Debian 12 and 13 have this version of clang-format; others break lines elsewhere.
gate_format() { files '^tools/.*\.[ch]pp$' | xargs -r clang-format-19 --dry-run -Werror; }

prose() {
  local pattern='\.(md|rows|[1478]|[ch]|[ch]pp|sh|bash|bats|pml|litmus)$'
  pattern+='|(^|/)(Kbuild|Makefile|CMakeLists.txt|control)$|^scripts/[^.]*$'
  files "$pattern" | { grep -vE 'corpus/|vectors/' || true; }
}
gate_spelling() { prose | xargs -r codespell --ignore-words-list te,tthe,wirte,upto,iif; }
# scripts/words: words that plain technical English avoids, each line an extended Perl regular
# expression.
gate_words() {
  local list
  grep -v '^#' scripts/words >"$work/words"
  mapfile -t list < <(prose)
  [ ${#list[@]} = 0 ] || finds_nothing -nPi -f <(paste -sd '|' "$work/words") "${list[@]}"
}

# names FILE...: prints the names of functions and variables in backticks, each with its page.
names() {
  grep -oHE '`[^`]+`' "$@" | grep -oE '^[^:]+:|\b[a-z][a-z0-9]*(_[a-z0-9]+)+\b' |
    awk '/:$/ { page = $0; next } { print page " " $0 }' | sort -u
}
# A function or setting that a page names must exist: here, or in other projects
# (scripts/names-elsewhere).
gate_names() {
  local list
  mapfile -t list < <(files '\.(md|rows)$')
  [ ${#list[@]} -gt 0 ] || return 0
  project_files | grep -vE '\.(md|rows|tsv)$' | xargs cat | grep -aoE '\b[A-Za-z0-9_]+\b' |
    cat - scripts/names-elsewhere |
    awk 'NR == FNR { known[$0]; next }
      !($2 in known) { print $1 " nothing has the name " $2; bad = 1 }
      END { exit bad }' - <(names "${list[@]}")
}

# Lines of shell have at most 100 columns, but a line that names a bats test allows no break. Lines
# of pages have at most 140, outside of tables and examples.
gate_lines() {
  local list bad=0
  mapfile -t list < <({
    scripts
    files '^scripts/.*\.sh$|^tests/lib/|\.(md|bash|bats)$'
  } | sort -u)
  [ ${#list[@]} = 0 ] || awk '
    FNR == 1 { page = FILENAME ~ /\.md$/; example = 0 }
    page && /^```/ { example = !example }
    (page ? /^\|/ || example : /^@test /) { next }
    length($0) > (page ? 140 : 100) { print FILENAME ":" FNR ": " length($0) " columns"; bad = 1 }
    END { exit bad }' "${list[@]}" || bad=1
  return $bad
}

# A merge that was resolved by hand may leave its marks, or the headings of both sides.
gate_merges() {
  local list bad=0
  mapfile -t list < <(files .)
  [ ${#list[@]} = 0 ] || finds_nothing -HnIE '^(<{7}|>{7}) ' "${list[@]}" || {
    echo "a merge left its marks"
    bad=1
  }
  mapfile -t list < <(files '\.md$')
  [ ${#list[@]} = 0 ] || awk '
    FNR == 1 { example = 0; before = "" }
    /^```/ { example = !example }
    !example && /^#/ && before ~ /^#/ { print FILENAME ":" FNR ": two headings in a row"; bad = 1 }
    { before = example ? "" : $0 }
    END { exit bad }' "${list[@]}" || bad=1
  return $bad
}

# Check the newest subjects. A package's source and an archive have no history.
gate_commits() {
  local n
  n=$(git rev-list --count --max-count=21 HEAD 2>/dev/null) || return 0
  [ "$n" -lt 2 ] || gitlint --commits "HEAD~$((n - 1))..HEAD"
}
