#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The index database with bytes flipped and its end cut off at INDEX_FLIPS places (10,000) each, and killed at each write: no wrong
# answer, and the next load brings everything back.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh

make -s -j2 build/tests/unit/registry/test_index_damage || exit 1
if INDEX_FLIPS=${INDEX_FLIPS:-10000} LOG=error build/tests/unit/registry/test_index_damage; then
    pass
else
    fail "the index database survives damage"
fi
finish
