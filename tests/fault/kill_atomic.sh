#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of `pintle dev` at random moments of an upgrade that fails and is rolled back (flags.atomic): after each restart one
# attempt and one rollback are in the history, and the objects are those of before.
#
#   KILLS=8
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh

chart web 1.0.0
cat >"$work/src/web/templates/deployment.yaml" <<'T'
apiVersion: apps/v1
kind: Deployment
metadata: { name: "{{ .Release.Name }}", annotations: { simulate.pintle.dev/delay: "{{ .Values.delay }}" } }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: "web:{{ .Values.text }}" }] }
T
printf 'text: hello\ndelay: 100ms\n' >"$work/src/web/values.yaml"
pack web 1.0.0
dev_start
dev=${dev_pids[-1]}
dev_serve "$work/repo"
namespaces team
repository main "$url" '{ name: web }'
ours Config team/atomic '{ flags: { atomic: true, timeout: 1s } }'
release shop web 1.0.0 ', config: atomic, maxHistory: 0'
says release team/shop True Deployed installed

records() { # revision:status of each
    "$pintle" get secrets -n team -l "owner=helm,name=shop" -o json | python3 -c '
import json, sys
labels = [s["metadata"]["labels"] for s in json.load(sys.stdin)["items"]]
print(" ".join(f"{v}:{s}" for v, s in sorted((int(l["version"]), l["status"]) for l in labels)))'
}
history=1:deployed
for i in $(seq "${KILLS:-8}"); do
    release shop web 1.0.0 ", config: atomic, maxHistory: 0, inlineValues: { delay: 60s, text: t$i }"
    sleep "$(python3 -c 'import random; print(random.uniform(0.05, 2.2))')"
    kill -9 "$dev" && wait "$dev" 2>/dev/null
    rm "$work/dev.out"
    dev_start
    dev=${dev_pids[-1]}
    says release team/shop False RolledBack 'release shop failed, and has been rolled back'
    history="${history%:deployed}:superseded $((2 * i)):failed $((2 * i + 1)):deployed"
    check_eq "kill $i: one attempt, one rollback" "$(records)" "$history"
    check_has "kill $i: the objects of before" "$(get configmap team/shop-map -o yaml)" 'text: hello'
done
finish
