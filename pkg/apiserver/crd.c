/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/crd.h"

#include "apiserver/schema.h"
#include "apiserver/server.h"

static struct value now_value(struct api_request *rq)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    clock_format_rfc3339(rq->now, &b);
    return api_str(rq, buf_str(&b));
}

static struct value make_condition(struct api_request *rq, const char *type, bool on, const char *reason,
                                   struct str message)
{
    struct value c = value_new_map(rq->arena);

    value_setz(c, "type", value_from_str(str_from(type)));
    value_setz(c, "status", on ? VALUE_STR("True") : VALUE_STR("False"));
    value_setz(c, "lastTransitionTime", now_value(rq));
    value_setz(c, "reason", value_from_str(str_from(reason)));
    value_setz(c, "message", value_from_str(message));
    return c;
}

static struct value find_condition(struct value conditions, struct str type)
{
    for (struct value_iter it = value_iter(conditions); value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "type")), type))
            return it.v;
    return VALUE_NONE;
}

/* A condition that says what it said before keeps its time. */
static struct value settle(struct value conditions, struct value c)
{
    struct value old = find_condition(conditions, value_str(value_getz(c, "type")));

    if (value_is_null(old) || !value_equal(value_getz(old, "status"), value_getz(c, "status")) ||
        !value_equal(value_getz(old, "reason"), value_getz(c, "reason")))
        return c;
    return old;
}

struct conflict {
    const char *reason; /* NULL: none */
    struct str message;
};

static bool in_names(struct str list, struct str name)
{
    struct str one;

    while (list.n > 0 && str_split(&list, ',', &one))
        if (str_eq(one, name))
            return true;
    return false;
}

static void conflict_with(struct api_request *rq, const struct api_resource *r, struct value names,
                          struct conflict *c)
{
    static const char message[] = "is already in use";
    const struct {
        const char *key, *reason;
        struct str used;
    } single[] = { { "plural", "PluralConflict", r->plural },
                   { "singular", "SingularConflict", r->singular },
                   { "kind", "KindConflict", r->kind },
                   { "listKind", "ListKindConflict", r->list_kind } };

    for (size_t i = 0; i < ARRAY_SIZE(single) && !c->reason; i++) {
        struct str want = value_str(value_get(names, str_from(single[i].key)));

        if (want.n == 0 || !str_eq(want, single[i].used))
            continue;
        c->reason = single[i].reason;
        c->message = arena_printf(rq->arena, "\"" STR_FMT "\" %s", STR_ARG(want), message);
    }
    for (struct value_iter it = value_iter(value_getz(names, "shortNames")); !c->reason && value_next(&it);) {
        if (!in_names(r->short_names, value_str(it.v)))
            continue;
        c->reason = "ShortNamesConflict";
        c->message = arena_printf(rq->arena, "\"" STR_FMT "\" %s", STR_ARG(value_str(it.v)), message);
    }
}

/* Names are unique in a group; a CRD never conflicts with itself. */
static struct conflict find_conflict(struct api_request *rq, struct value obj)
{
    struct str group = value_str(value_path(obj, "spec.group")),
               plural = value_str(value_path(obj, "spec.names.plural"));
    struct conflict c = { NULL, STR("no conflicts found") };
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);

    for (size_t i = 0; i < n && !c.reason; i++)
        if (str_eq(rows[i].group, group) && (rows[i].builtin || !str_eq(rows[i].plural, plural)))
            conflict_with(rq, &rows[i], value_path(obj, "spec.names"), &c);
    return c;
}

static struct value stored_versions(struct api_request *rq, struct value obj, struct value status)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    struct str storage = STR("");
    bool there = false;

    for (struct value_iter it = value_iter(value_path(obj, "spec.versions")); value_next(&it);)
        if (value_bool(value_getz(it.v, "storage")))
            storage = value_str(value_getz(it.v, "name"));
    for (struct value_iter it = value_iter(value_getz(status, "storedVersions")); value_next(&it);) {
        there |= str_eq(value_str(it.v), storage);
        value_list_add(&l, it.v);
    }
    if (!there)
        value_list_add(&l, value_from_str(storage));
    return value_list_done(&l);
}

/* What the naming and establishing controllers write a moment later on a real server. */
static void set_status(struct api_request *rq, struct value obj, struct value live)
{
    struct value old = value_getz(live, "status"), old_conditions = value_getz(old, "conditions");
    struct value status = value_new_map(rq->arena), established;
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    struct conflict c = find_conflict(rq, obj);
    bool was = str_eq(value_str(value_getz(find_condition(old_conditions, STR("Established")), "status")),
                      STR("True"));

    value_list_add(&l,
                   settle(old_conditions, make_condition(rq, "NamesAccepted", !c.reason,
                                                         c.reason ? c.reason : "NoConflicts", c.message)));
    if (c.reason && !was)
        established =
            make_condition(rq, "Established", false, "NotAccepted", STR("not all names are accepted"));
    else
        established = make_condition(rq, "Established", true, "InitialNamesAccepted",
                                     STR("the initial names have been accepted"));
    value_list_add(&l, settle(old_conditions, established));
    for (struct value_iter it = value_iter(old_conditions); value_next(&it);)
        if (!str_eq(value_str(value_getz(it.v, "type")), STR("NamesAccepted")) &&
            !str_eq(value_str(value_getz(it.v, "type")), STR("Established")))
            value_list_add(&l, it.v);
    value_setz(status, "conditions", value_list_done(&l));
    value_setz(status, "acceptedNames",
               c.reason && was ? value_getz(old, "acceptedNames") : value_path(obj, "spec.names"));
    value_setz(status, "storedVersions", stored_versions(rq, obj, old));
    value_setz(obj, "status", status);
}

static void add_finalizer(struct api_request *rq, struct value obj)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    for (struct value_iter it = value_iter(value_getz(api_meta(obj), "finalizers")); value_next(&it);) {
        if (str_eq(value_str(it.v), STR(API_CRD_FINALIZER)))
            return;
        value_list_add(&l, it.v);
    }
    value_list_add(&l, VALUE_STR(API_CRD_FINALIZER));
    value_setz(api_meta(obj), "finalizers", value_list_done(&l));
}

int api_crd_admit(struct api_request *rq, struct value obj, struct value live)
{
    struct api_causes causes = API_CAUSES_INIT(rq->arena);

    if (rq->sub.n > 0)
        return 0;
    api_schema_default_crd(rq->arena, obj);
    api_schema_check_crd(obj, live, &causes);
    if (causes.n > 0)
        return api_fail_invalid(rq, rq->res->kind, rq->res->group, rq->name, &causes);
    if (value_is_null(live))
        add_finalizer(rq, obj);
    if (api_meta_str(obj, "deletionTimestamp").n == 0)
        set_status(rq, obj, live);
    return 0;
}
