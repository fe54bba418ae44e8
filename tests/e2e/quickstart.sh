#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make quickstart: the examples become Ready on pintle dev, and it leaves nothing behind.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if TMPDIR=$work tools/quickstart.sh >"$work/out" 2>&1; then pass; else fail "quickstart ends with exit status 0" "$(tail -n 30 "$work/out")"; fi
for kind in repository repogroup chart config values release releasegroup; do
    check_eq "a $kind is Ready" "$(grep -Eq "(^| )$kind.pintle.dev/[a-z-]+ +True" "$work/out" && echo yes)" yes
done
check_eq "three release records" "$(grep -c '^sh.helm.release.v1' "$work/out")" 3
check_eq "three ConfigMaps of webapp" "$(grep -cE '^helm-(tmpl|crds|default)-examples-webapp-1.0.0 ' "$work/out")" 3
check_eq "the deployment runs" "$(grep -c '^deployment.apps/shop-webapp *3/3' "$work/out")" 1
check_eq "nothing is left" "$(find "$work" -mindepth 1 ! -name out)" ""
finish
