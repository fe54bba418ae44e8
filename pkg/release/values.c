/* SPDX-License-Identifier: Apache-2.0 */
#include "release/values.h"

#include "base/buf.h"
#include "base/encode.h"
#include "base/limits.h"
#include "chart/chart.h"

struct chain { /* the way from the first Values object to this one */
    const struct chain *up;
    struct str name;
    int depth;
    int *reads; /* of the whole walk */
};

static struct value transform(struct arena *a, struct value v, bool sensitive, int depth)
{
    if (sensitive)
        v.flags |= VALUE_SENSITIVE;
    if (v.kind == VALUE_INT)
        v = (struct value){ .kind = VALUE_FLOAT, .flags = v.flags, .f = (double)v.i };
    else if (v.kind == VALUE_UINT)
        v = (struct value){ .kind = VALUE_FLOAT, .flags = v.flags, .f = (double)v.u };
    if (depth > VALUE_DEPTH_MAX)
        return VALUE_NONE;
    if (v.kind == VALUE_LIST) {
        struct value *items = ARENA_ARRAY(a, struct value, v.n);

        for (uint32_t i = 0; i < v.n; i++)
            items[i] = transform(a, v.list[i], sensitive, depth + 1);
        v.list = items;
    } else if (v.kind == VALUE_MAP) {
        struct value m = value_new_map_sized(a, v.map->n);

        for (uint32_t i = 0; i < v.map->n; i++)
            value_append(m, v.map->e[i].key, transform(a, v.map->e[i].v, sensitive, depth + 1));
        v.map = m.map;
    }
    return v;
}

struct value values_floats(struct arena *a, struct value v)
{
    return transform(a, v, false, 0);
}

static int cycle_error(const struct chain *end, struct err **err)
{
    CLEANUP(buf_done) struct buf path = BUF_INIT(64 * KIB);
    const struct chain *links[VALUES_REFS_DEPTH_MAX + 2];
    int n = 0;

    for (const struct chain *c = end; c; c = c->up)
        links[n++] = c;
    while (n-- > 0) {
        buf_addstr(&path, links[n]->name);
        if (n > 0)
            buf_adds(&path, " -> ");
    }
    return err_set(err, ERRC_INVALID, "Values %s: the refs %s", buf_z(&path),
                   end->depth > VALUES_REFS_DEPTH_MAX ? "are nested too deeply" : "form a cycle");
}

static int check_chain(const struct chain *c, struct err **err)
{
    if (c->depth > VALUES_REFS_DEPTH_MAX)
        return cycle_error(c, err);
    for (const struct chain *up = c->up; up; up = up->up)
        if (str_eq(up->name, c->name))
            return cycle_error(c, err);
    return 0;
}

static int resolve(const struct values_source *src, struct arena *a, struct str ns, const struct chain *at,
                   struct value *ret, struct err **err)
{
    struct value object, spec, referred = value_new_map(a), v;
    int r = check_chain(at, err);

    if (r == 0 && (*at->reads)++ == VALUES_READS_MAX)
        r = err_set(err, ERRC_LIMIT, "Values %.*s: more than %d objects are referred to", STR_ARG(at->name),
                    VALUES_READS_MAX);
    if (r < 0)
        return r;
    r = src->get(src->ctx, a, "Values", ns, at->name, &object, err);
    if (r < 0 && at->up)
        return err_wrap(err, r, "Values %.*s: spec.refs", STR_ARG(at->up->name));
    if (r < 0)
        return r;
    spec = value_getz(object, "spec");
    for (struct value_iter it = value_iter(value_getz(spec, "refs")); value_next(&it);) {
        struct chain next = { at, value_str(it.v), at->depth + 1, at->reads };

        r = resolve(src, a, ns, &next, &v, err);
        if (r < 0)
            return r;
        value_set(referred, it.key, v);
    }
    v = value_getz(spec, "json");
    if (!value_is_null(v) && !value_is_map(v))
        return err_set(err, ERRC_INVALID, "Values %.*s: spec.json is not an object", STR_ARG(at->name));
    *ret = value_is_map(v) ? chart_values_merge(a, referred, v) : referred;
    return 0;
}

int values_resolve(const struct values_source *src, struct arena *a, struct str ns, struct str name,
                   struct value *ret, struct err **err)
{
    int reads = 0;
    struct chain first = { NULL, name, 1, &reads };

    return resolve(src, a, ns, &first, ret, err);
}

struct str *values_refs(struct arena *a, struct value values_object, size_t *ret_n)
{
    struct value refs = value_path(values_object, "spec.refs");
    struct str *names = ARENA_ARRAY(a, struct str, value_len(refs));

    for (struct value_iter it = value_iter(refs); value_next(&it);)
        names[it.i] = value_str(it.v);
    *ret_n = value_len(refs);
    return names;
}

/* The text under the key of a ConfigMap or Secret; false when the key is absent. */
static bool pick_key(struct arena *a, struct value object, bool secret, struct str key, struct str *ret)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(2 * MIB);
    struct value v = value_get(value_getz(object, "data"), key);

    if (!value_is_string(v))
        return false;
    if (!secret) {
        *ret = value_str(v);
        return true;
    }
    if (!base64_decode(BASE64_STD, value_str(v), &text, NULL) || text.failed)
        return false;
    *ret = arena_dup(a, buf_str(&text));
    return true;
}

static int read_from(const struct values_source *src, struct arena *a, struct str ns, struct value item,
                     struct value *ret, struct err **err)
{
    struct str kind = value_str(value_getz(item, "kind")), name = value_str(value_getz(item, "name"));
    struct str key = value_str(value_getz(item, "valuesKey")), text;
    bool optional = value_bool(value_getz(item, "optional")), secret = str_eq(kind, STR("Secret"));
    struct value object;
    int r = src->get(src->ctx, a, secret ? "Secret" : "ConfigMap", ns, name, &object, err);

    *ret = VALUE_NONE;
    if (r == -ERRC_NOT_FOUND && optional) {
        err_clear(err);
        return 0;
    }
    if (r < 0)
        return err_wrap(err, r, "spec.valuesFrom");
    if (key.n == 0)
        key = STR("values.yaml");
    if (!pick_key(a, object, secret, key, &text)) {
        if (optional)
            return 0;
        return err_set(err, ERRC_NOT_FOUND, "spec.valuesFrom: %.*s %.*s/%.*s has no key %.*s", STR_ARG(kind),
                       STR_ARG(ns), STR_ARG(name), STR_ARG(key));
    }
    r = chart_values_parse(a, text, ret, err);
    if (r < 0 && secret) { /* a parser's words may quote the text */
        err_clear(err);
        return err_set(err, ERRC_PARSE, "spec.valuesFrom: key %.*s of Secret %.*s/%.*s is not a YAML map",
                       STR_ARG(key), STR_ARG(ns), STR_ARG(name));
    }
    if (r < 0)
        return err_wrap(err, r, "spec.valuesFrom: %.*s %.*s/%.*s key %.*s", STR_ARG(kind), STR_ARG(ns),
                        STR_ARG(name), STR_ARG(key));
    *ret = transform(a, *ret, secret, 0);
    return 0;
}

int values_collect(const struct values_source *src, struct arena *a, struct str ns, struct value names,
                   struct value from, struct value inline_values, struct value *ret, struct err **err)
{
    struct value all = value_new_map(a), v;
    int r;

    for (struct value_iter it = value_iter(names); value_next(&it);) {
        r = values_resolve(src, a, ns, value_str(it.v), &v, err);
        if (r < 0)
            return r;
        all = chart_values_merge(a, all, values_floats(a, v));
    }
    for (struct value_iter it = value_iter(from); value_next(&it);) {
        r = read_from(src, a, ns, it.v, &v, err);
        if (r < 0)
            return r;
        if (value_is_map(v))
            all = chart_values_merge(a, all, v);
    }
    if (value_is_map(inline_values))
        all = chart_values_merge(a, all, values_floats(a, inline_values));
    *ret = all;
    return 0;
}
