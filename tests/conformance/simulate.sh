#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pintle simulate on the real API server, beside its controller manager and without one, under the rights that `pintle
# manifests --simulate` grants: real `helm --wait` and `kubectl wait` are satisfied.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/cluster.sh
work=$(mktemp -d)
simulate=
trap 'stop_simulate; cluster_stop; rm -rf "$work"' EXIT

stop_simulate() {
    [ -z "$simulate" ] || { kill "$simulate" 2>/dev/null; wait "$simulate"; status=$?; }
    simulate=
}
k() { "$KUBECTL" "$@"; }
field() { k get "$1" -o "jsonpath={$2}" 2>&1; }

workloads() {
    cat <<'END'
apiVersion: batch/v1
kind: Job
metadata: { name: good }
spec: { completions: 2, parallelism: 2, template: { spec: { restartPolicy: Never, containers: [{ name: a, image: x }] } } }
---
apiVersion: batch/v1
kind: Job
metadata: { name: bad }
spec:
  backoffLimit: 0
  template:
    metadata: { annotations: { simulate.pintle.dev/fail: no luck } }
    spec: { restartPolicy: Never, containers: [{ name: a, image: x }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: broken, annotations: { simulate.pintle.dev/fail: image is broken } }
spec:
  selector: { matchLabels: { a: broken } }
  template: { metadata: { labels: { a: broken } }, spec: { containers: [{ name: a, image: x }] } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: slow, annotations: { simulate.pintle.dev/delay: 1h } }
spec:
  selector: { matchLabels: { a: slow } }
  template: { metadata: { labels: { a: slow } }, spec: { initContainers: [{ name: i, image: x }], containers: [{ name: a, image: x }] } }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: each }
spec:
  selector: { matchLabels: { a: each } }
  template: { metadata: { labels: { a: each } }, spec: { containers: [{ name: a, image: x }] } }
---
apiVersion: v1
kind: Pod
metadata: { name: once }
spec: { restartPolicy: Never, containers: [{ name: a, image: x }] }
---
apiVersion: v1
kind: Service
metadata: { name: door }
spec: { type: LoadBalancer, selector: { a: slow }, ports: [{ port: 80 }] }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: disk }
spec: { accessModes: [ReadWriteOnce], storageClassName: "", resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: stuck, annotations: { simulate.pintle.dev/fail: "no disk" } }
spec: { accessModes: [ReadWriteOnce], storageClassName: "", resources: { requests: { storage: 1Gi } } }
END
}

look() { # WHERE: with or without a controller manager
    local where=$1
    workloads | k apply -f - >/dev/null
    check_status "$where: helm install --wait" 0 "$HELM" install shop examples/charts/webapp -n shop --create-namespace \
        --set cache.persistence.enabled=true,replicas=3,service.type=LoadBalancer --wait --timeout 60s
    check_status "$where: helm upgrade --wait" 0 "$HELM" upgrade shop examples/charts/webapp -n shop \
        --set cache.persistence.enabled=true,replicas=2,pages.index.title=New --wait --timeout 60s
    check_status "$where: helm test" 0 "$HELM" test shop -n shop --timeout 30s
    check_eq "$where: the StatefulSet's claim is bound" "$(k -n shop get pvc data-shop-cache-0 -o jsonpath='{.status.phase}')" Bound
    check_eq "$where: the old ReplicaSet has no pods" "$(k -n shop get rs -o jsonpath='{.items[*].status.replicas}' | tr ' ' '\n' | sort | tr '\n' ' ')" "0 2 "
    check_status "$where: rollout status" 0 "$KUBECTL" -n shop rollout status deploy/shop-webapp --timeout 20s
    check_status "$where: rollout undo" 0 "$KUBECTL" -n shop rollout undo deploy/shop-webapp
    check_status "$where: rollout status after undo" 0 "$KUBECTL" -n shop rollout status deploy/shop-webapp --timeout 20s

    check_status "$where: a Job completes" 0 "$KUBECTL" wait --for condition=Complete job/good --timeout 20s
    check_eq "$where: with all completions" "$(field job/good .status.succeeded)" 2
    check_status "$where: a Job fails by annotation" 0 "$KUBECTL" wait --for condition=Failed job/bad --timeout 20s
    check_status "$where: a Pod ends" 0 "$KUBECTL" wait --for jsonpath='{.status.phase}'=Succeeded pod/once --timeout 20s
    check_status "$where: a load balancer gets an address" 0 "$KUBECTL" wait --for jsonpath='{.status.loadBalancer.ingress[0].ip}' svc/door --timeout 20s
    check_status "$where: a claim is bound" 0 "$KUBECTL" wait --for jsonpath='{.status.phase}'=Bound pvc/disk --timeout 20s
    check_eq "$where: a claim stays pending by annotation" "$(field pvc/stuck .status.phase)" Pending
    check_status "$where: a Deployment fails by annotation" 0 wait_for 20 eval \
        'k get pods -l a=broken -o jsonpath="{.items[*].status.containerStatuses[0].state.waiting.message}" | grep -q broken'
    check_eq "$where: another is delayed by annotation" "$(k get pods -l a=slow -o jsonpath='{.items[0].status.phase}')" Pending
    k annotate deploy/broken simulate.pintle.dev/fail- >/dev/null
    check_status "$where: it recovers without the annotation" 0 "$KUBECTL" wait --for condition=Available deploy/broken --timeout 30s
    check_status "$where: a scaled Deployment follows" 0 eval 'k scale deploy/broken --replicas 4 >/dev/null &&
        k wait --for jsonpath="{.status.readyReplicas}"=4 deploy/broken --timeout 20s'
    check_status "$where: claims and their volumes go" 0 eval 'k delete pvc disk --timeout 20s &&
        wait_for 20 eval "! k get pv -o name | grep -v $(k -n shop get pvc data-shop-cache-0 -o jsonpath="{.spec.volumeName}")"'
    check_status "$where: helm uninstall --wait" 0 "$HELM" uninstall shop -n shop --wait --timeout 30s
    stop_simulate
    check_eq "$where: it stops cleanly" "$status" 0
    check_eq "$where: no error was logged" "$(grep -E '"level":"(error|warn)"' "$work/simulate.log" | grep -v 'Conflict' | head -n 3)" ""
}

start() { # FLAGS…
    "$PINTLE" manifests --simulate | "$KUBECTL" apply --server-side -f - >/dev/null
    cluster_account pintle-system pintle-simulate "$work/simulate.kubeconfig" || return
    "$PINTLE" simulate --kubeconfig "$work/simulate.kubeconfig" "$@" >"$work/simulate.log" 2>&1 </dev/null &
    simulate=$!
}

cluster_start "$work/with" controllers || { fail "the control plane starts"; finish; exit; }
start
look "beside the controller manager"
cluster_stop
cluster_start "$work/without" || { fail "the control plane starts"; finish; exit; }
start
# Nothing collects garbage here: what helm waits for on uninstall goes by itself, the rest is not looked at.
look "without controller manager"
finish
