/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/helm_output.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/encode.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "yaml/yaml.h"
#include "json/json.h"

#define OUTPUT_MAX (256 * MIB)

const struct cli_special helm_output_flag = { .type_name = "format" };

int helm_output_format(const struct cli *c, enum helm_format *ret, struct err **err)
{
    static const char *const names[] = { [HELM_TABLE] = "table", [HELM_JSON] = "json", [HELM_YAML] = "yaml" };
    const char *format = cli_string(c, "output");

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(format, names[i]) == 0) {
            *ret = (enum helm_format)i;
            return 0;
        }
    return err_set(err, ERRC_INVALID,
                   "invalid argument \"%s\" for \"-o, --output\" flag: invalid format type", format);
}

/* ---- table ------------------------------------------------------------------------------------------------------------ */

struct grid {
    struct arena *arena;
    const struct helm_list *list;
    struct str *cells; /* titles first */
    size_t n_rows, *widths;
};

/* Columns of a terminal, as mattn/go-runewidth has them. */
static size_t rune_width(uint32_t rune)
{
    return rune == UTF8_INVALID ? 1 : (size_t)utf8proc_charwidth((utf8proc_int32_t)rune);
}

static size_t width_of(struct str s)
{
    size_t width = 0;
    uint32_t rune;

    while (s.n > 0) {
        s = str_sub(s, utf8_decode(s, &rune), s.n);
        width += rune_width(rune);
    }
    return width;
}

/* As uitable shortens: up to and with the rune that reaches n columns. */
static struct str cut(struct str s, size_t n)
{
    size_t at = 0, width = 0;
    uint32_t rune;

    while (at < s.n && width < n) {
        at += utf8_decode(str_sub(s, at, s.n), &rune);
        width += rune_width(rune);
    }
    return str_sub(s, 0, at);
}

static void add_row(struct grid *g, const struct str *cells)
{
    size_t columns = g->list->n_columns, max = g->list->width_max;

    for (size_t i = 0; i < columns; i++) {
        CLEANUP(buf_done) struct buf clean = BUF_INIT(INDEX_ENTRY_MAX);
        struct str *to = &g->cells[g->n_rows * columns + i];

        escape_controls(cells[i], &clean);
        *to = arena_dup(g->arena, buf_str(&clean));
        g->widths[i] = MAX(g->widths[i], max ? MIN(width_of(*to), max) : width_of(*to));
    }
    g->n_rows++;
}

static void print_cell(struct buf *out, struct str s, size_t width)
{
    size_t n = width_of(s);

    if (n > width) {
        buf_addstr(out, cut(s, width > 3 ? width - 3 : 1));
        buf_adds(out, "...");
        return;
    }
    buf_addstr(out, s);
    buf_add_repeat(out, ' ', width - n);
}

static void print_table(const struct helm_list *l, struct buf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(2 * OUTPUT_MAX);
    struct grid g = { .arena = a,
                      .list = l,
                      .cells = ARENA_ARRAY(a, struct str, (l->n_rows + 1) * l->n_columns),
                      .widths = arena_calloc(a, l->n_columns * sizeof(size_t)) };
    struct str *titles = ARENA_ARRAY(a, struct str, l->n_columns);

    for (size_t i = 0; i < l->n_columns; i++)
        titles[i] = str_from(l->columns[i].title);
    if (!l->no_headers)
        add_row(&g, titles);
    for (size_t i = 0; i < l->n_rows; i++)
        add_row(&g, &l->cells[i * l->n_columns]);
    for (size_t row = 0; row < g.n_rows; row++)
        for (size_t i = 0; i < l->n_columns; i++) {
            print_cell(out, g.cells[row * l->n_columns + i], g.widths[i]);
            if (i + 1 < l->n_columns)
                buf_addc(out, '\t');
            else if (row + 1 < g.n_rows)
                buf_addc(out, '\n');
        }
    buf_addc(out, '\n');
}

/* ---- json and yaml -------------------------------------------------------------------------------------------------------- */

static void print_json(const struct helm_list *l, struct buf *out)
{
    buf_addc(out, '[');
    for (size_t row = 0; row < l->n_rows; row++) {
        buf_adds(out, row ? ",{" : "{");
        for (size_t i = 0; i < l->n_columns; i++) {
            buf_addf(out, "%s\"%s\":", i ? "," : "", l->columns[i].key);
            json_print_string(l->cells[row * l->n_columns + i], JSON_ESCAPE_HTML, out);
        }
        buf_addc(out, '}');
    }
    buf_adds(out, "]\n");
}

static int print_yaml(const struct helm_list *l, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(2 * OUTPUT_MAX);
    struct value_list rows = VALUE_LIST_INIT(a);

    for (size_t row = 0; row < l->n_rows; row++) {
        struct value map = value_new_map_sized(a, l->n_columns);

        for (size_t i = 0; i < l->n_columns; i++)
            value_set(map, str_from(l->columns[i].key), value_from_str(l->cells[row * l->n_columns + i]));
        value_list_add(&rows, map);
    }
    return yml_print(value_list_done(&rows), out, err);
}

int helm_output_list(struct cli *c, enum helm_format format, const struct helm_list *l, struct err **err)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(OUTPUT_MAX);
    int r = 0;

    if (format == HELM_JSON)
        print_json(l, &out);
    else if (format == HELM_YAML)
        r = print_yaml(l, &out, err);
    else
        print_table(l, &out);
    if (r == 0)
        r = buf_check(&out, err);
    if (r >= 0)
        cli_write(c, buf_str(&out));
    return r;
}
