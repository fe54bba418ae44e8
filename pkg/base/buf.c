/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void buf_done(struct buf *b)
{
    free(b->p);
    b->p = NULL;
    b->n = b->cap = 0;
    b->failed = false;
}

void buf_clear(struct buf *b)
{
    buf_truncate(b, 0);
    b->failed = false;
}

void buf_truncate(struct buf *b, size_t n)
{
    assert(n <= b->n);
    b->n = n;
    if (b->p)
        b->p[n] = '\0';
}

char *buf_reserve(struct buf *b, size_t n)
{
    size_t want, cap;

    if (b->failed || n > b->max || b->n > b->max - n) {
        b->failed = true;
        return NULL;
    }
    want = b->n + n + 1;
    if (want > b->cap) {
        cap = b->cap ? b->cap : 64;
        while (cap < want)
            cap += cap / 2 + 32;
        if (cap - 1 > b->max)
            cap = b->max + 1;
        b->p = xrealloc(b->p, cap);
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_commit(struct buf *b, size_t n)
{
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    char *to;

    if (n == 0)
        return;
    to = buf_reserve(b, n);
    if (!to)
        return;
    memcpy(to, p, n);
    buf_commit(b, n);
}

void buf_addc(struct buf *b, char c)
{
    if (b->n + 1 < b->cap && b->n < b->max && !b->failed) {
        b->p[b->n++] = c;
        b->p[b->n] = '\0';
        return;
    }
    buf_add(b, &c, 1);
}

void buf_adds(struct buf *b, const char *z)
{
    buf_add(b, z, strlen(z));
}

void buf_addstr(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    char text[256];
    va_list args, again;
    char *to;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    assert(n >= 0);
    if ((size_t)n < sizeof(text)) {
        buf_add(b, text, (size_t)n);
    } else {
        to = buf_reserve(b, (size_t)n);
        if (to) {
            vsnprintf(to, (size_t)n + 1, fmt, again);
            buf_commit(b, (size_t)n);
        }
    }
    va_end(again);
}

void buf_add_repeat(struct buf *b, char c, size_t n)
{
    char *to;

    if (n == 0)
        return;
    to = buf_reserve(b, n);
    if (!to)
        return;
    memset(to, c, n);
    buf_commit(b, n);
}

void buf_add_rune(struct buf *b, uint32_t r)
{
    char c[4];
    size_t n;

    if (r > 0x10ffff || (r >= 0xd800 && r <= 0xdfff))
        r = 0xfffd;
    if (r < 0x80) {
        buf_addc(b, (char)r);
        return;
    }
    if (r < 0x800) {
        c[0] = (char)(0xc0 | (r >> 6));
        n = 2;
    } else if (r < 0x10000) {
        c[0] = (char)(0xe0 | (r >> 12));
        n = 3;
    } else {
        c[0] = (char)(0xf0 | (r >> 18));
        n = 4;
    }
    for (size_t i = 1; i < n; i++)
        c[i] = (char)(0x80 | ((r >> (6 * (n - 1 - i))) & 0x3f));
    buf_add(b, c, n);
}

int buf_check(const struct buf *b, struct err **err)
{
    if (!b->failed)
        return 0;
    return err_set(err, ERRC_LIMIT, "larger than the limit of %zu bytes", b->max);
}

const char *buf_z(struct buf *b)
{
    return b->p ? b->p : "";
}

char *buf_take(struct buf *b)
{
    char *p = b->p ? b->p : xstrdup("");

    b->p = NULL;
    b->n = b->cap = 0;
    return p;
}
