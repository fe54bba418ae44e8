#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every chart of the corpus, its subcharts included, through `helm lint` and `pintle lint`: stdout, stderr, exit status.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/table.sh
program=$(realpath "${PINTLE:-build/pintle}")
helm=${HELM:-}
corpus=${CORPUS:-$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")/../shared/corpus}
if [ ! -x "$helm" ] || [ ! -d "$corpus/charts" ]; then
    skip lint 'there is no helm ($HELM), or no corpus ($CORPUS)'
    finish
    exit
fi
answer() { # PROGRAM CHART
    local status=0
    "$1" lint --with-subcharts "$2" 2>"$work/err" >"$work/out" || status=$?
    echo "exit $status"
    table_mask "$work" <"$work/out"
    table_mask "$work" <"$work/err" | sed 's/^/! /'
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
for chart in "$corpus"/charts/*.tgz; do
    check_eq "$(basename "$chart")" "$(answer "$program" "$chart")" "$(answer "$helm" "$chart")"
done
finish
