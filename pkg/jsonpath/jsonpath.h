/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* jsonpath: Kubernetes' JSONPath templates (k8s.io/client-go/util/jsonpath), as `helm show values --jsonpath` has them.
 *
 *   text {.a.b} {['a']} {.a\.b} {.l[0]} {.l[-1]} {.l[0:4:2]} {.l[0,2]} {.m['a','b']} {.l[*]} {.m.*} {..name}
 *   {.l[?(@.x == "y")].z} {range .l[*]}{.name}{"\n"}{end}
 *
 * What client-go does by chance is done here, too: of quoted texts side by side the last is printed, the end of a filter
 * is the first ")" behind its first quoted text, whole numbers in a filter are never equal to JSON's floats. Members of
 * a map come in the order of their names, where Go has them in random order. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

struct jsonpath;

/* On success *ret is new: release it with jsonpath_free(). INVALID with client-go's words ("unclosed action"), LIMIT for
 * more than JSONPATH_TEXT_MAX bytes. */
NODISCARD int jsonpath_parse(struct str text, struct jsonpath **ret, struct err **err);
void jsonpath_free(struct jsonpath *p); /* p may be NULL */
DEFINE_CLEANUP(struct jsonpath *, jsonpath_free)

/* Adds what `p` makes of `v` to `out`: maps and lists as JSON, everything else as Go's fmt.Print, several results of one
 * action with a blank between them. On failure nothing is added: NOT_FOUND when a name is nowhere (there is no
 * AllowMissingKeys, as in Helm), INVALID when an action cannot be applied (an index beyond a list, a filter on a map, a
 * comparison of two types), LIMIT for JSONPATH_DEPTH_MAX, JSONPATH_STEPS_MAX, JSONPATH_OUTPUT_MAX and out->max. */
NODISCARD int jsonpath_print(const struct jsonpath *p, struct value v, struct buf *out, struct err **err);
