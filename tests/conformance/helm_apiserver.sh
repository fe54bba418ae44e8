#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real helm against `pintle apiserver`: the life of a release, several at once, and a server that is killed in between.
#
#   HELM=file, HELM3=file, KUBECTL=file   the real tools
set -u
cd "$(dirname "$0")/../.." || exit 2
for tool in HELM KUBECTL; do
    [ -x "${!tool:-}" ] || { echo "SKIP helm_apiserver: no $tool"; echo "0 passed, 0 failed"; exit 0; }
done
PINTLE=${PINTLE:-build/pintle}
dir=$(mktemp -d)
server=
passed=0
failed=0
finish() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
    rm -rf "$dir"
}
trap finish EXIT
export KUBECACHEDIR=$dir/cache HELM_CACHE_HOME=$dir/helm HELM_CONFIG_HOME=$dir/helm KUBECONFIG=$dir/data/kubeconfig

start_server() {
    rm -f "$dir/data/kubeconfig"
    "$PINTLE" apiserver --data "$dir/data" >"$dir/log" 2>&1 &
    server=$!
    for _ in $(seq 200); do
        [ -s "$dir/data/kubeconfig" ] && return
        sleep 0.05
    done
    cat "$dir/log"
    echo "0 passed, 1 failed"
    exit 1
}

check() { # NAME COMMAND…: passes when the command does
    local name=$1
    shift
    if "$@" >"$dir/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -n 5 "$dir/out" | sed 's/^/    /'
    fi
}
says() { # PATTERN COMMAND…: the output has it
    local pattern=$1
    shift
    "$@" >"$dir/said" 2>&1
    cat "$dir/said"
    grep -qE -- "$pattern" "$dir/said"
}

nothing() { # KINDS FLAGS…: there is none of them
    "$KUBECTL" get "$@" -o name >"$dir/said" 2>&1
    cat "$dir/said"
    [ ! -s "$dir/said" ]
}

life() { # HELM NAME FLAGS…
    local helm=$1 name=$2
    shift 2
    check "$name: install" "$helm" install "$name" "$dir/demo" "$@"
    check "$name: install again" says 'cannot re-use|cannot reuse|still in use' "$helm" install "$name" "$dir/demo"
    check "$name: ls" says "^$name.*deployed" "$helm" ls
    check "$name: objects" says "$name-demo" "$KUBECTL" get deploy,svc,sa -o name
    check "$name: upgrade" "$helm" upgrade "$name" "$dir/demo" --set replicaCount=3 --set service.port=8080
    check "$name: replicas" says '^3 8080$' "$KUBECTL" get deploy/"$name-demo" svc/"$name-demo" \
        -o 'jsonpath={.items[0].spec.replicas} {.items[1].spec.ports[0].port}'
    check "$name: history" says '^2.*deployed' "$helm" history "$name"
    check "$name: get values" says 'replicaCount: 3' "$helm" get values "$name"
    check "$name: rollback" "$helm" rollback "$name" 1
    check "$name: replicas are back" says '^1$' "$KUBECTL" get deploy "$name-demo" -o 'jsonpath={.spec.replicas}'
    check "$name: status" says 'REVISION: 3' "$helm" status "$name"
    check "$name: drop an object" "$helm" upgrade "$name" "$dir/demo" --set serviceAccount.create=false
    check "$name: it is gone" says 'NotFound' "$KUBECTL" get sa "$name-demo"
    check "$name: uninstall" "$helm" uninstall "$name"
    check "$name: nothing is left" nothing deploy,svc,sa,secret -l "app.kubernetes.io/instance=$name"
}

at_once() { # N releases installed together
    local i pids=() status=0
    for i in $(seq "$1"); do
        "$HELM" install "many$i" "$dir/demo" >"$dir/many$i" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i" || status=1
    done
    cat "$dir"/many*
    return $status
}

"$HELM" create "$dir/demo" >/dev/null
start_server
life "$HELM" four
[ ! -x "${HELM3:-}" ] || life "$HELM3" three
check "ten releases at once" at_once 10
check "all of them are there" says '^10$' bash -c "'$HELM' ls -q | wc -l"
kill -9 "$server"
wait "$server" 2>/dev/null
start_server
check "after kill -9: ls" says '^10$' bash -c "'$HELM' ls -q | wc -l"
check "after kill -9: upgrade" "$HELM" upgrade many1 "$dir/demo" --set replicaCount=2
check "after kill -9: uninstall" bash -c "'$HELM' uninstall \$('$HELM' ls -q)"
check "nothing is left" nothing deploy,secret
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
