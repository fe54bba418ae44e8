#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The kinds Repository and RepoGroup: what they make, when they look again, what they say, and where they may not go.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
. tests/lib/chart_servers.sh
trap 'servers_stop; dev_end' EXIT

for name in one two; do chart $name 1.0.0 && pack $name 1.0.0; done
chart one 1.1.0 && pack one 1.1.0
"$pintle" repo index "$work/repo"
servers_start www "$work/repo" --log "$work/www.log"
url=http://127.0.0.1:${port[www]}
dev_start
namespaces team
field() { get "$1" "default/$2" -o json | python3 -c 'import functools, json, sys; print(functools.reduce(lambda o, k: (o or {}).get(k), sys.argv[1].split("."), json.load(sys.stdin)))' "$3" 2>/dev/null; }
field_is() { # NAME KIND OBJECT PATH WANT
    for _ in $(seq 100); do
        [ "$(field "$2" "$3" "$4")" = "$5" ] && break
        sleep 0.1
    done
    check_eq "$1" "$(field "$2" "$3" "$4")" "$5"
}
indexes() { "$pintle" get configmaps -n pintle-system -o name | grep -e "-$1-.*-index$" | sed 's|.*/||' | sort | tr '\n' ' '; }
asked() { grep -c 'index.yaml' "$work/www.log"; }
put() { cluster_ours Repository "$1" "{ name: $1, url: \"$url\" ${2:-} }"; }
publish() { # VERSION: one more of `one`, in an index that servers see as new
    chart one "$1" && pack one "$1"
    "$pintle" repo index "$work/repo"
    stamp=$((${stamp:-0} + 1))
    touch -d "+$stamp hour" "$work/repo/index.yaml"
}

# ---- what it makes and says ------------------------------------------------------------------------------------------------
put all ', sync: { interval: 10h }'
says repository default/all True Synced '2 charts, 3 versions in the index'
check_eq "status.synced" "$(field repository all status.synced)" True
check_eq "status.charts" "$(field repository all status.charts)" 2
check_eq "status.versions" "$(field repository all status.versions)" 3
check_has "the time of the last success" "$(field repository all status.lastSyncTime)" 20
check_eq "R1: without charts the index of each" "$(indexes all)" 'helm-all-one-index helm-all-two-index '
there charts '' '(one|two)-all$' && fail "and no Chart" || pass
put some ', charts: [{ name: one, versions: ["<1.1"] }, { name: two }], sync: { interval: 10h }'
says chart default/one-some True Synced 'in the cluster: 1.0.0'
says chart default/two-some True Synced 'in the cluster: 1.0.0'
put some ', charts: [{ name: one, versions: ["1.x", "1.0.0"] }], sync: { interval: 10h }'
says chart default/one-some True Synced 'in the cluster: 1.1.0, 1.0.0'
gone chart default/two-some
check_eq "what left the list is gone" "$(indexes some)" 'helm-some-one-index '
cluster_ours Repository meta "{ name: spec, url: \"$url\", charts: [{ name: one }] }"
says chart default/one-meta True Synced '1.1.0'
check_eq "R6: one name, that of the object" "$(indexes meta)$(indexes spec)" 'helm-meta-one-index '
cluster_ours Chart two-taken "{ name: two, repository: all }"
put taken ', charts: [{ name: two }]'
refuses repository default/taken ChartConflict 'two-taken'
check_eq "R2: what could not be made is said" "$(field repository taken status.synced)" False

# ---- when it looks again -----------------------------------------------------------------------------------------------------
put seconds ', charts: [{ name: one }], sync: { interval: 1 }'
put duration ', charts: [{ name: one }], sync: { interval: 1s }'
put never ', charts: [{ name: one }], sync: { enabled: false, interval: 1s }'
put paused ', charts: [{ name: one }], sync: { interval: 1s }'
for name in seconds duration never paused; do says chart "default/one-$name" True Synced '1.1.0'; done
put paused ', charts: [{ name: one }], sync: { interval: 1s }, suspend: true'
sleep 1
publish 1.2.0
says chart default/one-seconds True Synced '1.2.0'
says chart default/one-duration True Synced '1.2.0'
check_has "R11: sync.enabled: false" "$(condition chart default/one-never Ready)" 1.1.0
check_has "suspended" "$(condition chart default/one-paused Ready)" 1.1.0
check_has "R9: 10 hours are 10 hours" "$(condition chart default/one-some Ready)" '1.1.0, 1.0.0'
cat <<Y | apply
apiVersion: pintle.dev/v1alpha1
kind: Repository
metadata: { name: never, annotations: { pintle.dev/reconcile-at: now } }
spec: { name: never, url: "$url", charts: [{ name: one }], sync: { enabled: false, interval: 1s } }
Y
says chart default/one-never True Synced '1.2.0'
put paused ', charts: [{ name: one }], sync: { interval: 1s }'
says chart default/one-paused True Synced '1.2.0'
before=$(asked)
sleep 2.2
check_eq "R9: at rest they ask at their interval" "$(($(asked) - before > 2 && $(asked) - before < 12))" 1
check_eq "an event for each change, none for each look" "$("$pintle" get events -A -o json | python3 -c '
import json, sys
print([e["count"] for e in json.load(sys.stdin)["items"] if e["involvedObject"]["kind"] == "Repository" and e["involvedObject"]["name"] == "seconds"])')" '[1, 1]'

# ---- what is missing ---------------------------------------------------------------------------------------------------------
put secret ', charts: [{ name: one }], authSecret: login, sync: { interval: 1s }'
refuses repository default/secret SecretNotFound 'spec.authSecret: Secret pintle-system/login'
printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: login, namespace: pintle-system }\nstringData: { user: ann }\n' | apply
refuses repository default/secret SecretInvalid 'Secret login has no password'
printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: login, namespace: pintle-system }\nstringData: { user: ann, password: pw-4711 }\n' | apply
says repository default/secret True Synced '2 charts'
cluster_ours Repository secret '{ name: secret, url: "http://127.0.0.1:1", charts: [{ name: one }], authSecret: login, sync: { interval: 1s } }'
says repository default/secret False Unavailable 'cannot be reached'
check_eq "R3: not synced any more" "$(field repository secret status.synced)" False
check_eq "R3: the last good index stays" "$(indexes secret)" 'helm-secret-one-index '

# ---- who decides the versions --------------------------------------------------------------------------------------------------
chart needs 1.0.0
printf 'dependencies: [{ name: two, version: 1.0.0, repository: "@seconds" }, { name: one, version: 1.0.0, repository: "@seconds" }]\n' >>"$work/src/needs/Chart.yaml"
pack needs 1.0.0
publish 1.3.0
put seconds ', charts: [{ name: one, versions: [">1.0.0"] }, { name: needs }], sync: { interval: 1s }'
says chart default/needs-seconds False DependencyNotFound 'dependency one 1.0.0 is not in the cluster yet'
says chart default/two-seconds True Synced '1.0.0'
before=$(field chart one-seconds metadata.generation)
sleep 2
check_eq "R10: a dependency does not fight with the Repository" "$(field chart one-seconds metadata.generation)" "$before"
put seconds ', charts: [{ name: one, versions: [">1.0.0", "1.0.0"] }, { name: needs }], sync: { interval: 1s }'
says chart default/needs-seconds True Synced '1.0.0'

# ---- groups -------------------------------------------------------------------------------------------------------------------------
group() { cluster_ours RepoGroup crew "{ labelSelector: crew, repos: [$1] }"; }
group "{ name: left, url: \"$url\", charts: [{ name: one }] }, { name: right, url: \"$url\" }"
says repogroup default/crew True MembersReady '2 Repositories'
says chart default/one-left True Synced '1.3.0'
check_eq "members and their Charts have the group's label" \
    "$(get repository default/left -o json | grep -c '"repoGroup": *"crew"')$(get chart default/one-left -o json | grep -c '"repoGroup": *"crew"')" 11
check_has "the column of the group" "$("$pintle" get chart one-left -o wide)" crew
group "{ name: left, url: \"$url\", charts: [{ name: two }] }, { name: all, url: \"$url\" }"
refuses repogroup default/crew NotAMember 'all'
says repository default/all True Synced 'charts'
group "{ name: left, url: \"$url\", charts: [{ name: two }] }"
says chart default/two-left True Synced '1.0.0'
gone chart default/one-left
gone repository default/right
delete /apis/pintle.dev/v1alpha1/repogroups/crew
gone repository default/left
gone chart default/two-left
says repository default/all True Synced 'charts'

# ---- N7: where a Repository may not go in a cluster ------------------------------------------------------------------------------------
dev_stop
rm "$work"/dev.out
launch apiserver 'KUBECONFIG=' "$pintle" apiserver --data "$work/inside"
export KUBECONFIG=$work/inside/kubeconfig
"$pintle" crds | apply
namespaces pintle-system
wait_for 20 "$pintle" get repositories || fail "the CRDs"
: >"$work/www.log"
"$pintle" controller --data "$work/inside/index" --leader-elect=false 2>"$work/controller.log" &
dev_pids+=($!)
while IFS='|' read -r name target text; do
    cluster_ours Repository "$name" "{ name: $name, url: \"$target\", charts: [{ name: one }] }"
    says repository "default/$name" False "${text%%:*}" "${text#*:}"
done <<T
four|$url|AccessDenied:is loopback, which is not allowed here
decimal|http://2130706433:${port[www]}|AccessDenied:is loopback, which is not allowed here
short|http://127.1:${port[www]}|AccessDenied:is loopback, which is not allowed here
zero|http://0.0.0.0:${port[www]}|AccessDenied:is special-purpose, which is not allowed here
six|http://[::1]:${port[www]}|AccessDenied:is loopback, which is not allowed here
mapped|http://[::ffff:127.0.0.1]:${port[www]}|AccessDenied:is loopback, which is not allowed here
metadata|http://169.254.169.254/latest|AccessDenied:is link-local, which is not allowed here
local|http://localhost:${port[www]}|AccessDenied:is loopback, which is not allowed here
registry|oci://127.0.0.1:${port[www]}/charts|AccessDenied:is loopback, which is not allowed here
T
check_eq "and nothing was asked" "$(cat "$work/www.log")" ''
finish
