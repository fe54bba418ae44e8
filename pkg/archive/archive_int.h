/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the files of pkg/archive share: blocks of DEFLATE (RFC 1951) as Go's compress/flate writes them. */
#include "base/buf.h"
#include "base/str.h"

#define GOFLATE_TOKENS 16384 /* of one block */

/* A literal byte, or a match: GOFLATE_MATCH | (length - 3) << 16 | (distance - 1). */
#define GOFLATE_MATCH 0x80000000u

struct goflate_bits {
    struct buf *out;
    uint64_t bits;
    unsigned n;
};

/* Writes a block that is not the last one in the smallest of its three forms. `plain` is what the tokens stand for; p is
 * NULL when Go's encoder no longer has those bytes, so that they cannot be stored as they are. */
void goflate_write_block(struct goflate_bits *w, const uint32_t *tokens, size_t n, struct str plain);
/* The empty stored block at the end. */
void goflate_write_end(struct goflate_bits *w);
