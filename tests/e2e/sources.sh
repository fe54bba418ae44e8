#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where charts come from: web servers with passwords, tokens, client certificates and a proxy, archives on other servers,
# registries. What each server saw of the credentials is read from its own log.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
. tests/lib/chart_servers.sh
trap 'servers_stop; dev_end' EXIT

for version in 1.0.0 1.1.0; do
    for name in good extra; do
        chart $name $version
        pack $name $version
    done
done
mkdir -p "$work/www/charts"
cp "$work"/repo/*.tgz "$work/www/charts/"
"$pintle" repo index "$work/www/charts"
servers_certificates "$work/tls"
servers_start other "$work/www" --log "$work/other.log"
servers_start login "$work/www" --log "$work/login.log" --login ann:pw-4711
servers_start bearer "$work/www" --bearer tok-123
servers_start mtls "$work/www" --tls "$work/tls/server.crt" "$work/tls/server.key" --client-ca "$work/tls/ca.crt"
other=http://127.0.0.1:${port[other]}
login=http://127.0.0.1:${port[login]}
# An index whose archives are elsewhere, and one whose first urls are wrong.
mkdir -p "$work/www/abroad" "$work/www/many"
sed "s|- good-|- $other/charts/good-|; s|- extra-|- $other/charts/extra-|" "$work/www/charts/index.yaml" >"$work/www/abroad/index.yaml"
sed "s|^\( *\)- good-|\1- none/good.tgz\n\1- http://127.0.0.1:1/good.tgz\n\1- ../charts/good-|" "$work/www/charts/index.yaml" >"$work/www/many/index.yaml"

"$pintle" mirror add "$work/mirror" "$work"/repo/*.tgz >/dev/null || fail "the mirror takes the archives"
echo -n tok-read >"$work/read-token"
launch registry '^serving' "$pintle" mirror serve "$work/mirror" --address 127.0.0.1:0 --read-token-file "$work/read-token"
registry=127.0.0.1:$(sed -n 's/.*:\([0-9]*\)$/\1/p' "$work/registry.out" | head -n 1)
dev_start
namespaces team

secret() { # NAME KEY=VALUE…: in the controller's namespace
    local name=$1 pair
    shift
    {
        printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: %s, namespace: pintle-system }\ndata:\n' "$name"
        for pair in "$@"; do printf '  %s: %s\n' "${pair%%=*}" "$(printf %s "${pair#*=}" | base64 -w0)"; done
    } | apply
}
good='{ name: good, versions: ["1.0.0"] }'
synced() { # NAME: the Repository and its Chart
    says repository "default/$1" True Synced 'versions in the index'
    says chart "default/good-$1" True Synced '1.0.0'
}

# ---- web servers -----------------------------------------------------------------------------------------------------
repository open "$login/charts" "$good"
says repository default/open False AccessDenied 'index.yaml : 401 Unauthorized'
secret login user=ann password=pw-4711
secret login2 username=ann password=pw-4711
repository user "$login/charts" "$good" ', authSecret: login'
synced user
repository username "$login/charts" "$good" ', authSecret: login2'
synced username
secret bearer token=tok-123
repository bearer "http://127.0.0.1:${port[bearer]}/charts/" "$good" ', authSecret: bearer'
synced bearer
secret mtls ca.crt="$(cat "$work/tls/ca.crt")" tls.crt="$(cat "$work/tls/client.crt")" tls.key="$(cat "$work/tls/client.key")"
repository mtls "https://127.0.0.1:${port[mtls]}/charts" "$good" ', authSecret: mtls'
synced mtls
secret nocert ca.crt="$(cat "$work/tls/ca.crt")"
repository nocert "https://127.0.0.1:${port[mtls]}/charts" "$good" ', authSecret: nocert'
says repository default/nocert False Unavailable 'https://127.0.0.1'
repository noca "https://127.0.0.1:${port[mtls]}/charts" "$good"
says repository default/noca False Unavailable 'certificate'
repository careless "https://127.0.0.1:${port[mtls]}/charts" "$good" ', insecureSkipTLSVerify: true, authSecret: careless'
secret careless tls.crt="$(cat "$work/tls/client.crt")" tls.key="$(cat "$work/tls/client.key")"
synced careless
repository signed "$login/charts?signature=1" "$good" ', authSecret: login'
synced signed
check_has "the query goes with the index" "$(cat "$work/login.log")" '/charts/index.yaml?signature=1'
check_has "and with the archive" "$(cat "$work/login.log")" '/charts/good-1.0.0.tgz?signature=1'
repository many "$login/many" "$good" ', authSecret: login'
synced many
repository behind http://charts.example.invalid/charts "$good" ", proxy: \"$other\""
synced behind
servers_start proxy "$work/www" --proxy-login 'bob:p@ss/4712'
repository guarded http://charts.example.invalid/charts "$good" ", proxy: \"http://127.0.0.1:${port[proxy]}\""
says repository default/guarded False AccessDenied '407 Proxy Authentication Required'
secret proxy proxyUsername=bob proxyPassword=p@ss/4712
repository guarded http://charts.example.invalid/charts "$good" ", proxy: \"http://127.0.0.1:${port[proxy]}\", authSecret: proxy"
synced guarded

# ---- other servers ---------------------------------------------------------------------------------------------------
: >"$work/other.log"
repository abroad "$login/abroad" "$good" ', authSecret: login'
synced abroad
check_has "the archive came from the other server" "$(cat "$work/other.log")" 'good-1.0.0.tgz'
check_eq "which saw no credentials" "$(grep -vc -- ' -$' "$work/other.log")" 0
repository passed "$login/abroad" "$good" ', authSecret: login, passCredentials: true'
synced passed
check_has "with passCredentials it sees them" "$(cat "$work/other.log")" 'good-1.0.0.tgz Basic'

# ---- registries ------------------------------------------------------------------------------------------------------
repository anonymous "oci://$registry" "$good" ', insecure: true'
says repository default/anonymous False AccessDenied 'basic credential not found'
config=$(printf '{"auths":{"%s":{"auth":"%s"}}}' "$registry" "$(printf 'x:tok-read' | base64)")
secret docker .dockerconfigjson="$config"
repository main "oci://$registry" "$good" ', insecure: true, authSecret: docker'
synced main
secret plain username=x password=tok-read
repository plain "oci://$registry/" "$good" ', insecure: true, authSecret: plain'
synced plain
cluster_ours Chart extra '{ repository: main, versions: ["^1"] }'
says chart default/extra True Synced '1.1.0'
digest=$(sha256sum "$work/repo/extra-1.0.0.tgz" | cut -d ' ' -f 1)
cluster_ours Chart pinned "{ name: extra, repository: user, versions: [\"1.0.0@sha256:$digest\"] }"
says chart default/pinned True Synced '1.0.0'
for where in main username; do # without and with an index that has digests
    cluster_ours Chart wrong-$where "{ name: extra, repository: $where, versions: [\"1.0.0@sha256:${digest%??}ff\"] }"
    says chart default/wrong-$where False DigestMismatch "${digest%??}ff"
done
cluster_ours Chart nonsense '{ name: extra, repository: user, versions: ["1.0.0@sha1:1"] }'
says chart default/nonsense False VersionNotFound 'is not VERSION@sha256:DIGEST'
release web good 1.0.0
says release team/web True Deployed 'good 1.0.0 installed'
secret helper .dockerconfigjson='{"credHelpers":{"'"$registry"'":"desktop"}}'
repository helper "oci://$registry" "$good" ', insecure: true, authSecret: helper'
says repository default/helper False AccessDenied 'docker-credential-desktop'
repository nothing "oci://$registry" '{ name: none }' ', insecure: true, authSecret: docker'
says repository default/nothing False IndexNotFound 'the registry has none of the charts (none)'
repository listless "oci://$registry" '' ', insecure: true, authSecret: docker'
says repository default/listless True Synced 'a registry has no list of its charts'
check_eq "nothing secret is in what is said" \
    "$("$pintle" get repositories,charts,events -A -o yaml | grep -Ec 'tok-read|tok-123|pw-4711|4712')" 0
finish
