/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/delete.h"

#include "apiserver/listing.h"
#include "apiserver/object.h"
#include "apiserver/present.h"
#include "apiserver/schema.h"
#include "apiserver/server.h"
#include "base/buf.h"

enum { DELETE_TRIES = 50, POD_GRACE_S = 30 };

/* ---- options ------------------------------------------------------------------------------------------------- */

static int set_propagation(struct api_request *rq, struct str policy, struct api_causes *c,
                           struct api_delete_options *o)
{
    static const char *const supported[] = { "Background", "Foreground", "Orphan" };

    UNUSED(rq);
    if (str_eq(policy, STR("Background")))
        o->propagation = API_BACKGROUND;
    else if (str_eq(policy, STR("Foreground")))
        o->propagation = API_FOREGROUND;
    else if (str_eq(policy, STR("Orphan")))
        o->propagation = API_ORPHAN;
    else if (policy.n > 0)
        api_cause_not_supported(c, "propagationPolicy", value_from_str(policy), supported,
                                ARRAY_SIZE(supported));
    return 0;
}

static void set_orphan(bool has_policy, bool orphan, struct api_causes *c, struct api_delete_options *o)
{
    if (has_policy)
        api_cause_invalid(c, "propagationPolicy", VALUE_NONE,
                          "orphanDependents and deletionPropagation cannot be both set");
    else
        o->propagation = orphan ? API_ORPHAN : API_BACKGROUND;
}

static void options_from_body(struct api_request *rq, struct value v, struct api_causes *c,
                              struct api_delete_options *o)
{
    struct value grace = value_getz(v, "gracePeriodSeconds"), pre = value_getz(v, "preconditions");
    struct value orphan = value_getz(v, "orphanDependents");

    if (!value_is_null(grace)) {
        o->has_grace = true;
        o->grace_s = value_int(grace, 0);
    }
    o->uid = value_str(value_getz(pre, "uid"));
    o->rv = value_str(value_getz(pre, "resourceVersion"));
    set_propagation(rq, value_str(value_getz(v, "propagationPolicy")), c, o);
    if (!value_is_null(orphan))
        set_orphan(value_has(v, STR("propagationPolicy")), value_bool(orphan), c, o);
    for (struct value_iter it = value_iter(value_getz(v, "dryRun")); value_next(&it);)
        rq->dry_run |= str_eq(value_str(it.v), STR("All"));
}

static int options_from_query(struct api_request *rq, struct api_causes *c, struct api_delete_options *o)
{
    struct str grace = api_param(rq, "gracePeriodSeconds");

    if (grace.n > 0) {
        if (!str_to_int64(grace, &o->grace_s))
            return api_fail(rq, 400, "BadRequest",
                            "strconv.ParseInt: parsing \"" STR_FMT "\": invalid syntax", STR_ARG(grace));
        o->has_grace = true;
    }
    set_propagation(rq, api_param(rq, "propagationPolicy"), c, o);
    if (api_param_has(rq, "orphanDependents"))
        set_orphan(api_param_has(rq, "propagationPolicy"), api_param_bool(rq, "orphanDependents"), c, o);
    return 0;
}

static int read_options(struct api_request *rq, struct api_delete_options *o)
{
    struct api_causes causes = API_CAUSES_INIT(rq->arena);
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct value v;

    *o = (struct api_delete_options){ .uid = STR(""), .rv = STR("") };
    if (api_body_read(rq, &v, &strict) < 0)
        return -1;
    if (value_is_map(v))
        options_from_body(rq, v, &causes, o);
    else if (options_from_query(rq, &causes, o) < 0)
        return -1;
    if (causes.n > 0)
        return api_fail_invalid(rq, STR("DeleteOptions"), STR("meta.k8s.io"), STR(""), &causes);
    return 0;
}

/* ---- one object ---------------------------------------------------------------------------------------------- */

static bool has_finalizer(struct value obj, const char *name)
{
    for (struct value_iter it = value_iter(value_getz(api_meta(obj), "finalizers")); value_next(&it);)
        if (str_eq(value_str(it.v), str_from(name)))
            return true;
    return false;
}

/* registry/generic/registry/store.go: deletionFinalizersForGarbageCollection */
static const char *gc_finalizer(struct api_request *rq, const struct api_delete_options *o, struct value live)
{
    switch (o->propagation) {
    case API_ORPHAN:
        return "orphan";
    case API_FOREGROUND:
        return "foregroundDeletion";
    case API_BACKGROUND:
        return NULL;
    default:
        break;
    }
    if (has_finalizer(live, "orphan"))
        return "orphan";
    if (has_finalizer(live, "foregroundDeletion"))
        return "foregroundDeletion";
    return (rq->res->flags & API_RES_ORPHAN) ? "orphan" : NULL;
}

static struct value new_finalizers(struct api_request *rq, const struct api_delete_options *o,
                                   struct value live)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    const char *add = gc_finalizer(rq, o, live);

    for (struct value_iter it = value_iter(value_getz(api_meta(live), "finalizers")); value_next(&it);)
        if (!str_eq(value_str(it.v), STR("orphan")) && !str_eq(value_str(it.v), STR("foregroundDeletion")))
            value_list_add(&l, it.v);
    if (add)
        value_list_add(&l, value_from_str(str_from(add)));
    return value_list_done(&l);
}

static int check_preconditions(struct api_request *rq, const struct api_delete_options *o, struct value live)
{
    struct str uid = api_meta_str(live, "uid"), rv = api_meta_str(live, "resourceVersion");

    if (o->uid.n > 0 && !str_eq(o->uid, uid))
        return api_fail_conflict(rq, rq->res, rq->name,
                                 "Precondition failed: UID in precondition: " STR_FMT
                                 ", UID in object meta: " STR_FMT,
                                 STR_ARG(o->uid), STR_ARG(uid));
    if (o->rv.n > 0 && !str_eq(o->rv, rv))
        return api_fail_conflict(rq, rq->res, rq->name,
                                 "Precondition failed: ResourceVersion in precondition: " STR_FMT
                                 ", ResourceVersion in object meta: " STR_FMT,
                                 STR_ARG(o->rv), STR_ARG(rv));
    return 0;
}

static bool is_namespace(const struct api_request *rq)
{
    return str_eq(rq->res->id, STR("namespaces"));
}

static int check_allowed(struct api_request *rq)
{
    static const char *const kept[] = { "default", "kube-system", "kube-public" };

    for (size_t i = 0; is_namespace(rq) && i < ARRAY_SIZE(kept); i++)
        if (str_eq(rq->name, str_from(kept[i])))
            return api_fail_forbidden(rq, rq->res, rq->name, "this namespace may not be deleted");
    return 0;
}

/* Seconds that the object may still live: only a pod that a node runs has any. */
static int64_t grace_of(struct api_request *rq, const struct api_delete_options *o, struct value live)
{
    struct str phase = value_str(value_path(live, "status.phase"));

    if (!str_eq(rq->res->id, STR("pods")) || value_len(value_path(live, "spec.nodeName")) == 0 ||
        str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed")))
        return 0;
    if (o->has_grace)
        return MAX(o->grace_s, 0);
    return value_int(value_path(live, "spec.terminationGracePeriodSeconds"), POD_GRACE_S);
}

static struct value time_in(struct api_request *rq, int64_t seconds)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    clock_format_rfc3339((struct wall_time){ rq->now.s + seconds, 0 }, &b);
    return api_str(rq, buf_str(&b));
}

static void mark_namespace(struct api_request *rq, struct value obj)
{
    if (!value_is_map(value_getz(obj, "status")))
        value_setz(obj, "status", value_new_map(rq->arena));
    value_set_path(obj, "status.phase", VALUE_STR("Terminating"));
}

static struct value condition(struct api_request *rq, const char *type, const char *reason,
                              const char *message)
{
    struct value c = value_new_map(rq->arena);

    value_setz(c, "type", value_from_str(str_from(type)));
    value_setz(c, "status", VALUE_STR("True"));
    value_setz(c, "lastTransitionTime", time_in(rq, 0));
    value_setz(c, "reason", value_from_str(str_from(reason)));
    value_setz(c, "message", value_from_str(str_from(message)));
    return c;
}

static void mark_crd(struct api_request *rq, struct value obj)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    for (struct value_iter it = value_iter(value_path(obj, "status.conditions")); value_next(&it);)
        value_list_add(&l, it.v);
    value_list_add(
        &l, condition(rq, "Terminating", "InstanceDeletionPending",
                      "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
                      "soon"));
    value_set_path(obj, "status.conditions", value_list_done(&l));
}

/* The object as it waits for its finalizers or for its grace period to end. */
static struct value marked(struct api_request *rq, struct value live, struct value finalizers, int64_t grace)
{
    struct value obj = value_copy_maps(rq->arena, live), meta = api_meta(obj);
    int64_t generation = value_int(value_getz(meta, "generation"), 0);

    if (value_len(finalizers) > 0)
        value_setz(meta, "finalizers", finalizers);
    else
        value_unset(meta, STR("finalizers"));
    if (api_meta_str(live, "deletionTimestamp").n > 0) {
        if (grace < value_int(value_getz(meta, "deletionGracePeriodSeconds"), 0)) {
            value_setz(meta, "deletionTimestamp", time_in(rq, grace));
            value_setz(meta, "deletionGracePeriodSeconds", value_from_int(grace));
        }
        return obj;
    }
    value_setz(meta, "deletionTimestamp", time_in(rq, grace));
    value_setz(meta, "deletionGracePeriodSeconds", value_from_int(grace));
    if (generation > 0)
        value_setz(meta, "generation", value_from_int(generation + 1));
    if (is_namespace(rq))
        mark_namespace(rq, obj);
    if (str_eq(rq->res->id, STR("customresourcedefinitions.apiextensions.k8s.io")))
        mark_crd(rq, obj);
    return obj;
}

/* 1: done; 0: another write came first. */
static int delete_once(struct api_request *rq, const struct api_delete_options *o, struct value *ret,
                       bool *ret_gone)
{
    const struct api_key key = { rq->res->id, rq->ns, rq->name };
    struct value live, obj, finalizers;
    struct err *err = NULL;
    struct api_row row;
    int64_t grace;
    bool stays;
    int op;

    if (api_store_get(rq->server->store, &key, rq->arena, &row, &err) < 0) {
        if (err_code(err) != ERRC_NOT_FOUND)
            return api_fail_err(rq, err);
        err_free(err);
        return api_fail_not_found(rq, rq->res, rq->name);
    }
    if (api_read_stored(rq, rq->res, row.json, &live) < 0 || check_preconditions(rq, o, live) < 0)
        return -1;
    finalizers = new_finalizers(rq, o, live);
    grace = grace_of(rq, o, live);
    stays = value_len(finalizers) > 0 || grace > 0 ||
            (is_namespace(rq) && value_len(value_path(live, "spec.finalizers")) > 0);
    obj = stays ? marked(rq, live, finalizers, grace) : value_copy_maps(rq->arena, live);
    *ret = obj;
    *ret_gone = !stays;
    if (stays && api_apply_same(live, obj))
        return 1;
    op = stays ? API_OP_UPDATE : API_OP_DELETE;
    if (api_object_store(rq, op, row.rv, obj, &err) == 0)
        return 1;
    if (err_code(err) != ERRC_CONFLICT)
        return api_fail_err(rq, err);
    err_free(err);
    return 0;
}

int api_object_delete(struct api_request *rq, const struct api_delete_options *o, struct value *ret,
                      bool *ret_gone)
{
    if (check_allowed(rq) < 0)
        return -1;
    for (int i = 0; i < DELETE_TRIES; i++) {
        int r = delete_once(rq, o, ret, ret_gone);

        if (r != 0)
            return r < 0 ? r : 0;
    }
    return api_fail_changed(rq, rq->res, rq->name);
}

static struct value details_of(struct api_request *rq, struct value obj)
{
    struct value d = value_new_map(rq->arena);

    value_setz(d, "name", value_from_str(rq->name));
    if (rq->res->group.n > 0)
        value_setz(d, "group", value_from_str(rq->res->group));
    value_setz(d, "kind", value_from_str(rq->res->plural));
    value_setz(d, "uid", value_from_str(api_meta_str(obj, "uid")));
    return d;
}

int api_delete(struct api_request *rq)
{
    struct api_delete_options o;
    struct value obj;
    bool gone;

    if (read_options(rq, &o) < 0 || api_object_delete(rq, &o, &obj, &gone) < 0)
        return -1;
    if (!gone || (rq->res->flags & API_RES_RETURN_DELETED))
        return api_present(rq, 200, obj);
    return api_answer_success(rq, details_of(rq, obj));
}

/* ---- collections --------------------------------------------------------------------------------------------- */

struct collector {
    struct api_request *rq;
    const struct api_selector *selector;
    struct api_key *keys;
    size_t n, cap;
};

static int on_row(void *ctx, const struct api_row *row, struct err **err)
{
    struct collector *c = ctx;
    struct arena *a = c->rq->arena;
    struct value v = VALUE_NONE;

    UNUSED(err);
    if (!api_selector_labels(c->selector, row->labels))
        return 0;
    if (c->selector->needs_object && api_read_stored(c->rq, c->rq->res, arena_dup(a, row->json), &v) < 0)
        return 0;
    if (!api_selector_fields(c->selector, &row->key, v))
        return 0;
    if (c->n == c->cap) {
        size_t more = c->cap ? c->cap * 2 : 64;

        c->keys = arena_grow(a, c->keys, c->cap * sizeof(*c->keys), more * sizeof(*c->keys));
        c->cap = more;
    }
    c->keys[c->n++] =
        (struct api_key){ c->rq->res->id, arena_dup(a, row->key.ns), arena_dup(a, row->key.name) };
    return 1;
}

static int collect(struct api_request *rq, struct collector *c)
{
    struct api_list_options o;
    struct api_list_end end;
    struct err *err = NULL;
    struct api_list q = { .resource = rq->res->id, .ns = rq->ns };

    if (api_list_options_parse(rq, false, &o) < 0)
        return -1;
    c->selector = o.selector;
    q.name = o.selector->name;
    q.limit = (size_t)MAX(o.limit, 0);
    if (api_store_list(rq->server->store, &q, on_row, c, &end, &err) < 0)
        return api_fail_err(rq, err);
    return 0;
}

int api_delete_collection(struct api_request *rq)
{
    struct collector c = { .rq = rq };
    struct value_list items = VALUE_LIST_INIT(rq->arena);
    struct api_delete_options o;
    struct value v, meta, obj;
    bool gone;

    if (read_options(rq, &o) < 0 || collect(rq, &c) < 0)
        return -1;
    for (size_t i = 0; i < c.n; i++) {
        rq->name = c.keys[i].name;
        rq->ns = c.keys[i].ns;
        if (api_object_delete(rq, &o, &obj, &gone) == 0)
            value_list_add(&items, obj);
        else if (api_status_code(rq->failure) != 404)
            return -1;
        rq->failure = VALUE_NONE;
    }
    v = value_new_map(rq->arena);
    meta = value_new_map(rq->arena);
    value_setz(meta, "resourceVersion",
               value_from_str(arena_printf(rq->arena, "%lld", (long long)api_store_rv(rq->server->store))));
    value_setz(v, "kind", value_from_str(rq->res->list_kind));
    value_setz(v, "apiVersion", value_from_str(rq->res->api_version));
    value_setz(v, "metadata", meta);
    value_setz(v, "items", value_list_done(&items));
    return api_answer_value(rq, 200, v);
}
