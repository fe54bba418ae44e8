/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's digests without the rest of OpenSSL: these old functions are three objects of libcrypto.a, linked statically.
 * EVP would open and set up the whole library, 2 ms for the first checksum of a chart. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/digest.h"

#include <openssl/sha.h>
#include <stdlib.h>

union context {
    SHA_CTX sha1;
    SHA256_CTX sha256;
    SHA512_CTX sha512;
};

struct digest {
    enum digest_kind kind;
    union context ctx;
};

static void start(struct digest *d, enum digest_kind kind)
{
    d->kind = kind;
    switch (kind) {
    case DIGEST_SHA1:
        SHA1_Init(&d->ctx.sha1);
        break;
    case DIGEST_SHA256:
        SHA256_Init(&d->ctx.sha256);
        break;
    case DIGEST_SHA512:
        SHA512_Init(&d->ctx.sha512);
        break;
    }
}

void digest_add(struct digest *d, struct str s)
{
    switch (d->kind) {
    case DIGEST_SHA1:
        SHA1_Update(&d->ctx.sha1, s.p, s.n);
        break;
    case DIGEST_SHA256:
        SHA256_Update(&d->ctx.sha256, s.p, s.n);
        break;
    case DIGEST_SHA512:
        SHA512_Update(&d->ctx.sha512, s.p, s.n);
        break;
    }
}

void digest_finish(struct digest *d, unsigned char *out)
{
    switch (d->kind) {
    case DIGEST_SHA1:
        SHA1_Final(out, &d->ctx.sha1);
        break;
    case DIGEST_SHA256:
        SHA256_Final(out, &d->ctx.sha256);
        break;
    case DIGEST_SHA512:
        SHA512_Final(out, &d->ctx.sha512);
        break;
    }
}

static void to_hex(const unsigned char *p, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[p[i] >> 4];
        out[2 * i + 1] = digits[p[i] & 15];
    }
    out[2 * n] = '\0';
}

size_t digest_bytes(enum digest_kind kind)
{
    switch (kind) {
    case DIGEST_SHA1:
        return SHA_DIGEST_LENGTH;
    case DIGEST_SHA256:
        return SHA256_DIGEST_LENGTH;
    case DIGEST_SHA512:
        return SHA512_DIGEST_LENGTH;
    }
    abort();
}

void digest_raw(enum digest_kind kind, struct str s, unsigned char *out)
{
    struct digest d;

    start(&d, kind);
    digest_add(&d, s);
    digest_finish(&d, out);
}

void digest_hex(enum digest_kind kind, struct str s, char *out)
{
    unsigned char raw[DIGEST_BYTES_MAX];

    digest_raw(kind, s, raw);
    to_hex(raw, digest_bytes(kind), out);
}

void sha256_hex(struct str s, char out[SHA256_HEX])
{
    digest_hex(DIGEST_SHA256, s, out);
}

struct digest *digest_new(enum digest_kind kind)
{
    struct digest *d = xcalloc(1, sizeof(*d));

    start(d, kind);
    return d;
}

void digest_finish_hex(struct digest *d, char *out)
{
    unsigned char raw[DIGEST_BYTES_MAX];

    digest_finish(d, raw);
    to_hex(raw, digest_bytes(d->kind), out);
}

void digest_free(struct digest *d)
{
    free(d);
}
