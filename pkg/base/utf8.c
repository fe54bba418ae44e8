/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <utf8proc.h>

static bool continues(struct str s, size_t i)
{
    return i < s.n && ((unsigned char)s.p[i] & 0xc0) == 0x80;
}

static uint32_t low6(struct str s, size_t i)
{
    return (unsigned char)s.p[i] & 0x3f;
}

size_t utf8_decode(struct str s, uint32_t *ret)
{
    unsigned char c = (unsigned char)s.p[0];
    uint32_t r;

    if (c < 0x80) {
        *ret = c;
        return 1;
    }
    if (c >= 0xc2 && c < 0xe0 && continues(s, 1)) {
        *ret = (uint32_t)(c & 0x1f) << 6 | low6(s, 1);
        return 2;
    }
    if (c >= 0xe0 && c < 0xf0 && continues(s, 1) && continues(s, 2)) {
        r = (uint32_t)(c & 0x0f) << 12 | low6(s, 1) << 6 | low6(s, 2);
        if (r >= 0x800 && (r < 0xd800 || r > 0xdfff)) {
            *ret = r;
            return 3;
        }
    }
    if (c >= 0xf0 && c < 0xf5 && continues(s, 1) && continues(s, 2) && continues(s, 3)) {
        r = (uint32_t)(c & 0x07) << 18 | low6(s, 1) << 12 | low6(s, 2) << 6 | low6(s, 3);
        if (r >= 0x10000 && r <= 0x10ffff) {
            *ret = r;
            return 4;
        }
    }
    *ret = UTF8_INVALID;
    return 1;
}

/* Offset of the first byte that is not ASCII. */
static size_t ascii_run(struct str s)
{
    size_t i = 0;
    uint64_t w;

    for (; i + 8 <= s.n; i += 8) {
        memcpy(&w, s.p + i, 8);
        if (w & 0x8080808080808080u)
            break;
    }
    while (i < s.n && (unsigned char)s.p[i] < 0x80)
        i++;
    return i;
}

bool utf8_valid(struct str s)
{
    uint32_t r;

    for (;;) {
        s = str_sub(s, ascii_run(s), s.n);
        if (s.n == 0)
            return true;
        size_t n = utf8_decode(s, &r);

        if (r == UTF8_INVALID)
            return false;
        s = str_sub(s, n, s.n);
    }
}

size_t utf8_count(struct str s)
{
    size_t count = 0;
    uint32_t r;

    while (s.n > 0) {
        size_t n = ascii_run(s);

        count += n;
        s = str_sub(s, n, s.n);
        if (s.n > 0) {
            s = str_sub(s, utf8_decode(s, &r), s.n);
            count++;
        }
    }
    return count;
}

void utf8_lower(struct str s, struct buf *out)
{
    while (s.n > 0) {
        size_t n = ascii_run(s);
        char *to = buf_reserve(out, n);
        uint32_t rune;

        if (!to)
            return;
        for (size_t i = 0; i < n; i++)
            to[i] = ascii_lower(s.p[i]);
        buf_commit(out, n);
        s = str_sub(s, n, s.n);
        if (s.n == 0)
            return;
        n = utf8_decode(s, &rune);
        buf_add_rune(out, rune == UTF8_INVALID ? 0xFFFD : (uint32_t)utf8proc_tolower((utf8proc_int32_t)rune));
        s = str_sub(s, n, s.n);
    }
}
