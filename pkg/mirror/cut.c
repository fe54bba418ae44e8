/* SPDX-License-Identifier: Apache-2.0 */
#include "mirror/mirror_int.h"

/* Content-defined pieces (a gear hash, as in FastCDC): about 768 bytes each. Small, because what one version changes in a
 * values.yaml is a line here and there; what pieces cost is in the list of runs, and neighbours join into runs. */
enum { PIECE_MIN = 256, PIECE_MAX = 16384, TAR_BLOCK = 512, MAGIC_AT = 257 };
#define CUT_MASK ((uint64_t)511 << 40)

/* splitmix64: any fixed sequence does, but it must never change, or archives of before and after share nothing. */
static uint64_t gear(unsigned char c)
{
    uint64_t z = (c + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool is_tar_header(struct str s, size_t i)
{
    return i + TAR_BLOCK <= s.n && memcmp(s.p + i + MAGIC_AT, "ustar", 5) == 0;
}

size_t mirror_cut(struct str s, size_t at)
{
    size_t end = MIN(s.n, (size_t)PIECE_MAX), block = (TAR_BLOCK - at % TAR_BLOCK) % TAR_BLOCK;
    uint64_t hash = 0;

    if (block == 0 && is_tar_header(s, 0))
        return TAR_BLOCK;
    for (size_t i = block; i < end; i += TAR_BLOCK)
        if (i > 0 && is_tar_header(s, i))
            end = i;
    for (size_t i = MIN((size_t)PIECE_MIN, end); i < end; i++) {
        hash = (hash << 1) + gear((unsigned char)s.p[i]);
        if ((hash & CUT_MASK) == 0)
            return i + 1;
    }
    return end;
}
