/* SPDX-License-Identifier: Apache-2.0 */
/* One watch: opening it, reading its events, waiting with it. */
#include "base/clock.h"
#include "kube/kube_int.h"

#define ARENA_MAX (8 * KUBE_EVENT_MAX)
#define OPEN_MS 30000
#define ERROR_BODY_MS 5000

static int open_refused(struct kube_exchange_state *x, struct http_stream *s, struct err **err)
{
    CLEANUP(buf_done) struct buf body = BUF_INIT(HTTP_ERROR_BODY_MAX), what = BUF_INIT(4 * KIB);
    int64_t retry_s = 0;
    int r;

    while (http_stream_read(s, ERROR_BODY_MS, &body, NULL) > 0)
        ;
    IGNORE_ERROR(str_to_int64(http_stream_header(s, STR("Retry-After")), &retry_s) ? 0 : -1);
    r = kube_status_error(http_stream_status(s), buf_str(&body), MAX(retry_s, (int64_t)0) * 1000, false, err);
    exchange_describe(x, &what);
    return err_wrap(err, r, "%s", buf_z(&what));
}

int watch_open(struct kube *k, const struct kube_request *list, int watch_s, struct http_stream **ret,
               struct err **err)
{
    CLEANUP(exchange_done) struct kube_exchange_state x = { 0 };
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    int64_t start = clock_mono_ms();
    int r = exchange_init_watch(&x, k, list, watch_s, err);

    if (r == 0)
        r = exchange_arm(&x, err);
    if (r < 0)
        return r;
    x.http.deadline_ms = OPEN_MS;
    x.http.body_max = 0;
    r = http_stream_open(k->conn->http, &x.http, &s, err);
    exchange_observe(&x, r < 0 ? 0 : http_stream_status(s), clock_mono_ms() - start);
    if (r < 0)
        return err_wrap(err, r, "watch " STR_FMT, STR_ARG(x.ref.kind));
    if (http_stream_status(s) != 200) {
        r = open_refused(&x, s, err);
        if (r == -ERRC_UNAUTHORIZED) { /* the next attempt has newer ones */
            struct kube_secrets *newer = NULL;

            IGNORE_ERROR(kube_secrets_get(k->conn, x.secrets, &newer, NULL));
            kube_secrets_unref(newer);
        }
        return r;
    }
    *ret = TAKE(s);
    return 0;
}

int watch_read(struct http_stream *s, struct kube_watch_parser *p, int64_t wait_ms, watch_take_fn take,
               void *ctx, struct err **err)
{
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(HTTP_STREAM_QUEUE_MAX + MIB);
    int r = http_stream_read(s, wait_ms, &bytes, err), n;

    if (r <= 0)
        return r;
    kube_watch_parser_add(p, buf_str(&bytes));
    do {
        CLEANUP(arena_free) struct arena *a = arena_new(ARENA_MAX);
        struct kube_watch_event e;

        n = kube_watch_parser_next(p, a, &e, err);
        if (n < 0)
            return n;
        r = n > 0 ? take(ctx, &e, err) : 0;
        if (r != 0)
            return r;
    } while (n > 0);
    return 1;
}

int watch_event_error(const struct kube_watch_event *e, struct err **err)
{
    int code = (int)value_int(value_getz(e->object, "code"), 500);
    int r = kube_status_value_error(code, e->object, 0, false, err);

    return err_wrap(err, r, "watch");
}

/* ---- waiting ------------------------------------------------------------------------------------------------------ */

struct until {
    kube_until_fn fn;
    void *ctx;
    char *resource_version;
    bool found;
};

/* Yields -ERRC_MAX_ to leave watch_read() when it is found. */
static int until_take(void *ctx, struct kube_watch_event *e, struct err **err)
{
    static const char *const names[] = { "ADDED", "MODIFIED", "DELETED" };
    struct until *u = ctx;
    int r = 0;

    if (str_eq(e->type, STR("ERROR")))
        return watch_event_error(e, err);
    free(u->resource_version);
    u->resource_version = str_dup(kube_resource_version(e->object));
    for (int i = 0; i < (int)ARRAY_SIZE(names); i++) {
        if (str_eq(e->type, str_from(names[i])))
            r = u->fn(u->ctx, (enum kube_event_type)i, e->object, err);
    }
    u->found = r > 0;
    return r > 0 ? -ERRC_MAX_ : r;
}

static int until_stream(struct kube *k, struct kube_request *list, int64_t until_ms, struct until *u,
                        struct err **err)
{
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    CLEANUP(kube_watch_parser_free) struct kube_watch_parser *p = kube_watch_parser_new(0);
    int64_t left = MAX(until_ms - clock_mono_ms(), (int64_t)1);
    int watch_s = (int)MIN(left / 1000 + 1, (int64_t)30);
    int64_t dead_ms = clock_mono_ms() + MIN(left, watch_s * 1000LL + 8000);
    int r;

    list->resource_version = str_from(u->resource_version);
    r = watch_open(k, list, watch_s, &s, err);
    if (r < 0)
        return r;
    do {
        r = watch_read(s, p, MAX(dead_ms - clock_mono_ms(), (int64_t)1), until_take, u, err);
    } while (r > 0);
    return r;
}

int kube_watch_until(struct kube *k, const struct kube_reflector_options *o, int64_t deadline_ms,
                     kube_until_fn until, void *ctx, struct err **err)
{
    struct until u = { .fn = until, .ctx = ctx, .resource_version = xstrdup("") };
    struct kube_request list = { .verb = KUBE_LIST,
                                 .ref = o->ref,
                                 .label_selector = o->label_selector,
                                 .field_selector = o->field_selector,
                                 .metadata_only = o->metadata_only };
    int64_t until_ms = clock_mono_ms() + deadline_ms;
    int r = 0;

    while (clock_mono_ms() < until_ms) {
        CLEANUP(err_free) struct err *e = NULL;

        r = until_stream(k, &list, until_ms, &u, &e);
        if (u.found)
            break;
        if (r == -ERRC_GONE)
            *u.resource_version = '\0';
        if (r < 0 && r != -ERRC_GONE && r != -ERRC_UNAVAILABLE && r != -ERRC_TIMEOUT) {
            if (err)
                *err = TAKE(e);
            break;
        }
        if (r < 0 && !kube_conn_sleep(k->conn, 200))
            break;
        r = 0;
    }
    free(u.resource_version);
    if (u.found)
        return 1;
    return r < 0 ? r : err_set(err, ERRC_TIMEOUT, "watch " STR_FMT ": not in time", STR_ARG(o->ref.kind));
}
