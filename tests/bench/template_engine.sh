#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The template engine against Helm's, called in a warm Go process: CPU time of one render with
# parsing, the same bytes checked.
set -u
cd "$(dirname "$0")/../.." || exit 2
cache=${PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/pintle/peers}

if ! command -v go >/dev/null || ! mkdir -p "$cache" ||
    ! (cd tests/conformance/engineoracle && go build -o "$cache/engineoracle" .); then
    echo "SKIP template_engine: Helm's engine cannot be built"
    exit 0
fi
make -s -j2 build/tests/conformance/engine_lines || exit 1
exec "$cache/engineoracle" -bench build/tests/conformance/engine_lines
