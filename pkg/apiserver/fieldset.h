/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* fieldset: sets of field paths, as managedFields has them (structured-merge-diff's fieldpath.Set).
 *
 * A path is a sequence of elements in their serialized form: "f:spec", "k:{\"name\":\"c\"}", "v:\"a\"", "i:0". Sets live in
 * an arena and are never changed once shared. NULL is the empty set. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "value/value.h"

struct fieldset;

struct fieldset_item {
    struct str element;
    bool member;                /* the path that ends here is in the set */
    const struct fieldset *sub; /* longer paths; NULL when none */
};

struct fieldset {
    struct arena *arena;
    struct fieldset_item *items; /* sorted by element */
    uint32_t n, cap;
};

/* A path while a tree is walked: innermost element first, on the stack. */
struct fieldset_path {
    const struct fieldset_path *up; /* NULL: `element` is at the root */
    struct str element;
};

struct fieldset *fieldset_new(struct arena *a);
void fieldset_add(struct fieldset *s,
                  const struct fieldset_path *path); /* s from fieldset_new(), not shared */

bool fieldset_empty(const struct fieldset *s);
const struct fieldset_item *fieldset_find(const struct fieldset *s, struct str element); /* or NULL */
const struct fieldset *fieldset_union(struct arena *a, const struct fieldset *x, const struct fieldset *y);
const struct fieldset *fieldset_difference(struct arena *a, const struct fieldset *x,
                                           const struct fieldset *y);
const struct fieldset *fieldset_intersection(struct arena *a, const struct fieldset *x,
                                             const struct fieldset *y);
/* x without y's members and all that is below them. */
const struct fieldset *fieldset_exclude(struct arena *a, const struct fieldset *x, const struct fieldset *y);
/* The set with these paths; elements separated by blanks: "metadata labels" names f:metadata, f:labels. */
const struct fieldset *fieldset_of(struct arena *a, const char *const *paths, size_t n);

/* FieldsV1 and back. Keys are brought into their canonical form; false for what is no FieldsV1. */
bool fieldset_parse(struct arena *a, struct value fields, const struct fieldset **ret);
struct value fieldset_value(struct arena *a, const struct fieldset *s);

/* Calls fn for every member; `text` is the path as messages show it: ".spec.containers[name=\"c\"].image". */
void fieldset_each(const struct fieldset *s, void (*fn)(void *ctx, struct str text), void *ctx);
void fieldset_element_text(struct str element, struct buf *out); /* ".spec", "[name=\"c\"]" */
