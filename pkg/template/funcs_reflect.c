/* SPDX-License-Identifier: Apache-2.0 */
#include "template/funcs.h"

static struct str type_of(struct tpl_call *c, struct value v)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    tpl_print_type(v, &b);
    return arena_dup(c->arena, buf_str(&b));
}

static int fn_type_of(FN_ARGS)
{
    return fn_ret_str(ret, type_of(c, c->args[0]));
}

static int fn_type_is(FN_ARGS)
{
    return fn_ret_bool(ret, str_eq(fn_str(c, 0), type_of(c, c->args[1])));
}

static int fn_type_is_like(FN_ARGS)
{
    struct str want = fn_str(c, 0), type = type_of(c, c->args[1]);

    if (type.n > 0 && type.p[0] == '*' && str_eq(want, str_sub(type, 1, type.n)))
        return fn_ret_bool(ret, true);
    return fn_ret_bool(ret, str_eq(want, type));
}

static int fn_kind_of(FN_ARGS)
{
    return fn_ret_str(ret, str_from(tpl_kind_name(c->args[0])));
}

static int fn_kind_is(FN_ARGS)
{
    return fn_ret_bool(ret, str_eq(fn_str(c, 0), str_from(tpl_kind_name(c->args[1]))));
}

static int fn_deep_equal_of(FN_ARGS)
{
    bool equal = false;
    int r = fn_deep_equal(c, c->args[0], c->args[1], &equal, err);

    return r < 0 ? r : fn_ret_bool(ret, equal);
}

/* ---- emptiness ---- */

static int fn_default(FN_ARGS)
{
    *ret = c->n < 2 || fn_empty(c->args[1]) ? c->args[0] : c->args[1];
    return 0;
}

static int fn_empty_of(FN_ARGS)
{
    return fn_ret_bool(ret, fn_empty(c->args[0]));
}

static int fn_coalesce(FN_ARGS)
{
    *ret = VALUE_NONE;
    for (size_t i = 0; i < c->n; i++) {
        if (!fn_empty(c->args[i])) {
            *ret = c->args[i];
            break;
        }
    }
    return 0;
}

static int fn_all(FN_ARGS)
{
    for (size_t i = 0; i < c->n; i++)
        if (fn_empty(c->args[i]))
            return fn_ret_bool(ret, false);
    return fn_ret_bool(ret, true);
}

static int fn_any(FN_ARGS)
{
    for (size_t i = 0; i < c->n; i++)
        if (!fn_empty(c->args[i]))
            return fn_ret_bool(ret, true);
    return fn_ret_bool(ret, false);
}

static int fn_ternary(FN_ARGS)
{
    *ret = value_bool(c->args[2]) ? c->args[0] : c->args[1];
    return 0;
}

static const struct tpl_func funcs[] = {
    { "all", "*+", 'b', fn_all },
    { "any", "*+", 'b', fn_any },
    { "coalesce", "*+", '*', fn_coalesce },
    { "deepEqual", "**", 'b', fn_deep_equal_of },
    { "default", "**+", '*', fn_default },
    { "empty", "*", 'b', fn_empty_of },
    { "kindIs", "s*", 'b', fn_kind_is },
    { "kindOf", "*", 's', fn_kind_of },
    { "ternary", "**b", '*', fn_ternary },
    { "typeIs", "s*", 'b', fn_type_is },
    { "typeIsLike", "s*", 'b', fn_type_is_like },
    { "typeOf", "*", 's', fn_type_of },
};

const struct tpl_func_table tpl_funcs_reflect = { funcs, ARRAY_SIZE(funcs) };
