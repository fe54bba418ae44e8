/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a batch follow each other in one text, of which each thread gives a part to libyaml as a list. Where an entry begins
 * there is a block for certain, since no line of an entry stands in the column of its dash outside of quotation marks. So when the
 * list has as many items as there are blocks, each block is one entry, as it would be by itself: anchors are those of one item. */
#include "registry/batch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "yaml/yaml.h"

enum { BATCH_BYTES = 192 * 1024, ALONE_BYTES = 8 * 1024 };

/* A run of blocks, and what libyaml made of it. */
struct part {
    struct str text;
    const size_t *ends; /* of the blocks, in the batch's text */
    size_t start;       /* of the first one, there */
    size_t n;
    struct arena *scratch; /* of one entry: it stays in the processor's cache */
    struct arena *arena;   /* of what follows */
    struct arena_mark empty;
    struct registry_version *items;
    bool *valid;
    bool certain;
};

struct index_batch {
    struct buf text;
    size_t *ends, n, cap;
    struct part mine, other;

    pthread_t thread;
    bool running;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    bool wanted, stop; /* guarded by the mutex; while `wanted` the other part is the thread's */
};

/* ---- one part --------------------------------------------------------------------------------------------------------- */

static struct str block_at(const struct part *p, size_t i)
{
    size_t from = i == 0 ? p->start : p->ends[i - 1];

    return str_sub(p->text, from - p->start, p->ends[i] - p->start);
}

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
static bool read_item(struct part *p, struct value entry, struct registry_version *ret)
{
    struct registry_version v;

    if (!index_entry_read(p->scratch, entry, &v))
        return false;
    *ret = (struct registry_version){ .name = arena_dup(p->arena, v.name),
                                      .version = arena_dup(p->arena, v.version),
                                      .app_version = arena_dup(p->arena, v.app_version),
                                      .description = arena_dup(p->arena, v.description),
                                      .keywords = arena_dup(p->arena, v.keywords) };
    return true;
}

/* One list of as many items as there are blocks, and nothing else. */
static bool read_list(struct part *p, struct yml_reader *events)
{
    static const struct yml_options strict = { .strict = true };
    struct arena_mark mark = arena_mark(p->scratch);
    struct value entry;
    struct yml_event e;

    if (!next_is(events, YML_DOCUMENT) || !next_is(events, YML_LIST))
        return false;
    for (size_t i = 0;; i++) {
        if (yml_reader_next(events, &e, NULL) < 0) /* it must not be asked again */
            return false;
        if (e.kind == YML_LIST_END)
            return i == p->n && next_is(events, YML_END);
        if (i == p->n || yml_reader_value(events, &e, p->scratch, &strict, &entry, NULL) < 0)
            return false;
        p->valid[i] = read_item(p, entry, &p->items[i]);
        arena_rewind(p->scratch, mark);
    }
}

static void read_part(struct part *p)
{
    struct str rest = p->text;
    CLEANUP(yml_reader_free) struct yml_reader *events = yml_reader_new(read_text, &rest);

    p->items = ARENA_ARRAY(p->arena, struct registry_version, p->n);
    p->valid = ARENA_ARRAY(p->arena, bool, p->n);
    /* An escaped slash is refused in a text that is read as a whole, as the rows' are. */
    p->certain = !str_contains(p->text, STR("\\/")) && read_list(p, events);
}

/* ---- two of them ------------------------------------------------------------------------------------------------------- */

static void *run(void *arg)
{
    struct index_batch *b = arg;

    pthread_mutex_lock(&b->mutex);
    while (!b->stop) {
        if (!b->wanted) {
            pthread_cond_wait(&b->moved, &b->mutex);
            continue;
        }
        pthread_mutex_unlock(&b->mutex);
        read_part(&b->other);
        pthread_mutex_lock(&b->mutex);
        b->wanted = false;
        pthread_cond_signal(&b->moved);
    }
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

static void set(struct index_batch *b, bool *flag)
{
    pthread_mutex_lock(&b->mutex);
    *flag = true;
    pthread_cond_signal(&b->moved);
    pthread_mutex_unlock(&b->mutex);
}

static void part_init(struct part *p)
{
    p->scratch = arena_new(INDEX_TEXT_MAX);
    p->arena = arena_new(INDEX_TEXT_MAX);
    p->empty = arena_mark(p->arena);
}

static void part_done(struct part *p)
{
    arena_free(p->scratch);
    arena_free(p->arena);
}

struct index_batch *index_batch_new(void)
{
    struct index_batch *b = xcalloc(1, sizeof(*b));

    b->text = BUF_INIT(SIZE_MAX);
    part_init(&b->mine);
    part_init(&b->other);
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->moved, NULL);
    b->running = pthread_create(&b->thread, NULL, run, b) == 0; /* without it this thread does all */
    return b;
}

void index_batch_free(struct index_batch *b)
{
    if (!b)
        return;
    if (b->running) {
        set(b, &b->stop);
        pthread_join(b->thread, NULL);
    }
    pthread_cond_destroy(&b->moved);
    pthread_mutex_destroy(&b->mutex);
    part_done(&b->mine);
    part_done(&b->other);
    buf_done(&b->text);
    free(b->ends);
    free(b);
}

bool index_batch_add(struct index_batch *b, struct str block)
{
    buf_addstr(&b->text, block);
    ARRAY_GROW(b->ends, b->cap, b->n + 1);
    b->ends[b->n++] = b->text.n;
    return b->text.n >= BATCH_BYTES;
}

static void set_part(struct index_batch *b, struct part *p, size_t from, size_t to)
{
    p->start = from == 0 ? 0 : b->ends[from - 1];
    p->n = to - from;
    p->ends = b->ends + from;
    p->text = str_sub(buf_str(&b->text), p->start, p->n ? b->ends[to - 1] : p->start);
}

/* The block that the other part begins with. */
static size_t middle(const struct index_batch *b)
{
    size_t i = b->n;

    if (!b->running || b->text.n < ALONE_BYTES)
        return i;
    while (i > 1 && b->ends[i - 2] >= b->text.n / 2)
        i--;
    return i;
}

static int hand_over(const struct part *p, struct index_sink *to, struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < p->n && r == 0; i++)
        r = index_sink_item(to, p->valid[i] ? &p->items[i] : NULL, block_at(p, i), err);
    return r;
}

static void read_both(struct index_batch *b)
{
    size_t half = middle(b);

    set_part(b, &b->mine, 0, half);
    set_part(b, &b->other, half, b->n);
    b->other.certain = true;
    if (b->other.n > 0)
        set(b, &b->wanted);
    read_part(&b->mine);
    pthread_mutex_lock(&b->mutex);
    while (b->wanted)
        pthread_cond_wait(&b->moved, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
}

int index_batch_read(struct index_batch *b, struct index_sink *to, struct err **err)
{
    int r;

    if (b->n == 0)
        return 1;
    read_both(b);
    if (!b->mine.certain || !b->other.certain)
        return 0;
    r = hand_over(&b->mine, to, err);
    if (r == 0)
        r = hand_over(&b->other, to, err);
    b->n = 0;
    buf_clear(&b->text);
    arena_rewind(b->mine.arena, b->mine.empty);
    arena_rewind(b->other.arena, b->other.empty);
    return r < 0 ? r : 1;
}
