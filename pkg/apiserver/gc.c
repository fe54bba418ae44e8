/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "apiserver"
#include "apiserver/gc.h"

#include "apiserver/delete.h"
#include "apiserver/object.h"
#include "apiserver/present.h"
#include "base/log.h"
#include "json/json.h"

static bool aim(struct api_request *rq, struct apiserver *s, const struct api_key *key, const char *verb)
{
    api_request_init(rq, s);
    rq->manager = STR("kube-controller-manager");
    rq->verb = verb;
    return api_request_aim(rq, key->resource, key->ns, key->name);
}

static bool read_object(struct api_request *rq, struct value *ret)
{
    const struct api_key key = { rq->res->id, rq->ns, rq->name };
    struct api_row row;

    return api_store_get(rq->server->store, &key, rq->arena, &row, NULL) == 0 &&
           json_parse(rq->arena, row.json, NULL, ret, NULL) == 0;
}

static void note_failure(struct api_request *rq, const char *what)
{
    int code = value_is_null(rq->failure) ? 0 : api_status_code(rq->failure);

    if (code != 0 && code != 404 && code != 409)
        log_warn("garbage collection", LOG_Z("step", what), LOG_STR("resource", rq->res->id),
                 LOG_STR("name", rq->name),
                 LOG_STR("message", value_str(value_getz(rq->failure, "message"))));
}

static bool has_finalizer(struct value obj, const char *name)
{
    for (struct value_iter it = value_iter(value_getz(api_meta(obj), "finalizers")); value_next(&it);)
        if (str_eq(value_str(it.v), str_from(name)))
            return true;
    return false;
}

/* ---- owners -------------------------------------------------------------------------------------------------- */

enum owner_state { OWNER_UNKNOWN, OWNER_ABSENT, OWNER_WAITING, OWNER_SOLID };

static struct str group_of(struct str api_version)
{
    size_t slash = str_find_char(api_version, '/');

    return slash == STR_NPOS ? STR("") : str_sub(api_version, 0, slash);
}

static bool owner_key(struct api_request *rq, struct value ref, struct api_key *ret)
{
    const struct api_resource *res =
        api_catalog_find_kind(rq->catalog, group_of(value_str(value_getz(ref, "apiVersion"))), STR(""),
                              value_str(value_getz(ref, "kind")));

    if (!res)
        return false;
    *ret =
        (struct api_key){ res->id, res->namespaced ? rq->ns : STR(""), value_str(value_getz(ref, "name")) };
    return !res->namespaced || rq->ns.n > 0; /* a cluster-scoped object cannot have an owner in a namespace */
}

static enum owner_state owner_state(struct api_request *rq, struct value ref)
{
    struct api_key key;
    struct api_row row;
    struct value owner;
    int r;

    if (!owner_key(rq, ref, &key))
        return OWNER_UNKNOWN;
    r = api_store_get(rq->server->store, &key, rq->arena, &row, NULL);
    if (r == -ERRC_NOT_FOUND)
        return OWNER_ABSENT;
    if (r < 0 || json_parse(rq->arena, row.json, NULL, &owner, NULL) < 0)
        return OWNER_UNKNOWN;
    if (!str_eq(api_meta_str(owner, "uid"), value_str(value_getz(ref, "uid"))))
        return OWNER_ABSENT;
    if (api_meta_str(owner, "deletionTimestamp").n > 0 && has_finalizer(owner, "foregroundDeletion"))
        return OWNER_WAITING;
    return OWNER_SOLID;
}

struct owners {
    size_t unknown, absent, waiting, solid;
};

static struct owners count_owners(struct api_request *rq, struct value obj)
{
    struct owners n = { 0 };

    for (struct value_iter it = value_iter(value_getz(api_meta(obj), "ownerReferences")); value_next(&it);)
        switch (owner_state(rq, it.v)) {
        case OWNER_UNKNOWN:
            n.unknown++;
            break;
        case OWNER_ABSENT:
            n.absent++;
            break;
        case OWNER_WAITING:
            n.waiting++;
            break;
        case OWNER_SOLID:
            n.solid++;
            break;
        }
    return n;
}

/* ---- changing references and finalizers ------------------------------------------------------------------------ */

struct drop {
    struct str uid;        /* references to this owner; "": to owners that are absent or waiting */
    const char *finalizer; /* instead of references */
};

static void set_list(struct value meta, const char *key, const struct value_list *l)
{
    if (l->n > 0)
        value_set(meta, str_from(key), value_list_done(l));
    else
        value_unset(meta, str_from(key));
}

static int drop_from(struct api_request *rq, void *ctx, struct value live, struct value *ret)
{
    const struct drop *d = ctx;
    struct value obj = value_copy_maps(rq->arena, live), meta = api_meta(obj);
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    if (d->finalizer) {
        for (struct value_iter it = value_iter(value_getz(meta, "finalizers")); value_next(&it);)
            if (!str_eq(value_str(it.v), str_from(d->finalizer)))
                value_list_add(&l, it.v);
        set_list(meta, "finalizers", &l);
    } else {
        for (struct value_iter it = value_iter(value_getz(meta, "ownerReferences")); value_next(&it);) {
            bool drop = d->uid.n > 0
                            ? str_eq(value_str(value_getz(it.v, "uid")), d->uid)
                            : owner_state(rq, it.v) == OWNER_ABSENT || owner_state(rq, it.v) == OWNER_WAITING;

            if (!drop)
                value_list_add(&l, it.v);
        }
        set_list(meta, "ownerReferences", &l);
    }
    *ret = obj;
    return 0;
}

static void drop_in(struct apiserver *s, const struct api_key *key, struct drop d, const char *what)
{
    CLEANUP(api_request_done) struct api_request rq = { 0 };
    const struct api_modify m = { .fn = drop_from, .ctx = &d, .raw_spec = true };
    struct value ret;

    if (aim(&rq, s, key, "patch") && api_object_modify(&rq, &m, &ret) < 0)
        note_failure(&rq, what);
}

void api_gc_drop_finalizer(struct apiserver *s, const struct api_key *key, const char *finalizer)
{
    drop_in(s, key, (struct drop){ .uid = STR(""), .finalizer = finalizer }, "remove finalizer");
}

static void delete_one(struct api_request *rq, struct value obj, enum api_propagation p)
{
    const struct api_delete_options o = { .uid = api_meta_str(obj, "uid"), .rv = STR(""), .propagation = p };
    struct value ret;
    bool gone;

    if (api_object_delete(rq, &o, &ret, &gone) < 0)
        note_failure(rq, "delete");
}

/* ---- decisions ------------------------------------------------------------------------------------------------- */

static bool has_dependents(struct api_request *rq, struct value obj)
{
    struct api_key *keys;
    size_t n = 0;

    return api_store_dependents(rq->server->store, api_meta_str(obj, "uid"), rq->arena, &keys, &n, NULL) ==
               0 &&
           n > 0;
}

void api_gc_object(struct apiserver *s, const struct api_key *key)
{
    CLEANUP(api_request_done) struct api_request rq = { 0 };
    struct value obj;
    struct owners n;

    if (!aim(&rq, s, key, "delete") || !read_object(&rq, &obj))
        return;
    n = count_owners(&rq, obj);
    if (n.solid + n.unknown > 0) {
        if (n.solid > 0 && n.absent + n.waiting > 0)
            drop_in(s, key, (struct drop){ .uid = STR("") }, "remove references");
        return;
    }
    if (n.absent + n.waiting == 0)
        return;
    if (n.waiting > 0 && has_dependents(&rq, obj)) {
        delete_one(&rq, obj, API_FOREGROUND);
        return;
    }
    if (api_meta_str(obj, "deletionTimestamp").n > 0)
        return;
    delete_one(&rq, obj,
               has_finalizer(obj, "orphan")               ? API_ORPHAN
               : has_finalizer(obj, "foregroundDeletion") ? API_FOREGROUND
                                                          : API_BACKGROUND);
}

static bool blocks(struct api_request *rq, const struct api_key *key, struct str uid)
{
    struct api_row row;
    struct value obj;

    if (api_store_get(rq->server->store, key, rq->arena, &row, NULL) < 0 ||
        json_parse(rq->arena, row.json, NULL, &obj, NULL) < 0)
        return false;
    for (struct value_iter it = value_iter(value_getz(api_meta(obj), "ownerReferences")); value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "uid")), uid) &&
            value_bool(value_getz(it.v, "blockOwnerDeletion")))
            return true;
    return false;
}

static void foreground(struct api_request *rq, const struct api_key *owner, struct str uid,
                       const struct api_key *keys, size_t n)
{
    bool blocked = false;

    for (size_t i = 0; i < n; i++)
        api_gc_object(rq->server, &keys[i]);
    for (size_t i = 0; i < n; i++)
        blocked |= blocks(rq, &keys[i], uid);
    if (!blocked)
        api_gc_drop_finalizer(rq->server, owner, "foregroundDeletion");
}

void api_gc_owner(struct apiserver *s, const struct api_key *key)
{
    CLEANUP(api_request_done) struct api_request rq = { 0 };
    struct api_key *keys = NULL;
    struct value obj;
    struct str uid;
    size_t n = 0;

    if (!aim(&rq, s, key, "patch") || !read_object(&rq, &obj) ||
        api_meta_str(obj, "deletionTimestamp").n == 0)
        return;
    uid = api_meta_str(obj, "uid");
    if (api_store_dependents(s->store, uid, rq.arena, &keys, &n, NULL) < 0)
        return;
    if (has_finalizer(obj, "orphan")) {
        for (size_t i = 0; i < n; i++)
            drop_in(s, &keys[i], (struct drop){ .uid = uid }, "orphan");
        api_gc_drop_finalizer(s, key, "orphan");
    } else if (has_finalizer(obj, "foregroundDeletion")) {
        foreground(&rq, key, uid, keys, n);
    }
}

void api_gc_dependents(struct apiserver *s, struct str uid)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 << 20);
    struct api_key *keys = NULL;
    size_t n = 0;

    if (uid.n == 0 || api_store_dependents(s->store, uid, a, &keys, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        api_gc_object(s, &keys[i]);
}

void api_gc_owners_of(struct apiserver *s, const struct api_key *key, struct str json)
{
    CLEANUP(api_request_done) struct api_request rq = { 0 };
    struct api_key owner;
    struct value obj;

    if (!aim(&rq, s, key, "get") || json_parse(rq.arena, json, NULL, &obj, NULL) < 0)
        return;
    for (struct value_iter it = value_iter(value_getz(api_meta(obj), "ownerReferences")); value_next(&it);)
        if (owner_state(&rq, it.v) == OWNER_WAITING && owner_key(&rq, it.v, &owner))
            api_gc_owner(s, &owner);
}

/* ---- emptying -------------------------------------------------------------------------------------------------- */

struct names {
    struct arena *arena;
    struct api_key *keys;
    size_t n, cap;
};

static int on_name(void *ctx, const struct api_row *row, struct err **err)
{
    struct names *l = ctx;

    UNUSED(err);
    if (l->n == l->cap) {
        size_t more = l->cap ? l->cap * 2 : 64;

        l->keys = arena_grow(l->arena, l->keys, l->cap * sizeof(*l->keys), more * sizeof(*l->keys));
        l->cap = more;
    }
    l->keys[l->n++] =
        (struct api_key){ arena_dup(l->arena, row->key.resource), arena_dup(l->arena, row->key.ns),
                          arena_dup(l->arena, row->key.name) };
    return 1;
}

size_t api_gc_empty(struct apiserver *s, struct str resource, struct str ns)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 << 20);
    struct names l = { .arena = a };
    const struct api_list q = { .resource = resource, .ns = ns };
    struct api_list_end end;
    size_t left = 0;

    if (api_store_list(s->store, &q, on_name, &l, &end, NULL) < 0)
        return 1;
    for (size_t i = 0; i < l.n; i++) {
        CLEANUP(api_request_done) struct api_request rq = { 0 };
        const struct api_delete_options o = {
            .uid = STR(""), .rv = STR(""), .propagation = API_BACKGROUND, .has_grace = true
        };
        struct value ret;
        bool gone = false;

        if (!aim(&rq, s, &l.keys[i], "delete"))
            continue;
        if (api_object_delete(&rq, &o, &ret, &gone) < 0)
            note_failure(&rq, "empty");
        left += !gone;
    }
    return left;
}
