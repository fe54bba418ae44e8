#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real helm and Release objects on the same releases: what helm installed is adopted with no object write, what it changed is
# brought back, what it applied client-side loses the fields that leave; helm reads and continues what pintle did.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
for tool in HELM HELM3 KUBECTL; do
    [ -x "${!tool:-}" ] || { skip "releases" "no $tool"; finish; exit 0; }
done
. tests/lib/dev.sh
export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm KUBECACHEDIR=$work/cache

chart good 1.0.0
cat >"$work/src/good/templates/map.yaml" <<'T'
apiVersion: v1
kind: ConfigMap
metadata: { name: "{{ .Release.Name }}-map" }
data: {{ toYaml .Values.data | nindent 2 }}
T
printf 'data: { text: hello }\n' >"$work/src/good/values.yaml"
pack good 1.0.0
dev_start
dev_serve "$work/repo"
namespaces team
repository main "$url" '{ name: good }'
says chart default/good-main True Synced 1.0.0

data() { get configmap "team/$1-map" -o json | python3 -c 'import json, sys; print(",".join(f"{k}={v}" for k, v in sorted(json.load(sys.stdin)["data"].items())))'; }
managers() { get configmap "team/$1-map" -o json --show-managed-fields | python3 -c '
import json, sys
print(" ".join(m["manager"] + "/" + m["operation"] for m in json.load(sys.stdin)["metadata"]["managedFields"]))'; }
version() { get configmap "team/$1-map" -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["metadata"]["resourceVersion"])'; }
archive=$work/repo/good-1.0.0.tgz

# ---- adoption ------------------------------------------------------------------------------------------------------------
"$HELM" install ssa "$archive" -n team --set-string data.a=1 >/dev/null || fail "helm install"
"$HELM" install csa "$archive" -n team --server-side=false --set-string data.a=1,data.b=2 >/dev/null || fail "helm install --server-side=false"
"$HELM3" install old "$archive" -n team --set-string data.a=1,data.b=2 >/dev/null || fail "helm3 install"
for name in ssa csa old; do eval "was_$name=$(version $name)"; done
release ssa good 1.0.0 ', inlineValues: { data: { a: "1" } }'
release csa good 1.0.0 ', inlineValues: { data: { a: "1", b: "2" } }'
release old good 1.0.0 ', inlineValues: { data: { a: "1", b: "2" } }'
for name in ssa csa old; do
    says release team/$name True Deployed "adopted as it is as team/$name revision 1"
    was=was_$name
    check_eq "$name is adopted with no object write" "$(version $name)" "${!was}"
done
check_eq "helm 3 applied client-side" "$(managers old)" helm/Update

# ---- what leaves the values leaves the objects ----------------------------------------------------------------------------
release csa good 1.0.0 ', inlineValues: { data: { a: "1" } }'
release old good 1.0.0 ', inlineValues: { data: { a: "1" } }'
for name in csa old; do
    says release team/$name True Deployed 'revision 2; values changed: data.b'
    check_eq "$name: the field is gone" "$(data $name)" 'a=1,text=hello'
    check_eq "$name: helm applies now" "$(managers $name)" helm/Apply
done

# ---- helm goes on with it, and is brought back ------------------------------------------------------------------------------
check_has "helm ls" "$("$HELM" ls -n team)" 'old'
check_has "helm history" "$("$HELM" history old -n team)" 'Upgrade complete'
"$HELM" upgrade ssa "$archive" -n team --set-string data.a=1 >/dev/null || fail "helm upgrade with the same values"
says release team/ssa True Deployed 'revision 2'
"$HELM" upgrade ssa "$archive" -n team --set-string data.a=5 >/dev/null || fail "helm upgrade"
says release team/ssa True Deployed 'revision 4; values changed: data.a'
check_eq "the values are those of the Release again" "$(data ssa)" 'a=1,text=hello'


finish
