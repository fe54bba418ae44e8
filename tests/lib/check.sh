# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For test scripts: `. tests/lib/check.sh` from the top of the tree. A script reports each check with one call and
# ends with `finish`, which prints "N passed, N failed" as the last line and sets the exit status.
n_passed=0
n_failed=0

pass() { n_passed=$((n_passed + 1)); }
fail() { # NAME [TEXT]
    n_failed=$((n_failed + 1))
    printf 'FAIL %s%s\n' "$1" "${2:+: $2}"
}
skip() { printf 'SKIP %s: %s\n' "$1" "$2"; }
check_eq() { # NAME GOT WANT
    if [ "$2" = "$3" ]; then pass; else fail "$1" "$(printf '\n  got:  %s\n  want: %s' "$2" "$3")"; fi
}
check_has() { # NAME TEXT PART
    case $2 in *"$3"*) pass ;; *) fail "$1" "$(printf '\n  got:  %s\n  it lacks: %s' "$2" "$3")" ;; esac
}
check_status() { # NAME WANT COMMAND...
    local name=$1 want=$2 got=0
    shift 2
    "$@" >/dev/null 2>&1 || got=$?
    check_eq "$name: exit status" "$got" "$want"
}
# wait_for SECONDS COMMAND...: until it succeeds; its last output goes to standard error when it never did.
wait_for() {
    local deadline=$((SECONDS + $1)) output
    shift
    until output=$("$@" 2>&1); do
        if [ "$SECONDS" -ge "$deadline" ]; then
            printf 'gave up on: %s\n%s\n' "$*" "$output" >&2
            return 1
        fi
        sleep 0.2
    done
}
finish() {
    echo "$n_passed passed, $n_failed failed"
    [ "$n_failed" -eq 0 ]
}
