# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scripts in tests/e2e, after tests/lib/check.sh: a `pintle dev` of their own, chart archives, objects, and what the
# objects say.
#
#   dev_start            $work, KUBECONFIG, `pintle dev` with workloads that are ready after 100 ms
#   dev_serve DIR        `pintle mirror serve`; sets $url
pintle=${PINTLE:-$PWD/build/pintle}
work=$(mktemp -d "${TMPDIR:-/tmp}/pintle-e2e.XXXXXX")
export KUBECONFIG=$work/kubeconfig
dev_pids=()

dev_stop() {
    local pid
    for pid in "${dev_pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${dev_pids[@]}"; do wait "$pid" 2>/dev/null; done
    dev_pids=()
}
dev_end() {
    dev_stop
    [ -n "${KEEP_TMP:-}" ] || rm -rf "$work"
}
trap dev_end EXIT

launch() { # NAME PATTERN COMMAND…: until its output has the pattern
    local name=$1 pattern=$2
    shift 2
    "$@" >"$work/$name.out" 2>"$work/$name.log" </dev/null &
    dev_pids+=($!)
    wait_for 20 grep -q "$pattern" "$work/$name.out" && return 0
    tail -n 20 "$work/$name.log"
    fail "$name starts"
    finish
    exit 1
}
dev_start() { launch dev '^API server' "$pintle" dev --data "$work/data" --write-kubeconfig "$KUBECONFIG" --delay 100ms; }
dev_serve() {
    launch mirror '^serving' "$pintle" mirror serve "$1" --address 127.0.0.1:0
    url=$(sed -n 's/.* at \(http.*\)/\1/p' "$work/mirror.out")
}

# ---- what objects say ------------------------------------------------------------------------------------------------

get() { # KIND NAMESPACE/NAME FLAGS…
    local kind=$1 name=$2
    shift 2
    "$pintle" get "$kind" -n "${name%%/*}" "${name#*/}" "$@" 2>/dev/null
}
condition() { # KIND NAMESPACE/NAME TYPE: its status, reason and message
    get "$1" "$2" -o json | python3 -c '
import json, sys
try:
    o = json.load(sys.stdin)
except ValueError:
    sys.exit()
for c in o.get("status", {}).get("conditions", []):
    if c["type"] == sys.argv[1]:
        print(c["status"], c["reason"], " ".join(c["message"].split()))' "$3"
}
# says KIND NAMESPACE/NAME STATUS REASON TEXT [TYPE]: within 30 s the condition (Ready) has this status and reason, and TEXT is
# in its message. The table is asked first: it is cheap.
says() {
    local got='' until=$((SECONDS + 30))
    while [ "$SECONDS" -lt "$until" ]; do
        got=$(get "$1" "$2" -o wide --no-headers | tr -s ' \n' ' ')
        case ${6:-}$got in
        [A-Z]* | *" $3 $4 "*)
            got=$(condition "$1" "$2" "${6:-Ready}")
            case $got in "$3 $4 "*"$5"*) pass; return ;; esac
            ;;
        esac
        sleep 0.1
    done
    fail "$1 $2 says $3 $4 …$5…" "$got"
}
# tells KIND NAMESPACE/NAME REASON TEXT: one event of that reason with TEXT was told of it, once.
tells() {
    local got
    for _ in $(seq 25); do
        got=$("$pintle" get events -A -o json | python3 -c '
import json, sys
kind, name, reason, text = sys.argv[1:]
for e in json.load(sys.stdin)["items"]:
    o = e["involvedObject"]
    if o["kind"].lower() == kind and o["name"] == name and e["reason"] == reason:
        message = " ".join(e["message"].split())
        if text in message:
            print(e["type"], e.get("count", 1), message)' "$1" "${2#*/}" "$3" "$4")
        [ -n "$got" ] && break
        sleep 0.2
    done
    case $got in
    *$'\n'*) fail "$1 $2 tells $3 in one event" "$got" ;;
    [NW]*" 1 "*"$4"*) pass ;;
    *) fail "$1 $2 tells $3 once: …$4…" "$got" ;;
    esac
}
# refuses KIND NAMESPACE/NAME REASON TEXT: Ready=False says so, and one event.
refuses() {
    says "$1" "$2" False "$3" "$4"
    tells "$1" "$2" "$3" "$4"
}
gone() { # KIND NAMESPACE/NAME
    for _ in $(seq 150); do
        get "$1" "$2" >/dev/null || { pass; return; }
        sleep 0.2
    done
    fail "$1 $2 is gone"
}
there() { # KIND NAMESPACE PATTERN: are there objects whose name has it?
    "$pintle" get "$1" -n "$2" -o name 2>/dev/null | grep -Eq "$3"
}
# delete PATH…: below /apis or /api
delete() {
    python3 - "$KUBECONFIG" "$@" <<'P' >"$work/delete.out" 2>&1 || fail "delete $*" "$(cat "$work/delete.out")"
import re, ssl, sys, urllib.request
text = open(sys.argv[1]).read()
server = re.search(r'server: "?([^"\s]+)', text).group(1)
token = re.search(r'token: "?([^"\s]+)', text).group(1)
for path in sys.argv[2:]:
    rq = urllib.request.Request(server + path, method="DELETE", headers={"Authorization": "Bearer " + token})
    urllib.request.urlopen(rq, context=ssl._create_unverified_context()).read()
P
}
delete_release() { delete "${@/#//apis/pintle.dev/v1alpha1/namespaces/team/releases/}"; }

# ---- charts ------------------------------------------------------------------------------------------------------------

chart() { # NAME VERSION: its source in $work/src, with one ConfigMap
    mkdir -p "$work/src/$1/templates" "$work/repo"
    printf 'apiVersion: v2\nname: %s\nversion: %s\n' "$1" "$2" >"$work/src/$1/Chart.yaml"
    printf 'text: hello\n' >"$work/src/$1/values.yaml"
    cat >"$work/src/$1/templates/map.yaml" <<'T'
apiVersion: v1
kind: ConfigMap
metadata: { name: "{{ .Release.Name }}-map" }
data: { text: "{{ .Values.text }}", revision: "{{ .Release.Revision }}" }
T
}
pack() { # NAME VERSION [FOLDER]
    tar -C "$work/src" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "${3:-$work/repo}/$1-$2.tgz" "$1"
}

# ---- objects -----------------------------------------------------------------------------------------------------------

apply() { "$pintle" apply -f - >"$work/apply.out" 2>&1 || fail "apply" "$(cat "$work/apply.out")"; }
ours() { # KIND NAMESPACE/NAME SPEC: one of pintle's kinds, its spec in flow style
    printf 'apiVersion: pintle.dev/v1alpha1\nkind: %s\nmetadata: { name: %s, namespace: %s }\nspec: %s\n' \
        "$1" "${2#*/}" "${2%%/*}" "$3" | apply
}
cluster_ours() { printf 'apiVersion: pintle.dev/v1alpha1\nkind: %s\nmetadata: { name: %s }\nspec: %s\n' "$1" "$2" "$3" | apply; }
namespaces() { printf 'apiVersion: v1\nkind: Namespace\nmetadata: { name: %s }\n---\n' "$@" | apply; }
repository() { # NAME URL CHARTS [MORE]
    cluster_ours Repository "$1" "{ name: $1, url: \"$2\", charts: [$3], sync: { interval: 1s }${4:-} }"
}
release() { # NAME CHART VERSION [MORE]
    ours Release "team/$1" "{ name: $1, repo: main, chart: $2, version: \"$3\"${4:-} }"
}
values() { ours Values "team/$1" "$2"; }
