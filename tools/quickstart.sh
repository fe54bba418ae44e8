#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make quickstart: a cluster API on this machine, a chart repository, and one object of each of pintle's kinds, until
# all are Ready. Shows what came of it and ends with exit status 0.
#
#   KEEP=1                     leave it running, print how to reach it
#   REPO=DIR CHARTS="A B"      instead of the examples: install these charts from a folder of archives
#   SECONDS_MAX=N              give up after so long (180; with REPO 600)
#
# Everything is in a folder of its own below $TMPDIR and goes away with it.
set -u
cd "$(dirname "$0")/.." || exit 2
pintle=$PWD/build/pintle
repo=${REPO:-}
charts=${CHARTS:-}
limit=${SECONDS_MAX:-$([ -n "$repo" ] && echo 600 || echo 180)}
work=$(mktemp -d "${TMPDIR:-/tmp}/pintle-quickstart.XXXXXX")
export KUBECONFIG=$work/kubeconfig
pids=()

say() { printf '\n\033[1m%s\033[0m\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }
stop() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
    rm -rf "$work"
}
fail() {
    echo "quickstart: $*" >&2
    tail -n 20 "$work"/*.log >&2
    exit 1
}
trap stop EXIT
trap 'exit 130' INT TERM

# start NAME PATTERN COMMAND…: runs it, waits until its output matches, and prints the matching line.
start() {
    local name=$1 pattern=$2
    shift 2
    "$@" >"$work/$name.out" 2>"$work/$name.log" </dev/null &
    pids+=($!)
    until grep -q "$pattern" "$work/$name.out"; do
        kill -0 "${pids[-1]}" 2>/dev/null || fail "$name has ended"
        [ "$SECONDS" -lt "$limit" ] || fail "$name is not ready after $limit s"
        sleep 0.05
    done
    grep "$pattern" "$work/$name.out"
}

# ---- a folder of chart archives ----------------------------------------------------------------------------------------
if [ -z "$repo" ]; then
    repo=$work/charts
    mkdir -p "$repo"
    for dir in examples/charts/*/; do
        name=$(basename "$dir")
        version=$(sed -n 's/^version: *//p' "$dir/Chart.yaml")
        tar -C examples/charts --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "$repo/$name-$version.tgz" "$name"
    done
    "$pintle" repo index "$repo" || fail "the index cannot be made"
fi
[ -d "$repo" ] || fail "$repo is no folder"

# ---- the cluster and the repository ------------------------------------------------------------------------------------
say "pintle dev and pintle mirror serve"
start dev '^API server' "$pintle" dev --data "$work/data" --write-kubeconfig "$KUBECONFIG"
start mirror '^serving' "$pintle" mirror serve "$repo" --address 127.0.0.1:0
url=$(sed -n 's/.* at \(http.*\)/\1/p' "$work/mirror.out")

mkdir "$work/objects"
if [ -z "$charts" ]; then
    for file in examples/quickstart/*.yaml; do
        sed "s|http://127.0.0.1:8879|$url|" "$file" >"$work/objects/$(basename "$file")"
    done
    namespaces=shop
else
    namespaces=$charts
    {
        printf 'apiVersion: pintle.dev/v1alpha1\nkind: Repository\nmetadata: { name: local }\n'
        printf 'spec: { name: local, url: "%s", charts: [] }\n' "$url"
        for chart in $charts; do
            printf -- '---\napiVersion: v1\nkind: Namespace\nmetadata: { name: %s }\n' "$chart"
            printf -- '---\napiVersion: pintle.dev/v1alpha1\nkind: Chart\nmetadata: { name: %s }\n' "$chart"
            printf 'spec: { name: %s, repository: local, versions: ["*"] }\n' "$chart"
            printf -- '---\napiVersion: pintle.dev/v1alpha1\nkind: Release\nmetadata: { name: %s, namespace: %s }\n' "$chart" "$chart"
            printf 'spec: { name: %s, repo: local, chart: %s }\n' "$chart" "$chart"
        done
    } >"$work/objects/charts.yaml"
fi
say "pintle apply -f"
"$pintle" apply -f "$work/objects" || fail "the objects cannot be applied"

# ---- until all are Ready -----------------------------------------------------------------------------------------------
cluster_kinds=repositories,repogroups,charts
namespaced_kinds=configs,values,releases,releasegroups
# "NAME READY MESSAGE…" of every object of ours
states() {
    "$pintle" get "$cluster_kinds" --no-headers 2>/dev/null | awk 'NF { print $1, $2 }'
    "$pintle" get "$namespaced_kinds" -A --no-headers 2>/dev/null | awk 'NF { print $1 "/" $2, $3 }'
}
all_ready() {
    states >"$work/states"
    [ -s "$work/states" ] && ! grep -qv ' True$' "$work/states" || return 1
    # Groups and repositories have made their members: nothing that is named is missing.
    [ -n "$charts" ] || [ "$(grep -c 'release.pintle.dev/' "$work/states")" -ge 3 ]
}
until all_ready; do
    if [ "$SECONDS" -ge "$limit" ]; then
        "$pintle" get "$cluster_kinds" -o wide
        "$pintle" get "$namespaced_kinds" -A -o wide
        fail "not Ready after $limit s: $(grep -v ' True$' "$work/states" | cut -d ' ' -f 1 | tr '\n' ' ')"
    fi
    sleep 0.2
done

# ---- what came of it ---------------------------------------------------------------------------------------------------
say "pintle get: everything is Ready after $SECONDS s"
"$pintle" get "$cluster_kinds"
echo
"$pintle" get "$namespaced_kinds" -A
say "the ConfigMaps that charts are kept in"
"$pintle" get configmaps -n pintle-system -l pintle.dev/repo
for namespace in $namespaces; do
    say "namespace $namespace: release records, as helm reads them"
    "$pintle" get secrets -n "$namespace" -l owner=helm
    say "namespace $namespace: objects"
    "$pintle" get deployments,statefulsets,daemonsets,jobs,pods,services,persistentvolumeclaims -n "$namespace"
done
[ "$("$pintle" get configmaps -n pintle-system -l pintle.dev/repo -o name | grep -c .)" -ge 3 ] || fail "there are no ConfigMaps of charts"
for namespace in $namespaces; do
    [ -n "$("$pintle" get secrets -n "$namespace" -l owner=helm,status=deployed -o name)" ] || fail "$namespace has no deployed release"
done

if [ -n "${KEEP:-}" ]; then
    trap - EXIT INT TERM
    say "it is still running"
    echo "export KUBECONFIG=$KUBECONFIG"
    echo "kill ${pids[*]}; rm -rf $work    # ends it"
fi
