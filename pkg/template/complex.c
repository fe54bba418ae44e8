/* SPDX-License-Identifier: Apache-2.0 */
#include "template/complex.h"

#include "template/func.h"

static const struct tpl_object_type complex_type;

struct value complex_value(struct arena *a, double re, double im)
{
    struct complex_object *o = ARENA_NEW(a, struct complex_object);

    *o = (struct complex_object){ { &complex_type }, re, im };
    return tpl_object_value(&o->object);
}

const struct complex_object *complex_get(struct value v)
{
    const struct tpl_object *o = v.kind == VALUE_OBJECT ? v.object : NULL;

    return o && o->type == &complex_type ? (const struct complex_object *)o : NULL;
}

/* In an action of its own; elsewhere the verbs of numbers apply. */
static void complex_print(const struct tpl_object *o, char verb, bool sharp, struct buf *out)
{
    UNUSED(verb);
    UNUSED(sharp);
    tpl_print_value(tpl_object_value(o), out);
}

static bool complex_equal(const struct tpl_object *a, const struct tpl_object *b)
{
    const struct complex_object *ca = (const struct complex_object *)a,
                                *cb = (const struct complex_object *)b;

    return ca->re == cb->re && ca->im == cb->im;
}

static const struct tpl_object_type complex_type = {
    .go_name = "complex128",
    .go_kind = "complex128",
    .print = complex_print,
    .equal = complex_equal,
};
