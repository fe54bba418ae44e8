/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "apiserver/listing.h"
#include "apiserver/present.h"
#include "apiserver/server.h"
#include "base/limits.h"
#include "base/random.h"
#include "json/json.h"

enum {
    BATCH = 100,             /* changes read at once */
    POLL_MS = 1000,          /* how often a quiet watch looks whether its client is still there */
    BOOKMARK_MS = 60000,     /* between bookmarks of a quiet watch */
    LAST_BOOKMARK_MS = 2000, /* before the end */
    HEARTBEAT_MS = 30000,    /* an empty line between events, when bookmarks were not asked for */
    TIMEOUT_MIN_S = 1800,    /* when the client names none: between this and twice this */
};

/* One watch. It takes over the arena, the catalog and the resource of its request. */
struct watch {
    struct api_stream stream;
    struct api_request rq; /* its own: the one it came from ends with the headers */
    struct api_presenter p;
    struct api_selector *selector;
    int64_t rv; /* everything up to here was sent */
    int64_t end_ms, quiet_since_ms;
    bool bookmarks, initial, initial_bookmark, last_bookmark;
    bool ended;
};

static bool labels_match(const struct watch *w, struct str labels)
{
    return api_selector_labels(w->selector, labels);
}

/* Does a state of an object match? The JSON is looked at only when a field asks for it. */
static bool state_matches(struct watch *w, const struct api_key *key, struct str labels, struct str json)
{
    const struct json_options o = { .borrow = true };
    struct value v = VALUE_NONE;

    if (!labels_match(w, labels))
        return false;
    if (w->selector->needs_object && json_parse(w->rq.arena, json, &o, &v, NULL) < 0)
        return false;
    return api_selector_fields(w->selector, key, v);
}

static int send_event(struct watch *w, const char *type, struct str json, struct buf *out, struct err **err)
{
    int r;

    buf_addf(out, "{\"type\":\"%s\",\"object\":", type);
    r = api_present_event(&w->p, json, out, err);
    buf_adds(out, "}\n");
    return r;
}

/* The last state before it left the selector, under the number of the change that made it leave. */
static int send_left(struct watch *w, const struct api_change *c, struct buf *out, struct err **err)
{
    CLEANUP(buf_done) struct buf json = BUF_INIT(API_OBJECT_MAX);
    struct value v;
    int r = json_parse(w->rq.arena, c->before_json, NULL, &v, err);

    if (r < 0)
        return r;
    value_set_path(v, "metadata.resourceVersion",
                   value_from_str(arena_printf(w->rq.arena, "%lld", (long long)c->row.rv)));
    r = json_print(v, JSON_ESCAPE_HTML, &json, err);
    return r < 0 ? r : send_event(w, "DELETED", buf_str(&json), out, err);
}

static int send_change(struct watch *w, const struct api_change *c, struct buf *out, struct err **err)
{
    bool now = c->op != API_OP_DELETE && state_matches(w, &c->row.key, c->row.labels, c->row.json);
    bool before = c->has_before && c->op != API_OP_CREATE &&
                  (w->selector->empty || state_matches(w, &c->row.key, c->before_labels, c->before_json));

    if (c->op == API_OP_DELETE)
        return before ? send_event(w, "DELETED", c->row.json, out, err) : 0;
    if (now)
        return send_event(w, before ? "MODIFIED" : "ADDED", c->row.json, out, err);
    return before ? send_left(w, c, out, err) : 0;
}

static void send_bookmark(struct watch *w, bool initial_end, struct buf *out)
{
    buf_adds(out, "{\"type\":\"BOOKMARK\",\"object\":");
    api_present_bookmark(&w->p, w->rv, initial_end, out);
    buf_adds(out, "}\n");
}

/* ---- the state at the start ---------------------------------------------------------------------------------- */

struct initial {
    struct watch *w;
    struct buf *out;
};

static int on_initial(void *ctx, const struct api_row *row, struct err **err)
{
    struct initial *in = ctx;
    struct arena_mark m = arena_mark(in->w->rq.arena);
    bool fits = state_matches(in->w, &row->key, row->labels, row->json);

    arena_rewind(in->w->rq.arena, m);
    return fits ? send_event(in->w, "ADDED", row->json, in->out, err) : 0;
}

static int send_initial(struct watch *w, struct buf *out, struct err **err)
{
    struct initial in = { w, out };
    const struct api_list q = { .resource = w->rq.res->id,
                                .ns = w->rq.ns.n > 0 ? w->rq.ns : w->selector->ns,
                                .name = w->selector->name };
    struct api_list_end end = { 0 };
    int r = api_store_list(w->rq.server->store, &q, on_initial, &in, &end, err);

    if (r < 0)
        return r;
    w->rv = end.rv;
    w->initial = false;
    if (w->initial_bookmark)
        send_bookmark(w, true, out);
    return 0;
}

/* ---- going on ------------------------------------------------------------------------------------------------ */

static int send_error(struct watch *w, struct err *err, struct buf *out)
{
    if (err_code(err) == ERRC_GONE) {
        api_fail_expired(&w->rq, "%s", err_message(err));
        err_free(err);
    } else {
        api_fail_err(&w->rq, err);
    }
    buf_adds(out, "{\"type\":\"ERROR\",\"object\":");
    IGNORE_ERROR(json_print(api_status_of(&w->rq), JSON_ESCAPE_HTML, out, NULL));
    buf_adds(out, "}\n");
    w->ended = true;
    return 1;
}

static int send_changes(struct watch *w, struct buf *out, struct err **err)
{
    const struct api_changes q = {
        .resource = w->rq.res->id, .ns = w->rq.ns, .after = w->rv, .max = BATCH, .before = !w->selector->empty
    };
    struct api_change *items = NULL;
    size_t n = 0;
    int64_t rv = w->rv;
    int r = api_store_changes(w->rq.server->store, &q, w->rq.arena, &items, &n, &rv, err);

    for (size_t i = 0; r >= 0 && i < n; i++)
        r = send_change(w, &items[i], out, err);
    if (r < 0)
        return r;
    w->rv = rv;
    return buf_check(out, err);
}

/* The resource went away with its CRD. */
static bool still_served(struct watch *w)
{
    struct api_catalog *now;
    bool there;

    if (w->rq.res->builtin)
        return true;
    now = api_server_catalog(w->rq.server);
    there = api_catalog_find(now, w->rq.res->group, w->rq.res->version, w->rq.res->plural) != NULL;
    api_catalog_unref(now);
    return there;
}

static void quiet(struct watch *w, int64_t now, struct buf *out)
{
    if (w->bookmarks && !w->last_bookmark && w->end_ms - now <= LAST_BOOKMARK_MS) {
        w->last_bookmark = true;
        send_bookmark(w, false, out);
    } else if (w->bookmarks && now - w->quiet_since_ms >= BOOKMARK_MS) {
        send_bookmark(w, false, out);
    } else if (!w->bookmarks && now - w->quiet_since_ms >= HEARTBEAT_MS) {
        buf_addc(out, '\n');
    }
}

static int step(struct watch *w, struct buf *out, struct err **err)
{
    struct arena_mark m = arena_mark(w->rq.arena);
    int r = w->initial ? send_initial(w, out, err) : send_changes(w, out, err);

    arena_rewind(w->rq.arena, m);
    return r;
}

static int watch_next(struct api_stream *st, bool (*gone)(void *ctx), void *ctx, struct buf *out)
{
    struct watch *w = (struct watch *)st;
    struct err *err = NULL;

    while (!w->ended) {
        int64_t now = clock_mono_ms();

        if (now >= w->end_ms || gone(ctx))
            return 0;
        if (step(w, out, &err) < 0)
            return send_error(w, err, out);
        if (out->n == 0)
            quiet(w, now, out);
        if (out->n > 0) {
            w->quiet_since_ms = now;
            return 1;
        }
        if (!api_store_wait(w->rq.server->store, w->rq.res->id, w->rv, (int)MIN(POLL_MS, w->end_ms - now)) &&
            !still_served(w))
            return 0;
    }
    return 0;
}

static void watch_free(struct api_stream *st)
{
    struct watch *w = (struct watch *)st;

    api_request_done(&w->rq);
    free(w);
}

void api_stream_free(struct api_stream *st)
{
    if (st)
        st->free(st);
}

/* The watch lives longer than what the request borrowed from its connection: it copies what it goes on to use. */
static void inherit(struct watch *w, const struct api_request *from)
{
    struct arena *a;

    api_request_init(&w->rq, from->server);
    api_catalog_unref(w->rq.catalog);
    w->rq.catalog = api_catalog_ref(from->catalog);
    a = w->rq.arena;
    w->rq.res = from->res;
    w->rq.ns = arena_dup(a, from->ns);
    w->rq.form = from->form;
    w->rq.form_version = arena_dup(a, from->form_version);
    w->rq.params = ARENA_ARRAY(a, struct api_param, from->n_params);
    w->rq.n_params = from->n_params;
    for (size_t i = 0; i < from->n_params; i++)
        w->rq.params[i] =
            (struct api_param){ arena_dup(a, from->params[i].name), arena_dup(a, from->params[i].value) };
    w->p = (struct api_presenter){ .rq = &w->rq };
}

static int64_t timeout_ms(const struct api_list_options *o)
{
    if (o->timeout_s > 0)
        return MIN(o->timeout_s, 24 * 3600) * 1000;
    return (TIMEOUT_MIN_S + random_below(TIMEOUT_MIN_S)) * (int64_t)1000;
}

static void set_start(struct watch *w, const struct api_list_options *o)
{
    w->bookmarks = o->bookmarks;
    w->rv = o->rv;
    /* From "" or "0" the present state comes first, as the real server's watch cache does it. */
    w->initial = o->has_initial_events ? o->initial_events : !o->has_rv || o->rv == 0;
    w->initial_bookmark = w->initial && o->initial_events && o->bookmarks;
    if (!w->initial && o->has_initial_events && (!o->has_rv || o->rv == 0))
        w->rv = api_store_rv(w->rq.server->store);
}

int api_watch(struct api_request *rq)
{
    struct api_list_options o;
    struct watch *w;

    if (api_list_options_parse(rq, true, &o) < 0)
        return -1;
    if (o.initial_events && o.has_rv && api_wait_for_rv(rq, o.rv) < 0)
        return -1;
    w = xcalloc(1, sizeof(*w));
    w->stream.next = watch_next;
    w->stream.free = watch_free;
    inherit(w, rq);
    if (api_list_options_parse(&w->rq, true, &o) < 0) { /* again, for a selector in the watch's own memory */
        rq->failure = value_copy(rq->arena, w->rq.failure, NULL);
        watch_free(&w->stream);
        return -1;
    }
    w->selector = o.selector;
    w->quiet_since_ms = clock_mono_ms();
    w->end_ms = w->quiet_since_ms + timeout_ms(&o);
    set_start(w, &o);
    rq->code = 200;
    rq->type = "application/json";
    rq->stream = &w->stream;
    return 0;
}
