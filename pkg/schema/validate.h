/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Private to schema: one run of a validation. */
#include "base/arena.h"
#include "schema/schema_int.h"

#define VALIDATION_MEMORY_MAX (256 * MIB)

/* The way from the root of the instance to a value; on the stack or in the run's arena. */
struct path {
    const struct path *parent;
    struct str name;
    size_t index;
    bool is_index;
};

enum violation_kind { VIOLATION_LEAF, VIOLATION_GROUP, VIOLATION_REFERENCE };

struct violation {
    enum violation_kind kind;
    const struct path *at;
    struct str text;
    struct violation *causes, *next;
};

struct unevaluated {
    bool *set; /* per entry or item: was it not looked at yet? */
    size_t n, left;
};
void schema_unevaluated_remove(struct unevaluated *u, size_t i);

struct run {
    const struct schema *schema;
    struct arena *arena;
    const struct document *doc; /* the instance is a schema in it; NULL otherwise */
    struct str doc_pointer;
    struct buf text; /* of the violation that is being made */
    size_t steps;
    int depth;
    int failed; /* a limit was hit */
    struct err **err;
};

/* One value under one node. */
struct frame {
    struct run *run;
    struct value value;
    const struct path *path;
    const struct node *node;
    const struct frame *parent;
    const char *keyword; /* of the reference that led here */
    size_t level;        /* the same value has the same level */
    int references;      /* in a row */
    bool quiet;          /* only valid or not counts */
    struct unevaluated unevaluated;
    struct violation *first, *last;
    size_t n;
};

void schema_frame_add(struct frame *f, struct violation *e); /* e may be NULL */
struct violation *schema_violation_new(struct frame *f, enum violation_kind kind);
struct buf *schema_violation_begin(struct frame *f); /* text for the next schema_violation_add() */
void schema_violation_add(struct frame *f);

/* NULL: valid. The same value under another node, or a part of it. */
struct violation *schema_validate_self(struct frame *parent, const struct node *n, const char *keyword,
                                       bool quiet);
struct violation *schema_validate_value(struct frame *parent, const struct node *n, struct value v,
                                        const struct path *path);
/* A value of its own, with no way behind it. */
struct violation *schema_validate_top(struct run *run, const struct node *n, struct value v, bool quiet);

unsigned schema_type_of(struct value v);
bool schema_equal(struct value a, struct value b); /* numbers by their value */

void schema_check_kind(
    struct frame *f); /* keywords.c: what is special to objects, arrays, strings, numbers */
void schema_check_combinations(struct frame *f);
void schema_check_unevaluated(struct frame *f);
