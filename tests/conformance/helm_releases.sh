#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real helm and pintle on the same releases, on pintle's API server and on the real one: helm reads what pintle
# installed; what helm upgraded with the same inputs is adopted without a write to any object, with others it is brought
# back and an event names the paths; what helm 4 or helm 3 installed first is adopted without a write.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/cluster.sh
. tests/lib/releases.sh
PINTLE=${PINTLE:-$PWD/build/pintle}
work=$(mktemp -d)
trap 'servers_stop; [ -n "${KEEP_TMP:-}" ] || rm -rf "$work"' EXIT
export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
k() { "$KUBECTL" "$@"; }
mkdir "$work/repo"
chart=$work/repo/webapp-1.0.0.tgz
tar -C examples/charts -czf "$chart" webapp
printf 'replicas: 2\nsessionKey: k\ncache: { maxMemory: 48mb }\n' >"$work/values.yaml"
values='inlineValues: { replicas: 2, sessionKey: k, cache: { maxMemory: 48mb } }'

# Name, uid and resourceVersion of the objects of a release; the simulation has no more to say about them.
objects() { # NAMESPACE
    k get deployments,statefulsets,services,configmaps,secrets,poddisruptionbudgets,pages -n "$1" --field-selector metadata.name!=kube-root-ca.crt \
        -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.uid} {.metadata.resourceVersion}{"\n"}{end}' 2>/dev/null | grep -v 'sh.helm.release' | sort
}
quiet_objects() { # NAMESPACE: two looks that see the same
    local before=
    until [ "$(objects "$1")" = "$before" ]; do
        before=$(objects "$1")
        sleep 1
    done
    echo "$before"
}
wake() { k -n "$1" annotate release "$1" pintle.dev/reconcile-at="$RANDOM$RANDOM" --overwrite >/dev/null; }
revisions() { "$HELM" history -n "$1" "$1" 2>/dev/null | grep -cE '^[0-9]'; }
last_status() { "$HELM" status -n "$1" "$1" 2>&1; }

reads() { # SERVER
    local part
    check_has "$1: helm ls -A" "$("$HELM" ls -A 2>&1)" "webapp-1.0.0"
    check_has "$1: helm get values" "$("$HELM" get values -n web web 2>&1)" "maxMemory: 48mb"
    check_has "$1: helm get manifest" "$("$HELM" get manifest -n web web 2>&1)" "kind: Deployment"
    check_has "$1: helm get notes" "$("$HELM" get notes -n web web 2>&1)" "web"
    check_has "$1: helm get hooks" "$("$HELM" get hooks -n web web 2>&1)" "pre-install,pre-upgrade"
    for part in MANIFEST HOOKS "USER-SUPPLIED VALUES" "COMPUTED VALUES"; do
        check_has "$1: helm get all: $part" "$("$HELM" get all -n web web 2>&1)" "$part:"
    done
    check_has "$1: helm history" "$("$HELM" history -n web web 2>&1)" "Install complete"
    check_has "$1: helm status" "$(last_status web)" "STATUS: deployed"
    # What helm renders of the same chart, values and server.
    check_eq "$1: the manifest is helm's own" "$(diff <("$HELM" get manifest -n web web) \
        <("$HELM" install web "$chart" -n web -f "$work/values.yaml" --dry-run=server --hide-notes --no-hooks 2>/dev/null | sed -n '/^MANIFEST:/,$p' | sed 1d) | head -n 4)" ""
}

adopts() { # SERVER
    local before
    "$HELM" upgrade web "$chart" -n web -f "$work/values.yaml" >/dev/null 2>&1 || fail "$1: helm upgrade"
    before=$(quiet_objects web)
    wake web
    release_says web 'adopted as it is as web/web revision 2'
    check_eq "$1: the same inputs are adopted without a write" "$(diff <(echo "$before") <(quiet_objects web))" ""
    check_eq "$1: no revision more" "$(revisions web)" 2
    "$HELM" upgrade web "$chart" -n web -f "$work/values.yaml" --set replicas=4 --set cache.maxMemory=16mb >/dev/null 2>&1 || fail "$1: helm upgrade"
    # Its record wakes the controller: the objects may be brought back before anybody looks.
    check_eq "$1: helm changed it" "$("$HELM" get values web -n web --revision 3 | grep -c '^replicas: 4$')" 1
    wake web
    release_says web 'revision 4; values changed: '
    check_eq "$1: it is brought back" "$(k -n web get deployment web-webapp -o 'jsonpath={.spec.replicas}')" 2
    wait_for 10 eval 'k -n web get events -o "jsonpath={.items[*].message}" | grep -q "values changed: cache.maxMemory, replicas"' ||
        fail "$1: an event names the paths" "$(k -n web get events -o 'jsonpath={.items[*].message}')"
}

adopts_first() { # SERVER NAME HELM
    local before
    k create namespace "$2" >/dev/null
    "$3" install "$2" "$chart" -n "$2" -f "$work/values.yaml" >/dev/null 2>&1 || fail "$1: $2: helm install"
    before=$(quiet_objects "$2")
    release_apply "$2" webapp ", $values"
    release_says "$2" "adopted as it is as $2/$2 revision 1"
    check_eq "$1: $2: adopted without a write" "$(diff <(echo "$before") <(quiet_objects "$2"))" ""
    check_eq "$1: $2: there are objects" "$([ "$(wc -l <<<"$before")" -ge 6 ] && echo yes)" yes
    check_eq "$1: $2: one revision" "$(revisions "$2")" 1
    check_has "$1: $2: helm goes on with it" "$("$HELM" upgrade "$2" "$chart" -n "$2" -f "$work/values.yaml" 2>&1)" "STATUS: deployed"
}

for server in own real; do
    if server_start "$server" "$work/$server" && repository_start "$work/$server" "$work/repo"; then
        controller_start "$work/$server"
        release_apply web webapp ", $values"
        release_says web 'True Deployed' && reads "$server" && adopts "$server"
        adopts_first "$server" four "$HELM"
        [ ! -x "${HELM3:-}" ] || adopts_first "$server" three "$HELM3"
    else
        fail "the $server server starts"
    fi
    servers_stop
done
finish
