#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What rendering costs, in counts that do not depend on the machine: steps and arena bytes of the worst chart, and that
# both grow no faster than what there is to render; 9 instead of 8 leaves room for tables that double.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
PINTLE=${PINTLE:-$PWD/build/pintle}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

count() { # CHART FIELD
    LOG=debug "$PINTLE" template r "$1" 2>&1 >/dev/null | sed -n "s/.*\"chart rendered\".*\"$2\":\([0-9]*\).*/\1/p"
}
at_most() { # NAME GOT MAX
    if [ "${2:-0}" -gt 0 ] && [ "$2" -le "$3" ]; then pass; else fail "$1" "got ${2:-nothing}, at most $3"; fi
}

tests/bench/charts/worst.sh "$dir/worst"
check_eq "worst chart: template files" "$(count "$dir/worst" files)" 400
at_most "worst chart: steps" "$(count "$dir/worst" steps)" 134461
at_most "worst chart: peak bytes of arenas" "$(count "$dir/worst" peak_bytes)" 1138950

for what in templates subcharts tpl include values list; do
    tests/bench/charts/grow.sh "$dir/few" "$what" 40
    tests/bench/charts/grow.sh "$dir/many" "$what" 320
    for field in steps peak_bytes; do
        at_most "$what: $field of eight times as many" "$(count "$dir/many" "$field")" $((9 * $(count "$dir/few" "$field")))
    done
    rm -rf "$dir/few" "$dir/many"
done
finish
