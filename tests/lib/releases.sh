# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scripts that let pintle install charts on one server or the other, after check.sh and cluster.sh:
#
#   server_start real|own DIR     the real API server, or pintle's; sets KUBECONFIG; objects in it, workloads simulated
#   repository_start DIR FOLDER   serves a folder of archives, makes a Repository of it with all its charts
#   controller_start DIR [ARGS…]  pintle controller
#   release_apply NAME CHART MORE a Release in the namespace of its name; MORE is spec in JSON members (", inlineValues: {}")
#   release_says NAME TEXT [S]    waits until Ready is this: "True Deployed …"
#   servers_stop
server_pids=()

server_run() { # DIR NAME COMMAND…
    local dir=$1 name=$2
    shift 2
    "$@" >"$dir/$name.out" 2>>"$dir/$name.log" </dev/null &
    server_pids+=($!)
}

server_start() {
    mkdir -p "$2"
    if [ "$1" = real ]; then
        cluster_start "$2/cluster" || return 1
    else
        server_run "$2" apiserver "$PINTLE" apiserver --data "$2/data"
        wait_for 20 grep -q KUBECONFIG= "$2/apiserver.out" || return 1
        export KUBECONFIG=$2/data/kubeconfig KUBECACHEDIR=$2/cache
    fi
    "$PINTLE" crds >"$2/crds.yaml"
    "$KUBECTL" apply --server-side -f "$2/crds.yaml" >/dev/null || return 1
    "$KUBECTL" wait --for condition=Established --timeout 30s -f "$2/crds.yaml" >/dev/null || return 1
    "$KUBECTL" create namespace pintle-system >/dev/null
    server_run "$2" simulate "$PINTLE" simulate --delay 50ms --controllers on
}

repository_start() {
    local file charts=
    server_run "$1" mirror "$PINTLE" mirror serve "$2" --address 127.0.0.1:0
    wait_for 10 grep -q ' at http' "$1/mirror.out" || return 1
    for file in "$2"/*.tgz; do charts+="{ name: $(basename "$file" | sed 's/-[0-9].*//'), versions: ['*'] },"; done
    "$KUBECTL" apply --server-side -f - >/dev/null <<END
{ apiVersion: pintle.dev/v1alpha1, kind: Repository, metadata: { name: local },
  spec: { name: local, url: "$(sed -n 's/.* at //p' "$1/mirror.out")", charts: [$charts] } }
END
}

controller_start() {
    local dir=$1
    shift
    server_run "$dir" controller "$PINTLE" controller --data "$dir/index" --allow-local-repositories --leader-elect=false "$@"
    controller_pid=${server_pids[-1]}
}

release_apply() {
    "$KUBECTL" create namespace "$1" >/dev/null 2>&1
    "$KUBECTL" apply --server-side --force-conflicts -f - >/dev/null <<END
{ apiVersion: pintle.dev/v1alpha1, kind: Release, metadata: { name: $1, namespace: $1 },
  spec: { name: $1, repo: local, chart: $2 ${3:-} } }
END
}

release_ready() { # NAME: "True Deployed message", or nothing when its generation was not looked at yet
    "$KUBECTL" -n "$1" get release "$1" -o 'jsonpath={.metadata.generation} {.status.observedGeneration} {.status.conditions[?(@.type=="Ready")].status} {.status.conditions[?(@.type=="Ready")].reason} {.status.conditions[?(@.type=="Ready")].message}' 2>/dev/null |
        sed -n 's/^\([0-9]*\) \1 //p'
}

release_says() {
    local got='' until=$((SECONDS + ${3:-90}))
    while [ "$SECONDS" -lt "$until" ]; do
        got=$(release_ready "$1")
        case $got in *"$2"*) pass; return ;; esac
        sleep 0.2
    done
    fail "Release $1 says $2" "$got"
    return 1
}

servers_stop() {
    local pid
    for pid in "${server_pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${server_pids[@]}"; do wait "$pid" 2>/dev/null; done
    server_pids=()
    cluster_stop
}
