/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/term.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/encode.h"
#include "base/limits.h"
#include "base/utf8.h"

#define CELL_WIDTH_MIN 6 /* kubectl's tabwriter: minimum width, padding */
#define CELL_PADDING 3

struct term_table {
    struct arena *arena;
    size_t columns, rows, cap;
    struct str *cells; /* rows * columns */
    size_t *widths;
};

struct term_table *term_table_new(size_t columns)
{
    struct arena *a = arena_new(256 * MIB);
    struct term_table *t = ARENA_NEW(a, struct term_table);

    t->arena = a;
    t->columns = columns;
    t->widths = arena_calloc(a, columns * sizeof(*t->widths));
    return t;
}

void term_table_free(struct term_table *t)
{
    if (t)
        arena_free(t->arena);
}

void term_table_add(struct term_table *t, const struct str *cells)
{
    if (t->rows == t->cap) {
        size_t row = t->columns * sizeof(*t->cells), cap = t->cap ? 2 * t->cap : 32;

        t->cells = arena_grow(t->arena, t->cells, t->cap * row, cap * row);
        t->cap = cap;
    }
    for (size_t i = 0; i < t->columns; i++) {
        CLEANUP(buf_done) struct buf clean = BUF_INIT(MIB);
        struct str *cell = &t->cells[t->rows * t->columns + i];

        escape_controls(cells[i], &clean);
        *cell = arena_dup(t->arena, buf_str(&clean));
        t->widths[i] = MAX(t->widths[i], utf8_count(*cell));
    }
    t->rows++;
}

void term_table_print(struct cli *c, const struct term_table *t)
{
    for (size_t row = 0; row < t->rows; row++)
        for (size_t i = 0; i < t->columns; i++) {
            struct str cell = t->cells[row * t->columns + i];
            size_t width = MAX(t->widths[i] + CELL_PADDING, (size_t)CELL_WIDTH_MIN);
            bool last = i + 1 == t->columns;

            cli_write(c, cell);
            cli_printf(c, "%*s", last ? 0 : (int)(width - utf8_count(cell)), last ? "\n" : "");
        }
}

const char *term_color(const struct cli *c, enum term_color color)
{
    static const char *const sequences[] = {
        [TERM_PLAIN] = "\033[0m",  [TERM_BOLD] = "\033[1m",    [TERM_RED] = "\033[31m",
        [TERM_GREEN] = "\033[32m", [TERM_YELLOW] = "\033[33m",
    };
    const char *off = getenv("NO_COLOR"), *mode = cli_color_mode(c);

    if (strcmp(mode, "always") != 0 &&
        (strcmp(mode, "never") == 0 || (off && off[0]) || !isatty(fileno(c->out))))
        return "";
    return sequences[color];
}

void term_progress(struct cli *c, const char *fmt, ...)
{
    va_list ap;

    if (!isatty(fileno(c->errout)))
        return;
    fputs("\r\033[K", c->errout);
    va_start(ap, fmt);
    vfprintf(c->errout, fmt, ap);
    va_end(ap);
    fflush(c->errout);
}
