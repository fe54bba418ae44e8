/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* time_object: time.Time as templates meet it, and what TOML makes of dates. Private to the module. */
#include "template/funcs.h"
#include "template/gotime.h"
#include "template/types.h"

struct value time_object_value(struct arena *a, struct gotime t);
static inline int time_object_new(struct tpl_call *c, struct gotime t, struct value *ret)
{
    *ret = time_object_value(c->arena, t);
    return 0;
}
bool time_object_is(struct value v);
struct gotime time_object_get(struct value v);

/* A string of one of TOML's types for dates and times as the time.Time that the library makes of it. `now_s`: which
 * offset the local zone has now, as local dates and times are read with it. */
struct value time_object_from_toml(struct arena *a, struct value text, int64_t now_s);
