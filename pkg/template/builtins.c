/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of text/template itself (text/template/funcs.go). `slice` is Sprig's under Helm. */
#include "base/limits.h"
#include "template/complex.h"
#include "template/func.h"
#include "template/print.h"
#include "template/quote.h"
#include "template/types.h"
#include "template/unicode.h"

static int give_text(struct tpl_call *c, const struct buf *b, struct value *ret, struct err **err)
{
    int r = buf_check(b, err);

    if (r == 0)
        r = tpl_reserve(c->x, b->n, err);
    if (r == 0)
        *ret = value_from_str(arena_dup(c->arena, buf_str(b)));
    return r;
}

/* ---- printing ---- */

static int fn_print(struct tpl_call *c, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(TEMPLATE_OUTPUT_MAX);

    print_all(c->args, c->n, false, &b);
    return give_text(c, &b, ret, err);
}

static int fn_println(struct tpl_call *c, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(TEMPLATE_OUTPUT_MAX);

    print_all(c->args, c->n, true, &b);
    return give_text(c, &b, ret, err);
}

static int fn_printf(struct tpl_call *c, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    int r = tpl_sprintf(c->x, value_str(c->args[0]), c->args + 1, c->n - 1, &b, err);

    return r < 0 ? r : give_text(c, &b, ret, err);
}

/* ---- escaping ---- */

/* The arguments as print would show them, but nil is "<no value>". */
static void print_for_escape(struct tpl_call *c, struct buf *out)
{
    bool after_string = true;

    for (size_t i = 0; i < c->n; i++) {
        bool is_string = c->args[i].kind == VALUE_STRING || c->args[i].kind == VALUE_NULL;

        if (i > 0 && !is_string && !after_string)
            buf_addc(out, ' ');
        print_action(c->args[i], out);
        after_string = is_string;
    }
}

static void escape_html(struct str s, struct buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        switch (s.p[i]) {
        case '\0':
            buf_adds(out, "\xEF\xBF\xBD");
            break;
        case '"':
            buf_adds(out, "&#34;");
            break;
        case '\'':
            buf_adds(out, "&#39;");
            break;
        case '&':
            buf_adds(out, "&amp;");
            break;
        case '<':
            buf_adds(out, "&lt;");
            break;
        case '>':
            buf_adds(out, "&gt;");
            break;
        default:
            buf_addc(out, s.p[i]);
        }
    }
}

static void escape_js_ascii(unsigned char c, struct buf *out)
{
    if (c == '\\' || c == '\'' || c == '"') {
        buf_addc(out, '\\');
        buf_addc(out, (char)c);
    } else if (c < ' ' || c == '<' || c == '>' || c == '&' || c == '=') {
        buf_addf(out, "\\u%04X", c);
    } else {
        buf_addc(out, (char)c);
    }
}

static void escape_js(struct str s, struct buf *out)
{
    while (s.n > 0) {
        uint32_t r;
        size_t n = go_decode_rune(s, &r);

        if (r < 0x80)
            escape_js_ascii((unsigned char)r, out);
        else if (unicode_is_print(r))
            buf_add(out, s.p, n);
        else
            buf_addf(out, "\\u%04X", (unsigned)r);
        s = str_sub(s, n, s.n);
    }
}

static void escape_query(struct str s, struct buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (ascii_is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
            buf_addc(out, c);
        else if (c == ' ')
            buf_addc(out, '+');
        else
            buf_addf(out, "%%%02X", (unsigned char)c);
    }
}

static int escape(struct tpl_call *c, void (*how)(struct str s, struct buf *out), struct value *ret,
                  struct err **err)
{
    CLEANUP(buf_done) struct buf plain = BUF_INIT(TEMPLATE_OUTPUT_MAX), out = BUF_INIT(TEMPLATE_OUTPUT_MAX);

    print_for_escape(c, &plain);
    how(buf_str(&plain), &out);
    out.failed |= plain.failed;
    return give_text(c, &out, ret, err);
}

static int fn_html(struct tpl_call *c, struct value *ret, struct err **err)
{
    return escape(c, escape_html, ret, err);
}

static int fn_js(struct tpl_call *c, struct value *ret, struct err **err)
{
    return escape(c, escape_js, ret, err);
}

static int fn_urlquery(struct tpl_call *c, struct value *ret, struct err **err)
{
    return escape(c, escape_query, ret, err);
}

/* ---- index, len ---- */

/* A position in a list, string or bytes of n items. Go lets n itself pass and then panics. */
static int index_arg(struct value at, size_t n, bool is_string, size_t *ret, struct err **err)
{
    if (at.kind == VALUE_NULL)
        return err_set(err, ERRC_TEMPLATE, "cannot index slice/array with nil");
    if (at.kind != VALUE_INT && at.kind != VALUE_UINT)
        return err_set(err, ERRC_TEMPLATE, "cannot index slice/array with type %s", type_name(at, false));
    if (at.i < 0 || (uint64_t)at.i > n)
        return err_set(err, ERRC_TEMPLATE, "index out of range: %lld", (long long)at.i);
    if ((uint64_t)at.i == n)
        return err_set(err, ERRC_TEMPLATE, "reflect: %s index out of range", is_string ? "string" : "slice");
    *ret = (size_t)at.i;
    return 0;
}

static int index_map(struct value map, struct value key, struct value *ret, struct err **err)
{
    const struct value_entry *e;

    if (key.kind == VALUE_NULL)
        return err_set(err, ERRC_TEMPLATE, "value is nil; should be of type string");
    if (key.kind != VALUE_STRING)
        return err_set(err, ERRC_TEMPLATE, "value has type %s; should be string", type_name(key, false));
    e = value_find(map, value_str(key));
    *ret = e ? element(map, e->v) : map_zero(map);
    return 0;
}

/* The type behind a pointer: these functions look through it. */
static const char *pointed_type_name(struct value v)
{
    const char *name = type_name(v, false);

    return name[0] == '*' ? name + 1 : name;
}

static int index_one(struct value item, struct value at, struct value *ret, struct err **err)
{
    size_t i = 0;
    int r;

    switch (item.kind) {
    case VALUE_NULL:
        return err_set(err, ERRC_TEMPLATE, "index of nil pointer");
    case VALUE_MAP:
        return index_map(item, at, ret, err);
    case VALUE_LIST:
    case VALUE_STRING:
    case VALUE_BYTES:
        r = index_arg(at, item.n, item.kind == VALUE_STRING, &i, err);
        if (r < 0)
            return r;
        *ret = item.kind == VALUE_LIST ? element(item, item.list[i])
                                       : (struct value){ .kind = VALUE_UINT,
                                                         .type = VALUE_TYPE_UINT8,
                                                         .u = (unsigned char)item.s[i] };
        return 0;
    default:
        return err_set(err, ERRC_TEMPLATE, "can't index item of type %s", pointed_type_name(item));
    }
}

static int fn_index(struct tpl_call *c, struct value *ret, struct err **err)
{
    struct value item = c->args[0];

    if (item.kind == VALUE_NULL)
        return err_set(err, ERRC_TEMPLATE, "index of untyped nil");
    item.flags &= (uint16_t)~VALUE_FROM_ELEMENT;
    for (size_t i = 1; i < c->n; i++) {
        int r = index_one(item, c->args[i], &item, err);

        if (r < 0)
            return r;
    }
    *ret = item;
    return 0;
}

static int fn_len(struct tpl_call *c, struct value *ret, struct err **err)
{
    struct value v = c->args[0];

    if (v.kind == VALUE_NULL)
        return err_set(err, ERRC_TEMPLATE, "%s",
                       v.flags & VALUE_FROM_ELEMENT ? "len of nil pointer"
                                                    : "reflect: call of reflect.Value.Type on zero Value");
    if (v.kind != VALUE_STRING && v.kind != VALUE_BYTES && v.kind != VALUE_LIST && v.kind != VALUE_MAP)
        return err_set(err, ERRC_TEMPLATE, "len of type %s", pointed_type_name(v));
    *ret = (struct value){ .kind = VALUE_INT, .type = VALUE_TYPE_INT, .i = (int64_t)value_len(v) };
    return 0;
}

/* ---- comparison ---- */

/* Kinds that can be compared by content (VALUE_OBJECT: a complex number); the rest is VALUE_NULL. */
static enum value_kind basic_kind(struct value v)
{
    return v.kind <= VALUE_STRING || complex_get(v) ? (enum value_kind)v.kind : VALUE_NULL;
}

static bool is_nil(struct value v)
{
    return v.kind == VALUE_NULL ||
           ((v.kind == VALUE_MAP || v.kind == VALUE_LIST || v.kind == VALUE_BYTES) && (v.flags & VALUE_NIL));
}

/* -1, 0, 1; NaN is unordered: 2. Only for equal basic kinds, or an integer with an unsigned one. */
static int order(struct value a, struct value b)
{
    if (a.kind == VALUE_INT && b.kind == VALUE_UINT)
        return a.i < 0 || a.u < b.u ? -1 : a.u > b.u;
    if (a.kind == VALUE_UINT && b.kind == VALUE_INT)
        return b.i < 0 || a.u > b.u ? 1 : -(a.u < b.u);
    switch (a.kind) {
    case VALUE_BOOL:
        return a.b - b.b;
    case VALUE_INT:
        return a.i < b.i ? -1 : a.i > b.i;
    case VALUE_UINT:
        return a.u < b.u ? -1 : a.u > b.u;
    case VALUE_FLOAT:
        return a.f < b.f ? -1 : a.f > b.f ? 1 : a.f == b.f ? 0 : 2;
    default:
        return str_cmp(value_str(a), value_str(b));
    }
}

static bool both_integers(enum value_kind a, enum value_kind b)
{
    return (a == VALUE_INT || a == VALUE_UINT) && (b == VALUE_INT || b == VALUE_UINT);
}

static void print_as_string(struct value v, struct buf *out)
{
    struct printer p = { .out = out };

    if (v.kind == VALUE_NULL)
        buf_adds(out, "<invalid Value>");
    else
        print_arg(&p, param_convert('*', v), 's');
}

/* eq of what has no order: nils, maps, lists, objects. */
static int equal_others(struct value a, struct value b, bool *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    const struct tpl_object *oa, *ob;

    if (a.kind != VALUE_NULL && b.kind != VALUE_NULL && strcmp(tpl_kind_name(a), tpl_kind_name(b)) != 0) {
        print_as_string(a, &text);
        buf_addf(&text, ": %s, %s: ", type_name(a, false), type_name(b, false));
        tpl_print_value(param_convert('*', b), &text);
        return err_set(err, ERRC_TEMPLATE, "non-comparable types " STR_FMT, STR_ARG(buf_str(&text)));
    }
    if (is_nil(a) || is_nil(b)) {
        *ret = is_nil(a) == is_nil(b);
        return 0;
    }
    if (b.kind != VALUE_OBJECT) {
        print_as_string(b, &text);
        return err_set(err, ERRC_TEMPLATE, "non-comparable type " STR_FMT ": %s", STR_ARG(buf_str(&text)),
                       type_name(b, false));
    }
    oa = a.object;
    ob = b.object;
    *ret = oa == ob || (oa->type == ob->type && oa->type->equal && oa->type->equal(oa, ob));
    return 0;
}

static bool equal_complex(struct value a, struct value b)
{
    return complex_get(a)->re == complex_get(b)->re && complex_get(a)->im == complex_get(b)->im;
}

static int equal(struct value a, struct value b, bool *ret, struct err **err)
{
    enum value_kind ka = basic_kind(a), kb = basic_kind(b);

    *ret = false;
    if (ka == VALUE_NULL && kb == VALUE_NULL)
        return equal_others(a, b, ret, err);
    if (ka == kb || both_integers(ka, kb)) {
        *ret = ka == VALUE_OBJECT ? equal_complex(a, b) : order(a, b) == 0;
        return 0;
    }
    if (a.kind == VALUE_NULL || b.kind == VALUE_NULL)
        return 0;
    return err_set(err, ERRC_TEMPLATE, "incompatible types for comparison: %s and %s", type_name(a, false),
                   type_name(b, false));
}

static int fn_eq(struct tpl_call *c, struct value *ret, struct err **err)
{
    bool same = false;

    if (c->n < 2)
        return err_set(err, ERRC_TEMPLATE, "missing argument for comparison");
    for (size_t i = 1; i < c->n && !same; i++) {
        int r = equal(c->args[0], c->args[i], &same, err);

        if (r < 0)
            return r;
    }
    *ret = value_from_bool(same);
    return 0;
}

static int fn_ne(struct tpl_call *c, struct value *ret, struct err **err)
{
    bool same;
    int r = equal(c->args[0], c->args[1], &same, err);

    *ret = value_from_bool(r == 0 && !same);
    return r;
}

static int less(struct value a, struct value b, bool *ret, struct err **err)
{
    enum value_kind ka = basic_kind(a), kb = basic_kind(b);

    if (ka == VALUE_NULL || kb == VALUE_NULL || (ka == kb && (ka == VALUE_BOOL || ka == VALUE_OBJECT)))
        return err_set(err, ERRC_TEMPLATE, "invalid type for comparison");
    if (ka != kb && !both_integers(ka, kb))
        return err_set(err, ERRC_TEMPLATE, "incompatible types for comparison: %s and %s",
                       type_name(a, false), type_name(b, false));
    *ret = order(a, b) < 0;
    return 0;
}

static int fn_lt(struct tpl_call *c, struct value *ret, struct err **err)
{
    bool is_less = false;
    int r = less(c->args[0], c->args[1], &is_less, err);

    *ret = value_from_bool(is_less);
    return r;
}

/* Go asks for less, then for equal: NaN is neither. */
static int less_or_equal(struct tpl_call *c, bool *ret, struct err **err)
{
    int r = less(c->args[0], c->args[1], ret, err);

    return r < 0 || *ret ? r : equal(c->args[0], c->args[1], ret, err);
}

static int fn_le(struct tpl_call *c, struct value *ret, struct err **err)
{
    bool is = false;
    int r = less_or_equal(c, &is, err);

    *ret = value_from_bool(is);
    return r;
}

static int fn_gt(struct tpl_call *c, struct value *ret, struct err **err)
{
    bool is = false;
    int r = less_or_equal(c, &is, err);

    *ret = value_from_bool(!is);
    return r;
}

static int fn_ge(struct tpl_call *c, struct value *ret, struct err **err)
{
    bool is = false;
    int r = less(c->args[0], c->args[1], &is, err);

    *ret = value_from_bool(!is);
    return r;
}

static int fn_not(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(err);
    *ret = value_from_bool(!tpl_truth(c->args[0]));
    return 0;
}

/* and, or, call: the evaluator runs them itself. */
static int fn_special(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(c);
    UNUSED(ret);
    return err_set(err, ERRC_INTERNAL, "unreachable");
}

static const struct tpl_func funcs[] = {
    { "and", "vv+", 'v', fn_special },    { "call", "vv+", 'v', fn_special },
    { "eq", "vv+", 'b', fn_eq },          { "ge", "vv", 'b', fn_ge },
    { "gt", "vv", 'b', fn_gt },           { "html", "*+", 's', fn_html },
    { "index", "vv+", 'v', fn_index },    { "js", "*+", 's', fn_js },
    { "le", "vv", 'b', fn_le },           { "len", "v", 'i', fn_len },
    { "lt", "vv", 'b', fn_lt },           { "ne", "vv", 'b', fn_ne },
    { "not", "v", 'b', fn_not },          { "or", "vv+", 'v', fn_special },
    { "print", "*+", 's', fn_print },     { "printf", "s*+", 's', fn_printf },
    { "println", "*+", 's', fn_println }, { "urlquery", "*+", 's', fn_urlquery },
};

const struct tpl_func_table tpl_funcs_builtin = { funcs, ARRAY_SIZE(funcs) };
