/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* schema: bodies to objects. Strict decoding for every kind, the shape Go's types give built-in objects, and the
 * structural schemas of CRDs (pruning, defaulting, validation). */
#include "apiserver/invalid.h"
#include "apiserver/kinds.h"
#include "base/arena.h"

/* ---- every kind ---- */

enum api_schema_format { API_SCHEMA_JSON, API_SCHEMA_YAML };

/* Parses a body. Duplicate keys go to `strict` (`duplicate field "spec.x"`, YAML: `line 3: key "x" already set in map`);
 * the last one wins. 400 BadRequest for what cannot be parsed. */
NODISCARD int api_schema_read(struct arena *a, struct str text, enum api_schema_format format,
                              struct value *ret, struct api_notes *strict, struct err **err);

/* The message of a 400 for a body that api_schema_read() refused: `the object provided is unrecognized (must be of type
 * ConfigMap): <cause> (<start of the body>)`. */
void api_schema_unrecognized(struct str body, struct str kind, const struct err *cause, struct buf *out);

/* `strict decoding error: unknown field "a", unknown field "b"` of all notes. */
void api_schema_strict_message(const struct api_notes *strict, struct buf *out);

/* A built-in object as it looks after Go's decoding and encoding: unknown fields dropped (and noted in `strict`), nulls
 * and empty optional fields gone, required empty ones there, quantities canonical, times normalised. `*ret` is new in
 * `a`. A value of a wrong type is 400 with Go's words (`json: cannot unmarshal string into Go struct field
 * DeploymentSpec.spec.replicas of type int32`). `strict` may be NULL. */
NODISCARD int api_schema_decode(struct arena *a, const struct api_kind *k, struct value in, struct value *ret,
                                struct api_notes *strict, struct err **err);
/* The same for a type (DeleteOptions, Scale, ...). With an empty version the error is Go's words alone (what the causes
 * of a patch whose result does not fit are made of). */
NODISCARD int api_schema_decode_type(struct arena *a, struct api_ref type, struct str version,
                                     struct str kind, struct value in, struct value *ret,
                                     struct api_notes *strict, struct err **err);

/* What Go's encoder prints of an empty built-in object: its required parts. */
struct value api_schema_zero(struct arena *a, struct api_ref type);

/* ---- CRDs ---- */

struct api_schema;
/* Compiles spec.versions[].schema.openAPIV3Schema of a CRD that api_schema_check_crd() accepted; a null schema keeps
 * everything. LIMIT when it is too large, INVALID when it is not structural. */
NODISCARD int api_schema_new(struct value openapi, struct api_schema **ret, struct err **err);
struct api_schema *api_schema_unref(struct api_schema *s); /* s may be NULL; returns NULL */
DEFINE_CLEANUP(struct api_schema *, api_schema_unref)
struct api_ref api_schema_root(const struct api_schema *s); /* for apply; borrowed from s */

/* A custom object as stored: unknown fields pruned (each noted in `strict`, may be NULL), nulls that are not nullable
 * dropped where a default follows, defaults filled in, ObjectMeta coerced. `*ret` is new in `a`. 400 for metadata that
 * cannot be decoded. */
NODISCARD int api_schema_decode_custom(struct arena *a, const struct api_schema *s, struct value in,
                                       struct value *ret, struct api_notes *strict, struct err **err);
/* OpenAPI validation with Kubernetes' texts; `old` null on create. With `old`, faults in parts that did not change are
 * ignored (ratcheting). x-kubernetes-validations are not evaluated. */
void api_schema_validate(const struct api_schema *s, struct value obj, struct value old,
                         struct api_causes *causes);

/* The CRD object itself: names, versions, structural rules, defaults that fit. `old` null on create. */
void api_schema_check_crd(struct value crd, struct value old, struct api_causes *causes);
/* Defaults of a CRD (singular, listKind, conversion None) in place. */
void api_schema_default_crd(struct arena *a, struct value crd);

/* The OpenAPI v3 document of one group and version of custom kinds; each entry is one CRD version. */
struct api_schema_openapi_kind {
    struct str kind, list_kind, plural, singular;
    bool namespaced, has_status, has_scale;
    struct value openapi; /* the version's openAPIV3Schema; null when none */
};
NODISCARD int api_schema_openapi_v3(struct str group, struct str version,
                                    const struct api_schema_openapi_kind *kinds, size_t n, struct buf *out,
                                    struct err **err);
