/* SPDX-License-Identifier: Apache-2.0 */
#include "template/number_node.h"
#include "base/utf8.h"

#include <math.h>

#include "base/number.h"
#include "template/quote.h"
#include "template/tree.h"

static bool contains_any(struct str s, const char *chars)
{
    for (size_t i = 0; i < s.n; i++)
        if (ascii_is_one_of(s.p[i], chars))
            return true;
    return false;
}

static bool parse_char(struct number *n, struct buf *why)
{
    struct str rest = str_sub(n->text, 1, n->text.n);
    bool multibyte;
    uint32_t r;

    if (!utf8_unquote_char(&rest, '\'', &r, &multibyte)) {
        buf_adds(why, "invalid syntax");
        return false;
    }
    if (!str_eq(rest, STR("'"))) {
        buf_adds(why, "malformed character constant: ");
        buf_addstr(why, n->text);
        return false;
    }
    n->is_int = n->is_uint = n->is_float = true;
    n->i = r;
    n->u = r;
    n->f = r;
    return true;
}

static bool fail_number(struct buf *why, const char *what, struct str text)
{
    buf_adds(why, what);
    tpl_print_quoted(text, why);
    return false;
}

/* A float that is a whole number can stand for an integer. */
static void promote_float(struct number *n)
{
    if (n->f == trunc(n->f) && n->f >= -0x1p63 && n->f < 0x1p63) {
        n->is_int = true;
        n->i = (int64_t)n->f;
    }
    if (n->f == trunc(n->f) && n->f >= 0 && n->f < 0x1p64) {
        n->is_uint = true;
        n->u = (uint64_t)n->f;
    }
}

static bool parse_number(struct number *n, struct buf *why)
{
    bool range = false;

    n->is_uint = number_parse_uint(n->text, 0, 64, &n->u) == NUMBER_OK;
    n->is_int = number_parse_int(n->text, 0, 64, &n->i) == NUMBER_OK;
    if (n->is_int && n->i == 0) { /* -0 */
        n->is_uint = true;
        n->u = 0;
    }
    if (n->is_int || n->is_uint) {
        n->is_float = true;
        n->f = n->is_int ? (double)n->i : (double)n->u;
        return true;
    }
    if (!number_parse_float(n->text, 64, &n->f, &range) || range)
        return fail_number(why, "illegal number syntax: ", n->text);
    if (!contains_any(n->text, ".eEpP"))
        return fail_number(why, "integer overflow: ", n->text);
    n->is_float = true;
    promote_float(n);
    return true;
}

/* What has no imaginary part can stand for a float, an integer. */
static void simplify_complex(struct number *n)
{
    n->is_complex = true;
    n->is_float = n->imaginary == 0;
    if (!n->is_float)
        return;
    n->is_int = n->f == trunc(n->f) && n->f >= -0x1p63 && n->f < 0x1p63;
    n->i = n->is_int ? (int64_t)n->f : 0;
    n->is_uint = n->f == trunc(n->f) && n->f >= 0 && n->f < 0x1p64;
    n->u = n->is_uint ? (uint64_t)n->f : 0;
}

/* fmt's scanner knows the prefix 0x alone. */
static bool scan_float(struct str s, double *ret, struct buf *why)
{
    size_t digits = s.n > 0 && (s.p[0] == '+' || s.p[0] == '-');
    bool range = false;

    if (s.n > digits + 1 && s.p[digits] == '0' && ascii_is_one_of(s.p[digits + 1], "bBoO")) {
        buf_adds(why, "syntax error scanning complex number");
        return false;
    }
    if (number_parse_float(s, 64, ret, &range) && !range)
        return true;
    buf_adds(why, "strconv.ParseFloat: parsing ");
    tpl_print_quoted(s, why);
    buf_adds(why, range ? ": value out of range" : ": invalid syntax");
    return false;
}

/* "1+2i": the sign between is not the one of an exponent. */
static bool parse_complex(struct number *n, struct buf *why)
{
    struct str s = str_sub(n->text, 0, n->text.n - 1);
    size_t at = 1, zero = s.p[0] == '+' || s.p[0] == '-';
    bool hex = s.n > zero + 1 && s.p[zero] == '0' && ascii_lower(s.p[zero + 1]) == 'x';

    while (at < s.n && ((s.p[at] != '+' && s.p[at] != '-') || ascii_lower(s.p[at - 1]) == (hex ? 'p' : 'e')))
        at++;
    if (!scan_float(str_sub(s, 0, at), &n->f, why) || !scan_float(str_sub(s, at, s.n), &n->imaginary, why))
        return false;
    simplify_complex(n);
    return true;
}

static bool parse_imaginary(struct number *n)
{
    bool range = false;

    if (!number_parse_float(str_sub(n->text, 0, n->text.n - 1), 64, &n->imaginary, &range) || range)
        return false;
    simplify_complex(n);
    return true;
}

const struct number *number_node_parse(struct arena *a, struct str text, bool is_char, bool is_complex,
                                       struct buf *why)
{
    struct number *n = ARENA_NEW(a, struct number);
    bool imaginary = text.n > 0 && text.p[text.n - 1] == 'i';

    n->text = text;
    if (is_char)
        return parse_char(n, why) ? n : NULL;
    if (is_complex)
        return parse_complex(n, why) ? n : NULL;
    if (imaginary && parse_imaginary(n))
        return n;
    return parse_number(n, why) ? n : NULL;
}

static bool is_hex_int(struct str s)
{
    return s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X') && !contains_any(s, "pP");
}

bool number_node_reads_as_float(const struct number *n)
{
    return n->is_float && !is_hex_int(n->text) && n->text.p[0] != '\'' && contains_any(n->text, ".eEpP");
}
