/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tree: parsed templates: nodes, definitions and the sets that hold them. Private to the module.
 *
 * Nodes live in the arena of the set (or of the render, for the text of a `tpl` call) and never change. They are only as
 * long as their kind needs, with children and names behind them, so none is ever copied. Positions are byte offsets into
 * the text of the file.
 *
 * Two of Go's nodes are not there: an action is the pipe that stands in a list, and a command of one word is that word. */
#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "template/func.h"

enum node_kind {
    NODE_LIST,
    NODE_TEXT,
    NODE_IF,
    NODE_RANGE,
    NODE_WITH,
    NODE_TEMPLATE,
    NODE_BREAK,
    NODE_CONTINUE,
    NODE_PIPE,
    NODE_COMMAND, /* of two words or more */
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
        const struct node
            *items[0];       /* list; words of a command; commands of a pipe, then the variables it sets */
        struct str names[0]; /* field, variable: ".A.B" as A, B; a variable's first is "$x" */
        struct {
            struct str text;    /* text; string: its value */
            const char *quoted; /* string: as written, n bytes */
        };
        struct {
            struct str called; /* name of a template action */
            const struct node *with;
        };
        struct {
            const struct tpl_func *func;
            const char *ident; /* n bytes */
        };
        struct {
            const struct node *of;
            struct str links[0]; /* chain: the names behind `of` */
        };
        struct {
            const struct node *pipe; /* control structures */
            const struct node *list;
            const struct node *other; /* else; may be NULL */
        };
        const struct number *number;
    };
};

static inline struct str node_ident(const struct node *n)
{
    return (struct str){ n->ident, n->n };
}

/* Variables a pipe declares or assigns: n_decl of them. */
static inline const struct node *const *node_decl(const struct node *pipe)
{
    return pipe->items + pipe->n;
}

/* What a command of a pipe starts with. */
static inline const struct node *node_first_word(const struct node *command)
{
    return command->kind == NODE_COMMAND ? command->items[0] : command;
}

/* One file (or the text of a tpl call): what error texts call it, and its text for line numbers. */
struct source {
    struct str name, text;
    bool sprig; /* of a set of tpl_set_new_sprig() */
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
    bool sprig;              /* Sprig's functions alone, Go's error texts */
    struct map texts;        /* overlays of tpl texts on top of this one, by text: struct tpl_set */
};

#define TPL_ROOT_NAME STR("gotpl") /* what Helm calls the set; a tpl text is a template of this name */

const struct tree *tpl_set_find(const struct tpl_set *s, struct str name); /* NULL: none of that name */

/* Parses the text of a tpl call, which is borrowed, into an overlay. TEMPLATE with Go's text, not yet Helm's. */
NODISCARD int tpl_parse_overlay(struct tpl_set *s, struct str text, struct err **err);

/* Node as Go prints it again. */
void node_print(const struct node *n, struct buf *out);
/* "file:line:column" of a node, as parse.Tree.ErrorContext. */
void source_print_position(const struct source *s, uint32_t pos, struct buf *out);

/* Looks a function up by name: Helm's, Sprig's, then text/template's own. NULL when there is none. */
const struct tpl_func *func_find(struct str name);
const struct tpl_func *func_find_sprig(struct str name); /* the same in a set of tpl_set_new_sprig() */

/* Has the calling thread less stack left than `margin` bytes plus a reserve for whatever a leaf calls? */
bool stack_is_low(size_t margin);
