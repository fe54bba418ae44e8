/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/utf8.h"
#include "chart/chart_int.h"
#include "semver/semver.h"

/* Helm's ProcessDependencies(): which subcharts are on, under which names, and what they export to their parents. */

struct resolver {
    struct arena *arena;
    const struct chart_log *log;
};

/* ---- the tree as loaded ---- */

static struct chart_node *node_new(struct resolver *r, const struct chart *c, struct chart_node *parent)
{
    struct chart_node *n = ARENA_NEW(r->arena, struct chart_node);

    n->chart = c;
    n->parent = parent;
    n->metadata = metadata_copy(r->arena, &c->metadata);
    n->values = doc_root(c->values);
    n->n_subs = c->n_subcharts;
    n->subs = ARENA_ARRAY(r->arena, struct chart_node *, n->n_subs);
    for (size_t i = 0; i < n->n_subs; i++)
        n->subs[i] = node_new(r, c->subcharts[i], n);
    return n;
}

/* ---- paths into values (common.Values) ---- */

static bool find_table(struct value v, struct str path, struct value *ret, struct str *ret_missing)
{
    struct str name;

    while (str_split(&path, '.', &name)) {
        const struct value_entry *e = value_find(v, name);

        if (!e || !value_is_map(e->v)) {
            *ret_missing = name;
            return false;
        }
        v = e->v;
    }
    *ret = v;
    return true;
}

/* PathValue(): what is there, unless it is a table. */
static bool find_leaf(struct value v, struct str path, struct value *ret)
{
    size_t dot = str_rfind_char(path, '.');
    struct str missing;
    const struct value_entry *e;

    if (dot != STR_NPOS && !find_table(v, str_sub(path, 0, dot), &v, &missing))
        return false;
    e = value_find(v, dot == STR_NPOS ? path : str_sub(path, dot + 1, path.n));
    if (!e || value_is_map(e->v))
        return false;
    *ret = e->v;
    return true;
}

/* ---- on or off ---- */

static void warn_non_bool(const struct resolver *r, const char *what, struct str key, struct str chart)
{
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(64 * KIB);

    chart_log_attr(&attrs, what, key);
    chart_log_attr(&attrs, "chart", chart);
    chart_log_line(r->log, "WARN", buf_z(&attrs), "returned non-bool value");
}

static void apply_tags(const struct resolver *r, struct metadata *md, struct value values)
{
    struct value tags;
    struct str missing;

    if (!find_table(values, STR("tags"), &tags, &missing))
        return;
    for (size_t i = 0; i < md->n_dependencies; i++) {
        struct metadata_dependency *d = &md->dependencies[i];
        bool any_true = false, any_false = false;

        for (size_t k = 0; k < d->tags.n; k++) {
            const struct value_entry *e = value_find(tags, d->tags.items[k]);

            if (!e)
                continue;
            if (e->v.kind != VALUE_BOOL)
                warn_non_bool(r, "tag", d->tags.items[k], d->name);
            else if (e->v.b)
                any_true = true;
            else
                any_false = true;
        }
        d->enabled = any_true || !any_false;
    }
}

/* The first path with a boolean decides. */
static void apply_condition(const struct resolver *r, struct metadata_dependency *d, struct value values,
                            const char *path)
{
    struct str conditions = str_trim(d->condition), one;

    while (str_split(&conditions, ',', &one)) {
        struct str full = arena_printf(r->arena, "%s" STR_FMT, path, STR_ARG(one));
        struct value v;

        if (one.n == 0 || !find_leaf(values, full, &v))
            continue;
        if (v.kind == VALUE_BOOL) {
            d->enabled = v.b;
            return;
        }
        warn_non_bool(r, "path", one, d->name);
    }
}

static bool is_compatible(struct str constraint, struct str version)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    struct semver v;

    return semver_parse(version, &v, NULL) >= 0 && semver_constraint_parse(constraint, &c, NULL) >= 0 &&
           semver_constraint_check(c, &v);
}

static bool satisfies(const struct chart_node *sub, const struct metadata_dependency *d)
{
    return str_eq(chart_node_name(sub), d->name) && is_compatible(d->version, sub->metadata->version);
}

static bool is_listed(const struct chart_node *n, const struct chart_node *sub)
{
    for (size_t i = 0; i < n->metadata->n_dependencies; i++)
        if (satisfies(sub, &n->metadata->dependencies[i]))
            return true;
    return false;
}

/* The chart that a dependency means, under its alias. A chart may be there several times, so each gets its own tree. */
static struct chart_node *aliased(struct resolver *r, struct chart_node *n,
                                  const struct metadata_dependency *d)
{
    for (size_t i = 0; i < n->n_subs; i++) {
        struct chart_node *sub;

        if (!satisfies(n->subs[i], d))
            continue;
        sub = node_new(r, n->subs[i]->chart, n);
        if (d->alias.n > 0)
            sub->metadata->name = d->alias;
        return sub;
    }
    return NULL;
}

/* Charts that no dependency names come first and stay as they are; then the dependencies in their order. */
static void name_subcharts(struct resolver *r, struct chart_node *n)
{
    struct metadata *md = n->metadata;
    struct chart_node **subs = ARENA_ARRAY(r->arena, struct chart_node *, n->n_subs + md->n_dependencies);
    size_t n_subs = 0;

    for (size_t i = 0; i < n->n_subs; i++)
        if (!is_listed(n, n->subs[i]))
            subs[n_subs++] = n->subs[i];
    for (size_t i = 0; i < md->n_dependencies; i++) {
        struct metadata_dependency *d = &md->dependencies[i];
        struct chart_node *sub = aliased(r, n, d);

        if (sub)
            subs[n_subs++] = sub;
        if (d->alias.n > 0)
            d->name = d->alias;
        d->enabled = true;
    }
    n->subs = subs;
    n->n_subs = n_subs;
}

static bool is_off(const struct metadata *md, struct str name)
{
    for (size_t i = 0; i < md->n_dependencies; i++)
        if (!md->dependencies[i].enabled && str_eq(md->dependencies[i].name, name))
            return true;
    return false;
}

static void drop_disabled(struct chart_node *n)
{
    struct metadata *md = n->metadata;
    size_t kept = 0;

    for (size_t i = 0; i < n->n_subs; i++)
        if (!is_off(md, chart_node_name(n->subs[i])))
            n->subs[kept++] = n->subs[i];
    n->n_subs = kept;
}

static void drop_disabled_metadata(struct resolver *r, struct metadata *md)
{
    struct metadata_dependency *left = ARENA_ARRAY(r->arena, struct metadata_dependency, md->n_dependencies);
    size_t n = 0;

    for (size_t i = 0; i < md->n_dependencies; i++)
        if (!is_off(md, md->dependencies[i].name))
            left[n++] = md->dependencies[i];
    md->dependencies = n > 0 ? left : NULL;
    md->n_dependencies = n;
}

static int enable(struct resolver *r, struct chart_node *n, struct value values, const char *path,
                  struct err **err)
{
    struct coalesce c = { .arena = r->arena, .log = r->log };
    struct value coalesced;
    int rc;

    if (!n->metadata->dependencies)
        return 0;
    name_subcharts(r, n);
    rc = chart_coalesce_values(&c, n, values, &coalesced, err);
    if (rc < 0)
        return rc;
    apply_tags(r, n->metadata, coalesced);
    for (size_t i = 0; i < n->metadata->n_dependencies; i++)
        apply_condition(r, &n->metadata->dependencies[i], coalesced, path);
    drop_disabled(n);
    for (size_t i = 0; i < n->n_subs; i++) {
        struct str sub = arena_printf(r->arena, "%s" STR_FMT ".", path, STR_ARG(chart_node_name(n->subs[i])));

        rc = enable(r, n->subs[i], coalesced, sub.p, err);
        if (rc < 0)
            return rc;
    }
    drop_disabled_metadata(r, n->metadata);
    return 0;
}

/* ---- import-values ---- */

static void warn_missing(const struct resolver *r, const char *message, const struct str *chart,
                         struct str missing)
{
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(64 * KIB), text = BUF_INIT(64 * KIB);

    if (chart)
        chart_log_attr(&attrs, "chart", *chart);
    utf8_quote(missing, &text);
    buf_adds(&text, " is not a table");
    chart_log_attr(&attrs, "error", buf_str(&text));
    chart_log_line(r->log, "WARN", buf_z(&attrs), "%s", message);
}

static struct str text_of(struct resolver *r, struct value v)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);

    tpl_print_value(v, &text);
    return arena_dup(r->arena, buf_str(&text));
}

/* {a: {b: data}} for "a.b"; data itself for ".". */
static struct value below_path(struct resolver *r, struct str path, struct value data)
{
    struct str name;
    struct value inner;
    size_t dot;

    if (str_eq(path, STR(".")))
        return data;
    dot = str_rfind_char(path, '.');
    name = dot == STR_NPOS ? path : str_sub(path, dot + 1, path.n);
    inner = value_new_map(r->arena);
    value_set(inner, name, data);
    return dot == STR_NPOS ? inner : below_path(r, str_sub(path, 0, dot), inner);
}

static struct value pair(struct resolver *r, struct str child, struct str parent)
{
    struct value v = value_new_map_sized(r->arena, 2);

    value_setz(v, "child", value_from_str(child));
    value_setz(v, "parent", value_from_str(parent));
    v.type = VALUE_TYPE_STRING_MAP;
    return v;
}

struct import {
    struct resolver *r;
    const struct coalesce *merge;
    struct value values; /* of the whole tree below the chart */
    struct value into;   /* what the dependencies export */
};

static struct value import_one(struct import *im, const struct metadata_dependency *d, struct value item)
{
    bool is_pair = value_is_map(item);
    struct str child = is_pair ? text_of(im->r, value_getz(item, "child"))
                               : arena_printf(im->r->arena, "exports." STR_FMT, STR_ARG(value_str(item)));
    struct str parent = is_pair ? text_of(im->r, value_getz(item, "parent")) : STR(".");
    struct str path = arena_printf(im->r->arena, STR_FMT "." STR_FMT, STR_ARG(d->name), STR_ARG(child)),
               missing;
    struct value table;

    if (find_table(im->values, path, &table, &missing))
        im->into = chart_coalesce_tables(im->merge, im->into, below_path(im->r, parent, table));
    else
        warn_missing(im->r, is_pair ? "ImportValues missing table from chart" : "ImportValues missing table",
                     is_pair ? &d->name : NULL, missing);
    return pair(im->r, child, parent);
}

static int import_values(struct resolver *r, struct chart_node *n, struct err **err)
{
    struct coalesce merge = { .arena = r->arena, .log = r->log, .merge = true };
    struct import im = { .r = r, .merge = &merge, .into = value_new_map(r->arena) };
    int rc;

    if (!n->metadata->dependencies)
        return 0;
    rc = chart_coalesce_values(&merge, n, VALUE_NONE, &im.values, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n->metadata->n_dependencies; i++) {
        struct metadata_dependency *d = &n->metadata->dependencies[i];
        struct value_list done = VALUE_LIST_INIT(r->arena);

        for (struct value_iter it = value_iter(d->import_values); value_next(&it);)
            if (value_is_map(it.v) || value_is_string(it.v))
                value_list_add(&done, import_one(&im, d, it.v));
        d->import_values = done.n > 0 ? value_list_done(&done) : VALUE_NONE;
    }
    /* What was imported may point into the tree it came from: only a copy of that can take it in. */
    n->values = value_len(im.into) == 0
                    ? im.values
                    : chart_coalesce_tables(&merge, value_copy_maps(r->arena, im.values), im.into);
    return 0;
}

static int import_all(struct resolver *r, struct chart_node *n, struct err **err)
{
    for (size_t i = 0; i < n->n_subs; i++) {
        int rc = import_all(r, n->subs[i], err);

        if (rc < 0)
            return rc;
    }
    return import_values(r, n, err);
}

int chart_resolve(struct arena *a, const struct chart *c, struct value values, const struct chart_log *log,
                  struct chart_node **ret, struct err **err)
{
    struct resolver r = { .arena = a, .log = log };
    struct chart_node *root = node_new(&r, c, NULL);
    int rc;

    rc = enable(&r, root, values, "", err);
    if (rc >= 0)
        rc = import_all(&r, root, err);
    if (rc < 0)
        return err_wrap(err, rc, "chart dependencies processing failed");
    if (arena_failed(a))
        return err_set(err, ERRC_LIMIT, "the chart's values take more memory than allowed");
    *ret = root;
    return 0;
}
