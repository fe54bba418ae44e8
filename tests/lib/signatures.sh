# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # $base and $digest are for the script, $work is tests/lib/dev.sh's
# Keys, and a server of chart repositories whose provenance files are good, bad in each way, absent, or cannot be had. For scripts
# in tests/e2e, after tests/lib/dev.sh. $base/CASE is a repository with web 1.0.0; $www/CASE its folder (tests/lib/bad_server.py);
# $work/ring.gpg has the keys that are trusted.
command -v gpg >/dev/null || { echo "SKIP what is signed: there is no gpg"; finish; exit; }
export GNUPGHOME=$work/gnupg
trap 'gpgconf --kill all 2>/dev/null; dev_end' EXIT
mkdir -m 700 "$GNUPGHOME"

g() { gpg --batch --quiet --yes --no-tty --pinentry-mode loopback --passphrase '' "$@" 2>>"$work/gpg.log"; }
key() { g "${@:4}" --quick-generate-key "$1 <$1@example.com>" "$2" sign "$3"; } # NAME ALGORITHM EXPIRY OPTION…
key good ed25519 never
key other rsa2048 never
key stranger ed25519 never
key expired ed25519 20210101T000000 --faked-system-time 20200101T000000
g --export good@example.com other@example.com expired@example.com >"$work/ring.gpg"
g --export --armor good@example.com >"$work/good.asc"
g --export --armor other@example.com >"$work/other.asc"

chart web 1.0.0
pack web 1.0.0
archive=$work/repo/web-1.0.0.tgz
digest=$(sha256sum "$archive" | cut -d ' ' -f 1)
prov() { # TO NAME DIGEST GPG-OPTION…
    printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n\n...\nfiles:\n  %s: sha256:%s\n' "$2" "$3" | g "${@:4}" --clearsign -o "$1"
}

# ---- servers ---------------------------------------------------------------------------------------------------------
www=$work/www
mkdir "$www"
launch bad '^serving' python3 tests/lib/bad_server.py "$www"
base=$(sed -n 's/.* at \(http.*\)/\1/p' "$work/bad.out")
place() { # NAME: a repository with the chart; its provenance file is a matter of its own
    mkdir -p "$www/$1"
    cp "$archive" "$www/$1/"
    "$pintle" repo index "$www/$1"
    echo good >"$www/$1.how"
    echo 404 >"$www/$1.web-1.0.0.tgz.prov.how"
}
signed() { # NAME: … which is there
    place "$1"
    rm "$www/$1.web-1.0.0.tgz.prov.how"
}
signed good; prov "$www/good/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u good@example.com
signed rsa; prov "$www/rsa/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u other@example.com
place missing
signed empty; : >"$www/empty/web-1.0.0.tgz.prov"
signed garbage; echo garbage >"$www/garbage/web-1.0.0.tgz.prov"
signed digest; prov "$www/digest/web-1.0.0.tgz.prov" web-1.0.0.tgz "00${digest:2}" -u good@example.com
signed chart; prov "$www/chart/web-1.0.0.tgz.prov" api-1.0.0.tgz "$digest" -u good@example.com
signed expired; prov "$www/expired/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u expired@example.com --faked-system-time 20200601T000000
signed stranger; prov "$www/stranger/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u stranger@example.com
signed two; prov "$www/two/web-1.0.0.tgz.prov" web-1.0.0.tgz "$digest" -u good@example.com -u other@example.com
signed changed; sed 's/version: 1.0.0/version: 2.0.0/' "$www/good/web-1.0.0.tgz.prov" >"$www/changed/web-1.0.0.tgz.prov"
place page; echo html >"$www/page.web-1.0.0.tgz.prov.how"
place broken; echo 500 >"$www/broken.web-1.0.0.tgz.prov.how"
place closed; echo close >"$www/closed.web-1.0.0.tgz.prov.how"
signed bomb; { cat "$www/good/web-1.0.0.tgz.prov"; head -c 1048576 /dev/zero | tr '\0' '\n'; } >"$www/bomb/web-1.0.0.tgz.prov"
place endless; echo endless >"$www/endless.web-1.0.0.tgz.prov.how"
