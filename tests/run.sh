#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make test: unit tests and fuzz corpora under the sanitizers, scripts in tests/e2e, the fast gates.
#
#   T=module          only tests/unit/module and, of the scripts and fuzz targets, those whose name has it
#   TESTFILTER=name*  only these tests of the unit test programs
#   JOBS=2            programs at a time
#
# Prints a line for each failure and each part that was left out; the last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
export ASAN_OPTIONS=${ASAN_OPTIONS:-allow_user_segv_handler=0:detect_leaks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export PINTLE=$PWD/build/pintle PINTLE_ASAN=$PWD/build/asan/pintle
T=${T:-}
JOBS=${JOBS:-2}
results=build/asan/results
total_passed=0
total_failed=0

add() { # PASSED FAILED
    total_passed=$((total_passed + $1))
    total_failed=$((total_failed + $2))
}

# One program: its output and exit status go to $results/NAME.{out,rc}.
run_one() {
    local name
    name=$(tr / . <<<"${1#build/asan/}")
    case $1 in
    *.sh) timeout 900 bash "$1" ;;
    */fuzz_*) timeout 300 "$1" "tests/fuzz/corpus/${1##*/fuzz_}" ;;
    *) CMOCKA_MESSAGE_OUTPUT=TAP timeout 300 "$1" ;;
    esac >"$results/$name.out" 2>&1 </dev/null
    echo $? >"$results/$name.rc"
}
export -f run_one
export results

run_all() { printf '%s\n' "$@" | xargs -P "$JOBS" -I{} bash -c 'run_one {}'; }

show_tail() { # NAME: what a failed program said last
    tail -n 40 "$results/$1.out" | cut -c 1-400 | sed 's/^/    /'
}

# A unit test program speaks TAP; a crash or a leak is a failure of its own.
report_unit() { # PROGRAM
    local name rc passed failed skipped
    name=$(tr / . <<<"${1#build/asan/}")
    rc=$(cat "$results/$name.rc")
    passed=$(grep -c '^ok ' "$results/$name.out")
    failed=$(grep '^not ok ' "$results/$name.out" | grep -vc '# SKIP')
    skipped=$(grep -c '^not ok .*# SKIP' "$results/$name.out")
    sed -n "s|^not ok [0-9]* - |FAIL ${1##*/unit/}: |p" "$results/$name.out"
    [ "$skipped" -eq 0 ] || echo "SKIP ${1##*/unit/}: $skipped tests: what they need is not here"
    if [ "$rc" -ne 0 ] && [ "$failed" -eq 0 ]; then
        echo "FAIL ${1##*/unit/}: ended with status $rc"
        failed=1
    elif [ $((passed + failed + skipped)) -eq 0 ] && [ -z "${TESTFILTER:-}" ]; then
        echo "FAIL ${1##*/unit/}: ran no test"
        failed=1
    fi
    [ "$failed" -eq 0 ] || show_tail "$name"
    add "$passed" "$failed"
}

report_fuzz() { # PROGRAM
    local name=${1#build/asan/} rc
    rc=$(cat "$results/$name.rc")
    if [ "$rc" -eq 0 ] && ! grep -q '^0 inputs' "$results/$name.out"; then
        add 1 0
    else
        echo "FAIL $name: replay ended with status $rc"
        show_tail "$name"
        add 0 1
    fi
}

report_script() { # SCRIPT: its last line counts
    local name rc last
    name=$(tr / . <<<"$1")
    rc=$(cat "$results/$name.rc")
    last=$(tail -n 1 "$results/$name.out")
    grep -E '^(FAIL|SKIP) ' "$results/$name.out" | sed "s|^\(....\) |\1 ${1#tests/}: |"
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        add "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        [ "${BASH_REMATCH[2]}" -eq 0 ] || show_tail "$name"
        if [ "$rc" -eq 0 ] || [ "${BASH_REMATCH[2]}" -gt 0 ]; then return; fi
    fi
    echo "FAIL ${1#tests/}: ended with status $rc"
    show_tail "$name"
    add 0 1
}

build() {
    local log=$results/build.out
    make -k -j"$JOBS" VARIANT=asan T="$T" unit-tests fuzz-targets all >"$log" 2>&1 && make -k -j"$JOBS" all >>"$log" 2>&1 &&
        return
    echo "FAIL build"
    grep -E 'error|warning|\*\*\*|undefined' "$log" | head -n 40 | sed 's/^/    /'
    add 0 1
}

rm -rf "$results"
mkdir -p "$results"
build

units=()
for source in tests/unit/${T:-*}/test_*.c; do
    program=build/asan/${source%.c}
    if [ -x "$program" ]; then units+=("$program"); fi
done
fuzzers=()
for source in tests/fuzz/fuzz_*"$T"*.c; do
    program=build/asan/$(basename "$source" .c)
    if [ -x "$program" ]; then fuzzers+=("$program"); fi
done
scripts=()
for script in tests/e2e/*"$T"*.sh; do
    if [ -f "$script" ]; then scripts+=("$script"); fi
done
[ -n "$T" ] || scripts+=(tests/check/fast.sh)

if [ ${#units[@]} -gt 0 ]; then run_all "${units[@]}"; fi
for program in "${units[@]}"; do report_unit "$program"; done
if [ -n "${TESTFILTER:-}" ]; then
    echo "SKIP fuzz corpora and scripts: TESTFILTER is set"
else
    if [ ${#fuzzers[@]} -gt 0 ]; then run_all "${fuzzers[@]}"; fi
    for program in "${fuzzers[@]}"; do report_fuzz "$program"; done
    # Scripts start servers and measure time: one after the other.
    for script in "${scripts[@]}"; do
        run_one "$script"
        report_script "$script"
    done
fi

if [ "$total_passed" -eq 0 ]; then
    echo "FAIL tests/run.sh: nothing was run"
    add 0 1
fi
echo "$total_passed passed, $total_failed failed"
[ "$total_failed" -eq 0 ]
