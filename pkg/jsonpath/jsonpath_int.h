/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "base/arena.h"
#include "jsonpath/jsonpath.h"

enum node_kind {
    NODE_TEXT,
    NODE_LIST, /* one action, or one side of a filter */
    NODE_FIELD,
    NODE_IDENTIFIER, /* range, end, and words that mean nothing */
    NODE_ARRAY,
    NODE_FILTER,
    NODE_LITERAL, /* a number or a bool */
    NODE_WILDCARD,
    NODE_RECURSIVE,
    NODE_UNION,
};

struct bound {
    int64_t at;
    bool known;
    bool derived; /* [i]: the end is i + 1 */
};

struct node_list {
    struct node *p;
    size_t n, cap;
};

struct node {
    enum node_kind kind;
    struct str text; /* TEXT, FIELD, IDENTIFIER; a filter's operator, "" to ask whether something is there */
    struct value literal;    /* LITERAL */
    struct bound bounds[3];  /* ARRAY: from, to, step */
    struct node_list nodes;  /* LIST; UNION: lists; FILTER: the left side */
    struct node_list rights; /* FILTER */
};

struct jsonpath {
    struct arena *arena; /* all nodes and their texts */
    struct node_list root;
};

/* As a filter compares them. INVALID for kinds that cannot be compared, or an operator that is none. */
NODISCARD int jsonpath_compare(struct str op, struct value left, struct value right, bool *ret,
                               struct err **err);
