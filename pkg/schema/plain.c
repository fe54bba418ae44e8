/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas that are valid by their looks. Compiling a metaschema and walking a schema with it costs more than all the rest of
 * a chart's validation, so the common keywords are checked here by hand, in the meaning that all drafts from 4 on share.
 * Whatever is rare, differs between drafts or is wrong makes the answer "no": then the metaschema decides. */
#include "schema/plain.h"

#define ENUM_MAX 256 /* compared pair by pair */

/* Keywords that do not start with '$' and are not known mean nothing to any draft. */
static enum plain_shape shape_of(struct str name)
{
    const struct plain_keyword *k = schema_plain_keyword(name);

    if (k)
        return k->shape;
    return str_has_prefix(name, STR("$")) ? UNSURE : ANYTHING;
}

static bool is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_FLOAT;
}

static bool is_type(struct value v)
{
    static const struct str types[] = {
        { "array", 5 },  { "boolean", 7 }, { "integer", 7 }, { "null", 4 },
        { "number", 6 }, { "object", 6 },  { "string", 6 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (value_is_string(v) && str_eq(value_str(v), types[i]))
            return true;
    return false;
}

/* At least one item, no two alike. */
static bool is_set(struct value list)
{
    if (!value_is_list(list) || list.n == 0 || list.n > ENUM_MAX)
        return false;
    for (uint32_t i = 0; i < list.n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (value_equal(list.list[i], list.list[k]) ||
                (is_number(list.list[i]) && is_number(list.list[k])))
                return false;
    return true;
}

static bool is_set_of(struct value list, bool (*is)(struct value))
{
    if (!is_set(list))
        return false;
    for (uint32_t i = 0; i < list.n; i++)
        if (!is(list.list[i]))
            return false;
    return true;
}

/* Characters that every kind of reference may have as they are. */
static bool is_reference(struct value v)
{
    struct str s = value_str(v);

    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !ascii_is_one_of(s.p[i], "/_.-$") && !(s.p[i] == '#' && i == 0))
            return false;
    return s.n > 0;
}

static bool is_pattern(struct value v)
{
    CLEANUP(buf_done) struct buf why = BUF_INIT(64 * KIB);

    return value_is_string(v) && schema_format_check(schema_format_find(STR("regex")), value_str(v), &why);
}

static bool are_plain(struct value v, enum value_kind kind, int draft, int depth)
{
    if (v.kind != kind || (kind == VALUE_LIST && v.n == 0))
        return false;
    for (struct value_iter it = value_iter(v); value_next(&it);)
        if (!schema_is_plain(it.v, draft, depth))
            return false;
    return true;
}

static bool fits(struct value v, enum plain_shape shape, int draft, int depth)
{
    switch (shape) {
    case ANYTHING:
        return true;
    case TEXT:
        return value_is_string(v);
    case BOOLEAN:
        return v.kind == VALUE_BOOL;
    case NUMBER:
        return is_number(v);
    case NUMBER_FROM_6:
        return draft >= 6 && is_number(v);
    case COUNT:
        return v.kind == VALUE_INT && v.i >= 0;
    case LIST_FROM_6:
        return draft >= 6 && value_is_list(v);
    case PATTERN:
        return is_pattern(v);
    case REFERENCE:
        return is_reference(v);
    case DRAFT:
        return depth == 0 && value_is_string(v) && schema_draft_of(value_str(v)) == draft;
    case TYPES:
        return is_type(v) || is_set_of(v, is_type);
    case NAMES:
        return is_set_of(v, value_is_string);
    case ENUM:
        return is_set(v);
    case SCHEMA:
        return schema_is_plain(v, draft, depth + 1);
    case SCHEMA_OR_BOOLEAN:
        return v.kind == VALUE_BOOL || schema_is_plain(v, draft, depth + 1);
    case SCHEMA_LIST:
        return are_plain(v, VALUE_LIST, draft, depth + 1);
    case SCHEMA_MAP:
        return are_plain(v, VALUE_MAP, draft, depth + 1);
    case UNSURE:
        break;
    }
    return false;
}

bool schema_is_plain(struct value v, int draft, int depth)
{
    if (!value_is_map(v) || depth > SCHEMA_DEPTH_MAX)
        return false;
    for (struct value_iter it = value_iter(v); value_next(&it);)
        if (!fits(it.v, shape_of(it.key), draft, depth))
            return false;
    return true;
}
