#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The installed Go's compress/flate still makes the streams of tests/data/archive/deflate_go.txt: when it does not, archives
# packed with it are kept whole in a mirror instead of in pieces.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
if ! command -v go >/dev/null; then
    skip flate "there is no Go"
else
    check_eq "streams of $(go env GOVERSION)" "$(cd tests/conformance/flateoracle && go run . | grep -v '^#' | sha256sum)" \
        "$(grep -v '^#' tests/data/archive/deflate_go.txt | sha256sum)"
fi
finish
