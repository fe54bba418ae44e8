/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/arrival.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"

struct index_arrival {
    const struct registry_source *source;
    char *path;
    pthread_t thread;
    bool running;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    size_t n; /* bytes in the file; guarded by the mutex, as is `ended` */
    bool ended;

    /* The thread's until it is over. */
    struct arena *arena;
    struct registry_fetched fetched;
    int r;
    struct err *err;
};

static void on_bytes(void *ctx, size_t n)
{
    struct index_arrival *w = ctx;

    pthread_mutex_lock(&w->mutex);
    w->n += n;
    pthread_cond_signal(&w->moved);
    pthread_mutex_unlock(&w->mutex);
}

static void *run(void *arg)
{
    struct index_arrival *w = arg;
    const struct index_progress progress = { on_bytes, w };
    int r = index_fetch(w->source, w->arena, NULL, w->path, &progress, &w->fetched, &w->err);

    pthread_mutex_lock(&w->mutex);
    w->r = r;
    w->ended = true;
    pthread_cond_signal(&w->moved);
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

int index_arrival_start(const struct registry_source *s, const char *path, struct index_arrival **ret,
                        struct err **err)
{
    CLEANUP(index_arrival_free) struct index_arrival *w = xcalloc(1, sizeof(*w));
    int e;

    w->source = s;
    w->path = xstrdup(path);
    w->arena = arena_new(MIB);
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->moved, NULL);
    e = pthread_create(&w->thread, NULL, run, w);
    w->running = e == 0;
    if (e != 0)
        return err_errno(err, e, "a thread for the index");
    *ret = TAKE(w);
    return 0;
}

int index_arrival_wait(struct index_arrival *w, size_t bytes, size_t *ret)
{
    int r;

    pthread_mutex_lock(&w->mutex);
    while (w->n < bytes && !w->ended)
        pthread_cond_wait(&w->moved, &w->mutex);
    *ret = w->n;
    r = w->ended && w->r != 1 ? -ERRC_IO : 0;
    pthread_mutex_unlock(&w->mutex);
    return r;
}

static void join(struct index_arrival *w)
{
    if (w->running)
        pthread_join(w->thread, NULL);
    w->running = false;
}

int index_arrival_finish(struct index_arrival *w, struct arena *a, struct registry_fetched *ret,
                         struct err **err)
{
    join(w);
    if (w->r < 0 && err)
        *err = TAKE(w->err);
    if (w->r == 1)
        *ret = (struct registry_fetched){ .url = arena_dup(a, w->fetched.url),
                                          .etag = arena_dup(a, w->fetched.etag),
                                          .last_modified = arena_dup(a, w->fetched.last_modified),
                                          .digest = arena_dup(a, w->fetched.digest) };
    return w->r;
}

void index_arrival_free(struct index_arrival *w)
{
    if (!w)
        return;
    join(w);
    pthread_cond_destroy(&w->moved);
    pthread_mutex_destroy(&w->mutex);
    arena_free(w->arena);
    err_free(w->err);
    free(w->path);
    free(w);
}
