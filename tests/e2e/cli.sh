#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The program's outside as a shell sees it: exit status, streams, completion scripts that load.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
PINTLE=${PINTLE_ASAN:-$PWD/build/asan/pintle}

check_status "version" 0 "$PINTLE" version
check_status "unknown command" 1 "$PINTLE" bogus
check_status "unknown flag" 1 "$PINTLE" version --bogus
check_status "no command" 0 "$PINTLE"
check_eq "errors go to standard error" "$("$PINTLE" version --bogus 2>/dev/null)" ""
check_eq "errors begin with Error:" "$("$PINTLE" version --bogus 2>&1)" "Error: unknown flag: --bogus"
check_eq "short version" "$("$PINTLE" version --short)" "v$(cat VERSION)"
check_eq "version as a template" "$("$PINTLE" version --template '{{ .Version }} {{ .GoVersion }}')" "v$(cat VERSION) "
check_has "a field that no version has" "$("$PINTLE" version --template '{{ .Nope }}' 2>&1)" 'no entry for key "Nope"'
check_eq "a colour mode that is none" "$("$PINTLE" version --color x 2>&1)" 'Error: invalid color mode "x": must be one of: never, auto, always'
check_eq "version as JSON" "$("$PINTLE" version -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')" "v$(cat VERSION)"
check_status "help of every command" 0 bash -c "set -e; for c in \$($PINTLE | sed -n '/^Available/,/^Flags/s/^  \([a-z]*\) .*/\1/p'); do $PINTLE \$c --help; done"
check_eq "a full disk is an error" "$("$PINTLE" version 2>&1 >/dev/full)" "Error: write to standard output: No space left on device"
check_status "the bash completion loads" 0 bash -c "$(printf '%q' "$PINTLE") completion bash | bash -n"
complete() { # WORDS…: what bash would offer for the last one
    bash -c 'source <("$0" completion bash); compopt() { :; }; COMP_WORDS=(pintle "$@"); COMP_CWORD=$#; _pintle; echo "${COMPREPLY[*]}"' "$PINTLE" "$@"
}
check_eq "completion of a command" "$(complete vers)" "version"
check_eq "completion of a flag" "$(complete version --sho)" "--short"
check_eq "completion knows the command behind a flag" "$(complete -n web version --outp)" "--output="
for shell in zsh fish; do
    if command -v $shell >/dev/null; then
        "$PINTLE" completion $shell >"${TMPDIR:-/tmp}/completion.$$"
        check_status "the $shell completion loads" 0 $shell -n "${TMPDIR:-/tmp}/completion.$$"
        rm -f "${TMPDIR:-/tmp}/completion.$$"
    else
        skip "the $shell completion loads" "$shell is not installed"
    fi
done
finish
