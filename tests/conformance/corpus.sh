#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Part of: template
# Renders every case of a corpus of real charts and compares with what Helm printed: standard output byte for byte (but
# for the lines that Helm itself varies), exit status, the words of errors and of warnings.
#
#   tests/conformance/corpus.sh [-o REGEX] [-d N] [-q]
#     -o REGEX  only the cases whose name matches
#     -d N      show the first N differences as diffs
#     -q        what `make test` runs: every chart once, its default case
#
# $CORPUS is the corpus (../shared/corpus beside this tree when unset), $PINTLE the program (build/pintle), $JOBS how
# many at a time (2). Prints a line for each failure, the most frequent causes, and as its last line "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 2
only=.
diffs=0
quick=
while getopts o:d:q opt; do
    case $opt in
    o) only=$OPTARG ;;
    d) diffs=$OPTARG ;;
    q) quick=1 ;;
    *) exit 2 ;;
    esac
done
corpus=${CORPUS:-$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")/../shared/corpus}
program=$(realpath "${PINTLE:-build/pintle}")
if [ ! -f "$corpus/cases.jsonl" ]; then
    echo "SKIP corpus: there is none at $corpus (set CORPUS)"
    echo "0 passed, 0 failed"
    exit 0
fi
corpus=$(realpath "$corpus")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# A line of cases.jsonl as fields between \x1f: case chart values exit deterministic vary golden stderr arguments…
awk -v only="$only" -v quick="$quick" '
    function string(s,    i, c, out, e) { # the JSON string at the start of s; rest is what follows it
        out = ""
        for (i = 2; i <= length(s); i++) {
            c = substr(s, i, 1)
            if (c == "\"") break
            if (c == "\\") {
                e = substr(s, ++i, 1)
                c = e == "n" ? "\n" : e == "t" ? "\t" : e
            }
            out = out c
        }
        rest = substr(s, i + 1)
        return out
    }
    function field(name,    at) { # what follows "name":
        at = index($0, "\"" name "\": ")
        return at ? substr($0, at + length(name) + 4) : ""
    }
    function text(name,    s) { s = field(name); return s ~ /^"/ ? string(s) : "" }
    function word(name,    s) { s = field(name); sub(/[,}].*/, "", s); return s }
    function list(name,    s) { s = field(name); if (s !~ /^\[/) return ""; sub(/\].*/, "", s); return substr(s, 2) }
    {
        name = text("case")
        if (name !~ only || (quick && name !~ /--default$/)) next
        err = text("stderr"); gsub(/\n/, "\036", err)
        line = name "\037" text("chart") "\037" text("values") "\037" word("exit") "\037" word("deterministic") \
            "\037" list("vary") "\037" text("golden") "\037" err
        s = field("args"); s = substr(s, 2)
        while (s ~ /^"/) { line = line "\037" string(s); s = rest; sub(/^, */, "", s) }
        print line
    }' "$corpus/cases.jsonl" >"$work/cases"
[ -s "$work/cases" ] || { echo "no case matches"; exit 2; }

mask() { # NUMBERS: empties these lines
    awk -v numbers="$1" 'BEGIN { n = split(numbers, a, /, */); for (i = 1; i <= n; i++) skip[a[i]] = 1 }
        { print (NR in skip) ? "" : $0 }'
}

run_case() { # LINE: result in $work/<case>.{why,diff}
    local f name status=0 why='' err want_err out=$work/$2
    IFS=$'\037' read -r -d '' -a f <<<"$1"
    f[-1]=${f[-1]%$'\n'}
    name=${f[0]}
    local args=(template r "${f[1]}" "${f[@]:8}")
    [ -z "${f[2]}" ] || args+=(-f "${f[2]}")
    (cd "$corpus" && env -i PATH="$PATH" HOME="$work/home" TZ=UTC ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} \
        timeout 120 "$program" "${args[@]}") >"$out.out" 2>"$out.err" </dev/null || status=$?
    gzip -dc "$corpus/${f[6]}" >"$out.want"
    sed -i 's/^time=[^ ]* //' "$out.err"
    if [ "$status" -ne "${f[3]}" ]; then
        why="exit status $status, not ${f[3]}: $(head -n 1 "$out.err" | cut -c 1-200)"
    elif [ "$status" -ne 0 ]; then
        cmp -s "$out.want" "$out.err" || { why="other words: $(head -n 2 "$out.err" | cut -c 1-200)"; cp "$out.err" "$out.out"; }
    else
        want_err=$(tr '\036' '\n' <<<"${f[7]}")
        err=$(<"$out.err")
        if [ "${f[4]}" = false ] && [ -z "${f[5]}" ]; then
            [ "$(wc -l <"$out.want")" = "$(wc -l <"$out.out")" ] || why="another number of lines"
        elif [ -n "${f[5]}" ]; then
            mask "${f[5]}" <"$out.want" >"$out.w" && mv "$out.w" "$out.want"
            mask "${f[5]}" <"$out.out" >"$out.o" && mv "$out.o" "$out.out"
        fi
        if [ -z "$why" ] && ! { [ "${f[4]}" = false ] && [ -z "${f[5]}" ]; }; then
            cmp -s "$out.want" "$out.out" || why="$(diff "$out.want" "$out.out" | sed -n '1,3{s/^/ /;p}' | cut -c 1-150 | tr '\n' ' ')"
        fi
        [ -n "$why" ] || [ "$err" = "$(printf '%s' "$want_err")" ] || why="other words on stderr: $(head -n 1 "$out.err" | cut -c 1-200)"
    fi
    [ -z "$why" ] || { printf '%s: %s\n' "$name" "$why" >"$out.why"; diff -u "$out.want" "$out.out" >"$out.diff"; }
    rm -f "$out.out" "$out.want" "$out.err"
}
export -f run_case mask
export corpus program work
mkdir "$work/home"

# Arguments cannot hold NUL, so lines travel in files: one worker takes each second case.
jobs=${JOBS:-2}
for ((j = 0; j < jobs; j++)); do
    (
        i=0
        while IFS= read -r -d '' line; do
            [ $((i % jobs)) -ne "$j" ] || run_case "$line" "$i"
            i=$((i + 1))
        done < <(awk -v ORS='\0' 1 "$work/cases")
    ) &
done
wait

total=$(wc -l <"$work/cases")
failed=0
for why in $(find "$work" -name '*.why' | sort -V); do
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$(cat "$why")"
    [ "$failed" -gt "$diffs" ] || head -n 60 "${why%.why}.diff"
done
if [ "$failed" -gt 0 ]; then
    echo "most frequent:"
    cat "$work"/*.why | grep -a -- '--' | sed -e 's/^[^:]*: //' -e 's/[0-9][0-9]*/#/g' -e "s/\"[^\"]*\"/#/g" | cut -c 1-90 | sort | uniq -c | sort -rn | head -n 12
fi
echo "$((total - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
