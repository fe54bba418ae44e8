/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/schema_int.h"
#include "base/limits.h"

/* Custom objects: pruning and defaulting by a structural schema (apiextensions-apiserver/pkg/apiserver/schema). */

struct custom {
    struct arena *a;
    struct api_notes *strict;
    struct buf path;
    struct err **err;
    int depth;
};

static int prune(struct custom *c, struct value node, struct value v, bool resource, struct value *ret);

static size_t enter(struct custom *c, struct str name)
{
    const size_t n = c->path.n;

    buf_addf(&c->path, "%s" STR_FMT, n ? "." : "", STR_ARG(name));
    return n;
}

static size_t enter_item(struct custom *c, size_t i)
{
    const size_t n = c->path.n;

    buf_addf(&c->path, "[%zu]", i);
    return n;
}

/* ObjectMeta as Go would decode it; what it does not know goes. */
static int coerce_metadata(struct custom *c, struct value v, struct value *ret)
{
    struct api_notes unknown = API_NOTES_INIT(c->a);
    CLEANUP(err_free) struct err *why = NULL;
    struct str text;
    int r;

    r = api_schema_decode_type(c->a, api_kind_object_meta(), STR(""), STR("ObjectMeta"), v, ret, &unknown,
                               &why);
    if (r < 0) {
        struct api_causes causes = API_CAUSES_INIT(c->a);

        api_cause_invalid(&causes, buf_z(&c->path), v, err_message(why));
        text = causes.items[0].message;
        /* the object's own metadata is decoded earlier there, without a path */
        r = str_eq(buf_str(&c->path), STR("metadata"))
                ? err_set(c->err, ERRC_PARSE, "%s", err_message(why))
                : err_set(c->err, ERRC_PARSE, "%s: " STR_FMT, buf_z(&c->path), STR_ARG(text));
        if (c->err)
            err_set_http(*c->err, 400, STR("BadRequest"), 0);
        return r;
    }
    for (size_t i = 0; c->strict && i < unknown.n; i++) {
        text = str_trim_prefix(unknown.items[i], STR("unknown field \""));
        api_notes_add(c->strict, "unknown field \"%s." STR_FMT, buf_z(&c->path), STR_ARG(text));
    }
    return 0;
}

static bool is_meta(struct str key)
{
    return str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")) || str_eq(key, STR("metadata"));
}

static int prune_member(struct custom *c, struct value node, struct str key, struct value v, bool resource,
                        struct value into)
{
    const size_t n = enter(c, key);
    struct value out = v;
    bool known = false, drop = false;
    int r = 0;

    if (resource && str_eq(key, STR("metadata"))) {
        if (!value_is_null(v))
            r = coerce_metadata(c, v, &out);
    } else if (!resource || !is_meta(key)) {
        const struct value sub = schema_member(node, key, &known);

        drop = !known && !schema_flag(node, SCHEMA_PRESERVE);
        if (drop && c->strict)
            api_notes_add(c->strict, "unknown field \"%s\"", buf_z(&c->path));
        if (known && (!schema_flag(node, SCHEMA_PRESERVE) || !value_is_null(sub)))
            r = prune(c, sub, v, false, &out);
    }
    if (r >= 0 && !drop)
        value_append(into, key, out);
    buf_truncate(&c->path, n);
    return r;
}

static int prune_list(struct custom *c, struct value items, struct value v, struct value *ret)
{
    struct value_list l = VALUE_LIST_INIT(c->a);

    for (size_t i = 0; i < value_len(v); i++) {
        const size_t n = enter_item(c, i);
        struct value item = value_at(v, i);
        int r = prune(c, items, item, false, &item);

        if (r < 0)
            return r;
        value_list_add(&l, item);
        buf_truncate(&c->path, n);
    }
    *ret = value_list_done(&l);
    return 0;
}

static int prune(struct custom *c, struct value node, struct value v, bool resource, struct value *ret)
{
    struct value m;

    resource = resource || schema_flag(node, SCHEMA_EMBEDDED);
    if (value_is_list(v) && (!schema_flag(node, SCHEMA_PRESERVE) || value_has(node, STR("items"))))
        return prune_list(c, value_getz(node, "items"), v, ret);
    if (!value_is_map(v)) {
        *ret = v;
        return 0;
    }
    if (++c->depth > API_SCHEMA_DEPTH_MAX)
        return err_set(c->err, ERRC_LIMIT, "exceeded max depth");
    m = value_new_map_sized(c->a, value_len(v));
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        int r = prune_member(c, node, it.key, it.v, resource, m);

        if (r < 0)
            return r;
    }
    value_sort(m);
    c->depth--;
    *ret = m;
    return 0;
}

/* ---- defaults ---- */

/* A null where none is allowed counts as absent. */
static void drop_nulls(struct value node, struct value v)
{
    for (size_t i = value_len(v); i-- > 0;) {
        const struct str key = value_entry_at(v, i)->key;
        bool known;
        const struct value sub = schema_member(node, key, &known);

        if (value_is_null(value_entry_at(v, i)->v) && value_is_map(sub) && !schema_flag(sub, "nullable"))
            value_unset(v, key);
    }
}

static void set_defaults(struct arena *a, struct value node, struct value v, bool root)
{
    if (!value_is_map(node))
        return;
    if (value_is_list(v)) {
        for (size_t i = 0; i < value_len(v); i++)
            set_defaults(a, value_getz(node, "items"), value_at(v, i), false);
        return;
    }
    if (!value_is_map(v))
        return;
    drop_nulls(node, v);
    for (struct value_iter it = value_iter(value_getz(node, "properties")); value_next(&it);) {
        if (root && is_meta(it.key))
            continue;
        if (!value_has(v, it.key) && value_has(it.v, STR("default")))
            value_set(v, it.key, value_copy(a, value_getz(it.v, "default"), NULL));
    }
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        bool known;

        if (!root || !is_meta(it.key))
            set_defaults(a, schema_member(node, it.key, &known), it.v, false);
    }
}

int api_schema_decode_custom(struct arena *a, const struct api_schema *s, struct value in, struct value *ret,
                             struct api_notes *strict, struct err **err)
{
    struct custom c = { .a = a, .strict = strict, .path = BUF_INIT(MIB), .err = err };
    const struct value node = schema_openapi(s);
    struct value v = in;
    int r;

    if (value_is_null(node)) {
        struct value all = value_new_map(a);

        value_setz(all, SCHEMA_PRESERVE, value_from_bool(true));
        r = prune(&c, all, value_copy_maps(a, in), true, &v);
    } else {
        r = prune(&c, node, value_copy_maps(a, in), true, &v);
    }
    buf_done(&c.path);
    if (r < 0)
        return r;
    set_defaults(a, node, v, true);
    *ret = v;
    return 0;
}
