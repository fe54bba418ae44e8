/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* openapi: what OpenAPI v3 documents of built-in and custom kinds share. */
#include "apiserver/kinds.h"

struct openapi_kind {
    struct str group, version, kind, plural;
    bool namespaced;
    uint16_t verbs;     /* enum api_verb */
    struct str schema;  /* component id */
    bool status, scale; /* subresources */
};

/* The document up to and with `"paths":{`, a kind's paths, and the components: those of the types marked in `used` (one
 * flag per row of api_kind_types). `*first` says whether a comma is due. */
void openapi_begin(struct buf *out);
void openapi_paths(const struct openapi_kind *k, bool *first, struct buf *out);
void openapi_begin_schemas(struct buf *out);
void openapi_mark(uint16_t type, bool *used);
void openapi_builtin_schemas(const bool *used, struct str group, struct str version, bool *first,
                             struct buf *out);
void openapi_end(struct buf *out);

#define OPENAPI_REF "#/components/schemas/"
