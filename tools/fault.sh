#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make fault [T=name] [QUICK=1] [SEED=N]: runs the scripts of tests/fault whose name has T, each of which kills pintle at
# many moments, looks at what comes of it, and ends with "N passed, N failed". QUICK=1 takes a sample, in at most 6
# minutes; all of it takes at most 20. The real charts of $CORPUS take part when they are there.
set -u
cd "$(dirname "$0")/.." || exit 2
export PINTLE=$PWD/build/pintle
passed=0
failed=0

tools/packages.sh test && make -s -j2 all >&2 || exit 1
mkdir -p build/fault
for script in tests/fault/*"${T:-}"*; do
    [ -f "$script" ] && [ -x "$script" ] || continue
    log=build/fault/$(basename "${script%.*}").log
    start=$SECONDS
    status=0
    timeout -k 30 1500 "$script" >"$log" 2>&1 </dev/null || status=$?
    grep -vE '^[0-9]+ passed' "$log" | cut -c 1-400
    last=$(tail -n 1 "$log")
    if [[ ! $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        echo "FAIL $script: ended with status $status"
        last="0 passed, 1 failed"
    fi
    echo "$(basename "${script%.*}"): $last, $((SECONDS - start)) s"
    passed=$((passed + ${last%% *}))
    last=${last#*, }
    failed=$((failed + ${last%% *}))
done
[ $((passed + failed)) -gt 0 ] || { echo "no script has ${T:-} in its name" >&2; exit 2; }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
