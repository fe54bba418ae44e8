/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "template/funcs.h"

#define NEGATIVE_LEN "runtime error: makeslice: len out of range"

/* Copies items from to to of a slice into a new []interface {} with room for `room` more behind them. */
static int copy_items(struct tpl_call *c, struct value slice, size_t from, size_t to, size_t room,
                      struct value **ret, struct err **err)
{
    struct value *items = NULL;
    int r = fn_values(c, to - from + room, &items, err);

    for (size_t i = from; r == 0 && i < to; i++)
        items[i - from] = fn_item(slice, i);
    if (r == 0)
        *ret = items;
    return r;
}

static int part(struct tpl_call *c, struct value slice, size_t from, size_t to, struct value *ret,
                struct err **err)
{
    struct value *items;
    int r = copy_items(c, slice, from, to, 0, &items, err);

    if (r == 0)
        *ret = value_from_list(items, to - from);
    return r;
}

static int fn_list(FN_ARGS)
{
    struct value *items = NULL;
    int r = fn_values(c, c->n, &items, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < c->n; i++)
        items[i] = c->args[i];
    *ret = value_from_list(items, c->n);
    return 0;
}

static int fn_push(FN_ARGS)
{
    struct value list = c->args[0], *items, *place;
    size_t room = MAX(list.n, 4);
    int r;

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot push on type", err);
    place = tpl_list_take_tail(c->x, list);
    if (place) {
        *place = c->args[1];
        *ret = value_from_list(list.list, (size_t)list.n + 1);
        return 0;
    }
    r = copy_items(c, list, 0, list.n, room, &items, err);
    if (r < 0)
        return r;
    items[list.n] = c->args[1];
    tpl_list_keep_tail(c->x, items, (size_t)list.n + 1, list.n + room);
    *ret = value_from_list(items, (size_t)list.n + 1);
    return 0;
}

static int fn_prepend(FN_ARGS)
{
    struct value list = c->args[0], *items;
    int r;

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot prepend on type", err);
    r = copy_items(c, list, 0, list.n, 1, &items, err);
    if (r < 0)
        return r;
    memmove(items + 1, items, list.n * sizeof(*items));
    items[0] = c->args[1];
    *ret = value_from_list(items, (size_t)list.n + 1);
    return 0;
}

static int fn_chunk(FN_ARGS)
{
    struct value list = c->args[1], *chunks = NULL;
    int64_t size = fn_int(c, 0), n_chunks;
    double count;
    int r;

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot chunk type", err);
    /* In floating point as upstream: which sizes below 1 panic depends on it. */
    count = floor(((double)list.n - 1) / (double)size) + 1;
    if (size == 0 || count < 0)
        return err_set(err, ERRC_TEMPLATE, NEGATIVE_LEN);
    n_chunks = (int64_t)count;
    r = fn_values(c, (size_t)n_chunks, &chunks, err);
    for (int64_t i = 0; r == 0 && i < n_chunks; i++) {
        size_t from = (size_t)(i * size), to = i < n_chunks - 1 ? from + (size_t)size : list.n;

        if (size < 0)
            return err_set(err, ERRC_TEMPLATE, NEGATIVE_LEN);
        r = part(c, list, from, to, &chunks[i], err);
    }
    if (r == 0) {
        *ret = value_from_list(chunks, (size_t)n_chunks);
        ret->type = TPL_TYPE_LIST_LIST;
    }
    return r;
}

static int fn_first(FN_ARGS)
{
    struct value list = c->args[0];

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot find first on type", err);
    *ret = list.n > 0 ? fn_item(list, 0) : VALUE_NONE;
    return 0;
}

static int fn_last(FN_ARGS)
{
    struct value list = c->args[0];

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot find last on type", err);
    *ret = list.n > 0 ? fn_item(list, list.n - 1) : VALUE_NONE;
    return 0;
}

static int fn_rest(FN_ARGS)
{
    struct value list = c->args[0];

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot find rest on type", err);
    if (list.n > 0)
        return part(c, list, 1, list.n, ret, err);
    *ret = fn_nil_list(VALUE_TYPE_PLAIN);
    return 0;
}

static int fn_initial(FN_ARGS)
{
    struct value list = c->args[0];

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot find initial on type", err);
    if (list.n > 0)
        return part(c, list, 0, list.n - 1, ret, err);
    *ret = fn_nil_list(VALUE_TYPE_PLAIN);
    return 0;
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(value_str(*(const struct value *)a), value_str(*(const struct value *)b));
}

/* As upstream, a []string is sorted where it is: everyone who has it sees that. */
static int fn_sort_alpha(FN_ARGS)
{
    struct value list;
    int r;

    if (fn_is_nil(c->args[0])) {
        static const struct value nil_text = { .kind = VALUE_STRING, .n = 5, .s = "<nil>" };

        *ret = fn_string_list(&nil_text, 1);
        return 0;
    }
    r = fn_strslice(c, c->args[0], &list, err);
    if (r == 0)
        r = tpl_spend(c->x, list.n, err);
    if (r < 0)
        return r;
    if (list.n > 1) /* every []string is in the render's arena */
        qsort((struct value *)(uintptr_t)list.list, list.n, sizeof(*list.list), compare_texts);
    *ret = list;
    return 0;
}

static int fn_reverse(FN_ARGS)
{
    struct value list = c->args[0], *items;
    int r;

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot find reverse on type", err);
    r = copy_items(c, list, 0, list.n, 0, &items, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list.n / 2; i++) {
        struct value v = items[i];

        items[i] = items[list.n - 1 - i];
        items[list.n - 1 - i] = v;
    }
    *ret = value_from_list(items, list.n);
    return 0;
}

/* ---- sets ---- */

static int in_list(struct tpl_call *c, struct value v, const struct value *list, size_t n, bool *ret,
                   struct err **err)
{
    size_t i = 0;
    int r = 0;

    *ret = false;
    for (; r == 0 && i < n && !*ret; i++)
        r = fn_deep_equal(c, v, list[i], ret, err);
    return r < 0 ? r : tpl_spend(c->x, i, err);
}

static int fn_compact(FN_ARGS)
{
    struct value list = c->args[0], *items;
    size_t n = 0;
    int r;

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot compact on type", err);
    r = copy_items(c, list, 0, list.n, 0, &items, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list.n; i++)
        if (!fn_empty(items[i]))
            items[n++] = items[i];
    *ret = value_from_list(items, n);
    return 0;
}

static int fn_uniq(FN_ARGS)
{
    struct value list = c->args[0], *items;
    size_t n = 0;
    int r;

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot find uniq on type", err);
    r = copy_items(c, list, 0, list.n, 0, &items, err);
    for (size_t i = 0; r == 0 && i < list.n; i++) {
        bool found;

        r = in_list(c, items[i], items, n, &found, err);
        if (r == 0 && !found)
            items[n++] = items[i];
    }
    if (r == 0)
        *ret = value_from_list(items, n);
    return r;
}

static int fn_without(FN_ARGS)
{
    struct value list = c->args[0], *items;
    size_t n = 0;
    int r;

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot find without on type", err);
    r = copy_items(c, list, 0, list.n, 0, &items, err);
    for (size_t i = 0; r == 0 && i < list.n; i++) {
        bool found;

        r = in_list(c, items[i], c->args + 1, c->n - 1, &found, err);
        if (r == 0 && !found)
            items[n++] = items[i];
    }
    if (r == 0)
        *ret = value_from_list(items, n);
    return r;
}

static int fn_has(FN_ARGS)
{
    struct value list = c->args[1];
    bool found = false;
    size_t i = 0;
    int r = 0;

    if (fn_is_nil(list))
        return fn_ret_bool(ret, false);
    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "Cannot find has on type", err);
    for (; r == 0 && !found && i < list.n; i++)
        r = fn_deep_equal(c, c->args[0], fn_item(list, i), &found, err);
    if (r == 0)
        r = tpl_spend(c->x, i, err);
    return r < 0 ? r : fn_ret_bool(ret, found);
}

/* ---- parts ---- */

/* The part shares its list's type, as a Go slice expression does. */
static int fn_slice(FN_ARGS)
{
    struct value list = c->args[0];
    int64_t from = 0, to;

    if (!fn_is_slice(list))
        return fn_wrong_kind(list, "list should be type of slice or array but", err);
    if (list.n == 0) {
        *ret = VALUE_NONE;
        return 0;
    }
    to = (int64_t)list.n;
    if (c->n > 1)
        from = fn_to_int64(c->args[1]);
    if (c->n > 2)
        to = fn_to_int64(c->args[2]);
    if (from < 0 || to < from || to > (int64_t)list.n)
        return err_set(err, ERRC_TEMPLATE, "reflect.Value.Slice: slice index out of bounds");
    *ret = list;
    ret->n = (uint32_t)(to - from);
    if (list.kind == VALUE_BYTES)
        ret->s = list.s + from;
    else
        ret->list = list.list + from;
    return 0;
}

static int fn_concat(FN_ARGS)
{
    struct value *items = NULL;
    size_t total = 0, n = 0;
    int r;

    for (size_t i = 0; i < c->n; i++) {
        if (fn_is_nil(c->args[i]))
            return err_set(err, ERRC_TEMPLATE, FN_NIL_POINTER);
        if (!fn_is_slice(c->args[i]))
            return err_set(err, ERRC_TEMPLATE, "Cannot concat type %s as list", tpl_kind_name(c->args[i]));
        total += c->args[i].n;
    }
    if (total == 0) {
        *ret = fn_nil_list(VALUE_TYPE_PLAIN);
        return 0;
    }
    r = fn_values(c, total, &items, err);
    for (size_t i = 0; r == 0 && i < c->n; i++)
        for (size_t k = 0; k < c->args[i].n; k++)
            items[n++] = fn_item(c->args[i], k);
    if (r == 0)
        *ret = value_from_list(items, total);
    return r;
}

static const struct tpl_func funcs[] = {
    { "append", "**", 'L', fn_push },
    { "chunk", "i*", '?', fn_chunk },
    { "compact", "*", 'L', fn_compact },
    { "concat", "*+", '*', fn_concat },
    { "first", "*", '*', fn_first },
    { "has", "**", 'b', fn_has },
    { "initial", "*", 'L', fn_initial },
    { "last", "*", '*', fn_last },
    { "list", "*+", 'L', fn_list },
    { "mustAppend", "**", 'L', fn_push },
    { "mustChunk", "i*", '?', fn_chunk },
    { "mustCompact", "*", 'L', fn_compact },
    { "mustFirst", "*", '*', fn_first },
    { "mustHas", "**", 'b', fn_has },
    { "mustInitial", "*", 'L', fn_initial },
    { "mustLast", "*", '*', fn_last },
    { "mustPrepend", "**", 'L', fn_prepend },
    { "mustPush", "**", 'L', fn_push },
    { "mustRest", "*", 'L', fn_rest },
    { "mustReverse", "*", 'L', fn_reverse },
    { "mustSlice", "**+", '*', fn_slice },
    { "mustUniq", "*", 'L', fn_uniq },
    { "mustWithout", "**+", 'L', fn_without },
    { "prepend", "**", 'L', fn_prepend },
    { "push", "**", 'L', fn_push },
    { "rest", "*", 'L', fn_rest },
    { "reverse", "*", 'L', fn_reverse },
    { "slice", "**+", '*', fn_slice },
    { "sortAlpha", "*", 'S', fn_sort_alpha },
    { "tuple", "*+", 'L', fn_list },
    { "uniq", "*", 'L', fn_uniq },
    { "without", "**+", 'L', fn_without },
};

const struct tpl_func_table tpl_funcs_list = { funcs, ARRAY_SIZE(funcs) };
