#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# spec.verify: charts whose signatures are good, bad in each way, absent, or cannot be had, under each policy; provenance files of
# web servers and registries, cosign's signatures. Nothing of a chart that is refused gets into the cluster.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
command -v gpg >/dev/null || { echo "SKIP signatures: there is no gpg"; finish; exit; }
export GNUPGHOME=$work/gnupg
trap 'gpgconf --kill all 2>/dev/null; dev_end' EXIT
mkdir -m 700 "$GNUPGHOME"

g() { gpg --batch --quiet --yes --no-tty --pinentry-mode loopback --passphrase '' "$@" 2>>"$work/gpg.log"; }
key() { g "${@:4}" --quick-generate-key "$1 <$1@example.com>" "$2" sign "$3"; } # NAME ALGORITHM EXPIRY OPTION…
key good ed25519 never
key other rsa2048 never
key stranger ed25519 never
key expired ed25519 20210101T000000 --faked-system-time 20200101T000000
g --export good@example.com other@example.com expired@example.com >"$work/ring.gpg"
g --export --armor good@example.com >"$work/good.asc"
g --export --armor other@example.com >"$work/other.asc"

chart web 1.0.0
pack web 1.0.0
archive=$work/repo/web-1.0.0.tgz
digest=$(sha256sum "$archive" | cut -d ' ' -f 1)
prov() { # TO NAME DIGEST GPG-OPTION…
    printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n\n...\nfiles:\n  %s: sha256:%s\n' "$2" "$3" | g "${@:4}" --clearsign -o "$1"
}

# ---- servers ---------------------------------------------------------------------------------------------------------
www=$work/www
mkdir "$www"
launch bad '^serving' python3 tests/lib/bad_server.py "$www"
base=$(sed -n 's/.* at \(http.*\)/\1/p' "$work/bad.out")
place() { # NAME: a repository with the chart; its provenance file is a matter of its own
    mkdir -p "$www/$1"
    cp "$archive" "$www/$1/"
    "$pintle" repo index "$www/$1"
    echo good >"$www/$1.how"
    echo 404 >"$www/$1.web-1.0.0.tgz.prov.how"
}
signed() { # NAME: … which is there
    place "$1"
    rm "$www/$1.web-1.0.0.tgz.prov.how"
}
signed good; prov "$www/good/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u good@example.com
signed rsa; prov "$www/rsa/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u other@example.com
place missing
signed empty; : >"$www/empty/web-1.0.0.tgz.prov"
signed garbage; echo garbage >"$www/garbage/web-1.0.0.tgz.prov"
signed digest; prov "$www/digest/web-1.0.0.tgz.prov" web-1.0.0.tgz "00${digest:2}" -u good@example.com
signed chart; prov "$www/chart/web-1.0.0.tgz.prov" api-1.0.0.tgz "$digest" -u good@example.com
signed expired; prov "$www/expired/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u expired@example.com --faked-system-time 20200601T000000
signed stranger; prov "$www/stranger/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u stranger@example.com
signed two; prov "$www/two/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u good@example.com -u other@example.com
signed changed; sed 's/version: 1.0.0/version: 2.0.0/' "$www/good/web-1.0.0.tgz.prov" >"$www/changed/web-1.0.0.tgz.prov"
place page; echo html >"$www/page.web-1.0.0.tgz.prov.how"
place broken; echo 500 >"$www/broken.web-1.0.0.tgz.prov.how"
place closed; echo close >"$www/closed.web-1.0.0.tgz.prov.how"
signed bomb; { cat "$www/good/web-1.0.0.tgz.prov"; head -c 1048576 /dev/zero | tr '\0' '\n'; } >"$www/bomb/web-1.0.0.tgz.prov"
place endless; echo endless >"$www/endless.web-1.0.0.tgz.prov.how"

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
repo_of() { repository "$1$2" "$base/$1" '{ name: web }' "$(verify "$3")"; } # CASE SUFFIX POLICY
for name in good rsa; do
    repo_of $name always always
    repo_of $name present ifPresent
    says chart "default/web-${name}always" True Synced 'in the cluster: 1.0.0'
    says chart "default/web-${name}present" True Synced 'in the cluster: 1.0.0'
done
check_has "the status names the signer" "$(get chart default/web-goodalways -o yaml)" 'signedBy: good <good@example.com>, '
repo_of missing always always
refuses chart default/web-missingalways SignatureMissing 'there is no provenance file'
none_kept missingalways
repo_of missing present ifPresent
says chart default/web-missingpresent True Synced 'in the cluster: 1.0.0'

bad() { # CASE REASON TEXT: under both policies
    local policy
    for policy in always present; do repo_of "$1" $policy "${policy/present/ifPresent}"; done
    for policy in always present; do
        refuses chart "default/web-$1$policy" "$2" "$3"
        none_kept "$1$policy"
    done
}
bad empty SignatureInvalid 'signature block not found'
bad garbage SignatureInvalid 'signature block not found'
bad page SignatureInvalid 'signature block not found'
bad digest SignatureInvalid 'sha256 sum does not match for web-1.0.0.tgz'
bad chart SignatureInvalid 'does not contain a SHA for a file named "web-1.0.0.tgz"'
bad expired SignatureInvalid 'openpgp: key expired'
bad stranger SignatureInvalid 'openpgp: signature made by unknown entity'
bad two SignatureInvalid 'more than one signature'
bad changed SignatureInvalid 'openpgp: invalid signature'
bad bomb SignatureInvalid 'provenance file cannot be fetched'
bad endless SignatureInvalid 'provenance file cannot be fetched'
bad broken SignatureUnavailable 'web-1.0.0.tgz.prov : 500 Internal Server Error'
bad closed SignatureUnavailable 'provenance file cannot be fetched'
repo_of garbage never never
says chart default/web-garbagenever True Synced 'in the cluster: 1.0.0'

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
refuses chart default/web-badkeys SignatureInvalid 'failed to load keyring'
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
# A server that fails proves nothing about what is there.
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
cosigned() { cluster_ours Chart "$1-$2" "{ name: web, repository: $1, versions: [\"$2\"] }"; } # REPOSITORY VERSION
for version in 1.0.0 1.0.7; do
    for where in signed maybe; do
        cosigned $where $version
        says chart default/$where-$version True Synced "in the cluster: $version"
    done
done
check_has "the status names the Secret" "$(get chart default/signed-1.0.0 -o yaml)" 'signedBy: a cosign key of Secret cosign'
cosign_bad() { # VERSION REASON TEXT
    local where
    for where in signed maybe; do
        cosigned $where "$1"
        refuses chart "default/$where-$1" "$2" "$3"
        check_eq "$where $1: nothing is kept" "$("$pintle" get configmaps -n pintle-system -o name | grep -c "helm-tmpl-$where-web-$1")" 0
    done
}
cosign_bad 1.0.1 SignatureInvalid 'none of 1 cosign signatures is good: no key of the 1 made this signature'
cosign_bad 1.0.2 SignatureInvalid "the signature is for sha256:$first, not for sha256:"
cosign_bad 1.0.4 SignatureInvalid 'the signed payload is no cosign container image signature'
cosign_bad 1.0.5 SignatureInvalid 'manifest: invalid character'
cosign_bad 1.0.6 SignatureUnavailable 'the cosign signature cannot be fetched'
cosign_bad 1.0.8 SignatureInvalid "cosign's manifest has no signature"
cosign_bad 1.0.9 SignatureInvalid 'the signature is not base64'
cosigned signed 1.0.3
refuses chart default/signed-1.0.3 SignatureMissing 'there is no cosign signature'
cosigned maybe 1.0.3
says chart default/maybe-1.0.3 True Synced 'in the cluster: 1.0.3'
repository nocosign "$base/good" '{ name: web }' "$(verify always cosign ', provider: cosign')"
refuses chart default/web-nocosign CannotVerify "cosign's signatures are in registries"
check_eq "librnp is quiet" "$(grep -c 'src/lib' "$work/dev.log")" 0
finish
