/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "archive/archive.h"
#include "archive/archive_int.h"

/* The matcher of Go's compress/flate at its default level (deflate.go, level 6). Go slides its window in steps of half
 * its size; here the whole text is in memory, and `base` is where Go's window would begin: a match never reaches before
 * it. */
enum {
    WINDOW = 32768,
    HASH_BITS = 17,
    MATCH_MIN = 4,
    MATCH_MAX = 258,
    FAR_MATCH_MIN = 5, /* shorter ones only pay when they are near */
    NEAR = 4096,
    LOOKAHEAD = MATCH_MIN + MATCH_MAX,
    LAZY = 16, /* no second look behind a match of this length */
    NICE = 128,
    CHAIN = 128,
    STEP = 65536, /* zlib's output at a time */
};

struct matcher {
    const unsigned char *p;
    size_t n, base, block; /* block: where the pending tokens begin */
    bool block_lost;       /* that has slid out of Go's window */
    struct goflate_bits bits;
    uint32_t *tokens;
    size_t n_tokens;
    uint32_t *head, *prev; /* position + 1; 0: none */
    size_t candidate;      /* what the hash chain of the current place begins with, + 1 */
};

static uint32_t hash4(const unsigned char *p)
{
    uint32_t v = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];

    return (v * 0x1e35a7bdu) >> (32 - HASH_BITS);
}

static void insert(struct matcher *m, size_t at)
{
    uint32_t h;

    if (at + MATCH_MIN > m->n)
        return;
    h = hash4(m->p + at);
    m->candidate = m->head[h];
    m->prev[at % WINDOW] = m->head[h];
    m->head[h] = (uint32_t)at + 1;
}

static unsigned match_length(const unsigned char *a, const unsigned char *b, unsigned max)
{
    unsigned n = 0;

    while (n < max && a[n] == b[n])
        n++;
    return n;
}

/* Longest match along the chain that is longer than MATCH_MIN - 1; its length, or 0. */
static unsigned find_match(const struct matcher *m, size_t at, size_t left, unsigned *ret_distance)
{
    unsigned max = (unsigned)MIN(left, (size_t)MATCH_MAX), nice = MIN(max, (unsigned)NICE),
             best = MATCH_MIN - 1;
    size_t lowest = at > m->base + WINDOW ? at - WINDOW : m->base, i = m->candidate - 1;

    for (int tries = CHAIN; tries > 0; tries--) {
        if (m->p[at + best] == m->p[i + best]) {
            unsigned n = match_length(m->p + i, m->p + at, max);

            if (n > best && (n >= FAR_MATCH_MIN || at - i <= NEAR)) {
                best = n;
                *ret_distance = (unsigned)(at - i);
                if (n >= nice)
                    break;
            }
        }
        if (at - i == WINDOW || m->prev[i % WINDOW] < lowest + 1)
            break;
        i = m->prev[i % WINDOW] - 1;
    }
    return best >= MATCH_MIN ? best : 0;
}

static void end_block(struct matcher *m, size_t at)
{
    struct str plain = { m->block_lost ? NULL : (const char *)m->p + m->block, at - m->block };

    goflate_write_block(&m->bits, m->tokens, m->n_tokens, plain);
    m->n_tokens = 0;
    m->block = at;
    m->block_lost = false;
}

static void add_token(struct matcher *m, uint32_t token, size_t end)
{
    m->tokens[m->n_tokens++] = token;
    if (m->n_tokens == GOFLATE_TOKENS)
        end_block(m, end);
}

/* Go refills its window when less than LOOKAHEAD is left of what it holds. */
static void slide(struct matcher *m, size_t at)
{
    if (m->n - m->base <= 2 * WINDOW || m->base + 2 * WINDOW - at >= LOOKAHEAD)
        return;
    m->base += WINDOW;
    m->block_lost = m->block_lost || m->block < m->base;
}

static void find_tokens(struct matcher *m)
{
    unsigned length = 0, distance = 0; /* of the match that begins one byte before `at` */
    bool pending = false;              /* that byte is not written yet */
    size_t at = 0;

    while (slide(m, at), at < m->n) {
        unsigned before = length, before_distance = distance;
        size_t lowest = at > m->base + WINDOW ? at - WINDOW : m->base, left = m->n - at;

        insert(m, at);
        length = 0;
        if (m->candidate >= lowest + 1 && left > MAX(before, (unsigned)MATCH_MIN - 1) && before < LAZY)
            length = find_match(m, at, left, &distance);
        if (before > 0 && length <= before) {
            size_t end = at + before - 1;

            while (++at < end)
                insert(m, at);
            pending = false;
            length = 0;
            add_token(m, GOFLATE_MATCH | (before - 3) << 16 | (before_distance - 1), at);
            continue;
        }
        if (pending)
            add_token(m, m->p[at - 1], at);
        pending = true;
        at++;
    }
    if (pending)
        m->tokens[m->n_tokens++] = m->p[at - 1];
    if (m->n_tokens > 0)
        end_block(m, at);
}

static int deflate_go(struct str text, struct buf *out, struct err **err)
{
    struct matcher m = { .p = (const unsigned char *)text.p, .n = text.n, .bits = { .out = out } };

    if (text.n >= UINT32_MAX)
        return err_set(err, ERRC_LIMIT, "more than 4 GiB");
    m.tokens = xmalloc(GOFLATE_TOKENS * sizeof(*m.tokens));
    m.head = xcalloc((size_t)1 << HASH_BITS, sizeof(*m.head));
    m.prev = xcalloc(WINDOW, sizeof(*m.prev));
    find_tokens(&m);
    goflate_write_end(&m.bits);
    free(m.tokens);
    free(m.head);
    free(m.prev);
    return buf_check(out, err);
}

static int deflate_zlib(struct str text, int level, int memory, struct buf *out, struct err **err)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)text.p, .avail_in = (uInt)text.n };
    int r = Z_OK;

    if (text.n >= UINT32_MAX)
        return err_set(err, ERRC_LIMIT, "more than 4 GiB");
    if (deflateInit2(&z, level, Z_DEFLATED, -15, memory, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(err, ERRC_INTERNAL, "zlib cannot be started");
    while (r == Z_OK) {
        size_t room = MIN(out->max - MIN(out->n, out->max), (size_t)STEP);
        char *to = buf_reserve(out, MAX(room, (size_t)1));

        if (!to)
            break;
        z.next_out = (Bytef *)to;
        z.avail_out = (uInt)room;
        r = deflate(&z, Z_FINISH);
        buf_commit(out, room - z.avail_out);
    }
    deflateEnd(&z);
    return buf_check(out, err);
}

int archive_deflate(enum archive_deflater how, struct str text, struct buf *out, struct err **err)
{
    static const struct {
        int level, memory;
    } zlib[] = {
        [ARCHIVE_DEFLATE_ZLIB_6] = { 6, 8 },
        [ARCHIVE_DEFLATE_ZLIB_9] = { 9, 8 },
        [ARCHIVE_DEFLATE_ZLIB_1] = { 1, 8 },
        [ARCHIVE_DEFLATE_ZLIB_9_9] = { 9, 9 },
    };

    if (how == ARCHIVE_DEFLATE_GO)
        return deflate_go(text, out, err);
    return deflate_zlib(text, zlib[how].level, zlib[how].memory, out, err);
}
