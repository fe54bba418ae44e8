/* SPDX-License-Identifier: Apache-2.0 */
/* Events that a thread of its own gets from libyaml, which is most of the work of reading a large text. */
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/relay.h"
#include "yaml/yaml_int.h"

enum { BLOCKS = 4, BLOCK_EVENTS = 4096, BLOCK_BYTES = 128 * 1024 };

#define NO_TEXT UINT32_MAX

/* Its texts follow each other in the block's. */
struct record {
    uint8_t kind;
    bool plain;
    uint32_t text, tag, anchor; /* bytes; NO_TEXT: there is none */
    size_t line;
};

struct block {
    struct record records[BLOCK_EVENTS];
    size_t n;
    struct buf text;
};

struct yml_ahead {
    struct yml_reader *from; /* the thread's until it is over */
    struct relay relay;
    pthread_t thread;
    struct block *blocks;
    int r; /* what ended the events; written before the last block was handed over */
    struct err *err;

    /* Who reads: */
    struct block *block; /* NULL: none is open */
    size_t at, text_at;
};

/* ---- the thread ------------------------------------------------------------------------------------------------------------ */

static uint32_t put_text(struct block *b, struct str s)
{
    if (!s.p)
        return NO_TEXT;
    buf_addstr(&b->text, s);
    return (uint32_t)s.n;
}

static void put_event(struct block *b, const struct yml_event *e)
{
    struct record *rec = &b->records[b->n++];

    *rec = (struct record){ .kind = (uint8_t)e->kind, .plain = e->plain, .line = e->line };
    rec->text = put_text(b, e->text);
    rec->tag = put_text(b, e->tag);
    rec->anchor = put_text(b, e->anchor);
}

static void *run(void *arg)
{
    struct yml_ahead *a = arg;
    bool wanted = true;

    while (wanted) {
        struct block *b = &a->blocks[a->relay.open];
        struct yml_event e = { .kind = YML_END };

        a->r = yml_reader_parse(a->from, &e, &a->err);
        if (a->r == 0)
            put_event(b, &e);
        if (a->r < 0 || e.kind == YML_END)
            break;
        if (b->n == BLOCK_EVENTS || b->text.n >= BLOCK_BYTES)
            wanted = relay_push(&a->relay);
    }
    if (wanted && relay_push(&a->relay))
        relay_end(&a->relay);
    return NULL;
}

/* ---- who reads --------------------------------------------------------------------------------------------------------------- */

struct yml_ahead *yml_ahead_start(struct yml_reader *from)
{
    struct yml_ahead *a = xcalloc(1, sizeof(*a));

    a->from = from;
    a->blocks = xcalloc(BLOCKS, sizeof(*a->blocks));
    for (size_t i = 0; i < BLOCKS; i++)
        a->blocks[i].text = BUF_INIT(SIZE_MAX);
    relay_init(&a->relay, BLOCKS);
    if (pthread_create(&a->thread, NULL, run, a) == 0)
        return a;
    a->from = NULL;
    yml_ahead_free(a);
    return NULL;
}

void yml_ahead_free(struct yml_ahead *a)
{
    if (!a)
        return;
    if (a->from) {
        relay_break(&a->relay);
        pthread_join(a->thread, NULL);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        buf_done(&a->blocks[i].text);
    relay_done(&a->relay);
    err_free(a->err);
    free(a->blocks);
    free(a);
}

static void close_block(struct yml_ahead *a)
{
    a->block->n = 0;
    buf_clear(&a->block->text);
    a->block = NULL;
    relay_drop(&a->relay);
}

/* False: there are no more events. */
static bool open_block(struct yml_ahead *a)
{
    size_t slot;

    if (a->block && a->at < a->block->n)
        return true;
    if (a->block)
        close_block(a);
    if (!relay_pull(&a->relay, &slot))
        return false;
    a->block = &a->blocks[slot];
    a->at = a->text_at = 0;
    return a->block->n > 0;
}

static struct str take_text(struct yml_ahead *a, uint32_t n)
{
    struct str s;

    if (n == NO_TEXT)
        return STR_NONE;
    s = str_sub(buf_str(&a->block->text), a->text_at, a->text_at + n);
    a->text_at += n;
    return s;
}

int yml_ahead_next(struct yml_ahead *a, struct yml_event *ret, struct err **err)
{
    const struct record *rec;

    *ret = (struct yml_event){ .kind = YML_END };
    if (!open_block(a)) {
        if (a->r < 0 && err)
            *err = TAKE(a->err);
        return a->r;
    }
    rec = &a->block->records[a->at++];
    ret->kind = rec->kind;
    ret->plain = rec->plain;
    ret->line = rec->line;
    ret->text = take_text(a, rec->text);
    ret->tag = take_text(a, rec->tag);
    ret->anchor = take_text(a, rec->anchor);
    return 0;
}
