/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* buf: the one type to build text in: it grows, has a maximum, and remembers a failed write.
 *
 * buf_add*() return nothing; ask buf_check() once at the end. After the maximum was hit nothing more is added.
 * The content is always NUL-terminated. */
#include "base/base.h"
#include "base/str.h"

struct err;

struct buf {
    char *p; /* NULL until something was added */
    size_t n, cap;
    size_t max;  /* bytes of content allowed */
    bool failed; /* something did not fit */
};

#define BUF_INIT(max_bytes) ((struct buf){ .max = (max_bytes) })

void buf_done(struct buf *b); /* releases the content; b can be used again */
DEFINE_CLEANUP_VALUE(struct buf, buf_done)
void buf_clear(struct buf *b);              /* empty again, memory kept */
void buf_truncate(struct buf *b, size_t n); /* n <= b->n */

void buf_add(struct buf *b, const void *p, size_t n);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *z);
void buf_addstr(struct buf *b, struct str s);
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_add_repeat(struct buf *b, char c, size_t n);
void buf_add_rune(struct buf *b, uint32_t rune); /* as UTF-8; surrogates and > U+10FFFF become U+FFFD */

/* Makes room for n more bytes and returns where they go, or NULL if they do not fit (then b has failed).
 * Follow with buf_commit() of what was written. */
char *buf_reserve(struct buf *b, size_t n);
void buf_commit(struct buf *b, size_t n);

/* 0, or LIMIT when something did not fit. */
NODISCARD int buf_check(const struct buf *b, struct err **err);

static inline struct str buf_str(const struct buf *b) /* borrowed until the next write */
{
    return (struct str){ b->p ? b->p : "", b->n };
}
const char *buf_z(struct buf *b);        /* NUL-terminated; borrowed; never NULL */
char *buf_take(struct buf *b) NODISCARD; /* the content, owned by the caller (free()); b is empty again */
