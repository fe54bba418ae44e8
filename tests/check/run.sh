#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make check [T="gate gate"]: all gates, or these. Prints one line per gate, what a failing one found, and at last
# "N passed, N failed". `tests/check/run.sh fast` runs those that `make test` runs.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/check/gates.sh

case ${1:-} in
"") gates="$FAST_GATES $SLOW_GATES" ;;
fast) gates=$FAST_GATES ;;
*) gates=$* ;;
esac

passed=0
failed=0
for gate in $gates; do
    case " $FAST_GATES $SLOW_GATES $OPTIONAL_GATES " in
    *" $gate "*) ;;
    *) echo "no such gate: $gate; there are $FAST_GATES $SLOW_GATES $OPTIONAL_GATES" >&2; exit 2 ;;
    esac
    start=$SECONDS
    if output=$("gate_$gate" 2>&1); then
        passed=$((passed + 1))
        printf 'ok   %-9s %3d s\n' "$gate" $((SECONDS - start))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n' "$gate"
        sed 's/^/    /' <<<"$output" | head -n "${LINES_MAX:-60}"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
