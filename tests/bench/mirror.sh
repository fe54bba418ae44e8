#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The mirror: what versions of one chart take on disk beside the sum of their archives; requests per second of `mirror serve` for
# index.yaml, an unchanged index.yaml (304), archives and blobs beside Python's static server, nginx and docker-registry, where
# they are at hand; memory at rest. `make bench T=mirror` sets PINTLE; real charts come from $CORPUS.
#
#   REQUESTS=2000   requests of each measurement, over 8 connections
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/chart_servers.sh
corpus=${CORPUS:-../shared/corpus}/charts
requests=${REQUESTS:-2000}
work=$(mktemp -d) || exit 2
pids=()
stop() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    servers_stop
    rm -rf "$work"
}
trap stop EXIT
"${CC:-cc}" -O2 -D_GNU_SOURCE -pthread -o "$work/load" tests/bench/load.c || exit 1
bytes() { cat "$@" | wc -c; }

# ---- storage --------------------------------------------------------------------------------------------------------------
# versions ARCHIVE: twenty versions of it, each with another number and one line more in values.yaml
versions() {
    local name i
    rm -rf "$work/src" "$work/versions" "$work/kept" && mkdir "$work/src" "$work/versions"
    tar -xzf "$1" -C "$work/src" 2>/dev/null || return 1
    name=$(ls "$work/src")
    for i in $(seq 20); do
        sed -i "s/^version:.*/version: 90.$i.0/" "$work/src/$name/Chart.yaml"
        echo "# release $i" >>"$work/src/$name/values.yaml"
        "$PINTLE" package "$work/src/$name" -d "$work/versions" >/dev/null 2>&1 || return 1
    done
    "$PINTLE" mirror add "$work/kept" "$work"/versions/*.tgz >/dev/null || return 1
    printf '%-34s %10d %10d %10d %6.1fx\n' "$(basename "$1")" "$(bytes "$(ls "$work"/versions/*.tgz | head -n 1)")" \
        "$(bytes "$work"/versions/*.tgz)" "$(find "$work/kept/objects" -name '*.pack' -exec cat {} + | wc -c)" \
        "$(awk -v a="$(bytes "$work"/versions/*.tgz)" -v b="$(find "$work/kept/objects" -name '*.pack' -exec cat {} + | wc -c)" 'BEGIN { print a / b }')"
}
printf '%-34s %10s %10s %10s %7s\n' "twenty versions of" "one" "archives" "kept" "ratio"
n=0
for archive in $(find "$corpus" -name '*.tgz' 2>/dev/null | sort); do
    versions "$archive" && n=$((n + 1))
    [ $n -lt 8 ] || break
done
[ $n -gt 0 ] || echo "SKIP storage: no charts in $corpus"

# ---- serving ----------------------------------------------------------------------------------------------------------------
mkdir -p "$work/www"
for archive in $(find "$corpus" -name '*.tgz' 2>/dev/null | sort | head -n 60); do cp "$archive" "$work/www/"; done
[ -n "$(ls "$work/www")" ] || { echo "SKIP serving: no charts in $corpus"; exit 0; }
"$PINTLE" mirror add "$work/mirror" "$work"/www/*.tgz >"$work/add.out" || exit 1
launch() { # NAME PATTERN COMMAND…
    local name=$1 pattern=$2
    shift 2
    "$@" >"$work/$name.out" 2>&1 </dev/null &
    pids+=($!)
    wait_for 10 grep -q "$pattern" "$work/$name.out"
}
launch pintle '^serving' "$PINTLE" mirror serve "$work/mirror" --address 127.0.0.1:0 || exit 1
pintle_pid=${pids[0]}
pintle_port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' "$work/pintle.out")
python3 -c "import urllib.request as u; open('$work/www/index.yaml', 'wb').write(u.urlopen('http://127.0.0.1:$pintle_port/index.yaml').read())"
read -r _ name version digest < <(sort "$work/add.out" | head -n 1)
archive=$(grep -l . "$work/www/"*.tgz | head -n 1)
for file in "$work"/www/*.tgz; do [ "sha256:$(sha256sum <"$file" | cut -d ' ' -f 1)" = "$digest" ] && archive=$file; done
launch python 'Serving HTTP' python3 -u -c "
import functools, http.server
class H(http.server.SimpleHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(H, directory='$work/www'))
print('Serving HTTP on', s.server_port, flush=True)
s.serve_forever()"
python_port=$(sed -n 's/Serving HTTP on //p' "$work/python.out")
nginx_port=
if command -v nginx >/dev/null; then
    nginx_port=$((20000 + RANDOM % 12000))
    printf 'daemon off; pid %s/nginx.pid; error_log stderr; worker_processes 2; events {}\nhttp { access_log off; sendfile on; server { listen 127.0.0.1:%s; root %s; } }\n' \
        "$work" $nginx_port "$work/www" >"$work/nginx.conf"
    nginx -c "$work/nginx.conf" >/dev/null 2>&1 &
    pids+=($!)
    sleep 1
fi
registry_port=
if command -v docker-registry >/dev/null && registry_start bench; then
    registry_port=${port[bench]}
    "$PINTLE" push "$archive" "oci://127.0.0.1:$registry_port" --plain-http >/dev/null 2>&1
fi

line() { # WHAT SERVER PORT PATH [HEADER]
    [ -z "$3" ] || printf '%-22s %-16s %s\n' "$1" "$2" "$("$work/load" "$3" "$4" "$requests" 8 ${5:+"$5"} | awk '{ printf "%9d/s  status %d  %d bytes", $2, $1, $3 }')"
}
etag=$(python3 -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:$pintle_port/index.yaml').headers['ETag'])")
since=$(python3 -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:$python_port/index.yaml').headers['Last-Modified'])")
echo
for _ in 1 2; do
    line index.yaml pintle "$pintle_port" /index.yaml
    line index.yaml "python static" "$python_port" /index.yaml
    line index.yaml nginx "$nginx_port" /index.yaml
    line "index.yaml, unchanged" pintle "$pintle_port" /index.yaml "If-None-Match: $etag"
    line "index.yaml, unchanged" "python static" "$python_port" /index.yaml "If-Modified-Since: $since"
    line archive pintle "$pintle_port" "/$name-$version.tgz"
    line archive "python static" "$python_port" "/$(basename "$archive")"
    line archive nginx "$nginx_port" "/$(basename "$archive")"
    line blob pintle "$pintle_port" "/v2/$name/blobs/$digest"
    line blob docker-registry "$registry_port" "/v2/$name/blobs/$digest"
done
awk '/^VmRSS|^VmHWM/ { printf "pintle %s %d KiB\n", $1, $2 }' "/proc/$pintle_pid/status"
[ -z "$registry_port" ] || awk '/^VmRSS|^VmHWM/ { printf "docker-registry %s %d KiB\n", $1, $2 }' "/proc/${servers_pids[0]}/status"
