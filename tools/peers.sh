#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/peers.sh DIR: the real tools that pintle is compared with, built from their Go modules into DIR: helm, helm3,
# kubectl, kube-apiserver, kube-controller-manager, etcd. What is there already stays. Needs what tools/go.sh
# needs; with empty caches about a quarter of an hour on two cores and 5 GiB.
#
# Kubernetes and etcd cannot be had with "go install": their go.mod files hold replace directives. The modules below
# tests/conformance/peers are empty and name them as tools, at pinned versions.
set -eu
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "usage: tools/peers.sh DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off
kube=v1.34.4

missing() { [ ! -x "$out/$1" ]; }
have_go() {
    local dir
    dir=$(tools/go.sh) || { echo "peers: $out/$1 is missing, and there is no Go 1.26 to build it" >&2; exit 1; }
    PATH=$dir:$PATH
}
take() { # NAME COMMAND…: COMMAND writes $new
    local name=$1 start=$SECONDS
    shift
    missing "$name" || return 0
    have_go "$name"
    echo "peers: building $name"
    new=$out/.$name.$$
    "$@"
    mv -f "$new" "$out/$name"
    echo "peers: $name took $((SECONDS - start)) s"
}
helm() { # MODULE VERSION: templates can see the version, so the build states it as a release does
    local dir
    dir=$(mktemp -d)
    GOBIN=$dir go install -trimpath -ldflags "-s -w -X $1/internal/version.version=$2" "$1/cmd/helm@$2"
    mv "$dir/helm" "$new"
    rmdir "$dir"
}
tool() { # MODULE-DIRECTORY PACKAGE [LDFLAGS]
    (cd "tests/conformance/peers/$1" && go build -mod=readonly -trimpath -ldflags "-s -w ${3:-}" -o "$new" "$2")
}

stamp=
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    stamp="$stamp -X $package.gitVersion=$kube -X $package.gitMajor=1 -X $package.gitMinor=34 -X $package.gitTreeState=clean"
    stamp="$stamp -X $package.gitCommit=unknown -X $package.buildDate=1970-01-01T00:00:00Z"
done
take helm helm helm.sh/helm/v4 v4.2.4
take helm3 helm helm.sh/helm/v3 v3.21.4
take etcd tool etcd go.etcd.io/etcd/server/v3
for name in kubectl kube-apiserver kube-controller-manager; do
    take "$name" tool kubernetes "k8s.io/kubernetes/cmd/$name" "$stamp"
done
