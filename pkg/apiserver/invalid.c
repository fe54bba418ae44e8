/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/invalid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "json/json.h"

#define CAUSE_TEXT_MAX (64 * KIB) /* a bad value is shown whole up to here */

static void print_bad(struct value v, struct buf *out)
{
    if (v.kind == VALUE_STRING)
        utf8_quote(value_str(v), out);
    else if (v.kind == VALUE_FLOAT)
        number_format_float(v.f, 'g', -1, 64, out);
    else
        IGNORE_ERROR(json_print(v, JSON_ESCAPE_HTML, out, NULL));
}

void api_cause_add(struct api_causes *c, const char *reason, struct str field, struct str message)
{
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 8;

        c->items = arena_grow(c->arena, c->items, c->cap * sizeof(*c->items), cap * sizeof(*c->items));
        c->cap = cap;
    }
    c->items[c->n++] = (struct api_cause){ reason, arena_dup(c->arena, message), arena_dup(c->arena, field) };
}

static void add(struct api_causes *c, const char *reason, const char *text, const char *field,
                const struct value *bad, const char *detail)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(CAUSE_TEXT_MAX);

    buf_adds(&b, text);
    if (bad) {
        buf_adds(&b, ": ");
        print_bad(*bad, &b);
    }
    if (detail && *detail)
        buf_addf(&b, ": %s", detail);
    api_cause_add(c, reason, str_from(field), buf_str(&b));
}

void api_cause_required(struct api_causes *c, const char *field, const char *detail)
{
    add(c, "FieldValueRequired", "Required value", field, NULL, detail);
}

void api_cause_invalid(struct api_causes *c, const char *field, struct value bad, const char *detail)
{
    add(c, "FieldValueInvalid", "Invalid value", field, &bad, detail);
}

void api_cause_type_invalid(struct api_causes *c, const char *field, struct value bad, const char *detail)
{
    add(c, "FieldValueTypeInvalid", "Invalid value", field, &bad, detail);
}

void api_cause_not_supported(struct api_causes *c, const char *field, struct value bad,
                             const char *const *supported, size_t n)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(CAUSE_TEXT_MAX);

    for (size_t i = 0; i < n; i++) {
        buf_adds(&b, i ? ", " : "supported values: ");
        utf8_quote(str_from(supported[i]), &b);
    }
    add(c, "FieldValueNotSupported", "Unsupported value", field, &bad, buf_z(&b));
}

void api_cause_forbidden(struct api_causes *c, const char *field, const char *detail)
{
    add(c, "FieldValueForbidden", "Forbidden", field, NULL, detail);
}

void api_cause_duplicate(struct api_causes *c, const char *field, struct value bad)
{
    add(c, "FieldValueDuplicate", "Duplicate value", field, &bad, NULL);
}

void api_cause_not_found(struct api_causes *c, const char *field, struct value bad)
{
    add(c, "FieldValueNotFound", "Not found", field, &bad, NULL);
}

void api_cause_too_long(struct api_causes *c, const char *field, size_t max)
{
    char detail[64];

    IGNORE_ERROR(
        snprintf(detail, sizeof(detail), "may not be more than %zu %s", max, max == 1 ? "byte" : "bytes"));
    add(c, "FieldValueTooLong", "Too long", field, NULL, detail);
}

void api_cause_too_many(struct api_causes *c, const char *field, int64_t actual, int64_t max)
{
    struct value n = value_from_int(actual);
    char detail[64];

    IGNORE_ERROR(snprintf(detail, sizeof(detail), "must have at most %lld %s", (long long)max,
                          max == 1 ? "item" : "items"));
    add(c, "FieldValueTooMany", "Too many", field, &n, detail);
}

static bool said_before(const struct api_causes *c, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (str_eq(c->items[i].field, c->items[j].field) && str_eq(c->items[i].message, c->items[j].message))
            return true;
    return false;
}

void api_causes_format(const struct api_causes *c, struct str kind, struct str group, struct str name,
                       struct buf *out)
{
    CLEANUP(buf_done) struct buf list = BUF_INIT(4 * MIB);
    size_t shown = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (said_before(c, i))
            continue;
        buf_addf(&list, "%s" STR_FMT ": " STR_FMT, shown++ ? ", " : "", STR_ARG(c->items[i].field),
                 STR_ARG(c->items[i].message));
    }
    buf_addstr(out, kind);
    if (group.n > 0)
        buf_addf(out, "." STR_FMT, STR_ARG(group));
    buf_addc(out, ' ');
    utf8_quote(name, out);
    buf_adds(out, " is invalid");
    if (shown > 0)
        buf_addf(out, shown > 1 ? ": [%s]" : ": %s", buf_z(&list));
}

struct value api_causes_value(const struct api_causes *c)
{
    struct value_list l = VALUE_LIST_INIT(c->arena);

    for (size_t i = 0; i < c->n; i++) {
        struct value m = value_new_map_sized(c->arena, 3);

        value_setz(m, "reason", value_from_str(str_from(c->items[i].reason)));
        value_setz(m, "message", value_from_str(c->items[i].message));
        value_setz(m, "field", value_from_str(c->items[i].field));
        value_list_add(&l, m);
    }
    return value_list_done(&l);
}

void api_notes_add(struct api_notes *n, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    int len;

    va_start(args, fmt);
    len = vasprintf(&text, fmt, args);
    va_end(args);
    if (len < 0)
        abort();
    if (n->n == n->cap) {
        size_t cap = n->cap ? 2 * n->cap : 8;

        n->items = arena_grow(n->arena, n->items, n->cap * sizeof(*n->items), cap * sizeof(*n->items));
        n->cap = cap;
    }
    n->items[n->n++] = arena_dup(n->arena, (struct str){ text, (size_t)len });
    free(text);
}
