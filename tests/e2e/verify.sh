#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# H27: verify, and --verify of pull, template, show and dependency: whatever is not signed as it should be is refused, and nothing of it
# is left.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
. tests/lib/signatures.sh
export HELM_CONFIG_HOME=$work/config HELM_CACHE_HOME=$work/cache HELM_DATA_HOME=$work/helm
mkdir "$work/pulled"
pull() { "$pintle" pull web --repo "$base/$1" -d "$work/pulled" "${@:2}" >"$work/pull.out" 2>&1; }
depend() { # CASE COMMAND: a chart that needs it
    rm -rf "$work/top" && mkdir "$work/top"
    printf 'apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies: [{ name: web, version: 1.0.0, repository: "%s" }]\n' "$base/$1" \
        >"$work/top/Chart.yaml"
    "$pintle" dependency "$2" "$work/top" --verify --keyring "$work/ring.gpg" >"$work/pull.out" 2>&1
}
pull good --verify --keyring "$work/ring.gpg" && pass || fail "pull --verify" "$(cat "$work/pull.out")"
check_has "pull --verify tells who signed" "$(cat "$work/pull.out")" 'Signed by: good <good@example.com>'
check_status "what was pulled" 0 "$pintle" verify "$work/pulled/web-1.0.0.tgz" --keyring "$work/ring.gpg"
check_eq "pull --verify keeps both files" "$(ls "$work/pulled")" $'web-1.0.0.tgz\nweb-1.0.0.tgz.prov'
rm "$work"/pulled/*
refused() { # CASE TEXT: by all that have --verify
    local command
    pull "$1" --verify --keyring "$work/ring.gpg" && fail "pull --verify of $1"
    check_has "pull --verify of $1" "$(cat "$work/pull.out")" "$2"
    check_eq "pull --verify of $1 leaves nothing" "$(ls "$work/pulled")" ""
    for command in "template x" "show chart"; do
        # shellcheck disable=SC2086
        "$pintle" $command web --repo "$base/$1" --verify --keyring "$work/ring.gpg" >"$work/out" 2>"$work/err" && fail "$command --verify of $1"
        check_eq "$command --verify of $1 prints nothing" "$(cat "$work/out")" ""
        check_has "$command --verify of $1" "$(cat "$work/err")" "$2"
    done
    for command in update build; do
        [ "$1 $command" = "missing build" ] && continue
        depend "$1" $command && fail "dependency $command --verify of $1"
        check_has "dependency $command --verify of $1" "$(cat "$work/pull.out")" "$2"
        check_eq "dependency $command --verify of $1 leaves nothing" "$(find "$work/top" -type f)" "$work/top/Chart.yaml"
    done
}
unfetched="failed to fetch provenance \"$base/"
refused missing "$unfetched"
refused broken "$unfetched"
refused closed "$unfetched"
refused bomb "$unfetched"
refused empty 'signature block not found'
refused garbage 'signature block not found'
refused page 'signature block not found'
refused digest 'sha256 sum does not match for web-1.0.0.tgz'
refused chart 'provenance does not contain a SHA for a file named "web-1.0.0.tgz"'
refused expired 'openpgp: key expired'
refused stranger 'openpgp: signature made by unknown entity'
refused two 'more than one signature'
refused changed 'openpgp: invalid signature'
# build verifies what can be verified, as helm does.
depend missing build && pass || fail "dependency build --verify without a provenance file" "$(cat "$work/pull.out")"
check_has "it says so" "$(cat "$work/pull.out")" "WARNING: Verification not found for $base/missing/web-1.0.0.tgz: "
depend good update && pass || fail "dependency update --verify" "$(cat "$work/pull.out")"

# ---- package --sign: what it makes is good for our own verify, and for gpg -----------------------------------------------------
g --export-secret-keys good@example.com other@example.com >"$work/secret.gpg"
g --export-secret-keys --armor good@example.com >"$work/secret.asc"
export GNUPGHOME=$work/gnupg
gpg --batch --quiet --no-tty --pinentry-mode loopback --passphrase 'pass pw-4711' --quick-generate-key 'locked <locked@example.com>' ed25519 sign never 2>>"$work/gpg.log"
gpg --batch --quiet --no-tty --pinentry-mode loopback --passphrase 'pass pw-4711' --export-secret-keys locked@example.com >"$work/locked.gpg" 2>>"$work/gpg.log"
g --export >"$work/all.gpg"
printf 'pass pw-4711\nmore\n' >"$work/passphrase"
printf 'wrong\n' >"$work/wrong"
signs() { # NAME KEY KEYRING [FLAG…]
    rm -rf "$work/signed" && mkdir "$work/signed"
    "$pintle" package "$work/src/web" -d "$work/signed" --sign --key "$2" --keyring "$work/$3" "${@:4}" >"$work/sign.out" 2>&1 </dev/null
    check_eq "$1: exit status" "$?" 0
    check_has "$1: verify" "$("$pintle" verify "$work/signed/web-1.0.0.tgz" --keyring "$work/all.gpg" 2>&1)" "Signed by: "
    check_has "$1: gpg" "$(LC_ALL=C gpg --verify "$work/signed/web-1.0.0.tgz.prov" 2>&1)" "Good signature"
    check_eq "$1: the passphrase is not told" "$(grep -c pw-4711 "$work/sign.out")" 0
}
signs "signed by a whole name" 'good <good@example.com>' secret.gpg
signs "signed by a part of it" other@ secret.gpg
signs "signed from an armored keyring" good secret.asc
signs "signed by a locked key" locked locked.gpg --passphrase-file "$work/passphrase"
cat "$work/passphrase" | "$pintle" package "$work/src/web" -d "$work/signed" --sign --key locked --keyring "$work/locked.gpg" --passphrase-file - >/dev/null 2>&1
check_eq "the passphrase from a pipe" "$?" 0
while IFS='|' read -r key ring file text; do
    rm -rf "$work/signed"
    check_eq "--key $key of $ring" "$("$pintle" package "$work/src/web" -d "$work/signed" --sign --key "$key" --keyring "$work/$ring" ${file:+--passphrase-file "$work/$file"} 2>&1 </dev/null)" "Error: $text"
    check_eq "--key $key of $ring: no signature" "$(find "$work/signed" -name '*.prov')" ""
done <<T
locked|locked.gpg|wrong|openpgp: invalid data: private key checksum failure
nobody|secret.gpg||private key not found
example.com|secret.gpg||more than one key contain the id "example.com"
good|all.gpg||provided key is not a private key. Try providing a keyring with secret keys
good|none.gpg||open $work/none.gpg: no such file or directory
locked|locked.gpg|none|open $work/none: no such file or directory
T
# librnp that cannot be opened is an error that names the package.
mkdir "$work/lib" && : >"$work/lib/librnp.so.0"
LD_LIBRARY_PATH=$work/lib pull good --verify --keyring "$work/ring.gpg" && fail "pull --verify without librnp"
check_has "without librnp" "$(cat "$work/pull.out")" 'provenance files cannot be verified: librnp is not installed'
check_has "without librnp the package is named" "$(cat "$work/pull.out")" '(Debian package librnp0)'
check_eq "without librnp nothing is left" "$(ls "$work/pulled")" ""
LD_LIBRARY_PATH=$work/lib pull good && pass || fail "pull needs no librnp" "$(cat "$work/pull.out")"
finish
