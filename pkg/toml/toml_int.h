/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Private to toml. */
#include "base/limits.h"
#include "base/map.h"
#include "toml/toml.h"

/* Appends the text quoted, or bare where a key may be. */
void toml_quote(struct str s, struct buf *out);
void toml_quote_key(struct str s, struct buf *out);
/* strconv.QuoteRune: %q of a character in the library's error texts. */
void toml_quote_rune(uint32_t rune, struct buf *out);

#define TOML_EOF 0 /* a NUL in the text is an error, so the library can say 0 for the end */

struct toml_key {
    struct str *parts; /* in the arena; never changed once made */
    size_t n;
};

struct toml_parser {
    struct arena *arena;
    struct str text;
    size_t pos, previous; /* previous: before the last toml_next() */
    size_t line;
    size_t key_line; /* of the key that is being defined */
    bool at_eof;
    struct value root;
    struct toml_key context;      /* the table that is being filled */
    struct str current;           /* and the key in it; empty: none */
    struct map implicits, arrays; /* names of tables that only other names imply; names of arrays */
    size_t depth;
    struct err **err;
};

/* ---- lexer ---- */

/* The next character: *ret is TOML_EOF at the end. PARSE for control characters and bad UTF-8. */
NODISCARD int toml_next(struct toml_parser *p, uint32_t *ret);
void toml_back(struct toml_parser *p); /* undoes the last toml_next() */
NODISCARD int toml_peek(struct toml_parser *p, uint32_t *ret);
NODISCARD int toml_skip_blanks(struct toml_parser *p);
NODISCARD int toml_skip_comment(struct toml_parser *p);
bool toml_is_newline(uint32_t rune);

/* "toml: line N (last key "…"): …" with the line given; and with the current one, moved back at the end of the text. */
int toml_fail_at(struct toml_parser *p, size_t line, const char *fmt, ...) PRINTF(3, 4);
int toml_fail(struct toml_parser *p, const char *fmt, ...) PRINTF(2, 3);
/* The same on the line before. */
int toml_fail_previous(struct toml_parser *p, const char *fmt, ...) PRINTF(2, 3);

/* The text of a string whose first quote was just read; three quotes begin a multi-line one unless it is a key. */
NODISCARD int toml_read_string(struct toml_parser *p, uint32_t quote, bool key, struct str *ret);
/* A number, date or word that begins with `first`, which was just read. */
NODISCARD int toml_read_scalar(struct toml_parser *p, uint32_t first, struct value *ret);

/* ---- tables ---- */

/* Arrays of tables grow while the document is read: kind object, pointing to a struct value_list. */
struct value toml_finish(struct arena *a, struct value v); /* makes them lists, also further down */

struct toml_key toml_key_add(struct toml_parser *p, const struct toml_key *key, struct str part);
/* Makes `key` the context; its last part is a new table, or one more in an array of tables. */
NODISCARD int toml_enter(struct toml_parser *p, const struct toml_key *key, bool array);
/* Goes one table down that only this name implies. */
NODISCARD int toml_enter_implicit(struct toml_parser *p, struct str part);
/* Sets `key` in the context; an error when it is there already and was not implied. */
NODISCARD int toml_set(struct toml_parser *p, struct str key, struct value v);
void toml_mark_implicit(struct toml_parser *p, const struct toml_key *key);
/* Notes whether the current key's value is an array. */
void toml_mark_array(struct toml_parser *p, bool is_array);
