/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* lex: template text as tokens, as text/template/parse/lex.go cuts it. Private to the module.
 *
 * Tokens are cut some dozens at a time, so that the reader can step back over the last LEX_BACK of them. */
#include "base/arena.h"
#include "base/str.h"

enum tok_kind {
    TOK_ERROR, /* lex_text() says what is wrong */
    TOK_BOOL,
    TOK_CHAR, /* printable ASCII with no meaning of its own, such as ',' */
    TOK_CHAR_CONSTANT,
    TOK_COMPLEX,
    TOK_ASSIGN,
    TOK_DECLARE,
    TOK_EOF,
    TOK_FIELD,
    TOK_IDENTIFIER,
    TOK_LEFT_DELIM,
    TOK_LEFT_PAREN,
    TOK_NUMBER,
    TOK_PIPE,
    TOK_RAW_STRING,
    TOK_RIGHT_DELIM,
    TOK_RIGHT_PAREN,
    TOK_SPACE,
    TOK_STRING,
    TOK_TEXT,
    TOK_VARIABLE,
    TOK_KEYWORD_, /* keywords follow */
    TOK_BLOCK,
    TOK_BREAK,
    TOK_CONTINUE,
    TOK_DOT,
    TOK_DEFINE,
    TOK_ELSE,
    TOK_END,
    TOK_IF,
    TOK_NIL,
    TOK_RANGE,
    TOK_TEMPLATE,
    TOK_WITH,
};

struct tok {
    enum tok_kind kind;
    uint32_t pos, n; /* where in the text, and how many bytes */
};

#define LEX_BACK 3
#define LEX_ROOM 64

struct lex {
    struct arena *arena; /* for error texts */
    struct str in;
    const char *at, *end; /* what is not cut yet */
    struct str error;     /* of the token TOK_ERROR */
    int paren_depth;
    bool inside_action, ended;
    uint32_t n, next, seen; /* tokens cut; the one to read next; how far the reader got */
    struct tok toks[LEX_ROOM];
};

void lex_init(struct lex *l, struct arena *a, struct str text);
void lex_fill(struct lex *l); /* all tokens are read: cuts at least one more */

static inline struct tok lex_next(struct lex *l)
{
    if (l->next == l->n)
        lex_fill(l);
    l->next++;
    l->seen = l->seen < l->next ? l->next : l->seen;
    return l->toks[l->next - 1];
}

/* Steps back over the last n tokens; n is at most LEX_BACK. */
static inline void lex_back(struct lex *l, uint32_t n)
{
    l->next -= n;
}

/* The token furthest into the text that was read, if some were given back since. */
static inline struct tok lex_last_seen(const struct lex *l)
{
    return l->toks[l->seen - 1];
}

static inline struct str lex_text(const struct lex *l, struct tok t)
{
    return t.kind == TOK_ERROR ? l->error : str_sub(l->in, t.pos, t.pos + t.n);
}

uint32_t lex_line(const struct lex *l, uint32_t pos); /* of a byte of the text; the first is 1 */
