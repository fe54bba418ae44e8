#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares json, yaml, toml and schema with the Go libraries that Helm links, over made-up inputs.
#   run.sh [SEED [N [OPS]]]        run it from the top of the checkout
# Needs Go and its modules (network or module cache); says so when they are missing.
set -eu
seed=${1:-1} n=${2:-2000} ops=${3:-ysijpqtuv}
top=$(pwd) dir=${BUILD:-build/conformance}
command -v go >/dev/null || { echo "yamloracle: skipped: go is not installed"; exit 0; }
mkdir -p "$dir"
(cd tests/conformance/yamloracle && go build -o "$top/$dir/yamloracle" .) ||
    { echo "yamloracle: skipped: the Go modules cannot be had"; exit 0; }
make --no-print-directory build/libschema.a build/libtoml.a build/libyaml.a build/libjson.a build/libregex.a build/libvalue.a build/libbase.a
cc -std=gnu17 -O2 -D_GNU_SOURCE -Ipkg tests/conformance/yamloracle/driver/driver.c -Wl,--start-group build/libschema.a \
    build/libtoml.a build/libyaml.a build/libjson.a build/libregex.a build/libvalue.a build/libbase.a -Wl,--end-group \
    -l:libyaml.a -l:libre2.a -l:libutf8proc.a -lcrypto -l:libstdc++.a -lm -pthread -o "$dir/driver"
cd "$dir"
./yamloracle gen "$seed" "$n" "$ops" >frames
./yamloracle run <frames >want
./driver <frames >got
./yamloracle diff frames want got
