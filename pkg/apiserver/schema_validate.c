/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "apiserver/schema_int.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/number.h"
#include "base/utf8.h"
#include "regex/regex.h"
#include "json/json.h"

/* kube-openapi's validation with apiextensions-apiserver's mapping to field errors. */

struct check {
    struct arena *a;
    struct api_causes *causes;
    int depth;
};

static void check_node(struct check *c, struct value node, struct value v, const struct value *old,
                       struct str path);

static bool is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_FLOAT;
}

static double as_double(struct value v)
{
    return v.kind == VALUE_FLOAT ? v.f : v.kind == VALUE_UINT ? (double)v.u : (double)v.i;
}

static bool is_integer(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || (v.kind == VALUE_FLOAT && v.f == trunc(v.f));
}

static const char *type_of(struct value v)
{
    static const char *const names[] = { "null",   "boolean", "integer", "integer", "number",
                                         "string", "string",  "array",   "object",  "object" };

    return is_integer(v) ? "integer" : names[v.kind];
}

/* "<path> in body <what>" */
static void add_invalid(struct check *c, struct str path, struct value bad, const char *what)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    buf_addf(&b, STR_FMT " in body %s", STR_ARG(path), what);
    api_cause_invalid(c->causes, path.p, bad, buf_z(&b));
}

static void add_type_fault(struct check *c, struct str path, struct value v, const char *want)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
    const struct value got = value_from_str(str_from(type_of(v)));

    buf_addf(&b, STR_FMT " in body must be of type %s: \"%s\"", STR_ARG(path), want, type_of(v));
    api_cause_type_invalid(c->causes, path.p, got, buf_z(&b));
}

static struct str member_path(struct check *c, struct str path, struct str name)
{
    return arena_printf(c->a, STR_FMT "%s" STR_FMT, STR_ARG(path), path.n ? "." : "", STR_ARG(name));
}

static struct str item_path(struct check *c, struct str path, size_t i)
{
    return arena_printf(c->a, STR_FMT "[%zu]", STR_ARG(path), i);
}

/* ---- scalars ---- */

static bool check_type(struct check *c, struct value node, struct value v, struct str path)
{
    const struct str type = value_str(value_getz(node, "type"));
    CLEANUP(buf_done) struct buf want = BUF_INIT(KIB);

    if (value_is_null(v) && schema_flag(node, "nullable"))
        return true;
    if (schema_flag(node, SCHEMA_INT_OR_STRING)) {
        if (!is_integer(v) && !value_is_string(v))
            add_type_fault(c, path, v, "integer,string");
        return is_integer(v) || value_is_string(v);
    }
    if (type.n == 0 || str_eq(type, str_from(type_of(v))) || (str_eq(type, STR("number")) && is_number(v)))
        return true;
    buf_addstr(&want, type);
    add_type_fault(c, path, v, buf_z(&want));
    return false;
}

/* Printed as Go's %v does a float64. */
static void add_bound(struct check *c, struct str path, struct value v, const char *what, struct value bound)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    buf_addf(&b, "%s ", what);
    number_format_float(as_double(bound), 'g', -1, 64, &b);
    add_invalid(c, path, v, buf_z(&b));
}

static void check_number(struct check *c, struct value node, struct value v, struct str path)
{
    const struct value low = value_getz(node, "minimum"), high = value_getz(node, "maximum");
    const struct value factor = value_getz(node, "multipleOf");
    const bool open_low = schema_flag(node, "exclusiveMinimum"),
               open_high = schema_flag(node, "exclusiveMaximum");
    const double d = as_double(v);

    if (is_number(factor) && as_double(factor) > 0 && fmod(d, as_double(factor)) != 0)
        add_bound(c, path, v, "should be a multiple of", factor);
    if (is_number(high) && (open_high ? d >= as_double(high) : d > as_double(high)))
        add_bound(c, path, v, open_high ? "should be less than" : "should be less than or equal to", high);
    if (is_number(low) && (open_low ? d <= as_double(low) : d < as_double(low)))
        add_bound(c, path, v, open_low ? "should be greater than" : "should be greater than or equal to",
                  low);
}

static void check_pattern(struct check *c, struct value node, struct value v, struct str path)
{
    CLEANUP(regex_unref) struct regex *re = NULL;
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
    const struct str pattern = value_str(value_getz(node, "pattern"));

    if (pattern.n == 0 || (regex_compile(pattern, &re, NULL) >= 0 && regex_match(re, value_str(v))))
        return;
    buf_addf(&b, "should match '" STR_FMT "'", STR_ARG(pattern));
    add_invalid(c, path, v, buf_z(&b));
}

static void check_string(struct check *c, struct value node, struct value v, struct str path)
{
    const int64_t high = value_int(value_getz(node, "maxLength"), -1),
                  low = value_int(value_getz(node, "minLength"), -1);
    const struct str format = value_str(value_getz(node, "format"));
    const int64_t n = (int64_t)utf8_count(value_str(v));
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    /* kube-openapi's string validator stops at its first fault */
    if (high >= 0 && n > high) {
        api_cause_too_long(c->causes, path.p, (size_t)high);
    } else if (low >= 0 && n < low) {
        buf_addf(&b, "should be at least %lld chars long", (long long)low);
        add_invalid(c, path, v, buf_z(&b));
    } else {
        check_pattern(c, node, v, path);
    }
    if (format.n > 0 && !schema_flag(node, SCHEMA_INT_OR_STRING) && !schema_format_ok(format, value_str(v))) {
        buf_clear(&b);
        buf_addf(&b, "must be of type " STR_FMT ": ", STR_ARG(format));
        utf8_quote(value_str(v), &b);
        add_invalid(c, path, v, buf_z(&b));
    }
}

static bool equal_numbers(struct value a, struct value b)
{
    return is_number(a) && is_number(b) && as_double(a) == as_double(b);
}

static void check_enum(struct check *c, struct value node, struct value v, struct str path)
{
    const struct value all = value_getz(node, "enum");
    const char **names = ARENA_ARRAY(c->a, const char *, value_len(all) + 1);

    if (!value_is_list(all) || all.n == 0)
        return;
    for (size_t i = 0; i < all.n; i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
        const struct value one = value_at(all, i);

        if (value_equal(one, v) || equal_numbers(one, v))
            return;
        if (value_is_string(one))
            buf_addstr(&b, value_str(one));
        else
            IGNORE_ERROR(json_print(one, JSON_ESCAPE_HTML, &b, NULL));
        names[i] = arena_dupz(c->a, buf_str(&b));
    }
    api_cause_not_supported(c->causes, path.p, v, names, all.n);
}

/* ---- containers ---- */

static void check_count(struct check *c, struct value node, int64_t n, const char *min, const char *max,
                        const char *what, struct str path)
{
    const int64_t least = value_int(value_get(node, str_from(min)), -1);
    const int64_t most = value_int(value_get(node, str_from(max)), -1);
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    if (least >= 0 && n < least) {
        buf_addf(&b, "should have at least %lld %s", (long long)least, what);
        add_invalid(c, path, value_from_int(n), buf_z(&b));
    }
    if (most >= 0 && n > most)
        api_cause_too_many(c->causes, path.p, n, most);
}

static void check_required(struct check *c, struct value node, struct value v, struct str path)
{
    const struct value required = value_getz(node, "required");

    for (size_t i = 0; i < value_len(required); i++) {
        const struct str name = value_str(value_at(required, i));

        if (!value_has(v, name))
            api_cause_required(c->causes, member_path(c, path, name).p, "");
    }
}

static void check_object(struct check *c, struct value node, struct value v, const struct value *old,
                         struct str path)
{
    check_count(c, node, (int64_t)value_len(v), "minProperties", "maxProperties", "properties", path);
    check_required(c, node, v, path);
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        const struct value_entry *before = old ? value_find(*old, it.key) : NULL;
        bool known;
        const struct value sub = schema_member(node, it.key, &known);

        if (value_is_map(sub))
            check_node(c, sub, it.v, before ? &before->v : NULL, member_path(c, path, it.key));
    }
}

static struct value key_of(struct check *c, struct value keys, struct value item)
{
    struct value m = value_new_map_sized(c->a, value_len(keys));

    for (size_t i = 0; i < value_len(keys); i++) {
        const struct str name = value_str(value_at(keys, i));

        if (value_has(item, name))
            value_set(m, name, value_get(item, name));
    }
    return m;
}

static void check_unique(struct check *c, struct value node, struct value v, struct str path)
{
    const struct str kind = value_str(value_getz(node, SCHEMA_LIST_TYPE));
    const bool map = str_eq(kind, STR("map"));
    CLEANUP(map_done) struct map seen = MAP_INIT;

    if (!map && !str_eq(kind, STR("set")))
        return;
    for (size_t i = 0; i < value_len(v); i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(MIB);
        struct value key = value_at(v, i);

        if (map && !value_is_map(key))
            continue;
        if (map)
            key = key_of(c, value_getz(node, SCHEMA_LIST_KEYS), key);
        IGNORE_ERROR(json_print(key, 0, &b, NULL));
        if (map_put(&seen, buf_str(&b), c))
            api_cause_duplicate(c->causes, item_path(c, path, i).p, key);
    }
}

/* The item that `item` replaces: known only for lists with keys. */
static const struct value *old_item(struct check *c, struct value node, const struct value *old,
                                    struct value item)
{
    const struct value keys = value_getz(node, SCHEMA_LIST_KEYS);

    if (!old || !value_is_list(*old) || value_len(keys) == 0)
        return NULL;
    for (uint32_t i = 0; i < old->n; i++)
        if (value_equal(key_of(c, keys, value_at(*old, i)), key_of(c, keys, item)))
            return &old->list[i];
    return NULL;
}

static void check_list(struct check *c, struct value node, struct value v, const struct value *old,
                       struct str path)
{
    const struct value items = value_getz(node, "items");

    for (size_t i = 0; i < value_len(v) && value_is_map(items); i++)
        check_node(c, items, value_at(v, i), old_item(c, node, old, value_at(v, i)), item_path(c, path, i));
    check_count(c, node, v.n, "minItems", "maxItems", "items", path);
}

/* ---- allOf, anyOf, oneOf, not ---- */

static struct api_causes try_node(struct check *c, struct value node, struct value v, struct str path)
{
    struct api_causes found = API_CAUSES_INIT(c->a);
    struct check sub = { c->a, &found, c->depth };

    check_node(&sub, node, v, NULL, path);
    return found;
}

static void add_composite(struct check *c, struct str path, const char *what)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    buf_adds(&b, "Invalid value: \"\": ");
    utf8_quote(path, &b);
    buf_addf(&b, " %s", what);
    api_cause_add(c->causes, "FieldValueInvalid", STR("<nil>"), buf_str(&b));
}

static void add_all(struct check *c, const struct api_causes *found)
{
    for (size_t i = 0; i < found->n; i++)
        api_cause_add(c->causes, found->items[i].reason, found->items[i].field, found->items[i].message);
}

static void check_any(struct check *c, struct value branches, bool one, struct value v, struct str path)
{
    struct api_causes best = API_CAUSES_INIT(c->a);
    size_t valid = 0;

    if (value_len(branches) == 0)
        return;
    for (size_t i = 0; i < value_len(branches); i++) {
        const struct api_causes found = try_node(c, value_at(branches, i), v, path);

        valid += found.n == 0;
        if (found.n > 0 && (best.n == 0 || found.n < best.n))
            best = found;
    }
    if (valid == 0) {
        add_composite(c, path,
                      one ? "must validate one and only one schema (oneOf). Found none valid"
                          : "must validate at least one schema (anyOf)");
        add_all(c, &best);
    } else if (one && valid > 1) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

        buf_addf(&b, "must validate one and only one schema (oneOf). Found %zu valid alternatives", valid);
        add_composite(c, path, buf_z(&b));
    }
}

static void check_every(struct check *c, struct value branches, struct value v, struct str path)
{
    size_t valid = 0;

    for (size_t i = 0; i < value_len(branches); i++) {
        const struct api_causes found = try_node(c, value_at(branches, i), v, path);

        valid += found.n == 0;
        add_all(c, &found);
    }
    if (valid < value_len(branches))
        add_composite(c, path,
                      valid > 0 ? "must validate all the schemas (allOf)"
                                : "must validate all the schemas (allOf). None validated");
}

static void check_logic(struct check *c, struct value node, struct value v, struct str path)
{
    const struct value not_this = value_getz(node, "not");

    check_any(c, value_getz(node, "anyOf"), false, v, path);
    check_any(c, value_getz(node, "oneOf"), true, v, path);
    check_every(c, value_getz(node, "allOf"), v, path);
    if (value_is_map(not_this) && try_node(c, not_this, v, path).n == 0)
        add_composite(c, path, "must not validate the schema (not)");
}

static void check_embedded(struct check *c, struct value node, struct value v, struct str path)
{
    static const char *const names[] = { "apiVersion", "kind" };

    if (!schema_flag(node, SCHEMA_EMBEDDED) || !value_is_map(v))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (value_str(value_get(v, str_from(names[i]))).n == 0)
            api_cause_required(c->causes, member_path(c, path, str_from(names[i])).p, "");
}

static void check_node(struct check *c, struct value node, struct value v, const struct value *old,
                       struct str path)
{
    if ((old && value_equal(*old, v)) || c->depth > API_SCHEMA_DEPTH_MAX)
        return;
    c->depth++;
    if (check_type(c, node, v, path) && !value_is_null(v)) {
        check_logic(c, node, v, path);
        if (value_is_string(v))
            check_string(c, node, v, path);
        else if (is_number(v))
            check_number(c, node, v, path);
        else if (value_is_list(v))
            check_list(c, node, v, old, path);
        check_enum(c, node, v, path);
        if (value_is_map(v))
            check_object(c, node, v, old, path);
    }
    c->depth--;
}

/* Uniqueness and embedded objects are looked at in a walk of their own, after everything else. */
static void check_extras(struct check *c, struct value node, struct value v, struct str path)
{
    if (!value_is_map(node) || c->depth > API_SCHEMA_DEPTH_MAX)
        return;
    c->depth++;
    check_embedded(c, node, v, path);
    if (value_is_list(v)) {
        check_unique(c, node, v, path);
        for (size_t i = 0; i < v.n; i++)
            check_extras(c, value_getz(node, "items"), value_at(v, i), item_path(c, path, i));
    }
    for (struct value_iter it = value_iter(v); value_is_map(v) && value_next(&it);) {
        bool known;

        check_extras(c, schema_member(node, it.key, &known), it.v, member_path(c, path, it.key));
    }
    c->depth--;
}

void schema_check_value(struct value node, struct value v, const struct value *old, const char *path,
                        struct api_causes *causes)
{
    struct check c = { causes->arena, causes, 0 };

    check_node(&c, node, v, old, str_from(path));
    check_extras(&c, node, v, str_from(path));
}

void api_schema_validate(const struct api_schema *s, struct value obj, struct value old,
                         struct api_causes *causes)
{
    const struct value node = schema_openapi(s);

    if (value_is_map(node))
        schema_check_value(node, obj, value_is_null(old) ? NULL : &old, "", causes);
}
