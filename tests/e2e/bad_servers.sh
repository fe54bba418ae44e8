#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chart servers that misbehave, for the index and for archives: the object says so by reason, message and one event, nothing
# else is held up, and it is well again when the server is.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
. tests/lib/chart_servers.sh
trap 'servers_stop; dev_end' EXIT

chart good 1.0.0
mkdir "$work/served"
launch bad '^serving' python3 tests/lib/bad_server.py "$work/served"
url=$(sed -n 's/.* at \(http.*\)/\1/p' "$work/bad.out")
dev_start
namespaces team

# how the server behaves | what the Repository says of the index | what the Chart says of the archive
cases='404|IndexNotFound|404 Not Found|FetchFailed|404 Not Found
500|Unavailable|500 Internal Server Error|FetchFailed|500 Internal Server Error
html|IndexInvalid|a web page (text/html)|ChartInvalid|does not appear to be a gzipped archive
close|Unavailable|EOF|FetchFailed|EOF
silent|Timeout|timed out|Timeout|timed out
slow|Timeout|timed out|Timeout|timed out
endless|Timeout|timed out|Timeout|timed out
short|Unavailable|bytes remaining to read|FetchFailed|bytes remaining to read
headers|IndexTooLarge|bytes of headers|ChartInvalid|bytes of headers
loop|Unavailable|more than 10 redirects|FetchFailed|more than 10 redirects
empty|IndexInvalid|empty index.yaml file|ChartInvalid|does not appear to be a gzipped archive'

serve() { # NAME HOW [FILE]
    mkdir -p "$work/served/$1"
    pack good 1.0.0 "$work/served/$1"
    "$pintle" repo index "$work/served/$1" || fail "index of $1"
    echo "$2" >"$work/served/$1${3:+.$3}.how"
}

while IFS="|" read -r how _; do
    serve "index-$how" "$how"
    serve "archive-$how" good
    serve "archive-$how" "$how" good-1.0.0.tgz
    case $how in silent | slow | endless) timeout=1s ;; *) timeout=10s ;; esac
    repository "index-$how" "$url/index-$how" '{ name: good }' ", timeout: $timeout"
    repository "archive-$how" "$url/archive-$how" '{ name: good }' ", timeout: $timeout"
done <<<"$cases"
serve main good
repository main "$url/main" '{ name: good }'
release calm good 1.0.0
says release team/calm True Deployed installed
while IFS="|" read -r how index index_text archive archive_text; do
    refuses repository "default/index-$how" "$index" "$index_text"
    says repository "default/archive-$how" True Synced '1 charts'
    refuses chart "default/good-archive-$how" "$archive" "$archive_text"
done <<<"$cases"

# More than was announced is not read.
serve long long
repository long "$url/long" '{ name: good }'
says chart default/good-long True Synced '1.0.0'

# ---- redirects: what the other server saw of the password is in its log -------------------------------------------------------
cp -r "$work/served/main" "$work/www"
servers_start home "$work" --log "$work/home.log" --login ann:pw-4711
servers_start other "$work" --log "$work/other.log"
home=http://127.0.0.1:${port[home]}
other=http://127.0.0.1:${port[other]}
printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: login, namespace: pintle-system }\nstringData: { user: ann, password: pw-4711 }\n' | apply
for code in 301 302 303 307 308; do
    repository "index-$code" "$home/redirect/$code/$other/www" '{ name: good }' ', authSecret: login'
    mkdir "$work/to-$code"
    sed "s|- good-1.0.0.tgz|- $home/redirect/$code/$other/www/good-1.0.0.tgz|" "$work/www/index.yaml" >"$work/to-$code/index.yaml"
    repository "archive-$code" "$home/to-$code" '{ name: good }' ', authSecret: login'
done
for code in 301 302 303 307 308; do
    says chart "default/good-index-$code" True Synced '1.0.0'
    says chart "default/good-archive-$code" True Synced '1.0.0'
done
check_eq "the other server answered all redirects" "$(grep -o 'GET /www/[^ ]*' "$work/other.log" | sort -u | wc -l)" 2
check_eq "and saw 0 credentials" "$(grep -vc -- ' -$' "$work/other.log")" 0
check_eq "the repository's server saw them" "$(grep -c 'Basic' "$work/home.log")" "$(grep -c . "$work/home.log")"

# ---- H1: certificates ------------------------------------------------------------------------------------------------------
servers_certificates "$work/tls"
servers_certificates "$work/strange"
before=$(date -u -d '-2 days' +%Y%m%d%H%M%SZ)
yesterday=$(date -u -d '-1 day' +%Y%m%d%H%M%SZ)
tomorrow=$(date -u -d '+1 day' +%Y%m%d%H%M%SZ)
later=$(date -u -d '+2 days' +%Y%m%d%H%M%SZ)
servers_certificate "$work/tls" expired IP:127.0.0.1 "$before" "$yesterday"
servers_certificate "$work/tls" future IP:127.0.0.1 "$tomorrow" "$later"
servers_certificate "$work/tls" name DNS:charts.example.com "$before" "$later"
servers_certificate "$work/tls" sound IP:127.0.0.1 "$before" "$later"
cp "$work"/strange/server.crt "$work/tls/strange.crt" && cp "$work/strange/server.key" "$work/tls/strange.key"
"$pintle" apply -f - >/dev/null <<Y || fail "the CA"
apiVersion: v1
kind: Secret
metadata: { name: ca, namespace: pintle-system }
data: { ca.crt: $(base64 -w0 "$work/tls/ca.crt") }
Y
while IFS='|' read -r name text; do
    servers_start "$name" "$work" --tls "$work/tls/$name.crt" "$work/tls/$name.key" --log "$work/$name.log"
    repository "tls-$name" "https://127.0.0.1:${port[$name]}/www" '{ name: good }' ', authSecret: ca'
    if [ "$name" = sound ]; then
        says repository "default/tls-$name" True Synced '1 charts'
    else
        refuses repository "default/tls-$name" Unavailable "$text"
        check_eq "$name: nothing was asked of it" "$(cat "$work/$name.log" 2>/dev/null)" ''
    fi
done <<'T'
expired|certificate has expired
future|certificate is not yet valid
name|no alternative certificate subject name matches
strange|certificate
sound|
T

# ---- and all is well again -----------------------------------------------------------------------------------------------
rm -f "$work"/served/archive-*.tgz.how
for file in "$work"/served/index-*.how; do echo good >"$file"; done
while IFS="|" read -r how _; do
    says repository "default/index-$how" True Synced '1 charts, 1 versions'
    says chart "default/good-index-$how" True Synced '1.0.0'
    says chart "default/good-archive-$how" True Synced '1.0.0'
done <<<"$cases"
finish
