#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/data/provenance/make.sh: makes the other files of this folder anew, with gpg 2.2 and openssl 3. Keys and signatures
# are of 2024-06-01 and later, so that tests can say which day it is. Private keys are thrown away.
set -eu
cd "$(dirname "$0")"
home=$(mktemp -d)
trap 'gpgconf --homedir "$home" --kill all; rm -rf "$home"' EXIT
export GNUPGHOME=$home
made=20240601T000000

g() { gpg --batch --quiet --yes --no-tty --no-permission-warning --pinentry-mode loopback --passphrase '' "$@" 2>/dev/null; }
at() { local time=$1; shift; g --faked-system-time "$time" "$@"; }
key() { at "$made" --quick-generate-key "$1 <$1@example.com>" "$2" "${3:-sign}" "${4:-never}"; } # NAME ALGORITHM [USE [EXPIRY]]
fingerprint() { g --with-colons --list-keys "$1@example.com" | awk -F: '/^fpr/ { print $10; exit }'; }
sign() { local out=$1; shift; at 20240602T000000 --digest-algo SHA512 "$@" --clearsign -o "$out.prov" message; } # FILE OPTION...
message() { printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n\n...\nfiles:\n  %s: sha256:%s\n' "$1" "$2"; }

rm -f ./*.prov ./*.gpg ./*.asc ./*.pub ./*.sig
key rsa rsa3072
key ed25519 ed25519
key p256 nistp256
key sub ed25519 cert
at "$made" --quick-add-key "$(fingerprint sub)" ed25519 sign never
key revokedsub ed25519 cert
at "$made" --quick-add-key "$(fingerprint revokedsub)" ed25519 sign never
key weak rsa1024
key two ed25519
at "$made" --quick-add-uid "$(fingerprint two)" "second <second@example.com>"
key expired ed25519 sign 20250101T000000
key expiredsub ed25519 cert
at "$made" --quick-add-key "$(fingerprint expiredsub)" ed25519 sign 20250101T000000
key revoked ed25519
key stranger ed25519

printf 'not really an archive: only its digest matters\n' >web-1.0.0.tgz
sum=$(sha256sum web-1.0.0.tgz)
sum=${sum%% *}
message web-1.0.0.tgz "$sum" >message
for name in rsa ed25519 p256 sub revokedsub weak two expired expiredsub revoked stranger; do sign "$name" -u "$name@example.com"; done
for hash in SHA1 MD5 RIPEMD160 SHA256; do
    sign "${hash,,}" -u rsa@example.com --allow-weak-digest-algos --digest-algo "$hash"
done
sign two-signatures -u rsa@example.com -u ed25519@example.com
sign second-of-a-stranger -u ed25519@example.com -u stranger@example.com
sign first-of-a-stranger -u stranger@example.com -u ed25519@example.com
sign expired-signature -u ed25519@example.com --default-sig-expire 2d
at 20400101T000000 -u ed25519@example.com --clearsign -o tomorrow.prov message
cat ed25519.prov rsa.prov >two-messages.prov
sed 's/version: 1.0.0/version: 1.0.1/' ed25519.prov >changed.prov
sed 's/$/\r/' ed25519.prov >crlf.prov
{ echo before; cat ed25519.prov; echo after; } >around.prov
head -c 300 ed25519.prov >cut.prov
: >empty.prov
echo garbage >garbage.prov
at 20240602T000000 -u ed25519@example.com --sign --armor -o not-clear.prov message
# The signature of one text under another one.
awk '/BEGIN PGP SIGNATURE/ { exit } 1' ed25519.prov >other-signature.prov
message web-1.0.0.tgz "00${sum:2}" >message
sign other-digest -u ed25519@example.com
awk '/BEGIN PGP SIGNATURE/ { on = 1 } on' other-digest.prov >>other-signature.prov
message api-1.0.0.tgz "$sum" >message
sign other-chart -u ed25519@example.com
printf 'apiVersion: v2\nname: web\n' >message
sign one-part -u ed25519@example.com
printf 'name: web\n\n...\nfiles: {\n' >message
sign bad-yaml -u ed25519@example.com
printf 'name: web\n\n...\nfiles:\n  web-1.0.0.tgz: sha256:%s\n  web-1.0.0.tgz: sha256:%s\n' "00${sum:2}" "$sum" >message
sign same-file-twice -u ed25519@example.com
printf -- '- name: web\n-dash\ntrailing  \t\n\n...\nfiles:\n  web-1.0.0.tgz: sha256:%s\n' "$sum" >message
sign dashes -u ed25519@example.com
rm message

# What the ring says: these keys are revoked.
sed 's/^:---/---/' "$home/openpgp-revocs.d/$(fingerprint revoked).rev" >"$home/revoked"
at 20240603T000000 --import "$home/revoked"
printf 'key 1\nrevkey\ny\n0\n\ny\nsave\n' |
    at 20240603T000000 --command-fd 0 --status-fd 2 --no-batch --edit-key "$(fingerprint revokedsub)"
ring=(rsa ed25519 p256 sub revokedsub weak two expired expiredsub revoked)
g --export "${ring[@]/%/@example.com}" >ring.gpg
g --export --armor "${ring[@]/%/@example.com}" >ring.asc

# cosign: what `cosign sign --key` signs is the payload, with SHA-256.
digest=sha256:$(printf manifest | sha256sum | cut -d ' ' -f 1)
printf '{"critical":{"identity":{"docker-reference":"registry.example.com/charts/web"},"image":{"docker-manifest-digest":"%s"},"type":"cosign container image signature"},"optional":null}' "$digest" >payload.json
openssl ecparam -name prime256v1 -genkey -noout -out "$home/p256.pem"
openssl ecparam -name secp384r1 -genkey -noout -out "$home/p384.pem"
openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$home/rsa.pem"
openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out "$home/rsa1024.pem"
openssl genpkey -quiet -algorithm ED25519 -out "$home/ed25519.pem"
for name in p256 p384 rsa rsa1024 ed25519; do
    openssl pkey -in "$home/$name.pem" -pubout -out "$name.pub"
    if [ "$name" = ed25519 ]; then
        openssl pkeyutl -sign -rawin -inkey "$home/$name.pem" -in payload.json
    else
        openssl dgst -sha256 -sign "$home/$name.pem" payload.json
    fi | base64 -w 0 >"$name.sig"
done
