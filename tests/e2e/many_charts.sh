#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many Charts of one large index: it is downloaded once and read once, each archive is fetched once; the same index again costs one
# request, and one version more the objects of that version.
#
#   CHARTS=32 BYTES=2000000   of the index (tests/conformance/many_charts.sh: 2048 Charts, 20 MB)
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
. tests/lib/chart_servers.sh
trap 'servers_stop; dev_end' EXIT
charts=${CHARTS:-32}
bytes=${BYTES:-2000000}

mkdir "$work/www"
python3 tests/lib/many_charts.py "$work/www" "$charts" "$bytes"
servers_start www "$work/www" --log "$work/www.log"
dev_start
asked() { grep -c "GET /$1" "$work/www.log"; }
read_in() { grep -c '"index loaded"' "$work/dev.log"; }
configmaps() { "$pintle" get configmaps -n pintle-system -o name | grep -Ec -e "$1"; }
ready() { [ "$("$pintle" get charts --no-headers | grep -c " True .*$1")" -eq "$2" ]; }
probes=0
version() { # how many writes there were: this is one too
    probes=$((probes + 1))
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: probe, namespace: default }\ndata: { n: "%s" }\n' "$probes" | apply
    written=$("$pintle" get configmap probe -n default -o json | sed -n 's/.*"resourceVersion": *"\([0-9]*\)".*/\1/p' | head -n 1)
}
synced() { # WHEN: the Repository looks at its index
    apply <<Y
apiVersion: pintle.dev/v1alpha1
kind: Repository
metadata: { name: main, annotations: { pintle.dev/reconcile-at: "$1" } }
spec: { name: main, url: "http://127.0.0.1:${port[www]}", sync: { interval: 10h } }
Y
    wait_for 120 bash -c "'$pintle' get repository main -o json | grep -q '\"lastHandledReconcileAt\": *\"$1\"'" || fail "the Repository is synced: $1"
}

synced first
for i in $(seq 0 $((charts - 1))); do
    printf -- '---\napiVersion: pintle.dev/v1alpha1\nkind: Chart\nmetadata: { name: chart-%04d }\nspec: { repository: main }\n' "$i"
done | apply
says repository default/main True Synced "$charts charts, $((20 * charts)) versions in the index"
wait_for 1200 ready 1.19.0 "$charts" || fail "all Charts are Ready"
check_eq "the index is downloaded once" "$(asked index.yaml)" 1
check_eq "and read once" "$(read_in)" 1
check_eq "each archive is fetched once" "$(asked chart-)" "$charts"
check_eq "each chart has its index" "$(configmaps '-index$')" "$charts"
check_eq "and its content" "$(configmaps '/helm-(tmpl|crds|default)-')" $((3 * charts))

# ---- the same index again ------------------------------------------------------------------------------------------------
version
before=$written
synced again
sleep 1
check_eq "the same index costs one request" "$(asked index.yaml)" 2
check_eq "and is not read" "$(read_in)" 1
version
check_eq "it writes the wish and its status" $((written - before - 1)) 2

# ---- one version more ----------------------------------------------------------------------------------------------------
python3 tests/lib/many_charts.py "$work/www" "$charts" "$bytes" more
touch -d tomorrow "$work/www/index.yaml" # servers tell times in seconds
version
before=$written
synced more
wait_for 120 ready 2.0.0 1 || fail "the new version is there"
sleep 1
check_eq "one version more: one request" "$(asked index.yaml)" 3
check_eq "read once" "$(read_in)" 2
check_eq "one archive" "$(asked chart-)" $((charts + 1))
rows=$(sed -n 's/.*"index loaded".*"rows":\([0-9]*\).*/\1/p' "$work/dev.log" | tail -n 1)
check_eq "at most 10 rows of the database" "$([ "${rows:-99}" -le 10 ] && echo few || echo "$rows")" few
# The wish, an index, three ConfigMaps that come and three that go, two statuses, two events.
version
check_eq "12 writes to the cluster" $((written - before - 1)) 12
check_eq "the old content is gone" "$(configmaps '/helm-(tmpl|crds|default)-')" $((3 * charts))

# ---- what a Chart reads ----------------------------------------------------------------------------------------------------
dev_stop
LOG=info,apiserver=debug dev_start
wait_for 60 ready 2.0.0 1 || fail "the Charts are Ready again"
sleep 1
reads() { grep -c '"method":"GET","path":"/apis/pintle.dev/v1alpha1/repositories/main"' "$work/dev.log"; }
before=$(reads)
last=$(printf 'chart-%04d' $((charts - 1)))
printf 'apiVersion: pintle.dev/v1alpha1\nkind: Chart\nmetadata: { name: %s }\nspec: { repository: main, versions: [2.0.0, 1.19.0] }\n' "$last" | apply
says chart "default/$last" True Synced '2.0.0, 1.19.0'
check_eq "fetching content costs one read of the Repository" $(($(reads) - before)) 1
finish
