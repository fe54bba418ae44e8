/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are valid at first sight. Compiling a schema costs many times what asking it once does, and most charts are
 * rendered once with values that their schema allows. So a plain schema (plain.c) is asked as it stands, in the meaning
 * of validate.c and keywords.c. Whatever is rare ends it: then the compiled schema decides, and finds the words. */
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

struct asked {
    struct surely *q;
    struct value schema, want, v;
    int depth;
};

static bool is_valid_below(const struct asked *a, struct value schema, struct value v)
{
    return is_valid(a->q, schema, v, a->depth + 1);
}

static bool is_rare(const struct asked *a)
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

static bool fits_type(const struct asked *a)
{
    if (a->want.kind != VALUE_LIST)
        return is_of_type(a->want, a->v);
    for (uint32_t i = 0; i < a->want.n; i++)
        if (is_of_type(a->want.list[i], a->v))
            return true;
    return false;
}

static bool fits_enumeration(const struct asked *a)
{
    for (uint32_t i = 0; i < a->want.n; i++)
        if (schema_equal(a->v, a->want.list[i]))
            return true;
    return false;
}

static bool fits_constant(const struct asked *a)
{
    return a->q->draft < 6 || schema_equal(a->v, a->want);
}

static size_t count_of(struct value v)
{
    return v.kind == VALUE_STRING ? utf8_count(value_str(v)) : value_len(v);
}

static bool fits_least(const struct asked *a)
{
    return count_of(a->v) >= (uint64_t)a->want.i;
}

static bool fits_most(const struct asked *a)
{
    return count_of(a->v) <= (uint64_t)a->want.i;
}

static bool fits_required(const struct asked *a)
{
    for (uint32_t i = 0; i < a->want.n; i++)
        if (!value_has(a->v, value_str(a->want.list[i])))
            return false;
    return true;
}

static bool fits_properties(const struct asked *a)
{
    for (struct value_iter it = value_iter(a->v); value_next(&it);) {
        const struct value_entry *own = value_find(a->want, it.key);

        if (own && !is_valid_below(a, own->v, it.v))
            return false;
    }
    return true;
}

static bool fits_additional(const struct asked *a)
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

static bool fits_items(const struct asked *a)
{
    for (uint32_t i = 0; i < a->v.n; i++)
        if (!is_valid_below(a, a->want, a->v.list[i]))
            return false;
    return true;
}

static bool fits_unique(const struct asked *a)
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

static bool fits_pattern(const struct asked *a)
{
    CLEANUP(regex_unref) struct regex *regex = NULL;

    if (regex_compile(value_str(a->want), &regex, NULL) < 0)
        return unsure(a->q);
    return regex_match(regex, value_str(a->v));
}

static bool fits_format(const struct asked *a)
{
    const struct format *format = a->q->draft < 2019 ? schema_format_find(value_str(a->want)) : NULL;
    CLEANUP(buf_done) struct buf why = BUF_INIT(64 * KIB);

    return !format || schema_format_check(format, value_str(a->v), &why);
}

static int compare(const struct asked *a)
{
    struct decimal v = schema_decimal_from(a->v), bound = schema_decimal_from(a->want);

    return schema_decimal_cmp(&v, &bound);
}

static bool fits_minimum(const struct asked *a)
{
    return compare(a) >= 0;
}

static bool fits_maximum(const struct asked *a)
{
    return compare(a) <= 0;
}

static bool fits_exclusive_minimum(const struct asked *a)
{
    return compare(a) > 0;
}

static bool fits_exclusive_maximum(const struct asked *a)
{
    return compare(a) < 0;
}

/* How many of the list allow v, counted up to `enough`. */
static size_t count_valid(const struct asked *a, size_t enough)
{
    size_t n = 0;

    for (uint32_t i = 0; i < a->want.n && n < enough; i++)
        n += is_valid_below(a, a->want.list[i], a->v);
    return n;
}

static bool fits_all(const struct asked *a)
{
    return count_valid(a, SIZE_MAX) == a->want.n;
}

static bool fits_any(const struct asked *a)
{
    return count_valid(a, 1) == 1;
}

static bool fits_one(const struct asked *a)
{
    return count_valid(a, 2) == 1;
}

static bool fits_not(const struct asked *a)
{
    return !is_valid_below(a, a->want, a->v);
}

static bool fits_if(const struct asked *a)
{
    struct value then;

    if (a->q->draft < 7)
        return true;
    then = is_valid_below(a, a->want, a->v) ? value_getz(a->schema, "then") : value_getz(a->schema, "else");
    return !value_is_map(then) || is_valid_below(a, then, a->v);
}

#define TYPE_ANY (~0U)

/* Sorted by name. What a plain schema may have besides means nothing here. */
static const struct keyword {
    struct str name;
    unsigned types; /* of v, else it does not count */
    bool (*fits)(const struct asked *a);
} keywords[] = {
    { { "additionalProperties", 20 }, TYPE_OBJECT, fits_additional },
    { { "allOf", 5 }, TYPE_ANY, fits_all },
    { { "anyOf", 5 }, TYPE_ANY, fits_any },
    { { "const", 5 }, TYPE_ANY, fits_constant },
    { { "contains", 8 }, TYPE_ARRAY, is_rare },
    { { "enum", 4 }, TYPE_ANY, fits_enumeration },
    { { "exclusiveMaximum", 16 }, TYPE_NUMBER, fits_exclusive_maximum },
    { { "exclusiveMinimum", 16 }, TYPE_NUMBER, fits_exclusive_minimum },
    { { "format", 6 }, TYPE_STRING, fits_format },
    { { "if", 2 }, TYPE_ANY, fits_if },
    { { "items", 5 }, TYPE_ARRAY, fits_items },
    { { "maxItems", 8 }, TYPE_ARRAY, fits_most },
    { { "maxLength", 9 }, TYPE_STRING, fits_most },
    { { "maxProperties", 13 }, TYPE_OBJECT, fits_most },
    { { "maximum", 7 }, TYPE_NUMBER, fits_maximum },
    { { "minItems", 8 }, TYPE_ARRAY, fits_least },
    { { "minLength", 9 }, TYPE_STRING, fits_least },
    { { "minProperties", 13 }, TYPE_OBJECT, fits_least },
    { { "minimum", 7 }, TYPE_NUMBER, fits_minimum },
    { { "not", 3 }, TYPE_ANY, fits_not },
    { { "oneOf", 5 }, TYPE_ANY, fits_one },
    { { "pattern", 7 }, TYPE_STRING, fits_pattern },
    { { "properties", 10 }, TYPE_OBJECT, fits_properties },
    { { "propertyNames", 13 }, TYPE_OBJECT, is_rare },
    { { "required", 8 }, TYPE_OBJECT, fits_required },
    { { "type", 4 }, TYPE_ANY, fits_type },
    { { "uniqueItems", 11 }, TYPE_ARRAY, fits_unique },
};

static const struct keyword *find_keyword(struct str name)
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
        const struct keyword *k = find_keyword(it.key);
        struct asked a = { q, schema, it.v, v, depth };

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
