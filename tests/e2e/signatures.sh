#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# H27 and spec.verify: charts whose signatures are good, bad in each way, absent, or cannot be had, under each policy; provenance files of
# web servers and registries, cosign's signatures. Nothing of a chart that is refused gets into the cluster.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
. tests/lib/signatures.sh
. tests/lib/chart_servers.sh
trap 'gpgconf --kill all 2>/dev/null; servers_stop; dev_end' EXIT

dev_start
secret() { # NAME KEY=FILE…: in the controller's namespace
    local name=$1 pair
    shift
    {
        printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: %s, namespace: pintle-system }\ndata:\n' "$name"
        for pair in "$@"; do printf '  %s: %s\n' "${pair%%=*}" "$(base64 -w0 <"${pair#*=}")"; done
    } | apply
}
secret keys pubring.gpg="$work/ring.gpg"
verify() { echo ", verify: { policy: $1, secretRef: { name: ${2:-keys} }${3:-} }"; }
none_kept() { # NAME
    check_eq "$1: nothing is kept" "$("$pintle" get configmaps -n pintle-system -o name | grep -c "helm-tmpl-$1-")" 0
}

# ---- the matrix ------------------------------------------------------------------------------------------------------
# CASE|REASON|TEXT: what is refused under both policies.
bad=(
    'empty|SignatureInvalid|signature block not found'
    'garbage|SignatureInvalid|signature block not found'
    'page|SignatureInvalid|signature block not found'
    'digest|SignatureInvalid|sha256 sum does not match for web-1.0.0.tgz'
    'chart|SignatureInvalid|does not contain a SHA for a file named "web-1.0.0.tgz"'
    'expired|SignatureInvalid|openpgp: key expired'
    'stranger|SignatureInvalid|openpgp: signature made by unknown entity'
    'two|SignatureInvalid|more than one signature'
    'changed|SignatureInvalid|openpgp: invalid signature'
    'bomb|SignatureInvalid|provenance file cannot be fetched'
    'endless|SignatureInvalid|provenance file cannot be fetched'
    'broken|SignatureUnavailable|web-1.0.0.tgz.prov : 500 Internal Server Error'
    'closed|SignatureUnavailable|provenance file cannot be fetched'
)
# All objects go to the server together: one after the other takes three times as long.
at_once() { # COMMAND…: what it applies
    (
        apply() { cat && echo ---; }
        "$@"
    ) >"$work/objects"
    apply <"$work/objects"
}
make_matrix() {
    local name
    for name in good rsa missing "${bad[@]%%|*}"; do
        repository "${name}always" "$base/$name" '{ name: web }' "$(verify always)"
        repository "${name}present" "$base/$name" '{ name: web }' "$(verify ifPresent)"
    done
    repository garbagenever "$base/garbage" '{ name: web }' "$(verify never)"
}
at_once make_matrix
for name in goodalways goodpresent rsaalways rsapresent missingpresent garbagenever; do
    says chart "default/web-$name" True Synced 'in the cluster: 1.0.0'
done
check_has "the status names the signer" "$(get chart default/web-goodalways -o yaml)" 'signedBy: good <good@example.com>, '
refuses chart default/web-missingalways SignatureMissing 'there is no provenance file'
for row in "${bad[@]}"; do
    IFS='|' read -r name reason text <<<"$row"
    for policy in always present; do refuses chart "default/web-$name$policy" "$reason" "$text"; done
done
check_eq "nothing of what is refused is kept" \
    "$("$pintle" get configmaps -n pintle-system -o name | sed -n 's/.*helm-tmpl-\(.*\)-web-1.0.0$/\1/p' | sort | tr '\n' ' ')" \
    "garbagenever goodalways goodpresent missingpresent rsaalways rsapresent "

# ---- keys ------------------------------------------------------------------------------------------------------------
key_case() { repository "$1" "$base/good" '{ name: web }' "$(verify always "$1")"; }
key_case nokeys
refuses chart default/web-nokeys KeyNotFound 'Secret pintle-system/nokeys'
echo x >"$work/x"
secret emptykeys readme.txt="$work/x"
key_case emptykeys
refuses chart default/web-emptykeys KeyNotFound 'it has no key that ends in .gpg or .asc'
secret badkeys a.gpg="$work/x"
key_case badkeys
refuses chart default/web-badkeys KeyInvalid 'failed to load keyring'
repository nosecret "$base/good" '{ name: web }' ', verify: { provider: provenance }'
refuses chart default/web-nosecret KeyNotFound 'spec.verify.secretRef: a Secret with keys is needed'
secret both a.asc="$work/good.asc" b.asc="$work/other.asc"
key_case both
says chart default/web-both True Synced 'in the cluster: 1.0.0'
# What heals: the Secret comes, the provenance file comes.
secret nokeys a.asc="$work/good.asc"
says chart default/web-nokeys True Synced 'in the cluster: 1.0.0'
cp "$www/good/web-1.0.0.tgz.prov" "$www/missing/"
rm "$www/missing.web-1.0.0.tgz.prov.how"
says chart default/web-missingalways True Synced 'in the cluster: 1.0.0'
# What was let in does not stay when the key that signed it goes; and comes back with it.
secret both b.asc="$work/other.asc"
says chart default/web-both False SignatureInvalid 'signature made by unknown entity'
none_kept both
secret both a.asc="$work/good.asc"
says chart default/web-both True Synced 'in the cluster: 1.0.0'
# Neither a key that cannot be read nor a server that fails proves anything about what is there.
secret both a.asc="$work/x"
says chart default/web-both False KeyInvalid 'failed to load keyring'
there configmaps pintle-system helm-tmpl-both- && pass || fail "without keys what was verified is still there"
echo 500 >"$www/good.web-1.0.0.tgz.prov.how"
secret both a.asc="$work/good.asc" c.asc="$work/other.asc"
says chart default/web-both False SignatureUnavailable '500 Internal Server Error'
there configmaps pintle-system helm-tmpl-both- && pass || fail "what was verified is still there"
rm "$www/good.web-1.0.0.tgz.prov.how"
says chart default/web-both True Synced 'in the cluster: 1.0.0'

# ---- whose policy ----------------------------------------------------------------------------------------------------
repository open "$base/empty" ''
cluster_ours Chart strict '{ name: web, repository: open, verify: { policy: always, secretRef: { name: keys } } }'
refuses chart default/strict SignatureInvalid 'signature block not found'
repository shut "$base/empty" '' "$(verify always)"
cluster_ours Chart lax '{ name: web, repository: shut, verify: { policy: never } }'
says chart default/lax True Synced 'in the cluster: 1.0.0'
cluster_ours Chart heir '{ name: web, repository: shut }'
refuses chart default/heir SignatureInvalid 'signature block not found'
# A policy that comes later is looked at, too.
repository late "$base/missing" '{ name: web }'
says chart default/web-late True Synced 'in the cluster: 1.0.0'
echo 404 >"$www/missing.web-1.0.0.tgz.prov.how"
repository late "$base/missing" '{ name: web }' "$(verify always)"
says chart default/web-late False SignatureMissing 'there is no provenance file'
none_kept late

# ---- credentials: the provenance file is asked for as the archive is ---------------------------------------------------
servers_start login "$www" --log "$work/login.log" --login ann:pw-4711
servers_start other "$www" --log "$work/other.log"
mkdir "$www/abroad"
sed "s|- web-|- http://127.0.0.1:${port[other]}/good/web-|" "$www/good/index.yaml" >"$www/abroad/index.yaml"
printf ann >"$work/user"
printf pw-4711 >"$work/password"
secret login username="$work/user" password="$work/password"
repository home "http://127.0.0.1:${port[login]}/good" '{ name: web }' ", authSecret: login$(verify always)"
says chart default/web-home True Synced 'in the cluster: 1.0.0'
check_has "its own server gets them" "$(cat "$work/login.log")" 'web-1.0.0.tgz.prov Basic'
repository abroad "http://127.0.0.1:${port[login]}/abroad" '{ name: web }' ", authSecret: login$(verify always)"
says chart default/web-abroad True Synced 'in the cluster: 1.0.0'
check_has "another server is asked" "$(cat "$work/other.log")" 'web-1.0.0.tgz.prov -'
check_eq "without them" "$(grep -vc -- ' -$' "$work/other.log")" 0

# ---- registries: Helm's provenance layer -----------------------------------------------------------------------------
cp "$www/good/web-1.0.0.tgz.prov" "$work/repo/"
"$pintle" mirror add "$work/mirror" "$archive" >/dev/null || fail "the mirror takes the archive"
dev_serve "$work/mirror"
repository layer "oci://${url#http://}" '{ name: web }' ", insecure: true$(verify always)"
says chart default/web-layer True Synced 'in the cluster: 1.0.0'
chart bare 1.0.0
pack bare 1.0.0
"$pintle" mirror add "$work/mirror" "$work/repo/bare-1.0.0.tgz" >/dev/null
repository layerless "oci://${url#http://}" '{ name: bare }' ", insecure: true$(verify always)"
refuses chart default/bare-layerless SignatureMissing 'there is no provenance file'
repository layerless2 "oci://${url#http://}" '{ name: bare }' ", insecure: true$(verify ifPresent)"
says chart default/bare-layerless2 True Synced 'in the cluster: 1.0.0'

# ---- registries: cosign ----------------------------------------------------------------------------------------------
# A registry is files here: /v2/charts/web/manifests/TAG and /v2/charts/web/blobs/DIGEST are $www/v2/TAG and $www/v2/DIGEST.
mkdir "$www/v2"
echo good >"$www/v2.how"
sum() { sha256sum | cut -d ' ' -f 1; }
blob() { # FILE: prints its descriptor's members
    local hex
    hex=$(sum <"$1")
    cp "$1" "$www/v2/sha256:$hex"
    printf '"digest":"sha256:%s","size":%s' "$hex" "$(stat -c %s "$1")"
}
echo '{}' >"$work/config"
manifest() { # TAG CONFIG-TYPE LAYER…
    local tag=$1 type=$2 IFS=,
    shift 2
    printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"%s",%s},"layers":[%s]}' \
        "$type" "$(blob "$work/config")" "$*" >"$www/v2/$tag"
}
push_chart() { # VERSION: sets $manifest, its digest
    chart web "$1"
    pack web "$1"
    manifest "$1" application/vnd.cncf.helm.config.v1+json \
        "{\"mediaType\":\"application/vnd.cncf.helm.chart.content.v1.tar+gzip\",$(blob "$work/repo/web-$1.tgz")}"
    manifest=$(sum <"$www/v2/$1")
    echo 404 >"$www/v2.sha256-$manifest.sig.how"
}
for name in good other; do
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/$name.pem"
    openssl pkey -in "$work/$name.pem" -pubout -out "$work/$name.pub"
done
payload() { # DIGEST
    printf '{"critical":{"identity":{"docker-reference":"localhost/charts/web"},"image":{"docker-manifest-digest":"sha256:%s"},"type":"cosign container image signature"},"optional":null}' \
        "$1" >"$work/payload"
}
layer() { # KEY: $work/payload, signed, as a layer
    printf '{"mediaType":"application/vnd.dev.cosign.simplesigning.v1+json",%s,"annotations":{"dev.cosignproject.cosign/signature":"%s"}}' \
        "$(blob "$work/payload")" "$(openssl dgst -sha256 -sign "$work/$1.pem" "$work/payload" | base64 -w 0)"
}
cosign() { # LAYER…: beside $manifest
    manifest "sha256-$manifest.sig" application/vnd.oci.image.config.v1+json "$@"
    rm -f "$www/v2.sha256-$manifest.sig.how"
}
push_chart 1.0.0; payload "$manifest"; cosign "$(layer good)"
first=$manifest
push_chart 1.0.1; payload "$manifest"; cosign "$(layer other)"
push_chart 1.0.2; payload "$first"; cosign "$(layer good)"
push_chart 1.0.3
push_chart 1.0.4; echo '{"critical":1}' >"$work/payload"; cosign "$(layer good)"
push_chart 1.0.5; echo garbage >"$www/v2/sha256-$manifest.sig"; rm "$www/v2.sha256-$manifest.sig.how"
push_chart 1.0.6; echo 500 >"$www/v2.sha256-$manifest.sig.how"
push_chart 1.0.7; payload "$manifest"; cosign "$(layer other)" "$(layer good)"
push_chart 1.0.8; cosign
push_chart 1.0.9; payload "$manifest"; cosign "$(layer good | sed 's/cosign.signature/other/')"
printf '{"name":"charts/web","tags":["1.0.0","1.0.1","1.0.2","1.0.3","1.0.4","1.0.5","1.0.6","1.0.7","1.0.8","1.0.9"]}' >"$www/v2/list"
secret cosign cosign.pub="$work/good.pub"
repository signed "oci://${base#http://}/charts" '' ", insecure: true$(verify always cosign ', provider: cosign')"
repository maybe "oci://${base#http://}/charts" '' ", insecure: true$(verify ifPresent cosign ', provider: cosign')"
cosigned() { # VERSION…: a Chart of each, under each policy
    local where version
    for version; do
        for where in signed maybe; do cluster_ours Chart "$where-$version" "{ name: web, repository: $where, versions: [\"$version\"] }"; done
    done
}
at_once cosigned 1.0.0 1.0.1 1.0.2 1.0.3 1.0.4 1.0.5 1.0.6 1.0.7 1.0.8 1.0.9
for name in signed-1.0.0 signed-1.0.7 maybe-1.0.0 maybe-1.0.7 maybe-1.0.3; do
    says chart default/$name True Synced "in the cluster: ${name#*-}"
done
check_has "the status names the Secret" "$(get chart default/signed-1.0.0 -o yaml)" 'signedBy: a cosign key of Secret cosign'
cosign_bad() { # VERSION REASON TEXT
    local where
    for where in signed maybe; do refuses chart "default/$where-$1" "$2" "$3"; done
}
cosign_bad 1.0.1 SignatureInvalid 'none of 1 cosign signatures is good: no key of the 1 made this signature'
cosign_bad 1.0.2 SignatureInvalid "the signature is for sha256:$first, not for sha256:"
cosign_bad 1.0.4 SignatureInvalid 'the signed payload is no cosign container image signature'
cosign_bad 1.0.5 SignatureInvalid 'manifest: invalid character'
cosign_bad 1.0.6 SignatureUnavailable 'the cosign signature cannot be fetched'
cosign_bad 1.0.8 SignatureInvalid "cosign's manifest has no signature"
cosign_bad 1.0.9 SignatureInvalid 'the signature is not base64'
refuses chart default/signed-1.0.3 SignatureMissing 'there is no cosign signature'
check_eq "nothing of what is refused is kept" \
    "$("$pintle" get configmaps -n pintle-system -o name | sed -n 's/.*helm-tmpl-\(signed\|maybe\)-web-/\1 /p' | sort | tr '\n' ' ')" \
    "maybe 1.0.0 maybe 1.0.3 maybe 1.0.7 signed 1.0.0 signed 1.0.7 "
secret badcosign cosign.pub="$work/x"
repository badcosign "oci://${base#http://}/charts" '' ", insecure: true$(verify always badcosign ', provider: cosign')"
cluster_ours Chart badcosign '{ name: web, repository: badcosign, versions: ["1.0.0"] }'
refuses chart default/badcosign KeyInvalid 'the key is no public key in PEM form'
repository nocosign "$base/good" '{ name: web }' "$(verify always cosign ', provider: cosign')"
refuses chart default/web-nocosign CannotVerify "cosign's signatures are in registries"
check_eq "librnp is quiet" "$(grep -c 'src/lib' "$work/dev.log")" 0
finish
