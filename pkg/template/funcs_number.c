/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/number.h"
#include "template/decimal.h"
#include "template/funcs.h"

#define DIVIDE_BY_ZERO "runtime error: integer divide by zero"

static int64_t arg(const struct tpl_call *c, size_t i)
{
    return fn_to_int64(c->args[i]);
}

static double arg_float(const struct tpl_call *c, size_t i)
{
    return fn_to_float64(c->args[i]);
}

static int ret_float(struct value *ret, double f)
{
    *ret = value_from_float(f);
    return 0;
}

/* ---- int64, wrapping around as Go does ---- */

static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int fn_add(FN_ARGS)
{
    int64_t sum = 0;

    for (size_t i = 0; i < c->n; i++)
        sum = wrap_add(sum, arg(c, i));
    return fn_ret_int64(ret, sum);
}

static int fn_add1(FN_ARGS)
{
    return fn_ret_int64(ret, wrap_add(arg(c, 0), 1));
}

static int fn_sub(FN_ARGS)
{
    return fn_ret_int64(ret, (int64_t)((uint64_t)arg(c, 0) - (uint64_t)arg(c, 1)));
}

static int fn_mul(FN_ARGS)
{
    int64_t product = arg(c, 0);

    for (size_t i = 1; i < c->n; i++)
        product = wrap_mul(product, arg(c, i));
    return fn_ret_int64(ret, product);
}

static int fn_div(FN_ARGS)
{
    int64_t a = arg(c, 0), b = arg(c, 1);

    if (b == 0)
        return err_set(err, ERRC_TEMPLATE, DIVIDE_BY_ZERO);
    return fn_ret_int64(ret, b == -1 ? wrap_mul(a, -1) : a / b);
}

static int fn_mod(FN_ARGS)
{
    int64_t a = arg(c, 0), b = arg(c, 1);

    if (b == 0)
        return err_set(err, ERRC_TEMPLATE, DIVIDE_BY_ZERO);
    return fn_ret_int64(ret, b == -1 ? 0 : a % b);
}

static int fn_max(FN_ARGS)
{
    int64_t best = arg(c, 0);

    for (size_t i = 1; i < c->n; i++)
        best = MAX(best, arg(c, i));
    return fn_ret_int64(ret, best);
}

static int fn_min(FN_ARGS)
{
    int64_t best = arg(c, 0);

    for (size_t i = 1; i < c->n; i++)
        best = MIN(best, arg(c, i));
    return fn_ret_int64(ret, best);
}

/* ---- float64 ---- */

/* math.Max: infinity beats NaN, NaN beats numbers, 0 beats -0. math.Min is its mirror. */
static double go_max(double a, double b)
{
    if ((isinf(a) && a > 0) || (isinf(b) && b > 0))
        return INFINITY;
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == 0 && b == 0)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static int fn_maxf(FN_ARGS)
{
    double best = arg_float(c, 0);

    for (size_t i = 1; i < c->n; i++)
        best = go_max(best, arg_float(c, i));
    return ret_float(ret, best);
}

static int fn_minf(FN_ARGS)
{
    double best = arg_float(c, 0);

    for (size_t i = 1; i < c->n; i++)
        best = -go_max(-best, -arg_float(c, i));
    return ret_float(ret, best);
}

typedef int (*decimal_op)(struct decimal *a, const struct decimal *b, struct err **err);

/* first op args[from] op args[from + 1] … */
static int fold(FN_ARGS, double first, size_t from, decimal_op op)
{
    CLEANUP(decimal_done) struct decimal result = { 0 };
    int r = decimal_from_float(first, &result, err);

    for (size_t i = from; r == 0 && i < c->n; i++) {
        CLEANUP(decimal_done) struct decimal d = { 0 };

        r = tpl_spend(c->x, 8, err);
        if (r == 0)
            r = decimal_from_float(arg_float(c, i), &d, err);
        if (r == 0)
            r = op(&result, &d, err);
    }
    return r < 0 ? r : ret_float(ret, decimal_to_float(&result));
}

static int fn_add1f(FN_ARGS)
{
    const struct value one = value_from_float(1);
    struct tpl_call with_one = *c;

    with_one.args = &one;
    with_one.n = 1;
    return fold(&with_one, ret, err, arg_float(c, 0), 0, decimal_add);
}

static int fn_addf(FN_ARGS)
{
    return fold(c, ret, err, 0, 0, decimal_add);
}

static int fn_subf(FN_ARGS)
{
    return fold(c, ret, err, arg_float(c, 0), 1, decimal_sub);
}

static int fn_mulf(FN_ARGS)
{
    return fold(c, ret, err, arg_float(c, 0), 1, decimal_mul);
}

static int fn_divf(FN_ARGS)
{
    return fold(c, ret, err, arg_float(c, 0), 1, decimal_div);
}

static int fn_ceil(FN_ARGS)
{
    return ret_float(ret, ceil(arg_float(c, 0)));
}

static int fn_floor(FN_ARGS)
{
    return ret_float(ret, floor(arg_float(c, 0)));
}

/* math.Pow(10, n), whose last bits differ from the C library's. */
static double go_pow10(int64_t n)
{
    uint64_t bits = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    int exp10, exp = 0;
    double factor = frexp(10, &exp10), result = 1;

    for (; bits != 0; bits >>= 1) {
        if (exp10 > 4096 || exp10 < -4096)
            return n < 0 ? 0 : INFINITY;
        if (bits & 1) {
            result *= factor;
            exp += exp10;
        }
        factor *= factor;
        exp10 *= 2;
        if (factor < .5) {
            factor += factor;
            exp10--;
        }
    }
    return n < 0 ? ldexp(1 / result, -exp) : ldexp(result, exp);
}

static int fn_round(FN_ARGS)
{
    double round_on = c->n > 2 ? c->args[2].f : .5, power = go_pow10(fn_int(c, 1)), whole, fraction;
    double digits = power * arg_float(c, 0);

    fraction = modf(digits, &whole);
    return ret_float(ret, (fraction >= round_on ? ceil(digits) : floor(digits)) / power);
}

/* ---- conversions ---- */

static int fn_to_int(FN_ARGS)
{
    *ret = fn_go_int(arg(c, 0));
    return 0;
}

static int fn_to_int64_of(FN_ARGS)
{
    return fn_ret_int64(ret, arg(c, 0));
}

static int fn_to_float64_of(FN_ARGS)
{
    return ret_float(ret, arg_float(c, 0));
}

static int fn_atoi(FN_ARGS)
{
    int64_t i = 0;

    if (number_parse_int(fn_str(c, 0), 10, 64, &i) == NUMBER_SYNTAX)
        i = 0;
    *ret = fn_go_int(i);
    return 0;
}

static int fn_to_decimal(FN_ARGS)
{
    CLEANUP(buf_done) struct buf text = FN_BUF;
    int64_t i;

    tpl_print_value(c->args[0], &text);
    return fn_ret_int64(ret, number_parse_int(buf_str(&text), 8, 64, &i) == NUMBER_OK ? i : 0);
}

/* ---- ranges ---- */

struct range {
    int64_t start, stop, step;
};

/* How many items untilStep() yields. Go's loop wraps around at the ends of int64 and never ends; so it does not fit. */
static uint64_t range_count(struct range g)
{
    uint64_t distance, step;

    if (g.stop == g.start || (g.stop < g.start) != (g.step < 0) || g.step == 0)
        return 0;
    distance = g.stop > g.start ? (uint64_t)g.stop - (uint64_t)g.start : (uint64_t)g.start - (uint64_t)g.stop;
    step = g.step > 0 ? (uint64_t)g.step : 0 - (uint64_t)g.step;
    return (distance - 1) / step + 1;
}

static int range_list(FN_ARGS, struct range g)
{
    struct value *items = NULL;
    uint64_t n = range_count(g);
    int r = fn_values(c, n, &items, err);

    if (r < 0)
        return r;
    for (uint64_t i = 0; i < n; i++)
        items[i] = fn_go_int(wrap_add(g.start, wrap_mul((int64_t)i, g.step)));
    *ret = (struct value){ .kind = VALUE_LIST, .type = VALUE_TYPE_INT_LIST, .n = (uint32_t)n, .list = items };
    return 0;
}

static int fn_until(FN_ARGS)
{
    int64_t n = fn_int(c, 0);

    return range_list(c, ret, err, (struct range){ 0, n, n < 0 ? -1 : 1 });
}

static int fn_until_step(FN_ARGS)
{
    return range_list(c, ret, err, (struct range){ fn_int(c, 0), fn_int(c, 1), fn_int(c, 2) });
}

/* The arguments of seq as a range; false when it prints nothing. */
static bool seq_range(const struct tpl_call *c, struct range *ret)
{
    int64_t start = c->n == 1 ? 1 : fn_int(c, 0), end = fn_int(c, c->n - 1);
    int64_t increment = end < start ? -1 : 1;

    *ret = (struct range){ start, wrap_add(end, increment), increment };
    if (c->n == 3) {
        ret->step = fn_int(c, 1);
        return !(end < start && ret->step > 0);
    }
    return true;
}

static int fn_seq(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct range g;
    uint64_t n;
    int r;

    if (c->n == 0 || c->n > 3 || !seq_range(c, &g))
        return fn_ret_str(ret, STR(""));
    n = range_count(g);
    r = n > FN_TEXT_MAX ? err_set(err, ERRC_LIMIT, "text of more than %zu bytes", FN_TEXT_MAX)
                        : tpl_spend(c->x, n / 4, err);
    if (r < 0)
        return r;
    for (uint64_t i = 0; i < n && !b.failed; i++)
        buf_addf(&b, "%s%lld", i > 0 ? " " : "", (long long)wrap_add(g.start, wrap_mul((int64_t)i, g.step)));
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_rand_int(FN_ARGS)
{
    int64_t low = fn_int(c, 0), range = (int64_t)((uint64_t)fn_int(c, 1) - (uint64_t)low);
    uint64_t random;

    if (range <= 0)
        return err_set(err, ERRC_TEMPLATE, "invalid argument to Intn");
    tpl_random(c->x, &random, sizeof(random));
    *ret = fn_go_int(wrap_add(low, (int64_t)(random % (uint64_t)range)));
    return 0;
}

static const struct tpl_func funcs[] = {
    { "add", "*+", 'l', fn_add },          { "add1", "*", 'l', fn_add1 },
    { "add1f", "*", 'f', fn_add1f },       { "addf", "*+", 'f', fn_addf },
    { "atoi", "s", 'i', fn_atoi },         { "biggest", "**+", 'l', fn_max },
    { "ceil", "*", 'f', fn_ceil },         { "div", "**", 'l', fn_div },
    { "divf", "**+", 'f', fn_divf },       { "float64", "*", 'f', fn_to_float64_of },
    { "floor", "*", 'f', fn_floor },       { "int", "*", 'i', fn_to_int },
    { "int64", "*", 'l', fn_to_int64_of }, { "max", "**+", 'l', fn_max },
    { "maxf", "**+", 'f', fn_maxf },       { "min", "**+", 'l', fn_min },
    { "minf", "**+", 'f', fn_minf },       { "mod", "**", 'l', fn_mod },
    { "mul", "**+", 'l', fn_mul },         { "mulf", "**+", 'f', fn_mulf },
    { "randInt", "ii", 'i', fn_rand_int }, { "round", "*if+", 'f', fn_round },
    { "seq", "i+", 's', fn_seq },          { "sub", "**", 'l', fn_sub },
    { "subf", "**+", 'f', fn_subf },       { "toDecimal", "*", 'l', fn_to_decimal },
    { "until", "i", '?', fn_until },       { "untilStep", "iii", '?', fn_until_step },
};

const struct tpl_func_table tpl_funcs_number = { funcs, ARRAY_SIZE(funcs) };
