/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Between the files of printer. */
#include "apiserver/printer.h"

struct printer_column {
    const char *name, *type, *format;
    int priority;
    const char *description;
};
struct api_printer {
    const char *group, *kind; /* "" for custom kinds */
    const struct printer_column *columns;
    size_t n;
    struct api_jsonpath *
        *paths; /* custom kinds: one a column; the first is the name's. NULL for built-in ones */
};
extern const struct api_printer printer_tables[]; /* sorted by group and kind */
extern const size_t printer_n_tables;

/* One row while it is filled. */
struct printer_row {
    struct arena *a;
    struct value object, spec, status;
    struct wall_time now;
    struct value_list cells;
    struct value conditions;
};
/* Fills the cells of a built-in kind; false when it has no printer of its own. */
bool printer_kind_row(struct str group, struct str kind, struct printer_row *r);

void printer_add(struct printer_row *r, const char *text);
void printer_add_str(struct printer_row *r, struct str text);
void printer_add_value(struct printer_row *r, struct value v);
void printer_add_int(struct printer_row *r, int64_t n);
void printer_addf(struct printer_row *r, const char *fmt, ...) PRINTF(2, 3);
void printer_add_since(struct printer_row *r, struct value time); /* "5m"; "<unknown>" without a time */
struct str printer_since(struct printer_row *r, struct value time);
