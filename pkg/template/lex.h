/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* lex: template text as tokens, as text/template/parse/lex.go cuts it. Private to the module. */
#include "base/arena.h"
#include "base/str.h"

enum tok_kind {
    TOK_ERROR, /* the text says what is wrong */
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
    uint32_t pos, line;
    struct str text;
};

struct lex {
    struct arena *arena; /* for error texts */
    struct str in;
    size_t pos, start;
    uint32_t line, start_line;
    int paren_depth;
    bool inside_action;
    struct tok item;
};

void lex_init(struct lex *l, struct arena *a, struct str text);
struct tok lex_next(struct lex *l);
