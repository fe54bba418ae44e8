/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/printer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/gotext.h"
#include "apiserver/jsonpath.h"
#include "apiserver/printer_int.h"
#include "base/limits.h"
#include "json/json.h"

/* ---- durations ---- */

#define MINUTE 60
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define YEAR (365 * DAY)

void api_printer_duration(int64_t s, struct buf *out)
{
    static const struct {
        int64_t below, unit, rest; /* rest 0: one figure */
        char name, rest_name;
    } rows[] = {
        { 2 * MINUTE, 1, 0, 's', 0 },    { 10 * MINUTE, MINUTE, 1, 'm', 's' },
        { 3 * HOUR, MINUTE, 0, 'm', 0 }, { 8 * HOUR, HOUR, MINUTE, 'h', 'm' },
        { 2 * DAY, HOUR, 0, 'h', 0 },    { 8 * DAY, DAY, HOUR, 'd', 'h' },
        { 2 * YEAR, DAY, 0, 'd', 0 },    { 8 * YEAR, YEAR, DAY, 'y', 'd' },
        { INT64_MAX, YEAR, 0, 'y', 0 },
    };

    if (s < -1) {
        buf_adds(out, "<invalid>");
        return;
    }
    s = MAX(s, 0);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (s >= rows[i].below)
            continue;
        buf_addf(out, "%lld%c", (long long)(s / rows[i].unit), rows[i].name);
        if (rows[i].rest && s % rows[i].unit / rows[i].rest > 0)
            buf_addf(out, "%lld%c", (long long)(s % rows[i].unit / rows[i].rest), rows[i].rest_name);
        return;
    }
}

/* ---- cells ---- */

void printer_add_value(struct printer_row *r, struct value v)
{
    value_list_add(&r->cells, v);
}

void printer_add_str(struct printer_row *r, struct str text)
{
    printer_add_value(r, value_from_str(arena_dup(r->a, text)));
}

void printer_add(struct printer_row *r, const char *text)
{
    printer_add_str(r, str_from(text));
}

void printer_add_int(struct printer_row *r, int64_t n)
{
    printer_add_value(r, value_from_int(n));
}

void printer_addf(struct printer_row *r, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    printer_add(r, text);
}

struct str printer_since(struct printer_row *r, struct value time)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    struct wall_time t;

    if (!clock_parse_rfc3339(value_str(time), &t))
        return STR("<unknown>");
    api_printer_duration(r->now.s - t.s, &b);
    return arena_dup(r->a, buf_str(&b));
}

void printer_add_since(struct printer_row *r, struct value time)
{
    printer_add_str(r, printer_since(r, time));
}

/* ---- built-in kinds ---- */

static const struct printer_column plain_columns[] = {
    { "Name", "string", "name", 0, "Name must be unique within a namespace." },
    { "Created At", "date", "", 0, "CreationTimestamp is the time when this object was created." },
};
static const struct api_printer plain = { "", "", plain_columns, ARRAY_SIZE(plain_columns), NULL };

const struct api_printer *api_printer_of_kind(const struct api_kind *k)
{
    for (size_t i = 0; i < printer_n_tables; i++)
        if (strcmp(printer_tables[i].group, k->group) == 0 && strcmp(printer_tables[i].kind, k->kind) == 0)
            return &printer_tables[i];
    return &plain;
}

/* ---- custom kinds ---- */

void api_printer_free(struct api_printer *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++) {
        const struct printer_column *c = &p->columns[i];
        const char *const owned[] = { c->name, c->type, c->format, c->description };

        for (size_t j = 0; j < ARRAY_SIZE(owned); j++)
            free_ptr((char *)(uintptr_t)owned[j]); /* ours: api_printer_new() made it */
        api_jsonpath_free(p->paths[i]);
    }
    free((struct printer_column *)(uintptr_t)p->columns);
    free(p->paths);
    free(p);
}

static const char *text_of(struct value v, const char *key, const char *otherwise)
{
    const struct str s = value_str(value_get(v, str_from(key)));

    return str_dup(s.n > 0 ? s : str_from(otherwise));
}

static int add_column(struct api_printer *p, struct value v, struct err **err)
{
    struct printer_column *columns = (struct printer_column *)(uintptr_t)p->columns;
    const struct str path = value_str(value_getz(v, "jsonPath"));
    int r;

    r = api_jsonpath_parse(path, &p->paths[p->n], err);
    if (r < 0)
        return err_wrap(err, r, "jsonPath");
    columns[p->n++] = (struct printer_column){
        .name = text_of(v, "name", ""),
        .type = text_of(v, "type", "string"),
        .format = text_of(v, "format", ""),
        .priority = (int)value_int(value_getz(v, "priority"), 0),
        .description = text_of(v, "description", "Custom resource definition column (in JSONPath format): "),
    };
    return 0;
}

int api_printer_new(struct value columns, struct api_printer **ret, struct err **err)
{
    static const char age_text[] =
        "CreationTimestamp is a timestamp representing the server time when this object was "
        "created. It is not guaranteed to be set in happens-before order across separate "
        "operations. Clients may not set this value. It is represented in RFC3339 form and "
        "is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
        "https://git.k8s.io/community/contributors/devel/sig-architecture/"
        "api-conventions.md#metadata";
    CLEANUP(api_printer_free) struct api_printer *p = xcalloc(1, sizeof(*p));
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    const size_t n = value_is_list(columns) && columns.n > 0 ? columns.n : 1;
    struct value v = value_new_map(a);
    int r;

    p->group = p->kind = "";
    p->columns = xcalloc(n + 1, sizeof(*p->columns));
    p->paths = xcalloc(n + 1, sizeof(struct api_jsonpath *));
    value_setz(v, "name", VALUE_STR("Name"));
    value_setz(v, "format", VALUE_STR("name"));
    value_setz(v, "description", value_from_str(str_from(plain_columns[0].description)));
    value_setz(v, "jsonPath", VALUE_STR(".metadata.name"));
    r = add_column(p, v, err);
    for (size_t i = 0; r >= 0 && value_is_list(columns) && i < columns.n; i++)
        r = add_column(p, value_at(columns, i), err);
    if (r >= 0 && p->n == 1) {
        value_setz(v, "name", VALUE_STR("Age"));
        value_setz(v, "type", VALUE_STR("date"));
        value_unset(v, STR("format"));
        value_setz(v, "description", value_from_str(str_from(age_text)));
        value_setz(v, "jsonPath", VALUE_STR(".metadata.creationTimestamp"));
        r = add_column(p, v, err);
    }
    if (r < 0)
        return r;
    *ret = TAKE(p);
    return 0;
}

/* Everything that was found as text, blanks between. */
static struct value text_cell(struct printer_row *r, struct value found)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    for (size_t i = 0; i < value_len(found); i++) {
        const struct value v = value_at(found, i);

        buf_adds(&b, i ? " " : "");
        if (value_is_map(v) || value_is_list(v))
            IGNORE_ERROR(json_print(v, JSON_ESCAPE_HTML, &b, NULL));
        else
            api_go_print(v, &b);
    }
    return value_from_str(arena_dup(r->a, buf_str(&b)));
}

static struct value custom_cell(struct printer_row *r, const char *type, struct value found)
{
    const struct value v = value_len(found) > 0 ? value_at(found, 0) : VALUE_NONE;
    struct wall_time t;

    if (value_len(found) == 0)
        return VALUE_NONE;
    if (strcmp(type, "string") == 0)
        return text_cell(r, found);
    if (strcmp(type, "date") == 0) {
        if (!value_is_string(v))
            return VALUE_NONE;
        return value_from_str(clock_parse_rfc3339(value_str(v), &t) ? printer_since(r, v) : STR("<invalid>"));
    }
    if (strcmp(type, "boolean") == 0)
        return v.kind == VALUE_BOOL ? v : VALUE_NONE;
    if (v.kind != VALUE_INT && v.kind != VALUE_UINT && v.kind != VALUE_FLOAT)
        return VALUE_NONE;
    if (strcmp(type, "integer") == 0 && v.kind == VALUE_FLOAT)
        return value_from_int((int64_t)v.f);
    return v;
}

/* ---- rows ---- */

struct value api_printer_columns(const struct api_printer *p, struct arena *a)
{
    struct value_list l = VALUE_LIST_INIT(a);

    for (size_t i = 0; i < p->n; i++) {
        const struct printer_column *c = &p->columns[i];
        struct value m = value_new_map_sized(a, 5);

        value_setz(m, "name", value_from_str(arena_dup(a, str_from(c->name))));
        value_setz(m, "type", value_from_str(arena_dup(a, str_from(c->type))));
        value_setz(m, "format", value_from_str(arena_dup(a, str_from(c->format))));
        value_setz(m, "description", value_from_str(arena_dup(a, str_from(c->description))));
        value_setz(m, "priority", value_from_int(c->priority));
        value_list_add(&l, m);
    }
    return value_list_done(&l);
}

void api_printer_row(const struct api_printer *p, struct arena *a, struct value object, struct wall_time now,
                     struct value *ret_cells, struct value *ret_conditions)
{
    struct printer_row r = { .a = a,
                             .object = object,
                             .spec = value_getz(object, "spec"),
                             .status = value_getz(object, "status"),
                             .now = now,
                             .cells = VALUE_LIST_INIT(a) };

    for (size_t i = 0; p->paths && i < p->n; i++)
        printer_add_value(&r, custom_cell(&r, p->columns[i].type, api_jsonpath_find(p->paths[i], a, object)));
    if (!p->paths && !printer_kind_row(str_from(p->group), str_from(p->kind), &r)) {
        printer_add_value(&r, value_path(object, "metadata.name"));
        printer_add_value(&r, value_path(object, "metadata.creationTimestamp"));
    }
    while (r.cells.n < p->n)
        printer_add_value(&r, VALUE_NONE);
    *ret_cells = value_list_done(&r.cells);
    *ret_conditions = r.conditions;
}
