/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/parsing.h"

#include <sched.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"

/* Bytes of templates from which on a second thread saves more than it costs. */
#define THREAD_MIN ((size_t)128 * KIB)

/* A template that was asked for. */
struct asked {
    struct str path, text;
    struct tpl_file *file;
    struct err *err;
};

struct parsing {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    struct asked *templates; /* guarded by the mutex, as are those below */
    size_t n, cap, taken, parsed;
    bool over;          /* nothing more will come */
    struct map numbers; /* of the last template of each path, counted from 1: the owner's */

    pthread_t thread;
    bool runs;
    struct arena *arena;  /* the thread's, until all are parsed */
    cpu_set_t processors; /* where it may run */
};

struct parsing *chart_parsing_new(void)
{
    struct parsing *p = xcalloc(1, sizeof(*p));

    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->moved, NULL);
    p->numbers = MAP_INIT_BORROWING;
    return p;
}

static size_t add(struct parsing *p, struct str path, struct str text)
{
    size_t number = p->n;

    pthread_mutex_lock(&p->mutex);
    ARRAY_GROW(p->templates, p->cap, p->n + 1);
    p->templates[p->n++] = (struct asked){ .path = path, .text = text };
    pthread_cond_signal(&p->moved);
    pthread_mutex_unlock(&p->mutex);
    map_put(&p->numbers, path, (void *)(number + 1));
    return number;
}

size_t chart_parsing_add(struct parsing *p, struct str path, struct str text)
{
    size_t known = (size_t)map_get(&p->numbers, path);

    if (known > 0 && p->templates[known - 1].text.p == text.p)
        return known - 1;
    return add(p, path, text);
}

/* Takes the next one, parses it without the mutex, and gives it back. False: there is none. Called with the mutex. */
static bool parse_next(struct parsing *p, struct arena *a)
{
    size_t i = p->taken;
    struct asked t;

    if (i == p->n)
        return false;
    t = p->templates[p->taken++];
    pthread_mutex_unlock(&p->mutex);
    if (tpl_file_parse(a, t.path, t.text, &t.file, &t.err) < 0)
        t.file = NULL;
    pthread_mutex_lock(&p->mutex);
    p->templates[i].file = t.file;
    p->templates[i].err = t.err;
    if (++p->parsed == p->n)
        pthread_cond_broadcast(&p->moved);
    return true;
}

static void *thread_main(void *arg)
{
    struct parsing *p = arg;
    struct arena *a = p->arena;

    pthread_setaffinity_np(pthread_self(), sizeof(p->processors), &p->processors);
    pthread_mutex_lock(&p->mutex);
    while (parse_next(p, a) || !p->over)
        if (p->taken == p->n && !p->over)
            pthread_cond_wait(&p->moved, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

/* Linux may leave a new thread on the processor of the old one until the next tick, which is longer than all of this takes. So it
 * starts on another one, and is free from then on. False: there is no other, or no thread. */
static bool start_thread(struct parsing *p)
{
    int here = sched_getcpu();
    cpu_set_t others;
    pthread_attr_t attr;
    bool ok;

    if (here < 0 || sched_getaffinity(0, sizeof(p->processors), &p->processors) < 0)
        return false;
    others = p->processors;
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) == 0 || pthread_attr_init(&attr) != 0)
        return false;
    ok = pthread_attr_setaffinity_np(&attr, sizeof(others), &others) == 0 &&
         pthread_create(&p->thread, &attr, thread_main, p) == 0;
    pthread_attr_destroy(&attr);
    return ok;
}

void chart_parsing_start(struct parsing *p, size_t bytes)
{
    if (p->runs || bytes < THREAD_MIN)
        return;
    p->arena = arena_new(TEMPLATE_MEMORY_MAX);
    p->runs = start_thread(p);
}

void chart_parsing_finish(struct parsing *p, struct arena *a)
{
    pthread_mutex_lock(&p->mutex);
    p->over = true;
    while (parse_next(p, a))
        ;
    while (p->parsed < p->n)
        pthread_cond_wait(&p->moved, &p->mutex);
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->mutex);
}

void chart_parsing_free(struct parsing *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->mutex);
    p->over = true;
    p->taken = p->n;
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->mutex);
    if (p->runs)
        pthread_join(p->thread, NULL);
    for (size_t i = 0; i < p->n; i++)
        err_free(p->templates[i].err);
    free(p->templates);
    map_done(&p->numbers);
    arena_free(p->arena);
    pthread_cond_destroy(&p->moved);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

int chart_parsing_get(struct parsing *p, size_t i, struct tpl_file **ret, struct err **err)
{
    struct asked *t = &p->templates[i];

    if (!t->err) {
        *ret = t->file;
        return 0;
    }
    return err_set(err, err_code(t->err), "%s", err_message(t->err));
}

struct arena *chart_parsing_take_arena(struct parsing *p)
{
    return TAKE(p->arena);
}
