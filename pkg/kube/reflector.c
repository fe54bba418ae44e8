/* SPDX-License-Identifier: Apache-2.0 */
/* List and watch, for ever: k8s.io/client-go/tools/cache's Reflector, without a store. */
#include "base/clock.h"
#include "base/random.h"
#include "kube/kube_int.h"

#define LOG_MODULE "kube"
#include "base/log.h"

#define WATCH_S 30
#define WATCH_GRACE_MS 8000LL /* with WATCH_S and its spread: a silent watch is noticed within 43 s */
#define SHORT_MS 1000
#define BACKOFF_MIN_MS 800
#define BACKOFF_MAX_MS 30000
#define BACKOFF_RESET_MS 120000
#define PAGE_MAX (2 * KUBE_ANSWER_MAX)

struct kube_reflector {
    struct kube *k;
    struct arena *memory;
    struct kube_request list;
    struct kube_reflector_sink sink;
    int watch_s;
    char *resource_version;
    int64_t backoff_ms, backed_off_ms; /* the last pause, and when */
    pthread_mutex_t lock;
    struct http_stream *stream; /* guarded by lock, as the next two */
    bool stop;
    struct kube_reflector_figures figures;
};

struct kube_reflector *kube_reflector_new(struct kube *k, const struct kube_reflector_options *o,
                                          const struct kube_reflector_sink *sink)
{
    struct kube_reflector *r = xcalloc(1, sizeof(*r));

    r->k = kube_ref(k);
    r->memory = arena_new(64 * KIB);
    r->list = (struct kube_request){ .verb = KUBE_LIST,
                                     .ref = { .api_version = arena_dup(r->memory, o->ref.api_version),
                                              .kind = arena_dup(r->memory, o->ref.kind),
                                              .ns = arena_dup(r->memory, o->ref.ns) },
                                     .label_selector = arena_dup(r->memory, o->label_selector),
                                     .field_selector = arena_dup(r->memory, o->field_selector),
                                     .metadata_only = o->metadata_only };
    r->sink = *sink;
    r->watch_s = o->watch_s > 0 ? o->watch_s : WATCH_S;
    r->resource_version = xstrdup("");
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void kube_reflector_free(struct kube_reflector *r)
{
    if (!r)
        return;
    kube_unref(r->k);
    arena_free(r->memory);
    free(r->resource_version);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void kube_reflector_stop(struct kube_reflector *r)
{
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    if (r->stream)
        http_stream_cancel(r->stream);
    pthread_mutex_unlock(&r->lock);
}

static bool stopped(struct kube_reflector *r)
{
    bool stop;

    pthread_mutex_lock(&r->lock);
    stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    return stop;
}

struct kube_reflector_figures kube_reflector_figures(const struct kube_reflector *r)
{
    struct kube_reflector_figures f;

    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&r->lock);
    f = r->figures;
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&r->lock);
    return f;
}

static void count(struct kube_reflector *r, uint64_t *figure)
{
    pthread_mutex_lock(&r->lock);
    ++*figure;
    pthread_mutex_unlock(&r->lock);
}

static void set_version(struct kube_reflector *r, struct str version)
{
    if (version.n == 0)
        return;
    free(r->resource_version);
    r->resource_version = str_dup(version);
}

static void sleep_ms(struct kube_reflector *r, int64_t ms)
{
    for (; ms > 0 && !stopped(r); ms -= 100) {
        if (!kube_conn_sleep(r->k->conn, MIN(ms, (int64_t)100)))
            return;
    }
}

static void back_off(struct kube_reflector *r, const struct err *e)
{
    int64_t now = clock_mono_ms(), pause;

    count(r, &r->figures.failures);
    if (now - r->backed_off_ms > BACKOFF_RESET_MS)
        r->backoff_ms = 0;
    r->backoff_ms = r->backoff_ms ? MIN(r->backoff_ms * 2, (int64_t)BACKOFF_MAX_MS) : BACKOFF_MIN_MS;
    pause = r->backoff_ms + (int64_t)(random_unit() * (double)r->backoff_ms);
    pause = MAX(MIN(pause, (int64_t)BACKOFF_MAX_MS), MIN(err_retry_after_ms(e), (int64_t)BACKOFF_MAX_MS));
    log_debug("list or watch failed", LOG_STR("kind", r->list.ref.kind), LOG_INT("pause_ms", pause),
              LOG_ERR(e));
    if (r->sink.trouble && !stopped(r))
        r->sink.trouble(r->sink.ctx, e);
    sleep_ms(r, pause);
    r->backed_off_ms = clock_mono_ms();
}

/* ---- list --------------------------------------------------------------------------------------------------------- */

static int list_pages(struct kube_reflector *r, struct kube_pager *p, struct err **err)
{
    int n;

    r->sink.list_begin(r->sink.ctx);
    do {
        CLEANUP(arena_free) struct arena *a = arena_new(PAGE_MAX);
        struct value items = VALUE_NONE;
        bool restart;

        n = stopped(r) ? -ERRC_CANCELLED : kube_pager_next(p, a, &items, &restart, err);
        if (n > 0 && restart)
            r->sink.list_begin(r->sink.ctx);
        for (size_t i = 0; n > 0 && i < value_len(items); i++)
            r->sink.list_item(r->sink.ctx, value_at(items, i));
    } while (n > 0);
    return n;
}

static int list(struct kube_reflector *r, struct err **err)
{
    CLEANUP(kube_pager_free) struct kube_pager *p = kube_pager_new(r->k, &r->list);
    int n;

    count(r, &r->figures.lists);
    n = list_pages(r, p, err);
    if (n < 0)
        return n;
    set_version(r, kube_pager_resource_version(p));
    r->sink.list_end(r->sink.ctx, kube_pager_resource_version(p));
    return 0;
}

/* ---- watch -------------------------------------------------------------------------------------------------------- */

static int take_event(void *ctx, struct kube_watch_event *e, struct err **err)
{
    static const char *const names[] = { "ADDED", "MODIFIED", "DELETED" };
    struct kube_reflector *r = ctx;

    if (str_eq(e->type, STR("ERROR")))
        return watch_event_error(e, err);
    if (!value_is_map(e->object))
        return 0;
    if (str_eq(e->type, STR("BOOKMARK")))
        count(r, &r->figures.bookmarks);
    for (int i = 0; i < (int)ARRAY_SIZE(names); i++) {
        if (!str_eq(e->type, str_from(names[i])))
            continue;
        value_setz(e->object, "apiVersion", value_from_str(r->list.ref.api_version));
        value_setz(e->object, "kind", value_from_str(r->list.ref.kind));
        count(r, &r->figures.events);
        r->sink.event(r->sink.ctx, (enum kube_event_type)i, e->object);
    }
    set_version(r, kube_resource_version(e->object)); /* after it was applied */
    return 0;
}

static bool hold_stream(struct kube_reflector *r, struct http_stream *s)
{
    bool stop;

    pthread_mutex_lock(&r->lock);
    r->stream = s;
    stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    return !stop;
}

static int read_stream(struct kube_reflector *r, struct http_stream *s, int watch_s, struct err **err)
{
    CLEANUP(kube_watch_parser_free) struct kube_watch_parser *p = kube_watch_parser_new(0);
    int64_t start = clock_mono_ms(),
            dead_ms = start + watch_s * 1000LL + MIN(watch_s * 1000LL, WATCH_GRACE_MS);
    bool any = false;
    int n;

    do {
        n = watch_read(s, p, MAX(dead_ms - clock_mono_ms(), (int64_t)1), take_event, r, err);
        any = any || n > 0;
    } while (n > 0);
    if (n == -ERRC_TIMEOUT) {
        count(r, &r->figures.silent);
        http_stream_suspect(s);
    }
    if (n == 0 && !any && clock_mono_ms() - start < SHORT_MS)
        return err_set(err, ERRC_UNAVAILABLE, "watch " STR_FMT ": the server ended it at once",
                       STR_ARG(r->list.ref.kind));
    return n;
}

static int watch(struct kube_reflector *r, struct err **err)
{
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    int spread = r->watch_s / 6;
    int watch_s = r->watch_s - spread + (int)random_below((uint32_t)(2 * spread + 1));
    struct kube_request rq = r->list;
    int n;

    count(r, &r->figures.watches);
    rq.resource_version = str_from(r->resource_version);
    n = watch_open(r->k, &rq, watch_s, &s, err);
    if (n < 0)
        return n;
    n = hold_stream(r, s) ? read_stream(r, s, watch_s, err) : -ERRC_CANCELLED;
    hold_stream(r, NULL);
    return n;
}

/* How a watch's end goes on. A lost connection continues where it was; only 410 and what nobody understands lists again. */
static bool needs_list(int n)
{
    return n == -ERRC_GONE || (n < 0 && n != -ERRC_UNAVAILABLE && n != -ERRC_TIMEOUT);
}

static void watch_until_list(struct kube_reflector *r)
{
    while (!stopped(r)) {
        CLEANUP(err_free) struct err *e = NULL;
        int n = watch(r, &e);

        if (stopped(r))
            return;
        if (n == -ERRC_GONE)
            return;
        if (n < 0 && n != -ERRC_TIMEOUT)
            back_off(r, e);
        if (needs_list(n))
            return;
    }
}

void kube_reflector_run(struct kube_reflector *r)
{
    while (!stopped(r)) {
        CLEANUP(err_free) struct err *e = NULL;
        int n = list(r, &e);

        if (stopped(r))
            return;
        if (n < 0)
            back_off(r, e);
        else
            watch_until_list(r);
        if (n == -ERRC_CANCELLED)
            return;
    }
}
