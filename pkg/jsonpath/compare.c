/* SPDX-License-Identifier: Apache-2.0 */
/* client-go's copy of text/template's comparisons, which knows nothing of numbers of two types. */
#include "jsonpath/jsonpath_int.h"

static bool is_basic(struct value v)
{
    return v.kind == VALUE_BOOL || v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_FLOAT ||
           v.kind == VALUE_STRING;
}

static int check_kinds(struct value a, struct value b, struct err **err)
{
    if (!is_basic(a) || !is_basic(b))
        return err_set(err, ERRC_INVALID, "invalid type for comparison");
    if (a.kind == b.kind || (a.kind == VALUE_INT && b.kind == VALUE_UINT) ||
        (a.kind == VALUE_UINT && b.kind == VALUE_INT))
        return 0;
    return err_set(err, ERRC_INVALID, "incompatible types for comparison");
}

static int order(struct value a, struct value b)
{
    if (a.kind == VALUE_STRING)
        return str_cmp(value_str(a), value_str(b));
    if (a.kind == VALUE_FLOAT)
        return a.f < b.f ? -1 : a.f > b.f;
    if (a.kind == VALUE_INT && a.i < 0 && b.kind == VALUE_UINT)
        return -1;
    if (b.kind == VALUE_INT && b.i < 0 && a.kind == VALUE_UINT)
        return 1;
    if (a.kind == VALUE_INT && b.kind == VALUE_INT)
        return a.i < b.i ? -1 : a.i > b.i;
    return a.u < b.u ? -1 : a.u > b.u;
}

static const struct comparison {
    const char *op;
    bool less, equal, greater; /* what it is true of */
} comparisons[] = {
    { "<", .less = true },    { "<=", .less = true, .equal = true },
    { "==", .equal = true },  { "!=", .less = true, .greater = true },
    { ">", .greater = true }, { ">=", .greater = true, .equal = true },
};

static const struct comparison *find_comparison(struct str op)
{
    for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++)
        if (str_eq(op, str_from(comparisons[i].op)))
            return &comparisons[i];
    return NULL;
}

int jsonpath_compare(struct str op, struct value left, struct value right, bool *ret, struct err **err)
{
    const struct comparison *c = find_comparison(op);
    int r, by;

    if (!c)
        return err_set(err, ERRC_INVALID, "unrecognized filter operator " STR_FMT, STR_ARG(op));
    r = check_kinds(left, right, err);
    if (r < 0)
        return r;
    if (left.kind == VALUE_BOOL) {
        if (c->less != c->greater) /* == and != alone know bools */
            return err_set(err, ERRC_INVALID, "invalid type for comparison");
        *ret = (left.b == right.b) == c->equal;
        return 0;
    }
    by = order(left, right);
    *ret = by < 0 ? c->less : by > 0 ? c->greater : c->equal;
    return 0;
}
