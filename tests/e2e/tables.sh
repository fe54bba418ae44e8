#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Command lines whose answers the real helm gave (tests/data/cli; tests/conformance/tables.sh asks it again).
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/table.sh
program=$(realpath "${PINTLE:-build/pintle}")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

topics=()
for want in "$table_data"/*.want; do topics+=("$(basename "$want" .want)"); done
for half in 0 1; do # two at a time
    for ((i = half; i < ${#topics[@]}; i += 2)); do
        table_answer "${topics[i]}" "$program" "$work/${topics[i]}"
    done &
done
wait
for topic in "${topics[@]}"; do
    want=$table_data/$topic.want
    table_compare "$want" "$work/$topic"
    check_eq "$topic: every case has an answer" "$(grep -c '^\$ ' "$want")" "$(grep -c '^\$ ' "$work/$topic")"
done
finish
