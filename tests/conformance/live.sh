#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What pintle's Releases of real charts leave in a cluster is what `helm install` of the same archive, name, namespace and
# values leaves there, object by object, on the real API server and on pintle's own. tests/conformance/live.py says
# which fields are not compared and why.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/cluster.sh
. tests/lib/releases.sh
PINTLE=${PINTLE:-$PWD/build/pintle}
CORPUS=${CORPUS:-../shared/corpus}
archives="podinfo_podinfo-6.14.1 ingress-nginx_ingress-nginx-4.15.1 prometheus-community_kube-prometheus-stack-88.5.3"
[ -d "$CORPUS/charts" ] || { skip live "no $CORPUS/charts"; finish; exit; }
work=$(mktemp -d)
trap 'servers_stop; [ -n "${KEEP_TMP:-}" ] || rm -rf "$work"' EXIT
export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
mkdir "$work/repo"
for archive in $archives; do cp "$CORPUS/charts/$archive.tgz" "$work/repo/${archive#*_}.tgz"; done

dump() { tests/conformance/live.py dump "$KUBECONFIG" "$1" >"$2"; }

compare() { # SERVER DIR
    local archive file name
    for archive in $archives; do
        file=$work/repo/${archive#*_}.tgz
        name=$(basename "$file" | sed 's/-[0-9].*//')
        "$KUBECTL" create namespace "$name" >/dev/null
        "$HELM" install "$name" "$file" -n "$name" --timeout 120s >"$2/$name.out" 2>&1 || fail "$1: helm install $name" "$(tail -n 3 "$2/$name.out")"
        dump "$name" "$2/$name.helm"
        "$HELM" uninstall "$name" -n "$name" --timeout 60s >/dev/null 2>&1 || fail "$1: helm uninstall $name"
        tests/conformance/live.py clear "$KUBECONFIG" "$name" "$2/$name.helm"
    done
    repository_start "$2" "$work/repo"
    controller_start "$2"
    for archive in $archives; do
        name=$(sed 's/-[0-9].*//' <<<"${archive#*_}")
        release_apply "$name" "$name"
        release_says "$name" 'True Deployed' 120 || continue
        dump "$name" "$2/$name.pintle"
        check_eq "$1: $name: there are objects" "$([ "$(wc -l <"$2/$name.helm")" -ge 2 ] && echo yes)" yes
        check_eq "$1: $name: the same objects" "$(tests/conformance/live.py compare "$2/$name.helm" "$2/$name.pintle" | head -n 5)" ""
        echo "$1: $name: $(wc -l <"$2/$name.pintle") objects"
    done
}

for server in own real; do
    if server_start "$server" "$work/$server"; then compare "$server" "$work/$server"; else fail "the $server server starts"; fi
    servers_stop
done
for archive in $archives; do
    name=$(sed 's/-[0-9].*//' <<<"${archive#*_}")
    check_eq "both servers keep the same objects of $name" "$(diff <(cut -d '"' -f 2 "$work/own/$name.helm") <(cut -d '"' -f 2 "$work/real/$name.helm") | grep '^[<>]' | head -n 5)" ""
done
finish
