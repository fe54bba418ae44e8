#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/slim_curl.sh CC OUT: the system's libcurl.a, linked with what HTTP and HTTPS need and nothing else, as a library of
# one file. It opens in a sixth of the time of libcurl.so.4, which brings thirty libraries for LDAP, SSH, RTMP and Kerberos.
# It exports what pkg/http/curl.c asks for. Where an archive is missing or the link fails it says so and makes no file:
# pintle then opens libcurl.so.4.
set -eu
cc=$1 out=$2
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

give_up() {
    echo "note: no $out, so libcurl is opened with all its libraries: $1" >&2
    rm -f "$out"
    exit 0
}

# libnghttp2.a is not made for shared libraries; the system's libcurl has brought the shared one.
archives=(libcurl.a libssl.a libcrypto.a libpsl.a libidn2.a libunistring.a libbrotlidec.a libbrotlicommon.a libzstd.a libz.a)
for name in "${archives[@]}"; do
    [ -f "$($cc -print-file-name="$name")" ] || give_up "there is no $name"
done

# Protocols and logins that http.c never asks for (CURLOPT_PROTOCOLS_STR; basic authentication only): to call one is a
# fault of ours. curl_global_init() calls libssh2_init(), and wants 0.
cat >"$work/absent.c" <<'EOF'
long slim_absent(void);
long slim_none(void);
long slim_absent(void)
{
    __builtin_trap();
}
long slim_none(void)
{
    return 0;
}

/* curl_global_init() wants OpenSSL set up, which takes longer than to open it. The first TLS connection wants it again: the
 * same is done then. */
int __real_OPENSSL_init_ssl(unsigned long options, const void *settings);
int __wrap_OPENSSL_init_ssl(unsigned long options, const void *settings);
int __wrap_OPENSSL_init_ssl(unsigned long options, const void *settings)
{
    static unsigned long wanted;

    if (wanted == 0) {
        wanted = options;
        return 1;
    }
    return __real_OPENSSL_init_ssl(options | wanted, settings);
}
EOF
absent=$(nm "$($cc -print-file-name=libcurl.a)" 2>/dev/null |
    awk '$1 == "U" && $2 ~ /^(RTMP_|ber_|gss_|GSS_C_|ldap_|libssh2_)/ { seen[$2] = 1 }
         END { for (s in seen) printf "-Wl,--defsym=%s=%s\n", s, s == "libssh2_init" ? "slim_none" : "slim_absent" }' | sort)
exported=$(grep -o 'SYMBOL([a-z_]*)' "$here/pkg/http/curl.c" | sed 's/SYMBOL(\(.*\))/curl_\1/' | grep -v '^curl_member$')
{
    echo 'IDN2_0.0.0 { local: _idn2_*; };' # libidn2.a names a version of its own
    echo "SLIM { global: $(sed 's/$/;/' <<<"$exported") local: *; };"
} >"$work/exported.map"

# shellcheck disable=SC2086 # one option a word
$cc -O2 -fPIC -shared -Wl,-z,relro,-z,now,-z,defs,-z,pack-relative-relocs -Wl,-Bsymbolic -Wl,--gc-sections \
    -Wl,--wrap=OPENSSL_init_ssl -Wl,--as-needed -s \
    -Wl,--version-script="$work/exported.map" $(sed 's/^/-Wl,-u,/' <<<"$exported") $absent "$work/absent.c" \
    -Wl,--start-group "${archives[@]/#/-l:}" -l:libnghttp2.so.14 -Wl,--end-group -lpthread -ldl \
    -o "$work/slim.so" 2>"$work/log" || give_up "$(tail -n 1 "$work/log")"
# Copied, as the program is: see the Makefile.
cp "$work/slim.so" "$out.new" && mv "$out.new" "$out"
