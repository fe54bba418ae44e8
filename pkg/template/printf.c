/* SPDX-License-Identifier: Apache-2.0 */
/* fmt.Sprintf: the walk over the format string (fmt/print.go, doPrintf). */
#include "base/utf8.h"
#include "template/print.h"
#include "template/quote.h"
#include "template/types.h"

#define NUMBER_MAX 1000000 /* Go's bound on widths and precisions */

struct format {
    struct printer p;
    struct str text;
    size_t i; /* in text */
    const struct value *args;
    size_t n, arg; /* arg: the next one */
    bool reordered, good_index;
};

static char at(const struct format *f)
{
    return f->i < f->text.n ? f->text.p[f->i] : '\0';
}

static bool too_large(int64_t n)
{
    return n > NUMBER_MAX || n < -NUMBER_MAX;
}

/* Digits from f->i on, up to `end`; an overflow skips to the end. */
static int parse_number(struct format *f, size_t end, bool *ret_found)
{
    int64_t n = 0;

    *ret_found = false;
    for (; f->i < end && ascii_is_digit(f->text.p[f->i]); f->i++) {
        if (too_large(n)) {
            *ret_found = false;
            f->i = end;
            return 0;
        }
        n = n * 10 + (f->text.p[f->i] - '0');
        *ret_found = true;
    }
    return (int)n;
}

/* "[3]": the argument to use next. True when there was an index. */
static bool parse_index(struct format *f)
{
    struct str rest;
    size_t close, start = f->i;
    bool found;
    int n;

    if (f->i >= f->text.n || at(f) != '[')
        return false;
    f->reordered = true;
    rest = str_sub(f->text, start, f->text.n);
    close = rest.n < 3 ? STR_NPOS : str_find_char(rest, ']');
    if (close == STR_NPOS) {
        f->i = start + 1;
        f->good_index = false;
        return false;
    }
    f->i = start + 1;
    n = parse_number(f, start + close, &found);
    found = found && f->i == start + close;
    f->i = start + close + 1;
    if (found && n >= 1 && (size_t)n <= f->n) {
        f->arg = (size_t)n - 1;
        return true;
    }
    f->good_index = false;
    return found;
}

/* '*': a width or precision out of the arguments. */
static int number_from_arg(struct format *f, bool *ret_ok)
{
    int64_t n = 0;
    struct value v;

    *ret_ok = false;
    if (f->arg >= f->n)
        return 0;
    v = f->args[f->arg++];
    if (v.kind == VALUE_INT || (v.kind == VALUE_UINT && v.u <= INT64_MAX)) {
        n = v.i;
        *ret_ok = true;
    }
    if (too_large(n)) {
        *ret_ok = false;
        n = 0;
    }
    return (int)n;
}

static void parse_width(struct format *f, bool *after_index)
{
    struct printer *p = &f->p;

    if (at(f) != '*') {
        p->width = parse_number(f, f->text.n, &p->has_width);
        if (*after_index && p->has_width)
            f->good_index = false;
        return;
    }
    f->i++;
    p->width = number_from_arg(f, &p->has_width);
    if (!p->has_width)
        buf_adds(p->out, "%!(BADWIDTH)");
    if (p->width < 0) {
        p->width = -p->width;
        p->minus = true;
        p->zero = false;
    }
    *after_index = false;
}

static void parse_precision(struct format *f, bool *after_index)
{
    struct printer *p = &f->p;

    if (f->i + 1 >= f->text.n || at(f) != '.')
        return;
    f->i++;
    if (*after_index)
        f->good_index = false;
    *after_index = parse_index(f);
    if (at(f) != '*') {
        p->precision = parse_number(f, f->text.n, &p->has_precision);
        p->has_precision = true;
        return;
    }
    f->i++;
    p->precision = number_from_arg(f, &p->has_precision);
    if (p->precision < 0) {
        p->precision = 0;
        p->has_precision = false;
    }
    if (!p->has_precision)
        buf_adds(p->out, "%!(BADPREC)");
    *after_index = false;
}

static void go_syntax(struct printer *p)
{
    p->sharp_v = p->sharp;
    p->sharp = false;
    p->plus_v = p->plus;
    p->plus = false;
}

static void bad(struct format *f, uint32_t verb, const char *what)
{
    buf_adds(f->p.out, "%!");
    buf_add_rune(f->p.out, verb);
    buf_adds(f->p.out, what);
}

static void verb_arg(struct format *f, uint32_t verb)
{
    if (verb == 'v' || verb == 'w')
        go_syntax(&f->p);
    print_arg(&f->p, f->args[f->arg++], verb);
}

static bool take_flag(struct format *f)
{
    struct printer *p = &f->p;

    switch (at(f)) {
    case '#':
        p->sharp = true;
        break;
    case '0':
        p->zero = true;
        break;
    case '+':
        p->plus = true;
        break;
    case '-':
        p->minus = true;
        break;
    case ' ':
        p->space = true;
        break;
    default:
        return false;
    }
    f->i++;
    return true;
}

/* Behind a '%'. */
static void directive(struct format *f)
{
    bool after_index;
    uint32_t verb;

    f->good_index = true;
    print_clear_flags(&f->p);
    while (f->i < f->text.n && take_flag(f))
        ;
    if (at(f) >= 'a' && at(f) <= 'z' && f->arg < f->n) {
        verb_arg(f, (unsigned char)f->text.p[f->i++]);
        return;
    }
    after_index = parse_index(f);
    parse_width(f, &after_index);
    parse_precision(f, &after_index);
    if (!after_index)
        parse_index(f);
    if (f->i >= f->text.n) {
        buf_adds(f->p.out, "%!(NOVERB)");
        return;
    }
    f->i += go_decode_rune(str_sub(f->text, f->i, f->text.n), &verb);
    if (verb == '%')
        buf_addc(f->p.out, '%');
    else if (!f->good_index)
        bad(f, verb, "(BADINDEX)");
    else if (f->arg >= f->n)
        bad(f, verb, "(MISSING)");
    else
        verb_arg(f, verb);
}

static void print_extra(struct format *f)
{
    struct buf *out = f->p.out;

    print_clear_flags(&f->p);
    buf_adds(out, "%!(EXTRA ");
    for (size_t i = f->arg; i < f->n; i++) {
        if (i > f->arg)
            buf_adds(out, ", ");
        if (f->args[i].kind == VALUE_NULL) {
            buf_adds(out, "<nil>");
            continue;
        }
        buf_adds(out, type_name(f->args[i], false));
        buf_addc(out, '=');
        print_arg(&f->p, f->args[i], 'v');
    }
    buf_addc(out, ')');
}

int tpl_sprintf(struct tpl_exec *x, struct str format, const struct value *args, size_t n, struct buf *out,
                struct err **err)
{
    struct format f = { .p.out = out, .text = format, .args = args, .n = n };

    UNUSED(x);
    while (f.i < format.n) {
        struct str rest = str_sub(format, f.i, format.n);
        size_t text = str_find_char(rest, '%');

        buf_add(out, rest.p, MIN(text, rest.n));
        f.i += MIN(text, rest.n) + 1;
        if (text != STR_NPOS)
            directive(&f);
        if (out->failed)
            return buf_check(out, err);
    }
    if (!f.reordered && f.arg < n)
        print_extra(&f);
    return buf_check(out, err);
}
