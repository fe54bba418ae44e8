/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Between the files of schema. */
#include "apiserver/schema.h"

/* Members of a structural schema's node; null nodes answer for a schema that says nothing. */
static inline bool schema_flag(struct value node, const char *key)
{
    return value_bool(value_get(node, str_from(key)));
}
#define SCHEMA_PRESERVE "x-kubernetes-preserve-unknown-fields"
#define SCHEMA_EMBEDDED "x-kubernetes-embedded-resource"
#define SCHEMA_INT_OR_STRING "x-kubernetes-int-or-string"
#define SCHEMA_LIST_TYPE "x-kubernetes-list-type"
#define SCHEMA_LIST_KEYS "x-kubernetes-list-map-keys"
#define SCHEMA_MAP_TYPE "x-kubernetes-map-type"

struct value schema_openapi(const struct api_schema *s); /* null when everything is kept */

/* The node of a member: of properties, else of additionalProperties; *ret_known: does the schema allow it at all? */
struct value schema_member(struct value node, struct str name, bool *ret_known);

/* Is the text of this OpenAPI format? Formats that are not known accept everything. */
bool schema_format_ok(struct str format, struct str text);

/* Faults of `v` against `node`, in kube-openapi's words; `path` is "spec.replicas". `old` (NULL: none) is the value it
 * replaces: what is equal is not looked at. */
void schema_check_value(struct value node, struct value v, const struct value *old, const char *path,
                        struct api_causes *causes);
