#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma-core's own tests, through its Python bindings. pyverbs.known lists the tests that do not
# pass, with the reason. All other tests must pass, and the listed ones must end as listed.
# scripts/pyverbs runs this with other types of devices, and compares the results. KEEP=DIR keeps
# the results and unittest's log there.
# suite: applications
. "$(dirname "$0")/../lib/scenario.sh"
known=$(dirname "$0")/pyverbs.known
begin "rdma-core's tests"
tests=/usr/share/doc/rdma-core/tests
[ -e $tests/run_tests.py ] ||
  skip "$tests is missing: python3-pyverbs, and dpkg has to install documentation"
load_modules || finish
# rxe and siw do not support namespaces as iwmpa does, so they run on one host; pyverbs.known has
# iwmpa's results only. iwmpa's GIDs 0 and 1 are link addresses, by which nobody can connect.
device=rd1 in_host=(ip netns exec h1) gid=2 of_known=y
if [ "$LINKTYPE" = iwmpa ]; then
  two_hosts || finish
else
  device=rd0 in_host=() gid=0 of_known=''
  one_host || finish
fi
mkdir "$WORK/pyverbs"
cp -r $tests "$WORK/pyverbs"
gunzip "$WORK"/pyverbs/tests/*.gz
# The tests look for the netdev's name below the device's parent. A device without hardware has no
# parent: make a folder that replaces it.
mkdir -p "$WORK/parent/$device/wire"
# From 46 on they ask "rdma link" also.
sed -i "s#/sys/class/infiniband/{}/device/net/#$WORK/parent/{}/#" "$WORK"/pyverbs/tests/base*.py
# The tests choose fields of extended queue pairs at random, among them one that libibverbs's own
# fallback does not accept: choose none.
sed -i 's/selected = sample(supp_flags)/selected = []/' "$WORK/pyverbs/tests/utils.py"

# Ignore the exit status, because some tests are known to fail.
run_tests() {
  (cd "$WORK/pyverbs" && bounded 500 "${in_host[@]}" \
    /usr/bin/python3 tests/run_tests.py --dev $device --gid $gid -v) >"$WORK/log" 2>&1
  grep -E '^Ran [1-9][0-9]* tests' "$WORK/log"
}
# Prints unittest's results as TEST<tab>ok|skip|fail<tab>REASON. A test's verdict is behind its name
# or behind its first line of text, or on a separate line when the test itself printed something.
results() {
  awk '
    match($0, /^test_[a-zA-Z0-9_]+ \(tests\.[A-Za-z0-9_.]+\)/) {
      test = substr($0, RSTART, RLENGTH); sub(/^.*\(tests\./, "", test); sub(/\)$/, "", test)
    }
    test && match($0, /(^| \.\.\. )(ok|FAIL|ERROR|skipped .*)$/) {
      verdict = substr($0, RSTART, RLENGTH); sub(/^ \.\.\. /, "", verdict)
      reason = verdict ~ /^skipped/ ? substr(verdict, 9) : ""
      print test "\t" (verdict == "ok" ? "ok" : reason == "" ? "fail" : "skip") "\t" reason
      test = ""
    }' "$WORK/log"
}
all_understood() {
  echo "understood $(wc -l <"$WORK/results") of: $(grep '^Ran ' "$WORK/log")"
  grep -q "^Ran $(wc -l <"$WORK/results") tests" "$WORK/log"
}
# The first line of pyverbs.known that matches a test applies. Lines for other versions of rdma-core
# do not count.
as_known() {
  awk -F '\t' -v version="$(dpkg-query -W -f '${Version}' python3-pyverbs)" '
    NR == FNR {
      if ($0 == "" || $0 ~ /^#/) next
      split($0, field, / +/); marked = split(field[1], of, /[:-]/) > 1
      if (marked && (version + 0 < of[2] + 0 || (of[3] != "" && version + 0 > of[3] + 0))) next
      want[++n] = of[1]; line[n] = $0
      pattern = field[2]; gsub(/\./, "\\.", pattern); gsub(/\*/, ".*", pattern)
      like[n] = "^" pattern "$"
      next
    }
    {
      expected = "ok"
      for (i = 1; i <= n; i++) if ($1 ~ like[i]) { expected = want[i]; met[i] = 1; break }
      if ($2 != expected) { print $1 ": " $2 " " $3 ", known is: " expected; bad = 1 }
    }
    END {
      for (i = 1; i <= n; i++) if (!met[i]) { print "no such test any more: " line[i]; bad = 1 }
      exit bad
    }' "$known" "$WORK/results"
}
no_object_left() { ! rdma resource show | grep -qE '(pd|cq|qp|cm_id|mr|ctx|srq) [1-9]'; }

check "the tests run" run_tests
results >"$WORK/results"
check "each test's result is understood" all_understood
[ -z "$of_known" ] || check "all are as known" as_known ||
  sed -n '/^=====/,$p' "$WORK/log" | head -300
[ -z "${KEEP:-}" ] || { cp "$WORK/results" "$KEEP/results"; cp "$WORK/log" "$KEEP/unittest"; }
cut -f 2 "$WORK/results" | sort | uniq -c
check "no object is left" until_true 20 no_object_left
finish
