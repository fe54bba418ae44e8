/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* number_node: numeric literals of a template (parse.NumberNode). Private to the module. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct number;

/* NULL when it is none: then `why` says so in Go's words. */
const struct number *number_node_parse(struct arena *a, struct str text, bool is_char, bool is_complex,
                                       struct buf *why);
/* Does a number written so become a float64 where no type is asked for? */
bool number_node_reads_as_float(const struct number *n);
