#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command lines of tests/data/cli through the real helm and through pintle: exit status, stdout and stderr.
#
#   tests/conformance/tables.sh [-u] [-t TOPIC] [-o REGEX]
#     -u        keep helm's answers as tests/data/cli/<topic>.want, from which `make test` checks pintle without helm
#     -t TOPIC  one table
#     -o REGEX  only these lines
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/table.sh
update='' topics='' only=.
while getopts ut:o: opt; do
    case $opt in
    u) update=1 ;;
    t) topics=$OPTARG ;;
    o) only=$OPTARG ;;
    *) exit 2 ;;
    esac
done
program=$(realpath "${PINTLE:-build/pintle}")
helm=${HELM:-}
if [ ! -x "$helm" ]; then
    skip tables 'there is no helm ($HELM)'
    finish
    exit
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

for cases in "$table_data"/${topics:-*}.cases; do
    topic=$(basename "$cases" .cases)
    table_answer "$topic" "$helm" "$work/want" "$only"
    if [ -n "$update" ]; then
        { echo "# $("$helm" version --template '{{ .Version }}')"; cat "$work/want"; } >"$table_data/$topic.want"
    fi
    table_answer "$topic" "$program" "$work/got" "$only"
    table_compare "$work/want" "$work/got"
done
finish
