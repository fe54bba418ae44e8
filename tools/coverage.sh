#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/coverage.sh [TARGET…]: which share of the parsers' lines the committed fuzz corpora reach, as a table of docs/fuzzing.md.
# Builds the fuzz targets with clang's source-based coverage (VARIANT=cover) and replays tests/fuzz/corpus/TARGET.
set -u
cd "$(dirname "$0")/.." || exit 2
out=build/cover/coverage
mkdir -p "$out"
tool() { command -v "$1" || command -v "$1-14" || { echo "coverage: there is no $1 (package llvm)" >&2; exit 1; }; }
profdata=$(tool llvm-profdata) && cov=$(tool llvm-cov) || exit 1

# What each target is there for: the files whose lines count.
declare -A parsers=(
    [archive]="pkg/archive/read.c pkg/archive/plain_tar.c pkg/archive/gzip.c" [deflate]="pkg/archive/goflate*.c pkg/archive/regzip.c"
    [index]="pkg/registry/index*.c pkg/registry/entry.c pkg/registry/twin.c pkg/registry/window.c pkg/registry/sink.c" [oci]="pkg/oci/ref.c pkg/oci/challenge.c pkg/oci/config.c" [pack]="pkg/mirror/pack.c" [bundle]="pkg/mirror/bundle.c"
    [json]="pkg/json/*.c" [jsonpath]="pkg/jsonpath/*.c" [yaml]="pkg/yaml/*.c" [toml]="pkg/toml/*.c" [schema]="pkg/schema/*.c"
    [lint]="pkg/chart/lint_objects.c" [provenance]="pkg/provenance/message.c" [semver]="pkg/semver/*.c" [regex]="pkg/regex/*.c" [strvals]="pkg/chart/strvals*.c"
    [template_parse]="pkg/template/lex.c pkg/template/parse*.c pkg/template/number_node.c pkg/template/tree.c"
    [template_render]="pkg/template/exec.c pkg/template/eval.c pkg/template/print*.c pkg/template/builtins.c pkg/template/fail.c"
    [template_funcs]="pkg/template/funcs*.c pkg/template/go*.c"
)
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(printf '%s\n' "${!parsers[@]}" | sort)
echo "| target | inputs | lines of its parser | reached |"
echo "| --- | ---: | ---: | ---: |"
for target in "${targets[@]}"; do
    program=build/cover/fuzz_$target
    make -s -j2 VARIANT=cover "$program" >&2 || exit 1
    LLVM_PROFILE_FILE=$out/$target.raw "$program" "tests/fuzz/corpus/$target" >"$out/$target.log" || exit 1
    "$profdata" merge -o "$out/$target.data" "$out/$target.raw" || exit 1
    # shellcheck disable=SC2086
    "$cov" report "$program" -instr-profile "$out/$target.data" ${parsers[$target]} >"$out/$target.txt"
    awk -v target="$target" -v inputs="$(awk 'END { print $1 }' "$out/$target.log")" \
        '/^TOTAL/ { print "| " target " | " inputs " | " $8 " | " $10 " |" }' "$out/$target.txt"
done
