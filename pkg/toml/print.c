/* SPDX-License-Identifier: Apache-2.0 */
/* Behaves as github.com/BurntSushi/toml encode.go. */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "toml/toml_int.h"

struct printer {
    struct buf *out;
    size_t from; /* where our text begins */
    struct str *path;
    size_t n, cap;
    size_t depth;
    struct err **err;
};

static NODISCARD int print_element(struct printer *p, struct value v);
static NODISCARD int print_entry(struct printer *p, struct value v);

static bool is_nil(struct value v)
{
    return v.kind == VALUE_NULL ||
           ((v.flags & VALUE_NIL) && (v.kind == VALUE_MAP || v.kind == VALUE_LIST || v.kind == VALUE_BYTES));
}

static int check_depth(struct printer *p)
{
    if (p->depth <= TOML_DEPTH_MAX)
        return 0;
    return err_set(p->err, ERRC_LIMIT, "toml: nested deeper than %d", TOML_DEPTH_MAX);
}

/* 1: a list of tables alone. Nil anywhere in a list is an error, also in the lists in it. */
static NODISCARD int is_table_list(struct printer *p, struct value v)
{
    int all = v.kind == VALUE_LIST && v.n > 0, r;

    p->depth++;
    r = check_depth(p);
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.n && r >= 0; i++) {
        struct value item = v.list[i];

        if (is_nil(item)) {
            r = err_set(p->err, ERRC_INVALID, "toml: cannot encode array with nil element");
            break;
        }
        if (item.kind != VALUE_MAP)
            all = 0;
        if (all == 0 && item.kind == VALUE_LIST)
            r = is_table_list(p, item);
    }
    p->depth--;
    return r < 0 ? r : all;
}

static NODISCARD int is_table(struct printer *p, struct value v)
{
    if (is_nil(v))
        return 0;
    return v.kind == VALUE_MAP ? 1 : v.kind == VALUE_LIST ? is_table_list(p, v) : 0;
}

static void newline(struct printer *p)
{
    if (p->out->n > p->from)
        buf_addc(p->out, '\n');
}

static void print_path(struct printer *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (i > 0)
            buf_addc(p->out, '.');
        toml_quote_key(p->path[i], p->out);
    }
}

static void indent(struct printer *p)
{
    buf_add_repeat(p->out, ' ', 2 * (p->n - 1));
}

static void print_float(struct printer *p, struct value v)
{
    size_t from = p->out->n;

    if (!isfinite(v.f)) {
        if (signbit(v.f))
            buf_addc(p->out, '-');
        buf_adds(p->out, isnan(v.f) ? "nan" : "inf");
        return;
    }
    number_format_float(v.f, 'g', -1, v.type == VALUE_TYPE_FLOAT32 ? 32 : 64, p->out);
    if (p->out->n > from && !memchr(p->out->p + from, 'e', p->out->n - from) &&
        !memchr(p->out->p + from, '.', p->out->n - from))
        buf_adds(p->out, ".0");
}

/* A date or time, which has no quotes: as much of its text as its kind has. */
static bool print_moment(struct printer *p, struct value v)
{
    struct str s = value_str(v);

    switch (v.type) {
    case VALUE_TYPE_DATE_TIME:
        break;
    case VALUE_TYPE_LOCAL_DATE_TIME:
        s.n--; /* the Z */
        break;
    case VALUE_TYPE_LOCAL_DATE:
        s = str_sub(s, 0, 10);
        break;
    case VALUE_TYPE_LOCAL_TIME:
        s = str_sub(s, 11, s.n - 1);
        break;
    default:
        return false;
    }
    buf_addstr(p->out, s);
    return true;
}

static NODISCARD int print_list(struct printer *p, struct value v)
{
    int r = check_depth(p);

    buf_addc(p->out, '[');
    for (uint32_t i = 0; i < v.n && r == 0; i++) {
        if (i > 0)
            buf_adds(p->out, ", ");
        r = print_element(p, v.kind == VALUE_BYTES ? value_from_int((unsigned char)v.s[i]) : v.list[i]);
    }
    buf_addc(p->out, ']');
    return r;
}

/* One of the two passes over a map: first the members that are no tables, then those. The comma behind each but the
 * last of its pass is written before it is known whether the next is nil: so does the library. */
static NODISCARD int print_inline_members(struct printer *p, struct value map, bool tables, size_t n,
                                          bool comma)
{
    size_t seen = 0;
    int r = 0;

    for (struct value_iter it = value_iter(map); r >= 0 && value_next(&it);) {
        r = is_table(p, it.v);
        if (r < 0 || (r > 0) != tables)
            continue;
        seen++;
        if (is_nil(it.v))
            continue;
        toml_quote_key(it.key, p->out);
        buf_adds(p->out, " = ");
        r = print_element(p, it.v);
        if (comma || seen < n)
            buf_adds(p->out, ", ");
    }
    return MIN(r, 0);
}

static NODISCARD int print_inline_map(struct printer *p, struct value map)
{
    size_t tables = 0;
    int r = check_depth(p);

    for (struct value_iter it = value_iter(map); r >= 0 && value_next(&it);) {
        r = is_table(p, it.v);
        tables += r > 0;
    }
    buf_addc(p->out, '{');
    if (r >= 0)
        r = print_inline_members(p, map, false, value_len(map) - tables, tables > 0);
    if (r >= 0)
        r = print_inline_members(p, map, true, tables, false);
    buf_addc(p->out, '}');
    return r;
}

/* A value behind "key =", or in a list. */
static NODISCARD int print_element(struct printer *p, struct value v)
{
    int r = 0;

    p->depth++;
    switch ((enum value_kind)v.kind) {
    case VALUE_BOOL:
        buf_adds(p->out, v.b ? "true" : "false");
        break;
    case VALUE_INT:
        buf_addf(p->out, "%lld", (long long)v.i);
        break;
    case VALUE_UINT:
        buf_addf(p->out, "%llu", (unsigned long long)v.u);
        break;
    case VALUE_FLOAT:
        print_float(p, v);
        break;
    case VALUE_STRING:
        if (!print_moment(p, v))
            toml_quote(value_str(v), p->out);
        break;
    case VALUE_BYTES:
    case VALUE_LIST:
        r = print_list(p, v);
        break;
    case VALUE_MAP:
        r = print_inline_map(p, v);
        break;
    case VALUE_NULL:
    case VALUE_OBJECT:
        r = err_set(p->err, ERRC_INVALID, "toml: unsupported type: %s",
                    v.kind == VALUE_NULL ? "nil" : "object");
        break;
    }
    p->depth--;
    return r;
}

static NODISCARD int print_members(struct printer *p, struct value map, bool tables)
{
    int r = 0;

    for (struct value_iter it = value_iter(map); r >= 0 && value_next(&it);) {
        r = is_table(p, it.v);
        if (r < 0 || (r > 0) != tables || is_nil(it.v))
            continue;
        if (p->n == TOML_DEPTH_MAX)
            return err_set(p->err, ERRC_LIMIT, "toml: nested deeper than %d", TOML_DEPTH_MAX);
        ARRAY_GROW(p->path, p->cap, p->n + 1);
        p->path[p->n++] = it.key;
        r = print_entry(p, it.v);
        p->n--;
    }
    return MIN(r, 0);
}

static NODISCARD int print_map(struct printer *p, struct value map)
{
    int r = print_members(p, map, false);

    return r < 0 ? r : print_members(p, map, true);
}

static NODISCARD int print_table_list(struct printer *p, struct value list)
{
    int r = 0;

    if (p->n == 0)
        return err_set(p->err, ERRC_INVALID, "toml: top-level values must be Go maps or structs");
    for (uint32_t i = 0; i < list.n && r == 0; i++) {
        newline(p);
        indent(p);
        buf_adds(p->out, "[[");
        print_path(p);
        buf_adds(p->out, "]]");
        newline(p);
        r = print_map(p, list.list[i]);
    }
    return r;
}

static NODISCARD int print_table(struct printer *p, struct value map)
{
    if (p->n == 1) /* a blank line between tables of the top level */
        newline(p);
    if (p->n > 0) {
        indent(p);
        buf_addc(p->out, '[');
        print_path(p);
        buf_addc(p->out, ']');
        newline(p);
    }
    return print_map(p, map);
}

static NODISCARD int print_entry(struct printer *p, struct value v)
{
    int r = is_table(p, v);

    if (r < 0)
        return r;
    if (v.kind == VALUE_MAP)
        return print_table(p, v);
    if (r > 0)
        return print_table_list(p, v);
    if (p->n == 0)
        return print_element(p, v);
    indent(p);
    toml_quote_key(p->path[p->n - 1], p->out);
    buf_adds(p->out, " = ");
    r = print_element(p, v);
    newline(p);
    return r;
}

int toml_print(struct value v, struct buf *out, struct err **err)
{
    struct printer p = { .out = out, .from = out->n, .err = err };
    int r;

    if (v.kind == VALUE_NULL) /* what the library's panic becomes in a template */
        return err_set(err, ERRC_INVALID, "reflect: call of reflect.Value.Type on zero Value");
    r = v.kind == VALUE_MAP && is_nil(v) ? 0 : print_entry(&p, v);
    free(p.path);
    if (r == 0)
        r = buf_check(out, err);
    if (r < 0 && out->p)
        buf_truncate(out, p.from);
    return r;
}
