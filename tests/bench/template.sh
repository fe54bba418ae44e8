#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `pintle template` against `helm template`, whole processes in turn, output compared in the same run: every chart of the
# corpus with its default values, an empty chart, the worst chart, and how cost grows with each thing that can be many.
#
#   $HELM $PINTLE $MEASURE $RUNS   as tools/bench.sh sets them; CORPUS as in tests/conformance/corpus.sh
#   ONLY=REGEX                     only these charts of the corpus;  PARTS="corpus worst slopes start"
# Wall and CPU are milliseconds, medians; memory is KiB, the highest; ratios are helm's figure over pintle's.
set -u
cd "$(dirname "$0")/../.." || exit 2
corpus=${CORPUS:-$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")/../shared/corpus}
parts=${PARTS:-corpus worst slopes start}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export HOME=$work TZ=UTC
failed=0

want() { [[ " $parts " == *" $1 "* ]]; }
bad() { echo "FAIL $*"; failed=1; }

# same CHART: are both outputs equal? 0 yes; 1 no; 2 helm's own two outputs differ, only the number of lines was compared;
# 3 the same, because keys are made; 4 helm refuses the chart.
same() {
    "$HELM" template r "$1" >"$work/helm" 2>/dev/null || return 4
    "$PINTLE" template r "$1" >"$work/pintle" 2>/dev/null || return 1
    cmp -s "$work/helm" "$work/pintle" && return 0
    "$HELM" template r "$1" >"$work/again" 2>/dev/null
    cmp -s "$work/helm" "$work/again" && return 1
    [ "$(wc -l <"$work/helm")" = "$(wc -l <"$work/pintle")" ] || return 1
    diff "$work/helm" "$work/again" | grep -Eq 'LS0tLS1CRUdJTi|-----BEGIN' && return 3
    return 2
}

# row NAME CHART GROUP: one line, and one of figures for the means into $work/rows
row() {
    local status=0 bytes
    same "$2" || status=$?
    case $status in
    1) bad "$1: other output than helm's"; return ;;
    3) set -- "$1" "$2" keys ;;
    4) return ;;
    esac
    bytes=$(wc -c <"$work/helm")
    "$MEASURE" "$RUNS" "$PINTLE" template r "$2" -- "$HELM" template r "$2" 2>/dev/null | paste -sd ' ' |
        awk -v name="$1" -v group="$3" -v bytes="$bytes" -v rows="$work/rows" '{
            printf "%-52s %8.2f %8.2f %6.1f  %8.2f %8.2f %6.1f  %6d %6d %5.1f  %s\n", name, $5, $1, $5 / $1, $6, $2, $6 / $2, $7, $3, $7 / $3, group
            print group, bytes, $5, $1, $6, $2, $7, $3 >>rows
        }'
}

header() {
    printf '%-52s %8s %8s %6s  %8s %8s %6s  %6s %6s %5s\n' chart 'helm ms' pintle wall 'helm cpu' pintle cpu 'helm K' pintle mem
}

tests/bench/charts/grow.sh "$work/empty" templates 0
: >"$work/rows"
if want corpus || want worst; then
    header
    row "(empty chart)" "$work/empty" empty
fi
if want corpus && [ ! -d "$corpus/charts" ]; then
    echo "SKIP corpus: there is none at $corpus (set CORPUS)"
elif want corpus; then
    for chart in "$corpus"/charts/*.tgz; do
        name=$(basename "$chart" .tgz)
        [[ $name =~ ${ONLY:-.} ]] && row "$name" "$chart" corpus
    done
fi
if want worst; then
    tests/bench/charts/worst.sh "$work/worst"
    row "(worst chart)" "$work/worst" worst
fi
awk '
    function means(group, from,    k) {
        if (n[group])
            printf "%s, %d charts: wall %.1fx, CPU %.1fx, memory %.1fx (geometric means)\n", group, n[group], exp(wall[group] / n[group]), exp(cpu[group] / n[group]), exp(mem[group] / n[group])
    }
    $1 == "empty" { wall0_h = $3; wall0_p = $4; cpu0_h = $5; cpu0_p = $6 }
    {
        n[$1]++; wall[$1] += log($3 / $4); cpu[$1] += log($5 / $6); mem[$1] += log($7 / $8)
        if ($1 != "corpus") next
        if ($2 > largest) { largest = $2; large = sprintf("%d bytes: wall %.1fx, CPU %.1fx, memory %.1fx", $2, $3 / $4, $5 / $6, $7 / $8) }
        if ($5 > cpu0_h && $6 > cpu0_p && $3 > wall0_h && $4 > wall0_p) {
            net++; net_cpu += log(($5 - cpu0_h) / ($6 - cpu0_p)); net_wall += log(($3 - wall0_h) / ($4 - wall0_p))
        }
    }
    END {
        means("corpus"); means("keys")
        if (large) print "largest output, " large
        if (net) printf "without an empty chart on both sides: wall %.1fx, CPU %.1fx\n", exp(net_wall / net), exp(net_cpu / net)
        means("worst")
    }' "$work/rows"

# The slope of log cost over log number: the least squares of four sizes, each 2.5 times the one before.
slope() { # WHAT SMALLEST
    local n=$2 cpu empty
    read -r _ empty _ < <("$MEASURE" "$RUNS" "$PINTLE" template r "$work/empty")
    : >"$work/points"
    for _ in 1 2 3 4; do
        tests/bench/charts/grow.sh "$work/grow-$1-$n" "$1" "$n"
        same "$work/grow-$1-$n" || bad "$1 $n: other output than helm's"
        read -r _ cpu _ < <("$MEASURE" "$RUNS" "$PINTLE" template r "$work/grow-$1-$n")
        echo "$n $cpu $empty" >>"$work/points"
        rm -rf "$work/grow-$1-$n"
        n=$((n * 5 / 2))
    done
    awk -v what="$1" '{
            x = log($1); y = log($2 - $3 > 0.01 ? $2 - $3 : 0.01); sx += x; sy += y; sxx += x * x; sxy += x * y; k++
            text = text sprintf(" %d: %.2f", $1, $2 - $3)
        }
        END { printf "%-10s slope %.2f   (CPU ms over the empty chart%s)\n", what, (k * sxy - sx * sy) / (k * sxx - sx * sx), text }' "$work/points"
}
if want slopes; then
    slope templates 200
    slope subcharts 40
    slope tpl 2000
    slope include 4000
    slope values 2000
    slope list 400
fi

if want start; then
    echo 'int main(void) { return 0; }' >"$work/nothing.c"
    "${CC:-cc}" -O2 -o "$work/nothing" "$work/nothing.c"
    "$MEASURE" $((4 * RUNS)) "$work/nothing" -- "$PINTLE" version | paste -sd ' ' |
        awk '{ printf "pintle version: wall %.2f ms, CPU %.2f ms over an empty C program, %d KiB\n", $5 - $1, $6 - $2, $7 }'
fi
exit $failed
