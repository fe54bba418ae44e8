#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chart servers that misbehave, for the index and for archives: the object says so by reason, message and one event, nothing
# else is held up, and it is well again when the server is.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh

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
close|Unavailable|Empty reply|FetchFailed|Empty reply
silent|Timeout|timed out|Timeout|timed out
slow|Timeout|timed out|Timeout|timed out
endless|Timeout|timed out|Timeout|timed out'

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

# ---- and all is well again -----------------------------------------------------------------------------------------------
rm -f "$work"/served/archive-*.tgz.how
for file in "$work"/served/index-*.how; do echo good >"$file"; done
while IFS="|" read -r how _; do
    says repository "default/index-$how" True Synced '1 charts, 1 versions'
    says chart "default/good-index-$how" True Synced '1.0.0'
    says chart "default/good-archive-$how" True Synced '1.0.0'
done <<<"$cases"
finish
