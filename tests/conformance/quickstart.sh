#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pintle controller and pintle simulate on the real kube-apiserver with its controller manager, each under exactly the
# rights that `pintle manifests --simulate` grants, bring examples/quickstart to Ready; the real helm reads the releases.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/cluster.sh
work=$(mktemp -d)
pids=()
trap 'stop; cluster_stop; [ -n "${KEEP_TMP:-}" ] || rm -rf "$work"' EXIT

stop() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${pids[@]}"; do wait "$pid" || fail "a process ended with status $?"; done
    pids=()
}
run() { # NAME COMMAND…
    local name=$1
    shift
    "$@" >"$work/$name.out" 2>"$work/$name.log" </dev/null &
    pids+=($!)
}
k() { "$KUBECTL" "$@"; }
all_ready() {
    k get repositories,repogroups,charts,configs,values,releases,releasegroups -A \
        -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' >"$work/states" 2>&1
    ! grep -v ' True$' "$work/states" && [ "$(grep -c '^Release/' "$work/states")" -eq 3 ] && [ "$(grep -c '^Chart/' "$work/states")" -ge 2 ]
}

cluster_start "$work/cluster" controllers || { fail "the control plane starts"; finish; exit; }
"$PINTLE" crds | k apply --server-side -f - >/dev/null
"$PINTLE" manifests --simulate | k apply --server-side -f - >/dev/null
k wait --for condition=Established --timeout 30s crd -l app.kubernetes.io/name=pintle >/dev/null
# The controller is this process, not the Deployment.
k -n pintle-system scale deployment pintle --replicas 0 >/dev/null

mkdir "$work/charts" "$work/objects"
for name in webapp cache; do
    tar -C examples/charts -czf "$work/charts/$name-$(sed -n 's/^version: *//p' "examples/charts/$name/Chart.yaml").tgz" "$name"
done
run mirror "$PINTLE" mirror serve "$work/charts" --address 127.0.0.1:0
wait_for 10 grep -q ' at http' "$work/mirror.out" || { fail "the mirror starts" "$(cat "$work/mirror.log")"; finish; exit; }
url=$(sed -n 's/.* at //p' "$work/mirror.out")
for file in examples/quickstart/*.yaml; do sed "s|http://127.0.0.1:8879|$url|" "$file" >"$work/objects/$(basename "$file")"; done

for account in pintle pintle-simulate; do cluster_account pintle-system "$account" "$work/$account.kubeconfig"; done
run simulate "$PINTLE" simulate --kubeconfig "$work/pintle-simulate.kubeconfig"
run controller "$PINTLE" controller --kubeconfig "$work/pintle.kubeconfig" --data "$work/data" --allow-local-repositories
check_eq "the quickstart objects are applied" "$(k apply --server-side -f "$work/objects" 2>&1 | grep -vc 'serverside-applied')" 0

if wait_for 120 all_ready >/dev/null 2>"$work/why"; then
    pass
else
    fail "all seven kinds are Ready" "$(k get repositories,repogroups,charts,configs,values,releases,releasegroups -A \
        -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name}: {.status.conditions[?(@.type=="Ready")].message}{"\n"}{end}')"
fi
check_eq "no kind is missing" "$(cut -d / -f 1 "$work/states" | sort -u | tr '\n' ' ')" \
    "Chart Config Release ReleaseGroup RepoGroup Repository Values "
for version in webapp-1.0.0 cache-0.2.0; do
    check_eq "three ConfigMaps of examples/$version" \
        "$(k -n pintle-system get configmaps -o name | grep -Ec "helm-(tmpl|crds|default)-examples-$version\$")" 3
done
for release in shop sessions fragments; do
    check_eq "helm lists $release" "$("$HELM" list -n shop -q --deployed | grep -cx "$release")" 1
    check_status "helm history $release" 0 "$HELM" history -n shop "$release"
done
check_has "helm gets the values" "$("$HELM" get values -n shop shop 2>&1)" "replicas: 3"
check_has "with those of the Secret" "$("$HELM" get values -n shop shop 2>&1)" "sessionKey: not-a-real-secret"
check_has "with those that refs place" "$("$HELM" get values -n shop shop 2>&1)" "maxMemory: 48mb"
check_eq "the Deployment is there" "$(k -n shop get deployment shop-webapp -o jsonpath='{.status.readyReplicas}')" 3
check_eq "helm upgrade of the same values changes no object" "$(
    k -n shop get deployment shop-webapp -o jsonpath='{.metadata.generation}'
    "$HELM" get values -n shop shop -o yaml >"$work/values.yaml"
    "$HELM" upgrade -n shop shop examples/charts/webapp -f "$work/values.yaml" >/dev/null 2>&1 || echo failed
    k -n shop get deployment shop-webapp -o jsonpath='{.metadata.generation}')" 11
check_eq "nothing was refused" "$(grep -hoE '(is forbidden|cannot [a-z]+ resource)[^"]{0,120}' "$work"/*.log | sort | uniq -c | sort -rn | head -n 5)" ""
check_eq "no Secret's content is in the logs" "$(grep -c not-a-real-secret "$work/controller.log")" 0
k -n shop delete releasegroup caches --timeout 60s >/dev/null 2>&1 || fail "the group is deleted"
k -n shop delete release shop --timeout 60s >/dev/null 2>&1 || fail "the release is deleted"
# The cluster's garbage collector learns of new kinds every 30 s.
wait_for 90 eval '[ -z "$("$HELM" list -n shop -q)" ]' || fail "deleting uninstalls" "$("$HELM" list -n shop; k get releases -A -o yaml; k get releasegroups -A)"
stop
finish
