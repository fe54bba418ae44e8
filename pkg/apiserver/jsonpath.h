/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* jsonpath: the paths of CRDs: printer columns, scale subresources, selectable fields. As client-go/util/jsonpath, but
 * without ranges, functions, unions and recursive descent. */
#include "base/arena.h"
#include "base/err.h"
#include "value/value.h"

struct api_jsonpath;
/* ".spec.items[*].name", ".status.conditions[?(@.type==\"Ready\")].status", ".metadata.labels['a\.b']". INVALID. */
NODISCARD int api_jsonpath_parse(struct str text, struct api_jsonpath **ret, struct err **err);
void api_jsonpath_free(struct api_jsonpath *p); /* p may be NULL */
DEFINE_CLEANUP(struct api_jsonpath *, api_jsonpath_free)
/* All that is there, in order; a list in `a`. */
struct value api_jsonpath_find(const struct api_jsonpath *p, struct arena *a, struct value v);
