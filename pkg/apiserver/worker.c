/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "apiserver"
#include "apiserver/worker.h"

#include <stdlib.h>

#include "apiserver/crd.h"
#include "apiserver/gc.h"
#include "apiserver/object.h"
#include "apiserver/seed.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "json/json.h"

enum {
    BATCH = 200,
    TICK_MS = 1000,
    COMPACT_MS = 30000,
    EXPIRE_MS = 300000,
    EVENT_TTL_S = 3600,
    WORKER_STACK = 1 << 20,
};

#define NAMESPACES STR("namespaces")

struct worker {
    struct apiserver *server;
    int64_t rv;
    struct map pending; /* namespaces and CRDs that wait for their content to go: "id name" */
    int64_t compact_ms, expire_ms;
};

/* ---- namespaces and CRDs ---------------------------------------------------------------------------------------- */

static void remember(struct worker *w, struct str id, struct str name)
{
    char *key = xasprintf(STR_FMT " " STR_FMT, STR_ARG(id), STR_ARG(name));

    map_put(&w->pending, str_from(key), w);
    free(key);
}

static int clear_finalizers(struct api_request *rq, void *ctx, struct value live, struct value *ret)
{
    UNUSED(ctx);
    *ret = value_copy_maps(rq->arena, live);
    if (value_is_map(value_getz(*ret, "spec")))
        value_unset(value_getz(*ret, "spec"), STR("finalizers"));
    return 0;
}

static bool finalize_namespace(struct apiserver *s, struct str name)
{
    CLEANUP(api_request_done) struct api_request rq = { 0 };
    const struct api_modify m = { .fn = clear_finalizers, .raw_spec = true };
    struct value ret;

    api_request_init(&rq, s);
    rq.manager = STR("kube-controller-manager");
    rq.verb = "update";
    return api_request_aim(&rq, NAMESPACES, STR(""), name) && api_object_modify(&rq, &m, &ret) == 0;
}

/* True when nothing is left of it. Secrets that pods or charts still read go with everything else: as on a real
 * server there is no order between kinds. */
static bool empty_namespace(struct apiserver *s, struct str name)
{
    struct api_catalog *c = api_server_catalog(s);
    size_t n, left = 0;
    const struct api_resource *rows = api_catalog_all(c, &n);

    for (size_t i = 0; i < n; i++)
        if (rows[i].namespaced && !(rows[i].flags & API_RES_VIRTUAL) && rows[i].storage == &rows[i])
            left += api_gc_empty(s, rows[i].id, name);
    api_catalog_unref(c);
    return left == 0 && finalize_namespace(s, name);
}

static bool empty_crd(struct apiserver *s, struct str name)
{
    const struct api_key key = { STR(API_CRD_ID), STR(""), name };

    if (api_gc_empty(s, name, STR("")) > 0) /* a CRD is named like its resource's id */
        return false;
    api_gc_drop_finalizer(s, &key, API_CRD_FINALIZER);
    return true;
}

static void run_pending(struct worker *w)
{
    struct str key, id, name;

    for (size_t i = 0; map_next(&w->pending, &i, &key, NULL);) {
        name = key;
        str_split(&name, ' ', &id);
        if (str_eq(id, NAMESPACES) ? empty_namespace(w->server, name) : empty_crd(w->server, name))
            map_remove(&w->pending, key);
    }
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static bool mentions(const struct api_row *row, const char *key)
{
    return str_contains(row->json, str_from(key));
}

static bool marked_for_deletion(struct arena *a, const struct api_row *row, struct value *obj)
{
    const struct json_options o = { .borrow = true };

    return mentions(row, "\"deletionTimestamp\"") && json_parse(a, row->json, &o, obj, NULL) == 0 &&
           api_meta_str(*obj, "deletionTimestamp").n > 0;
}

static void on_state(struct worker *w, struct arena *a, const struct api_row *row, bool fresh)
{
    bool ns = str_eq(row->key.resource, NAMESPACES);
    struct value obj;

    if (marked_for_deletion(a, row, &obj)) {
        if (ns || str_eq(row->key.resource, STR(API_CRD_ID)))
            remember(w, row->key.resource, row->key.name);
        if (mentions(row, "\"foregroundDeletion\"") || mentions(row, "\"orphan\""))
            api_gc_owner(w->server, &row->key);
    } else if (ns && fresh) {
        api_seed_namespace(w->server, row->key.name);
    }
    if (fresh && mentions(row, "\"ownerReferences\""))
        api_gc_object(w->server, &row->key);
}

/* What every namespace has comes back when somebody deletes it. */
static bool belongs_to_namespace(const struct api_key *key)
{
    return (str_eq(key->resource, STR("serviceaccounts")) && str_eq(key->name, STR("default"))) ||
           (str_eq(key->resource, STR("configmaps")) && str_eq(key->name, STR("kube-root-ca.crt")));
}

static void on_deleted(struct worker *w, struct arena *a, const struct api_row *row)
{
    const struct json_options o = { .borrow = true };
    struct value obj;

    if (json_parse(a, row->json, &o, &obj, NULL) < 0)
        return;
    api_gc_dependents(w->server, api_meta_str(obj, "uid"));
    if (mentions(row, "\"ownerReferences\""))
        api_gc_owners_of(w->server, &row->key, row->json);
    if (belongs_to_namespace(&row->key))
        api_seed_namespace(w->server, row->key.ns);
}

static void on_change(struct worker *w, struct arena *a, const struct api_change *c)
{
    struct arena_mark m = arena_mark(a);

    if (c->op == API_OP_DELETE)
        on_deleted(w, a, &c->row);
    else
        on_state(w, a, &c->row, c->op == API_OP_CREATE);
    arena_rewind(a, m);
}

/* 1 when there may be more at once. */
static int read_changes(struct worker *w)
{
    CLEANUP(arena_free) struct arena *a = arena_new(API_REQUEST_MEMORY_MAX);
    const struct api_changes q = { .resource = STR(""), .ns = STR(""), .after = w->rv, .max = BATCH };
    struct api_change *items = NULL;
    struct err *err = NULL;
    size_t n = 0;
    int64_t rv = w->rv;
    bool deleted = false;

    if (api_store_changes(w->server->store, &q, a, &items, &n, &rv, &err) < 0) {
        log_warn("changes cannot be read", LOG_ERR(err));
        if (err_code(err) == ERRC_GONE)
            w->rv = api_store_rv(w->server->store);
        err_free(err);
        return 0;
    }
    for (size_t i = 0; i < n && !w->server->stopping; i++) {
        on_change(w, a, &items[i]);
        deleted |= items[i].op == API_OP_DELETE;
    }
    w->rv = rv;
    if (deleted || n > 0)
        run_pending(w);
    return n == BATCH;
}

/* ---- at the start ------------------------------------------------------------------------------------------------ */

struct scan {
    struct arena *arena;
    struct api_row *rows;
    size_t n, cap;
};

static int on_scanned(void *ctx, const struct api_row *row, struct err **err)
{
    struct scan *s = ctx;

    UNUSED(err);
    if (!str_eq(row->key.resource, NAMESPACES) && !mentions(row, "\"deletionTimestamp\"") &&
        !mentions(row, "\"ownerReferences\""))
        return 0;
    if (s->n == s->cap) {
        size_t more = s->cap ? s->cap * 2 : 64;

        s->rows = arena_grow(s->arena, s->rows, s->cap * sizeof(*s->rows), more * sizeof(*s->rows));
        s->cap = more;
    }
    s->rows[s->n++] =
        (struct api_row){ .key = { arena_dup(s->arena, row->key.resource), arena_dup(s->arena, row->key.ns),
                                   arena_dup(s->arena, row->key.name) },
                          .rv = row->rv,
                          .json = arena_dup(s->arena, row->json),
                          .labels = STR("") };
    return 1;
}

/* What the last process left half done: its changes are not looked at again, the present state is. */
static void catch_up(struct worker *w)
{
    struct api_catalog *c = api_server_catalog(w->server);
    size_t n;
    const struct api_resource *rows = api_catalog_all(c, &n);

    for (size_t i = 0; i < n && !w->server->stopping; i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(API_REQUEST_MEMORY_MAX);
        struct scan s = { .arena = a };
        const struct api_list q = { .resource = rows[i].id };
        struct api_list_end end;

        if ((rows[i].flags & API_RES_VIRTUAL) || rows[i].storage != &rows[i] ||
            api_store_list(w->server->store, &q, on_scanned, &s, &end, NULL) < 0)
            continue;
        for (size_t j = 0; j < s.n && !w->server->stopping; j++)
            on_state(w, a, &s.rows[j], true);
    }
    api_catalog_unref(c);
    run_pending(w);
}

/* ---- by the clock ------------------------------------------------------------------------------------------------ */

struct expiry {
    struct worker *w;
    struct arena *arena;
    int64_t before_s;
    struct scan old;
};

static bool time_before(struct value v, int64_t before_s)
{
    struct wall_time t;

    return value_len(v) == 0 || !clock_parse_rfc3339(value_str(v), &t) || t.s < before_s;
}

static int on_event(void *ctx, const struct api_row *row, struct err **err)
{
    const struct json_options o = { .borrow = true };
    struct expiry *x = ctx;
    struct arena_mark m = arena_mark(x->arena);
    struct value v;
    bool old;

    UNUSED(err);
    old = json_parse(x->arena, row->json, &o, &v, NULL) == 0 &&
          time_before(value_getz(api_meta(v), "creationTimestamp"), x->before_s) &&
          time_before(value_getz(v, "lastTimestamp"), x->before_s);
    arena_rewind(x->arena, m);
    if (!old)
        return 0;
    if (x->old.n == x->old.cap) {
        size_t more = x->old.cap ? x->old.cap * 2 : 64;

        x->old.rows = arena_grow(x->old.arena, x->old.rows, x->old.cap * sizeof(*x->old.rows),
                                 more * sizeof(*x->old.rows));
        x->old.cap = more;
    }
    x->old.rows[x->old.n++] = (struct api_row){ .key = { STR("events"), arena_dup(x->old.arena, row->key.ns),
                                                         arena_dup(x->old.arena, row->key.name) },
                                                .rv = row->rv };
    return 1;
}

static void expire_events(struct worker *w)
{
    CLEANUP(arena_free) struct arena *a = arena_new(API_REQUEST_MEMORY_MAX);
    CLEANUP(arena_free) struct arena *keys = arena_new(API_REQUEST_MEMORY_MAX);
    struct expiry x = { w, a, clock_wall().s - EVENT_TTL_S, { .arena = keys } };
    const struct api_list q = { .resource = STR("events") };
    struct api_list_end end;

    if (api_store_list(w->server->store, &q, on_event, &x, &end, NULL) < 0)
        return;
    for (size_t i = 0; i < x.old.n && !w->server->stopping; i++) {
        struct value v = value_new_map(a);
        struct api_write write = { .op = API_OP_DELETE,
                                   .key = x.old.rows[i].key,
                                   .expect = x.old.rows[i].rv };

        value_setz(v, "apiVersion", VALUE_STR("v1"));
        value_setz(v, "kind", VALUE_STR("Event"));
        value_setz(v, "metadata", value_new_map(a));
        value_setz(api_meta(v), "name", value_from_str(write.key.name));
        value_setz(api_meta(v), "namespace", value_from_str(write.key.ns));
        write.object = v;
        IGNORE_ERROR(api_store_write(w->server->store, &write, NULL));
    }
}

static void by_the_clock(struct worker *w)
{
    int64_t now = clock_mono_ms();
    struct err *err = NULL;

    if (now >= w->compact_ms) {
        w->compact_ms = now + COMPACT_MS;
        if (api_store_compact(w->server->store, API_HISTORY_MS, API_HISTORY_MAX, &err) < 0) {
            log_warn("compaction failed", LOG_ERR(err));
            err_free(err);
        }
    }
    if (now >= w->expire_ms) {
        w->expire_ms = now + EXPIRE_MS;
        expire_events(w);
    }
    run_pending(w);
}

static void *run(void *arg)
{
    struct apiserver *s = arg;
    struct worker w = { .server = s, .rv = api_store_rv(s->store), .pending = MAP_INIT };

    w.compact_ms = clock_mono_ms() + COMPACT_MS;
    w.expire_ms = clock_mono_ms() + EXPIRE_MS;
    catch_up(&w);
    while (!s->stopping) {
        if (api_store_wait(s->store, STR(""), w.rv, TICK_MS))
            while (!s->stopping && read_changes(&w) > 0)
                ;
        else
            by_the_clock(&w);
    }
    map_done(&w.pending);
    return NULL;
}

int api_worker_start(struct apiserver *s, struct err **err)
{
    pthread_attr_t attr;
    int rc;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, WORKER_STACK);
    rc = pthread_create(&s->worker, &attr, run, s);
    pthread_attr_destroy(&attr);
    if (rc != 0)
        return err_errno(err, rc, "start the worker");
    s->has_worker = true;
    return 0;
}

void api_worker_stop(struct apiserver *s)
{
    if (!s->has_worker)
        return;
    api_store_wake(s->store);
    pthread_join(s->worker, NULL);
    s->has_worker = false;
}
