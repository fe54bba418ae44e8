# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # $dir is the script's
# A command as helm runs it and as pintle runs it: for scripts in tests/conformance, after tests/lib/check.sh, with $HELM, $PINTLE
# and a folder $dir in which h and p are.

run_one() { # PROGRAM FOLDER ARGS…: out, err, status, tree in FOLDER.*
    local program=$1 folder=$2 status=0
    shift 2
    rm -rf "$folder" "$folder".*
    mkdir -p "$folder/there"
    (cd "$folder" && "$program" "$@" >"$folder.out" 2>"$folder.err" <"${stdin:-/dev/null}") || status=$?
    echo $status >"$folder.status"
    (cd "$folder" && find . -mindepth 1 -exec stat -c '%n %F %a' {} + -type f -exec sha256sum {} + | sort) >"$folder.tree"
}
same() { # ARGS…: everything is equal
    run_one "$HELM" "$dir/h/x" "$@"
    rm -rf "$dir/absolute"
    run_one "$PINTLE" "$dir/p/x" "$@"
    compare "$*"
}
compare() { # NAME: what the two left; each has its own name
    local what
    sed -i 's/"helm \([a-z]\)/"pintle \1/; s/^Usage:  helm/Usage:  pintle/' "$dir/h/x.err"
    for what in status out err tree; do
        check_eq "$1 [$what]" "$(cat "$dir/p/x.$what")" "$(cat "$dir/h/x.$what")"
    done
}
both_fail() { # ARGS…: exit status and files are equal; the error is one, in words of its own
    run_one "$HELM" "$dir/h/x" "$@"
    run_one "$PINTLE" "$dir/p/x" "$@"
    check_eq "$* [status]" "$(cat "$dir/p/x.status")" 1
    check_eq "$* [helm's status]" "$(cat "$dir/h/x.status")" 1
    check_eq "$* [tree]" "$(cat "$dir/p/x.tree")" "$(cat "$dir/h/x.tree")"
    check_has "$* [err]" "$(tail -n 1 "$dir/p/x.err")" "Error: "
}
