#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# verify, and --verify of pull, show, template and dependency, side by side with real helm: keys and signatures made by gpg and by
# helm itself. What helm lets through and pintle does not (docs/differences.md) is checked to be just that.
#
#   HELM=file   the real helm
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/chart_servers.sh
. tests/lib/side_by_side.sh
PINTLE=$(realpath "${PINTLE:-build/pintle}")
if [ ! -x "${HELM:-}" ] || ! command -v gpg >/dev/null; then
    echo "SKIP provenance: no real helm, or no gpg"
    echo "0 passed, 0 failed"
    exit 0
fi
dir=$(mktemp -d) || exit 2
gnupg=$dir/gnupg
trap 'gpgconf --homedir "$gnupg" --kill all; servers_stop; rm -rf "$dir"' EXIT
unset GNUPGHOME HELM_REPOSITORY_CONFIG HELM_REPOSITORY_CACHE HELM_REGISTRY_CONFIG HTTP_PROXY HTTPS_PROXY http_proxy https_proxy
export HOME=$dir/home XDG_CACHE_HOME= XDG_CONFIG_HOME= DOCKER_CONFIG=$dir/docker
export HELM_CONFIG_HOME=$dir/config HELM_CACHE_HOME=$dir/cache HELM_DATA_HOME=$dir/data
mkdir -p "$dir/home" "$dir/h" "$dir/p" "$dir/www"
mkdir -m 700 "$gnupg"

# ---- keys -------------------------------------------------------------------------------------------------------------
g() { gpg --homedir "$gnupg" --batch --quiet --yes --no-tty --pinentry-mode loopback --passphrase '' "$@" 2>>"$dir/gpg.log"; }
key() { g "${@:4}" --quick-generate-key "$1 <$1@example.com>" "$2" "$3" "$expiry"; } # NAME ALGORITHM USE OPTION…
fingerprint() { g --with-colons --list-keys "$1@example.com" | awk -F: '/^fpr/ { print $10; exit }'; }
expiry=never
for name in rsa:rsa2048 rsa4096:rsa4096 ed25519:ed25519 p256:nistp256 p384:nistp384 p521:nistp521 k1:secp256k1 brainpool:brainpoolP256r1 \
    dsa:dsa2048 weak:rsa1024 revoked:ed25519 stranger:ed25519 two:ed25519 renamed:ed25519 certified:ed25519; do
    key "${name%:*}" "${name#*:}" sign
done
for name in sub revokedsub; do
    key $name ed25519 cert
    g --quick-add-key "$(fingerprint $name)" ed25519 sign never
done
for name in two renamed; do g --quick-add-uid "$(fingerprint $name)" "second $name <second@example.com>"; done
g --quick-revoke-uid "$(fingerprint renamed)" "second renamed <second@example.com>"
key sha1key rsa2048 sign --cert-digest-algo SHA1
key certifier ed25519 cert
g -u certifier@example.com --quick-sign-key "$(fingerprint certified)"
expiry=20210101T000000
for name in expired prolonged; do key $name ed25519 sign --faked-system-time 20200101T000000; done
g --quick-set-expire "$(fingerprint prolonged)" 10y

mkdir -p "$dir/src/web/templates"
cd "$dir/src" || exit 2
chart() { # VERSION
    printf 'apiVersion: v2\nname: web\nversion: %s\n' "$1" >web/Chart.yaml
    echo "version: {{ .Chart.Version }}" >web/templates/a.yaml
    "$HELM" package web -d "$dir/src" >/dev/null
}
chart 1.0.0
sum=$(sha256sum web-1.0.0.tgz)
sum=${sum%% *}
message() { printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n\n...\nfiles:\n  %s: sha256:%s\n' "$1" "$2" >message; }
sign() { g --digest-algo SHA512 "${@:2}" --clearsign -o "$1.prov" message; } # FILE OPTION…
message web-1.0.0.tgz "$sum"
for name in rsa rsa4096 ed25519 p256 p384 p521 k1 brainpool dsa weak revoked revokedsub stranger two sub renamed certified prolonged sha1key; do sign $name -u $name@example.com; done
sign expired -u expired@example.com --faked-system-time 20200601T000000
for hash in SHA1 SHA224 SHA256 SHA384; do sign ${hash,,} -u rsa@example.com --digest-algo $hash; done
sign pair -u rsa@example.com -u ed25519@example.com
sign half -u ed25519@example.com -u stranger@example.com
cat ed25519.prov rsa.prov >twice.prov
sign old -u ed25519@example.com --faked-system-time 20240601T000000 --ignore-time-conflict --ignore-valid-from
sign tomorrow -u ed25519@example.com --faked-system-time 20990601T000000
sed 's/version: 1.0.0/version: 1.0.1/' ed25519.prov >changed.prov
sed 's/$/\r/' ed25519.prov >crlf.prov
{ echo before; cat ed25519.prov; echo after; } >around.prov
sed '/^Hash/s/.*/Hash: MD5/' ed25519.prov >otherhash.prov
sed '/^Hash/d' ed25519.prov >nohash.prov
sed '/^Hash/s/$/\nComment: x/' ed25519.prov >comment.prov
head -c 300 ed25519.prov >cut.prov
: >empty.prov
echo garbage >garbage.prov
g -u ed25519@example.com --sign --armor -o notclear.prov message
message api-1.0.0.tgz "$sum" && sign otherchart -u ed25519@example.com
message web-1.0.0.tgz "00${sum:2}" && sign otherdigest -u ed25519@example.com
message web-1.0.0.tgz "${sum^^}" && sign capitals -u ed25519@example.com
echo 'name: web' >message && sign onepart -u ed25519@example.com
printf 'a: b\n\n...\nfiles: {\n' >message && sign badyaml -u ed25519@example.com
printf 'a: b\n\n...\nfiles:\n  web-1.0.0.tgz: sha256:%s\n...\nfiles: {}\n' "$sum" >message && sign threeparts -u ed25519@example.com
printf -- '- a: b\n-dash\ntrailing  \n\n...\nfiles:\n  web-1.0.0.tgz: sha256:%s\n' "$sum" >message && sign dashes -u ed25519@example.com
printf 'a: b\n\n...\nfiles:\n  web-1.0.0.tgz: x\n  web-1.0.0.tgz: sha256:%s\n' "$sum" >message && sign samefile -u ed25519@example.com
sed 's/^:---/---/' "$gnupg/openpgp-revocs.d/$(fingerprint revoked).rev" | g --import
printf 'key 1\nrevkey\ny\n0\n\ny\nsave\n' | g --no-batch --command-fd 0 --edit-key "$(fingerprint revokedsub)" >/dev/null
ring=$dir/ring.gpg
g --export rsa rsa4096 ed25519 p256 p384 p521 k1 brainpool dsa weak revoked two sub revokedsub expired renamed certified prolonged sha1key >"$ring"
g --export-secret-keys rsa ed25519 >"$dir/secret.gpg"
g --export --armor ed25519 >"$dir/ring.asc"
cd "$OLDPWD" || exit 2

# ---- verify -----------------------------------------------------------------------------------------------------------
prov() { # CASE: the archive with this provenance, where both look
    rm -rf "$dir/here" && mkdir -p "$dir/here"
    cp "$dir/src/web-1.0.0.tgz" "$dir/here/"
    [ "$1" = none ] || cp "$dir/src/$1.prov" "$dir/here/web-1.0.0.tgz.prov"
}
for name in rsa rsa4096 ed25519 p256 p384 p521 k1 brainpool dsa sub certified prolonged revoked revokedsub expired stranger sha224 sha256 sha384 tomorrow changed \
    crlf around otherhash nohash comment cut empty garbage notclear otherchart otherdigest capitals onepart badyaml threeparts dashes none; do
    prov $name
    same verify "$dir/here/web-1.0.0.tgz" --keyring "$ring"
done
stricter() { # CASE TEXT: helm lets it through
    prov "$1"
    run_one "$HELM" "$dir/h/x" verify "$dir/here/web-1.0.0.tgz" --keyring "$ring"
    run_one "$PINTLE" "$dir/p/x" verify "$dir/here/web-1.0.0.tgz" --keyring "$ring"
    check_eq "$1: helm is content" "$(cat "$dir/h/x.status")" 0
    check_eq "$1: pintle is not" "$(cat "$dir/p/x.status")" 1
    check_eq "$1: and prints nothing else" "$(cat "$dir/p/x.out")" ""
    check_has "$1: its reason" "$(cat "$dir/p/x.err")" "Error: $2"
}
stricter sha1 "openpgp: weak algorithms are rejected: SHA1"
stricter sha1key "openpgp: invalid key"
stricter weak "openpgp: weak algorithms are rejected: RSA with 1024 bits"
stricter pair "the provenance has more than one signature"
stricter half "the provenance has more than one signature"
stricter twice "the provenance has more than one signed message"
stricter old "openpgp: signature is older than the key"
stricter samefile "error converting YAML to JSON: yaml: unmarshal errors:"
prov two
run_one "$HELM" "$dir/h/x" verify "$dir/here/web-1.0.0.tgz" --keyring "$ring"
run_one "$PINTLE" "$dir/p/x" verify "$dir/here/web-1.0.0.tgz" --keyring "$ring"
check_eq "a key of two names, in any order" "$(sort "$dir/p/x.out")" "$(sort "$dir/h/x.out")"

prov renamed
run_one "$PINTLE" "$dir/p/x" verify "$dir/here/web-1.0.0.tgz" --keyring "$ring"
check_eq "a name that was revoked is not told" "$(grep '^Signed' "$dir/p/x.out")" "Signed by: renamed <renamed@example.com>"
prov ed25519
for keyring in "$dir/none" /dev/null "$dir/src/web-1.0.0.tgz" "$dir/src/ed25519.prov" "$gnupg/pubring.kbx" ""; do
    same verify "$dir/here/web-1.0.0.tgz" --keyring "$keyring"
done
run_one "$PINTLE" "$dir/p/x" verify "$dir/here/web-1.0.0.tgz" --keyring "$dir/ring.asc"
check_has "an armored keyring is read" "$(cat "$dir/p/x.out")" "Signed by: ed25519 <ed25519@example.com>"
same verify "$dir/here/web-1.0.0.tgz" --keyring "$dir/secret.gpg"
same verify "$dir/here/web-1.0.0.tgz"
mkdir -p "$dir/home/.gnupg" && cp "$ring" "$dir/home/.gnupg/pubring.gpg"
same verify "$dir/here/web-1.0.0.tgz"
GNUPGHOME=$dir/nowhere same verify "$dir/here/web-1.0.0.tgz"
same verify
same verify a b
same verify "$dir/here/none.tgz" --keyring "$ring"
same verify "$dir/src/web" --keyring "$ring"
same verify "$dir/src/web/Chart.yaml" --keyring "$ring"
mv "$dir/here/web-1.0.0.tgz" "$dir/here/web.tgz" && mv "$dir/here/web-1.0.0.tgz.prov" "$dir/here/web.tgz.prov"
same verify "$dir/here/web.tgz" --keyring "$ring"

# ---- what helm signed -------------------------------------------------------------------------------------------------
mkdir -p "$dir/www/charts"
for name in rsa ed25519; do
    printf 'apiVersion: v2\nname: %s\nversion: 1.2.0+build.5\ndescription: "- a\\n-----BEGIN PGP SIGNATURE-----"\n' $name >"$dir/src/web/Chart.yaml"
    "$HELM" package "$dir/src/web" -d "$dir/www/charts" --sign --key "$name@example.com" --keyring "$dir/secret.gpg" >/dev/null
    same verify "$dir/www/charts/$name-1.2.0+build.5.tgz" --keyring "$ring"
done

# ---- charts from elsewhere --------------------------------------------------------------------------------------------
# Helm keeps archives and provenance files in a cache, so each case has a version of its own.
n=0
declare -A version
for name in rsa none stranger garbage otherdigest expired; do
    n=$((n + 1))
    version[$name]=$n.0.0
    (cd "$dir/src" && chart $n.0.0)
    mv "$dir/src/web-$n.0.0.tgz" "$dir/www/charts/"
    digest=$(sha256sum "$dir/www/charts/web-$n.0.0.tgz")
    (
        cd "$dir/src" || exit 2
        case $name in
        garbage) echo garbage >"$dir/www/charts/web-$n.0.0.tgz.prov" ;;
        none) ;;
        otherdigest) message "web-$n.0.0.tgz" "$sum"; sign "$dir/www/charts/web-$n.0.0.tgz" -u rsa@example.com ;;
        expired) message "web-$n.0.0.tgz" "${digest%% *}"; sign "$dir/www/charts/web-$n.0.0.tgz" -u expired@example.com --faked-system-time 20200601T000000 ;;
        *) message "web-$n.0.0.tgz" "${digest%% *}"; sign "$dir/www/charts/web-$n.0.0.tgz" -u $name@example.com ;;
        esac
    )
done
"$HELM" repo index "$dir/www/charts"
servers_start web "$dir/www" || exit 1
charts=http://127.0.0.1:${port[web]}/charts
"$HELM" repo add charts "$charts" >/dev/null
fails_alike() { # ARGS…: helm leaves the archive behind, pintle nothing
    run_one "$HELM" "$dir/h/x" "$@"
    run_one "$PINTLE" "$dir/p/x" "$@"
    check_eq "$* [status]" "$(cat "$dir/p/x.status")$(cat "$dir/h/x.status")" 11
    check_eq "$* [out]" "$(cat "$dir/p/x.out")" "$(cat "$dir/h/x.out")"
    check_eq "$* [err]" "$(cat "$dir/p/x.err")" "$(cat "$dir/h/x.err")"
    check_eq "$* leaves nothing" "$(grep -c tgz "$dir/p/x.tree")" 0
}
good=${version[rsa]}
same pull web --repo "$charts" --version "$good" --verify --keyring "$ring"
same pull web --repo "$charts" --version "$good" --verify
same pull charts/web --version "$good" --verify --keyring "$ring"
same pull charts/web --version "$good" --verify --prov --keyring "$ring" -d there
same pull charts/web --version "$good" --verify --untar --keyring "$ring"
same pull "$charts/web-$good.tgz" --verify --keyring "$ring"
same pull "$charts/ed25519-1.2.0+build.5.tgz" --verify --keyring "$ring"
fails_alike pull charts/web --version "$good" --verify --keyring "$dir/none"
for name in none stranger garbage otherdigest expired; do
    fails_alike pull charts/web --version "${version[$name]}" --verify --keyring "$ring"
    fails_alike pull "$charts/web-${version[$name]}.tgz" --verify --keyring "$ring"
    same pull charts/web --version "${version[$name]}" --prov --keyring "$ring"
    same template x charts/web --version "${version[$name]}" --verify --keyring "$ring"
    same show chart web --repo "$charts" --version "${version[$name]}" --verify --keyring "$ring"
done
for what in "template x" "show chart" "show values" "show all"; do
    # shellcheck disable=SC2086
    same $what charts/web --version "$good" --verify --keyring "$ring"
done
prov rsa
same template x "$dir/here/web-1.0.0.tgz" --verify --keyring "$ring"
same show chart "$dir/here/web-1.0.0.tgz" --verify --keyring "$ring"
same template x "$dir/here/web-1.0.0.tgz" --verify --keyring "$dir/none"
prov changed
same template x "$dir/here/web-1.0.0.tgz" --verify --keyring "$ring"
prov none
same show values "$dir/here/web-1.0.0.tgz" --verify --keyring "$ring"
same template x "$dir/src/web" --verify --keyring "$ring"

# ---- dependencies -----------------------------------------------------------------------------------------------------
parent() { # CASE
    printf 'apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies: [{ name: web, version: %s, repository: "%s" }]\n' "${version[$1]}" "$charts" >Chart.yaml
}
depends() { # CASE COMMAND ARGS…: what both print and leave
    local name=$1 who program
    shift
    for who in h p; do
        program=$PINTLE
        [ $who = p ] || program=$HELM
        rm -rf "${dir:?}/$who/top" && mkdir -p "$dir/$who/top"
        (cd "$dir/$who/top" && parent "$name" && echo 0 >../top.status && "$program" dependency "$@" . >../top.out 2>../top.err || echo 1 >../top.status)
        # Helm tells of each provenance file that it is no chart.
        sed -i 's/^Could not verify [^ ]*\.prov for moving: .*(Skipping)//; s/tmpcharts-[0-9]*/tmpcharts/' "$dir/$who/top.out"
        (cd "$dir/$who/top" && find charts -type f | sort >../top.tree)
    done
    for what in status out err tree; do
        check_eq "dependency $* of $name [$what]" "$(cat "$dir/p/top.$what")" "$(cat "$dir/h/top.$what")"
    done
}
for name in rsa none stranger garbage otherdigest expired; do
    depends $name update --verify --keyring "$ring"
    depends $name build --verify --keyring "$ring"
done
depends rsa update --verify --keyring "$dir/none"
locked() { # the same with a lock, which is what build looks at
    local who
    for who in h p; do
        rm -rf "${dir:?}/$who/locked" && mkdir -p "$dir/$who/locked"
        (
            cd "$dir/$who/locked" && parent "$1" && "$HELM" dependency update . >/dev/null 2>&1 && rm -r charts
            program=$PINTLE
            [ $who = p ] || program=$HELM
            "$program" dependency build . --verify --keyring "$ring" >../locked.out 2>../locked.err
            echo $? >../locked.status
            sed -i 's/^Could not verify [^ ]*\.prov for moving: .*(Skipping)//' ../locked.out
            find charts -type f | sort >../locked.tree
        )
    done
    for what in status out err tree; do
        check_eq "dependency build --verify of $1, locked [$what]" "$(cat "$dir/p/locked.$what")" "$(cat "$dir/h/locked.$what")"
    done
}
for name in rsa none stranger garbage; do locked $name; done

# ---- registries -------------------------------------------------------------------------------------------------------
if ! command -v docker-registry >/dev/null; then
    skip "registries" "docker-registry is not installed"
    finish
    exit
fi
fresh() { # as same(); helm's cache knows these archives from above
    rm -rf "$dir/cache/content"
    same "$@"
}
registry_start plain || exit 1
registry=oci://127.0.0.1:${port[plain]}/charts
for file in "$dir"/www/charts/*.tgz; do "$PINTLE" push "$file" "$registry" --plain-http >/dev/null 2>&1 || fail "push $file"; done
same pull "$registry/web" --version "$good" --plain-http --verify --keyring "$ring"
same pull "$registry/web:$good" --plain-http --verify --prov --keyring "$ring"
same pull "$registry/web:$good" --plain-http --verify --untar --keyring "$ring"
fresh template x "$registry/web" --version "$good" --plain-http --verify --keyring "$ring"
fresh show chart "$registry/web" --version "$good" --plain-http --verify --keyring "$ring"
for name in none stranger garbage otherdigest expired; do
    fails_alike pull "$registry/web" --version "${version[$name]}" --plain-http --verify --keyring "$ring"
    same pull "$registry/web" --version "${version[$name]}" --plain-http --prov
    fresh template x "$registry/web" --version "${version[$name]}" --plain-http --verify --keyring "$ring"
done
# ---- what pintle signs, helm verifies; both say the same when they cannot sign -----------------------------------------------------
g --export-secret-keys rsa@example.com ed25519@example.com p256@example.com p384@example.com p521@example.com >"$dir/secret.gpg"
mkdir -p "$dir/signed"
for name in rsa ed25519 p256 p384 p521; do
    "$PINTLE" package "$dir/src/web" --version 1.0.0 -d "$dir/signed" --sign --key "$name@example.com" --keyring "$dir/secret.gpg" >/dev/null 2>&1
    check_has "helm verifies what pintle signs: $name" "$("$HELM" verify "$dir/signed/web-1.0.0.tgz" --keyring "$ring" 2>&1)" "Signed by: $name <$name@example.com>"
done
for flags in "--key nobody" "--key example.com" "--key rsa --passphrase-file $dir/none" "" "--key rsa --keyring $dir/none"; do
    # shellcheck disable=SC2086
    check_eq "package --sign $flags" "$("$PINTLE" package "$dir/src/web" -d "$dir/signed" --sign --keyring "$dir/secret.gpg" $flags 2>&1 </dev/null)" \
        "$("$HELM" package "$dir/src/web" -d "$dir/signed" --sign --keyring "$dir/secret.gpg" $flags 2>&1 </dev/null)"
done
finish
