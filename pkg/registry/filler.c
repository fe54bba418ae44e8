/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/filler.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

enum { BLOCKS = 3, BLOCK_BYTES = 256 * 1024, BLOCK_RECORDS = 1024 };

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
    struct block blocks
        [BLOCKS]; /* a ring: `filled` ones from `first` on; the thread's own until it has moved `first` */
    size_t open;  /* the one that is being filled; the reader's */
    pthread_t thread;
    bool running;

    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t moved;
    size_t first, filled;
    bool last, stop; /* nothing more will come; what is there is not wanted */
    int r;
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

    pthread_mutex_lock(&f->mutex);
    for (;;) {
        struct block *b = &f->blocks[f->first];
        struct err *err = NULL;
        int r;

        while (f->filled == 0 && !f->last && !f->stop)
            pthread_cond_wait(&f->moved, &f->mutex);
        if (f->filled == 0 || f->stop || f->r < 0)
            break;
        pthread_mutex_unlock(&f->mutex);
        r = write_block(f, b, &err);
        block_clear(b);
        pthread_mutex_lock(&f->mutex);
        f->r = r;
        f->err = err;
        f->first = (f->first + 1) % BLOCKS;
        f->filled--;
        pthread_cond_signal(&f->moved);
    }
    pthread_mutex_unlock(&f->mutex);
    return NULL;
}

/* ---- who reads the index ---------------------------------------------------------------------------------------------------- */

int index_filler_start(struct db_txn *t, struct index_filler **ret, struct err **err)
{
    struct index_filler *f = xcalloc(1, sizeof(*f));
    int e;

    f->txn = t;
    f->catalog = BUF_INIT(INDEX_TEXT_MAX);
    for (size_t i = 0; i < BLOCKS; i++)
        f->blocks[i].text = BUF_INIT(SIZE_MAX);
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->moved, NULL);
    e = pthread_create(&f->thread, NULL, run, f);
    f->running = e == 0;
    if (e != 0) {
        index_filler_free(f);
        return err_errno(err, e, "a thread for the index database");
    }
    *ret = f;
    return 0;
}

/* With the mutex held. */
static int take_error(struct index_filler *f, struct err **err)
{
    if (f->r < 0 && err)
        *err = TAKE(f->err);
    return f->r;
}

/* The block that is being filled goes to the thread; the next one is free. */
static int hand_over(struct index_filler *f, struct err **err)
{
    int r;

    f->open = (f->open + 1) % BLOCKS;
    pthread_mutex_lock(&f->mutex);
    f->filled++;
    pthread_cond_signal(&f->moved);
    while (f->filled == BLOCKS && f->r == 0)
        pthread_cond_wait(&f->moved, &f->mutex);
    r = take_error(f, err);
    pthread_mutex_unlock(&f->mutex);
    return r;
}

static struct record *add_record(struct block *b)
{
    ARRAY_GROW(b->records, b->cap, b->n + 1);
    b->records[b->n] = (struct record){ 0 };
    return &b->records[b->n++];
}

int index_filler_entry(struct index_filler *f, int64_t row, struct str text, struct err **err)
{
    struct block *b = &f->blocks[f->open];
    struct record *rec = add_record(b);

    rec->row = row;
    rec->n = text.n;
    buf_addstr(&b->text, text);
    return b->text.n >= BLOCK_BYTES ? hand_over(f, err) : 0;
}

int index_filler_chart(struct index_filler *f, struct index_chart *c, struct err **err)
{
    struct block *b = &f->blocks[f->open];

    add_record(b)->chart = *c;
    *c = (struct index_chart){ 0 };
    return b->n >= BLOCK_RECORDS ? hand_over(f, err) : 0;
}

static void end_thread(struct index_filler *f, bool stop)
{
    pthread_mutex_lock(&f->mutex);
    f->last = true;
    f->stop = stop;
    pthread_cond_signal(&f->moved);
    pthread_mutex_unlock(&f->mutex);
    pthread_join(f->thread, NULL);
    f->running = false;
}

int index_filler_finish(struct index_filler *f, struct err **err)
{
    int r = hand_over(f, err);

    end_thread(f, r < 0);
    return r < 0 ? r : take_error(f, err);
}

void index_filler_free(struct index_filler *f)
{
    if (!f)
        return;
    if (f->running)
        end_thread(f, true);
    for (size_t i = 0; i < BLOCKS; i++) {
        block_clear(&f->blocks[i]);
        buf_done(&f->blocks[i].text);
        free(f->blocks[i].records);
    }
    err_free(f->err);
    buf_done(&f->catalog);
    free(f->hashes);
    pthread_cond_destroy(&f->moved);
    pthread_mutex_destroy(&f->mutex);
    free(f);
}
