#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Events wake a Release: Healthy follows its objects within seconds, and so do the values that ConfigMaps and Secrets hold.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh

chart web 1.0.0
cat >"$work/src/web/templates/deployment.yaml" <<'T'
apiVersion: apps/v1
kind: Deployment
metadata: { name: "{{ .Release.Name }}" }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: web }] }
T
pack web 1.0.0
dev_start
dev_serve "$work/repo"
namespaces team
repository main "$url" '{ name: web }'
release shop web 1.0.0
release late web 1.0.0 ', valuesFrom: [{ kind: ConfigMap, name: settings }, { kind: Secret, name: keys, optional: true }]'
says release team/shop True Deployed installed
says release team/shop True Current 'all objects are current' Healthy
refuses release team/late ValuesNotFound 'ConfigMap team/settings'

# ---- values of others ------------------------------------------------------------------------------------------------------
settings() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: team }\ndata: { values.yaml: "text: %s" }\n' "$1" | apply; }
settings first
says release team/late True Deployed 'revision 1'
check_has "the ConfigMap's values" "$(get configmap team/late-map -o yaml)" 'text: first'
settings second
says release team/late True Deployed 'revision 2; values changed: text'
printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: keys, namespace: team }\nstringData: { values.yaml: "text: classified" }\n' | apply
says release team/late True Deployed 'revision 3; values changed: text'
check_eq "a Secret's value is not in the status" "$(get release team/late -o json | grep -c classified)" 0

# ---- objects that go and come ------------------------------------------------------------------------------------------------
delete /apis/apps/v1/namespaces/team/deployments/shop
says release team/shop False InProgress 'Deployment shop is not ready: NotFound' Healthy
says release team/shop True Deployed installed
cat <<'Y' | apply
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  namespace: team
  labels: { app.kubernetes.io/managed-by: Helm }
  annotations: { meta.helm.sh/release-name: shop, meta.helm.sh/release-namespace: team }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: web }] }
Y
says release team/shop True Current 'all objects are current' Healthy
finish
