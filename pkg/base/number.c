/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shortest.h"

/* Decimal digits of a finite number: 0.d[0]d[1]… * 10^point. */
struct decimal {
    char d[40];
    int n, point;
};

static void shortest(double v, int bits, struct decimal *out)
{
    char text[64];
    size_t n =
        bits == 32 ? shortest_float((float)v, text, sizeof(text)) : shortest_double(v, text, sizeof(text));
    size_t i = 0;

    out->n = 0;
    for (; i < n && text[i] != 'e'; i++)
        if (ascii_is_digit(text[i]))
            out->d[out->n++] = text[i];
    text[n] = '\0';
    out->point = (i < n ? (int)strtol(text + i + 1, NULL, 10) : 0) + 1;
    while (out->n > 1 && out->d[out->n - 1] == '0')
        out->n--;
    if (out->n == 1 && out->d[0] == '0')
        out->point = 1;
}

static void add_exponent(int e, char letter, struct buf *out)
{
    buf_addf(out, "%c%c%02d", letter, e < 0 ? '-' : '+', abs(e));
}

static void add_e(const struct decimal *d, int precision, char letter, struct buf *out)
{
    buf_addc(out, d->d[0]);
    if (precision > 0)
        buf_addc(out, '.');
    for (int i = 1; i <= precision; i++)
        buf_addc(out, i < d->n ? d->d[i] : '0');
    add_exponent(d->d[0] == '0' ? 0 : d->point - 1, letter, out);
}

static void add_f(const struct decimal *d, int precision, struct buf *out)
{
    if (d->point > 0) {
        for (int i = 0; i < d->point; i++)
            buf_addc(out, i < d->n ? d->d[i] : '0');
    } else {
        buf_addc(out, '0');
    }
    if (precision > 0)
        buf_addc(out, '.');
    for (int i = 0; i < precision; i++) {
        int at = d->point + i;

        buf_addc(out, at >= 0 && at < d->n ? d->d[at] : '0');
    }
}

/* Go strconv/ftoa.go %g with the shortest precision: the exponent form below 1e-4 and from 1e+06. */
static void add_shortest(const struct decimal *d, char verb, struct buf *out)
{
    int x = d->point - 1;

    switch (verb) {
    case 'e':
    case 'E':
        add_e(d, d->n - 1, verb, out);
        return;
    case 'f':
    case 'F':
        add_f(d, MAX(d->n - d->point, 0), out);
        return;
    default:
        if (x < -4 || x >= 6) {
            add_e(d, d->n - 1, verb == 'G' ? 'E' : 'e', out);
            return;
        }
        add_f(d, MAX(d->n - d->point, 0), out);
    }
}

/* With an explicit precision C's conversions are Go's: correctly rounded, half to even. */
static int print_precise(char *to, size_t n, double v, char verb, int precision)
{
    switch (verb) {
    case 'e':
        return snprintf(to, n, "%.*e", precision, v);
    case 'E':
        return snprintf(to, n, "%.*E", precision, v);
    case 'f':
    case 'F':
        return snprintf(to, n, "%.*f", precision, v);
    case 'G':
        return snprintf(to, n, "%.*G", precision, v);
    default:
        return snprintf(to, n, "%.*g", precision, v);
    }
}

static void add_precise(double v, char verb, int precision, struct buf *out)
{
    int n = print_precise(NULL, 0, v, verb, precision);
    char *to = buf_reserve(out, (size_t)n);

    if (!to)
        return;
    print_precise(to, (size_t)n + 1, v, verb, precision);
    buf_commit(out, (size_t)n);
}

/* Go's %b (4503599627370496p-52) and %x (0x1p+00: at least two exponent digits). */
static void add_binary(double v, char verb, int precision, int bits, struct buf *out)
{
    char text[2100];
    char *p;
    int e, carried = 0;

    if (verb == 'b') {
        int mantissa_bits = bits == 32 ? 24 : 53;
        double m = v == 0 ? 0 : ldexp(frexp(v, &e), mantissa_bits);

        if (v == 0)
            e = bits == 32 ? -125 : -1021;
        if (v != 0 && e < (bits == 32 ? -125 : -1021)) { /* subnormal: fixed exponent, fewer bits */
            e = bits == 32 ? -125 : -1021;
            m = ldexp(v, mantissa_bits - e);
        }
        buf_addf(out, "%.0fp%+d", m, e - mantissa_bits);
        return;
    }
    if (precision < 0)
        snprintf(text, sizeof(text), verb == 'X' ? "%A" : "%a", v);
    else
        snprintf(text, sizeof(text), verb == 'X' ? "%.*A" : "%.*a", MIN(precision, 2000), v);
    p = strpbrk(text, "xX") + 1;
    if (*p == '2') { /* rounded up to the next power: Go shifts, the C library does not */
        *p = '1';
        carried = 1;
    }
    p = strpbrk(text, "pP");
    buf_add(out, text, p ? (size_t)(p - text) + 1 : strlen(text));
    if (p) {
        e = (int)strtol(p + 1, NULL, 10) + carried;
        buf_addf(out, "%c%02d", e < 0 ? '-' : '+', abs(e));
    }
}

void number_format_float(double v, char verb, int precision, int bits, struct buf *out)
{
    struct decimal d;

    if (bits == 32)
        v = (double)(float)v;
    if (isnan(v)) {
        buf_adds(out, "NaN");
        return;
    }
    if (isinf(v)) {
        buf_adds(out, v < 0 ? "-Inf" : "+Inf");
        return;
    }
    if (verb == 'b' || verb == 'x' || verb == 'X') {
        add_binary(v, verb, precision, bits, out);
        return;
    }
    if (precision >= 0) {
        add_precise(v, verb, (verb == 'g' || verb == 'G') && precision == 0 ? 1 : precision, out);
        return;
    }
    if (signbit(v))
        buf_addc(out, '-');
    shortest(fabs(v), bits, &d);
    add_shortest(&d, verb, out);
}

/* Go strconv: underscores only between digits or after a base prefix. */
static bool underscores_ok(struct str s)
{
    char last = '^';
    size_t i = 0;
    bool hex = false;

    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        i++;
    if (s.n >= i + 2 && s.p[i] == '0' && ascii_is_one_of(s.p[i + 1], "boxBOX")) {
        hex = ascii_lower(s.p[i + 1]) == 'x';
        i += 2;
        last = '0';
    }
    for (; i < s.n; i++) {
        char c = s.p[i];

        if (ascii_is_digit(c) || (hex && ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f')) {
            last = '0';
        } else if (c == '_') {
            if (last != '0')
                return false;
            last = '_';
        } else {
            if (last == '_')
                return false;
            last = '!';
        }
    }
    return last != '_';
}

static bool special_float(struct str s, double *ret)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    bool sign = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
    struct str t = sign ? str_sub(s, 1, s.n) : s;

    if (str_ieq(t, STR("inf")) || str_ieq(t, STR("infinity"))) {
        *ret = negative ? -INFINITY : INFINITY;
        return true;
    }
    if (!sign && str_ieq(t, STR("nan"))) {
        *ret = NAN;
        return true;
    }
    return false;
}

/* Is the shape of s that of a Go float? */
static bool float_shape(struct str s, bool *ret_underscore)
{
    size_t i = 0, digits = 0;
    bool hex, underscore = false, exponent = false;

    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    hex = s.n >= i + 2 && s.p[i] == '0' && ascii_lower(s.p[i + 1]) == 'x';
    if (hex)
        i += 2;
    for (bool dot = false; i < s.n; i++) {
        char c = ascii_lower(s.p[i]);

        if (c == '_')
            underscore = true;
        else if (c == '.' && !dot)
            dot = true;
        else if (ascii_is_digit(c) || (hex && c >= 'a' && c <= 'f'))
            digits++;
        else
            break;
    }
    if (digits == 0)
        return false;
    if (i < s.n && ascii_lower(s.p[i]) == (hex ? 'p' : 'e')) {
        exponent = true;
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        if (i >= s.n || !ascii_is_digit(s.p[i]))
            return false;
        for (; i < s.n && (ascii_is_digit(s.p[i]) || s.p[i] == '_'); i++)
            underscore |= s.p[i] == '_';
    }
    *ret_underscore = underscore;
    return i == s.n && (!hex || exponent) && (!underscore || underscores_ok(s));
}

bool number_parse_float(struct str s, int bits, double *ret, bool *ret_range)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(SIZE_MAX / 2);
    bool underscore;
    double v;

    if (ret_range)
        *ret_range = false;
    if (special_float(s, ret))
        return true;
    if (!float_shape(s, &underscore))
        return false;
    if (!underscore)
        buf_addstr(&text, s);
    for (size_t i = 0; underscore && i < s.n; i++)
        if (s.p[i] != '_')
            buf_addc(&text, s.p[i]);
    v = bits == 32 ? (double)strtof(buf_z(&text), NULL) : strtod(buf_z(&text), NULL);
    if (isinf(v) && ret_range)
        *ret_range = true;
    *ret = v;
    return true;
}

static int digit_value(char c)
{
    if (ascii_is_digit(c))
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

enum number_result number_parse_uint(struct str s, int base, int bits, uint64_t *ret)
{
    uint64_t v = 0, max = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    bool base0 = base == 0, underscore = false, range = false;
    struct str all = s;

    *ret = 0;
    if (s.n == 0)
        return NUMBER_SYNTAX;
    if (base0) {
        char x = s.n >= 3 ? ascii_lower(s.p[1]) : '\0';

        base = 10;
        if (s.p[0] == '0') {
            base = x == 'b' ? 2 : x == 'o' ? 8 : x == 'x' ? 16 : 8;
            s = str_sub(s, x == 'b' || x == 'o' || x == 'x' ? 2 : 1, s.n);
        }
    }
    for (size_t i = 0; i < s.n; i++) {
        int d = digit_value(s.p[i]);

        if (s.p[i] == '_' && base0) {
            underscore = true;
            continue;
        }
        if (d >= base)
            return NUMBER_SYNTAX;
        if (__builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, (uint64_t)d, &v) ||
            v > max)
            range = true;
        if (range)
            v = 0;
    }
    if (underscore && !underscores_ok(all))
        return NUMBER_SYNTAX;
    *ret = range ? max : v;
    return range ? NUMBER_RANGE : NUMBER_OK;
}

enum number_result number_parse_int(struct str s, int base, int bits, int64_t *ret)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    uint64_t u, cutoff = (uint64_t)1 << (bits - 1);
    enum number_result r;

    *ret = 0;
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_sub(s, 1, s.n);
    r = number_parse_uint(s, base, bits, &u);
    if (r == NUMBER_SYNTAX)
        return r;
    if (!negative && u >= cutoff) {
        *ret = (int64_t)(cutoff - 1);
        return NUMBER_RANGE;
    }
    if (negative && u > cutoff) {
        *ret = (int64_t)(0 - cutoff);
        return NUMBER_RANGE;
    }
    *ret = negative ? (int64_t)(0 - u) : (int64_t)u;
    return r;
}
