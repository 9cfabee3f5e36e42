#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
load lib

# project: makes a project with check, and no stage.
project() {
  mkdir -p "$work/scripts/stages" "$work/scripts/uml"
  cp check lib.sh "$work/scripts/"
}

# says XPATH TEXT
says() {
  run xmllint --xpath "$1" "$work/build/junit.xml"
  [ "$output" = "$2" ] || { echo "$1 is '$output', not '$2'"; return 1; }
}

@test "check writes build/junit.xml: well-formed whatever the logs contain, with every result, and failures with their text" {
  # A project with two stages: one prints all kinds of results, one breaks off.
  . ./lib.sh
  build_test_runner
  project
  cat >"$work/scripts/stages/mixed" <<'STAGE'
#!/bin/bash
mkdir -p "$IWMPA_LOGS" "$IWMPA_LOGS/../results/mixed"
printf 'first <line> & "quotes"\n\033[1mcolour\033[0m \xff\xfe broken ]]>\n' >"$IWMPA_LOGS/bad.log"
printf 'ok\tgood & well\t1.5\t3\t\n'
printf 'FAIL\tbad <one>\t2\t1\t%s\n' "$IWMPA_LOGS/bad.log"
printf 'FAIL\tno log\t2\t1\t%s\nFAIL\ta folder\t2\t1\t%s\n' "$IWMPA_LOGS/none" "$IWMPA_LOGS"
printf 'skip\tleft out\t0\t1\tno "device"\n'
cat >"$IWMPA_LOGS/../results/mixed/peer.tap" <<'TAP'
# what it tests
    ok - a case [TX-01 TX-02] # 3 ms
    not ok - another # 4 ms
    # why <it> did
    ok - a third # SKIP no "device"
    1..3
not ok 1 - cases
1..1
TAP
STAGE
  printf '#!/bin/bash\necho "out of memory" >&2\nexit 3\n' >"$work/scripts/stages/broken"
  chmod +x "$work"/scripts/stages/*

  IWMPA_NO_SETUP=1 run "$work/scripts/check" mixed broken
  echo "$output"
  [ "$status" = 1 ]
  cat "$work/build/junit.xml"
  xmllint --noout "$work/build/junit.xml"
  says 'string(//testsuite[@name="mixed"]/@tests)' 5
  says 'string(//testcase[@name="bad <one>"]/failure)' \
    $'first <line> & "quotes"\n?[1mcolour?[0m ?? broken ]]>'
  says 'string(//testcase[@name="left out"]/skipped/@message)' 'no "device"'
  says 'string(//testcase[@name="another"]/failure)' 'why <it> did'
  says 'string(//testsuite[@name="mixed/peer"]/@failures)' 2
  says 'string(//testsuite[@name="broken"]/testcase/failure)' 'out of memory'
}

# stage NAME COMMAND: makes a stage that prints a result, runs COMMAND, and prints another if that
# succeeds.
stage() {
  printf '#!/bin/bash\nprintf "ok\\tone\\t1\\t1\\n"\n%s || exit 1\nprintf "ok\\ttwo\\t1\\t1\\n"\n' \
    "$2" >"$work/scripts/stages/$1"
  chmod +x "$work/scripts/stages/$1"
}

@test "check builds the kernel of kunit beside unit, runs scenarios beside static and kunit, and counts each result for its stage" {
  . ./lib.sh
  build_test_runner
  project
  # meet HERE THERE: waits until the other stage has come as far.
  fake meet <<MEET
touch "$work/\$1"
for ((i = 0; i < 600; i++)); do [ ! -e "$work/\$2" ] || exit 0; sleep 0.1; done
exit 1
MEET
  printf '#!/bin/bash\nmeet uml unit\n' >"$work/scripts/uml/build"
  chmod +x "$work/scripts/uml/build"
  echo "/autogroup-7 nice 3" >"$work/autogroup"
  stage unit "meet unit uml && [ ! -e $work/static-1 ] && grep -qx 19 $work/autogroup"
  stage static "meet static-1 scenarios-1"
  stage kunit "meet kunit scenarios-2"
  stage scenarios "meet scenarios-1 static-1 && meet scenarios-2 kunit"
  stage conformance true

  AUTOGROUP=$work/autogroup IWMPA_NO_SETUP=1 \
    run "$work/scripts/check" unit static kunit scenarios conformance
  echo "$output"
  [ "$status" = 0 ]
  grep -qx 3 "$work/autogroup"
  [ "${lines[-1]}" = "10 passed, 0 failed, 0 skipped" ]
  for name in unit static kunit scenarios conformance; do
    says "string(//testsuite[@name='$name']/@tests)" 2
  done
}

# ends PID: waits for its end. In a container it may stay as a zombie, if nobody waits for it.
ends() {
  local i
  for ((i = 0; i < 600; i++)); do
    grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "$1"
  return 1
}

@test "check that is interrupted leaves no process behind" {
  . ./lib.sh
  build_test_runner
  project
  fake endless <<ENDLESS
echo \$\$ >"$work/pid-\$1"
exec sleep 1000
ENDLESS
  for name in static scenarios; do stage $name "endless $name"; done

  # The shell of a test starts its jobs with SIGINT ignored, which they could not undo.
  # A session without an autogroup has an empty file.
  AUTOGROUP=/dev/null IWMPA_NO_SETUP=1 perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' \
    "$work/scripts/check" static scenarios >"$work/output" 2>&1 3>&- &
  check=$!
  until [ -s "$work/pid-static" ] && [ -s "$work/pid-scenarios" ]; do
    kill -0 $check
    sleep 0.1
  done
  kill -INT $check
  wait $check || true
  for name in static scenarios; do ends "$(cat "$work/pid-$name")"; done
}

@test "check gives its verdict when tools/runner does not build" {
  project
  printf '#!/bin/bash\nprintf "ok\\tgood\\t1\\t1\\n"\n' >"$work/scripts/stages/good"
  chmod +x "$work/scripts/stages/good"
  fake cmake <<<'echo "no compiler" >&2; exit 1'

  TEST_RUNNER='' IWMPA_NO_SETUP=1 run "$work/scripts/check" good
  echo "$output"
  [ "$status" = 1 ]
  [ "${lines[-1]}" = "0 passed, 1 failed, 0 skipped" ]
  [[ $output == *"FAIL  runner/build"*"no compiler"* ]]
}
