/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* values: from Values objects, valuesFrom and inlineValues to the one map a chart is rendered with. */
#include "base/arena.h"
#include "base/err.h"
#include "kube/kube.h"
#include "value/value.h"

#define VALUES_REFS_DEPTH_MAX 32 /* refs of refs of … */
#define VALUES_READS_MAX 1000    /* objects read for one Values object; each way to it counts */

/* How to read an object; domain code and tests hand in their own. NOT_FOUND when it is absent. */
struct values_source {
    int (*get)(void *ctx, struct arena *a, const char *kind, struct str ns, struct str name,
               struct value *ret, struct err **err); /* kind: "Values", "ConfigMap", "Secret" */
    void *ctx;
};

/* One Values object with what its refs bring: own json beats refs. INVALID naming the whole path for a cycle
 * ("Values a -> b -> a") or for refs nested deeper than VALUES_REFS_DEPTH_MAX; LIMIT after VALUES_READS_MAX objects; NOT_FOUND
 * naming who refers to what is missing. */
NODISCARD int values_resolve(const struct values_source *src, struct arena *a, struct str ns, struct str name,
                             struct value *ret, struct err **err);

/* Everything a Release names, merged: values[] in list order, then valuesFrom, then inlineValues; maps merge, lists
 * replace, null deletes (stays null, as Helm's -f). Numbers are floats, as templates see them. What came from a Secret
 * carries VALUE_SENSITIVE. */
NODISCARD int values_collect(const struct values_source *src, struct arena *a, struct str ns,
                             struct value names, struct value from, struct value inline_values,
                             struct value *ret, struct err **err);

/* Names of all Values objects that a Values object refers to directly (not deeper), in `a`. */
struct str *values_refs(struct arena *a, struct value values_object, size_t *ret_n) NODISCARD;

/* A copy whose numbers are floats. */
struct value values_floats(struct arena *a, struct value v);
