#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The public JSON-Schema-Test-Suite against our schema module, from the top of the checkout.
#   SUITE=DIR run.sh    DIR has tests/draft4 …; default: what Debian's json-schema-test-suite installs (drafts 4, 6, 7).
# Drafts 2019-09 and 2020-12 are in the directory json/ of the PyPI source package jsonschema 4.17.3.
set -eu
suite=${SUITE:-/usr/share/json-schema-test-suite} dir=${BUILD:-build/conformance}
[ -d "$suite/tests" ] || { echo "schemasuite: skipped: no test suite in $suite (set SUITE)"; exit 0; }
mkdir -p "$dir"
make --no-print-directory build/libschema.a build/libtoml.a build/libyaml.a build/libjson.a build/libregex.a build/libvalue.a build/libbase.a
cc -std=gnu17 -O2 -D_GNU_SOURCE -Ipkg tests/conformance/yamloracle/driver/driver.c -Wl,--start-group build/libschema.a \
    build/libtoml.a build/libyaml.a build/libjson.a build/libregex.a build/libvalue.a build/libbase.a -Wl,--end-group \
    -l:libyaml.a -l:libre2.a -l:libutf8proc.a -lcrypto -l:libstdc++.a -lm -pthread -o "$dir/driver"
bad=0
for draft in draft4 draft6 draft7 draft2019-09 draft2020-12; do
    [ -d "$suite/tests/$draft" ] || { echo "$draft: skipped: not in this suite"; continue; }
    python3 tests/conformance/schemasuite/frames.py make "$suite" "$draft" >"$dir/suite"
    "$dir/driver" <"$dir/suite" >"$dir/suite-got"
    python3 tests/conformance/schemasuite/frames.py count "$suite" "$draft" "$dir/suite-got" || bad=1
done
exit $bad
