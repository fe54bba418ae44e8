/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* kinds: the built-in kinds and the types they are made of, generated from Kubernetes (see kinds_gen.h for the version).
 *
 * Types are rows of tables in one "universe" (struct api_types): the built-in one is constant; a CRD's schema compiles
 * into a universe of its own (schema.h). A position in either is a struct api_ref, passed by value; what walks objects
 * (strict decoding, server-side apply, patches, OpenAPI) does not see the difference. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

enum api_type_kind {
    API_TYPE_ANY, /* no schema: deduced from the value (RawExtension, JSON, preserve-unknown without type) */
    API_TYPE_STRING,
    API_TYPE_BOOL,
    API_TYPE_INT32,
    API_TYPE_INT64,
    API_TYPE_DOUBLE,
    API_TYPE_BYTES,      /* base64 in JSON */
    API_TYPE_TIME,       /* RFC 3339, seconds */
    API_TYPE_MICRO_TIME, /* RFC 3339, microseconds */
    API_TYPE_DURATION,   /* metav1.Duration: "1h0m0s" */
    API_TYPE_QUANTITY,   /* resource.Quantity */
    API_TYPE_INT_OR_STRING,
    API_TYPE_FIELDS, /* metav1.FieldsV1 */
    API_TYPE_RAW,    /* runtime.RawExtension: an object with its own kind */
    API_TYPE_JSON,   /* apiextensions JSON */
    API_TYPE_SCHEMA_OR_BOOL,
    API_TYPE_SCHEMA_OR_ARRAY,
    API_TYPE_SCHEMA_OR_STRINGS,
    API_TYPE_LIST,
    API_TYPE_MAP,    /* string keys, values of type `elem` */
    API_TYPE_STRUCT, /* fields, and in CRDs perhaps values of `elem` for other keys */
};

enum api_list_kind { API_LIST_ATOMIC, API_LIST_SET, API_LIST_MAP };

enum api_type_flag {
    API_TYPE_ATOMIC = 1,   /* struct or map: x-kubernetes-map-type: atomic */
    API_TYPE_WRAPPED = 2,  /* protobuf: a list that travels as a message with its items in field 1 */
    API_TYPE_PRESERVE = 4, /* x-kubernetes-preserve-unknown-fields */
    API_TYPE_EMBEDDED = 8, /* x-kubernetes-embedded-resource */
    API_TYPE_NULLABLE = 16,
    API_TYPE_HAS_ELEM = 32, /* struct with additionalProperties beside its fields */
};

struct api_type {
    uint32_t name;  /* text offset: OpenAPI id ("io.k8s.api.apps.v1.Deployment"), "" for the unnamed */
    uint32_t doc;   /* text offset */
    uint32_t first; /* struct: index of its first field; fields are sorted by name */
    uint16_t n;     /* struct: number of fields */
    uint16_t elem;  /* list, map: type of the items */
    uint8_t kind;   /* enum api_type_kind */
    uint8_t flags;  /* enum api_type_flag */
    uint8_t list;   /* enum api_list_kind */
    uint8_t n_keys; /* list maps */
    uint32_t keys;  /* list maps: text offset of n_keys NUL-separated key names */
};

enum api_field_flag {
    API_FIELD_OMITEMPTY = 1,
    API_FIELD_OMITZERO = 2,
    API_FIELD_POINTER = 4, /* Go pointer: zero values are values */
    API_FIELD_REQUIRED = 8,
    API_FIELD_SMP_MERGE = 16,   /* patchStrategy merge */
    API_FIELD_SMP_REPLACE = 32, /* patchStrategy replace */
    API_FIELD_SMP_RETAIN = 64,  /* patchStrategy retainKeys */
    API_FIELD_ATOMIC = 128,     /* server-side apply: the struct or map behind this field is one value */
    API_FIELD_GRANULAR = 256,   /* ... is not, although its type says atomic */
    API_FIELD_NO_PROTO = 512,   /* not in the protobuf message */
};

struct api_field {
    uint32_t name, doc; /* text offsets */
    uint32_t smp_key;   /* text offset of patchMergeKey; "" when none */
    uint32_t dflt;      /* text offset of the OpenAPI default as JSON; "" when none */
    uint16_t type;
    uint16_t number; /* protobuf */
    uint16_t flags;  /* enum api_field_flag */
};

struct api_rules; /* what only a CRD's schema has; see schema.h */

struct api_types {
    const char *text; /* NUL-terminated strings; offset 0 is "" */
    const struct api_type *types;
    const struct api_field *fields;
    uint32_t n_types, n_fields;
    const struct api_rules *rules; /* one per type, or NULL in the built-in universe */
};
extern const struct api_types api_kind_types; /* the built-in universe */

/* A type somewhere; by value. `of` NULL means API_TYPE_ANY. */
struct api_ref {
    const struct api_types *of;
    uint16_t type;
    uint16_t field_flags; /* API_FIELD_ATOMIC / GRANULAR of the field it was reached through */
};
#define API_REF_ANY ((struct api_ref){ NULL, 0, 0 })

static inline enum api_type_kind api_ref_kind(struct api_ref r)
{
    return r.of ? (enum api_type_kind)r.of->types[r.type].kind : API_TYPE_ANY;
}
static inline const struct api_type *api_ref_type(struct api_ref r) /* r.of is not NULL */
{
    return &r.of->types[r.type];
}
static inline const char *api_types_text(const struct api_types *t, uint32_t offset)
{
    return t->text + offset;
}
/* The field of a struct type, or NULL. */
const struct api_field *api_ref_field(struct api_ref r, struct str name);
/* What is behind a field of this struct. */
struct api_ref api_ref_of_field(struct api_ref r, const struct api_field *f);
/* Where a member leads: a field's type, a map's value type, ANY when nothing is known; *ret_known (may be NULL) says
 * whether the schema names the member. */
struct api_ref api_ref_member(struct api_ref r, struct str name, bool *ret_known);
struct api_ref api_ref_items(struct api_ref r); /* of a list or map; ANY otherwise */
bool api_ref_atomic(struct api_ref r);          /* struct or map that is one value for server-side apply */

/* ---- kinds ---- */

enum api_verb {
    API_VERB_CREATE = 1,
    API_VERB_DELETE = 2,
    API_VERB_DELETECOLLECTION = 4,
    API_VERB_GET = 8,
    API_VERB_LIST = 16,
    API_VERB_PATCH = 32,
    API_VERB_UPDATE = 64,
    API_VERB_WATCH = 128,
};

struct api_subresource {
    const char *name;                   /* "status" */
    const char *group, *version, *kind; /* of the object it takes and gives */
    uint16_t verbs;
    uint16_t type; /* in api_kind_types; 0 when it has none there */
};

struct api_kind {
    const char *group, *version, *kind, *list_kind; /* group "" is core */
    const char *plural, *singular;
    const char *short_names, *categories; /* comma separated; "" when none */
    bool namespaced;
    uint16_t verbs; /* enum api_verb */
    uint16_t type;  /* in api_kind_types */
    uint16_t n_subresources;
    const struct api_subresource *subresources;
};

/* All of them: groups in discovery order (core first), in a group the preferred version first, then by plural. */
const struct api_kind *api_kind_all(size_t *ret_n);
const struct api_kind *api_kind_find(struct str group, struct str version, struct str kind); /* or NULL */
const struct api_kind *api_kind_find_plural(struct str group, struct str version,
                                            struct str plural);                                /* or NULL */
const struct api_subresource *api_kind_subresource(const struct api_kind *k, struct str name); /* or NULL */
static inline struct api_ref api_kind_ref(const struct api_kind *k)
{
    return (struct api_ref){ &api_kind_types, k->type, 0 };
}
struct api_ref api_kind_object_meta(void); /* metav1.ObjectMeta */
struct api_ref api_kind_delete_options(void);
/* The built-in type with this OpenAPI id ("io.k8s.api.autoscaling.v1.Scale"), or ANY. */
struct api_ref api_kind_type_named(struct str id);

/* "v1.34.4": what the tables were made from. */
const char *api_kind_tables_version(void);

/* Names of a verb set in the order discovery lists them (alphabetical); verbs is enum api_verb. */
void api_kind_each_verb(uint16_t verbs, void (*fn)(void *ctx, const char *verb), void *ctx);

/* The OpenAPI v3 document of one group and version: every built-in kind with its paths, operations (with
 * x-kubernetes-group-version-kind and the fieldValidation parameter, without requestBody, see kubernetes.md 7.4) and
 * schemas. NOT_FOUND when no built-in kind is there. */
NODISCARD int api_kind_openapi_v3(struct str group, struct str version, struct buf *out, struct err **err);
