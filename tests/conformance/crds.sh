#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The real API server takes our definitions and manifests, accepts every valid sample with all its fields, refuses every
# invalid one for the right reason, and explains the fields.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/cluster.sh
. tests/lib/samples.sh
work=$(mktemp -d)
trap 'cluster_stop; rm -rf "$work"' EXIT
cluster_start "$work" || { fail "the control plane starts"; finish; exit; }

check_eq "definitions are applied" "$("$PINTLE" crds | "$KUBECTL" apply --server-side -f - 2>&1 | grep -vc 'serverside-applied')" 0
check_status "definitions get established" 0 "$KUBECTL" wait --for condition=Established --timeout 30s crd \
    -l app.kubernetes.io/name=pintle
check_eq "schemas are structural" "$("$KUBECTL" get crd -o jsonpath='{.items[*].status.conditions[?(@.type=="NonStructuralSchema")].message}')" ""
"$KUBECTL" create namespace helm >/dev/null
check_samples "$KUBECTL"
check_has "fields are explained" "$("$KUBECTL" explain release.spec.deletionPolicy 2>&1)" "What becomes of the installed objects"
check_eq "all kinds have the category" "$("$KUBECTL" api-resources --categories pintle --no-headers | wc -l)" 7

check_eq "manifests are applied" "$("$PINTLE" manifests --simulate | "$KUBECTL" apply --server-side -f - 2>&1 | grep -vc 'serverside-applied')" 0
check_eq "the pod passes the restricted standard" "$("$PINTLE" manifests | "$KUBECTL" apply --server-side --dry-run=server -f - 2>&1 | grep PodSecurity)" ""
can() { "$KUBECTL" auth can-i "$@" --as system:serviceaccount:pintle-system:pintle 2>/dev/null; }
check_eq "it may impersonate" "$(can impersonate serviceaccounts -n shop)" yes
check_eq "it may watch releases" "$(can watch releases.pintle.dev -A)" yes
check_eq "it may write its ConfigMaps" "$(can create configmaps -n pintle-system)" yes
check_eq "it may not write others" "$(can create configmaps -n shop)" no
check_eq "it may not read Secrets" "$(can get secrets -n shop)" no
check_eq "it may not create Deployments" "$(can create deployments -n shop)" no
check_eq "it may not bind roles" "$(can create clusterrolebindings)" no

check_eq "the quickstart objects are applied" "$("$KUBECTL" apply --server-side -f examples/quickstart/10-namespace.yaml >/dev/null
    "$KUBECTL" apply --server-side -f examples/quickstart 2>&1 | grep -vc 'serverside-applied')" 0
finish
