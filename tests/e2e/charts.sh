#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The kind Chart: what it keeps, for whom, and what goes; dependencies of every form; content that somebody deleted.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh

part() { # NAME VERSION [DEPENDENCIES]: a chart whose object is named after the chart
    chart "$1" "$2"
    [ -z "${3:-}" ] || printf 'dependencies: [%s]\n' "$3" >>"$work/src/$1/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "{{ .Release.Name }}-{{ .Chart.Name }}" }\ndata: { v: "{{ .Chart.Version }}" }\n' \
        >"$work/src/$1/templates/map.yaml"
    pack "$1" "$2"
}
content() { # PATTERN: the ConfigMaps of chart content, without those of the index
    "$pintle" get configmaps -n pintle-system -o name 2>/dev/null | sed 's|.*/||' | grep -E "^helm-(tmpl|crds|default)-" | grep -e "$1" | sort | tr '\n' ' '
}
content_is() { # NAME PATTERN WANT
    for _ in $(seq 100); do
        [ "$(content "$2")" = "$3" ] && break
        sleep 0.1
    done
    check_eq "$1" "$(content "$2")" "$3"
}
versions() { # CHART VERSION…: the Chart's object
    local name=$1
    shift
    cluster_ours Chart "$name-main" "{ name: $name, repository: main, versions: [$(printf '"%s",' "$@")] }"
}

dev_start
mkdir "$work/repo"
dev_serve "$work/repo"
namespaces team
part lib 1.0.0 && part lib 1.1.0
part alone 1.0.0
part app 1.0.0 "{ name: lib, alias: first, version: '>=1.0.0', repository: '@main' },
    { name: lib, alias: second, version: 1.0.0, repository: '${url/http:/HTTP:}/' },
    { name: alone, version: '*', repository: 'alias:main', condition: alone.enabled }"
part solo 1.0.0
part needs 1.0.0 "{ name: solo, version: ~1.0.0, repository: '@main' }"
part left 1.0.0 "{ name: right, version: 1.0.0, repository: '$url' }"
part right 1.0.0 "{ name: left, version: 1.0.0, repository: '$url' }"
part foreign 1.0.0 "{ name: lib, version: 1.0.0, repository: 'https://charts.example.invalid' }"
part deep 1.0.0
part deep 2.0.0
part asks 1.0.0 "{ name: deep, version: 1.0.0, repository: '@main' }"
part asks 2.0.0 "{ name: deep, version: ~2, repository: '@main' }"
repository main "$url" '{ name: absent }'
says repository default/main True Synced charts
says chart default/absent-main False ChartNotFound 'there is no chart absent'

# ---- dependencies ------------------------------------------------------------------------------------------------------
cluster_ours Chart app '{ repository: main }'
says chart default/app False DependencyNotFound 'spec.createDeps is not set'
cluster_ours Chart app '{ repository: main, createDeps: true }'
says chart default/app True Synced '1.0.0'
says chart default/lib-main True Synced '1.1.0, 1.0.0'
release app app 1.0.0 ', inlineValues: { alone: { enabled: false } }'
says release team/app True Deployed 'app 1.0.0 installed'
check_eq "P1, P3, P6: two aliases by @alias and by URL, a condition that is off" \
    "$("$pintle" get configmaps -n team -o name | grep -o 'app-.*' | sort | tr '\n' ' ')" 'app-app app-first app-second '
check_eq "the range is the highest that is kept" "$(get configmap team/app-first -o json | grep -o '"v": *"[^"]*"')" '"v": "1.1.0"'
check_eq "the version is the version" "$(get configmap team/app-second -o json | grep -o '"v": *"[^"]*"')" '"v": "1.0.0"'
cluster_ours Chart foreign '{ repository: main, createDeps: true }'
says chart default/foreign False DependencyNotFound 'dependency lib: no Repository has the URL https://charts.example.invalid'
cluster_ours Chart left '{ repository: main, createDeps: true }'
cluster_ours Chart right '{ repository: main, createDeps: true }'
says chart default/left False DependencyCycle 'the dependencies form a cycle: left -> right -> left'

# ---- versions that leave -------------------------------------------------------------------------------------------------
versions solo 1.0.0
says chart default/solo-main True Synced '1.0.0'
cluster_ours Chart needs '{ repository: main, createDeps: true }'
says chart default/needs True Synced '1.0.0'
part solo 1.1.0
release user solo 1.0.0
says release team/user True Deployed 'solo 1.0.0 installed'
versions solo 1.1.0
says chart default/solo-main True InUse '1.0.0 is used by Release team/user, Chart needs 1.0.0' Retained
content_is "C10: kept for its Release" '-solo-1' \
    "$(printf 'helm-%s-main-solo-%s ' crds 1.0.0 crds 1.1.0 default 1.0.0 default 1.1.0 tmpl 1.0.0 tmpl 1.1.0)"
delete_release user
says chart default/solo-main True InUse '1.0.0 is used by Chart needs 1.0.0' Retained
delete /apis/pintle.dev/v1alpha1/charts/needs
content_is "C10: gone with the last one" '-solo-1' "$(printf 'helm-%s-main-solo-1.1.0 ' crds default tmpl)"
check_eq "and no condition says so any more" "$(condition chart default/solo-main Retained)" ''

# What nobody asks for any more is not kept.
asked_versions() { get chart default/deep-main -o json | python3 -c 'import json, sys; print(*json.load(sys.stdin)["spec"]["versions"])'; }
cluster_ours Chart asks '{ repository: main, versions: [1.0.0], createDeps: true }'
says chart default/asks True Synced '1.0.0'
check_eq "what a Chart asks for is kept" "$(asked_versions)" '1.0.0'
cluster_ours Chart asks '{ repository: main, versions: [2.0.0, 1.0.0], createDeps: true }'
says chart default/asks True Synced '2.0.0, 1.0.0'
check_eq "for all of its versions" "$(asked_versions)" '1.0.0 ~2'
cluster_ours Chart asks '{ repository: main, versions: [2.0.0], createDeps: true }'
says chart default/deep-main True Synced '2.0.0'
check_eq "and no longer than they stay" "$(asked_versions)" '~2'
content_is "nor does its content" '-deep-' "$(printf 'helm-%s-main-deep-2.0.0 ' crds default tmpl)"
delete_release app
gone release team/app
delete /apis/pintle.dev/v1alpha1/charts/app
gone chart default/lib-main
content_is "what a Chart brought goes with it" '-lib-1' ''

# ---- content that somebody deleted ----------------------------------------------------------------------------------------
delete /api/v1/namespaces/pintle-system/configmaps/helm-tmpl-main-solo-1.1.0
content_is "deleted content comes back" 'tmpl-main-solo' 'helm-tmpl-main-solo-1.1.0 '

delete /api/v1/namespaces/pintle-system/configmaps/helm-default-main-solo-1.1.0
content_is "and so do the default values" 'default-main-solo' 'helm-default-main-solo-1.1.0 '

# ---- the same version again -------------------------------------------------------------------------------------------------
before=$(get configmap pintle-system/helm-default-main-solo-1.1.0 -o yaml | grep -c hello)
sed -i 's/hello/other/' "$work/src/solo/values.yaml"
pack solo 1.1.0
refuses chart default/solo-main DigestChanged 'version 1.1.0 was published again with other bytes'
check_eq "C6: the content of before" "$(get configmap pintle-system/helm-default-main-solo-1.1.0 -o yaml | grep -c hello)" "$before"
digest=$(sha256sum "$work/repo/solo-1.1.0.tgz" | cut -d ' ' -f 1)
apply <<Y
apiVersion: pintle.dev/v1alpha1
kind: Chart
metadata: { name: solo-main, annotations: { pintle.dev/accept-digest: "$digest" } }
spec: { name: solo, repository: main, versions: ["1.1.0"] }
Y
says chart default/solo-main True Synced '1.1.0'
check_has "C6: what was accepted" "$(get configmap pintle-system/helm-default-main-solo-1.1.0 -o yaml)" other

# ---- suspended --------------------------------------------------------------------------------------------------------------
cluster_ours Chart solo-main '{ name: solo, repository: main, versions: ["1.0.0"], suspend: true }'
sleep 0.5
content_is "suspended, it does nothing" 'tmpl-main-solo' 'helm-tmpl-main-solo-1.1.0 '
versions solo 1.0.0
content_is "and then all" 'tmpl-main-solo' 'helm-tmpl-main-solo-1.0.0 '

# ---- names and versions of every kind ------------------------------------------------------------------------------------------
data() { get configmap "team/$1" -o json | sed -n 's/.*"v": *"\([^"]*\)".*/\1/p'; }
mkdir "$work/twin"
long=a$(printf 'very-long-name-%.0s' $(seq 5))b
part "$long" 1.0.0-rc.1.that.is.long+build.1.of.2026
part versions v1.2.3 && part versions 1.1.0 && part versions 0.0.0
part nest 1.0.0
mkdir -p "$work/src/nest/charts" && cp -r "$work/src/lib" "$work/src/nest/charts/child"
sed -i 's/^name: lib/name: child/' "$work/src/nest/charts/child/Chart.yaml"
printf 'dependencies: [{ name: grand, version: "*", repository: "", condition: "grand.is.wanted" }]\n' >>"$work/src/nest/charts/child/Chart.yaml"
mkdir -p "$work/src/nest/charts/child/charts" && cp -r "$work/src/lib" "$work/src/nest/charts/child/charts/grand"
sed -i 's/^name: lib/name: grand/' "$work/src/nest/charts/child/charts/grand/Chart.yaml"
printf 'dependencies: [{ name: child, version: "*", repository: "" }]\n' >>"$work/src/nest/Chart.yaml"
pack nest 1.0.0
part other 1.0.0
mkdir -p "$work/src/other/charts" && cp -r "$work/src/lib" "$work/src/other/charts/lib"
printf 'dependencies: [{ name: lib, version: 9.x, repository: "@main" }]\n' >>"$work/src/other/Chart.yaml"
pack other 1.0.0
cp "$work/src/solo/values.yaml" "$work/values" && sed -i 's/^text:.*/text: twin/' "$work/src/solo/values.yaml"
sed -i 's/^version:.*/version: 1.0.0/' "$work/src/solo/Chart.yaml"
pack solo 1.0.0 "$work/twin"
launch twins '^serving' "$pintle" mirror serve "$work/twin" --address 127.0.0.1:0
repository twin "$(sed -n 's/.* at \(http.*\)/\1/p' "$work/twins.out")" '{ name: solo }'
says chart default/solo-twin True Synced '1.0.0'
check_eq "C7: one chart and version of two repositories" \
    "$(get configmap pintle-system/helm-default-twin-solo-1.0.0 -o yaml | grep -c twin)$(get configmap pintle-system/helm-default-main-solo-1.0.0 -o yaml | grep -c 'text: twin')" "$(get configmap pintle-system/helm-default-twin-solo-1.0.0 -o yaml | grep -c twin)0"
cluster_ours Chart long "{ name: $long, repository: main, versions: ['*-0'] }"
says chart default/long True Synced '1.0.0-rc.1.that.is.long+build.1.of.2026'
release long "$long" '1.0.0-rc.1.that.is.long+build.1.of.2026'
says release team/long True Deployed installed
check_eq "C9, C13, V5: a long name, a version with +, a Chart object of another name" "$(data "long-$long")" '1.0.0-rc.1.that.is.long+build.1.of.2026'
cluster_ours Chart versions '{ repository: main, versions: ["v1.2.3", "^1.0", "1.1", "0.0.0"] }'
says chart default/versions True Synced 'in the cluster: v1.2.3, 1.1.0, 0.0.0'
release newest versions ''
says release team/newest True Deployed 'versions v1.2.3 installed'
release ranged versions '~1.1'
says release team/ranged True Deployed 'versions 1.1.0 installed'
release zero versions 0.0.0
says release team/zero True Deployed 'versions 0.0.0 installed'
cluster_ours Chart nest '{ repository: main }'
release nest nest 1.0.0 ', inlineValues: { child: { grand: { is: { wanted: false } } } }'
says release team/nest True Deployed installed
check_eq "P2: a condition of a nested chart sees the user's values" \
    "$("$pintle" get configmaps -n team -o name | grep -o 'nest-.*' | sort | tr '\n' ' ')" 'nest-child nest-nest '
index=$(get configmap pintle-system/helm-main-other-index -o yaml | grep -v resourceVersion)
cluster_ours Chart other '{ repository: main, createDeps: true }'
release other other 1.0.0
says release team/other True Deployed installed
check_eq "P4: what is packed is used, as helm does it" \
    "$("$pintle" get configmaps -n team -o name | grep -o 'other-.*' | sort | tr '\n' ' ')" 'other-lib other-other '
check_eq "P4: the index is as it was" "$(get configmap pintle-system/helm-main-other-index -o yaml | grep -v resourceVersion)" "$index"
finish
