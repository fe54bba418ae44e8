#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Part of: template
# The template engine against Helm's own, in one process each: the stored cases are still what Helm says, and random
# templates render to the same bytes or fail with the same words.
#
#   N=20000    how many random templates (the full number is 100000)     SEED=1   the first of them
#
# Needs Go 1.26 and the module helm.sh/helm/v4. The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 2
cache=${PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/pintle/peers}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

if ! go=$(tools/go.sh) || ! mkdir -p "$cache" ||
    ! (cd tests/conformance/engineoracle && PATH=$go:$PATH go build -o "$cache/engineoracle" .); then
    echo "SKIP engine: Helm's engine cannot be built, which needs Go 1.26"
    echo "0 passed, 0 failed"
    exit 0
fi
make -s -j2 build/tests/conformance/engine_lines || exit 1

# Addresses differ in every run; so does what depends on the clock.
cp tests/data/template/*.test "$work" && TZ=UTC "$cache/engineoracle" "$work"/*.test 2>/dev/null
for file in tests/data/template/*.test; do
    if diff -a <(sed -E 's/0x[0-9a-f]{7,}/ADDRESS/g' "$file") \
        <(sed -E 's/0x[0-9a-f]{7,}/ADDRESS/g' "$work/${file##*/}") >"$work/diff"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $file is not what Helm says now"
        head -n 20 "$work/diff"
    fi
done

if TZ=UTC GOMEMLIMIT=4GiB "$cache/engineoracle" -compare build/tests/conformance/engine_lines "${SEED:-1}" "${N:-20000}" \
    >"$work/random" 2>/dev/null; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL random templates differ"
    head -c 20000 "$work/random"
fi
tail -n 3 "$work/random"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
