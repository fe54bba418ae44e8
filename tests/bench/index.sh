#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Indexes: `pintle repo add`, `search repo`, `show chart` beside helm's on the real indexes of the corpus ($CORPUS/index, those of
# 4 MB and more count) and on generated ones. `make bench T=index` sets HELM, PINTLE, MEASURE; medians of $RUNS alternating runs.
#
#   SIZES="20 50 100 200"   megabytes of the generated indexes; "" for none
set -u
cd "$(dirname "$0")/../.." || exit 2
corpus=${CORPUS:-../shared/corpus}/index
runs=${RUNS:-3}
work=$(mktemp -d) || exit 2
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
make -s -j2 build/tests/conformance/index_lookup || exit 1

# A chart that can be downloaded, in front of all others.
mkdir -p "$work/aaa-bench"
printf 'apiVersion: v2\nname: aaa-bench\nversion: 1.0.0\n' >"$work/aaa-bench/Chart.yaml"
"$PINTLE" package "$work/aaa-bench" -d "$work" >/dev/null || exit 1
entry='  aaa-bench:\n  - apiVersion: v2\n    name: aaa-bench\n    urls:\n    - aaa-bench-1.0.0.tgz\n    version: 1.0.0\n'

# serve NAME <INDEX: srv/NAME has it, srv/NAME-yaml the same behind a directive that leaves it to libyaml.
serve() {
    mkdir -p "$work/srv/$1" "$work/srv/$1-yaml"
    sed "s/^entries:\$/&\n${entry%??}/" >"$work/srv/$1/index.yaml"
    { printf '%%YAML 1.1\n---\n'; cat "$work/srv/$1/index.yaml"; } >"$work/srv/$1-yaml/index.yaml"
    cp "$work/aaa-bench-1.0.0.tgz" "$work/srv/$1/"
    cp "$work/aaa-bench-1.0.0.tgz" "$work/srv/$1-yaml/"
}

generate() { # MEGABYTES
    awk -v mb="$1" 'BEGIN {
        print "apiVersion: v1\nentries:"
        for (chart = 0; size < mb * 1000000; chart++) {
            printf "  chart-%05d:\n", chart
            for (v = 149; v >= 0; v--) {
                e = sprintf("  - annotations:\n      category: Infrastructure\n      images: |\n        - name: app\n" \
                    "          image: docker.io/example/app-%d:%d.0-debian-12-r%d\n    apiVersion: v2\n" \
                    "    appVersion: %d.%d.0\n    created: \"2026-01-12T17:19:21+01:00\"\n    dependencies:\n" \
                    "    - condition: redis.enabled\n      name: redis\n      repository: oci://registry.example.com/charts\n" \
                    "      version: 22.x.x\n    description: Chart number %d of a generated index, whose description is as\n" \
                    "      long as they usually are.\n    digest: %064d\n    home: https://example.com/charts/%d\n" \
                    "    keywords:\n    - generated\n    - number%d\n    maintainers:\n    - name: Somebody\n" \
                    "      url: https://example.com/somebody\n    name: chart-%05d\n    urls:\n" \
                    "    - https://example.com/charts/chart-%05d-1.%d.0.tgz\n    version: 1.%d.0\n",
                    chart, v, v, v, chart % 10, chart, chart * 1000 + v, chart, chart, chart, chart, v, v)
                printf "%s", e
                size += length(e)
            }
        }
        print "generated: \"2026-01-12T17:19:21+01:00\"" }'
}

pintle() { # NAME ARG...
    printf 'HELM_REPOSITORY_CONFIG=%s/%s.p/r.yaml HELM_REPOSITORY_CACHE=%s/%s.p/c exec %s' "$work" "$1" "$work" "$1" "$PINTLE"
    shift
    printf " '%s'" "$@"
}
helm() {
    printf 'HELM_REPOSITORY_CONFIG=%s/%s.h/r.yaml HELM_REPOSITORY_CACHE=%s/%s.h/c exec %s' "$work" "$1" "$work" "$1" "$HELM"
    shift
    printf " '%s'" "$@"
}

# row WHAT NAME: two lines of measure, ours first.
row() {
    awk -v what="$1" -v name="$2" '
        { wall[NR] = $1; rss[NR] = $3; if ($4 != 0) bad = 1 }
        END { printf "%-24s %-16s pintle %9.1f ms %7.1f MiB   helm %9.1f ms %7.1f MiB   %7.1fx%s\n", name, what,
              wall[1], rss[1] / 1024, wall[2], rss[2] / 1024, wall[2] / wall[1], bad ? "  FAILED" : "" }'
}

compare() { # NAME RUNS
    local url=http://127.0.0.1:$port
    "$MEASURE" "$2" sh -c "rm -rf $work/$1.p; $(pintle "$1" repo add r "$url/$1")" \
        -- sh -c "rm -rf $work/$1.h; $(helm "$1" repo add r "$url/$1")" | row add "$1"
    "$MEASURE" "$2" sh -c "rm -rf $work/$1.y.p; $(pintle "$1.y" repo add r "$url/$1-yaml")" \
        -- sh -c "rm -rf $work/$1.h; $(helm "$1" repo add r "$url/$1")" | row "add (libyaml)" "$1"
    "$MEASURE" "$2" sh -c "$(pintle "$1" repo update)" -- sh -c "$(helm "$1" repo update)" | row "update, same" "$1"
    "$MEASURE" "$2" sh -c "$(pintle "$1" search repo nginx)" -- sh -c "$(helm "$1" search repo nginx)" | row search "$1"
    "$MEASURE" "$2" sh -c "$(pintle "$1" show chart r/aaa-bench)" -- sh -c "$(helm "$1" show chart r/aaa-bench)" |
        row "show chart" "$1"
    build/tests/conformance/index_lookup "$work/$1.p/c" r | sed "s/^/$(printf '%-24s' "$1") look-up in process: /"
    rm -rf "$work/$1."* "$work/srv/$1" "$work/srv/$1-yaml"
}

mkdir -p "$work/srv"
exec 3< <(cd "$work/srv" && exec python3 -u -c '
import functools, http.server, socketserver, os
class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
print(os.getpid(), s.server_port)
s.serve_forever()')
read -r server port <&3

if [ -d "$corpus" ]; then
    for file in "$corpus"/*.yaml.xz; do
        name=$(basename "$file" .yaml.xz)
        xz -dc "$file" | serve "${name%.reconstructed}"
        compare "${name%.reconstructed}" "$runs"
    done
else
    echo "SKIP the real indexes: there is no $corpus"
fi
for size in ${SIZES-20 50 100 200}; do
    generate "$size" | serve "generated-$size"
    compare "generated-$size" "$([ "$size" -gt 50 ] && echo 1 || echo "$runs")"
done
