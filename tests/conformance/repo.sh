#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# repo add, list, update, remove and search repo beside real helm: the same output, exit status and files. On the real indexes of
# $CORPUS both readers of an index find the same. PEERS=DIR has helm.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh

helm=${PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/pintle/peers}/helm
pintle=${PINTLE:-$PWD/build/pintle}
corpus=${CORPUS:-../shared/corpus}/index
work=$(mktemp -d) || exit 2
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
[ -x "$helm" ] || { skip repo "there is no $helm"; finish; exit; }
make -s -j2 build/tests/conformance/index_lookup || exit 1

mkdir -p "$work/srv/one" "$work/srv/two"
cat >"$work/srv/one/index.yaml" <<'YAML'
apiVersion: v1
entries:
  nginx:
  - apiVersion: v2
    appVersion: "1.10"
    description: A web server and much more, in a line that is longer than the column
    keywords:
    - http
    - proxy
    name: nginx
    urls: [nginx-2.0.0-rc.1.tgz]
    version: 2.0.0-rc.1
  - {apiVersion: v2, appVersion: "1.9", description: A web server, keywords: [http], name: nginx, urls: [n.tgz], version: 1.2.0}
  - apiVersion: v2
    description: A web server
    name: nginx
    urls: [n.tgz]
    version: 1.10.0
  - name: broken
    version: none
  redis:
  - apiVersion: v2
    deprecated: true
    description: A store, also for nginx
    name: redis
    urls: [r.tgz]
    version: 0.1.0
  only-dev:
  - {apiVersion: v2, name: only-dev, version: 0.1.0-alpha, urls: [o.tgz]}
YAML
printf '{"apiVersion":"v1","entries":{"web":[{"apiVersion":"v2","name":"web","version":"1.0.0","description":"\\ud83d\\udd25 <b>","urls":["w.tgz"]}]}}' \
    >"$work/srv/two/index.yaml"
if [ -d "$corpus" ]; then
    for file in "$corpus"/*.yaml.xz; do
        mkdir -p "$work/srv/$(basename "${file%%.*}")"
        xz -dc "$file" >"$work/srv/$(basename "${file%%.*}")/index.yaml"
    done
else
    skip "the real indexes" "there is no $corpus"
fi
exec 3< <(cd "$work/srv" && exec python3 -u -c '
import http.server, os
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
print(os.getpid(), s.server_port)
s.serve_forever()')
read -r server port <&3
url=http://127.0.0.1:$port

run() { # h|p ARG...
    local who=$1 program=$pintle
    shift
    [ "$who" = p ] || program=$helm
    HELM_REPOSITORY_CONFIG=$work/$who/config/repositories.yaml HELM_REPOSITORY_CACHE=$work/$who/cache \
        "$program" "$@" >"$work/$who.out" 2>"$work/$who.err"
    echo "exit status $?" >>"$work/$who.out"
}
both() { # ARG...
    run h "$@"
    run p "$@"
    check_eq "$*" "$(cat "$work/p.out")" "$(cat "$work/h.out")"
    check_eq "$*: errors" "$(grep '^Error' "$work/p.err")" "$(grep '^Error' "$work/h.err")"
}

both repo list
both repo list -o json
both search repo x
both repo update
both repo remove one
for name in one two; do both repo add "$name" "$url/$name"; done
both repo add one "$url/one"
both repo add one "$url/two"
both repo add one "$url/one/" --force-update
both repo add a/b "$url/one"
both repo list
both repo list -o yaml
both repo list --no-headers
both repo list -o none
while read -r args; do
    # shellcheck disable=SC2086
    both search repo $args
done <<'ARGS'

nginx
NGINX -l
nginx --devel
nginx -l --devel -o yaml
-l
--devel
web server
store
proxy --devel
--version ^1 nginx
--version >0.0.0-0 -l nginx
--version nonsense nginx
-r ^nginx
-r ngin[xy]$ -l
-r (
nothing
nothing --fail-on-no-result
nothing -o json
-o json
-o yaml
--max-col-width 20
--max-col-width 0
ARGS
both repo update one
both repo update none
check_eq "the configuration" "$(cat "$work/p/config/repositories.yaml")" "$(cat "$work/h/config/repositories.yaml")"
check_eq "the cached index" "$(cat "$work/p/cache/one-index.yaml")" "$(cat "$work/h/cache/one-index.yaml")"
check_eq "the cached names" "$(cat "$work/p/cache/one-charts.txt")" "$(sort "$work/h/cache/one-charts.txt")"

# helm writes the cache, pintle notices; pintle writes it, helm reads it.
sed -i 's/version: 1.10.0/version: 1.11.0/' "$work/srv/one/index.yaml"
run h repo update
cp "$work/h/cache/"* "$work/p/cache/"
both search repo nginx
cp "$work/p/config/repositories.yaml" "$work/h/config/"
both repo list

for dir in "$work/srv"/*/; do
    name=$(basename "$dir")
    case $name in one | two) continue ;; esac
    both repo add "$name" "$url/$name"
    for args in "-l --devel" "-l --devel -o json" "nginx" "metrics -l"; do
        # shellcheck disable=SC2086
        both search repo $args
    done
    fast=$(build/tests/conformance/index_lookup "$work/p/cache" "$name" dump | sha256sum)
    mkdir -p "$work/srv/$name-yaml"
    for end in "" " "; do # all entries for libyaml; all of the text
        { printf '%%YAML 1.1%s\n---\n' "$end"; cat "$dir/index.yaml"; } >"$work/srv/$name-yaml/index.yaml"
        run p repo add "$name-yaml" "$url/$name-yaml"
        slow=$(build/tests/conformance/index_lookup "$work/p/cache" "$name-yaml" dump | sha256sum)
        check_eq "$name: libyaml finds the same" "$fast" "$slow"
        run p repo remove "$name-yaml"
    done
    both repo remove "$name"
done
both repo remove one two
both repo list
finish
