/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/gotext.h"
#include "apiserver/typed.h"
#include "base/limits.h"
#include "base/map.h"

/* structured-merge-diff's validation of an applied configuration, in its words. */
struct check {
    struct arena *a;
    bool duplicates;
    struct buf path;   /* ".spec.replicas" */
    struct buf faults; /* one a line */
    int depth;
};

static void check_value(struct check *c, struct api_ref t, struct value v);

static void fault(struct check *c, const char *fmt, ...) PRINTF(2, 3);
static void fault(struct check *c, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    buf_addf(&c->faults, "%s%s: %s", c->faults.n > 0 ? "\n" : "", c->path.n > 0 ? buf_z(&c->path) : "", text);
}

static void fault_kind(struct check *c, const char *expected, struct value v)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    api_go_print(v, &b);
    fault(c, "expected %s, got &{%s}", expected, buf_z(&b));
}

static void check_scalar(struct check *c, struct api_ref t, struct value v)
{
    const bool number = v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_FLOAT;
    const bool text = v.kind == VALUE_STRING;

    if (value_is_null(v))
        return;
    switch (api_ref_kind(t)) {
    case API_TYPE_BOOL:
        if (v.kind != VALUE_BOOL)
            fault_kind(c, "boolean", v);
        break;
    case API_TYPE_INT32:
    case API_TYPE_INT64:
    case API_TYPE_DOUBLE:
        if (!number)
            fault(c, "expected numeric (int or float), got %s", api_go_type(v));
        break;
    case API_TYPE_QUANTITY:
    case API_TYPE_INT_OR_STRING:
    case API_TYPE_TIME:
    case API_TYPE_MICRO_TIME:
        if (!number && !text && v.kind != VALUE_BOOL)
            fault(c, "expected any scalar, got %s", api_go_type(v));
        break;
    default:
        if (!text) {
            CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

            api_go_syntax(v, &b);
            fault(c, "expected string, got &value.valueUnstructured{Value:%s}", buf_z(&b));
        }
        break;
    }
}

static void check_items(struct check *c, struct api_ref t, struct value v)
{
    CLEANUP(map_done) struct map seen = MAP_INIT;
    const size_t n = c->path.n;

    for (size_t i = 0; i < value_len(v); i++) {
        struct str element;
        const char *why = typed_item_element(c->a, t, value_at(v, i), &element);

        if (why) {
            fault(c, "element %zu: %s", i, why);
            continue;
        }
        if (map_put(&seen, element, c) && !c->duplicates) {
            CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

            fieldset_element_text(element, &b);
            fault(c, "duplicate entries for key %s", buf_z(&b));
            return;
        }
        fieldset_element_text(element, &c->path);
        check_value(c, api_ref_items(t), value_at(v, i));
        buf_truncate(&c->path, n);
    }
}

static void check_list(struct check *c, struct api_ref t, struct value v)
{
    const size_t n = c->path.n;

    if (!value_is_list(v)) {
        fault_kind(c, "list", v);
        return;
    }
    if (api_ref_type(t)->list != API_LIST_ATOMIC) {
        check_items(c, t, v);
        return;
    }
    for (size_t i = 0; i < value_len(v); i++) {
        buf_addf(&c->path, "[%zu]", i);
        check_value(c, api_ref_items(t), value_at(v, i));
        buf_truncate(&c->path, n);
    }
}

static void check_map(struct check *c, struct api_ref t, struct value v)
{
    const size_t n = c->path.n;

    if (!value_is_map(v)) {
        fault_kind(c, "map", v);
        return;
    }
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        bool known;
        const struct api_ref member = api_ref_member(t, it.key, &known);

        buf_addf(&c->path, "." STR_FMT, STR_ARG(it.key));
        if (!known && !(api_ref_type(t)->flags & API_TYPE_PRESERVE)) {
            fault(c, "field not declared in schema");
            buf_truncate(&c->path, n);
            return;
        }
        check_value(c, member, it.v);
        buf_truncate(&c->path, n);
    }
}

static void check_value(struct check *c, struct api_ref t, struct value v)
{
    if (value_is_null(v))
        return;
    if (++c->depth > API_PATCH_DEPTH_MAX) {
        fault(c, "exceeded max depth");
        return;
    }
    switch (api_ref_kind(t)) {
    case API_TYPE_ANY:
    case API_TYPE_FIELDS:
    case API_TYPE_RAW:
    case API_TYPE_JSON:
    case API_TYPE_SCHEMA_OR_BOOL:
    case API_TYPE_SCHEMA_OR_ARRAY:
    case API_TYPE_SCHEMA_OR_STRINGS:
        break;
    case API_TYPE_LIST:
        check_list(c, t, v);
        break;
    case API_TYPE_MAP:
    case API_TYPE_STRUCT:
        check_map(c, t, v);
        break;
    default:
        check_scalar(c, t, v);
        break;
    }
    c->depth--;
}

int typed_check(struct arena *a, struct api_ref type, struct value v, bool duplicates, struct err **err)
{
    struct check c = { .a = a, .duplicates = duplicates, .path = BUF_INIT(MIB), .faults = BUF_INIT(MIB) };
    int r = 0;

    check_value(&c, type, v);
    if (c.faults.n > 0)
        r = err_set(err, ERRC_INVALID, "%s", buf_z(&c.faults));
    buf_done(&c.path);
    buf_done(&c.faults);
    return r;
}
