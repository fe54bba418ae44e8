#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# flags.atomic: a failed install is uninstalled, a failed upgrade rolled back, with the records that helm's
# --rollback-on-failure leaves; the same inputs are not tried again until they change or the user asks.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh

chart web 1.0.0
cat >"$work/src/web/templates/deployment.yaml" <<'T'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  annotations: { {{ if .Values.broken }}simulate.pintle.dev/{{ .Values.broken }}{{ end }} }
spec:
  selector: { matchLabels: { app: {{ .Release.Name }} } }
  template:
    metadata: { labels: { app: {{ .Release.Name }} } }
    spec: { containers: [{ name: main, image: "web:{{ .Values.text }}" }] }
T
cat >"$work/src/web/templates/hook.yaml" <<'T'
{{ if .Values.hook }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-hook
  annotations: { helm.sh/hook: post-upgrade, simulate.pintle.dev/fail: "true" }
spec: { backoffLimit: 0, template: { spec: { restartPolicy: Never, containers: [{ name: main, image: hook }] } } }
{{ end }}
T
pack web 1.0.0
dev_start
dev_serve "$work/repo"
namespaces team
repository main "$url" '{ name: web }'
ours Config team/atomic '{ flags: { atomic: true, timeout: 2s } }'

records() { # NAME: revision, status and description of each
    "$pintle" get secrets -n team -l "owner=helm,name=$1" -o json | python3 -c '
import base64, gzip, json, sys
found = []
for s in json.load(sys.stdin)["items"]:
    r = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(s["data"]["release"]))))
    found.append((r["version"], r["info"]["status"], r["info"]["description"]))
for version, status, description in sorted(found):
    print(version, status, description)'
}

# ---- install -------------------------------------------------------------------------------------------------------------
release first web 1.0.0 ', config: atomic, inlineValues: { broken: "delay: 60s" }'
says release team/first False InstallUndone 'release first failed, and has been uninstalled due to rollback-on-failure being set'
tells release team/first Timeout 'Deployment first is not ready'
tells release team/first InstallUndone 'Deployment first is not ready'
check_eq "nothing is left of the install" "$(records first)$("$pintle" get deployments,configmaps -n team -o name | grep first)" ""
release first web 1.0.0 ', config: atomic'
says release team/first True Deployed 'installed as team/first revision 1'

# ---- upgrade -------------------------------------------------------------------------------------------------------------
release first web 1.0.0 ', config: atomic, inlineValues: { broken: "fail: crashes", text: changed }'
says release team/first False RolledBack 'release first failed, and has been rolled back due to rollback-on-failure being set'
tells release team/first OperationFailed 'Deployment first has failed'
check_eq "records of a rollback" "$(records first | sed 's/ failed .*/ failed/')" '1 superseded Install complete
2 failed
3 deployed Rollback to 1'
check_has "the objects are those of revision 1" "$(get configmap team/first-map -o yaml)" 'text: hello'
check_has "what is deployed" "$(get release team/first -o yaml)" 'revision: 3'
sleep 1
check_eq "the same inputs are not tried again" "$(records first | wc -l)" 3
ask() { "$pintle" get release -n team first -o json | python3 -c '
import json, sys
o = json.load(sys.stdin)
print(json.dumps({"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": {"name": "first", "namespace": "team",
      "annotations": {"pintle.dev/reconcile-at": "now"}}, "spec": o["spec"]}))' | apply; }
ask
for _ in $(seq 100); do [ "$(records first | wc -l)" = 5 ] && break; sleep 0.2; done
says release team/first False RolledBack 'rolled back'
check_eq "asked for, it is tried once more" "$(records first | cut -d' ' -f1,2)" '1 superseded
2 failed
3 superseded
4 failed
5 deployed'
release first web 1.0.0 ', config: atomic'
says release team/first True Deployed 'revision 5'
release first web 1.0.0 ', config: atomic, inlineValues: { hook: true, text: hooked }'
says release team/first False RolledBack 'post-upgrade hook web/templates/hook.yaml failed'
check_has "objects after a failed hook" "$(get configmap team/first-map -o yaml)" 'text: hello'
finish
