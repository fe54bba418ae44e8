/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tree: parsed templates: nodes, definitions and the sets that hold them. Private to the module.
 *
 * Nodes live in the arena of the set (or of the render, for the text of a `tpl` call) and never change. They are only as
 * long as their kind needs (parse_node_new()), so none is ever copied. Positions are byte offsets into the text of the
 * file. */
#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "template/func.h"

enum node_kind {
    NODE_LIST,
    NODE_TEXT,
    NODE_ACTION,
    NODE_IF,
    NODE_RANGE,
    NODE_WITH,
    NODE_TEMPLATE,
    NODE_BREAK,
    NODE_CONTINUE,
    NODE_PIPE,
    NODE_COMMAND,
    NODE_FIELD,
    NODE_CHAIN,
    NODE_VARIABLE,
    NODE_DOT,
    NODE_NIL,
    NODE_BOOL,
    NODE_NUMBER,
    NODE_STRING,
    NODE_IDENTIFIER,
    NODE_END,  /* parser only */
    NODE_ELSE, /* parser only */
};

enum node_special { SPECIAL_NONE, SPECIAL_AND, SPECIAL_OR, SPECIAL_CALL };

struct number {
    struct str text; /* as written */
    bool is_int, is_uint, is_float, is_complex;
    int64_t i;
    uint64_t u;
    double f; /* of a complex one: the real part */
    double imaginary;
};

struct node {
    uint8_t kind;    /* enum node_kind */
    uint8_t special; /* of an identifier: enum node_special */
    bool flag;       /* of a pipe: assigns instead of declaring; of a bool: its value */
    uint8_t n_decl;  /* of a pipe */
    uint32_t pos;
    uint32_t n;   /* children or names */
    uint32_t var; /* of a variable: its number within the definition; 0 is "$" */
    union {
        struct {
            const struct node *const *items; /* list, commands of a pipe, arguments of a command */
            const struct node *one;          /* where items points when there is one */
            const struct node *const *decl;  /* variables a pipe declares or assigns */
        };
        struct {
            struct str text;   /* text; string: its value; identifier and template: the name */
            struct str quoted; /* string: as written */
        };
        struct {
            struct str called; /* name of a template action */
            const struct node *with;
        };
        struct {
            struct str ident;
            const struct tpl_func *func;
        };
        struct {
            const struct str *names; /* field, chain, variable: ".A.B" as A, B; a variable's first is "$x" */
            union {
                const struct node *of; /* chain */
                struct str name;       /* others: where names points when there is one */
            };
        };
        struct {
            const struct node *pipe; /* action and control structures */
            const struct node *list;
            const struct node *other; /* else; may be NULL */
        };
        const struct number *number;
    };
};

/* One file (or the text of a tpl call): what error texts call it, and its text for line numbers. */
struct source {
    struct str name, text;
};

/* A named template. */
struct tree {
    struct str name;
    const struct source *source;
    const struct node *root; /* a list */
    bool empty;              /* nothing but white space and comments */
};

/* Templates by name, on top of those of `below`. */
struct tpl_set {
    const struct tpl_set *below; /* NULL: the bottom */
    struct arena *arena;
    struct map trees;
    const struct tree *root; /* of an overlay: its text, named TPL_ROOT_NAME */
    struct map texts;        /* overlays of tpl texts on top of this one, by text: struct tpl_set */
};

#define TPL_ROOT_NAME STR("gotpl") /* what Helm calls the set; a tpl text is a template of this name */

const struct tree *tpl_set_find(const struct tpl_set *s, struct str name); /* NULL: none of that name */

/* Parses `text` under `name` into s; an overlay borrows both. TEMPLATE with Go's text, not yet Helm's. */
NODISCARD int tpl_parse(struct tpl_set *s, struct str name, struct str text, struct err **err);

/* Node as Go prints it again. */
void node_print(const struct node *n, struct buf *out);
/* "file:line:column" of a node, as parse.Tree.ErrorContext. */
void source_print_position(const struct source *s, uint32_t pos, struct buf *out);

/* Looks a function up by name: Helm's, Sprig's, then text/template's own. NULL when there is none. */
const struct tpl_func *func_find(struct str name);

/* Has the calling thread less stack left than `margin` bytes plus a reserve for whatever a leaf calls? */
bool stack_is_low(size_t margin);
