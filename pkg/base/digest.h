/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* digest: cryptographic hashes, from OpenSSL. */
#include "base/base.h"
#include "base/str.h"

enum digest_kind { DIGEST_SHA1, DIGEST_SHA256, DIGEST_SHA512 };
#define DIGEST_BYTES_MAX 64

size_t digest_bytes(enum digest_kind kind); /* 20, 32, 64 */
void digest_raw(enum digest_kind kind, struct str s, unsigned char *out);
void digest_hex(enum digest_kind kind, struct str s,
                char *out); /* lower case; 2 * digest_bytes() + 1 bytes */

#define SHA256_HEX 65 /* with the NUL */
void sha256_hex(struct str s, char out[SHA256_HEX]);

/* Hashing in pieces. */
struct digest;
struct digest *digest_new(enum digest_kind kind) NODISCARD;
void digest_add(struct digest *d, struct str s);
void digest_finish(struct digest *d,
                   unsigned char *out); /* digest_bytes() of them; once; then only digest_free() */
void digest_finish_hex(struct digest *d, char *out); /* once; then only digest_free() */
void digest_free(struct digest *d);
DEFINE_CLEANUP(struct digest *, digest_free)
