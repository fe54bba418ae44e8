/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* metadata: what Chart.yaml, Chart.lock and an index entry say about a chart (helm pkg/chart/v2, sigs.k8s.io/yaml).
 *
 * Reading is Go's: keys match without case, unknown keys are ignored, scalars become strings where a string is wanted
 * (floats in 32-bit precision). Everything lives in the caller's arena; strings are borrowed from the value read. */
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

struct metadata_strings {
    struct str *items;
    size_t n;
};

struct metadata_maintainer {
    struct str name, email, url;
    bool is_null; /* a null in the list: refused by metadata_check() */
};

struct metadata_dependency {
    struct str name, version, repository, condition, alias;
    struct metadata_strings tags;
    struct value import_values; /* a list, or null */
    bool enabled;
    bool is_null;
};

struct metadata {
    struct str name, home, version, description, icon, api_version, condition, tags, app_version,
        kube_version, type;
    struct metadata_strings sources, keywords;
    struct metadata_maintainer *maintainers;
    size_t n_maintainers;
    struct metadata_dependency *dependencies;
    size_t n_dependencies;
    struct value annotations; /* a map of strings, or null */
    bool deprecated;
};

struct metadata_lock {
    struct str generated; /* RFC 3339 as Go prints it; "0001-01-01T00:00:00Z" when absent */
    struct str digest;
    struct metadata_dependency *dependencies;
    size_t n_dependencies;
};

/* Decodes onto *md, which must be zeroed or hold an earlier decode (requirements.yaml is merged so). PARSE with Go's words
 * ("json: cannot unmarshal object into Go struct field Metadata.version of type string"). Null leaves *md alone. */
NODISCARD int metadata_decode(struct arena *a, struct value v, struct metadata *md, struct err **err);
/* The same from YAML text: "error converting YAML to JSON: …" and "error unmarshaling JSON: while decoding JSON: …". */
NODISCARD int metadata_parse(struct arena *a, struct str yaml, struct metadata *md, struct err **err);
/* UnmarshalStrict: a key that is there twice or that nothing knows is an error as well (`json: unknown field "x"`). */
NODISCARD int metadata_parse_strict(struct arena *a, struct str yaml, struct metadata *md, struct err **err);
/* A Chart.lock: 1, or 0 when its text is empty or null, which is no lock. */
NODISCARD int metadata_lock_parse(struct arena *a, struct str yaml, struct metadata_lock *ret,
                                  struct err **err);

/* Helm's Validate(): cleans text fields in place (white space to blanks, unprintable runes dropped), then checks. INVALID
 * "validation: chart.metadata.name is required" and the like. */
NODISCARD int metadata_check(struct arena *a, struct metadata *md, struct err **err);

/* Deep enough copy to change names, dependencies and flags without touching the source. */
struct metadata *metadata_copy(struct arena *a, const struct metadata *md) NODISCARD;

/* Go's JSON, keys in Helm's order, empty fields left out, < > & escaped. md or lock may be NULL: "null". */
NODISCARD int metadata_print_json(const struct metadata *md, struct buf *out, struct err **err);
NODISCARD int metadata_lock_print_json(const struct metadata_lock *lock, struct buf *out, struct err **err);
/* The same as a value, for YAML (helm show chart, Chart.yaml of a package). */
struct value metadata_to_value(struct arena *a, const struct metadata *md);
struct value metadata_lock_to_value(struct arena *a, const struct metadata_lock *lock);
/* .Chart of Helm 4 without IsRoot: Go field names, empty lists instead of null, annotations as map[string]string. */
struct value metadata_template_value(struct arena *a, const struct metadata *md);

/* "sha256:…" over requested and locked dependencies, as in Chart.lock. */
NODISCARD int metadata_lock_digest(const struct metadata_dependency *requested, size_t n_requested,
                                   const struct metadata_dependency *locked, size_t n_locked, struct buf *out,
                                   struct err **err);

/* The same of Helm 2, over what is requested alone. */
NODISCARD int metadata_requirements_digest(const struct metadata_dependency *requested, size_t n,
                                           struct buf *out, struct err **err);

/* ---- Go's decoding into structs, for other headers of YAML documents ---- */

/* The member `name` as encoding/json finds a struct field: exactly, else without regard to case; of several the last in key
 * order. Null when absent. */
struct value metadata_member(struct value map, struct str name);
/* A scalar where a Go string is wanted: numbers and booleans as text, null as "". False for lists and maps. */
bool metadata_scalar_text(struct arena *a, struct value v, struct str *ret);
/* "object", "array", "string", "number", "bool": how Go's decoder calls a value of the wrong type. Static. */
const char *metadata_json_kind(struct value v);
