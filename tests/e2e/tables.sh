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

for want in "$table_data"/*.want; do
    topic=$(basename "$want" .want)
    table_answer "$topic" "$program" "$work/$topic"
    table_compare "$want" "$work/$topic"
    check_eq "$topic: every case has an answer" "$(grep -c '^\$ ' "$want")" "$(grep -c '^\$ ' "$work/$topic")"
done
finish
