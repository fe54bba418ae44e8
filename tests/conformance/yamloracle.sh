#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Part of: template
# json, yaml, toml and schema against the Go libraries that Helm links, over made-up inputs.
#   yamloracle.sh [SEED [N [OPS]]]     default: another seed each day
# A share of damaged YAML may differ in the line or wording of its error (libyaml is not go-yaml): 1 in 200 is let pass.
set -u
cd "$(dirname "$0")/../.." || exit 2
seed=${1:-$(date +%j)} n=${2:-1000} ops=${3:-ysijpqtuv} dir=$PWD/build/conformance
libs="schema toml yaml json regex value base"
mkdir -p "$dir"
if ! go=$(tools/go.sh) || ! (cd tests/conformance/yamloracle && PATH=$go:$PATH go build -o "$dir/yamloracle" .); then
    echo "SKIP yamloracle: needs Go 1.26 and the modules in its go.mod"
    echo "0 passed, 0 failed"
    exit 0
fi
archives=$(printf 'build/lib%s.a ' $libs)
# shellcheck disable=SC2086
make -s $archives && cc -std=gnu17 -O2 -D_GNU_SOURCE -Ipkg tests/conformance/yamloracle/driver/driver.c -Wl,--start-group \
    $archives -Wl,--end-group -l:libyaml.a -l:libre2.a -l:libutf8proc.a -lcrypto -l:libstdc++.a -lm -pthread \
    -o "$dir/driver" || exit 1
cd "$dir" || exit 2
passed=0 failed=0
for ((i = 0; i < ${#ops}; i++)); do
    op=${ops:i:1} allowed=0
    ./yamloracle gen "$seed" "$n" "$op" >frames && ./yamloracle run <frames >want && ./driver <frames >got || exit 1
    ./yamloracle diff frames want got >diff
    bad=$(awk 'END { print $1 }' diff)
    case $op in y | s) allowed=$((n / 200)) ;; esac
    if [ "$bad" -gt "$allowed" ]; then
        cat diff
        echo "FAIL yamloracle $op: $bad of $n differ, seed $seed"
        failed=$((failed + bad))
    fi
    passed=$((passed + n - bad))
done
echo "$n made-up inputs each for ${#ops} operations, seed $seed"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
