#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 at any moment of `mirror add` and `mirror import`, and a disk that is full: what is in the mirror is always whole, and the
# next run completes it.
#   QUICK=1   a sample
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
PINTLE=$(realpath "${PINTLE:-build/pintle}")
dir=$(mktemp -d) || exit 2
trap 'umount "$dir/small" 2>/dev/null; rm -rf "$dir"' EXIT
rounds=100
[ -z "${QUICK:-}" ] || rounds=30

mkdir -p "$dir/charts" "$dir/src/web/templates"
for i in $(seq 1 30); do
    printf 'apiVersion: v2\nname: web\nversion: 1.%s.0\n' "$i" >"$dir/src/web/Chart.yaml"
    for k in $(seq 1 30); do seq $((k * 1000 + (k == i ? 7 : 0))) 3 $((k * 1000 + 900)) >"$dir/src/web/templates/f$k.yaml"; done
    "$PINTLE" package "$dir/src/web" -d "$dir/charts" >/dev/null
done
total=$(ls "$dir/charts" | wc -l)
check_eq "the charts are made" "$total" 30

# One addition tells how long all take: kills are spread over that time.
"$PINTLE" mirror add "$dir/whole" "$dir"/charts/*.tgz >/dev/null
openssl genpkey -algorithm ed25519 -out "$dir/key.pem" 2>/dev/null
openssl pkey -in "$dir/key.pem" -pubout -out "$dir/pub.pem"
"$PINTLE" mirror export "$dir/whole" "$dir/bundle" --key "$dir/key.pem" >/dev/null

kill_at() { # MILLISECONDS COMMAND…
    local pause
    pause=$(printf '0.%03d' "$1")
    shift
    "$@" >/dev/null 2>&1 &
    local pid=$!
    sleep "$pause"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
}
count() { find "$1/charts" -name '@*' ! -name '*.new' 2>/dev/null | wc -l; }

partial=0
for ((i = 0; i < rounds; i++)); do
    rm -rf "$dir/m"
    if [ $((i % 3)) -eq 2 ]; then
        again=("$PINTLE" mirror import "$dir/m" "$dir/bundle" --key "$dir/pub.pem")
    else
        again=("$PINTLE" mirror add "$dir/m" "$dir"/charts/*.tgz)
    fi
    kill_at $((RANDOM % 250)) "${again[@]}"
    n=$(count "$dir/m")
    [ "$n" -gt 0 ] && [ "$n" -lt "$total" ] && partial=$((partial + 1))
    if [ -e "$dir/m/pintle-mirror" ]; then check_status "round $i: what is there after $n versions is whole" 0 "$PINTLE" mirror verify "$dir/m"; fi
    check_status "round $i: it goes on" 0 "${again[@]}"
    check_eq "round $i: all are there" "$(count "$dir/m")" "$total"
    check_status "round $i: and whole" 0 "$PINTLE" mirror verify "$dir/m"
    check_eq "round $i: no temporary file is left" "$(find "$dir/m" -name '*.new' | wc -l)" 0
done
echo "killed in the middle: $partial of $rounds"

# ---- a full disk ----------------------------------------------------------------------------------------------------------
mkdir "$dir/small"
if mount -t tmpfs -o size=200k tmpfs "$dir/small" 2>/dev/null; then
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
