#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Indexes on the command line, counted: requests, rows, files; and what is searched for in other alphabets.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
PINTLE=${PINTLE:-$PWD/build/pintle}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
export HELM_REPOSITORY_CONFIG=$work/repositories.yaml HELM_REPOSITORY_CACHE=$work/cache

# A request below /slow/ is answered when a second one is there: who sends one after the other gets 503 instead.
mkdir -p "$work/srv/one" "$work/srv/slow/a" "$work/srv/slow/b"
exec 3< <(cd "$work/srv" && exec python3 -u -c '
import http.server, os, sys, threading
both = threading.Barrier(2, timeout=4)
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path.startswith("/slow/"):
            try: both.wait()
            except threading.BrokenBarrierError: return self.send_error(503)
        super().do_GET()
    def log_message(self, *args): pass
    def log_request(self, code="-", size="-"):
        with open(sys.argv[1], "a") as log:
            log.write("%s %s %d\n" % (self.command, self.path, int(code)))
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(os.getpid(), s.server_port)
s.serve_forever()' "$work/log")
read -r server port <&3

index() { # VERSION…
    local v
    printf 'apiVersion: v1\nentries:\n  web:\n'
    for v in "$@"; do
        printf '  - apiVersion: v2\n    description: %s\n    name: web\n    version: %s\n' 'ÄPFEL und Жук' "$v"
    done
}
state() { stat -c '%n %i %Y %s' "$work"/cache/* | sort; }

# ---- an index that does not change ------------------------------------------------------------------------------------
index 1.0.0 >"$work/srv/one/index.yaml"
check_status "repo add" 0 "$PINTLE" repo add one "http://127.0.0.1:$port/one"
before=$(state)
: >"$work/log"
check_status "repo update" 0 "$PINTLE" repo update
check_eq "an unchanged index is one request" "$(cat "$work/log")" "GET /one/index.yaml 304"
check_eq "... and no file is written" "$(state)" "$before"
: >"$work/log"
"$PINTLE" search repo web >/dev/null
check_eq "a search asks nobody" "$(cat "$work/log")" ""

# ---- one more version ---------------------------------------------------------------------------------------------------
index 1.1.0 1.0.0 >"$work/srv/one/index.yaml"
touch -d '+2 seconds' "$work/srv/one/index.yaml"
check_status "repo update" 0 "$PINTLE" repo update one
check_has "the new version is there" "$("$PINTLE" search repo web)" 1.1.0

# ---- small letters ---------------------------------------------------------------------------------------------------------
check_has "capital letters are found by small ones" "$("$PINTLE" search repo 'äpfel')" one/web
check_has "... and the other way round" "$("$PINTLE" search repo 'ЖУК')" one/web
check_eq "other letters are not" "$("$PINTLE" search repo 'apfel')" "No results found"

# ---- several at once -------------------------------------------------------------------------------------------------------
index 1.0.0 | tee "$work/srv/slow/a/index.yaml" >"$work/srv/slow/b/index.yaml"
for name in a b; do
    printf -- '- name: %s\n  url: http://127.0.0.1:%s/slow/%s\n' $name "$port" $name >>"$HELM_REPOSITORY_CONFIG"
done
out=$("$PINTLE" repo update 2>&1)
check_eq "repositories are asked at the same time" "$(grep -c '^...Successfully' <<<"$out")" 3
check_has "... and told when all are through" "$(tail -n 1 <<<"$out")" 'Update Complete.'

add() { "$PINTLE" repo add "$@" >"$work/add.out" 2>&1; }
: >"$HELM_REPOSITORY_CONFIG"
add a "http://127.0.0.1:$port/slow/a" &
check_status "who adds a repository does not wait for another's download" 0 "$PINTLE" repo add b "http://127.0.0.1:$port/slow/b"
check_status "... nor does that one" 0 wait $!
check_eq "... and both are there" "$("$PINTLE" repo list --no-headers | cut -f 1 | sort | tr -d ' \n')" ab
add c "http://127.0.0.1:$port/slow/a" &
other=("$("$PINTLE" repo add c "http://127.0.0.1:$port/slow/b" 2>&1)")
wait $!
other+=("$(cat "$work/add.out")")
check_eq "of two with one name the second is refused" "$(printf '%s\n' "${other[@]}" | sort)" \
    '"c" has been added to your repositories
Error: repository name (c) already exists, please specify a different name'
finish
