/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/filler.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/relay.h"

enum { BLOCKS = 4, BLOCK_BYTES = 96 * 1024, BLOCK_RECORDS = 1024 };

/* An entry, or a chart that is complete. */
struct record {
    int64_t row;
    size_t n;                 /* bytes of the entry; they follow each other in the block's text */
    struct index_chart chart; /* arena NULL: an entry */
};

struct block {
    struct buf text;
    struct record *records;
    size_t n, cap;
};

struct index_filler {
    struct db_txn *txn;
    struct relay relay;
    struct block blocks[BLOCKS];
    pthread_t thread;
    bool running;
    int r; /* why the thread broke off; written before it did */
    struct err *err;

    /* The thread's own. */
    unsigned char (*hashes)[INDEX_HASH]; /* of the entries since the last chart */
    size_t n_hashes, cap_hashes;
    struct buf catalog;
};

/* ---- the thread ------------------------------------------------------------------------------------------------------------ */

static int write_entry(struct index_filler *f, int64_t row, struct str text, struct err **err)
{
    ARRAY_GROW(f->hashes, f->cap_hashes, f->n_hashes + 1);
    index_hash(text, f->hashes[f->n_hashes++]);
    return index_row_put_entry(f->txn, row, text, err);
}

static int write_chart(struct index_filler *f, struct index_chart *c, struct err **err)
{
    int r;

    assert(c->n == f->n_hashes);
    for (size_t i = 0; i < c->n; i++)
        memcpy(c->items[i].hash, f->hashes[i], INDEX_HASH);
    f->n_hashes = 0;
    buf_clear(&f->catalog);
    r = index_chart_encode(c, &f->catalog, err);
    return r < 0 ? r : index_row_put_chart(f->txn, c->name, buf_str(&f->catalog), err);
}

static int write_block(struct index_filler *f, struct block *b, struct err **err)
{
    struct str text = buf_str(&b->text);
    int r = 0;

    for (size_t i = 0; i < b->n && r == 0; i++) {
        struct record *rec = &b->records[i];

        if (rec->chart.arena)
            r = write_chart(f, &rec->chart, err);
        else
            r = write_entry(f, rec->row, str_sub(text, 0, rec->n), err);
        text = str_sub(text, rec->n, text.n);
    }
    return r;
}

static void block_clear(struct block *b)
{
    for (size_t i = 0; i < b->n; i++)
        index_chart_done(&b->records[i].chart);
    b->n = 0;
    buf_clear(&b->text);
}

static void *run(void *arg)
{
    struct index_filler *f = arg;
    size_t slot;

    while (f->r == 0 && relay_pull(&f->relay, &slot)) {
        f->r = write_block(f, &f->blocks[slot], &f->err);
        block_clear(&f->blocks[slot]);
        relay_drop(&f->relay);
    }
    if (f->r < 0)
        relay_break(&f->relay);
    return NULL;
}

/* ---- who reads the index ---------------------------------------------------------------------------------------------------- */

/* At once what a block may come to, mostly: growing costs more than the bytes. */
static struct buf block_text(void)
{
    struct buf b = BUF_INIT(SIZE_MAX);

    buf_reserve(&b, BLOCK_BYTES + BLOCK_BYTES / 8);
    return b;
}

int index_filler_start(struct db_txn *t, struct index_filler **ret, struct err **err)
{
    struct index_filler *f = xcalloc(1, sizeof(*f));
    int e;

    f->txn = t;
    f->catalog = BUF_INIT(INDEX_TEXT_MAX);
    for (size_t i = 0; i < BLOCKS; i++)
        f->blocks[i].text = block_text();
    relay_init(&f->relay, BLOCKS);
    e = pthread_create(&f->thread, NULL, run, f);
    f->running = e == 0;
    if (e != 0) {
        index_filler_free(f);
        return err_errno(err, e, "a thread for the index database");
    }
    *ret = f;
    return 0;
}

static int take_error(struct index_filler *f, struct err **err)
{
    if (f->r < 0 && err)
        *err = TAKE(f->err);
    return f->r;
}

static int hand_over(struct index_filler *f, struct err **err)
{
    return relay_push(&f->relay) ? 0 : take_error(f, err);
}

static struct record *add_record(struct block *b)
{
    ARRAY_GROW(b->records, b->cap, b->n + 1);
    b->records[b->n] = (struct record){ 0 };
    return &b->records[b->n++];
}

int index_filler_entry(struct index_filler *f, int64_t row, struct str text, struct err **err)
{
    struct block *b = &f->blocks[f->relay.open];
    struct record *rec = add_record(b);

    rec->row = row;
    rec->n = text.n;
    buf_addstr(&b->text, text);
    return b->text.n >= BLOCK_BYTES ? hand_over(f, err) : 0;
}

int index_filler_chart(struct index_filler *f, struct index_chart *c, struct err **err)
{
    struct block *b = &f->blocks[f->relay.open];

    add_record(b)->chart = *c;
    *c = (struct index_chart){ 0 };
    return b->n >= BLOCK_RECORDS ? hand_over(f, err) : 0;
}

static void join(struct index_filler *f)
{
    pthread_join(f->thread, NULL);
    f->running = false;
}

int index_filler_finish(struct index_filler *f, struct err **err)
{
    int r = hand_over(f, err);

    relay_end(&f->relay);
    join(f);
    return r < 0 ? r : take_error(f, err);
}

void index_filler_free(struct index_filler *f)
{
    if (!f)
        return;
    if (f->running) {
        relay_break(&f->relay);
        join(f);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        block_clear(&f->blocks[i]);
        buf_done(&f->blocks[i].text);
        free(f->blocks[i].records);
    }
    err_free(f->err);
    buf_done(&f->catalog);
    free(f->hashes);
    relay_done(&f->relay);
    free(f);
}
