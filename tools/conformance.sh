#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make conformance [T=name]: pintle against the real tools. Runs tests/conformance/*.sh (those whose name has T, or that
# say "Part of: T" in their first lines), each of which finds them in $HELM, $HELM3, $KUBECTL and $PEERS and ends with
# "N passed, N failed".
#
#   PEERS=DIR    where the real tools are or get built (default: $XDG_CACHE_HOME/pintle/peers)
#   CORPUS=DIR   real charts and what helm made of them, for the scripts that read it
set -u
cd "$(dirname "$0")/.." || exit 2
export PEERS=${PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/pintle/peers}
export HELM=$PEERS/helm HELM3=$PEERS/helm3 KUBECTL=$PEERS/kubectl
export PINTLE=$PWD/build/pintle
passed=0
failed=0

tools/packages.sh registry && make -s -j2 all >&2 || exit 1
if ! tools/peers.sh "$PEERS"; then
    echo "SKIP conformance: the real tools are missing"
    echo "0 passed, 0 failed"
    exit 0
fi
# Some scripts ask Go libraries themselves. Without Go they say that they are left out.
if go=$(tools/go.sh); then PATH=$go:$PATH; else echo "SKIP what needs Go: there is none"; fi
mkdir -p build/conformance
scripts=()
for script in tests/conformance/*.sh; do
    if [[ ${script##*/} == *"${T:-}"*.sh ]] || head -n 5 "$script" | grep -qx "# Part of: $T"; then scripts+=("$script"); fi
done
[ ${#scripts[@]} -gt 0 ] || { echo "no script has ${T:-} in its name" >&2; exit 2; }
for script in "${scripts[@]}"; do
    log=build/conformance/$(basename "$script" .sh).log
    start=$SECONDS
    status=0
    timeout -k 30 1800 "$script" >"$log" 2>&1 </dev/null || status=$?
    grep -E '^(FAIL|SKIP) ' "$log" | cut -c 1-300 | head -n 40
    last=$(tail -n 1 "$log")
    if [[ ! $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        echo "FAIL $script: ended with status $status"
        tail -n 20 "$log" | sed 's/^/    /'
        last="0 passed, 1 failed"
    fi
    echo "$(basename "$script" .sh): $last, $((SECONDS - start)) s"
    passed=$((passed + ${last%% *}))
    last=${last#*, }
    failed=$((failed + ${last%% *}))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
