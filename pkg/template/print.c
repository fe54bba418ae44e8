/* SPDX-License-Identifier: Apache-2.0 */
/* Follows fmt/print.go and fmt/format.go. */
#include "template/print.h"

#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "template/complex.h"
#include "template/quote.h"
#include "template/types.h"
#include "template/unicode.h"

static void print_value(struct printer *p, struct value v, uint32_t verb, int depth);
static void print_bad_verb(struct printer *p, struct value v, uint32_t verb);

void print_clear_flags(struct printer *p)
{
    *p = (struct printer){ .out = p->out };
}

/* ---- padding ---- */

static void pad_n(struct printer *p, int64_t n)
{
    if (n > 0)
        buf_add_repeat(p->out, p->zero && !p->minus ? '0' : ' ', (size_t)n);
}

static void pad(struct printer *p, struct str s)
{
    int64_t width = p->has_width ? p->width - (int64_t)utf8_count(s) : 0;

    if (!p->minus)
        pad_n(p, width);
    buf_addstr(p->out, s);
    if (p->minus)
        pad_n(p, width);
}

static void pad_without_zeros(struct printer *p, struct str s)
{
    bool zero = p->zero;

    p->zero = false;
    pad(p, s);
    p->zero = zero;
}

/* ---- integers ---- */

static const char lower_digits[] = "0123456789abcdefx", upper_digits[] = "0123456789ABCDEFX";

/* The digits of u, at least `precision` of them, written backwards from `end`; returns where they start. */
static char *digits_of(char *end, uint64_t u, unsigned base, const char *digits, int64_t precision)
{
    char *q = end;

    do {
        *--q = digits[u % base];
        u /= base;
    } while (u > 0);
    while (precision > end - q)
        *--q = '0';
    return q;
}

static char *base_prefix(const struct printer *p, char *q, unsigned base, uint32_t verb, const char *digits)
{
    if (p->sharp && base == 2) {
        *--q = 'b';
        *--q = '0';
    } else if (p->sharp && base == 8 && *q != '0') {
        *--q = '0';
    } else if (p->sharp && base == 16) {
        *--q = digits[16];
        *--q = '0';
    }
    if (verb == 'O') {
        *--q = 'o';
        *--q = '0';
    }
    return q;
}

static void integer(struct printer *p, uint64_t u, unsigned base, bool is_signed, uint32_t verb,
                    const char *digits)
{
    bool negative = is_signed && (int64_t)u < 0;
    int64_t precision = 0;
    size_t room = 72 + (size_t)p->width + (size_t)p->precision;
    char small[160], *mem = room > sizeof(small) ? xmalloc(room) : small, *q;

    if (negative)
        u = 0 - u;
    if (p->has_precision) {
        precision = p->precision;
        if (precision == 0 && u == 0) {
            pad_without_zeros(p, (struct str){ "", 0 });
            if (mem != small)
                free_ptr(mem);
            return;
        }
    } else if (p->zero && !p->minus && p->has_width) {
        precision = p->width - (negative || p->plus || p->space);
    }
    q = digits_of(mem + room, u, base, digits, precision);
    q = base_prefix(p, q, base, verb, digits);
    if (negative)
        *--q = '-';
    else if (p->plus)
        *--q = '+';
    else if (p->space)
        *--q = ' ';
    pad_without_zeros(p, (struct str){ q, (size_t)(mem + room - q) });
    if (mem != small)
        free_ptr(mem);
}

static void hex_number(struct printer *p, uint64_t u, bool leading_0x)
{
    bool sharp = p->sharp;

    p->sharp = leading_0x;
    integer(p, u, 16, false, 'v', lower_digits);
    p->sharp = sharp;
}

/* %U */
static void code_point(struct printer *p, uint64_t u)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);
    int precision = p->has_precision && p->precision > 4 ? p->precision : 4;
    char digits[24], *end = digits + sizeof(digits), *q = digits_of(end, u, 16, upper_digits, 0);

    buf_adds(&b, "U+");
    if (precision > end - q)
        buf_add_repeat(&b, '0', (size_t)(precision - (end - q)));
    buf_add(&b, q, (size_t)(end - q));
    if (p->sharp && u <= GO_RUNE_MAX && unicode_is_print((uint32_t)u)) {
        buf_adds(&b, " '");
        buf_add_rune(&b, (uint32_t)u);
        buf_addc(&b, '\'');
    }
    pad_without_zeros(p, buf_str(&b));
}

/* %c and %q */
static void character(struct printer *p, uint64_t u, uint32_t verb)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);
    uint32_t r = u > GO_RUNE_MAX ? GO_RUNE_ERROR : (uint32_t)u;

    if (verb == 'c')
        buf_add_rune(&b, r);
    else
        go_quote_rune(r, p->plus, &b);
    pad(p, buf_str(&b));
}

static void print_integer(struct printer *p, struct value v, uint64_t u, bool is_signed, uint32_t verb)
{
    switch (verb) {
    case 'v':
        if (p->sharp_v && !is_signed)
            hex_number(p, u, true);
        else
            integer(p, u, 10, is_signed, verb, lower_digits);
        break;
    case 'd':
        integer(p, u, 10, is_signed, verb, lower_digits);
        break;
    case 'b':
        integer(p, u, 2, is_signed, verb, lower_digits);
        break;
    case 'o':
    case 'O':
        integer(p, u, 8, is_signed, verb, lower_digits);
        break;
    case 'x':
        integer(p, u, 16, is_signed, verb, lower_digits);
        break;
    case 'X':
        integer(p, u, 16, is_signed, verb, upper_digits);
        break;
    case 'c':
    case 'q':
        character(p, u, verb);
        break;
    case 'U':
        code_point(p, u);
        break;
    default:
        print_bad_verb(p, v, verb);
    }
}

/* ---- floats ---- */

/* '#': a decimal point always, and trailing zeros as %g would drop them. `b` holds sign and digits. */
static void keep_zeros(struct buf *b, char verb, int precision)
{
    CLEANUP(buf_done) struct buf tail = BUF_INIT(64);
    bool point = false, nonzero = false;
    int digits = 0;
    size_t i;

    if (verb == 'g' || verb == 'G' || verb == 'x')
        digits = precision == -1 ? 6 : precision;
    for (i = 1; i < b->n; i++) {
        char c = b->p[i];
        bool exponent = c == 'p' || c == 'P' || ((c == 'e' || c == 'E') && verb != 'x' && verb != 'X');

        if (exponent)
            break;
        if (c == '.') {
            point = true;
            continue;
        }
        nonzero = nonzero || c != '0';
        digits -= nonzero;
    }
    buf_add(&tail, b->p + i, b->n - i);
    buf_truncate(b, i);
    if (!point) {
        if (b->n == 2 && b->p[1] == '0')
            digits--;
        buf_addc(b, '.');
    }
    if (digits > 0)
        buf_add_repeat(b, '0', (size_t)digits);
    buf_addstr(b, buf_str(&tail));
}

static void print_float_as(struct printer *p, double f, int bits, char verb, int precision)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);
    struct str s;

    if (p->has_precision)
        precision = p->precision;
    number_format_float(f, verb, precision, bits, &b);
    if (b.p[0] != '-' && b.p[0] != '+') {
        CLEANUP(buf_done) struct buf with_sign = BUF_INIT(SIZE_MAX / 4);
        struct buf swap;

        buf_addc(&with_sign, '+');
        buf_addstr(&with_sign, buf_str(&b));
        swap = b;
        b = with_sign;
        with_sign = swap;
    }
    if (p->space && b.p[0] == '+' && !p->plus)
        b.p[0] = ' ';
    s = buf_str(&b);
    if (b.p[1] == 'I' || b.p[1] == 'N') {
        bool bare = b.p[1] == 'N' && !p->space && !p->plus;

        pad_without_zeros(p, bare ? str_sub(s, 1, s.n) : s);
        return;
    }
    if (p->sharp && verb != 'b')
        keep_zeros(&b, verb, precision);
    s = buf_str(&b);
    if (!p->plus && b.p[0] == '+') {
        pad(p, str_sub(s, 1, s.n));
    } else if (p->zero && !p->minus && p->has_width && p->width > (int64_t)s.n) {
        buf_addc(p->out, s.p[0]);
        pad_n(p, p->width - (int64_t)s.n);
        buf_addstr(p->out, str_sub(s, 1, s.n));
    } else {
        pad(p, s);
    }
}

static void print_float(struct printer *p, struct value v, uint32_t verb)
{
    int bits = v.type == VALUE_TYPE_FLOAT32 ? 32 : 64;

    switch (verb) {
    case 'v':
        print_float_as(p, v.f, bits, 'g', -1);
        break;
    case 'b':
    case 'g':
    case 'G':
    case 'x':
    case 'X':
        print_float_as(p, v.f, bits, (char)verb, -1);
        break;
    case 'f':
    case 'e':
    case 'E':
        print_float_as(p, v.f, bits, (char)verb, 6);
        break;
    case 'F':
        print_float_as(p, v.f, bits, 'f', 6);
        break;
    default:
        print_bad_verb(p, v, verb);
    }
}

/* ---- text ---- */

static struct str cut(const struct printer *p, struct str s)
{
    return p->has_precision ? go_truncate(s, (size_t)p->precision) : s;
}

static void quoted(struct printer *p, struct str s)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    s = cut(p, s);
    if (p->sharp && go_can_backquote(s)) {
        buf_addc(&b, '`');
        buf_addstr(&b, s);
        buf_addc(&b, '`');
    } else {
        go_quote(s, '"', p->plus, &b);
    }
    pad(p, buf_str(&b));
}

/* %x of text: its bytes. */
static void hex_text(struct printer *p, struct str s, const char *digits)
{
    int64_t n = (int64_t)s.n, width;

    if (p->has_precision && p->precision < n)
        n = p->precision;
    if (n == 0) {
        pad_n(p, p->has_width ? p->width : 0);
        return;
    }
    width = 2 * n;
    if (p->space)
        width = width * (p->sharp ? 2 : 1) + n - 1;
    else if (p->sharp)
        width += 2;
    if (!p->minus)
        pad_n(p, p->has_width ? p->width - width : 0);
    for (int64_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (p->space && i > 0)
            buf_addc(p->out, ' ');
        if (p->sharp && (p->space || i == 0)) {
            buf_addc(p->out, '0');
            buf_addc(p->out, digits[16]);
        }
        buf_addc(p->out, digits[c >> 4]);
        buf_addc(p->out, digits[c & 15]);
    }
    if (p->minus)
        pad_n(p, p->has_width ? p->width - width : 0);
}

/* False: not a verb for text. */
static bool print_text(struct printer *p, struct str s, uint32_t verb)
{
    switch (verb) {
    case 'v':
        if (p->sharp_v)
            quoted(p, s);
        else
            pad(p, cut(p, s));
        return true;
    case 's':
        pad(p, cut(p, s));
        return true;
    case 'x':
    case 'X':
        hex_text(p, s, verb == 'x' ? lower_digits : upper_digits);
        return true;
    case 'q':
        quoted(p, s);
        return true;
    default:
        return false;
    }
}

static void print_byte_list(struct printer *p, struct value v, uint32_t verb, int depth)
{
    for (uint32_t i = 0; i < v.n; i++) {
        struct value byte = { .kind = VALUE_UINT, .type = VALUE_TYPE_UINT8, .u = (unsigned char)v.s[i] };

        if (i > 0)
            buf_adds(p->out, p->sharp_v ? ", " : " ");
        if (p->sharp_v && depth == 0)
            hex_number(p, byte.u, true);
        else
            print_value(p, byte, verb, depth + 1);
    }
}

static void print_bytes(struct printer *p, struct value v, uint32_t verb, int depth)
{
    if (verb == 's' || verb == 'x' || verb == 'X' || verb == 'q') {
        print_text(p, value_str(v), verb);
        return;
    }
    if (p->sharp_v) {
        buf_adds(p->out, depth == 0 ? "[]byte" : "[]uint8");
        if (v.flags & VALUE_NIL) {
            buf_adds(p->out, "(nil)");
            return;
        }
    }
    buf_addc(p->out, p->sharp_v ? '{' : '[');
    print_byte_list(p, v, verb, depth);
    buf_addc(p->out, p->sharp_v ? '}' : ']');
}

/* ---- containers and objects ---- */

#define ADDRESS 0xc000000000 /* of everything: ours would differ in every run */

static bool is_pointer(const struct tpl_object *o)
{
    return strcmp(o->type->go_kind, "ptr") == 0;
}

static void print_struct(struct printer *p, const struct tpl_object *o, uint32_t verb, int depth)
{
    const char *name, *type = o->type->go_name;
    struct value field;

    if (p->sharp_v)
        buf_adds(p->out, is_pointer(o) ? type + 1 : type);
    buf_addc(p->out, '{');
    for (size_t i = 0; o->type->struct_field(o, i, &name, &field); i++) {
        if (i > 0)
            buf_adds(p->out, p->sharp_v ? ", " : " ");
        if (p->plus_v || p->sharp_v)
            buf_addf(p->out, "%s:", name);
        print_value(p, field, verb, depth + 1);
    }
    buf_addc(p->out, '}');
}

/* The imaginary part always has a sign. */
static void print_complex(struct printer *p, const struct complex_object *c, uint32_t verb)
{
    bool plus = p->plus;

    buf_addc(p->out, '(');
    print_float(p, value_from_float(c->re), verb);
    p->plus = true;
    print_float(p, value_from_float(c->im), verb);
    buf_adds(p->out, "i)");
    p->plus = plus;
}

/* By String() or GoString(), where fmt asks for them. False: it does not. */
static bool print_stringer(struct printer *p, const struct tpl_object *o, uint32_t verb, int depth)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(SIZE_MAX / 4);
    bool fields = o->type->struct_field != NULL;

    if (!o->type->print || (fields && (p->erroring || p->sharp_v)))
        return false;
    o->type->print(o, depth > 0 && is_pointer(o) ? 'n' : 'v', p->sharp_v, &text);
    if (p->sharp_v)
        buf_addstr(p->out, buf_str(&text));
    else if (!print_text(p, buf_str(&text), verb))
        return false;
    return true;
}

/* A pointer inside of a container is an address, which differs in every run of Go. */
static void print_inner_pointer(struct printer *p, struct value v, uint32_t verb)
{
    if (verb == 'v' || verb == 'p')
        hex_number(p, ADDRESS, !p->sharp);
    else if (verb < 0x80 && ascii_is_one_of((char)verb, "bodxX"))
        print_value(p, value_from_uint(ADDRESS), verb, 1);
    else
        print_bad_verb(p, v, verb);
}

static void print_object(struct printer *p, struct value v, uint32_t verb, int depth)
{
    const struct tpl_object *o = v.object;

    if (complex_get(v)) {
        if (verb < 0x80 && ascii_is_one_of((char)verb, "vbgGxXfFeE"))
            print_complex(p, complex_get(v), verb);
        else
            print_bad_verb(p, v, verb);
    } else if (print_stringer(p, o, verb, depth)) {
        return;
    } else if (!o->type->struct_field) {
        print_bad_verb(p, v, verb);
    } else if (depth == 0 || !is_pointer(o)) {
        if (is_pointer(o))
            buf_addc(p->out, '&');
        print_struct(p, o, verb, depth);
    } else {
        print_inner_pointer(p, v, verb);
    }
}

/* What stands before the items; false: there are none to come. */
static bool open_container(struct printer *p, struct value v, const char *plain)
{
    if (!p->sharp_v) {
        buf_adds(p->out, plain);
        return true;
    }
    buf_adds(p->out, type_name(v, false));
    buf_adds(p->out, v.flags & VALUE_NIL ? "(nil)" : "{");
    return !(v.flags & VALUE_NIL);
}

static void print_item(struct printer *p, struct value container, struct value item, uint32_t verb, int depth)
{
    if (item.kind == VALUE_NULL)
        buf_adds(p->out, p->sharp_v ? "interface {}(nil)" : "<nil>");
    else
        print_value(p, element(container, item), verb, depth);
}

static void print_container(struct printer *p, struct value v, uint32_t verb, int depth)
{
    size_t n = value_len(v);

    if (depth > VALUE_DEPTH_MAX) { /* it contains itself: Go would overflow its stack */
        p->out->failed = true;
        return;
    }
    if (!open_container(p, v, v.kind == VALUE_MAP ? "map[" : "["))
        return;
    for (size_t i = 0; i < n && !p->out->failed; i++) {
        if (i > 0)
            buf_adds(p->out, p->sharp_v ? ", " : " ");
        if (v.kind == VALUE_MAP) {
            print_value(p, value_from_str(value_entry_at(v, i)->key), verb, depth + 1);
            buf_addc(p->out, ':');
            print_item(p, v, value_entry_at(v, i)->v, verb, depth + 1);
        } else {
            print_item(p, v, value_at(v, i), verb, depth + 1);
        }
    }
    buf_addc(p->out, p->sharp_v ? '}' : ']');
}

/* String() of a named scalar where the verb takes text. */
static bool print_method(struct printer *p, struct value v, uint32_t verb)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(256);

    if (p->erroring || p->sharp_v || !print_named_scalar(v, &text))
        return false;
    return print_text(p, buf_str(&text), verb);
}

static void print_value(struct printer *p, struct value v, uint32_t verb, int depth)
{
    if (v.kind == VALUE_INT && v.type >= VALUE_TYPE_FIRST_FREE && print_method(p, v, verb))
        return;
    switch (v.kind) {
    case VALUE_NULL:
        buf_adds(p->out, "<nil>");
        break;
    case VALUE_BOOL:
        if (verb == 't' || verb == 'v')
            pad(p, v.b ? STR("true") : STR("false"));
        else
            print_bad_verb(p, v, verb);
        break;
    case VALUE_INT:
    case VALUE_UINT:
        print_integer(p, v, v.u, v.kind == VALUE_INT, verb);
        break;
    case VALUE_FLOAT:
        print_float(p, v, verb);
        break;
    case VALUE_STRING:
        if (!print_text(p, value_str(v), verb))
            print_bad_verb(p, v, verb);
        break;
    case VALUE_BYTES:
        print_bytes(p, v, verb, depth);
        break;
    case VALUE_LIST:
    case VALUE_MAP:
        print_container(p, v, verb, depth);
        break;
    case VALUE_OBJECT:
        print_object(p, v, verb, depth);
        break;
    default:
        break;
    }
}

static void print_bad_verb(struct printer *p, struct value v, uint32_t verb)
{
    p->erroring = true;
    buf_adds(p->out, "%!");
    buf_add_rune(p->out, verb);
    buf_addc(p->out, '(');
    if (v.kind == VALUE_NULL) {
        buf_adds(p->out, "<nil>");
    } else {
        buf_adds(p->out, type_name(v, false));
        buf_addc(p->out, '=');
        print_value(p, v, 'v', 0);
    }
    buf_addc(p->out, ')');
    p->erroring = false;
}

/* %p: only what Go's reflection has an address for. */
static void print_pointer(struct printer *p, struct value v)
{
    bool has_address = v.kind == VALUE_BYTES || v.kind == VALUE_LIST || v.kind == VALUE_MAP ||
                       (v.kind == VALUE_OBJECT && strcmp(tpl_kind_name(v), "ptr") == 0);

    if (has_address)
        hex_number(p, v.flags & VALUE_NIL ? 0 : ADDRESS, !p->sharp);
    else
        print_bad_verb(p, v, 'p');
}

void print_arg(struct printer *p, struct value v, uint32_t verb)
{
    if (v.kind == VALUE_NULL) {
        if (verb == 'T' || verb == 'v')
            pad(p, STR("<nil>"));
        else
            print_bad_verb(p, v, verb);
        return;
    }
    if (verb == 'T')
        pad(p, cut(p, str_from(type_name(v, false))));
    else if (verb == 'p')
        print_pointer(p, v);
    else if (verb == 'w' && v.kind != VALUE_BYTES) /* an error wrapped; templates have none */
        print_bad_verb(p, v, verb);
    else
        print_value(p, v, verb, 0);
}

void tpl_print_value(struct value v, struct buf *out)
{
    struct printer p = { .out = out };

    if (v.kind == VALUE_STRING)
        buf_addstr(out, value_str(v));
    else
        print_arg(&p, v, 'v');
}

void print_all(const struct value *args, size_t n, bool line, struct buf *out)
{
    bool after_string = true;

    for (size_t i = 0; i < n; i++) {
        bool is_string = args[i].kind == VALUE_STRING;

        if (i > 0 && (line || (!is_string && !after_string)))
            buf_addc(out, ' ');
        tpl_print_value(args[i], out);
        after_string = is_string;
    }
    if (line)
        buf_addc(out, '\n');
}

void print_action(struct value v, struct buf *out)
{
    const struct tpl_object *o;

    if (v.kind == VALUE_NULL) {
        buf_adds(out, "<no value>");
    } else if (v.kind == VALUE_OBJECT) {
        o = v.object;
        if (o->type->print)
            o->type->print(o, 0, false, out);
        else
            print_struct(&(struct printer){ .out = out }, o, 'v', 0);
    } else {
        tpl_print_value(v, out);
    }
}
