/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Private to schema. */
#include "base/limits.h"
#include "base/map.h"
#include "regex/regex.h"
#include "schema/schema.h"

#define SCHEMA_ROOT_URL "file:///values.schema.json"

struct schema_metaschema {
    const char *name; /* its URL without the scheme */
    const char *text;
};
const struct schema_metaschema *schema_metaschema_find(struct str url); /* NULL: none of ours */

/* ---- exact decimal numbers ---- */

struct decimal {
    bool negative;
    int n;         /* digits, none for zero; neither the first nor the last is 0 */
    int64_t point; /* 0.d[0]d[1]… * 10^point */
    char d[24];
};
struct decimal schema_decimal_from(struct value v); /* v is a number */
int schema_decimal_cmp(const struct decimal *a, const struct decimal *b);
bool schema_decimal_is_integer(const struct decimal *d);
bool schema_decimal_is_multiple(const struct decimal *a, const struct decimal *b);
/* As golang.org/x/text prints a float64 in English: 1,000.5 and 1×10⁰⁶. */
void schema_decimal_print(struct value v, struct buf *out);
void schema_decimal_print_int(size_t n, struct buf *out); /* 1,000 */

/* ---- URLs and pointers ---- */

/* ref, without its fragment, against base. Lives in a. */
struct str schema_url_join(struct arena *a, struct str base, struct str ref);
bool schema_url_is_absolute(struct str url);
/* Splits at '#'; the fragment is unescaped. False: a bad escape. */
bool schema_split_fragment(struct arena *a, struct str s, struct str *url, struct str *fragment);
void schema_pointer_add(struct str token, struct buf *out);      /* "/a~1b" */
void schema_pointer_encode(struct str pointer, struct buf *out); /* percent-escapes, but not the slashes */
/* 0 and *ret; or -1 when there is nothing, -2 when the pointer is malformed. */
int schema_lookup(struct value doc, struct str pointer, struct value *ret);

/* ---- documents ---- */

struct resource {
    struct str pointer, id;
    int draft;
    struct map anchors, dynamic_anchors; /* name: struct str * with the pointer */
};

struct document {
    struct str url;
    struct value root;
    struct resource **resources;
    size_t n_resources, cap_resources;
    struct map processed; /* pointers of subschemas that were looked at */
    bool mixed;           /* resources of different drafts */
};

/* ---- compiled ---- */

enum {
    TYPE_NULL = 1,
    TYPE_BOOLEAN = 2,
    TYPE_NUMBER = 4,
    TYPE_INTEGER = 8,
    TYPE_STRING = 16,
    TYPE_ARRAY = 32,
    TYPE_OBJECT = 64
};

struct node;
struct node_list {
    struct node **items;
    size_t n;
    bool set;
};
struct named_node {
    struct str name;
    struct node *node;
    struct regex *regex;     /* for patterns */
    const struct str *names; /* dependencies on properties: then node is NULL */
    size_t n_names;
};
struct node_map {
    struct named_node *items; /* sorted by name */
    size_t n;
};

/* true, false, a schema, or not there */
struct additional {
    enum { ADDITIONAL_NONE, ADDITIONAL_TRUE, ADDITIONAL_FALSE, ADDITIONAL_NODE } kind;
    struct node *node;
};

struct bound {
    bool set;
    struct value value;
};

struct count {
    bool set;
    int64_t n;
};

struct format;

struct node {
    struct str location, url, pointer;
    int draft;
    struct node *resource; /* the schema at the start of its resource */
    enum { NODE_OBJECT, NODE_TRUE, NODE_FALSE } kind;

    unsigned types;
    struct bound constant, multiple_of, minimum, maximum, exclusive_minimum, exclusive_maximum;
    struct value enumeration;
    bool has_enumeration;
    unsigned enumeration_types;
    const struct format *format;
    struct node *ref, *recursive_ref, *dynamic_ref;
    struct str dynamic_ref_anchor; /* empty: a pointer */
    bool recursive_anchor;
    struct str dynamic_anchor;
    struct node_map dynamic_anchors; /* of its resource */

    struct count min_properties, max_properties, min_items, max_items, min_length, max_length, min_contains,
        max_contains;
    struct value required; /* list */
    struct node_map dependencies, dependent_required, dependent_schemas, properties, pattern_properties;
    struct additional additional_properties, additional_items;
    struct node *property_names, *contains, *items, *items2020;
    struct node_list item_list, prefix_items;
    bool unique_items;
    struct regex *pattern;
    struct str pattern_text;
    struct node_list all_of, any_of, one_of;
    struct node * not, *if_node, *then_node, *else_node, *unevaluated_properties, *unevaluated_items;
    bool all_properties_evaluated, all_items_evaluated;
    size_t n_items_evaluated;
};

struct schema {
    struct arena *arena;
    struct document **documents;
    size_t n_documents, cap_documents;
    struct node **nodes; /* in the order they were met */
    size_t n_nodes, cap_nodes, n_compiled;
    struct map by_location;
    struct node *root;
    bool assert_format; /* metaschemas check formats in all drafts */
    struct err **err;   /* while compiling */
};

/* documents.c */
NODISCARD int schema_document_add(struct schema *s, struct str url, struct value root, struct document **ret);
NODISCARD int schema_document_get(struct schema *s, struct str url, struct document **ret);
struct resource *schema_resource_of(const struct document *doc, struct str pointer);
NODISCARD int schema_document_ensure(struct schema *s, struct document *doc, struct str pointer);
/* url#fragment to the document and pointer behind it, seen from `doc`. */
NODISCARD int schema_resolve(struct schema *s, struct document *doc, struct str url, struct str fragment,
                             struct document **ret_doc, struct str *ret_pointer);

int schema_draft_of(struct str url); /* 4, 6, 7, 2019, 2020; 0: none of them */

/* plain.c: is v certainly valid against the draft's metaschema? "No" means that it has to be asked. `depth` is 0 for a
 * whole document. */
bool schema_is_plain(struct value v, int draft, int depth);

/* The compiled metaschema of a draft; it is never freed. */
NODISCARD int schema_metaschema_get(int draft, const struct schema **ret, struct err **err);

/* validate.c: as schema_validate(), of one node; `doc` when v is itself a schema in that document. */
NODISCARD int schema_validate_node(const struct schema *s, const struct node *n, struct value v,
                                   const struct document *doc, struct str doc_pointer, bool title,
                                   struct buf *report, struct err **err);

/* format.c */
const struct format *schema_format_find(struct str name); /* NULL: unknown, not checked */
/* False: appends why not, in the library's words. */
bool schema_format_check(const struct format *f, struct str s, struct buf *why);
struct str schema_format_name(const struct format *f);

/* The library's quotes: '…'. */
void schema_quote(struct str s, struct buf *out);
void schema_display(struct value v, struct buf *out); /* of a scalar */
