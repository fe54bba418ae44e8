/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <assert.h>
#include <stdlib.h>

#include "base/openssl.h"

struct digest {
    EVP_MD_CTX *ctx;
};

static const EVP_MD *algorithm(enum digest_kind kind)
{
    switch (kind) {
    case DIGEST_SHA1:
        return EVP_sha1();
    case DIGEST_SHA256:
        return EVP_sha256();
    case DIGEST_SHA512:
        return EVP_sha512();
    }
    abort();
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
    return (size_t)EVP_MD_get_size(algorithm(kind));
}

void digest_raw(enum digest_kind kind, struct str s, unsigned char *out)
{
    int ok = EVP_Digest(s.p, s.n, out, NULL, algorithm(kind), NULL);

    assert(ok == 1);
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
    int ok;

    d->ctx = EVP_MD_CTX_new();
    assert(d->ctx);
    ok = EVP_DigestInit_ex(d->ctx, algorithm(kind), NULL);
    assert(ok == 1);
    return d;
}

void digest_add(struct digest *d, struct str s)
{
    int ok = EVP_DigestUpdate(d->ctx, s.p, s.n);

    assert(ok == 1);
}

void digest_finish(struct digest *d, unsigned char *out)
{
    int ok = EVP_DigestFinal_ex(d->ctx, out, NULL);

    assert(ok == 1);
}

void digest_finish_hex(struct digest *d, char *out)
{
    unsigned char raw[DIGEST_BYTES_MAX];

    digest_finish(d, raw);
    to_hex(raw, (size_t)EVP_MD_CTX_get_size(d->ctx), out);
}

void digest_free(struct digest *d)
{
    if (!d)
        return;
    EVP_MD_CTX_free(d->ctx);
    free(d);
}
