#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/go.sh: prints the directory of a go program of version 1.26 or newer, which the real tools are built with:
#
#   PATH=$(tools/go.sh):$PATH
#
# Debian 12 has an older one. That is enough to fetch the newer one, which the Go project publishes as a module too, into
# the module cache, checked by Go's checksum database. Without any Go, packages.txt's section "conformance" is installed.
set -eu
cd "$(dirname "$0")/.."
wanted=1.26.8

new_enough() { # GO
    GOTOOLCHAIN=local "$1" version 2>/dev/null | awk '{ sub(/go/, "", $3); split($3, v, "."); exit !(v[1] > 1 || v[2] >= 26) }'
}
find_go() { # any, the newest first
    local go
    for go in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go-*/bin/go; do
        if [ -x "$go" ]; then echo "$go"; return; fi
    done
    return 1
}

go=$(find_go) || { tools/packages.sh conformance >&2 && go=$(find_go); } ||
    { echo "go: there is no Go here, and it cannot be installed" >&2; exit 1; }
if ! new_enough "$go"; then
    module=golang.org/toolchain@v0.0.1-go$wanted.$("$go" env GOOS)-$("$go" env GOARCH)
    (cd / && GOFLAGS=-mod=mod GOTOOLCHAIN=local "$go" mod download "$module" >&2) ||
        { echo "go: $go is older than 1.26, and $module cannot be fetched" >&2; exit 1; }
    root=$("$go" env GOMODCACHE)/$module
    find "$root/bin" "$root/pkg/tool" -type f ! -perm -100 -exec chmod a+x {} + # modules have no such bits
    go=$root/bin/go
    new_enough "$go" || { echo "go: $go does not run" >&2; exit 1; }
fi
dirname "$(realpath "$go")"
