#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Indexes: `pintle repo add`, `repo update`, `search repo`, `show chart` beside helm's on the real indexes of the corpus
# ($CORPUS/index) and on generated ones. `make bench T=index` sets HELM, PINTLE, MEASURE. Medians of alternating runs, at most
# RUNS of them: 15 below 8 MB, 3 below 60 MB, 1 above; what the two print is compared. "libyaml" is the same index behind a
# directive, which leaves all entries to libyaml, "events" behind an odd one, which leaves all of the text to it. About ten minutes on an idle machine; each failed comparison is told at the end.
#
#   SIZES="20 50 100 200"   megabytes of the generated indexes; "" for none
#   REAL=bitnami            only those real indexes with this in their names; "-" for none
set -u
cd "$(dirname "$0")/../.." || exit 2
corpus=${CORPUS:-../shared/corpus}/index
work=$(mktemp -d) || exit 2
server=
failed=0
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
make -s -j2 build/tests/conformance/index_lookup || exit 1

# A chart that can be downloaded, in front of all others.
mkdir -p "$work/aaa-bench" "$work/srv"
printf 'apiVersion: v2\nname: aaa-bench\nversion: 1.0.0\n' >"$work/aaa-bench/Chart.yaml"
"$PINTLE" package "$work/aaa-bench" -d "$work" >/dev/null || exit 1
entry() { # VERSION
    printf '  - apiVersion: v2\\n    name: aaa-bench\\n    urls:\\n    - aaa-bench-1.0.0.tgz\\n    version: %s\\n' "$1"
}

# serve NAME <INDEX: srv/NAME has it, srv/NAME-yaml and srv/NAME-events the same for libyaml, $work/newer with one more version.
serve() {
    mkdir -p "$work/srv/$1" "$work/srv/$1-yaml" "$work/srv/$1-events"
    sed "s/^entries:\$/&\n  aaa-bench:\n$(entry 1.0.0)/; s/\\\\n\$//" | sed '/^$/d' >"$work/srv/$1/index.yaml"
    { printf '%%YAML 1.1\n---\n'; cat "$work/srv/$1/index.yaml"; } >"$work/srv/$1-yaml/index.yaml"
    { printf '%%YAML 1.1 \n---\n'; cat "$work/srv/$1/index.yaml"; } >"$work/srv/$1-events/index.yaml"
    sed "s/^  aaa-bench:\$/&\n$(entry 1.0.1)/" "$work/srv/$1/index.yaml" | sed '/^$/d' >"$work/newer"
    cp "$work/aaa-bench-1.0.0.tgz" "$work/srv/$1/"
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

# Where each keeps helm's files.
ours=("HELM_REPOSITORY_CONFIG=$work/p/r.yaml" "HELM_REPOSITORY_CACHE=$work/p/c")
yaml=("HELM_REPOSITORY_CONFIG=$work/y/r.yaml" "HELM_REPOSITORY_CACHE=$work/y/c")
events=("HELM_REPOSITORY_CONFIG=$work/e/r.yaml" "HELM_REPOSITORY_CACHE=$work/e/c")
helms=("HELM_REPOSITORY_CONFIG=$work/h/r.yaml" "HELM_REPOSITORY_CACHE=$work/h/c")

bad() {
    echo "FAILED: $*"
    failed=1
}

# row INDEX WHAT OURS: line OURS of the measurement beside its last one, which is helm's.
row() {
    awk -v name="$1" -v what="$2" -v ours="$3" '
        { wall[NR] = $1; cpu[NR] = $2; rss[NR] = $3 / 1024; if ($4 != 0) bad = 1 }
        END { printf "%-22s %-20s %9.1f %9.1f %7.1f %10.1f %10.1f %8.1f %8.1fx%s\n", name, what, wall[ours], cpu[ours],
              rss[ours], wall[NR], cpu[NR], rss[NR], wall[NR] / wall[ours], bad ? "  FAILED" : "" }' "$work/measured"
}

pair() { # INDEX WHAT RUNS PREPARE-OURS ARG...
    "$MEASURE" -o "$work/out" "$3" ${4:+-p "$4"} "${ours[@]}" "$PINTLE" "${@:5}" \
        -- "${helms[@]}" "$HELM" "${@:5}" >"$work/measured" || bad "$1 $2"
    row "$1" "$2" 1
    cmp -s "$work/out.1" "$work/out.2" || bad "$1: what $2 prints differs from helm's"
}

# All readers must know the same.
compare_readers() { # INDEX
    local slow

    build/tests/conformance/index_lookup "$work/p/c" r dump >"$work/fast"
    for slow in y e; do
        build/tests/conformance/index_lookup "$work/$slow/c" r dump >"$work/slow"
        cmp -s "$work/fast" "$work/slow" && [ -s "$work/fast" ] || bad "$1: the readers differ"
    done
    rm -f "$work/fast" "$work/slow"
}

count_update() { # INDEX
    : >"$work/log"
    env "${ours[@]}" "$PINTLE" repo update >/dev/null
    [ "$(cat "$work/log")" = "GET /$1/index.yaml 304" ] || bad "$1: an unchanged index took: $(cat "$work/log")"
}

compare() { # INDEX
    local url=http://127.0.0.1:$port/$1 bytes runs look_up
    bytes=$(wc -c <"$work/srv/$1/index.yaml")
    runs=$((bytes < 8000000 ? 15 : bytes < 60000000 ? 3 : 1))
    [ "$runs" -le "$RUNS" ] || runs=$RUNS
    "$MEASURE" -o "$work/out" "$runs" -p "rm -rf $work/p" "${ours[@]}" "$PINTLE" repo add r "$url" \
        -- -p "rm -rf $work/y" "${yaml[@]}" "$PINTLE" repo add r "$url-yaml" \
        -- -p "rm -rf $work/e" "${events[@]}" "$PINTLE" repo add r "$url-events" \
        -- -p "rm -rf $work/h" "${helms[@]}" "$HELM" repo add r "$url" >"$work/measured" || bad "$1 repo add"
    row "$1" "add" 1
    row "" "add (libyaml)" 2
    row "" "add (events)" 3
    cmp -s "$work/out.1" "$work/out.4" || bad "$1: what repo add prints differs from helm's"
    compare_readers "$1"
    pair "" "search" "$runs" "" search repo nginx
    pair "" "show chart" "$runs" "" show chart r/aaa-bench
    look_up=$(build/tests/conformance/index_lookup "$work/p/c" r)
    awk -v us="${look_up% us}" 'END { printf "%-22s %-20s %9.4f %*s %10.1f %27.0fx\n", "", "look-up in process",
        us / 1000, 17, "", $1, $1 * 1000 / us }' "$work/measured"
    pair "" "update, unchanged" "$runs" "" repo update
    count_update "$1"
    mv "$work/p" "$work/kept"
    mv "$work/newer" "$work/srv/$1/index.yaml"
    touch -d '+2 seconds' "$work/srv/$1/index.yaml"
    pair "" "update, one version" "$runs" "rm -rf $work/p; cp -a $work/kept $work/p" repo update
    printf '%-22s %d bytes, medians of %d\n' "" "$bytes" "$runs"
    rm -rf "$work/p" "$work/y" "$work/e" "$work/h" "$work/kept" "$work/srv/$1" "$work/srv/$1-yaml" "$work/srv/$1-events"
}

: >"$work/log"
exec 3< <(cd "$work/srv" && exec python3 -u -c '
import http.server, os, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_request(self, code="-", size="-"):
        with open(sys.argv[1], "a") as log:
            log.write("%s %s %d\n" % (self.command, self.path, int(code)))
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(os.getpid(), s.server_port)
s.serve_forever()' "$work/log" 2>/dev/null)
read -r server port <&3

"$HELM" version --short
printf '%-22s %-20s %9s %9s %7s %10s %10s %8s %9s\n' index "" "pintle ms" "CPU ms" MiB "helm ms" "CPU ms" MiB "helm/ours"
if [ -d "$corpus" ]; then
    for file in "$corpus"/*"${REAL-}"*.yaml.xz; do
        [ -f "$file" ] || continue
        name=$(basename "$file" .yaml.xz)
        xz -dc "$file" | serve "${name%.reconstructed}"
        compare "${name%.reconstructed}"
    done
else
    echo "SKIP the real indexes: there is no $corpus"
fi
for size in ${SIZES-20 50 100 200}; do
    generate "$size" | serve "generated-$size"
    compare "generated-$size"
done
exit $failed
