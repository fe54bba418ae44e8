/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* term: what a person at a terminal sees: aligned tables, colours, one line of progress. */
#include "pintle/cli.h"

/* Columns as kubectl prints them: left aligned, three blanks apart, at least six wide, nothing behind the last. */
struct term_table;
struct term_table *term_table_new(size_t columns) NODISCARD;
void term_table_free(struct term_table *t); /* t may be NULL */
DEFINE_CLEANUP(struct term_table *, term_table_free)
void term_table_add(struct term_table *t,
                    const struct str *cells); /* one row; copied, control characters escaped */
void term_table_print(struct cli *c, const struct term_table *t);

/* Escape sequences, or "" when standard output is no terminal or $NO_COLOR is set. */
enum term_color { TERM_PLAIN, TERM_BOLD, TERM_RED, TERM_GREEN, TERM_YELLOW };
const char *term_color(const struct cli *c, enum term_color color);

/* Shows the text on the last line of standard error in place of the previous one; nothing unless that is a terminal.
 * An empty text removes the line: call it so before other output. */
void term_progress(struct cli *c, const char *fmt, ...) PRINTF(2, 3);
