/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* parse: what the parts of the parser share (text/template/parse/parse.go, with its error texts). Private to the module.
 *
 * A function that fails returns NULL and has set file->failed; the caller only passes it on. */
#include "base/map.h"
#include "template/lex.h"
#include "template/tree.h"

/* The variables of a definition. */
struct variables {
    struct map ids;   /* name -> number; "$" is 0 and always in scope */
    uint32_t *scoped; /* those in scope, innermost last */
    size_t n_scoped, cap_scoped;
    uint32_t *in_scope; /* by number: how often it is in `scoped` */
    size_t n_ids, cap_ids;
};

/* What a file's definitions share. */
struct file {
    struct arena *arena;
    struct lex lex;
    const struct source *source;
    struct map trees;        /* what it defines, by name: struct tree */
    const struct tree *main; /* what has the name of the file */
    struct str error;
    bool failed;
    /* Children of unfinished nodes. */
    const struct node **stack;
    size_t n_stack, cap_stack;
    /* Names of the chain being read. */
    struct str *names;
    size_t n_names, cap_names;
    struct variables spare; /* tables of a definition that is done, for the next one */
};

/* One definition being parsed; Go's parse.Tree. */
struct parser {
    struct file *file;
    bool in_action;
    uint32_t action_pos; /* of the delimiter that opened it */
    int parens, ranges;
    struct variables variables;
};

/* Tokens: the next one, one step back (up to LEX_BACK), the next one without taking it; `non_space` skips blanks. */
static inline struct tok parse_next(struct parser *p)
{
    return lex_next(&p->file->lex);
}

static inline void parse_backup(struct parser *p)
{
    lex_back(&p->file->lex, 1);
}

static inline struct tok parse_peek(struct parser *p)
{
    struct tok t = parse_next(p);

    parse_backup(p);
    return t;
}

static inline struct tok parse_next_non_space(struct parser *p)
{
    struct tok t = parse_next(p);

    while (t.kind == TOK_SPACE)
        t = parse_next(p);
    return t;
}

static inline struct tok parse_peek_non_space(struct parser *p)
{
    struct tok t = parse_next_non_space(p);

    parse_backup(p);
    return t;
}

static inline struct str parse_text(const struct parser *p, struct tok t)
{
    return lex_text(&p->file->lex, t);
}

bool parse_expect(struct parser *p, enum tok_kind kind, const char *context, struct tok *ret);

/* Errors: the first one counts. All return NULL. */
void *parse_fail(struct parser *p, const struct buf *text);
void *parse_fail_text(struct parser *p, const char *fmt, ...) PRINTF(2, 3);
void *parse_fail_quoted(struct parser *p, const char *before, struct str name,
                        const char *after); /* before"name"after */
void *parse_unexpected(struct parser *p, struct tok t, const char *context);
void *parse_unexpected_node(struct parser *p, const char *before, const struct node *n, const char *context);

/* Nodes: children are pushed and then taken by their parent, which comes after them; `base` is file->n_stack before the
 * first. */
struct node *parse_node_new(struct parser *p, enum node_kind kind, uint32_t pos);
void parse_push(struct parser *p, const struct node *n);
struct node *parse_parent_new(struct parser *p, enum node_kind kind, uint32_t pos, size_t base);
/* Field, variable or chain, of the names that were added. */
void parse_name(struct parser *p, struct str name);
struct node *parse_named_new(struct parser *p, enum node_kind kind, uint32_t pos);

/* Variables: numbers within one definition ("$" is 0), and which are in scope. */
void parse_declare(struct parser *p, uint32_t id);
void parse_pop_vars(struct parser *p, size_t n);
uint32_t parse_var_id(struct parser *p, struct str name);

/* A pipeline up to the token `end`; `context` is what error texts call the place. */
const struct node *parse_pipeline(struct parser *p, const char *context, enum tok_kind end);
