#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Repositories with spec.mirror: the controller keeps their archives and serves them to our own client, upstream or not.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
export HELM_CONFIG_HOME=$work/helm/config HELM_CACHE_HOME=$work/helm/cache HELM_DATA_HOME=$work/helm/data
sum() { sha256sum <"$1" | cut -d ' ' -f 1; }

for version in 1.0.0 1.1.0 1.2.0+build.5 2.0.0-rc.1; do
    chart web $version
    seq 1 2000 >"$work/src/web/README.md"
    pack web $version
done
chart base 1.0.0
pack base 1.0.0
chart app 1.0.0
dev_serve "$work/repo"
upstream=$url
printf 'dependencies: [{ name: base, version: 1.x, repository: "%s" }]\n' "$upstream" >>"$work/src/app/Chart.yaml"
pack app 1.0.0
dev_start
namespaces team

mirrored() { says repository "default/$1" "$2" "$3" "$4" Mirrored; }
field() { get repository "default/$1" -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["status"].get("mirror", {}).get(sys.argv[1]))' "$2"; }
tries() { # COMMAND…: within ten seconds it succeeds
    wait_for 10 "$@" && pass || fail "$*"
}
pull() { rm -rf "$work/got" && mkdir "$work/got" && "$pintle" pull "$@" -d "$work/got" >"$work/pull.out" 2>&1; }
absent() { ! pull "$@"; }

# ---- what is kept ---------------------------------------------------------------------------------------------------------
repository main "$upstream" '{ name: web }' ', mirror: { latest: 0 }'
mirrored main True Mirrored '3 versions of 1 charts'
tells repository default/main Mirrored '3 versions of 1 charts'
says repository default/main True Synced 'versions in the index'
mirror=$(field main url)
check_eq "it says how many" "$(field main versions) $(field main charts) $(field main refused) $(field main failed)" "3 1 0 0"
check_eq "and how large" "$(field main bytes)" "$(cat "$work"/repo/web-1*.tgz | wc -c)"
check_eq "which takes less in the controller" "$(($(field main storedBytes) < $(field main bytes)))" 1
repository all "$upstream" '' ', mirror: { devel: true, dependencies: false }'
mirrored all True Mirrored '3 versions of 3 charts'
repository some "$upstream" '{ name: web }' ', mirror: { charts: [{ name: app, versions: ["1.0.0"] }] }'
mirrored some True Mirrored '2 versions of 2 charts'
repository some "$upstream" '{ name: web }' ', mirror: { charts: [{ name: web, versions: ["~1.0", "^1.1"] }] }'
mirrored some True Mirrored '4 versions of 3 charts'
repository some "$upstream" '{ name: web }' ', mirror: { prune: true, charts: [{ name: web, versions: ["~1.0"] }] }'
mirrored some True Mirrored '1 versions of 1 charts'

# ---- who reads it ------------------------------------------------------------------------------------------------------------
check_status "repo add" 0 "$pintle" repo add kept "$mirror"
check_has "search" "$("$pintle" search repo kept/ --versions)" "1.2.0+build.5"
for version in 1.0.0 1.1.0 1.2.0+build.5; do
    check_status "pull $version" 0 pull kept/web --version $version
    check_eq "it is what was published" "$(sum "$work/got/web-$version.tgz")" "$(sum "$work/repo/web-$version.tgz")"
    check_status "pull $version as an image" 0 pull "oci://${mirror#http://}/web" --version $version --plain-http
    check_eq "it is what was published, too" "$(sum "$work/got/web-$version.tgz")" "$(sum "$work/repo/web-$version.tgz")"
done
check_status "nothing can be pushed" 1 "$pintle" push "$work/repo/web-1.0.0.tgz" "oci://${mirror#http://}" --plain-http

# A Repository of the mirror: what an air-gapped cluster has.
repository gap "$mirror" '{ name: web, versions: ["1.1.0"] }'
says chart default/web-gap True Synced 1.1.0

# ---- new versions, and old ones again ------------------------------------------------------------------------------------------
chart web 1.3.0
pack web 1.3.0
mirrored main True Mirrored '4 versions of 1 charts'
check_status "a new version is there" 0 pull web --repo "$mirror" --version 1.3.0
before=$(sum "$work/repo/web-1.1.0.tgz")
chart web 1.1.0
echo 'other bytes' >"$work/src/web/README.md"
pack web 1.1.0
after=$(sum "$work/repo/web-1.1.0.tgz")
mirrored main False DigestChanged "web 1.1.0 is kept with sha256:$before; other bytes are refused until their digest is accepted: sha256:$after"
tells repository default/main DigestChanged "sha256:$after"
check_eq "one is counted" "$(field main refused)" 1
check_status "what was kept is served" 0 pull web --repo "$mirror" --version 1.1.0
check_eq "as it was" "$(sum "$work/got/web-1.1.0.tgz")" "$before"
printf 'apiVersion: pintle.dev/v1alpha1\nkind: Repository\nmetadata: { name: main, annotations: { pintle.dev/accept-digest: "sha256:%s" } }\nspec: %s\n' \
    "$after" "{ name: main, url: \"$upstream\", charts: [{ name: web }], sync: { interval: 1s }, mirror: { latest: 0 } }" | apply
mirrored main True Mirrored '4 versions of 1 charts'
check_status "an accepted digest takes its place" 0 pull web --repo "$mirror" --version 1.1.0
check_eq "with the other bytes" "$(sum "$work/got/web-1.1.0.tgz")" "$after"

# ---- switched off, taken away -----------------------------------------------------------------------------------------------------
repository some "$upstream" '{ name: web }' ', mirror: { enabled: false }'
mirrored some False Disabled 'nothing new is kept'
check_status "what was kept is served still" 0 pull web --repo "${mirror%/*}/some" --version 1.0.0
repository some "$upstream" '{ name: web }'
tries absent web --repo "${mirror%/*}/some" --version 1.0.0
wait_for 10 test "$(field some url)" = None
check_eq "the status says nothing of it" "$(condition repository default/some Mirrored)" ""
delete /apis/pintle.dev/v1alpha1/repositories/all
tries absent app --repo "${mirror%/*}/all"

# ---- what installs it ----------------------------------------------------------------------------------------------------------
"$pintle" manifests --mirror --mirror-storage 4Gi >"$work/manifests.yaml"
check_status "its manifests are objects" 0 "$pintle" apply -f "$work/manifests.yaml"
check_eq "the Service leads to the controller's port" \
    "$(get service pintle-system/pintle-mirror -o json | python3 -c 'import json, sys; s = json.load(sys.stdin)["spec"]; print(s["ports"][0]["port"], s["ports"][0]["targetPort"], s["selector"])')" \
    "8879 mirror $(get deployment pintle-system/pintle -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["spec"]["template"]["metadata"]["labels"])')"
check_has "which serves there" "$(grep args: "$work/manifests.yaml")" \
    '"--mirror-listen=:8879", "--mirror-url=http://pintle-mirror.pintle-system.svc:8879", "--mirror-max-size=3221225472"'
check_status "one controller has the volume" 1 "$pintle" manifests --mirror --replicas 2

# ---- a limit; killed; upstream gone ---------------------------------------------------------------------------------------------
restart() { # FLAGS…
    { kill -9 "${dev_pids[1]}" && wait "${dev_pids[1]}"; } 2>/dev/null
    unset 'dev_pids[1]'
    dev_pids=("${dev_pids[@]}")
    : >"$work/dev.out"
    launch dev '^API server' "$pintle" dev --data "$work/data" --write-kubeconfig "$KUBECONFIG" --delay 100ms \
        --mirror-listen "$(echo "$mirror" | cut -d / -f 3)" "$@"
}
cp -r "$work/data/mirror/charts/main" "$work/data/mirror/charts/nobody"
restart --mirror-max-size 1Ki
repository full "$upstream" '{ name: web }' ', mirror: { charts: [{ name: app }], latest: 0 }'
mirrored full False MirrorFull 'the mirror is full: it takes '
says repository default/full True Synced 'versions in the index'
tries absent web --repo "${mirror%/*}/nobody" --version 1.0.0
restart --mirror-listen ''
mirrored full False NoMirror 'started without --mirror-listen'
restart --mirror-max-size 20Mi
mirrored full True Mirrored '2 versions of 2 charts'
kill -9 "${dev_pids[0]}" 2>/dev/null
says repository default/main False Unavailable 'chart repository'
for version in 1.0.0 1.3.0; do
    check_status "without upstream $version comes from the mirror" 0 pull web --repo "$mirror" --version $version
    check_eq "as it was published" "$(sum "$work/got/web-$version.tgz")" "$(sum "$work/repo/web-$version.tgz")"
done
check_status "the mirror is whole" 0 "$pintle" mirror verify "$work/data/mirror"
finish
