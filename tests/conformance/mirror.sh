#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The real helm 4 and helm 3 as clients of `pintle mirror serve`: as a chart repository and as a registry, reading and pushing,
# with TLS, passwords, tokens and provenance; what `pintle mirror sync` brings is what helm gets from the source itself.
#
#   HELM=file HELM3=file   the real helm
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/chart_servers.sh
PINTLE=$(realpath "${PINTLE:-build/pintle}")
for tool in "${HELM:-}" "${HELM3:-}"; do
    [ -x "$tool" ] || { echo "SKIP mirror: no real helm"; echo "0 passed, 0 failed"; exit 0; }
done
for tool in gpg curl openssl; do
    command -v $tool >/dev/null || { echo "SKIP mirror: no $tool"; echo "0 passed, 0 failed"; exit 0; }
done
dir=$(mktemp -d) || exit 2
pids=()
stop() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
    pids=()
}
trap 'stop; servers_stop; gpgconf --homedir "$dir/gpg" --kill all 2>/dev/null; [ -n "${KEEP_TMP:-}" ] || rm -rf "$dir"' EXIT
unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy HELM_REPOSITORY_CONFIG HELM_REPOSITORY_CACHE HELM_REGISTRY_CONFIG
export HOME=$dir/home XDG_CACHE_HOME= XDG_CONFIG_HOME= DOCKER_CONFIG=$dir/docker KUBECONFIG=/dev/null
mkdir -p "$HOME"
fresh_helm() { # a helm that knows nothing yet
    rm -rf "$dir/helm"
    export HELM_CONFIG_HOME=$dir/helm/config HELM_CACHE_HOME=$dir/helm/cache HELM_DATA_HOME=$dir/helm/data
}
fresh_helm
serve() { # NAME DIR FLAGS…: sets url and host
    local name=$1
    shift
    "$PINTLE" mirror serve "$@" --address 127.0.0.1:0 >"$dir/$name.out" 2>"$dir/$name.log" &
    pids+=($!)
    wait_for 10 grep -q ' at http' "$dir/$name.out" || { fail "$name starts" "$(cat "$dir/$name.log")"; finish; exit; }
    url=$(sed -n 's/.* at //p' "$dir/$name.out")
    host=${url#*://}
}
sum() { sha256sum <"$1" | cut -d ' ' -f 1; }

# ---- charts: web needs base; both are signed ---------------------------------------------------------------------------
mkdir -m 700 "$dir/gpg"
gpg --homedir "$dir/gpg" --batch --quiet --passphrase '' --quick-generate-key 'Tester <t@example.com>' rsa2048 sign never 2>/dev/null
gpg --homedir "$dir/gpg" --batch --export-secret-keys >"$dir/secring.gpg" 2>/dev/null
gpg --homedir "$dir/gpg" --batch --export >"$dir/pubring.gpg" 2>/dev/null
gpg --homedir "$dir/gpg" --batch --quiet --passphrase '' --quick-generate-key 'Other <o@example.com>' rsa2048 sign never 2>/dev/null
gpg --homedir "$dir/gpg" --batch --export Other >"$dir/other.gpg" 2>/dev/null
chart() { # NAME VERSION TEXT [DEPENDENCY]
    mkdir -p "$dir/src/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: %s\ndescription: %s\nhome: https://example.com/%s\nmaintainers: [{ name: Ann, email: ann@example.com }]\n%s' \
        "$1" "$2" "$3" "$1" "${4:-}" >"$dir/src/$1/Chart.yaml"
    seq 1 400 | sed "s/^/# line of $1 /" >"$dir/src/$1/README.md"
    printf 'kind: ConfigMap\napiVersion: v1\nmetadata: { name: %s }\ndata: { v: {{ .Chart.Version | quote }} }\n' "$1" >"$dir/src/$1/templates/a.yaml"
    "$HELM" package "$dir/src/$1" -d "$dir/source" --sign --key Tester --keyring "$dir/secring.gpg" >/dev/null 2>"$dir/package.log" ||
        fail "helm packages $1 $2" "$(cat "$dir/package.log")"
}
mkdir -p "$dir/source"
for version in 0.9.0 1.0.0 1.1.0 2.0.0-rc.1 1.2.0+build.7; do chart base $version "a base"; done
serve source "$dir/source"
source_url=$url
# helm does not package what needs a chart that is not in charts/
mkdir -p "$dir/src/web/templates"
printf 'apiVersion: v2\nname: web\nversion: 3.0.0\ndescription: needs a base\ndependencies:\n- name: base\n  version: ">=0.9 <1.2"\n  repository: %s\n' \
    "$source_url" >"$dir/src/web/Chart.yaml"
tar -C "$dir/src" -czf "$dir/source/web-3.0.0.tgz" web
printf 'token-to-push\n' >"$dir/push"

# ---- sync ------------------------------------------------------------------------------------------------------------------
out=$("$PINTLE" mirror sync "$dir/mirror" "$source_url" 'base@*' web --latest 2 2>&1)
check_eq "sync succeeds" "$?" 0
check_has "the newest two stable versions are brought" "$out" "added base 1.2.0+build.7"
check_has "with provenance" "$out" "with provenance"
check_eq "no pre-release, no third" "$(ls "$dir/mirror/charts/base" | tr '\n' ' ')" "@1.1.0 @1.2.0_build.7 "
rm -rf "$dir/mirror"
out=$("$PINTLE" mirror sync "$dir/mirror" "$source_url" web 2>&1)
check_has "a dependency comes along, in the version that the chart wants" "$out" "added base 1.1.0"
"$PINTLE" mirror sync "$dir/mirror" "$source_url" --latest 0 --devel >/dev/null
out=$("$PINTLE" mirror sync "$dir/mirror" "$source_url" --latest 0 --devel)
check_has "again: nothing to do" "$out" "0 added, 6 kept, 0 replaced, 0 refused, 0 failed"
check_status "verify finds nothing" 0 "$PINTLE" mirror verify "$dir/mirror"

# ---- real helm reads ---------------------------------------------------------------------------------------------------------
serve mirror "$dir/mirror" --push-token-file "$dir/push"
mirror_url=$url mirror_host=$host
check_eq "healthz" "$(curl -fsS "$url/healthz")" ok
for helm in "$HELM" "$HELM3"; do
    name=$(basename "$helm")
    fresh_helm
    got=$dir/got-$name
    mkdir -p "$got"
    check_status "$name repo add" 0 "$helm" repo add m "$mirror_url"
    check_status "$name repo update" 0 "$helm" repo update
    check_status "$name repo add of the source" 0 "$helm" repo add s "$source_url"
    for flags in "" --versions --devel; do
        check_eq "$name search repo $flags" "$("$helm" search repo m/ $flags | sed 's,m/,,' | tr -s ' \t' ' ')" \
            "$("$helm" search repo s/ $flags | sed 's,s/,,' | tr -s ' \t' ' ')"
    done
    for version in 0.9.0 1.0.0 1.1.0 1.2.0+build.7; do
        check_status "$name pull --verify of base $version" 0 "$helm" pull m/base --version "$version" -d "$got" --verify --keyring "$dir/pubring.gpg"
        check_eq "$name got the source's bytes of base $version" "$(sum "$got/base-$version.tgz")" "$(sum "$dir/source/base-$version.tgz")"
        check_eq "$name got the source's provenance of base $version" "$(sum "$got/base-$version.tgz.prov")" "$(sum "$dir/source/base-$version.tgz.prov")"
    done
    check_status "$name verify" 0 "$helm" verify "$got/base-1.0.0.tgz" --keyring "$dir/pubring.gpg"
    check_eq "$name template from the mirror" "$("$helm" template x m/base --version 1.1.0)" "$("$helm" template x "$dir/source/base-1.1.0.tgz")"
    check_eq "$name template --repo" "$("$helm" template x base --repo "$mirror_url" --version 1.0.0)" "$("$helm" template x "$dir/source/base-1.0.0.tgz")"
    # helm 3 asks for a cluster
    [ "$helm" = "$HELM3" ] || check_eq "$name install --dry-run" \
        "$("$helm" install x m/base --version 1.0.0 --dry-run=client 2>&1 | grep -c 'kind: ConfigMap')" 1
    check_eq "$name show all" "$("$helm" show all m/base)" "$("$helm" show all s/base)"

    rm -f "$got"/*
    check_status "$name pull oci --verify" 0 "$helm" pull "oci://$mirror_host/base" --version 1.0.0 --plain-http -d "$got" --verify --keyring "$dir/pubring.gpg"
    check_eq "$name got the source's bytes over oci" "$(sum "$got/base-1.0.0.tgz")" "$(sum "$dir/source/base-1.0.0.tgz")"
    check_status "$name pull oci of a version with +" 0 "$helm" pull "oci://$mirror_host/base" --version 1.2.0+build.7 --plain-http -d "$got"
    check_eq "$name got its bytes" "$(sum "$got/base-1.2.0+build.7.tgz")" "$(sum "$dir/source/base-1.2.0+build.7.tgz")"
    check_status "$name pull oci by range" 0 "$helm" pull "oci://$mirror_host/base" --version '<1.1' --plain-http -d "$got"
    check_eq "$name show chart oci" "$("$helm" show chart "oci://$mirror_host/base" --version 1.1.0 --plain-http 2>/dev/null | grep -v "^Pulled\|^Digest")" \
        "$("$helm" show chart "$dir/source/base-1.1.0.tgz")"
    check_status "$name pull oci of what is not there" 1 "$helm" pull "oci://$mirror_host/nothing" --version 1.0.0 --plain-http -d "$got"

    rm -rf "$dir/dep" && mkdir "$dir/dep"
    printf 'apiVersion: v2\nname: dep\nversion: 1.0.0\ndependencies:\n- name: base\n  version: 1.x\n  repository: %s\n' "$mirror_url" >"$dir/dep/Chart.yaml"
    check_status "$name dependency update" 0 "$helm" dependency update "$dir/dep"
    rm -rf "$dir/dep/charts"
    check_status "$name dependency build" 0 "$helm" dependency build "$dir/dep"
    check_eq "$name has the dependency" "$(ls "$dir/dep/charts")" base-1.2.0+build.7.tgz
done

# ---- real helm pushes ---------------------------------------------------------------------------------------------------------
for helm in "$HELM" "$HELM3"; do
    name=$(basename "$helm")
    fresh_helm
    rm -rf "$dir/back" && mkdir "$dir/back"
    chart pushed "1.0.0-$name" "from $name"
    file=$dir/source/pushed-1.0.0-$name.tgz
    check_status "$name push without a login" 1 "$helm" push "$file" "oci://$mirror_host/team" --plain-http
    check_status "$name registry login with a wrong token" 1 "$helm" registry login "$mirror_host" -u any -p wrong-token --plain-http
    check_status "$name registry login" 0 "$helm" registry login "$mirror_host" -u any -p token-to-push --plain-http
    check_status "$name push" 0 "$helm" push "$file" "oci://$mirror_host/team" --plain-http
    check_status "$name push again" 0 "$helm" push "$file" "oci://$mirror_host/team" --plain-http
    check_status "$name pull back" 0 "$helm" pull "oci://$mirror_host/team/pushed" --version "1.0.0-$name" --plain-http -d "$dir/back" --verify --keyring "$dir/pubring.gpg"
    check_eq "$name: what comes back is what was pushed" "$(sum "$dir/back/pushed-1.0.0-$name.tgz")" "$(sum "$file")"
    check_eq "$name: its provenance too" "$(sum "$dir/back/pushed-1.0.0-$name.tgz.prov")" "$(sum "$file.prov")"
    check_status "$name: pushed charts are a repository as well" 0 "$helm" pull pushed --repo "$mirror_url/team" --version "1.0.0-$name" -d "$dir/back"
    chart pushed "1.0.0-$name" "from $name, changed"
    check_status "$name: other bytes for a version are refused" 1 "$helm" push "$file" "oci://$mirror_host/team" --plain-http
    "$PINTLE" mirror accept-digest "$dir/mirror" team/pushed "1.0.0-$name" "sha256:$(sum "$file")"
    check_status "$name: until the digest is accepted" 0 "$helm" push "$file" "oci://$mirror_host/team" --plain-http
done
check_status "verify after pushes" 0 "$PINTLE" mirror verify "$dir/mirror"
check_eq "uploads leave nothing" "$(ls "$dir/mirror/uploads")" ""

# ---- a version that is published again ---------------------------------------------------------------------------------------
chart base 1.0.0 "published again"
out=$("$PINTLE" mirror sync "$dir/mirror" "$source_url" base@1.0.0 2>&1)
check_eq "it is refused" "$?" 1
check_has "with both digests" "$out" "sha256:$(sum "$dir/source/base-1.0.0.tgz")"
"$PINTLE" mirror accept-digest "$dir/mirror" base 1.0.0 "sha256:$(sum "$dir/source/base-1.0.0.tgz")"
check_has "and let in when accepted" "$("$PINTLE" mirror sync "$dir/mirror" "$source_url" base@1.0.0)" "replaced base 1.0.0"

# ---- the distribution API, by hand ----------------------------------------------------------------------------------------------
status() { curl -sS -o "$dir/body" -D "$dir/headers" -w '%{http_code}' "$@"; }
header() { sed -n "s/^$1: //Ip" "$dir/headers" | tr -d '\r'; }
auth=(-H "Authorization: Bearer token-to-push")
api=$mirror_url/v2
check_eq "GET /v2/ asks who it is, where there is a token" "$(status "$api/")" 401
check_eq "GET /v2/" "$(status "${auth[@]}" "$api/")" 200
check_eq "first page of tags" "$(status "$api/base/tags/list?n=2") $(cat "$dir/body")" '200 {"name":"base","tags":["0.9.0","1.0.0"]}'
check_eq "it links to the next" "$(header link)" '</v2/base/tags/list?n=2&last=1.0.0>; rel="next"'
check_eq "the next page" "$(status "$mirror_url$(header link | sed 's/.*<\(.*\)>.*/\1/')") $(cat "$dir/body")" \
    '200 {"name":"base","tags":["1.1.0","1.2.0_build.7"]}'
check_eq "tags of nothing" "$(status "$api/none/tags/list")" 404
check_eq "HEAD of a manifest" "$(status -I "$api/base/manifests/1.1.0")" 200
digest=$(header docker-content-digest)
check_eq "it has its media type" "$(header content-type)" application/vnd.oci.image.manifest.v1+json
check_eq "the manifest by its digest" "$(status "$api/base/manifests/$digest") sha256:$(sum "$dir/body")" "200 $digest"
check_eq "a range of a blob" "$(status -H 'Range: bytes=0-1' "$api/base/blobs/sha256:$(sum "$dir/source/base-1.1.0.tgz")") $(od -An -tx1 <"$dir/body")" "206  1f 8b"
printf hello >"$dir/blob"
blob=sha256:$(sum "$dir/blob")
check_eq "pushing needs a token" "$(status -X POST "$api/x/blobs/uploads/")" 401
check_eq "a blob in one request" "$(status "${auth[@]}" --data-binary @"$dir/blob" "$api/x/blobs/uploads/?digest=$blob")" 201
check_eq "with another digest" "$(status "${auth[@]}" --data-binary hullo "$api/x/blobs/uploads/?digest=$blob")" 400
check_eq "an upload begins" "$(status "${auth[@]}" -X POST "$api/x/blobs/uploads/")" 202
upload=$mirror_url$(header location)
check_eq "a chunk" "$(status "${auth[@]}" -X PATCH -H 'Content-Range: 0-1' --data-binary ab "$upload") $(header range)" "202 0-1"
check_eq "a chunk at a wrong place" "$(status "${auth[@]}" -X PATCH -H 'Content-Range: 7-8' --data-binary cd "$upload")" 416
check_eq "how far it is" "$(status "${auth[@]}" "$upload") $(header range)" "204 0-1"
check_eq "the last chunk ends it" "$(status "${auth[@]}" -X PUT --data-binary cd "$upload?digest=sha256:$(printf abcd | sha256sum | cut -d ' ' -f 1)")" 201
check_eq "then it is gone" "$(status "${auth[@]}" "$upload")" 404
check_eq "an upload can be given up" "$(status "${auth[@]}" -X POST "$api/x/blobs/uploads/" >/dev/null; status "${auth[@]}" -X DELETE "$mirror_url$(header location)")" 204
check_eq "a blob of another repository" "$(status "${auth[@]}" -X POST "$api/y/blobs/uploads/?mount=$blob&from=x")" 201
check_eq "a manifest that names what was not pushed" "$(status "${auth[@]}" -X PUT --data-binary '{"config":{"digest":"sha256:00"},"layers":[]}' "$api/x/manifests/1")" 400
printf '{"schemaVersion":2,"config":{"mediaType":"application/x","digest":"%s","size":5},"layers":[]}' "$blob" >"$dir/manifest"
check_eq "an artifact that is no chart" "$(status "${auth[@]}" -X PUT --data-binary @"$dir/manifest" "$api/x/manifests/latest")" 201
check_eq "comes back as it was" "$(status "$api/x/manifests/latest") $(sum "$dir/body")" "200 $(sum "$dir/manifest")"
check_eq "and is not in the index" "$(curl -sS "$mirror_url/index.yaml" | grep -c '^  x:')" 0
check_eq "it cannot take a chart's tag" "$(status "${auth[@]}" -X PUT --data-binary @"$dir/manifest" "$api/base/manifests/1.1.0")" 409
for path in '/v2/../../etc/passwd' '/%2e%2e/%2e%2e/etc/passwd' '/..%2findex.yaml' '/v2/a/../b/tags/list' '/.git-1.0.0.tgz' '/charts/base/@1.0.0'; do
    got=$(status --path-as-is "$mirror_url$path")
    case $got in 400 | 404) pass ;; *) fail "$path" "$got" ;; esac
done
check_eq "the repository takes no writes" "$(status -X PUT --data x "$mirror_url/index.yaml")" 405

# ---- TLS, passwords, tokens -------------------------------------------------------------------------------------------------------
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/key.pem" -out "$dir/cert.pem" -days 2 -subj /CN=mirror \
    -addext subjectAltName=IP:127.0.0.1 2>/dev/null
printf 'ann:%s\n' "$(openssl passwd -6 secret)" >"$dir/htpasswd"
printf 'token-to-read\n' >"$dir/read"
serve tls "$dir/mirror" --tls-cert-file "$dir/cert.pem" --tls-private-key-file "$dir/key.pem" --htpasswd "$dir/htpasswd" \
    --read-token-file "$dir/read" --push-token-file "$dir/push"
for helm in "$HELM" "$HELM3"; do
    name=$(basename "$helm")
    fresh_helm
    check_status "$name: an unknown authority" 1 "$helm" repo add t "$url" --username ann --password secret
    check_status "$name: without a password" 1 "$helm" repo add t "$url" --ca-file "$dir/cert.pem"
    check_status "$name: with a wrong one" 1 "$helm" repo add t "$url" --ca-file "$dir/cert.pem" --username ann --password wrong
    check_status "$name: with the right one" 0 "$helm" repo add t "$url" --ca-file "$dir/cert.pem" --username ann --password secret
    check_status "$name: pull" 0 "$helm" pull t/base --version 1.1.0 -d "$dir/back"
    check_status "$name: registry login" 0 "$helm" registry login "$host" -u any -p token-to-read --ca-file "$dir/cert.pem"
    check_status "$name: pull over oci" 0 "$helm" pull "oci://$host/base" --version 1.1.0 --ca-file "$dir/cert.pem" -d "$dir/back"
    check_status "$name: who reads may not push" 1 "$helm" push "$dir/source/base-0.9.0.tgz" "oci://$host/other" --ca-file "$dir/cert.pem"
done
check_eq "health needs no password" "$(curl -sS --cacert "$dir/cert.pem" "$url/healthz")" ok
check_eq "no secret in a log" "$(grep -l 'token-to\|secret' "$dir"/*.log)" ""
check_status "another mirror syncs from it" 0 "$PINTLE" mirror sync "$dir/second" "$url" --latest 0 --ca-file "$dir/cert.pem" \
    --username ann --password secret --no-dependencies
check_status "and over oci" 0 "$PINTLE" mirror sync "$dir/third" "oci://$host" base@1.1.0 --ca-file "$dir/cert.pem" --username any \
    --password token-to-read
check_eq "with the same bytes" "$(curl -sS --cacert "$dir/cert.pem" -u ann:secret "$url/base-1.1.0.tgz" | sha256sum)" \
    "$(sha256sum <"$dir/source/base-1.1.0.tgz")"

# ---- one file ----------------------------------------------------------------------------------------------------------------------
openssl genpkey -algorithm ed25519 -out "$dir/sign.pem" 2>/dev/null
openssl pkey -in "$dir/sign.pem" -pubout -out "$dir/sign.pub"
check_status "export" 0 "$PINTLE" mirror export "$dir/mirror" "$dir/bundle" --key "$dir/sign.pem"
check_status "import" 0 "$PINTLE" mirror import "$dir/fourth" "$dir/bundle" --key "$dir/sign.pub"
check_eq "the same index" "$(diff <(grep -v ^generated "$dir/mirror/charts/base/@1.1.0") <(grep -v ^generated "$dir/fourth/charts/base/@1.1.0"))" ""
check_status "verify of the import" 0 "$PINTLE" mirror verify "$dir/fourth"
tar -C "$dir" -xf "$dir/bundle" manifest.json manifest.sig
base64 -d "$dir/manifest.sig" >"$dir/manifest.raw"
check_status "openssl finds the signature good" 0 openssl pkeyutl -verify -pubin -inkey "$dir/sign.pub" -rawin -in "$dir/manifest.json" -sigfile "$dir/manifest.raw"
openssl genpkey -algorithm ed25519 2>/dev/null | openssl pkey -pubout -out "$dir/other.pub"
check_status "another key" 1 "$PINTLE" mirror import "$dir/fifth" "$dir/bundle" --key "$dir/other.pub"
size=$(stat -c %s "$dir/bundle")
for at in 600 2000 $((size / 2)) $((size - 5000)); do
    cp "$dir/bundle" "$dir/damaged"
    printf '\377' | dd of="$dir/damaged" bs=1 seek="$at" conv=notrunc status=none
    if "$PINTLE" mirror import "$dir/sixth" "$dir/damaged" --key "$dir/sign.pub" >/dev/null 2>&1; then
        # a byte of padding may differ; nothing else
        check_status "what came of a change at $at is whole" 0 "$PINTLE" mirror verify "$dir/sixth"
    else
        pass
    fi
done
head -c $((size / 2)) "$dir/bundle" >"$dir/damaged"
check_status "a bundle that is cut short" 1 "$PINTLE" mirror import "$dir/sixth" "$dir/damaged" --key "$dir/sign.pub"

# ---- what helm pushed to another registry, Debian's -----------------------------------------------------------------------------------
registry_charts() {
    local helm name version digest upstream=127.0.0.1:${port[other]}
    fresh_helm
    for version in 0.9.0 1.1.0 1.2.0+build.7; do
        check_status "push of base $version to docker-registry" 0 "$HELM" push "$dir/source/base-$version.tgz" "oci://$upstream/charts" --plain-http
    done
    check_has "sync from docker-registry" "$("$PINTLE" mirror sync "$dir/registry" "oci://$upstream/charts" 'base@*' --latest 0 --plain-http)" "3 added"
    check_has "again: all is kept" "$("$PINTLE" mirror sync "$dir/registry" "oci://$upstream/charts" 'base@*' --latest 0 --plain-http)" "3 kept"
    serve registry "$dir/registry"
    for version in 0.9.0 1.1.0 1.2.0_build.7; do
        curl -sSf -H 'Accept: application/vnd.oci.image.manifest.v1+json' -o "$dir/upstream.json" "http://$upstream/v2/charts/base/manifests/$version"
        curl -sSf -o "$dir/mirror.json" "$url/v2/base/manifests/$version"
        check_eq "the manifest of $version is docker-registry's" "$(sum "$dir/mirror.json")" "$(sum "$dir/upstream.json")"
        for helm in "$HELM" "$HELM3"; do
            name=$(basename "$helm")
            digest=sha256:$(sum "$dir/upstream.json")
            rm -rf "$dir/pinned" && mkdir "$dir/pinned"
            # helm 3 knows no digests in references
            [ "$helm" = "$HELM3" ] || check_status "$name pulls $version by the digest it has upstream" 0 "$helm" pull "oci://$host/base@$digest" --plain-http -d "$dir/pinned"
            check_status "$name pulls $version and its provenance" 0 "$helm" pull "oci://$host/base" --version "${version/_/+}" --plain-http -d "$dir/pinned" --verify --keyring "$dir/pubring.gpg"
            check_eq "$name: bytes of $version" "$(sum "$dir/pinned/base-${version/_/+}.tgz")" "$(sum "$dir/source/base-${version/_/+}.tgz")"
        done
    done
    check_has "docker-registry's charts beside those of a chart repository" \
        "$("$PINTLE" mirror sync "$dir/second" "oci://$upstream/charts" 'base@*' --latest 0 --plain-http)" "0 added, 3 kept"
    check_status "prune leaves its manifests" 0 "$PINTLE" mirror prune "$dir/second" --min-age 0s
    check_status "verify finds them" 0 "$PINTLE" mirror verify "$dir/second"
}
if ! command -v docker-registry >/dev/null; then
    skip "docker-registry" "not installed"
elif registry_start other; then
    registry_charts
else
    fail "docker-registry starts"
fi

# ---- installed: from a mirror, and from the one in the controller --------------------------------------------------------------------
"$PINTLE" dev --data "$dir/dev" --write-kubeconfig "$dir/kubeconfig" --delay 100ms >"$dir/dev.out" 2>"$dir/dev.log" &
pids+=($!)
wait_for 20 grep -q '^API server' "$dir/dev.out" || fail "pintle dev starts" "$(cat "$dir/dev.log")"
export KUBECONFIG=$dir/kubeconfig
cat >"$dir/repository.yaml" <<END
apiVersion: pintle.dev/v1alpha1
kind: Repository
metadata: { name: kept }
spec: { name: kept, url: "$source_url", mirror: { latest: 0, devel: true, dependencies: false } }
END
check_status "a mirrored Repository" 0 "$PINTLE" apply -f "$dir/repository.yaml"
kept() { "$PINTLE" get repository kept -o json | python3 -c 'import json, sys; s = json.load(sys.stdin).get("status", {}); print(*[c["reason"] for c in s.get("conditions", []) if c["type"] == "Mirrored"], s.get("mirror", {}).get("url"))'; }
wait_for 20 sh -c "'$PINTLE' get repository kept -o json | grep -q '\"reason\": *\"Mirrored\"'" || fail "it is mirrored" "$(kept)"
kept_url=$(kept | sed 's/.* //')
check_eq "the mirror serves what the source has" "$(curl -fsS "$kept_url/index.yaml" | grep -c '^  - ')" "$(curl -fsS "$source_url/index.yaml" | grep -c '^  - ')"
for helm in "$HELM" "$HELM3"; do
    name=$(basename "$helm")
    fresh_helm
    check_status "$name repo add" 0 "$helm" repo add m "$mirror_url"
    check_status "$name repo add of the controller's" 0 "$helm" repo add kept "$kept_url"
    n=0
    for chart in "m/base --version 1.1.0" "kept/base --version 0.9.0" "base --repo $kept_url" "oci://$mirror_host/base --version 1.1.0 --plain-http" \
        "oci://${kept_url#http://}/base --version 1.2.0+build.7 --plain-http" "kept/base --version 1.1.0 --verify --keyring $dir/pubring.gpg"; do
        n=$((n + 1))
        out=$("$helm" install "x$n" $chart 2>&1)
        check_eq "$name installs $chart" "$? $(sed -n 's/^STATUS: //p' <<<"$out")" "0 deployed"
        check_eq "$name: its object is there" "$("$PINTLE" get configmap base -o json | grep -c '"app.kubernetes.io/managed-by": *"Helm"')" 1
        check_status "$name upgrades to it" 0 "$helm" upgrade "x$n" m/base --version 1.1.0
        check_eq "$name: the release is known" "$("$helm" ls -q)" "x$n"
        check_status "$name uninstalls it" 0 "$helm" uninstall "x$n"
    done
    check_status "$name pull --verify from the controller's mirror" 0 "$helm" pull kept/base --version 1.0.0 -d "$dir/back" --verify --keyring "$dir/pubring.gpg"
    check_status "$name: a keyring of somebody else" 1 "$helm" pull kept/base --version 1.0.0 -d "$dir/back" --verify --keyring "$dir/other.gpg"
    check_status "$name: nothing can be pushed there" 1 "$helm" push "$dir/source/base-0.9.0.tgz" "oci://${kept_url#http://}" --plain-http
done
finish
