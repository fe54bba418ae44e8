#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pintle template and pintle show against transcripts of helm v4.2.4: tests/data/template/*.txt.
#
# A transcript starts with files ("-- path --" and their content), then has command lines ("$ template r c --set a=1") with
# what they printed: "| " standard output, "! " standard error, and the exit status.
# To record them again: HELM=/path/to/helm tests/e2e/template.sh
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
program=$(realpath "${HELM:-${PINTLE:-build/pintle}}")
top=$PWD
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

unpack() { # FILE: its files below the working directory
    awk '/^\$ / { exit }
        /^-- .* --$/ { path = substr($0, 4, length($0) - 6); dir = path; if (sub(/\/[^\/]*$/, "", dir)) system("mkdir -p \"" dir "\""); printf "" > path; next }
        path { print > path }' "$1"
}

run() { # ARGUMENTS: as one line of a transcript
    local status=0 args
    eval "args=($1)"
    # shellcheck disable=SC2154
    env -i PATH="$PATH" HOME="$work/home" TZ=UTC "$program" "${args[@]}" >"$work/out" 2>"$work/err" </dev/null || status=$?
    printf '$ %s\n' "$1"
    sed -e 's/^/| /' "$work/out"
    [ ! -s "$work/out" ] || [ -z "$(tail -c 1 "$work/out")" ] || printf '\n| (no newline)\n'
    sed -e "s|$PWD|DIR|g" -e 's/^/! /' "$work/err"
    [ "$status" -eq 0 ] || echo "exit $status"
}

for transcript in tests/data/template/*.txt; do
    name=$(basename "$transcript" .txt)
    mkdir "$work/$name"
    cd "$work/$name" || exit 2
    unpack "$top/$transcript"
    sed '/^\$ /,$d' "$top/$transcript" >"$work/new"
    while IFS= read -r line; do
        run "$line" >>"$work/new"
    done < <(sed -n 's/^\$ //p' "$top/$transcript")
    cd "$top" || exit 2
    if [ -n "${HELM:-}" ]; then
        cp "$work/new" "$transcript"
        pass
    elif cmp -s "$work/new" "$transcript"; then
        pass
    else
        fail "$name" "$(diff "$transcript" "$work/new" | head -n 30)"
    fi
done
finish
