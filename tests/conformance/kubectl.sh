#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real kubectl against `pintle apiserver`: every command of tests/data/kubectl/session.sh must print what it prints against a
# real kube-apiserver of the same version (recorded in tests/data/kubectl/session.txt).
#
#   KUBECTL=file     the real kubectl (default: kubectl in PATH)
#   SERVER=command   instead of build/pintle: started as `SERVER DIR`, must write DIR/kubeconfig
#   REAL=kubeconfig  record: run against this server and write session.txt
set -u
cd "$(dirname "$0")/../.." || exit 2
KUBECTL=${KUBECTL:-$(command -v kubectl)}
[ -x "${KUBECTL:-}" ] || { echo "SKIP kubectl: not found (set KUBECTL)"; echo "0 passed, 0 failed"; exit 0; }
golden=tests/data/kubectl/session.txt
dir=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
    rm -rf "$dir"
}
trap finish EXIT
export KUBECACHEDIR=$dir/cache NO_COLOR=1

start_server() {
    if [ -n "${SERVER:-}" ]; then
        $SERVER "$dir/data" >"$dir/log" 2>&1 &
    else
        "${PINTLE:-build/pintle}" apiserver --data "$dir/data" >"$dir/log" 2>&1 &
    fi
    server=$!
    for _ in $(seq 200); do
        [ -s "$dir/data/kubeconfig" ] && break
        sleep 0.05
    done
    [ -s "$dir/data/kubeconfig" ] || { cat "$dir/log"; echo "0 passed, 1 failed"; exit 1; }
    export KUBECONFIG=$dir/data/kubeconfig
}

kubectl() { "$KUBECTL" "$@"; }

# What differs from run to run, and the order in which a few outputs come.
normalise() {
    sed -E -e 's/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/UID/g' \
        -e 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/TIME/g' -e 's/resourceVersion: "[0-9]+"/resourceVersion: "RV"/' \
        -e 's/Resource Version: +[0-9]+/Resource Version:  RV/' -e 's/ +[0-9]+m?[0-9]*s( +|$)/  AGE\1/g' \
        -e 's/<(unknown|invalid)>( *)$/AGE/' -e 's/10\.96\.[0-9]+\.[0-9]+/IP/g' \
        -e 's#https://127\.0\.0\.1:[0-9]+#SERVER#g' -e 's/gen-[a-z0-9]{5}/gen-XXXXX/' \
        -e 's#(LIVE|MERGED)-[0-9]+#\1#g' -e 's#/tmp/[^ ]*/#/tmp/#g' -e 's/"nodePort":3[0-9]{4}/"nodePort":PORT/g' \
        -e '/^(---|\+\+\+|diff) /s/\t.*//' -e 's/[ \t]+$//' -e 's/([^ ])  +/\1  /g' -e 's/[EIW][0-9]{4} [0-9:.]+ +[0-9]+ //' \
        -e 's/kubectl-[0-9]+/kubectl-N/g'
}

title() { echo "## $*"; }
k() {
    local status in=/dev/null
    [ -t 0 ] || in=/dev/stdin
    printf '$ kubectl'
    printf ' %s' "$@" | tr '\n' ' ' | sed -E 's/uid: [0-9a-f-]{36}/uid: UID/'
    echo
    timeout 120 "$KUBECTL" "$@" >"$dir/out" 2>"$dir/err" <$in
    status=$?
    normalise <"$dir/out" | sed '$a\'
    # The faults that "is invalid:" lists have no order of their own.
    normalise <"$dir/err" >"$dir/said"
    # "very short watch" is kubectl telling of a race in itself: its deadline may end the watch before the reflector.
    sed -i '/reflector.go:[0-9]*\] .*very short watch/d' "$dir/said"
    { grep -v '^\* ' "$dir/said"; grep '^\* ' "$dir/said" | sort; } | sed 's/^/! /'
    [ $status -eq 0 ] || echo "[$status]"
    commands=$((${commands:-0} + 1))
}

if [ -n "${REAL:-}" ]; then
    export KUBECONFIG=$REAL
    mkdir -p "${golden%/*}"
    . tests/data/kubectl/session.sh </dev/null >"$golden"
    echo "recorded $commands commands"
    exit 0
fi
start_server
. tests/data/kubectl/session.sh </dev/null >"$dir/session.txt"
[ -z "${KEEP:-}" ] || cp "$dir/session.txt" "$KEEP"
awk -v golden="$golden" '
    # A command and what it printed are one entry; the two sessions are compared entry by entry.
    function key_of(line) { seen[FILENAME, line]++; return line "#" seen[FILENAME, line] }
    /^## / { cur = ""; next }
    /^\$ / { cur = key_of($0); if (FILENAME == golden) { order[++n] = cur }; text[FILENAME, cur] = ""; next }
    cur != "" { text[FILENAME, cur] = text[FILENAME, cur] $0 "\n"; other = FILENAME }
    END {
        for (i = 1; i <= n; i++) {
            c = order[i]
            if (text[golden, c] == text[ARGV[2], c] && ((ARGV[2], c) in text)) { passed++; continue }
            failed++
            name = c; sub(/#[0-9]+$/, "", name)
            printf "FAIL %s\n--- real\n%s--- pintle\n%s", name, text[golden, c], text[ARGV[2], c]
        }
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0
    }' "$golden" "$dir/session.txt"
