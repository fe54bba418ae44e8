/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are valid at first sight. Compiling a schema costs many times what asking it once does, and most charts are
 * rendered once with values that their schema allows. So a plain schema (plain.c) is asked as it stands, in the meaning
 * of validate.c and keywords.c. Whatever is rare ends it: then the compiled schema decides, and finds the words. */
#include "schema/plain.h"
#include "schema/validate.h"

#include "base/utf8.h"
#include "json/json.h"

#define SURELY_MEMORY_MAX (16 * MIB)
#define SURELY_STEPS_MAX 1000000
#define SURELY_DEPTH_MAX 100 /* of schemas in schemas, references included: so a cycle ends here */
#define SURELY_UNIQUE_MAX 16 /* items compared pair by pair */

struct surely {
    struct value root;
    int draft;
    size_t steps;
    bool unsure; /* then no answer counts */
};

static bool is_valid(struct surely *q, struct value schema, struct value v, int depth);

static bool unsure(struct surely *q)
{
    q->unsure = true;
    return false;
}

/* "#", "#/definitions/x" and "#/$defs/x" of the root; null: anything else. */
static struct value resolve(struct value root, struct value ref)
{
    static const struct str places[] = { { "definitions", 11 }, { "$defs", 5 } };
    struct str rest = value_str(ref), place;

    if (str_eq(rest, STR("#")))
        return root;
    if (!str_has_prefix(rest, STR("#/")))
        return VALUE_NONE;
    rest = str_sub(rest, 2, rest.n);
    str_split(&rest, '/', &place);
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (str_eq(place, places[i]) && str_find_char(rest, '/') == STR_NPOS)
            return value_get(value_get(root, place), rest);
    return VALUE_NONE;
}

/* Does each reference lead somewhere? Compiling a schema follows those that no value comes to, too. */
static bool references_hold(struct value root, struct value v)
{
    struct value ref = value_is_map(v) ? value_getz(v, "$ref") : VALUE_NONE;

    if (value_is_string(ref) && !value_is_map(resolve(root, ref)))
        return false;
    for (struct value_iter it = value_iter(v); value_next(&it);)
        if (!references_hold(root, it.v))
            return false;
    return true;
}

/* ---- keywords: does v fit `want`, which is what `schema` says? ---- */

struct plain_asked {
    struct surely *q;
    struct value schema, want, v;
    int depth;
};

static bool is_valid_below(const struct plain_asked *a, struct value schema, struct value v)
{
    return is_valid(a->q, schema, v, a->depth + 1);
}

static bool is_rare(const struct plain_asked *a)
{
    return unsure(a->q);
}

static bool is_of_type(struct value type, struct value v)
{
    static const struct {
        struct str name;
        unsigned type;
    } names[] = {
        { { "null", 4 }, TYPE_NULL },     { { "boolean", 7 }, TYPE_BOOLEAN },
        { { "number", 6 }, TYPE_NUMBER }, { { "integer", 7 }, TYPE_INTEGER },
        { { "string", 6 }, TYPE_STRING }, { { "array", 5 }, TYPE_ARRAY },
        { { "object", 6 }, TYPE_OBJECT },
    };
    unsigned is = schema_type_of(v);

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (!str_eq(value_str(type), names[i].name))
            continue;
        if (names[i].type == TYPE_INTEGER && is == TYPE_NUMBER) {
            struct decimal d = schema_decimal_from(v);

            return schema_decimal_is_integer(&d);
        }
        return is == names[i].type;
    }
    return false;
}

static bool fits_type(const struct plain_asked *a)
{
    if (a->want.kind != VALUE_LIST)
        return is_of_type(a->want, a->v);
    for (uint32_t i = 0; i < a->want.n; i++)
        if (is_of_type(a->want.list[i], a->v))
            return true;
    return false;
}

static bool fits_enumeration(const struct plain_asked *a)
{
    for (uint32_t i = 0; i < a->want.n; i++)
        if (schema_equal(a->v, a->want.list[i]))
            return true;
    return false;
}

static bool fits_constant(const struct plain_asked *a)
{
    return a->q->draft < 6 || schema_equal(a->v, a->want);
}

static size_t count_of(struct value v)
{
    return v.kind == VALUE_STRING ? utf8_count(value_str(v)) : value_len(v);
}

static bool fits_least(const struct plain_asked *a)
{
    return count_of(a->v) >= (uint64_t)a->want.i;
}

static bool fits_most(const struct plain_asked *a)
{
    return count_of(a->v) <= (uint64_t)a->want.i;
}

static bool fits_required(const struct plain_asked *a)
{
    for (uint32_t i = 0; i < a->want.n; i++)
        if (!value_has(a->v, value_str(a->want.list[i])))
            return false;
    return true;
}

static bool fits_properties(const struct plain_asked *a)
{
    for (struct value_iter it = value_iter(a->v); value_next(&it);) {
        const struct value_entry *own = value_find(a->want, it.key);

        if (own && !is_valid_below(a, own->v, it.v))
            return false;
    }
    return true;
}

static bool fits_additional(const struct plain_asked *a)
{
    struct value properties = value_getz(a->schema, "properties");

    if (a->want.kind == VALUE_BOOL && a->want.b)
        return true;
    for (struct value_iter it = value_iter(a->v); value_next(&it);) {
        if (value_is_map(properties) && value_has(properties, it.key))
            continue;
        if (a->want.kind == VALUE_BOOL || !is_valid_below(a, a->want, it.v))
            return false;
    }
    return true;
}

static bool fits_items(const struct plain_asked *a)
{
    for (uint32_t i = 0; i < a->v.n; i++)
        if (!is_valid_below(a, a->want, a->v.list[i]))
            return false;
    return true;
}

static bool fits_unique(const struct plain_asked *a)
{
    if (!a->want.b)
        return true;
    if (a->v.n > SURELY_UNIQUE_MAX)
        return unsure(a->q);
    for (uint32_t i = 0; i < a->v.n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (schema_equal(a->v.list[i], a->v.list[k]))
                return false;
    return true;
}

static bool fits_pattern(const struct plain_asked *a)
{
    CLEANUP(regex_unref) struct regex *regex = NULL;

    if (regex_compile(value_str(a->want), &regex, NULL) < 0)
        return unsure(a->q);
    return regex_match(regex, value_str(a->v));
}

static bool fits_format(const struct plain_asked *a)
{
    const struct format *format = a->q->draft < 2019 ? schema_format_find(value_str(a->want)) : NULL;
    CLEANUP(buf_done) struct buf why = BUF_INIT(64 * KIB);

    return !format || schema_format_check(format, value_str(a->v), &why);
}

static int compare(const struct plain_asked *a)
{
    struct decimal v = schema_decimal_from(a->v), bound = schema_decimal_from(a->want);

    return schema_decimal_cmp(&v, &bound);
}

static bool fits_minimum(const struct plain_asked *a)
{
    return compare(a) >= 0;
}

static bool fits_maximum(const struct plain_asked *a)
{
    return compare(a) <= 0;
}

static bool fits_exclusive_minimum(const struct plain_asked *a)
{
    return compare(a) > 0;
}

static bool fits_exclusive_maximum(const struct plain_asked *a)
{
    return compare(a) < 0;
}

/* How many of the list allow v, counted up to `enough`. */
static size_t count_valid(const struct plain_asked *a, size_t enough)
{
    size_t n = 0;

    for (uint32_t i = 0; i < a->want.n && n < enough; i++)
        n += is_valid_below(a, a->want.list[i], a->v);
    return n;
}

static bool fits_all(const struct plain_asked *a)
{
    return count_valid(a, SIZE_MAX) == a->want.n;
}

static bool fits_any(const struct plain_asked *a)
{
    return count_valid(a, 1) == 1;
}

static bool fits_one(const struct plain_asked *a)
{
    return count_valid(a, 2) == 1;
}

static bool fits_not(const struct plain_asked *a)
{
    return !is_valid_below(a, a->want, a->v);
}

static bool fits_if(const struct plain_asked *a)
{
    struct value then;

    if (a->q->draft < 7)
        return true;
    then = is_valid_below(a, a->want, a->v) ? value_getz(a->schema, "then") : value_getz(a->schema, "else");
    return !value_is_map(then) || is_valid_below(a, then, a->v);
}

#define TYPE_ANY (~0U)

/* Sorted by name. */
static const struct plain_keyword keywords[] = {
    { { "$comment", 8 }, TEXT, 0, NULL },
    { { "$defs", 5 }, SCHEMA_MAP, 0, NULL },
    { { "$ref", 4 }, REFERENCE, 0, NULL },
    { { "$schema", 7 }, DRAFT, 0, NULL },
    { { "additionalItems", 15 }, SCHEMA_OR_BOOLEAN, 0, NULL },
    { { "additionalProperties", 20 }, SCHEMA_OR_BOOLEAN, TYPE_OBJECT, fits_additional },
    { { "allOf", 5 }, SCHEMA_LIST, TYPE_ANY, fits_all },
    { { "anyOf", 5 }, SCHEMA_LIST, TYPE_ANY, fits_any },
    { { "const", 5 }, ANYTHING, TYPE_ANY, fits_constant },
    { { "contains", 8 }, SCHEMA, TYPE_ARRAY, is_rare },
    { { "contentEncoding", 15 }, UNSURE, 0, NULL },
    { { "contentMediaType", 16 }, UNSURE, 0, NULL },
    { { "contentSchema", 13 }, UNSURE, 0, NULL },
    { { "default", 7 }, ANYTHING, 0, NULL },
    { { "definitions", 11 }, SCHEMA_MAP, 0, NULL },
    { { "dependencies", 12 }, UNSURE, 0, NULL },
    { { "dependentRequired", 17 }, UNSURE, 0, NULL },
    { { "dependentSchemas", 16 }, UNSURE, 0, NULL },
    { { "deprecated", 10 }, BOOLEAN, 0, NULL },
    { { "description", 11 }, TEXT, 0, NULL },
    { { "else", 4 }, SCHEMA, 0, NULL },
    { { "enum", 4 }, ENUM, TYPE_ANY, fits_enumeration },
    { { "examples", 8 }, LIST_FROM_6, 0, NULL },
    { { "exclusiveMaximum", 16 }, NUMBER_FROM_6, TYPE_NUMBER, fits_exclusive_maximum },
    { { "exclusiveMinimum", 16 }, NUMBER_FROM_6, TYPE_NUMBER, fits_exclusive_minimum },
    { { "format", 6 }, TEXT, TYPE_STRING, fits_format },
    { { "id", 2 }, UNSURE, 0, NULL },
    { { "if", 2 }, SCHEMA, TYPE_ANY, fits_if },
    { { "items", 5 }, SCHEMA, TYPE_ARRAY, fits_items },
    { { "maxContains", 11 }, UNSURE, 0, NULL },
    { { "maxItems", 8 }, COUNT, TYPE_ARRAY, fits_most },
    { { "maxLength", 9 }, COUNT, TYPE_STRING, fits_most },
    { { "maxProperties", 13 }, COUNT, TYPE_OBJECT, fits_most },
    { { "maximum", 7 }, NUMBER, TYPE_NUMBER, fits_maximum },
    { { "minContains", 11 }, UNSURE, 0, NULL },
    { { "minItems", 8 }, COUNT, TYPE_ARRAY, fits_least },
    { { "minLength", 9 }, COUNT, TYPE_STRING, fits_least },
    { { "minProperties", 13 }, COUNT, TYPE_OBJECT, fits_least },
    { { "minimum", 7 }, NUMBER, TYPE_NUMBER, fits_minimum },
    { { "multipleOf", 10 }, UNSURE, 0, NULL },
    { { "not", 3 }, SCHEMA, TYPE_ANY, fits_not },
    { { "oneOf", 5 }, SCHEMA_LIST, TYPE_ANY, fits_one },
    { { "pattern", 7 }, PATTERN, TYPE_STRING, fits_pattern },
    { { "patternProperties", 17 }, UNSURE, 0, NULL },
    { { "prefixItems", 11 }, UNSURE, 0, NULL },
    { { "properties", 10 }, SCHEMA_MAP, TYPE_OBJECT, fits_properties },
    { { "propertyNames", 13 }, SCHEMA, TYPE_OBJECT, is_rare },
    { { "readOnly", 8 }, BOOLEAN, 0, NULL },
    { { "required", 8 }, NAMES, TYPE_OBJECT, fits_required },
    { { "then", 4 }, SCHEMA, 0, NULL },
    { { "title", 5 }, TEXT, 0, NULL },
    { { "type", 4 }, TYPES, TYPE_ANY, fits_type },
    { { "unevaluatedItems", 16 }, UNSURE, 0, NULL },
    { { "unevaluatedProperties", 21 }, UNSURE, 0, NULL },
    { { "uniqueItems", 11 }, BOOLEAN, TYPE_ARRAY, fits_unique },
    { { "writeOnly", 9 }, BOOLEAN, 0, NULL },
};

const struct plain_keyword *schema_plain_keyword(struct str name)
{
    size_t lo = 0, hi = ARRAY_SIZE(keywords);

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int order = str_cmp(keywords[mid].name, name);

        if (order == 0)
            return &keywords[mid];
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static bool is_valid(struct surely *q, struct value schema, struct value v, int depth)
{
    struct value ref = value_getz(schema, "$ref");
    unsigned type = schema_type_of(v);

    if (q->unsure || ++q->steps > SURELY_STEPS_MAX || depth > SURELY_DEPTH_MAX || type == 0)
        return unsure(q);
    if (value_is_string(ref)) {
        bool valid = is_valid(q, resolve(q->root, ref), v, depth + 1);

        if (!valid || q->draft < 2019) /* nothing beside a reference counted then */
            return valid;
    }
    for (struct value_iter it = value_iter(schema); value_next(&it);) {
        const struct plain_keyword *k = schema_plain_keyword(it.key);
        struct plain_asked a = { q, schema, it.v, v, depth };

        if (k && (k->types & type) && !k->fits(&a))
            return false;
    }
    return true;
}

bool schema_is_surely_valid(struct str text, struct value instance)
{
    static const struct json_options options = { .borrow = true, .depth_max = SURELY_DEPTH_MAX };
    CLEANUP(arena_free) struct arena *a = arena_new(SURELY_MEMORY_MAX);
    struct surely q = { .draft = 2020 };
    struct value draft;

    if (json_parse(a, text, &options, &q.root, NULL) < 0 || arena_failed(a) || !value_is_map(q.root))
        return false;
    draft = value_getz(q.root, "$schema");
    if (value_is_string(draft))
        q.draft = schema_draft_of(value_str(draft));
    return q.draft > 0 && schema_is_plain(q.root, q.draft, 0) && references_hold(q.root, q.root) &&
           is_valid(&q, q.root, instance, 0) && !q.unsure;
}
