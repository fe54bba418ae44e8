/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas that are valid by their looks. Compiling a metaschema and walking a schema with it costs more than all the rest of
 * a chart's validation, so the common keywords are checked here by hand, in the meaning that all drafts from 4 on share.
 * Whatever is rare, differs between drafts or is wrong makes the answer "no": then the metaschema decides. */
#include "schema/schema_int.h"

#define ENUM_MAX 256 /* compared pair by pair */

enum shape {
    ANYTHING,
    TEXT,
    BOOLEAN,
    NUMBER,
    NUMBER_FROM_6, /* a boolean in draft 4 */
    COUNT,
    LIST_FROM_6,
    PATTERN,
    REFERENCE,
    DRAFT,
    TYPES,
    NAMES,
    ENUM,
    SCHEMA,
    SCHEMA_OR_BOOLEAN,
    SCHEMA_LIST,
    SCHEMA_MAP,
    UNSURE,
};

/* Sorted by name. Others that do not start with '$' mean nothing to any draft. */
static const struct {
    struct str name;
    enum shape shape;
} keywords[] = {
    { { "$comment", 8 }, TEXT },
    { { "$defs", 5 }, SCHEMA_MAP },
    { { "$ref", 4 }, REFERENCE },
    { { "$schema", 7 }, DRAFT },
    { { "additionalItems", 15 }, SCHEMA_OR_BOOLEAN },
    { { "additionalProperties", 20 }, SCHEMA_OR_BOOLEAN },
    { { "allOf", 5 }, SCHEMA_LIST },
    { { "anyOf", 5 }, SCHEMA_LIST },
    { { "const", 5 }, ANYTHING },
    { { "contains", 8 }, SCHEMA },
    { { "contentEncoding", 15 }, UNSURE },
    { { "contentMediaType", 16 }, UNSURE },
    { { "contentSchema", 13 }, UNSURE },
    { { "default", 7 }, ANYTHING },
    { { "definitions", 11 }, SCHEMA_MAP },
    { { "dependencies", 12 }, UNSURE },
    { { "dependentRequired", 17 }, UNSURE },
    { { "dependentSchemas", 16 }, UNSURE },
    { { "deprecated", 10 }, BOOLEAN },
    { { "description", 11 }, TEXT },
    { { "else", 4 }, SCHEMA },
    { { "enum", 4 }, ENUM },
    { { "examples", 8 }, LIST_FROM_6 },
    { { "exclusiveMaximum", 16 }, NUMBER_FROM_6 },
    { { "exclusiveMinimum", 16 }, NUMBER_FROM_6 },
    { { "format", 6 }, TEXT },
    { { "id", 2 }, UNSURE },
    { { "if", 2 }, SCHEMA },
    { { "items", 5 }, SCHEMA },
    { { "maxContains", 11 }, UNSURE },
    { { "maxItems", 8 }, COUNT },
    { { "maxLength", 9 }, COUNT },
    { { "maxProperties", 13 }, COUNT },
    { { "maximum", 7 }, NUMBER },
    { { "minContains", 11 }, UNSURE },
    { { "minItems", 8 }, COUNT },
    { { "minLength", 9 }, COUNT },
    { { "minProperties", 13 }, COUNT },
    { { "minimum", 7 }, NUMBER },
    { { "multipleOf", 10 }, UNSURE },
    { { "not", 3 }, SCHEMA },
    { { "oneOf", 5 }, SCHEMA_LIST },
    { { "pattern", 7 }, PATTERN },
    { { "patternProperties", 17 }, UNSURE },
    { { "prefixItems", 11 }, UNSURE },
    { { "properties", 10 }, SCHEMA_MAP },
    { { "propertyNames", 13 }, SCHEMA },
    { { "readOnly", 8 }, BOOLEAN },
    { { "required", 8 }, NAMES },
    { { "then", 4 }, SCHEMA },
    { { "title", 5 }, TEXT },
    { { "type", 4 }, TYPES },
    { { "unevaluatedItems", 16 }, UNSURE },
    { { "unevaluatedProperties", 21 }, UNSURE },
    { { "uniqueItems", 11 }, BOOLEAN },
    { { "writeOnly", 9 }, BOOLEAN },
};

static enum shape shape_of(struct str name)
{
    size_t lo = 0, hi = ARRAY_SIZE(keywords);

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int order = str_cmp(keywords[mid].name, name);

        if (order == 0)
            return keywords[mid].shape;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return str_has_prefix(name, STR("$")) ? UNSURE : ANYTHING;
}

static bool is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_FLOAT;
}

static bool is_type(struct value v)
{
    static const char *const types[] = {
        "array", "boolean", "integer", "null", "number", "object", "string"
    };

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (value_is_string(v) && str_eq(value_str(v), str_from(types[i])))
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
        if (!ascii_is_alnum(s.p[i]) && !(s.p[i] && strchr("/_.-$", s.p[i])) && !(s.p[i] == '#' && i == 0))
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

static bool fits(struct value v, enum shape shape, int draft, int depth)
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
