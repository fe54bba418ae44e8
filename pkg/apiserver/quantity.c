/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/quantity.h"

#include <stdlib.h>

#define DIGITS_MAX 30 /* of __int128's 38, to have room for suffixes */

static const struct suffix {
    const char *text;
    int exponent; /* decimal; or binary: power of 1024 */
    bool binary;
} suffixes[] = {
    { "n", -9, false }, { "u", -6, false }, { "m", -3, false }, { "", 0, false },
    { "k", 3, false },  { "M", 6, false },  { "G", 9, false },  { "T", 12, false },
    { "P", 15, false }, { "E", 18, false }, { "Ki", 1, true },  { "Mi", 2, true },
    { "Gi", 3, true },  { "Ti", 4, true },  { "Pi", 5, true },  { "Ei", 6, true },
};

static bool parse_number(struct str *s, __int128 *ret, int *ret_exponent)
{
    bool negative = false, dot = false;
    size_t i = 0, digits = 0, significant = 0;
    __int128 n = 0;
    int exponent = 0;

    if (i < s->n && (s->p[i] == '+' || s->p[i] == '-'))
        negative = s->p[i++] == '-';
    for (; i < s->n && (ascii_is_digit(s->p[i]) || (s->p[i] == '.' && !dot)); i++) {
        if (s->p[i] == '.') {
            dot = true;
            continue;
        }
        digits++;
        if (significant == DIGITS_MAX) {
            exponent += !dot;
            continue;
        }
        n = n * 10 + (s->p[i] - '0');
        significant += n > 0;
        exponent -= dot;
    }
    *s = str_sub(*s, i, s->n);
    *ret = negative ? -n : n;
    *ret_exponent = exponent;
    return digits > 0;
}

static bool apply_suffix(struct str s, struct api_quantity *q)
{
    int64_t e;

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        if (!str_eq(s, str_from(suffixes[i].text)))
            continue;
        if (!suffixes[i].binary) {
            q->exponent += suffixes[i].exponent;
            return true;
        }
        q->format = API_QUANTITY_BINARY;
        for (int k = 0; k < suffixes[i].exponent; k++)
            if (__builtin_mul_overflow(q->n, (__int128)1024, &q->n))
                return false;
        return true;
    }
    if (s.n < 2 || (s.p[0] != 'e' && s.p[0] != 'E') || !str_to_int64(str_sub(s, 1, s.n), &e) || e < -100 ||
        e > 100)
        return false;
    q->format = API_QUANTITY_EXPONENT;
    q->exponent += (int)e;
    return true;
}

static void strip_zeros(struct api_quantity *q)
{
    while (q->n != 0 && q->n % 10 == 0) {
        q->n /= 10;
        q->exponent++;
    }
    if (q->n == 0)
        q->exponent = 0;
}

/* Nothing smaller than a nano; what is lost rounds away from zero. */
static void round_to_nano(struct api_quantity *q)
{
    bool lost = false;

    for (; q->exponent < -9 && q->n != 0; q->exponent++) {
        lost |= q->n % 10 != 0;
        q->n /= 10;
        if (q->n == 0) {
            q->exponent = -10;
            break;
        }
    }
    if (lost) {
        if (q->exponent < -9)
            q->exponent = -9;
        q->n += q->n < 0 ? -1 : 1;
    }
}

bool api_quantity_parse(struct str s, struct api_quantity *ret)
{
    struct api_quantity q = { .format = API_QUANTITY_DECIMAL };
    bool negative;

    s = str_trim(s);
    negative = s.n > 0 && s.p[0] == '-';
    if (!parse_number(&s, &q.n, &q.exponent) || !apply_suffix(s, &q))
        return false;
    strip_zeros(&q);
    round_to_nano(&q);
    if (negative && q.n > 0)
        q.n = -q.n;
    strip_zeros(&q);
    *ret = q;
    return true;
}

static void add_integer(__int128 n, struct buf *out)
{
    char text[48];
    size_t at = sizeof(text);
    const bool negative = n < 0;

    do {
        const int digit = (int)(n % 10);

        text[--at] = (char)('0' + abs(digit));
        n /= 10;
    } while (n != 0);
    if (negative)
        text[--at] = '-';
    buf_add(out, text + at, sizeof(text) - at);
}

static bool print_binary(struct api_quantity q, struct buf *out)
{
    static const char *const names[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    size_t k = 0;

    if (q.exponent < 0)
        return false;
    for (; q.exponent > 0; q.exponent--)
        if (__builtin_mul_overflow(q.n, (__int128)10, &q.n))
            return false;
    if (q.n < 1024 && q.n > -1024)
        return false;
    for (; k + 1 < ARRAY_SIZE(names) && q.n % 1024 == 0; k++)
        q.n /= 1024;
    add_integer(q.n, out);
    buf_adds(out, names[k]);
    return true;
}

void api_quantity_print(struct api_quantity q, struct buf *out)
{
    if (q.format == API_QUANTITY_BINARY && print_binary(q, out))
        return;
    while (q.exponent % 3 != 0 || q.exponent > 18) {
        q.n *= 10;
        q.exponent--;
    }
    add_integer(q.n, out);
    if (q.n == 0 || q.exponent == 0)
        return;
    if (q.format == API_QUANTITY_EXPONENT) {
        buf_addf(out, "e%d", q.exponent);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
        if (!suffixes[i].binary && suffixes[i].exponent == q.exponent)
            buf_adds(out, suffixes[i].text);
}

static int sign(__int128 n)
{
    return n < 0 ? -1 : n > 0;
}

int api_quantity_cmp(struct api_quantity a, struct api_quantity b)
{
    if (sign(a.n) != sign(b.n))
        return sign(a.n) < sign(b.n) ? -1 : 1;
    for (; a.exponent > b.exponent; a.exponent--)
        if (__builtin_mul_overflow(a.n, (__int128)10, &a.n))
            return sign(a.n);
    for (; b.exponent > a.exponent; b.exponent--)
        if (__builtin_mul_overflow(b.n, (__int128)10, &b.n))
            return -sign(b.n);
    return a.n < b.n ? -1 : a.n > b.n;
}
