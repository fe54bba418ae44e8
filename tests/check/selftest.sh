#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that each gate can fail: a small clean tree passes all of them; then one fault at a time is put in, and the
# gate that is there for it must fail and name it.   selftest.sh [GATE…]: only the proofs of these gates
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/check/gates.sh
only=" $* "
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

put() { mkdir -p "$(dirname "$1")"; cat >"$1"; }
SPDX='/* SPDX-License-Identifier: Apache-2.0 */'

make_clean_tree() {
    mkdir -p tests/lib tools crds cmd/pintle/manifests
    cp "$here/tools/embed.awk" tools/
    cp "$here/cmd/pintle/embedded.h" cmd/pintle/
    echo 'a: 1' >crds/a.yaml
    echo 'b: 2' >cmd/pintle/manifests/b.yaml
    cp "$here/Makefile" "$here/.clang-format" "$here/VERSION" .
    cp -r "$here/tests/check" tests/check
    cp "$here"/tests/lib/check.sh tests/lib/
    printf 'base:\nvalue: base\njson: base value\n' >tests/check/layers.txt
    printf 'base: base_\nvalue: value_\ncmd: cmd_\n' >tests/check/prefixes.txt
    put pkg/base/base.h <<<"$SPDX
#pragma once
#define UNUSED(x) ((void)(x))
int base_one(void);"
    put pkg/base/base.c <<<"$SPDX
#include \"base/base.h\"

int base_one(void)
{
    return 1;
}"
    put pkg/value/value.h <<<"$SPDX
#pragma once
int value_two(void);"
    put pkg/value/value.c <<<"$SPDX
#include \"value/value.h\"

#include \"base/base.h\"

int value_two(void)
{
    return 1 + base_one();
}"
    put cmd/pintle/main.c <<<"$SPDX
#include \"value/value.h\"

int main(void)
{
    return value_two() - 2;
}"
    put pkg/base/limits.h <<<"$SPDX
#pragma once
#define NAME_MAX_BYTES 5"
    put tests/unit/base/base_lib.h <<<"$SPDX
#pragma once
enum { NAME_BYTES = NAME_MAX_BYTES };"
    mkdir -p docs
    printf '| %s | x | tests/lib/check.sh: `pass()` |\n' C{1..13} R{1..11} V{1..5} P{1..6} >docs/yaho.md
    printf '| %s | x | tests/lib/check.sh: `pass()` |\n' H{1..4} H{8,9} H{12..17} H{19..28} C{1..4} N{2,3,7,11} O19 S{1..7} >docs/bad-input.md
    git init -q . && git add -A
}

# prove GATE "what it must say" FUNCTION: FUNCTION puts the fault into a copy of the clean tree.
prove() {
    local gate=$1 text=$2 plant=$3 output
    [ "$only" = "  " ] || [[ $only == *" $gate "* ]] || return 0
    rm -rf "$top/bad"
    cp -r "$top/clean" "$top/bad"
    cd "$top/bad" || exit 2
    "$plant"
    git add -A
    if output=$(tests/check/run.sh "$gate" 2>&1); then
        fail "$gate does not see $plant"
    else
        check_has "$gate sees $plant" "$output" "$text"
    fi
    cd "$here" || exit 2
}

in_value() { put pkg/value/value.c <<<"$SPDX
#include \"value/value.h\"
$1"; }

upward_include() { sed -i '2a #include "value/value.h"' pkg/base/base.c; }
private_include() { put pkg/value/value_int.h <<<"$SPDX
#pragma once"; put pkg/json/json.c <<<"$SPDX
#include \"value/value_int.h\""; }
private_include_of_the_program() { put pkg/value/value_int.h <<<"$SPDX
#pragma once"; sed -i '2a #include "value/value_int.h"' cmd/pintle/main.c; }
unknown_module() { put pkg/stray/stray.c <<<"$SPDX
#include \"base/base.h\""; }
layer_cycle() { printf 'base: value\nvalue: base\n' >tests/check/layers.txt; }
header_without_its_include() { echo 'size_t value_size(void);' >>pkg/value/value.h; }
header_without_guard() { sed -i /pragma/d pkg/value/value.h; }
bad_indent() { sed -i 's/^    return/  return/' pkg/value/value.c; }
nothing_to_format() { git rm -q --cached -- '*.c' '*.h'; find . -name '*.[ch]' -delete; }
long_function() { in_value "int value_two(void)
{
$(yes '    base_one();' | head -n 120)
}"; }
long_file() { yes '/* x */' | head -n 1001 >>pkg/value/value.c; }
machine_path() { echo '/* see /wo''rk/main */' >>pkg/value/value.c; }
unfinished_mark() { echo '/* TO''DO */' >>pkg/value/value.c; }
no_licence_line() { sed -i 1d pkg/value/value.c; }
broken_script() { put tools/x.sh <<<'#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
if true; then'; chmod +x tools/x.sh; }
unused_variable() { sed -i 's/^    return 1/    int unused;\n    return 1/' pkg/value/value.c; }
fall_through() { in_value "
int value_two(void)
{
    switch (base_one()) {
    case 1:
        base_one();
    default:
        return 2;
    }
}"; sed -i '2a #include "base/base.h"' pkg/value/value.c; }
calls_sprintf() { in_value '#include <stdio.h>

int value_two(void)
{
    char text[8];

    return 1 + sprintf(text, "%s", "a");
}'; }
calls_atoi() { in_value '#include <stdlib.h>

int value_two(void)
{
    return atoi("2");
}'; }
calls_malloc() { in_value '#include <stdlib.h>

int value_two(void)
{
    free(malloc(2));
    return 2;
}'; }
wrong_prefix() { sed -i 's/value_two/two/' pkg/value/value.* cmd/pintle/main.c; }
unused_global() { echo 'int value_lonely(void);' >>pkg/value/value.h; printf 'int value_lonely(void)\n{\n    return 3;\n}\n' >>pkg/value/value.c; }
null_dereference() { in_value '#include <stddef.h>

int value_two(void)
{
    int *p = NULL;

    return *p;
}'; }
index_past_the_end() { in_value '
int value_two(void)
{
    int a[2] = { 0, 1 };

    for (int i = 0; i < 3; i++)
        a[0] += a[i];
    return a[0];
}'; }

fault_without_line() { sed -i '/^| R7 /d' docs/yaho.md; }
limit_without_test() { echo '#define BODY_MAX 5' >>pkg/base/limits.h; }
fault_without_test() { sed -i '/^| P5 /s/pass/gone/' docs/yaho.md; }

function_without_cases() {
    mkdir -p tests/data/template docs
    cp "$here/tools/functions.py" tools/
    echo mul >tests/data/template/function_names.txt
    echo '{"values":{}}' >tests/data/template/functions.jsonl
}

here=$PWD
mkdir "$top/clean"
cd "$top/clean" || exit 2
make_clean_tree
if [ "$only" = "  " ]; then
    # shellcheck disable=SC2046
    output=$(tests/check/run.sh $(echo "$FAST_GATES $SLOW_GATES" | sed 's/ selftest//') 2>&1)
    check_eq "the clean tree passes" "$(grep -c '^ok' <<<"$output") $(grep FAIL -A 3 <<<"$output")" "$(wc -w <<<"$FAST_GATES $SLOW_GATES" | awk '{ print $1 - 1 }') "
fi
cd "$here" || exit 2

prove layers "base may not use value" upward_include
prove layers "value_int.h is private to value" private_include
prove layers "value_int.h is private to value" private_include_of_the_program
prove layers "module stray is not in layers.txt" unknown_module
prove layers "names value before its line" layer_cycle
prove headers "value.h does not compile alone" header_without_its_include
prove headers "value.h has no #pragma once" header_without_guard
prove format "clang-format" bad_indent
prove format "no file to look at" nothing_to_format
prove length "120 lines, more than 100" long_function
prove length "lines, more than 1000" long_file
prove names "value.c" machine_path
prove names "value.c" unfinished_mark
prove names "has no SPDX line" no_licence_line
prove scripts "x.sh" broken_script
prove functions "mul has 0 cases" function_without_cases
prove faults "no line for R7" fault_without_line
prove faults "P5: tests/lib/check.sh has no gone()" fault_without_test
prove limits "no test names BODY_MAX" limit_without_test
prove build "unused" unused_variable
prove clang "fall-through" fall_through
prove banned "value.c.o calls sprintf" calls_sprintf
prove banned "value.c.o calls atoi" calls_atoi
prove banned "calls malloc instead of base's" calls_malloc
prove symbols "two does not begin with value_" wrong_prefix
prove symbols "value_lonely is used in no other file" unused_global
prove tidy "null pointer" null_dereference
prove cppcheck "out of bounds" index_past_the_end
finish
