/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "template/funcs.h"

#define NIL_MAP "assignment to entry in nil map"

/* A new key in front of others moves them. */
#define MOVED_PER_STEP 4

static int put(struct tpl_call *c, struct value map, struct str key, struct value v, struct err **err)
{
    size_t n = map.map->n;
    int r = 0;

    if (!map.map->arena)
        return err_set(err, ERRC_TEMPLATE, NIL_MAP);
    if (n >= MOVED_PER_STEP && str_cmp(key, value_entry_at(map, n - 1)->key) < 0 && !value_has(map, key))
        r = tpl_spend(c->x, n / MOVED_PER_STEP, err);
    if (r == 0)
        value_set(map, key, v);
    return r;
}

/* What a parameter of type map[string]interface {} is when it is returned. */
static struct value plain_map(struct value map)
{
    map.type = VALUE_TYPE_PLAIN;
    return map;
}

static int new_map(struct tpl_call *c, size_t n, struct value *ret, struct err **err)
{
    int r = tpl_spend(c->x, n / 4, err);

    if (r == 0)
        r = tpl_reserve(c->x, n * sizeof(struct value_entry), err);
    if (r == 0)
        *ret = value_new_map_sized(c->arena, n);
    return r;
}

/* ---- one map ---- */

static int fn_dict(FN_ARGS)
{
    struct value map;
    int r = new_map(c, (c->n + 1) / 2, &map, err);

    for (size_t i = 0; r == 0 && i < c->n; i += 2) {
        struct str key;

        r = fn_strval(c, c->args[i], &key, err);
        if (r == 0)
            value_set(map, key, i + 1 < c->n ? c->args[i + 1] : VALUE_STR(""));
    }
    if (r == 0)
        *ret = map;
    return r;
}

static struct value member(struct value map, const struct value_entry *e)
{
    struct value v = tpl_element(map, e->v);

    v.flags &= (uint16_t)~VALUE_FROM_ELEMENT;
    return v;
}

static int fn_get(FN_ARGS)
{
    const struct value_entry *e = value_find(c->args[0], fn_str(c, 1));

    *ret = e ? member(c->args[0], e) : VALUE_STR("");
    return 0;
}

static int fn_set(FN_ARGS)
{
    int r = put(c, c->args[0], fn_str(c, 1), c->args[2], err);

    if (r == 0)
        *ret = plain_map(c->args[0]);
    return r;
}

static int fn_unset(FN_ARGS)
{
    if (c->args[0].map->arena)
        value_unset(c->args[0], fn_str(c, 1));
    *ret = plain_map(c->args[0]);
    return 0;
}

static int fn_has_key(FN_ARGS)
{
    return fn_ret_bool(ret, value_has(c->args[0], fn_str(c, 1)));
}

static int fn_values_of(FN_ARGS)
{
    struct value map = c->args[0], *items = NULL;
    int r = fn_values(c, map.map->n, &items, err);

    for (size_t i = 0; r == 0 && i < map.map->n; i++)
        items[i] = member(map, value_entry_at(map, i));
    if (r == 0)
        *ret = value_from_list(items, map.map->n);
    return r;
}

static bool is_named(const struct tpl_call *c, struct str key)
{
    for (size_t i = 1; i < c->n; i++)
        if (str_eq(fn_str(c, i), key))
            return true;
    return false;
}

static int fn_pick(FN_ARGS)
{
    struct value map;
    int r = new_map(c, c->n - 1, &map, err);

    for (size_t i = 1; r == 0 && i < c->n; i++) {
        const struct value_entry *e = value_find(c->args[0], fn_str(c, i));

        if (e)
            value_set(map, e->key, member(c->args[0], e));
    }
    if (r == 0)
        *ret = map;
    return r;
}

static int fn_omit(FN_ARGS)
{
    struct value from = c->args[0], map;
    int r = new_map(c, from.map->n, &map, err);

    if (r == 0)
        r = fn_pay(c, from.map->n * (c->n - 1), err);
    for (size_t i = 0; r == 0 && i < from.map->n; i++) {
        const struct value_entry *e = value_entry_at(from, i);

        if (!is_named(c, e->key))
            value_append(map, e->key, member(from, e));
    }
    if (r < 0)
        return r;
    value_sort(map);
    *ret = map;
    return 0;
}

/* ---- several maps ---- */

/* Go's order is random; ours is that of the maps, each sorted. */
static int fn_keys(FN_ARGS)
{
    struct value *items = NULL;
    size_t total = 0, n = 0;
    int r;

    for (size_t i = 0; i < c->n; i++)
        total += c->args[i].map->n;
    r = fn_values(c, total, &items, err);
    for (size_t i = 0; r == 0 && i < c->n; i++)
        for (size_t k = 0; k < c->args[i].map->n; k++)
            items[n++] = value_from_str(value_entry_at(c->args[i], k)->key);
    if (r == 0)
        *ret = fn_string_list(items, total);
    return r;
}

static int fn_pluck(FN_ARGS)
{
    struct value *items = NULL;
    size_t n = 0;
    int r = fn_values(c, c->n, &items, err);

    for (size_t i = 1; r == 0 && i < c->n; i++) {
        const struct value_entry *e = value_find(c->args[i], fn_str(c, 0));

        if (e)
            items[n++] = member(c->args[i], e);
    }
    if (r == 0)
        *ret = value_from_list(items, n);
    return r;
}

static int wrong_type(struct value v, const char *want, struct err **err)
{
    CLEANUP(buf_done) struct buf type = BUF_INIT(KIB);

    if (fn_is_nil(v))
        buf_adds(&type, "nil");
    else
        tpl_print_type(v, &type);
    return err_set(err, ERRC_TEMPLATE, "interface conversion: interface {} is %s, not %s", buf_z(&type),
                   want);
}

static bool is_plain_map(struct value v)
{
    return v.kind == VALUE_MAP && v.type == VALUE_TYPE_PLAIN;
}

static int fn_dig(FN_ARGS)
{
    struct value at;

    if (c->n < 3)
        return err_set(err, ERRC_TEMPLATE, "dig needs at least three arguments");
    at = c->args[c->n - 1];
    if (!is_plain_map(at))
        return wrong_type(at, "map[string]interface {}", err);
    for (size_t i = 0; i + 2 < c->n; i++)
        if (!value_is_string(c->args[i]))
            return wrong_type(c->args[i], "string", err);
    for (size_t i = 0; i + 2 < c->n; i++) {
        const struct value_entry *e;

        if (!is_plain_map(at))
            return wrong_type(at, "map[string]interface {}", err);
        e = value_find(at, fn_str(c, i));
        if (!e) {
            at = c->args[c->n - 2];
            break;
        }
        at = member(at, e);
    }
    *ret = at;
    return 0;
}

/* ---- merging: mergo 1.0.1 ---- */

struct merge {
    struct tpl_call *c;
    struct err **err;
    bool overwrite;
    int depth;
};

static bool is_pointer(struct value v)
{
    return v.kind == VALUE_OBJECT && strcmp(((const struct tpl_object *)v.object)->type->go_kind, "ptr") == 0;
}

static int merge_maps(struct merge *m, struct value to, struct value from);

/* One key whose value in `from` is not nil. */
static int merge_member(struct merge *m, struct value to, struct str key, struct value theirs)
{
    const struct value_entry *e = value_find(to, key);
    struct value ours = e ? member(to, e) : VALUE_NONE;
    int r;

    if (value_is_map(theirs) && value_is_map(ours)) {
        r = merge_maps(m, ours, theirs);
        if (r < 0 || !fn_empty(ours))
            return r;
    } else if (value_is_map(theirs) && is_pointer(ours) && !m->overwrite) {
        return err_set(m->err, ERRC_TEMPLATE, "src and dst must be of same type");
    }
    if (e && !fn_empty(ours) && !m->overwrite)
        return 0;
    return put(m->c, to, key, theirs, m->err);
}

/* Maps may hold themselves, and `to` may be part of `from`: nothing about `from` is kept across a member. */
static int merge_maps(struct merge *m, struct value to, struct value from)
{
    int r = 0;

    if (m->depth >= VALUE_DEPTH_MAX)
        return err_set(m->err, ERRC_LIMIT, "maps of more than %d levels", VALUE_DEPTH_MAX);
    if (to.flags & VALUE_NIL)
        return 0;
    m->depth++;
    for (size_t i = 0; r == 0 && i < from.map->n; i++) {
        const struct value_entry *e = value_entry_at(from, i);
        struct value theirs = member(from, e);

        r = tpl_spend(m->c->x, 1, m->err);
        if (r == 0)
            r = tpl_reserve(m->c->x, sizeof(*e), m->err);
        if (r == 0 && !fn_is_nil(theirs))
            r = merge_member(m, to, e->key, theirs);
        else if (r == 0 && m->overwrite)
            r = put(m->c, to, e->key, VALUE_NONE, m->err);
    }
    m->depth--;
    return r;
}

static int merge(FN_ARGS, bool overwrite)
{
    struct merge m = { .c = c, .err = err, .overwrite = overwrite };
    struct value to = plain_map(c->args[0]);
    int r = 0;

    for (size_t i = 1; r == 0 && i < c->n; i++) {
        if ((to.flags & VALUE_NIL) && !(c->args[i].flags & VALUE_NIL))
            to = value_new_map(c->arena);
        r = merge_maps(&m, to, c->args[i]);
    }
    if (r == 0)
        *ret = to;
    return r;
}

static int fn_must_merge(FN_ARGS)
{
    return merge(c, ret, err, false);
}

static int fn_must_merge_overwrite(FN_ARGS)
{
    return merge(c, ret, err, true);
}

/* Those without "must" answer a failed merge with "". Panics and spent budgets stay. */
static int merge_or_nothing(FN_ARGS, bool overwrite)
{
    struct err *failure = NULL;
    int r = merge(c, ret, &failure, overwrite);

    if (r == -ERRC_TEMPLATE && strcmp(err_message(failure), NIL_MAP) != 0) {
        err_free(failure);
        return fn_ret_str(ret, STR(""));
    }
    if (r < 0 && err)
        *err = failure;
    else
        err_free(failure);
    return r;
}

static int fn_merge(FN_ARGS)
{
    return merge_or_nothing(c, ret, err, false);
}

static int fn_merge_overwrite(FN_ARGS)
{
    return merge_or_nothing(c, ret, err, true);
}

/* ---- copying: copystructure 1.2.0 ---- */

static int copy(struct tpl_call *c, struct value v, int depth, struct value *ret, struct err **err);

static int copy_list(struct tpl_call *c, struct value v, int depth, struct value *ret, struct err **err)
{
    struct value *items = NULL;
    int r = fn_values(c, v.n, &items, err);

    for (size_t i = 0; r == 0 && i < v.n; i++)
        r = copy(c, v.list[i], depth + 1, &items[i], err);
    *ret = v;
    ret->list = items;
    return r;
}

static int copy_map(struct tpl_call *c, struct value v, int depth, struct value *ret, struct err **err)
{
    struct value map;
    int r = new_map(c, v.map->n, &map, err);

    for (size_t i = 0; r == 0 && i < v.map->n; i++) {
        struct value item;

        r = copy(c, v.map->e[i].v, depth + 1, &item, err);
        if (r == 0)
            value_append(map, v.map->e[i].key, item);
    }
    if (r < 0)
        return r;
    value_sort(map);
    *ret = map;
    ret->type = v.type;
    return 0;
}

static int copy(struct tpl_call *c, struct value v, int depth, struct value *ret, struct err **err)
{
    const struct tpl_object *o;
    int r = tpl_spend(c->x, 1, err);

    if (r == 0 && depth >= VALUE_DEPTH_MAX)
        r = err_set(err, ERRC_LIMIT, "values of more than %d levels", VALUE_DEPTH_MAX);
    if (r < 0)
        return r;
    *ret = v;
    if (v.flags & VALUE_NIL)
        return 0;
    if (v.kind == VALUE_LIST)
        return copy_list(c, v, depth, ret, err);
    if (v.kind == VALUE_MAP)
        return copy_map(c, v, depth, ret, err);
    o = v.kind == VALUE_OBJECT ? v.object : NULL;
    if (o && o->type->deep_copy)
        *ret = o->type->deep_copy(o, c->arena);
    return 0;
}

static int fn_deep_copy(FN_ARGS)
{
    struct value v;
    int r;

    if (fn_is_nil(c->args[0]))
        return err_set(err, ERRC_TEMPLATE, "reflect: call of reflect.Value.Type on zero Value");
    r = copy(c, c->args[0], 0, &v, err);
    if (r == 0)
        *ret = v;
    return r;
}

static const struct tpl_func funcs[] = {
    { "deepCopy", "*", '*', fn_deep_copy },
    { "dict", "*+", 'm', fn_dict },
    { "dig", "*+", '*', fn_dig },
    { "get", "ms", '*', fn_get },
    { "hasKey", "ms", 'b', fn_has_key },
    { "keys", "m+", 'S', fn_keys },
    { "merge", "mm+", '*', fn_merge },
    { "mergeOverwrite", "mm+", '*', fn_merge_overwrite },
    { "mustDeepCopy", "*", '*', fn_deep_copy },
    { "mustMerge", "mm+", '*', fn_must_merge },
    { "mustMergeOverwrite", "mm+", '*', fn_must_merge_overwrite },
    { "omit", "ms+", 'm', fn_omit },
    { "pick", "ms+", 'm', fn_pick },
    { "pluck", "sm+", 'L', fn_pluck },
    { "set", "ms*", 'm', fn_set },
    { "unset", "ms", 'm', fn_unset },
    { "values", "m", 'L', fn_values_of },
};

const struct tpl_func_table tpl_funcs_dict = { funcs, ARRAY_SIZE(funcs) };
