/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "schema/schema_int.h"

static struct decimal from_digits(bool negative, const char *d, size_t n, int64_t point)
{
    struct decimal r = { .negative = negative };

    while (n > 0 && d[0] == '0') {
        d++;
        n--;
        point--;
    }
    while (n > 0 && d[n - 1] == '0')
        n--;
    n = MIN(n, sizeof(r.d));
    memcpy(r.d, d, n);
    r.n = (int)n;
    r.point = n > 0 ? point : 0;
    r.negative = negative && n > 0;
    return r;
}

static struct decimal from_integer(uint64_t u, bool negative)
{
    char text[24];
    size_t n = 0;

    for (; u > 0; u /= 10)
        text[sizeof(text) - ++n] = (char)('0' + u % 10);
    return from_digits(negative, text + sizeof(text) - n, n, (int64_t)n);
}

/* The shortest digits, as Go prints the number before it is read as a fraction. */
static struct decimal from_float(double f)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);
    char digits[32];
    struct str s, exponent;
    int64_t point = 0;
    size_t n = 0;

    number_format_float(fabs(f), 'e', -1, 64, &text);
    s = buf_str(&text);
    exponent = str_sub(s, str_find_char(s, 'e') + 1, s.n);
    if (!str_to_int64(exponent, &point))
        point = 0;
    for (size_t i = 0; i < s.n && s.p[i] != 'e' && n < sizeof(digits); i++)
        if (ascii_is_digit(s.p[i]))
            digits[n++] = s.p[i];
    return from_digits(f < 0, digits, n, point + 1);
}

struct decimal schema_decimal_from(struct value v)
{
    if (v.kind == VALUE_INT)
        return from_integer(v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i, v.i < 0);
    if (v.kind == VALUE_UINT)
        return from_integer(v.u, false);
    return isfinite(v.f) ? from_float(v.f) : (struct decimal){ 0 };
}

static int cmp_magnitude(const struct decimal *a, const struct decimal *b)
{
    int c;

    if (a->n == 0 || b->n == 0)
        return (a->n > 0) - (b->n > 0);
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    c = memcmp(a->d, b->d, (size_t)MIN(a->n, b->n));
    return c ? c : a->n - b->n;
}

int schema_decimal_cmp(const struct decimal *a, const struct decimal *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? cmp_magnitude(b, a) : cmp_magnitude(a, b);
}

bool schema_decimal_is_integer(const struct decimal *d)
{
    return d->point >= d->n;
}

static unsigned __int128 mul_mod(unsigned __int128 a, unsigned __int128 b, uint64_t m)
{
    return a % m * (b % m) % m;
}

static uint64_t mantissa(const struct decimal *d, int digits)
{
    uint64_t u = 0;

    for (int i = 0; i < digits; i++)
        u = u * 10 + (uint64_t)(d->d[i] - '0');
    return u;
}

bool schema_decimal_is_multiple(const struct decimal *a, const struct decimal *b)
{
    int64_t exponent;
    unsigned __int128 r;
    uint64_t m;

    if (a->n == 0 || b->n == 0)
        return b->n != 0;
    m = mantissa(b, MIN(b->n, 19));
    assert(m > 0); /* the first digit is not 0 */
    r = mantissa(a, MIN(a->n, 19)) % m;
    exponent = (a->point - a->n) - (b->point - b->n);
    if (exponent < 0) /* a's digits do not end in 0, so no power of ten divides them */
        return false;
    for (int64_t i = 0; i < exponent && r != 0; i++)
        r = mul_mod(r, 10, m);
    return r == 0;
}

static void add_grouped(struct str digits, struct buf *out)
{
    for (size_t i = 0; i < digits.n; i++) {
        if (i > 0 && (digits.n - i) % 3 == 0)
            buf_addc(out, ',');
        buf_addc(out, digits.p[i]);
    }
}

void schema_decimal_print_int(size_t n, struct buf *out)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(32);

    buf_addf(&text, "%zu", n);
    add_grouped(buf_str(&text), out);
}

static void add_superscript(struct str s, struct buf *out)
{
    static const char *const digits[] = { "\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                          "\u2075", "\u2076", "\u2077", "\u2078", "\u2079" };

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '-')
            buf_adds(out, "\u207b");
        else if (ascii_is_digit(s.p[i]))
            buf_adds(out, digits[s.p[i] - '0']);
    }
}

void schema_decimal_print(struct value v, struct buf *out)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);
    double f = v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_UINT ? (double)v.u : v.f;
    struct str s, rest = STR("");
    size_t e, point;

    number_format_float(f, 'g', -1, 64, &text);
    s = buf_str(&text);
    e = str_find_char(s, 'e');
    if (e != STR_NPOS) {
        buf_addstr(out, str_sub(s, 0, e));
        buf_adds(out, "\u00d710");
        add_superscript(str_sub(s, e + 1, s.n), out);
        return;
    }
    if (str_has_prefix(s, STR("-"))) {
        buf_addc(out, '-');
        s = str_sub(s, 1, s.n);
    }
    point = str_find_char(s, '.');
    if (point != STR_NPOS) {
        rest = str_sub(s, point, s.n);
        s = str_sub(s, 0, point);
    }
    add_grouped(s, out);
    buf_addstr(out, rest);
}
