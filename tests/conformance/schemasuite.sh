#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Part of: template
# The public JSON-Schema-Test-Suite against our schema module.
#   SUITE=DIR schemasuite.sh    DIR has tests/draft4 …; default: the directory json/ in the source of the Python package
#                               jsonschema, which pip fetches once, or what Debian's json-schema-test-suite installs.
set -u
cd "$(dirname "$0")/../.." || exit 2
cache=${PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/pintle/peers}
source=jsonschema-4.17.3 dir=$PWD/build/conformance
suite=${SUITE:-$cache/$source/json}
if [ -z "${SUITE:-}" ] && [ ! -d "$suite" ]; then
    mkdir -p "$cache" && (cd "$cache" && python3 -m pip download -q --no-deps --no-binary jsonschema "${source/-/==}" &&
        tar -xzf "$source.tar.gz" && rm "$source.tar.gz") 2>/dev/null
    [ -d "$suite" ] || suite=/usr/share/json-schema-test-suite
fi
if [ ! -d "$suite/tests" ]; then
    echo "SKIP schemasuite: no test suite in $suite (set SUITE)"
    echo "0 passed, 0 failed"
    exit 0
fi
mkdir -p "$dir"
archives=$(printf 'build/lib%s.a ' schema toml yaml json regex value base)
# shellcheck disable=SC2086
make -s $archives && cc -std=gnu17 -O2 -D_GNU_SOURCE -Ipkg tests/conformance/yamloracle/driver/driver.c -Wl,--start-group \
    $archives -Wl,--end-group -l:libyaml.a -l:libre2.a -l:libutf8proc.a -lcrypto -l:libstdc++.a -lm -pthread \
    -o "$dir/driver" || exit 1
passed=0 failed=0
for draft in draft4 draft6 draft7 draft2019-09 draft2020-12; do
    [ -d "$suite/tests/$draft" ] || { echo "SKIP schemasuite: $draft is not in $suite"; continue; }
    python3 tests/conformance/schemasuite/frames.py make "$suite" "$draft" >"$dir/suite"
    "$dir/driver" <"$dir/suite" >"$dir/suite-got"
    python3 tests/conformance/schemasuite/frames.py count "$suite" "$draft" "$dir/suite-got" >"$dir/suite-count"
    grep '^FAIL' "$dir/suite-count"
    read -r _ ok bad remote < <(tail -n 1 "$dir/suite-count")
    echo "$draft: $ok passed, $bad failed, $remote need documents that are not loaded"
    passed=$((passed + ok))
    failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
