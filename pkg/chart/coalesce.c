/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "chart/chart_int.h"

#define LOG_VALUE_MAX (16 * KIB)

/* `before` and `after` the key, then the value and a closing parenthesis. */
static void warn(const struct coalesce *c, const char *before, const char *key, const char *after,
                 struct value v)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(LOG_VALUE_MAX);

    tpl_print_value(v, &text);
    chart_log_line(c->log, "INFO", "", "warning: %s %s%s (%s)", before, key, after, buf_z(&text));
}

static const char *dotted(const struct coalesce *c, const char *prefix, struct str key)
{
    if (prefix[0] == '\0')
        return arena_dupz(c->arena, key);
    return arena_printf(c->arena, "%s." STR_FMT, prefix, STR_ARG(key)).p;
}

/* Chart defaults that are null must not reach the result (Helm 4.2.0 and later). */
static void clean_nulls(struct value map)
{
    for (size_t i = value_len(map); i-- > 0;) {
        const struct value_entry *e = value_entry_at(map, i);

        if (value_is_null(e->v))
            value_unset(map, e->key);
        else if (value_is_map(e->v))
            clean_nulls(e->v);
    }
}

/* One key of both tables. `src_null` tells what src had before the user's nulls were written into it. */
static void merge_key(const struct coalesce *c, struct value dst, struct str key, struct value v,
                      bool src_null, const char *prefix);

static void merge_tables(const struct coalesce *c, struct value dst, struct value src, const char *prefix)
{
    for (struct value_iter it = value_iter(src); value_next(&it);)
        merge_key(c, dst, it.key, it.v, value_is_null(it.v), prefix);
}

static void merge_key(const struct coalesce *c, struct value dst, struct str key, struct value v,
                      bool src_null, const char *prefix)
{
    const struct value_entry *have = value_find(dst, key);

    if (!have) {
        value_set(dst, key, v);
    } else if (value_is_null(have->v)) {
        /* The user's null deletes a default, but stays where there was none to delete. Helm first writes the user's
         * nulls into src: so a table there is not merged into, and nothing warns. */
        if (!c->merge && !src_null)
            value_unset(dst, key);
    } else if (value_is_map(v)) {
        if (value_is_map(have->v))
            merge_tables(c, have->v, v, dotted(c, prefix, key));
        else
            warn(c, "cannot overwrite table with non table for", dotted(c, prefix, key), "", v);
    } else if (value_is_map(have->v) && !src_null) {
        warn(c, "destination for", dotted(c, prefix, key), " is a table. Ignoring non-table value", v);
    }
}

struct value chart_coalesce_tables(const struct coalesce *c, struct value dst, struct value src)
{
    if (!value_is_map(src))
        return dst;
    if (!value_is_map(dst))
        return src;
    merge_tables(c, dst, src, "");
    return dst;
}

static bool is_subchart(const struct chart_node *node, struct str key)
{
    for (size_t i = 0; i < node->n_subs; i++)
        if (str_eq(chart_node_name(node->subs[i]), key))
            return true;
    return false;
}

static void default_under_value(const struct coalesce *c, const struct chart_node *node, struct value v,
                                const struct value_entry *def, struct value have, const char *prefix)
{
    struct coalesce sub = *c;

    if (value_is_null(have)) {
        if (!c->merge)
            value_unset(v, def->key);
    } else if (!value_is_map(have)) {
        return;
    } else if (!value_is_map(def->v)) {
        if (!value_is_null(def->v))
            chart_log_line(c->log, "INFO", "", "warning: skipped value for %s: Not a table.",
                           dotted(c, prefix, def->key));
    } else {
        sub.merge = c->merge || is_subchart(node, def->key);
        if (!sub.merge)
            clean_nulls(def->v);
        merge_tables(&sub, have, def->v, dotted(c, prefix, def->key));
    }
}

/* The chart's own defaults under v. */
static void coalesce_defaults(const struct coalesce *c, const struct chart_node *node, struct value v,
                              const char *prefix)
{
    struct value defaults = value_is_map(node->values) ? value_copy_maps(c->arena, node->values) : VALUE_NONE;

    for (size_t i = 0; i < value_len(defaults); i++) {
        const struct value_entry *def = value_entry_at(defaults, i), *have = value_find(v, def->key);

        if (have) {
            default_under_value(c, node, v, def, have->v, prefix);
            continue;
        }
        if (!c->merge) {
            if (value_is_null(def->v))
                continue;
            if (value_is_map(def->v))
                clean_nulls(def->v);
        }
        value_set(v, def->key, def->v);
    }
}

static struct value copy_top(struct arena *a, struct value map)
{
    struct value out = value_new_map_sized(a, value_len(map));

    for (struct value_iter it = value_iter(map); value_next(&it);)
        value_set(out, it.key, it.v);
    return out;
}

static void coalesce_global(const struct coalesce *c, struct value to, struct str key, struct value v,
                            const char *prefix)
{
    struct coalesce merge = *c;
    const struct value_entry *have = value_find(to, key);

    merge.merge = true;
    if (value_is_map(v)) {
        struct value copy = copy_top(c->arena, v);

        if (have && !value_is_map(have->v)) {
            chart_log_line(c->log, "INFO", "",
                           "Conflict: cannot merge map onto non-map for \"" STR_FMT "\". Skipping.",
                           STR_ARG(key));
            return;
        }
        if (have)
            merge_tables(&merge, copy, have->v, dotted(c, prefix, key));
        value_set(to, key, copy);
    } else if (have && value_is_map(have->v)) {
        chart_log_line(c->log, "INFO", "", "key " STR_FMT " is table. Skipping", STR_ARG(key));
    } else {
        value_set(to, key, v);
    }
}

static void coalesce_globals(const struct coalesce *c, struct value sub, struct value parent,
                             const char *prefix)
{
    const struct value_entry *to = value_find(sub, STR("global")), *from = value_find(parent, STR("global"));
    struct value globals = to ? to->v : value_new_map(c->arena);

    if (!value_is_map(globals)) {
        chart_log_line(c->log, "INFO", "",
                       "warning: skipping globals because destination global is not a table.");
        return;
    }
    if (from && !value_is_map(from->v)) {
        chart_log_line(c->log, "INFO", "", "warning: skipping globals because source global is not a table.");
        return;
    }
    for (struct value_iter it = value_iter(from ? from->v : VALUE_NONE); value_next(&it);)
        coalesce_global(c, globals, it.key, it.v, prefix);
    value_setz(sub, "global", globals);
}

/* fmt's text for a value under %t. */
static void print_bad_bool(struct value v, bool nested, struct buf *out)
{
    static const char *const types[] = {
        [VALUE_INT] = "int64",
        [VALUE_UINT] = "uint64",
        [VALUE_FLOAT] = "float64",
        [VALUE_STRING] = "string",
    };

    if (v.kind == VALUE_BOOL) {
        buf_adds(out, v.b ? "true" : "false");
    } else if (value_is_null(v)) {
        buf_adds(out, nested ? "<nil>" : "%!t(<nil>)");
    } else if (value_is_list(v) || value_is_map(v)) {
        buf_adds(out, value_is_list(v) ? "[" : "map[");
        for (struct value_iter it = value_iter(v); value_next(&it);) {
            if (it.i > 0)
                buf_addc(out, ' ');
            if (value_is_map(v))
                buf_addf(out, STR_FMT ":", STR_ARG(it.key));
            print_bad_bool(it.v, true, out);
        }
        buf_addc(out, ']');
    } else {
        buf_addf(out,
                 "%%!t(%s=", v.kind < ARRAY_SIZE(types) && types[v.kind] ? types[v.kind] : "interface {}");
        tpl_print_value(v, out);
        buf_addc(out, ')');
    }
}

static int type_mismatch(struct str name, struct value v, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(LOG_VALUE_MAX);

    print_bad_bool(v, false, &text);
    return err_set(err, ERRC_INVALID, "type mismatch on " STR_FMT ": %s", STR_ARG(name), buf_z(&text));
}

static int coalesce_node(const struct coalesce *c, const struct chart_node *node, struct value v,
                         const char *prefix, struct err **err)
{
    const char *own = dotted(c, prefix, chart_node_name(node));

    if (arena_failed(c->arena))
        return err_set(err, ERRC_LIMIT, "the values take more memory than allowed");
    coalesce_defaults(c, node, v, own);
    for (size_t i = 0; i < node->n_subs; i++) {
        struct str name = chart_node_name(node->subs[i]);
        const struct value_entry *have = value_find(v, name);
        struct value sub;
        int r;

        if (have && !value_is_map(have->v))
            return type_mismatch(name, have->v, err);
        sub = have ? have->v : value_new_map(c->arena);
        if (!have)
            value_set(v, name, sub);
        coalesce_globals(c, sub, v, own);
        r = coalesce_node(c, node->subs[i], sub, own, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int chart_coalesce_values(const struct coalesce *c, const struct chart_node *node, struct value values,
                          struct value *ret, struct err **err)
{
    struct value v = value_is_map(values) ? value_copy_maps(c->arena, values) : value_new_map(c->arena);
    int r = coalesce_node(c, node, v, "", err);

    if (r < 0)
        return r;
    *ret = v;
    return 0;
}
