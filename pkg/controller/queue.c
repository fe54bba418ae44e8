/* SPDX-License-Identifier: Apache-2.0 */
/* The work queue: k8s.io/client-go/util/workqueue's promises (one entry per key, one worker per key, a change during the
 * work causes one more run), and namespaces that take turns. */
#include <errno.h>

#include "base/random.h"
#include "controller/controller_int.h"

#define PAUSE_MIN_MS 250
#define PAUSE_MAX_MS 300000
#define PAUSE_CHANGED_MS 1000
#define PAUSE_HOPELESS_MS 600000

struct lane;

struct item {
    struct lane *lane;
    struct item *next; /* in its lane */
    char *key;         /* "kind\x1fns\x1fname": how it is found again */
    char *ns, *name;
    unsigned kind, failures;
    bool dirty, running, low;
    int64_t due_ms; /* monotonic; 0: not delayed */
    size_t at;      /* in the heap */
    int64_t since_ms;
};

/* The entries of one namespace, or of one kind without namespaces. In the ring while something waits. */
struct lane {
    struct lane *next, *prev;
    struct item *head[2], **tail[2]; /* 0: changes, 1: first lists */
    unsigned running;
    size_t n_items; /* that name this lane */
    char *name;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    struct map items, lanes;
    struct lane *ring;  /* the lane whose turn it is */
    struct item **heap; /* delayed ones, the earliest first */
    size_t n_heap, cap_heap;
    size_t n_waiting, n_running;
    unsigned per_namespace;
    bool stop;
};

struct queue *queue_new(unsigned per_namespace)
{
    struct queue *q = xcalloc(1, sizeof(*q));
    pthread_condattr_t attr;

    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->cond, &attr);
    pthread_condattr_destroy(&attr);
    q->per_namespace = per_namespace;
    return q;
}

static void item_free(struct item *i)
{
    free(i->key);
    free(i->ns);
    free(i->name);
    free(i);
}

void queue_free(struct queue *q)
{
    void *p;

    if (!q)
        return;
    for (size_t i = 0; map_next(&q->items, &i, NULL, &p);)
        item_free(p);
    for (size_t i = 0; map_next(&q->lanes, &i, NULL, &p);) {
        free(((struct lane *)p)->name);
        free(p);
    }
    map_done(&q->items);
    map_done(&q->lanes);
    free(q->heap);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->cond);
    free(q);
}

/* ---- lanes; all under the lock ------------------------------------------------------------------------------------ */

static struct lane *lane_of(struct queue *q, unsigned kind, struct str ns)
{
    CLEANUP(free_ptr) char *alone = xasprintf("\x1f%u", kind);
    struct str name = ns.n > 0 ? ns : str_from(alone);
    struct lane *l = map_get(&q->lanes, name);

    if (l)
        return l;
    l = xcalloc(1, sizeof(*l));
    l->name = str_dup(name);
    l->tail[0] = &l->head[0];
    l->tail[1] = &l->head[1];
    map_put(&q->lanes, name, l);
    return l;
}

static bool lane_waits(const struct lane *l)
{
    return l->head[0] || l->head[1];
}

static void ring_add(struct queue *q, struct lane *l)
{
    if (l->next)
        return;
    if (!q->ring) {
        q->ring = l->next = l->prev = l;
        return;
    }
    l->next = q->ring; /* behind all others */
    l->prev = q->ring->prev;
    l->prev->next = l;
    q->ring->prev = l;
}

static void ring_remove(struct queue *q, struct lane *l)
{
    if (q->ring == l)
        q->ring = l->next == l ? NULL : l->next;
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->next = l->prev = NULL;
}

static void lane_push(struct queue *q, struct item *i)
{
    struct lane *l = i->lane;
    int p = i->low ? 1 : 0;

    i->next = NULL;
    *l->tail[p] = i;
    l->tail[p] = &i->next;
    ring_add(q, l);
    q->n_waiting++;
    pthread_cond_signal(&q->cond);
}

static struct item *lane_pop(struct queue *q, struct lane *l, int p)
{
    struct item *i = l->head[p];

    l->head[p] = i->next;
    if (!l->head[p])
        l->tail[p] = &l->head[p];
    i->next = NULL;
    q->n_waiting--;
    q->ring = l->next; /* its turn is over */
    if (!lane_waits(l))
        ring_remove(q, l);
    return i;
}

/* The next item of the next lane that may have one more worker; changes before first lists. */
static struct item *pick(struct queue *q)
{
    for (int p = 0; p < 2; p++) {
        struct lane *l = q->ring;

        do {
            if (l && l->head[p] && l->running < q->per_namespace)
                return lane_pop(q, l, p);
            l = l ? l->next : NULL;
        } while (l && l != q->ring);
    }
    return NULL;
}

/* ---- the heap of delayed items; under the lock -------------------------------------------------------------------- */

static void heap_set(struct queue *q, size_t at, struct item *i)
{
    q->heap[at] = i;
    i->at = at;
}

static void heap_up(struct queue *q, size_t at)
{
    struct item *i = q->heap[at];

    for (; at > 0 && q->heap[(at - 1) / 2]->due_ms > i->due_ms; at = (at - 1) / 2)
        heap_set(q, at, q->heap[(at - 1) / 2]);
    heap_set(q, at, i);
}

static void heap_down(struct queue *q, size_t at)
{
    struct item *i = q->heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= q->n_heap)
            break;
        if (child + 1 < q->n_heap && q->heap[child + 1]->due_ms < q->heap[child]->due_ms)
            child++;
        if (q->heap[child]->due_ms >= i->due_ms)
            break;
        heap_set(q, at, q->heap[child]);
        at = child;
    }
    heap_set(q, at, i);
}

static void heap_remove(struct queue *q, struct item *i)
{
    size_t at = i->at;
    struct item *last = q->heap[--q->n_heap];

    i->due_ms = 0;
    if (last == i)
        return;
    heap_set(q, at, last);
    heap_up(q, at);
    heap_down(q, last->at);
}

static void heap_put(struct queue *q, struct item *i, int64_t due_ms)
{
    if (i->due_ms != 0 && i->due_ms <= due_ms)
        return; /* the earlier time stays */
    if (i->due_ms != 0)
        heap_remove(q, i);
    i->due_ms = MAX(due_ms, (int64_t)1);
    ARRAY_GROW(q->heap, q->cap_heap, q->n_heap + 1);
    heap_set(q, q->n_heap++, i);
    heap_up(q, i->at);
    pthread_cond_signal(&q->cond);
}

/* ---- items -------------------------------------------------------------------------------------------------------- */

static struct item *item_of(struct queue *q, unsigned kind, struct controller_key key)
{
    CLEANUP(free_ptr)
    char *text = xasprintf("%u\x1f" STR_FMT "\x1f" STR_FMT, kind, STR_ARG(key.ns), STR_ARG(key.name));
    struct item *i = map_get(&q->items, str_from(text));

    if (i)
        return i;
    i = xcalloc(1, sizeof(*i));
    i->key = TAKE(text);
    i->ns = str_dup(key.ns);
    i->name = str_dup(key.name);
    i->kind = kind;
    i->lane = lane_of(q, kind, key.ns);
    i->lane->n_items++;
    map_put(&q->items, str_from(i->key), i);
    return i;
}

/* Nothing is kept of what neither waits nor failed. */
static void item_forget(struct queue *q, struct item *i)
{
    struct lane *l = i->lane;

    if (i->dirty || i->running || i->due_ms != 0 || i->failures > 0)
        return;
    map_remove(&q->items, str_from(i->key));
    item_free(i);
    if (--l->n_items > 0)
        return;
    map_remove(&q->lanes, str_from(l->name));
    free(l->name);
    free(l);
}

static void make_dirty(struct queue *q, struct item *i, bool low)
{
    if (i->dirty)
        return;
    i->dirty = true;
    i->low = low;
    if (!i->running)
        lane_push(q, i);
}

void queue_add(struct queue *q, unsigned kind, struct controller_key key, bool low)
{
    struct item *i;

    pthread_mutex_lock(&q->lock);
    if (!q->stop) {
        i = item_of(q, kind, key);
        if (i->due_ms != 0)
            heap_remove(q, i);
        make_dirty(q, i, low);
    }
    pthread_mutex_unlock(&q->lock);
}

void queue_add_after(struct queue *q, unsigned kind, struct controller_key key, int64_t after_ms)
{
    if (after_ms <= 0) {
        queue_add(q, kind, key, false);
        return;
    }
    pthread_mutex_lock(&q->lock);
    if (!q->stop)
        heap_put(q, item_of(q, kind, key), clock_mono_ms() + after_ms);
    pthread_mutex_unlock(&q->lock);
}

/* ---- workers ------------------------------------------------------------------------------------------------------ */

static void wait_until(struct queue *q, int64_t wait_ms)
{
    struct timespec until;

    if (wait_ms < 0) {
        pthread_cond_wait(&q->cond, &q->lock);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    IGNORE_ERROR(pthread_cond_timedwait(&q->cond, &q->lock, &until));
}

static void release_due(struct queue *q)
{
    int64_t now = clock_mono_ms();

    while (q->n_heap > 0 && q->heap[0]->due_ms <= now) {
        struct item *i = q->heap[0];

        heap_remove(q, i);
        make_dirty(q, i, false);
    }
}

bool queue_take(struct queue *q, struct queue_task *ret)
{
    struct item *i = NULL;

    pthread_mutex_lock(&q->lock);
    while (!q->stop) {
        release_due(q);
        i = pick(q);
        if (i)
            break;
        wait_until(q, q->n_heap > 0 ? MAX(q->heap[0]->due_ms - clock_mono_ms(), (int64_t)0) : -1);
    }
    if (i) {
        i->dirty = false;
        i->running = true;
        i->since_ms = clock_mono_ms();
        i->lane->running++;
        q->n_running++;
        *ret = (struct queue_task){ i->kind, { str_from(i->ns), str_from(i->name) }, i->failures, i };
    }
    pthread_mutex_unlock(&q->lock);
    return i != NULL;
}

int64_t queue_pause_ms(unsigned failures, enum errc code, int64_t retry_after_ms)
{
    int64_t ms = PAUSE_HOPELESS_MS;

    if (errc_retryable(code))
        ms = failures > 12
                 ? PAUSE_MAX_MS
                 : MIN((int64_t)PAUSE_MIN_MS << (failures > 0 ? failures - 1 : 0), (int64_t)PAUSE_MAX_MS);
    ms += (int64_t)(random_unit() * 0.2 * (double)ms);
    return MAX(ms, retry_after_ms);
}

void queue_done(struct queue *q, const struct queue_task *t, enum errc failed, int64_t retry_after_ms,
                int64_t requeue_ms)
{
    struct item *i = t->item;

    pthread_mutex_lock(&q->lock);
    i->running = false;
    i->lane->running--;
    q->n_running--;
    i->failures = failed ? i->failures + 1 : 0;
    if (failed && requeue_ms <= 0)
        requeue_ms = queue_pause_ms(i->failures, failed, retry_after_ms);
    if (i->dirty && failed) { /* what changes while it fails is tried soon, but not without a pause */
        i->dirty = false;
        requeue_ms = MIN(requeue_ms, (int64_t)PAUSE_CHANGED_MS);
    }
    if (i->dirty)
        lane_push(q, i);
    else if (requeue_ms > 0 && !q->stop)
        heap_put(q, i, clock_mono_ms() + requeue_ms);
    pthread_cond_broadcast(&q->cond); /* its lane may have waited for a worker */
    item_forget(q, i);
    pthread_mutex_unlock(&q->lock);
}

void queue_stop(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_broadcast(&q->cond);
    pthread_mutex_unlock(&q->lock);
}

struct queue_figures queue_figures(struct queue *q)
{
    struct queue_figures f;
    int64_t now = clock_mono_ms();
    void *p;

    pthread_mutex_lock(&q->lock);
    f = (struct queue_figures){ .waiting = q->n_waiting, .delayed = q->n_heap, .running = q->n_running };
    for (size_t i = 0; q->n_running > 0 && map_next(&q->items, &i, NULL, &p);) {
        const struct item *item = p;

        if (item->running)
            f.oldest_ms = MAX(f.oldest_ms, now - item->since_ms);
    }
    pthread_mutex_unlock(&q->lock);
    return f;
}
