#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The program starts light: `pintle version` costs at most 2.5 ms over an empty C program, and 6 MiB.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
PINTLE=${PINTLE:-$PWD/build/pintle}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

echo 'int main(void) { return 0; }' >"$dir/empty.c"
cc -O2 -o "$dir/empty" "$dir/empty.c"

cc -O2 -D_GNU_SOURCE -o "$dir/measure" tests/bench/measure.c

# Medians of interleaved runs; of three rounds the best, for machines that do other things too.
over_ms=
for _ in 1 2 3; do
    {
        read -r empty_ms _
        read -r pintle_ms _ rss_kib status
    } < <("$dir/measure" 60 "$dir/empty" -- "$PINTLE" version)
    over_ms=$(awk "BEGIN { o = $pintle_ms - $empty_ms; print \"$over_ms\" == \"\" || o < ${over_ms:-0} ? o : ${over_ms:-0} }")
done
check_eq "pintle version: exit status" "$status" 0
echo "pintle version: $over_ms ms over an empty program, $rss_kib KiB"
if awk "BEGIN { exit !($over_ms <= 2.5) }"; then pass; else fail "start takes at most 2.5 ms" "$over_ms ms"; fi
if [ "$rss_kib" -le 6144 ]; then pass; else fail "start takes at most 6 MiB" "$rss_kib KiB"; fi
needed=$(readelf -d "$PINTLE" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
check_eq "libraries that every start loads" "$(grep -Ev '^(libc|libm|ld-linux.*)\.so' <<<"$needed")" ""
check_eq "OpenSSL's objects in the program are digests" "$(nm "$PINTLE" | grep -c ' [Tt] EVP_')" 0
opened=$(LD_DEBUG=libs "$PINTLE" show chart c --repo http://127.0.0.1:9/ 2>&1 | sed -n 's/.*calling init: .*\///p')
check_eq "libraries that a first request opens" \
    "$(grep -Ev '^(libc|libm|ld-linux.*)\.so' <<<"$opened" | sort | tr '\n' ' ')" "libnghttp2.so.14 pintle-curl.so "

# Who reads OpenSSL's configuration from here waits for ever.
mkfifo "$dir/openssl.cnf"
OPENSSL_CONF=$dir/openssl.cnf timeout 10 "$PINTLE" show chart c --repo http://127.0.0.1:9/ >/dev/null 2>&1
check_eq "OpenSSL is set up for TLS alone" "$?" 1
finish
