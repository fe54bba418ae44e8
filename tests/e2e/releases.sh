#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Releases from the first object to the last: what can be wrong is said by reason and message, heals by itself, and
# disturbs nothing else; what was installed is gone after its Release.
set -u
cd "$(dirname "$0")/../.." || exit 2
pintle=${PINTLE:-$PWD/build/pintle}
work=$(mktemp -d "${TMPDIR:-/tmp}/pintle-releases.XXXXXX")
export KUBECONFIG=$work/kubeconfig
pids=()
passed=0
failed=0

stop() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
    rm -rf "$work"
}
trap stop EXIT

ok() { passed=$((passed + 1)); }
no() {
    failed=$((failed + 1))
    echo "FAIL $*"
}

start() { # NAME PATTERN COMMAND…
    local name=$1 pattern=$2
    shift 2
    "$@" >"$work/$name.out" 2>"$work/$name.log" </dev/null &
    pids+=($!)
    for _ in $(seq 400); do
        grep -q "$pattern" "$work/$name.out" && return 0
        sleep 0.05
    done
    echo "FAIL $name does not start"
    tail -n 20 "$work/$name.log"
    echo "0 passed, 1 failed"
    exit 1
}

# says KIND NAMESPACE/NAME STATUS REASON TEXT: within 30 s Ready has this status and reason, and TEXT is in its message.
says() {
    local got=
    for _ in $(seq 150); do
        got=$("$pintle" get "$1" -n "${2%%/*}" "${2#*/}" -o json 2>/dev/null | python3 -c '
import json, sys
try:
    o = json.load(sys.stdin)
except ValueError:
    sys.exit()
for c in o.get("status", {}).get("conditions", []):
    if c["type"] == "Ready":
        print(c["status"], c["reason"], c["message"])')
        case $got in "$3 $4 "*"$5"*) ok; return ;; esac
        sleep 0.2
    done
    no "$1 $2: want $3 $4 …$5…; got: $got"
}

gone() { # KIND NAMESPACE/NAME
    for _ in $(seq 150); do
        "$pintle" get "$1" -n "${2%%/*}" "${2#*/}" >/dev/null 2>&1 || { ok; return; }
        sleep 0.2
    done
    no "$1 $2 is still there"
}

apply() { "$pintle" apply -f - >"$work/apply.out" 2>&1 || { no "apply: $(cat "$work/apply.out")"; }; }

# ---- charts: a good one, one whose template fails, one with a schema, one that is not what the index says ----------------
chart() { # NAME VERSION
    mkdir -p "$work/src/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: %s\n' "$1" "$2" >"$work/src/$1/Chart.yaml"
    printf 'text: hello\n' >"$work/src/$1/values.yaml"
    cat >"$work/src/$1/templates/map.yaml" <<'T'
apiVersion: v1
kind: ConfigMap
metadata: { name: "{{ .Release.Name }}-map" }
data: { text: "{{ .Values.text }}", revision: "{{ .Release.Revision }}" }
T
}
pack() { tar -C "$work/src" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "$work/repo/$1-$2.tgz" "$1"; }
mkdir -p "$work/repo"
chart good 1.0.0 && pack good 1.0.0
sed -i 's/1.0.0/1.1.0/' "$work/src/good/Chart.yaml" && pack good 1.1.0
chart broken 1.0.0
printf 'a: b\nx: {{ .Values.no.such.thing }}\n' >"$work/src/broken/templates/bad.yaml" && pack broken 1.0.0
chart strict 1.0.0
printf '{"properties": {"text": {"type": "integer"}}}' >"$work/src/strict/values.schema.json" && pack strict 1.0.0
chart lying 1.0.0 && pack lying 1.0.0

start dev '^API server' "$pintle" dev --data "$work/data" --write-kubeconfig "$KUBECONFIG" --delay 100ms
start mirror '^serving' "$pintle" mirror serve "$work/repo" --address 127.0.0.1:0
url=$(sed -n 's/.* at \(http.*\)/\1/p' "$work/mirror.out")

repository() { # NAME URL CHARTS
    printf 'apiVersion: pintle.dev/v1alpha1\nkind: Repository\nmetadata: { name: %s }\nspec: { name: %s, url: "%s", charts: [%s], sync: { interval: 1s } }\n' "$1" "$1" "$2" "$3" | apply
}
release() { # NAME CHART VERSION MORE
    printf 'apiVersion: pintle.dev/v1alpha1\nkind: Release\nmetadata: { name: %s, namespace: team }\nspec: { name: %s, repo: main, chart: %s, version: "%s"%s }\n' "$1" "$1" "$2" "$3" "${4:-}" | apply
}
values() { # NAME SPEC
    printf 'apiVersion: pintle.dev/v1alpha1\nkind: Values\nmetadata: { name: %s, namespace: team }\nspec: %s\n' "$1" "$2" | apply
}
printf 'apiVersion: v1\nkind: Namespace\nmetadata: { name: team }\n---\napiVersion: v1\nkind: Namespace\nmetadata: { name: other }\n' | apply

# ---- repositories and charts --------------------------------------------------------------------------------------------
release early good 1.0.0
says release team/early False RepositoryNotFound 'there is no Repository main'
repository main "$url" '{ name: good, versions: ["1.0.0", "^1.0"] }, { name: broken }, { name: strict }'
says repository default/main True Synced '4 charts, 5 versions'
says release team/early True Deployed 'good 1.0.0 installed'
repository nowhere http://127.0.0.1:1 ''
says repository default/nowhere False Unavailable 'is not a valid chart repository or cannot be reached'
repository missing "$url/no/such/path" ''
says repository default/missing False IndexNotFound '404 Not Found'
release nochart absent 1.0.0
says release team/nochart False ChartNotFound 'chart absent of repository main is not in the cluster'
release noversion good 9.x
says release team/noversion False ChartNotFound 'none of the 2 versions'
printf 'apiVersion: pintle.dev/v1alpha1\nkind: Chart\nmetadata: { name: nine }\nspec: { name: good, repository: main, versions: ["9.x"] }\n' | apply
says chart default/nine False VersionNotFound 'satisfies "9.x"; the newest are 1.1.0, 1.0.0'
printf 'apiVersion: pintle.dev/v1alpha1\nkind: Chart\nmetadata: { name: absent }\nspec: { name: absent, repository: main }\n' | apply
says chart default/absent False ChartNotFound 'there is no chart absent in the index of Repository main'

# ---- values, templates, schemas -------------------------------------------------------------------------------------------
release novalues good 1.0.0 ', values: [later]'
says release team/novalues False ValuesNotFound 'Values team/later'
values later '{ json: { text: found } }'
says release team/novalues True Deployed installed
values a '{ refs: { x: b } }'
values b '{ refs: { y: a } }'
says values team/a False ValuesInvalid 'a -> b -> a: the refs form a cycle'
release cycle good 1.0.0 ', values: [a]'
says release team/cycle False ValuesInvalid 'the refs form a cycle'
release template broken 1.0.0
says release team/template False TemplateFailed 'broken/templates/bad.yaml:2:'
release schema strict 1.0.0
says release team/schema False SchemaViolated "at '/text': got string, want integer"
release schema strict 1.0.0 ', inlineValues: { text: 5 }'
says release team/schema True Deployed installed

# ---- rights and namespaces --------------------------------------------------------------------------------------------------
release away good 1.0.0 ', namespace: other'
says release team/away False NamespaceNotAllowed 'only with a Config that lists it'
printf 'apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: weak, namespace: team }\n---\napiVersion: pintle.dev/v1alpha1\nkind: Config\nmetadata: { name: weak, namespace: team }\nspec: { serviceAccountName: weak }\n' | apply
release powerless good 1.0.0 ', config: weak'
says release team/powerless False Forbidden 'cannot list resource "secrets"'
release noconfig good 1.0.0 ', config: absent'
says release team/noconfig False ConfigNotFound 'Config team/absent'
[ -z "$("$pintle" get configmaps -n other -o name | grep away-map)" ] && ok || no "something was written into a namespace that is not allowed"
[ -z "$("$pintle" get configmaps -n team -o name | grep -E 'powerless-map|away-map|template-map|cycle-map')" ] && ok || no "a refused release left objects"

# ---- upgrade, history, removal ---------------------------------------------------------------------------------------------
release early good ^1.0 ', inlineValues: { text: changed }'
says release team/early True Deployed 'good 1.1.0 upgraded as team/early revision 2; values changed: text'
"$pintle" get configmap -n team early-map -o yaml | grep -q 'text: changed' && ok || no "the upgrade did not reach the object"
"$pintle" get secrets -n team -l name=early,status=superseded -o name | grep -q v1 && ok || no "revision 1 is not superseded"
# A re-published version with other bytes is refused and named.
says chart default/good-main True Synced '1.0.0, 1.1.0'
sed -i 's/1.1.0/1.0.0/' "$work/src/good/Chart.yaml"
printf 'text: republished\n' >"$work/src/good/values.yaml"
pack good 1.0.0
says chart default/good-main False DigestChanged 'was published again with other bytes'
says release team/early True Deployed 'good 1.1.0'
python3 - "$KUBECONFIG" >"$work/delete.py.out" <<'P' || no "delete: $(cat "$work/delete.py.out")"
import base64, json, ssl, sys, urllib.request
import re
text = open(sys.argv[1]).read()
server = re.search(r'server: "?([^"\s]+)', text).group(1)
token = re.search(r'token: "?([^"\s]+)', text).group(1)
context = ssl._create_unverified_context()
for name in ("early", "novalues", "schema"):
    rq = urllib.request.Request(server + "/apis/pintle.dev/v1alpha1/namespaces/team/releases/" + name, method="DELETE",
                                headers={"Authorization": "Bearer " + token})
    urllib.request.urlopen(rq, context=context).read()
P
gone release team/early
gone configmap team/early-map
gone secret team/sh.helm.release.v1.early.v2
gone configmap team/novalues-map
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
