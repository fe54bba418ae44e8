# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Command lines as a table, answered by the real helm once and by pintle at every test.
#
#   tests/data/cli/<topic>.files   the files that the commands find: "=== path", then the text; "=== path < other" is
#                                  a copy, "=== path -> target" a link
#   tests/data/cli/<topic>.py      ... or a program that writes them into the folder it is given
#   tests/data/cli/<topic>.cases   one shell line per case, in which `helm` is the program under test; "#" starts a comment.
#                                  Each runs in a fresh copy of the files
#   tests/data/cli/<topic>.want    what helm said: "$ line", "exit N", "> " before lines of stdout, "! " of stderr
#
# table_answer TOPIC PROGRAM OUT [REGEX] writes such an answer; table_compare WANT GOT reports block by block (check.sh).
table_data=tests/data/cli

table_files() { # TOPIC DIR
    if [ -e "$table_data/$1.py" ]; then
        python3 "$table_data/$1.py" "$2"
        return
    fi
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
table_mask() { # WORK, on standard input
    python3 tests/lib/table_text.py mask "$1"
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

# For cases: an API server, $TABLE_KUBECONFIG or the embedded one, which runs until the table has ended.
cluster() {
    local n=0
    if [ -n "${TABLE_KUBECONFIG:-}" ]; then
        KUBECONFIG=$TABLE_KUBECONFIG
        return
    fi
    KUBECONFIG=$table_base/api.kubeconfig
    [ -s "$table_base/api.ready" ] && return
    "$table_server" apiserver --data "$table_base/api" --kubeconfig "$KUBECONFIG" >"$table_base/api.ready" 2>/dev/null </dev/null &
    echo $! >"$table_base/api.pid"
    until [ -s "$table_base/api.ready" ] || [ $((n += 1)) -gt 400 ]; do sleep 0.05; done
}

table_run() { # PROGRAM BASE LINE: in BASE/work, with the environment of table_run.py
    program=$1 table_base=$2
    helm() { "$program" "$@"; }
    eval "$3"
}

table_answer() { # TOPIC PROGRAM OUT [REGEX]
    local base
    base=$(mktemp -d) || return 1
    mkdir "$base/files" "$base/home" "$base/said"
    table_files "$1" "$base/files"
    table_server=$(realpath "${PINTLE:-build/pintle}") python3 tests/lib/table_run.py "$base" "$2" "${4:-.}" <"$table_data/$1.cases"
    python3 tests/lib/table_text.py blocks "$base/work" "$base/said" >"$3"
    [ -s "$base/api.pid" ] && kill "$(cat "$base/api.pid")"
    rm -rf "$base"
}

table_load() { # FILE, into the associative array `blocks`
    local line case=
    blocks=()
    while IFS= read -r line; do
        case $line in
        '$ '*) case=${line#\$ } blocks[$case]= ;;
        *) [ -n "$case" ] && blocks[$case]+=$line$'\n' ;;
        esac
    done <"$1"
}

table_compare() { # WANT GOT
    local line
    local -A blocks want
    table_load "$1"
    for line in "${!blocks[@]}"; do want[$line]=${blocks[$line]}; done
    table_load "$2"
    for line in "${!blocks[@]}"; do check_eq "$line" "${blocks[$line]}" "${want[$line]-}"; done
}
