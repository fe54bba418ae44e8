#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pull, push, registry login, and show and template on remote charts, side by side with real helm: standard output, errors,
# exit status and the files that are left. Against an ordinary web server (basic auth, bearer, TLS, client certificates, proxy)
# and Debian's docker-registry (open, with a password, with a token service, with TLS).
#
#   HELM=file   the real helm
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/chart_servers.sh
. tests/lib/side_by_side.sh
PINTLE=$(realpath "${PINTLE:-build/pintle}")
if [ ! -x "${HELM:-}" ]; then
    echo "SKIP pull: no real helm"
    echo "0 passed, 0 failed"
    exit 0
fi
dir=$(mktemp -d) || exit 2
trap 'servers_stop; rm -rf "$dir"' EXIT
unset HELM_REPOSITORY_CONFIG HELM_REPOSITORY_CACHE HELM_REGISTRY_CONFIG HTTP_PROXY HTTPS_PROXY http_proxy https_proxy
export HOME=$dir/home XDG_CACHE_HOME= XDG_CONFIG_HOME= DOCKER_CONFIG=$dir/docker
export HELM_CONFIG_HOME=$dir/config HELM_CACHE_HOME=$dir/cache HELM_DATA_HOME=$dir/data
mkdir -p "$dir/home" "$dir/h" "$dir/p" "$dir/archives"

# ---- charts -----------------------------------------------------------------------------------------------------------
chart() { # VERSION
    mkdir -p "$dir/src/web/templates"
    cat >"$dir/src/web/Chart.yaml" <<END
apiVersion: v2
name: web
version: $1
description: A <web> & more
home: https://example.com/web
sources: [https://example.com/source, https://example.com/other]
maintainers: [{ name: Ann, email: ann@example.com }, { name: Bob }]
annotations: { example.com/a: "1", org.opencontainers.image.title: not this }
END
    echo "replicas: 1" >"$dir/src/web/values.yaml"
    echo "version: {{ .Chart.Version }}" >"$dir/src/web/templates/a.yaml"
    echo "# web" >"$dir/src/web/README.md"
    "$HELM" package "$dir/src/web" -d "$dir/archives" >/dev/null
}
for version in 0.9.0 1.0.0 1.1.0-rc.1 1.2.0+build.5; do chart $version; done
mkdir -p "$dir/www/charts" "$dir/www/elsewhere"
cp "$dir"/archives/*.tgz "$dir/www/charts/"
echo "no provenance, really" >"$dir/www/charts/web-0.9.0.tgz.prov"
"$HELM" repo index "$dir/www/charts"
cp "$dir/archives/web-1.0.0.tgz" "$dir/www/elsewhere/"
mkdir -p "$dir/www/broken"
echo "<html>hello</html>" >"$dir/www/broken/index.yaml"
mkdir -p "$dir/www/empty"
: >"$dir/www/empty/index.yaml"

servers_certificates "$dir/tls"
servers_start open "$dir/www" --log "$dir/open.log" || exit 1
servers_start login "$dir/www" --log "$dir/login.log" --login ann:secret || exit 1
servers_start tls "$dir/www" --tls "$dir/tls/server.crt" "$dir/tls/server.key" || exit 1
servers_start mtls "$dir/www" --tls "$dir/tls/server.crt" "$dir/tls/server.key" --client-ca "$dir/tls/ca.crt" || exit 1
open=http://127.0.0.1:${port[open]}
login=http://127.0.0.1:${port[login]}
tls=https://127.0.0.1:${port[tls]}
mtls=https://127.0.0.1:${port[mtls]}
# An index whose archives are on another server.
mkdir -p "$dir/www/abroad"
sed "s|- web-|- $open/charts/web-|" "$dir/www/charts/index.yaml" >"$dir/www/abroad/index.yaml"

# ---- web servers ------------------------------------------------------------------------------------------------------
for version in "" 0.9.0 1.2.0+build.5 1.1.0-rc.1 "^0.1 || ^0.9" ">=1.0.0-0" "<1" "=1.0.0"; do
    same pull web --repo "$open/charts" --version "$version"
done
same pull web --repo "$open/charts/"
same pull web --repo "$open/charts" --devel
same pull web --repo "$open/charts" --devel --version 0.9.0
same pull web --repo "$open/charts" -d there
same pull web --repo "$open/charts" --untar
same pull web --repo "$open/charts" --untar --untardir sub
same pull web --repo "$open/charts" --untar --untardir there
same pull web --repo "$open/charts" -d there --untar
same pull web --repo "$open/charts" -d ./there --untar --untardir in
same pull web --repo "$open/charts" --untar --untardir "$dir/absolute"
same pull web --repo "$open/charts" --version 0.9.0 --prov
same pull web --repo "$open/charts" --version 1.0.0 --prov
same pull web --repo "$open/charts" --version 9.9.9
same pull web --repo "$open/charts" --version bogus!
same pull webb --repo "$open/charts"
same pull web --repo "$open/abroad"
same pull web --repo "$open/charts?signature=1"
same pull web --repo "$open/nothing"
same pull "$open/charts/web-1.0.0.tgz"
same pull "$open/charts/web-1.0.0.tgz?signature=1"
same pull "$open/charts/web-1.2.0%2Bbuild.5.tgz"
same pull "$open/charts/web-1.0.0.tgz" --untar
same pull "$open/charts/none.tgz"
same pull "$open/charts/web-1.0.0.tgz" "$open/charts/web-0.9.0.tgz"
same pull "$open/redirect/302/$open/charts/web-1.0.0.tgz"
same pull ftp://127.0.0.1/web-1.0.0.tgz
same pull web
same pull none/web
same pull
both_fail pull web --repo "$open/charts" -d none
both_fail pull web --repo "$open/broken"
both_fail pull web --repo "$open/empty"
both_fail pull web --repo http://127.0.0.1:1
both_fail pull http://127.0.0.1:1/x.tgz

same pull web --repo "$login/charts"
same pull web --repo "$login/charts" --username ann
same pull web --repo "$login/charts" --username ann --password wrong
same pull web --repo "$login/charts" --username ann --password secret
same pull "$login/charts/web-1.0.0.tgz" --username ann --password secret

both_fail pull web --repo "$tls/charts"
same pull web --repo "$tls/charts" --ca-file "$dir/tls/ca.crt"
same pull web --repo "$tls/charts" --insecure-skip-tls-verify
both_fail pull web --repo "$tls/charts" --ca-file "$dir/none.crt"
both_fail pull web --repo "$mtls/charts" --ca-file "$dir/tls/ca.crt"
same pull web --repo "$mtls/charts" --ca-file "$dir/tls/ca.crt" --cert-file "$dir/tls/client.crt" --key-file "$dir/tls/client.key"

# Repositories that helm knows.
"$HELM" repo add open "$open/charts" >/dev/null
"$HELM" repo add login "$login/charts" --username ann --password secret >/dev/null
"$HELM" repo add mtls "$mtls/charts" --ca-file "$dir/tls/ca.crt" --cert-file "$dir/tls/client.crt" --key-file "$dir/tls/client.key" >/dev/null
for name in open login mtls; do
    same pull $name/web
    same show chart $name/web --version 0.9.0
    same template x $name/web
done
same pull open/web --version 5
same pull open/none
same show all open/web
same show values open/web --version "<1"
same show readme open/web
same template x web --repo "$open/charts" --version "<1"
same template x "$open/charts/web-0.9.0.tgz"
mv "$dir/cache/repository/open-index.yaml" "$dir/cache/repository/open-index.away"
same pull open/web
mv "$dir/cache/repository/open-index.away" "$dir/cache/repository/open-index.yaml"

# A proxy that the environment names; the repository exists behind it alone.
export HTTP_PROXY=$open
same pull web --repo http://charts.example.invalid/charts
unset HTTP_PROXY
export http_proxy=$open NO_PROXY=example.invalid
both_fail pull web --repo http://charts.example.invalid/charts
unset http_proxy NO_PROXY

# The password goes to its own server and to no other.
check_eq "no other server saw the password" "$(grep -c 'Basic' "$dir/open.log")" 0
sed "s|- web-|- $open/redirect/302/$login/charts/web-|" "$dir/www/charts/index.yaml" >"$dir/www/abroad/index.yaml"
: >"$dir/open.log"
run_one "$PINTLE" "$dir/p/x" pull web --repo "$login/abroad" --username ann --password secret
check_eq "nor when its own server's index leads there and back (helm gives it)" "$(grep -c 'Basic' "$dir/open.log")" 0
check_eq "the archive comes, for the way back ends at its own server" "$(cat "$dir/p/x.status")" 0

# ---- registries -------------------------------------------------------------------------------------------------------
if ! command -v docker-registry >/dev/null; then
    skip "registries" "docker-registry is not installed"
    finish
    exit
fi
bcrypt=$(perl -e 'print crypt("secret", "\$2y\$05\$abcdefghijklmnopqrstuu")')
echo "ann:$bcrypt" >"$dir/htpasswd"
servers_start tokens "$dir/www" --log "$dir/tokens.log" --login ann:secret --tokens "$dir/tls/ca.key" "$dir/tls/ca.crt" || exit 1
tokens=http://127.0.0.1:${port[tokens]}
registry_start plain || exit 1
registry_start password "auth: { htpasswd: { realm: tests, path: $dir/htpasswd } }" || exit 1
registry_start token "auth: { token: { realm: \"$tokens/token\", service: tests, issuer: tests, rootcertbundle: $dir/tls/ca.crt } }" || exit 1
registry_start sealed "  tls: { certificate: $dir/tls/server.crt, key: $dir/tls/server.key, clientcas: [$dir/tls/ca.crt] }" || exit 1
plain=oci://127.0.0.1:${port[plain]}/charts
password=oci://localhost:${port[password]}/charts
token=oci://127.0.0.1:${port[token]}/charts
sealed=oci://127.0.0.1:${port[sealed]}/charts
archives=$dir/archives

for version in 0.9.0 1.0.0 1.1.0-rc.1 1.2.0+build.5; do
    # Pushed twice, once by each: the same digest is the same manifest.
    same push "$archives/web-$version.tgz" "$plain" --plain-http
done
cp "$archives/web-0.9.0.tgz" "$dir/archives/signed.tgz"
echo "no provenance, really" >"$archives/web-1.0.0.tgz.prov"
same push "$archives/web-1.0.0.tgz" "$plain/signed" --plain-http
same push "$archives/web-1.0.0.tgz" "$plain/" --plain-http
same push "$archives/none.tgz" "$plain" --plain-http
same push "$archives" "$plain" --plain-http
same push "$archives/web-1.0.0.tgz.prov" "$plain" --plain-http
same push "$archives/web-1.0.0.tgz" "$open/charts"
same push "$archives/web-1.0.0.tgz" charts/web
both_fail push "$archives/web-1.0.0.tgz" "$plain"

for version in "" 0.9.0 1.2.0+build.5 1.1.0-rc.1 ">=1.0.0-0" "<1" ">1.0, <2" 3 ^7 bogus!; do
    same pull "$plain/web" --plain-http --version "$version"
done
same pull "$plain/web:0.9.0" --plain-http
same pull "$plain/web:0.9.0" --plain-http --version 0.9.0
same pull "$plain/web:0.9.0" --plain-http --version 1.0.0
same pull "$plain/web:4.5.6" --plain-http
same pull "$plain/web" --plain-http --devel
same pull "$plain/web" --plain-http --untar -d there
same pull "$plain/web" --plain-http --prov
same pull "$plain/signed/web" --plain-http --prov
same pull "$plain/none" --plain-http
same pull "$plain/Web" --plain-http
same pull "oci://127.0.0.1:${port[plain]}" --plain-http
same show chart "$plain/web" --plain-http
same show values "$plain/web" --plain-http --version "<1"
same template x "$plain/web" --plain-http --version 0.9.0
both_fail pull "$plain/web"
both_fail pull oci://127.0.0.1:1/charts/web --plain-http
both_fail pull "$plain/web@sha256:5cc" --plain-http
digest=$("$HELM" pull "$plain/web:0.9.0" --plain-http -d "$dir/home" | sed -n 's/^Digest: //p')
other=$("$HELM" pull "$plain/web:1.0.0" --plain-http -d "$dir/home" | sed -n 's/^Digest: //p')
same pull "$plain/web@$digest" --plain-http
same pull "$plain/web:0.9.0@$digest" --plain-http
same pull "$plain/web:0.9.0@$other" --plain-http
same pull "$plain/web@$digest" --plain-http --version 1.0.0
same pull "$plain/web@${digest%??}00" --plain-http
same show chart "$plain/web@$digest" --plain-http

# Password: flags, helm's login, docker's login.
both_fail pull "$password/web" --plain-http
same push "$archives/web-1.0.0.tgz" "$password" --plain-http --username ann --password secret
same pull "$password/web" --plain-http --username ann --password secret
both_fail pull "$password/web" --plain-http --username ann --password wrong
both_fail registry login "localhost:${port[password]}" -u ann -p wrong --plain-http
echo secret >"$dir/secret"
config() { python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))' "$HELM_CONFIG_HOME/registry/config.json"; }
stdin=$dir/secret same registry login "localhost:${port[password]}" -u ann --password-stdin --plain-http
wrote=$(config)
stdin=$dir/secret run_one "$HELM" "$dir/h/x" registry login "localhost:${port[password]}" -u ann --password-stdin --plain-http
check_eq "the login is in the file that helm reads, as helm writes it" "$wrote" "$(config)"
check_eq "the file is private" "$(stat -c %a "$HELM_CONFIG_HOME/registry/config.json")" 600
same pull "$password/web" --plain-http
same push "$archives/web-0.9.0.tgz" "$password" --plain-http
same registry logout "localhost:${port[password]}"
both_fail pull "$password/web" --plain-http
same registry logout "localhost:${port[password]}"
same registry login "localhost:${port[password]}" -u ann -p secret --plain-http
same registry logout "localhost:${port[password]}"
same registry login "localhost:${port[password]}/charts" -u ann -p secret --plain-http
both_fail registry login "localhost:${port[password]}" -u ann --plain-http
same registry login
mkdir -p "$DOCKER_CONFIG"
echo '{"auths": {"http://localhost:'"${port[password]}"'/v2/": {"auth": "'"$(printf ann:secret | base64)"'"}}}' >"$DOCKER_CONFIG/config.json"
same pull "$password/web" --plain-http
echo '{"credsStore": "nothing-of-the-kind"}' >"$DOCKER_CONFIG/config.json"
both_fail pull "$password/web" --plain-http
check_has "a credential helper is named" "$(cat "$dir/p/x.err")" "docker-credential-nothing-of-the-kind"
rm "$DOCKER_CONFIG/config.json"

# A token service at another origin: helm sends it the password, we want to be told so.
both_fail pull "$token/web" --plain-http
: >"$dir/tokens.log"
run_one "$PINTLE" "$dir/p/x" push "$archives/web-1.0.0.tgz" "$token" --plain-http --username ann --password secret
check_has "a token service elsewhere is not given the password" "$(cat "$dir/p/x.err")" "wants its credentials sent to another server"
check_eq "and has not seen it" "$(grep -c Basic "$dir/tokens.log")" 0
same_with_leave() { # as same(), and pintle is allowed to
    run_one "$HELM" "$dir/h/x" "$@"
    run_one "$PINTLE" "$dir/p/x" "$@" --pass-credentials
    compare "$* --pass-credentials"
}
same_with_leave push "$archives/web-1.0.0.tgz" "$token" --plain-http --username ann --password secret
same_with_leave push "$archives/web-1.2.0+build.5.tgz" "$token" --plain-http --username ann --password secret
same_with_leave pull "$token/web" --plain-http --username ann --password secret
same_with_leave show chart "$token/web" --plain-http --username ann --password secret

# TLS with client certificates.
certs=(--ca-file "$dir/tls/ca.crt" --cert-file "$dir/tls/client.crt" --key-file "$dir/tls/client.key")
both_fail push "$archives/web-1.0.0.tgz" "$sealed"
both_fail push "$archives/web-1.0.0.tgz" "$sealed" --ca-file "$dir/tls/ca.crt"
same push "$archives/web-1.0.0.tgz" "$sealed" "${certs[@]}"
same pull "$sealed/web" "${certs[@]}"
both_fail pull "$sealed/web"

# More tags than fit on one page.
for i in $(seq 1 120); do
    curl -sf "http://127.0.0.1:${port[plain]}/v2/charts/web/manifests/0.9.0" -H "Accept: application/vnd.oci.image.manifest.v1+json" -o "$dir/manifest"
    curl -sf -X PUT -H "Content-Type: application/vnd.oci.image.manifest.v1+json" --data-binary "@$dir/manifest" \
        "http://127.0.0.1:${port[plain]}/v2/charts/web/manifests/0.0.$i"
done
same pull "$plain/web" --plain-http --version "~0.0.50"
finish
