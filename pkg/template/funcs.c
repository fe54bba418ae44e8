/* SPDX-License-Identifier: Apache-2.0 */
#include "template/funcs.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "template/complex.h"
#include "template/unicode.h"

/* Bytes that cost as much as one evaluated node. */
#define BYTES_PER_STEP 64
#define RUNE_ERROR 0xFFFD

int fn_pay(struct tpl_call *c, size_t n, struct err **err)
{
    return n < BYTES_PER_STEP ? 0 : tpl_spend(c->x, n / BYTES_PER_STEP, err);
}

int fn_text(struct tpl_call *c, size_t n, char **ret, struct err **err)
{
    int r;

    if (n > FN_TEXT_MAX)
        return err_set(err, ERRC_LIMIT, "text of more than %zu bytes", FN_TEXT_MAX);
    r = fn_pay(c, n, err);
    if (r == 0)
        r = tpl_reserve(c->x, n, err);
    if (r == 0)
        *ret = arena_alloc_bytes(c->arena, n + 1);
    return r;
}

int fn_values(struct tpl_call *c, size_t n, struct value **ret, struct err **err)
{
    int r;

    if (n > FN_TEXT_MAX)
        return err_set(err, ERRC_LIMIT, "list of more than %zu items", FN_TEXT_MAX);
    r = tpl_spend(c->x, n / 4, err);
    if (r == 0)
        r = tpl_reserve(c->x, n * sizeof(struct value), err);
    if (r == 0)
        *ret = ARENA_ARRAY(c->arena, struct value, n);
    return r;
}

int fn_keep(struct tpl_call *c, const struct buf *b, struct str *ret, struct err **err)
{
    char *p = NULL;
    int r = buf_check(b, err);

    if (r == 0)
        r = fn_text(c, b->n, &p, err);
    if (r < 0)
        return r;
    if (b->n > 0)
        memcpy(p, b->p, b->n);
    *ret = (struct str){ p, b->n };
    return 0;
}

int fn_ret_buf(struct tpl_call *c, const struct buf *b, struct value *ret, struct err **err)
{
    struct str s;
    int r = fn_keep(c, b, &s, err);

    if (r == 0)
        *ret = value_from_str(s);
    return r;
}

int fn_strval(struct tpl_call *c, struct value v, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    if (v.kind == VALUE_STRING || v.kind == VALUE_BYTES) {
        *ret = value_str(v);
        return 0;
    }
    tpl_print_value(v, &b);
    return fn_keep(c, &b, ret, err);
}

int fn_strslice(struct tpl_call *c, struct value v, struct value *ret, struct err **err)
{
    struct value *items = NULL;
    size_t n = 0;
    int r;

    if (v.kind == VALUE_LIST && v.type == VALUE_TYPE_STRING_LIST) {
        *ret = v;
        return 0;
    }
    r = fn_values(c, fn_is_slice(v) ? v.n : 1, &items, err);
    for (size_t i = 0; r == 0 && i < (fn_is_slice(v) ? v.n : 1); i++) {
        struct value item = fn_is_slice(v) ? fn_item(v, i) : v;
        struct str s;

        if (fn_is_nil(item))
            continue;
        r = fn_strval(c, item, &s, err);
        if (r == 0)
            items[n++] = value_from_str(s);
    }
    if (r == 0)
        *ret = fn_string_list(items, n);
    return r;
}

struct value fn_item(struct value slice, size_t i)
{
    struct value v;

    if (slice.kind == VALUE_BYTES)
        return (struct value){ .kind = VALUE_UINT, .type = VALUE_TYPE_UINT8, .u = (unsigned char)slice.s[i] };
    v = tpl_element(slice, value_at(slice, i));
    v.flags &= (uint16_t)~VALUE_FROM_ELEMENT;
    return v;
}

bool fn_empty(struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return !v.b;
    case VALUE_INT:
        return v.i == 0;
    case VALUE_UINT:
        return v.u == 0;
    case VALUE_FLOAT:
        return v.f == 0;
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_LIST:
    case VALUE_MAP:
        return value_len(v) == 0;
    case VALUE_OBJECT:
        return complex_is_zero(v);
    }
    return false;
}

/* ---- cast ---- */

/* "1.00" is "1" for cast; "1.5" stays. */
static struct str trim_zero_decimal(struct str s)
{
    bool found_zero = false;

    for (size_t i = s.n; i > 0; i--) {
        if (s.p[i - 1] == '.' && found_zero)
            return str_sub(s, 0, i - 1);
        if (s.p[i - 1] == '0')
            found_zero = true;
        else if (s.p[i - 1] != '.')
            break;
    }
    return s;
}

/* Go on amd64: what does not fit becomes the smallest number. */
static int64_t float_to_int64(double f)
{
    return f >= -0x1p63 && f < 0x1p63 ? (int64_t)f : INT64_MIN;
}

/* Durations are a type of their own that cast does not know. */
static bool is_cast_int(struct value v)
{
    return v.kind == VALUE_INT && v.type != TPL_TYPE_DURATION;
}

int64_t fn_to_int64(struct value v)
{
    int64_t i;

    if (is_cast_int(v))
        return v.i;
    if (v.kind == VALUE_UINT)
        return (int64_t)v.u;
    if (v.kind == VALUE_FLOAT)
        return float_to_int64(v.f);
    if (v.kind == VALUE_BOOL)
        return v.b;
    if (v.kind == VALUE_STRING && number_parse_int(trim_zero_decimal(value_str(v)), 0, 64, &i) == NUMBER_OK)
        return i;
    return 0;
}

double fn_to_float64(struct value v)
{
    bool range = false;
    double f;

    if (is_cast_int(v))
        return (double)v.i;
    if (v.kind == VALUE_UINT)
        return (double)v.u;
    if (v.kind == VALUE_FLOAT)
        return v.f;
    if (v.kind == VALUE_BOOL)
        return v.b;
    if (v.kind == VALUE_STRING && number_parse_float(value_str(v), 64, &f, &range) && !range)
        return f;
    return 0;
}

int fn_wrong_kind(struct value v, const char *what, struct err **err)
{
    if (fn_is_nil(v))
        return err_set(err, ERRC_TEMPLATE, FN_NIL_POINTER);
    return err_set(err, ERRC_TEMPLATE, "%s %s", what, tpl_kind_name(v));
}

/* ---- reflect.DeepEqual ---- */

#define EQUAL_DEPTH_MAX 10000 /* deeper trees, and those that contain themselves, count as equal below */
#define EQUAL_PAIRS_PAID 64   /* at once */

struct comparison {
    struct tpl_call *c;
    struct err **err;
    size_t pairs;
    int depth;
    int r; /* below 0: the budget is spent */
};

static bool deep_equal(struct comparison *cmp, struct value a, struct value b);

static bool equal_types(struct value a, struct value b)
{
    return a.kind == b.kind && a.type == b.type &&
           (a.kind < VALUE_BYTES || (a.flags & VALUE_NIL) == (b.flags & VALUE_NIL));
}

static bool equal_maps(struct comparison *cmp, const struct value_map *a, const struct value_map *b)
{
    if (a == b)
        return true;
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->e[i].key, b->e[i].key) || !deep_equal(cmp, a->e[i].v, b->e[i].v))
            return false;
    return true;
}

static bool equal_lists(struct comparison *cmp, struct value a, struct value b)
{
    if (a.n != b.n)
        return false;
    if (a.list == b.list)
        return true;
    for (size_t i = 0; i < a.n; i++)
        if (!deep_equal(cmp, a.list[i], b.list[i]))
            return false;
    return true;
}

static bool equal_objects(const struct tpl_object *a, const struct tpl_object *b)
{
    return a == b || (a->type == b->type && a->type->equal && a->type->equal(a, b));
}

static bool equal_contents(struct comparison *cmp, struct value a, struct value b)
{
    switch ((enum value_kind)a.kind) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return a.b == b.b;
    case VALUE_INT:
        return a.i == b.i;
    case VALUE_UINT:
        return a.u == b.u;
    case VALUE_FLOAT:
        return a.f == b.f;
    case VALUE_STRING:
    case VALUE_BYTES:
        return str_eq(value_str(a), value_str(b));
    case VALUE_LIST:
        return equal_lists(cmp, a, b);
    case VALUE_MAP:
        return equal_maps(cmp, a.map, b.map);
    case VALUE_OBJECT:
        return equal_objects(a.object, b.object);
    }
    return false;
}

static bool deep_equal(struct comparison *cmp, struct value a, struct value b)
{
    bool equal;

    if (cmp->r == 0 && ++cmp->pairs % EQUAL_PAIRS_PAID == 0)
        cmp->r = tpl_spend(cmp->c->x, EQUAL_PAIRS_PAID, cmp->err);
    if (cmp->r < 0 || !equal_types(a, b))
        return false;
    if (cmp->depth >= EQUAL_DEPTH_MAX)
        return true;
    cmp->depth++;
    equal = equal_contents(cmp, a, b);
    cmp->depth--;
    return equal;
}

int fn_deep_equal(struct tpl_call *c, struct value a, struct value b, bool *ret, struct err **err)
{
    struct comparison cmp = { .c = c, .err = err };
    bool equal = deep_equal(&cmp, a, b);

    if (cmp.r == 0)
        *ret = equal;
    return cmp.r;
}

/* ---- runes ---- */

size_t fn_rune(struct str s, uint32_t *ret)
{
    size_t n = utf8_decode(s, ret);

    if (*ret == UTF8_INVALID)
        *ret = RUNE_ERROR;
    return n;
}

static size_t fn_last_rune(struct str s, uint32_t *ret)
{
    for (size_t width = 1; width <= 4 && width <= s.n; width++) {
        unsigned char first = (unsigned char)s.p[s.n - width];

        if ((first & 0xC0) == 0x80)
            continue;
        if (fn_rune(str_sub(s, s.n - width, s.n), ret) == width)
            return width;
        break;
    }
    *ret = RUNE_ERROR;
    return 1;
}

struct str fn_trim_space(struct str s)
{
    uint32_t rune;
    size_t n;

    while (s.n > 0 && (n = fn_rune(s, &rune), unicode_is_space(rune)))
        s = str_sub(s, n, s.n);
    while (s.n > 0 && (n = fn_last_rune(s, &rune), unicode_is_space(rune)))
        s.n -= n;
    return s;
}

static bool contains_rune(struct str set, uint32_t rune)
{
    while (set.n > 0) {
        uint32_t r;
        size_t n = fn_rune(set, &r);

        if (r == rune)
            return true;
        set = str_sub(set, n, set.n);
    }
    return false;
}

struct str fn_trim(struct str s, struct str cutset)
{
    uint32_t rune;
    size_t n;

    while (s.n > 0 && (n = fn_rune(s, &rune), contains_rune(cutset, rune)))
        s = str_sub(s, n, s.n);
    while (s.n > 0 && (n = fn_last_rune(s, &rune), contains_rune(cutset, rune)))
        s.n -= n;
    return s;
}

uint32_t fn_random_below(struct tpl_call *c, uint32_t below)
{
    uint32_t limit = UINT32_MAX - UINT32_MAX % below, v;

    do
        tpl_random(c->x, &v, sizeof(v));
    while (v >= limit);
    return v % below;
}
