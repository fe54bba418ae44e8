#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On the real API server with RBAC: a Release whose account lacks rights, or whose namespace its Config does not allow,
# writes nothing, CRDs included, and says everything that is missing; with the rights it goes on.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/cluster.sh
. tests/lib/releases.sh
PINTLE=${PINTLE:-$PWD/build/pintle}
work=$(mktemp -d)
trap 'servers_stop; [ -n "${KEEP_TMP:-}" ] || rm -rf "$work"' EXIT
k() { "$KUBECTL" "$@"; }

# Names, uids and versions of everything but Events and what is ours.
everything() {
    local kinds
    kinds=$(k api-resources --verbs=list -o name | grep -vE '^events|pintle\.dev$|^leases|^componentstatuses' | paste -sd,)
    k get "$kinds" -A --no-headers -o 'jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}' 2>/dev/null | grep -v ' pintle-system/' | sort
}

server_start real "$work" || { fail "the control plane starts"; finish; exit; }
mkdir "$work/repo"
tar -C tests/fault/charts -czf "$work/repo/hooked-1.0.0.tgz" hooked
repository_start "$work" "$work/repo" || fail "the repository starts"
controller_start "$work"
wait_for 30 eval '[ "$(k get charts -o "jsonpath={.items[0].status.conditions[?(@.type==\"Ready\")].status}")" = True ]' || fail "the chart is ready"

for ns in weak away other; do k create namespace "$ns" >/dev/null; done
k apply --server-side -f - >/dev/null <<'END'
apiVersion: v1
kind: ServiceAccount
metadata: { name: installer, namespace: weak }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: installer, namespace: weak }
rules:
  - { apiGroups: [""], resources: [secrets, configmaps], verbs: ["*"] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: installer, namespace: weak }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: installer }
subjects: [{ kind: ServiceAccount, name: installer, namespace: weak }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: crds }
rules: [{ apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, list, create] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: crds }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: crds }
subjects: [{ kind: ServiceAccount, name: installer, namespace: weak }]
---
apiVersion: pintle.dev/v1alpha1
kind: Config
metadata: { name: weak, namespace: weak }
spec: { serviceAccountName: installer }
---
apiVersion: pintle.dev/v1alpha1
kind: Config
metadata: { name: here, namespace: away }
spec: { namespace: { allowed: [away] } }
END
sleep 1
everything >"$work/before"

release_apply weak hooked ', config: weak'
release_says weak 'False Forbidden'
said=$(release_ready weak)
for part in 'system:serviceaccount:weak:installer may not' 'create, patch deployments.apps in namespace weak' 'widgets.fault.pintle.dev' \
    'jobs.batch' 'services' 'serviceaccounts'; do
    check_has "what is missing is said" "$said" "$part"
done
release_apply away hooked ', config: here, namespace: other'
release_says away 'False NamespaceNotAllowed'
check_has "the namespace is named" "$(release_ready away)" other
sleep 2
everything >"$work/after"
check_eq "nothing is written" "$(diff "$work/before" "$work/after")" ""
check_eq "no CRD is made" "$(k get crd -o name | grep -c fault.pintle.dev)" 0

k -n weak patch role installer --type json -p '[{"op": "replace", "path": "/rules", "value": [
    {"apiGroups": ["", "apps", "batch", "fault.pintle.dev"], "resources": ["*"], "verbs": ["*"]}]}]' >/dev/null
k -n weak annotate release weak pintle.dev/reconcile-at=now >/dev/null
release_says weak 'True Deployed'
check_eq "the CRD is made then" "$(k get crd -o name | grep -c fault.pintle.dev)" 1
finish
