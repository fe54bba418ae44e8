# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Command lines as a table, answered by the real helm once and by pintle at every test.
#
#   tests/data/cli/<topic>.files   the files that the commands find: "=== path", then the text; "=== path < other" is
#                                  a copy, "=== path -> target" a link
#   tests/data/cli/<topic>.cases   one shell line per case, in which `helm` is the program under test; "#" starts a comment.
#                                  Each runs in a fresh copy of the files (of more than 40 folders: of those that it names)
#   tests/data/cli/<topic>.want    what helm said: "$ line", "exit N", "> " before lines of stdout, "! " of stderr
#
# table_answer TOPIC PROGRAM OUT [REGEX] writes such an answer; table_compare WANT GOT reports block by block (check.sh).
table_data=tests/data/cli

table_files() { # TOPIC DIR
    LC_ALL=C awk -v dir="$2" '
        function parent(p) { sub(/\/[^\/]*$/, "", p); return p }
        function make(p) { if (!(p in made)) { system("mkdir -p \"" p "\""); made[p] = 1 } }
        /^=== / {
            if (out != "") close(out)
            out = dir "/" $2
            make(parent(out))
            if ($3 == "<") { system("cp \"" dir "/" $4 "\" \"" out "\""); out = ""; next }
            if ($3 == "->") { system("ln -s \"" $4 "\" \"" out "\""); out = ""; next }
            printf "" >out
            next
        }
        /^#/ && out == "" { next }
        out != "" { print >out }' "$table_data/$1.files"
}

# Numbers that differ from run to run, and how the program calls itself.
table_mask() {
    LC_ALL=C sed -E -e 's/^time=[^ ]* //' -e 's#/tmp/(helm|pintle)-lint[-0-9A-Za-z_.]+#/tmp/LINT#g' \
        -e 's#(127\.0\.0\.1|localhost):[0-9]+#\1:PORT#g' -e "s#$1#WORK#g" -e "s#${1%/work}/home#HOME#g" -e 's/tmpcharts-[0-9]+/tmpcharts-N/g' \
        -e 's/^generated: .*/generated: TIME/' -e 's/404 File not found/404 Not Found/' -e 's/helm-manager-[0-9a-f]{64}/helm-manager-HASH/g' -e 's/-[0-9]{10}(-[0-9]+)?\b/-NOW/g' -e 's/\bpintle\b/helm/g'
}

# For cases: `serve DIR` serves a folder on $PORT until the case ends; `configure NAME` makes it a repository of that name.
serve() {
    python3 -c 'import functools, http.server, os, sys
h = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), h)
print(s.server_address[1], flush=True)
s.serve_forever()' "$1" >"$HOME/port" 2>/dev/null &
    server=$!
    until [ -s "$HOME/port" ]; do sleep 0.05; done
    PORT=$(cat "$HOME/port")
    trap 'kill $server 2>/dev/null' EXIT
}
configure() { # NAME
    mkdir -p "$HELM_CONFIG_HOME"
    printf 'apiVersion: ""\nrepositories:\n- name: %s\n  url: http://127.0.0.1:%s\n' "$1" "$PORT" >"$HELM_CONFIG_HOME/repositories.yaml"
}

table_lines() { # PREFIX FILE: with a mark when the last line has no end
    sed "s/^/$1 /" "$2"
    if [ -s "$2" ] && [ -n "$(tail -c 1 "$2")" ]; then printf '\n%s (no newline)\n' "$1"; fi
}

table_copy() { # FILES WORK LINE
    local entry
    rm -rf "$2"
    mkdir "$2"
    if [ "$(find "$1" -mindepth 1 -maxdepth 1 | wc -l)" -le 40 ]; then
        cp -a "$1/." "$2"
        return
    fi
    for entry in "$1"/*; do
        case $3 in *"${entry##*/}"*) cp -a "$entry" "$2" ;; esac
    done
}

table_answer() { # TOPIC PROGRAM OUT [REGEX]
    local topic=$1 program=$2 out=$3 only=${4:-.} base line status
    base=$(mktemp -d) || return 1
    mkdir "$base/files" "$base/home"
    table_files "$topic" "$base/files"
    while IFS= read -r line; do
        case $line in '' | '#'*) continue ;; esac
        [[ $line =~ $only ]] || continue
        table_copy "$base/files" "$base/work" "$line"
        rm -rf "$base/home"
        mkdir "$base/home"
        status=0
        (
            cd "$base/work" || exit 99
            helm() { "$program" "$@"; }
            export HOME=$base/home TZ=UTC HELM_CACHE_HOME=$base/home/cache HELM_CONFIG_HOME=$base/home/config
            export HELM_DATA_HOME=$base/home/data KUBECONFIG=$base/home/kubeconfig
            unset HELM_NAMESPACE XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
            eval "$line"
        ) >"$base/out" 2>"$base/err" </dev/null || status=$?
        echo "\$ $line"
        echo "exit $status"
        table_mask "$base/work" <"$base/out" >"$base/masked" && table_lines '>' "$base/masked"
        table_mask "$base/work" <"$base/err" >"$base/masked" && table_lines '!' "$base/masked"
    done <"$table_data/$topic.cases" >"$out"
    rm -rf "$base"
}

table_block() { # FILE LINE: what follows "$ LINE"
    head="\$ $2" awk '$0 == ENVIRON["head"] { on = 1; next } /^\$ / { on = 0 } on' "$1"
}

table_compare() { # WANT GOT
    local line
    while IFS= read -r line; do
        check_eq "${line#\$ }" "$(table_block "$2" "${line#\$ }")" "$(table_block "$1" "${line#\$ }")"
    done < <(grep '^\$ ' "$2")
}
