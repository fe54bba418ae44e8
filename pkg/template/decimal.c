/* SPDX-License-Identifier: Apache-2.0 */
#include "template/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/number.h"
#include "base/openssl.h"

#define DIVISION_PLACES 16

static BIGNUM *must(BIGNUM *n)
{
    if (!n)
        abort(); /* OpenSSL is out of memory */
    return n;
}

static void check(int ok)
{
    if (!ok)
        abort();
}

static void free_ctx(BN_CTX *ctx)
{
    BN_CTX_free(ctx);
}
DEFINE_CLEANUP(BN_CTX *, free_ctx)

static BN_CTX *new_ctx(void)
{
    BN_CTX *ctx = BN_CTX_new();

    if (!ctx)
        abort();
    return ctx;
}

static void free_number(BIGNUM *n)
{
    BN_free(n);
}
DEFINE_CLEANUP(BIGNUM *, free_number)

void decimal_done(struct decimal *d)
{
    BN_free(d->value);
    d->value = NULL;
}

int decimal_from_float(double f, struct decimal *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64), digits = BUF_INIT(64);
    BIGNUM *value = NULL;
    struct str mantissa, exponent;
    int64_t exp = 0;
    size_t dot;

    number_format_float(f, 'e', -1, 64, &text);
    if (!isfinite(f))
        return err_set(err, ERRC_TEMPLATE, "Cannot create a Decimal from %s", buf_z(&text));
    exponent = buf_str(&text);
    str_split(&exponent, 'e', &mantissa);
    str_to_int64(exponent, &exp);
    dot = str_find_char(mantissa, '.');
    for (size_t i = 0; i < mantissa.n; i++)
        if (mantissa.p[i] != '.')
            buf_addc(&digits, mantissa.p[i]);
    check(BN_dec2bn(&value, buf_z(&digits)));
    ret->value = value;
    ret->exp = exp - (dot == STR_NPOS ? 0 : (int64_t)(mantissa.n - dot - 1));
    return 0;
}

double decimal_to_float(const struct decimal *d)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(DECIMAL_BITS_MAX);
    char *digits = BN_bn2dec(d->value);
    double f = 0;

    if (!digits)
        abort();
    buf_addf(&text, "%se%lld", digits, (long long)d->exp);
    OPENSSL_free(digits);
    number_parse_float(buf_str(&text), 64, &f, NULL);
    return f;
}

static int check_size(const BIGNUM *n, int64_t more_digits, struct err **err)
{
    if (BN_num_bits(n) + more_digits * 4 > DECIMAL_BITS_MAX)
        return err_set(err, ERRC_LIMIT, "decimal number of more than %d bits", DECIMAL_BITS_MAX);
    return 0;
}

/* *n times 10^places. */
static int scale(BIGNUM *n, int64_t places, BN_CTX *ctx, struct err **err)
{
    CLEANUP(free_number) BIGNUM *power = must(BN_new());
    CLEANUP(free_number) BIGNUM *exponent = must(BN_new());
    int r = check_size(n, places, err);

    if (r < 0)
        return r;
    check(BN_set_word(power, 10));
    check(BN_set_word(exponent, (BN_ULONG)places));
    check(BN_exp(power, power, exponent, ctx));
    check(BN_mul(n, n, power, ctx));
    return 0;
}

static int add(struct decimal *a, const struct decimal *b,
               int (*op)(BIGNUM *, const BIGNUM *, const BIGNUM *), struct err **err)
{
    CLEANUP(free_ctx) BN_CTX *ctx = new_ctx();
    CLEANUP(free_number) BIGNUM *other = must(BN_dup(b->value));
    int r;

    if (a->exp > b->exp) {
        r = scale(a->value, a->exp - b->exp, ctx, err);
        a->exp = b->exp;
    } else {
        r = scale(other, b->exp - a->exp, ctx, err);
    }
    if (r == 0)
        check(op(a->value, a->value, other));
    return r;
}

int decimal_add(struct decimal *a, const struct decimal *b, struct err **err)
{
    return add(a, b, BN_add, err);
}

int decimal_sub(struct decimal *a, const struct decimal *b, struct err **err)
{
    return add(a, b, BN_sub, err);
}

int decimal_mul(struct decimal *a, const struct decimal *b, struct err **err)
{
    CLEANUP(free_ctx) BN_CTX *ctx = new_ctx();
    int r = check_size(a->value, BN_num_bits(b->value) / 3, err);

    if (r < 0)
        return r;
    check(BN_mul(a->value, a->value, b->value, ctx));
    a->exp += b->exp;
    return 0;
}

int decimal_div(struct decimal *a, const struct decimal *b, struct err **err)
{
    CLEANUP(free_ctx) BN_CTX *ctx = new_ctx();
    CLEANUP(free_number) BIGNUM *divisor = must(BN_dup(b->value));
    CLEANUP(free_number) BIGNUM *quotient = must(BN_new());
    CLEANUP(free_number) BIGNUM *rest = must(BN_new());
    int64_t places = a->exp - b->exp + DIVISION_PLACES;
    bool negative = BN_is_negative(a->value) != BN_is_negative(b->value);
    bool zero = BN_is_zero(a->value);
    int r;

    if (BN_is_zero(b->value))
        return err_set(err, ERRC_TEMPLATE, "decimal division by 0");
    r = places >= 0 ? scale(a->value, places, ctx, err) : scale(divisor, -places, ctx, err);
    if (r < 0)
        return r;
    check(BN_div(quotient, rest, a->value, divisor, ctx));
    BN_set_negative(rest, 0);
    BN_set_negative(divisor, 0);
    check(BN_lshift1(rest, rest));
    if (!zero && BN_cmp(rest, divisor) >= 0)
        check(negative ? BN_sub_word(quotient, 1) : BN_add_word(quotient, 1));
    check(BN_copy(a->value, quotient) != NULL);
    a->exp = -DIVISION_PLACES;
    return 0;
}
