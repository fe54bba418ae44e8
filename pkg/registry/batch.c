/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a piece follow each other in one text, which is given to libyaml as a list. Where an entry begins there is a block for
 * certain, since no line of an entry stands in the column of its dash outside of quotation marks. So when the list has as many items as
 * there are blocks, each block is one entry, as it would be by itself: anchors are those of one item. */
#include "registry/batch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "registry/sink.h"
#include "yaml/yaml.h"

enum { PIECES = 6, WORKERS = 2, PIECE_BYTES = 96 * 1024, MARKS_MAX = 1024 };

/* Where a chart begins or ends. */
struct mark {
    size_t at; /* the number of the block behind it */
    bool begins;
    struct str name; /* of the chart that begins */
};

/* Blocks of the same column, of one chart or several, and what libyaml made of them. */
struct piece {
    struct buf text;
    size_t *ends, n, cap; /* of the blocks */
    struct mark *marks;
    size_t n_marks, cap_marks;
    size_t column;
    struct arena *arena; /* of names and of what is below */
    struct arena_mark empty;
    struct registry_version *items;
    bool *valid;
    bool certain;
    bool read; /* guarded by the mutex */
};

/* Pieces are numbered as they come. Those from `handed` on are there; from `given` on they are being cut, before they are the
 * workers' until they are read. */
struct index_batch {
    struct index_sink *to;
    struct piece pieces[PIECES];
    size_t handed;

    pthread_t threads[WORKERS];
    int n_threads;
    pthread_mutex_t mutex;
    pthread_cond_t wanted, done;
    size_t given, taken; /* guarded by the mutex, as is `stop` */
    bool stop;
};

static struct piece *piece_at(struct index_batch *b, size_t number)
{
    return &b->pieces[number % PIECES];
}

static struct str block_at(const struct piece *p, size_t i)
{
    return str_sub(buf_str(&p->text), i == 0 ? 0 : p->ends[i - 1], p->ends[i]);
}

/* ---- reading one ------------------------------------------------------------------------------------------------------- */

/* yml_read_fn */
static int read_text(void *ctx, char *to, size_t n, struct err **err)
{
    struct str *rest = ctx;

    UNUSED(err);
    n = MIN(n, rest->n);
    if (n > 0)
        memcpy(to, rest->p, n);
    *rest = str_sub(*rest, n, rest->n);
    return (int)n;
}

static bool next_is(struct yml_reader *events, enum yml_event_kind kind)
{
    struct yml_event e;

    return yml_reader_next(events, &e, NULL) == 0 && e.kind == kind;
}

/* What is kept of an entry. */
static bool read_item(struct piece *p, struct arena *scratch, struct value entry,
                      struct registry_version *ret)
{
    struct registry_version v;

    if (!index_entry_read(scratch, entry, &v))
        return false;
    *ret = (struct registry_version){ .name = arena_dup(p->arena, v.name),
                                      .version = arena_dup(p->arena, v.version),
                                      .app_version = arena_dup(p->arena, v.app_version),
                                      .description = arena_dup(p->arena, v.description),
                                      .keywords = arena_dup(p->arena, v.keywords) };
    return true;
}

/* One list of as many items as there are blocks, and nothing else. `scratch` is of one entry: it stays in the processor's cache. */
static bool read_list(struct piece *p, struct arena *scratch, struct yml_reader *events)
{
    static const struct yml_options strict = { .strict = true };
    struct arena_mark mark = arena_mark(scratch);
    struct value entry;
    struct yml_event e;

    if (!next_is(events, YML_DOCUMENT) || !next_is(events, YML_LIST))
        return false;
    for (size_t i = 0;; i++) {
        if (yml_reader_next(events, &e, NULL) < 0) /* it must not be asked again */
            return false;
        if (e.kind == YML_LIST_END)
            return i == p->n && next_is(events, YML_END);
        if (i == p->n || yml_reader_value(events, &e, scratch, &strict, &entry, NULL) < 0)
            return false;
        p->valid[i] = read_item(p, scratch, entry, &p->items[i]);
        arena_rewind(scratch, mark);
    }
}

static void read_piece(struct piece *p, struct arena *scratch)
{
    struct str rest = buf_str(&p->text);
    CLEANUP(yml_reader_free) struct yml_reader *events = yml_reader_new(read_text, &rest);

    p->items = ARENA_ARRAY(p->arena, struct registry_version, p->n);
    p->valid = ARENA_ARRAY(p->arena, bool, p->n);
    /* An escaped slash is refused in a text that is read as a whole, as the rows' are. */
    p->certain = p->n == 0 || (!str_contains(rest, STR("\\/")) && read_list(p, scratch, events));
}

static void *run(void *arg)
{
    CLEANUP(arena_free) struct arena *scratch = arena_new(INDEX_TEXT_MAX);
    struct index_batch *b = arg;

    pthread_mutex_lock(&b->mutex);
    while (!b->stop) {
        struct piece *p = piece_at(b, b->taken);

        if (b->taken == b->given) {
            pthread_cond_wait(&b->wanted, &b->mutex);
            continue;
        }
        b->taken++;
        pthread_mutex_unlock(&b->mutex);
        read_piece(p, scratch);
        pthread_mutex_lock(&b->mutex);
        p->read = true;
        pthread_cond_signal(&b->done);
    }
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

/* ---- all of them ------------------------------------------------------------------------------------------------------- */

struct index_batch *index_batch_new(struct index_sink *to)
{
    struct index_batch *b = xcalloc(1, sizeof(*b));

    b->to = to;
    for (size_t i = 0; i < PIECES; i++) {
        b->pieces[i].text = BUF_INIT(SIZE_MAX);
        b->pieces[i].arena = arena_new(INDEX_TEXT_MAX);
        b->pieces[i].empty = arena_mark(b->pieces[i].arena);
    }
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->wanted, NULL);
    pthread_cond_init(&b->done, NULL);
    while (b->n_threads < WORKERS && pthread_create(&b->threads[b->n_threads], NULL, run, b) == 0)
        b->n_threads++; /* without them this thread does all */
    return b;
}

void index_batch_free(struct index_batch *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->mutex);
    b->stop = true;
    pthread_cond_broadcast(&b->wanted);
    pthread_mutex_unlock(&b->mutex);
    for (int i = 0; i < b->n_threads; i++)
        pthread_join(b->threads[i], NULL);
    for (size_t i = 0; i < PIECES; i++) {
        arena_free(b->pieces[i].arena);
        buf_done(&b->pieces[i].text);
        free(b->pieces[i].ends);
        free(b->pieces[i].marks);
    }
    pthread_cond_destroy(&b->done);
    pthread_cond_destroy(&b->wanted);
    pthread_mutex_destroy(&b->mutex);
    free(b);
}

static int apply_mark(struct index_batch *b, const struct mark *m, struct err **err)
{
    int r;

    if (m->begins)
        return index_sink_chart_once(b->to, m->name, err);
    r = index_sink_chart_end(b->to, err);
    return r < 0 ? r : 1;
}

static int deliver(struct index_batch *b, const struct piece *p, struct err **err)
{
    int r = p->certain;
    size_t i = 0;

    for (size_t m = 0; m <= p->n_marks && r == 1; m++) {
        size_t to = m < p->n_marks ? p->marks[m].at : p->n;

        for (; i < to && r >= 0; i++)
            r = index_sink_item(b->to, p->valid[i] ? &p->items[i] : NULL, block_at(p, i), err);
        if (r >= 0)
            r = m < p->n_marks ? apply_mark(b, &p->marks[m], err) : 1;
    }
    return r;
}

/* The oldest piece, as soon as it is read. */
static int hand_over(struct index_batch *b, struct err **err)
{
    struct piece *p = piece_at(b, b->handed);
    int r;

    pthread_mutex_lock(&b->mutex);
    while (!p->read)
        pthread_cond_wait(&b->done, &b->mutex);
    p->read = false;
    pthread_mutex_unlock(&b->mutex);
    r = deliver(b, p, err);
    p->n = p->n_marks = 0;
    buf_clear(&p->text);
    arena_rewind(p->arena, p->empty);
    b->handed++;
    return r;
}

static void give(struct index_batch *b)
{
    struct piece *p = piece_at(b, b->given);

    pthread_mutex_lock(&b->mutex);
    b->given++;
    pthread_cond_signal(&b->wanted);
    pthread_mutex_unlock(&b->mutex);
    if (b->n_threads == 0) {
        CLEANUP(arena_free) struct arena *scratch = arena_new(INDEX_TEXT_MAX);

        read_piece(p, scratch);
        p->read = true;
    }
}

static bool is_read(struct index_batch *b, size_t number)
{
    bool read;

    pthread_mutex_lock(&b->mutex);
    read = piece_at(b, number)->read;
    pthread_mutex_unlock(&b->mutex);
    return read;
}

/* Pieces that are read leave, and one must, when no other can be cut. */
static int give_and_hand_over(struct index_batch *b, struct err **err)
{
    int r = 1;

    give(b);
    while (r == 1 && b->handed < b->given && (b->given - b->handed == PIECES || is_read(b, b->handed)))
        r = hand_over(b, err);
    return r;
}

int index_batch_drain(struct index_batch *b, struct err **err)
{
    struct piece *p = piece_at(b, b->given);
    int r = 1;

    if (p->n + p->n_marks > 0)
        give(b);
    while (r == 1 && b->handed < b->given)
        r = hand_over(b, err);
    return r;
}

static struct mark *add_mark(struct piece *p)
{
    ARRAY_GROW(p->marks, p->cap_marks, p->n_marks + 1);
    p->marks[p->n_marks] = (struct mark){ .at = p->n };
    return &p->marks[p->n_marks++];
}

int index_batch_chart(struct index_batch *b, struct str name, struct err **err)
{
    struct piece *p = piece_at(b, b->given);
    struct mark *m = add_mark(p);

    m->begins = true;
    m->name = arena_dup(p->arena, name);
    /* What is known of the chart already has to be there before its entries. */
    return index_sink_updates(b->to) ? index_batch_drain(b, err) : 1;
}

int index_batch_entry(struct index_batch *b, size_t column, struct str block, struct err **err)
{
    struct piece *p = piece_at(b, b->given);

    if (p->n > 0 && (p->column != column || p->text.n >= PIECE_BYTES)) {
        int r = give_and_hand_over(b, err);

        if (r <= 0)
            return r;
        p = piece_at(b, b->given);
    }
    p->column = column;
    buf_addstr(&p->text, block);
    ARRAY_GROW(p->ends, p->cap, p->n + 1);
    p->ends[p->n++] = p->text.n;
    return 1;
}

int index_batch_chart_end(struct index_batch *b, struct err **err)
{
    struct piece *p = piece_at(b, b->given);

    add_mark(p);
    return p->n_marks >= MARKS_MAX ? give_and_hand_over(b, err) : 1;
}
