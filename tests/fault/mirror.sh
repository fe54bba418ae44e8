#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of everything that writes to a mirror (add, import, sync from a chart repository and from a registry, sync --prune, prune,
# push) before each single call that makes a change visible, and at random moments; a disk that is full. What is in the mirror is
# always whole, what is left behind goes, and the next run completes the work.
#   QUICK=1   a sample
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
PINTLE=$(realpath "${PINTLE:-build/pintle}")
dir=$(mktemp -d) || exit 2
pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done; umount "$dir/small" 2>/dev/null; rm -rf "$dir"' EXIT
step=1
rounds=60
[ -z "${QUICK:-}" ] || { step=5; rounds=12; }
${CC:-cc} -shared -fPIC -O2 -o "$dir/kill_at.so" tests/fault/kill_at.c -ldl || exit 1

# ---- charts: web in many versions, one of which needs db --------------------------------------------------------------------
make_chart() { # NAME VERSION NUMBER [TEXT]
    mkdir -p "$dir/src/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: %s\n%s' "$1" "$2" "${4:-}" >"$dir/src/$1/Chart.yaml"
    for k in $(seq 1 12); do seq $((k * 1000 + (k == $3 ? 7 : 0))) 3 $((k * 1000 + 900)) >"$dir/src/$1/templates/f$k.yaml"; done
    tar -C "$dir/src" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - "$1" | gzip -9n >"$dir/charts/$1-$2.tgz"
}
serve() { # NAME DIR FLAGS…: sets url and server
    local name=$1
    shift
    "$PINTLE" mirror serve "$@" --address 127.0.0.1:0 >"$dir/$name.out" 2>"$dir/$name.log" &
    server=$!
    pids+=("$server")
    wait_for 10 grep -q ' at http' "$dir/$name.out" || { fail "$name starts" "$(cat "$dir/$name.log")"; finish; exit; }
    url=$(sed -n 's/.* at //p' "$dir/$name.out")
}
mkdir -p "$dir/charts"
serve source "$dir/charts"
source_url=$url
for i in 1 2 3 4 5; do make_chart web 1.$i.0 $i; done
make_chart db 1.0.0 0
make_chart app 1.0.0 0 "$(printf 'dependencies: [{ name: db, version: 1.x, repository: "%s" }]' "$source_url")"
total=$(find "$dir/charts" -name '*.tgz' | wc -l)
check_eq "the charts are made" "$total" 7
"$PINTLE" mirror add "$dir/whole" "$dir"/charts/*.tgz >/dev/null
serve upstream "$dir/whole"
registry_url=oci://${url#http://}
openssl genpkey -algorithm ed25519 -out "$dir/key.pem" 2>/dev/null
openssl pkey -in "$dir/key.pem" -pubout -out "$dir/pub.pem"
"$PINTLE" mirror export "$dir/whole" "$dir/bundle" --key "$dir/key.pem" >/dev/null
echo token >"$dir/token"

# ---- what is written, and what must be there afterwards ----------------------------------------------------------------------
all_there() { [ "$(find "$dir/m/charts" -name '@*' ! -name '*.new' | wc -l)" = "$total" ]; }
newest_there() { [ "$(cd "$dir/m/charts" && find . -name '@*' | sort | tr '\n' ' ')" = "./app/@1.0.0 ./db/@1.0.0 ./web/@1.5.0 " ]; }
garbage_gone() { # nothing but what the versions that are left need: another prune finds nothing
    newest_there && [ "$("$PINTLE" mirror prune "$dir/m" --min-age 0s)" = "0 objects of 0 bytes deleted" ]
}
run= # exec, for a process that is to be killed
begin_empty() { rm -rf "$dir/m"; }
begin_full() { rm -rf "$dir/m" && cp -a "$dir/whole" "$dir/m"; }
begin_partial() { begin_empty && "$PINTLE" mirror add "$dir/m" "$dir"/charts/web-1.[24].0.tgz >/dev/null; }
begin_removed() { begin_full && "$PINTLE" mirror remove "$dir/m" web 1.1.0 1.2.0 1.3.0 1.4.0 >/dev/null; }
add() { $run "$PINTLE" mirror add "$dir/m" "$dir"/charts/*.tgz; }
import() { $run "$PINTLE" mirror import "$dir/m" "$dir/bundle" --key "$dir/pub.pem"; }
sync_http() { $run "$PINTLE" mirror sync "$dir/m" "$source_url" --latest 0; }
sync_oci() { $run "$PINTLE" mirror sync "$dir/m" "$registry_url" 'web@*' db app --latest 0 --plain-http --no-dependencies; }
sync_prune() { $run "$PINTLE" mirror sync "$dir/m" "$source_url" --prune; }
prune() { $run "$PINTLE" mirror prune "$dir/m" --min-age 0s; }
# The server dies, the pusher is told so and pushes again.
push() {
    local file status=0
    rm -f "$dir/push.out"
    "$PINTLE" mirror serve "$dir/m" --push-token-file "$dir/token" --address 127.0.0.1:0 >"$dir/push.out" 2>"$dir/push.log" &
    server=$!
    wait_for 10 grep -q ' at http' "$dir/push.out" 2>/dev/null || { kill -9 "$server" 2>/dev/null; wait "$server"; return; }
    (
        unset LD_PRELOAD
        for file in "$dir"/charts/*.tgz; do
            "$PINTLE" push "$file" "oci://$(sed -n 's,.* at http://,,p' "$dir/push.out")" --plain-http --username x --password token || exit 1
        done
    ) || status=1
    kill "$server" 2>/dev/null
    wait "$server"
    [ $? -ne 137 ] || return 137
    return $status
}

after_kill() { # OPERATION GOAL NAME
    if [ -e "$dir/m/pintle-mirror" ]; then check_status "$3: what is there is whole" 0 "$PINTLE" mirror verify "$dir/m"; fi
    check_status "$3: it goes on" 0 "$1"
    check_status "$3: all is done" 0 "$2"
    check_status "$3: and whole" 0 "$PINTLE" mirror verify "$dir/m"
    check_eq "$3: nothing is left over" "$(find "$dir/m" -path "$dir/m/cache" -prune -o \( -name '*.new' -o -name 'import-*' \) -print | wc -l)" 0
}

# ---- before each call ----------------------------------------------------------------------------------------------------------
each_call() { # BEGIN OPERATION GOAL
    local n status hits=0
    for ((n = 1 + RANDOM % step; n < 2000; n += step)); do
        "$1"
        (
            export KILL_AT=$n KILL_BELOW=$dir/m/ LD_PRELOAD=$dir/kill_at.so
            "$2"
        ) >"$dir/op.out" 2>&1
        status=$?
        [ $status -eq 137 ] || break
        hits=$((hits + 1))
        after_kill "$2" "$3" "$2 killed before call $n"
    done
    [ $status -eq 0 ] && pass || fail "$2: without a kill it succeeds" "$status $(tail -n 3 "$dir/op.out")"
    echo "$2: killed before $hits calls"
    [ "$hits" -ge 3 ] || fail "$2: kills hit it" "$hits"
}
each_call begin_empty add all_there
each_call begin_partial import all_there
each_call begin_empty sync_http all_there
each_call begin_partial sync_oci all_there
each_call begin_full sync_prune newest_there
each_call begin_removed prune garbage_gone
each_call begin_empty push all_there

# The controller's mirror: killed before a call, it begins again and ends with all of it.
controller() { # [N]
    rm -f "$dir/dev.out"
    KILL_AT=${1:-} KILL_BELOW=$dir/dev/mirror/ LD_PRELOAD=${1:+$dir/kill_at.so} \
        "$PINTLE" dev --data "$dir/dev" --write-kubeconfig "$dir/kubeconfig" >"$dir/dev.out" 2>"$dir/dev.log" &
    server=$!
    pids+=("$server")
}
mirrored() { [ "$(find "$dir/dev/mirror/charts" -name '@*' ! -name '*.new' 2>/dev/null | wc -l)" = "$total" ]; }
died_or_mirrored() { ! kill -0 "$server" 2>/dev/null || mirrored; }
controller
wait_for 20 grep -q '^API server' "$dir/dev.out"
printf 'apiVersion: pintle.dev/v1alpha1\nkind: Repository\nmetadata: { name: main }\nspec: { name: main, url: "%s", mirror: { latest: 0 } }\n' "$source_url" |
    "$PINTLE" --kubeconfig "$dir/kubeconfig" apply -f - >/dev/null || fail "apply"
wait_for 20 mirrored || fail "the controller mirrors"
{ kill -9 "$server" && wait "$server"; } 2>/dev/null
hits=0
for ((n = 1; n < 500; n += 4 * step)); do
    rm -rf "$dir/dev/mirror"
    controller $n
    wait_for 30 died_or_mirrored || fail "the controller dies or ends its work"
    { kill "$server" && wait "$server"; } 2>/dev/null
    wait "$server" 2>/dev/null
    status=$?
    [ $status -eq 137 ] || break
    hits=$((hits + 1))
    [ -e "$dir/dev/mirror/pintle-mirror" ] && check_status "controller killed before call $n: what is there is whole" 0 "$PINTLE" mirror verify "$dir/dev/mirror"
    controller
    wait_for 30 mirrored && pass || fail "controller killed before call $n: it goes on"
    kill "$server"
    wait "$server"
    check_status "controller killed before call $n: all is whole" 0 "$PINTLE" mirror verify "$dir/dev/mirror"
done
echo "controller: killed before $hits calls"
[ "$hits" -ge 3 ] || fail "controller: kills hit it" "$hits"

# ---- at any moment ---------------------------------------------------------------------------------------------------------------
any_moment() { # BEGIN OPERATION GOAL
    local pid pause
    "$1"
    (run=exec "$2") >/dev/null 2>&1 &
    pid=$!
    pause=$(printf '0.%03d' $((RANDOM % 150)))
    sleep "$pause"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    after_kill "$2" "$3" "$2 killed after $pause s"
}
for ((i = 0; i < rounds; i++)); do
    case $((i % 6)) in
    0) any_moment begin_empty add all_there ;;
    1) any_moment begin_partial import all_there ;;
    2) any_moment begin_empty sync_http all_there ;;
    3) any_moment begin_partial sync_oci all_there ;;
    4) any_moment begin_full sync_prune newest_there ;;
    5) any_moment begin_removed prune garbage_gone ;;
    esac
done

# ---- a full disk ----------------------------------------------------------------------------------------------------------
mkdir "$dir/small"
if mount -t tmpfs -o size=60k tmpfs "$dir/small" 2>/dev/null; then
    out=$("$PINTLE" mirror add "$dir/small/m" "$dir"/charts/*.tgz 2>&1)
    check_eq "a full disk is an error" "$?" 1
    check_has "that says so" "$out" "No space left on device"
    check_status "what was added before is whole" 0 "$PINTLE" mirror verify "$dir/small/m"
    check_eq "and no part of a file is left" "$(find "$dir/small" -name '*.new' | wc -l)" 0
    mount -o remount,size=20m "$dir/small"
    check_status "with room it goes on" 0 "$PINTLE" mirror add "$dir/small/m" "$dir"/charts/*.tgz
else
    skip "a full disk" "no right to mount"
fi
finish
