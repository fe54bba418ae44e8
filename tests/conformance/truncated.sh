#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every chart archive of the corpus cut at 100 random places, under the sanitizers: never a crash, a hang or another
# chart. `make test` cuts at a few.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
corpus=${CORPUS:-$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")/../shared/corpus}
if [ ! -d "$corpus/charts" ]; then
    skip truncated "there is no corpus at $corpus (set CORPUS)"
    finish
    exit
fi
program=build/asan/tests/unit/chart/test_truncated
make -s VARIANT=asan "$program" >&2 || fail build
if output=$(CORPUS=$corpus CUTS=100 ASAN_OPTIONS=allow_user_segv_handler=0 timeout 900 "$program" 2>&1); then
    pass
else
    fail "charts cut short" "$output"
fi
finish
