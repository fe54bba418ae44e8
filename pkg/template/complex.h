/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* complex: Go's complex128, which only a literal such as 1i yields. Private to the module. */
#include "template/object.h"

struct complex_object {
    struct tpl_object object;
    double re, im;
};

struct value complex_value(struct arena *a, double re, double im);
const struct complex_object *complex_get(struct value v); /* NULL: v is none */
static inline bool complex_is_zero(struct value v)        /* false for everything else */
{
    const struct complex_object *c = complex_get(v);

    return c && c->re == 0 && c->im == 0;
}
