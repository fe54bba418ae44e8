/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* print: values as Go's fmt prints them. Private to the module. */
#include "template/func.h"

/* fmt's state between '%' and the verb. */
struct printer {
    struct buf *out;
    bool has_width, has_precision, minus, plus, sharp, space, zero;
    bool plus_v, sharp_v; /* %+v and %#v: formats of their own, not flags */
    int width, precision;
    bool erroring; /* inside of %!verb(…): methods are not asked */
};

void print_clear_flags(struct printer *p);
void print_arg(struct printer *p, struct value v, uint32_t verb); /* an argument of printf */

/* fmt.Sprint and fmt.Sprintln of the arguments. */
void print_all(const struct value *args, size_t n, bool line, struct buf *out);
/* What an action prints: as %v, but "<no value>" for an invalid value. */
void print_action(struct value v, struct buf *out);
