/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes to values: go.yaml.in/yaml/v2 decode.go into interface{}, then the conversion to JSON types and the detour through
 * JSON text of sigs.k8s.io/yaml. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/encode.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/number.h"
#include "base/utf8.h"
#include "yaml/node.h"

#define TAG_PREFIX "tag:yaml.org,2002:"
#define WRAP "error converting YAML to JSON: "

struct decoder {
    struct arena *arena;
    bool floats, keep_kinds, strict;
    bool not_finite;                /* a NaN or infinity is somewhere */
    struct buf *duplicates;         /* strict: Go collects them */
    const struct yml_node *bad_key; /* the first key that no JSON key can stand for, and its value */
    const struct yml_node *bad_key_value;
    const void *bad_null_in; /* the map that it is in, when it is null: the last of several counts there */
    int depth;
    size_t count, alias_count, alias_depth;
    struct err **err;
};

static NODISCARD int decode(struct decoder *d, const struct yml_node *n, struct value *ret);

/* ---- scalars ---- */

static struct value number(const struct decoder *d, struct value v)
{
    return d->keep_kinds ? v : yml_number(v, d->floats);
}

static const char *const tag_names[] = { "str", "null", "bool", "int", "float", "timestamp" };

static bool tag_is(struct str tag, enum yml_tag t)
{
    return str_has_prefix(tag, STR(TAG_PREFIX)) &&
           str_eq(str_sub(tag, sizeof(TAG_PREFIX) - 1, tag.n), str_from(tag_names[t]));
}

/* JSON cannot carry other text. */
static struct str valid_text(struct arena *a, struct str s)
{
    struct str to;
    char *p;
    uint32_t rune;

    if (utf8_valid(s))
        return s;
    p = arena_alloc_bytes(a, s.n * 3);
    to = (struct str){ p, 0 };
    while (s.n > 0) {
        size_t width = utf8_decode(s, &rune);

        memcpy(p + to.n, rune == UTF8_INVALID ? "\xef\xbf\xbd" : s.p, rune == UTF8_INVALID ? 3 : width);
        to.n += rune == UTF8_INVALID ? 3 : width;
        s = str_sub(s, width, s.n);
    }
    return to;
}

bool yml_scalar_value(const struct yml_node *n, struct arena *a, struct value *ret, enum yml_tag *ret_found)
{
    struct str tag, text;
    enum yml_tag t;

    if (n->kind == YML_NODE_SCALAR) {
        *ret = n->scalar;
        return true;
    }
    tag = n->tagged->tag;
    text = n->tagged->text;
    *ret = value_from_str(text);
    *ret_found = YML_STR;
    for (t = YML_NULL; t <= YML_TIMESTAMP && !tag_is(tag, t); t++)
        ;
    if (t > YML_TIMESTAMP) { /* a string, or a tag unknown to go-yaml */
        if (str_eq(tag, STR(TAG_PREFIX "binary"))) {
            CLEANUP(buf_done) struct buf b = BUF_INIT(text.n + 4);

            if (!base64_decode(BASE64_STD, text, &b, NULL))
                return false;
            *ret = value_from_str(valid_text(a, arena_dup(a, buf_str(&b))));
        }
        return true;
    }
    *ret_found = yml_resolve_tag(text, t == YML_TIMESTAMP, ret);
    if (t == YML_FLOAT && *ret_found == YML_INT && ret->kind == VALUE_INT) {
        *ret = value_from_float((double)ret->i);
        return true;
    }
    return *ret_found == t;
}

static int fail_tag(struct decoder *d, const struct yml_node *n, enum yml_tag found)
{
    struct str tag = n->tagged->tag;

    if (str_eq(tag, STR(TAG_PREFIX "binary")))
        return err_set(d->err, ERRC_PARSE, WRAP "yaml: !!binary value contains invalid base64 data");
    return err_set(d->err, ERRC_PARSE, WRAP "yaml: cannot decode !!%s `" STR_FMT "` as a !!" STR_FMT,
                   tag_names[found], STR_ARG(n->tagged->text),
                   STR_ARG(str_sub(tag, sizeof(TAG_PREFIX) - 1, tag.n)));
}

static NODISCARD int decode_scalar(struct decoder *d, const struct yml_node *n, struct value *ret)
{
    enum yml_tag found;

    if (!yml_scalar_value(n, d->arena, ret, &found))
        return fail_tag(d, n, found);
    if (ret->kind == VALUE_FLOAT && !isfinite(ret->f))
        d->not_finite = true;
    return 0;
}

/* ---- aliases ---- */

/* go-yaml: below 400,000 nodes 99 % may come out of aliases, from 4,000,000 on 10 %, in between on a line. */
static double allowed_alias_ratio(size_t count)
{
    if (count <= 400000)
        return 0.99;
    if (count >= 4000000)
        return 0.10;
    return 0.99 - 0.89 * ((double)(count - 400000) / 3600000.0);
}

static NODISCARD int count_node(struct decoder *d)
{
    d->count++;
    if (d->alias_depth > 0)
        d->alias_count++;
    if (d->alias_count > 100 && d->count > 1000 &&
        (double)d->alias_count / (double)d->count > allowed_alias_ratio(d->count))
        return err_set(d->err, ERRC_LIMIT, WRAP "yaml: document contains excessive aliasing");
    if (arena_failed(d->arena))
        return err_set(d->err, ERRC_LIMIT, WRAP "yaml: document needs more than the limit of %zu bytes",
                       arena_limit(d->arena));
    return 0;
}

static NODISCARD int check_alias(struct decoder *d, const struct yml_node *n)
{
    if (n->anchor->complete && !n->anchor->decoding)
        return 0;
    return err_set(d->err, ERRC_PARSE, WRAP "yaml: anchor '" STR_FMT "' value contains itself",
                   STR_ARG(n->anchor->name));
}

static NODISCARD int decode_alias(struct decoder *d, const struct yml_node *n, struct value *ret)
{
    int r = check_alias(d, n);

    if (r < 0)
        return r;
    n->anchor->decoding = true;
    d->alias_depth++;
    r = decode(d, &n->anchor->node, ret);
    d->alias_depth--;
    n->anchor->decoding = false;
    return r;
}

/* ---- maps ---- */

bool yml_key_text(struct arena *a, struct value k, struct str *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    switch (k.kind) {
    case VALUE_STRING:
        *ret = value_str(k);
        return true;
    case VALUE_BOOL:
        *ret = k.b ? STR("true") : STR("false");
        return true;
    case VALUE_INT:
        *ret = arena_printf(a, "%lld", (long long)k.i);
        return true;
    case VALUE_FLOAT:
        if (isnan(k.f) || isinf((float)k.f)) {
            *ret = isnan(k.f) ? STR(".nan") : k.f > 0 ? STR(".inf") : STR("-.inf");
        } else {
            number_format_float(k.f, 'g', -1, 32, &b); /* 32 bits: as sigs.k8s.io/yaml */
            *ret = arena_dup(a, buf_str(&b));
        }
        return true;
    default:
        return false;
    }
}

static void add_duplicate(struct decoder *d, const struct yml_node *key, const struct yml_node *value)
{
    buf_addf(d->duplicates, "\n  line %u: key ", value->line);
    yml_print_go(key, d->duplicates);
    buf_adds(d->duplicates, " already set in map");
}

/* The keys of a map so far, to refuse duplicates. Few of them, all strings, are those of the value that is being made. */
enum { KEYS_FEW = 24 };
struct seen {
    struct map typed;
    bool hashed; /* they are in `typed` */
};

static bool has_key(struct value map, struct str key)
{
    for (size_t i = 0; i < value_len(map); i++)
        if (str_eq(value_entry_at(map, i)->key, key))
            return true;
    return false;
}

/* Keys of different types are different to go-yaml even when their text is the same. */
static bool seen_before(struct seen *seen, struct value map, struct value k, struct str text)
{
    char typed[64];
    struct str name = text;

    if (!seen->hashed && k.kind == VALUE_STRING && value_len(map) < KEYS_FEW)
        return has_key(map, text);
    for (size_t i = 0; !seen->hashed && i < value_len(map); i++)
        map_put(&seen->typed, value_entry_at(map, i)->key, NULL);
    seen->hashed = true;
    if (k.kind != VALUE_STRING) {
        int n = snprintf(typed, sizeof(typed), "%c%d " STR_FMT, 0, k.kind, STR_ARG(text));

        name = (struct str){ typed, MIN((size_t)n, sizeof(typed) - 1) };
    }
    if (map_has(&seen->typed, name))
        return true;
    map_put(&seen->typed, name, NULL);
    return false;
}

static int fail_key(struct decoder *d, const struct yml_node *n)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(4 * KIB);

    yml_print_go(n, &b);
    return err_set(d->err, ERRC_PARSE, WRAP "yaml: invalid map key: %s", buf_z(&b));
}

static NODISCARD int decode_entry(struct decoder *d, const struct yml_node *key, const struct yml_node *value,
                                  struct seen *seen, struct value map)
{
    struct value k, v;
    struct str text = STR_NONE;
    int r;

    r = decode(d, key, &k);
    if (r < 0)
        return r;
    if (k.kind == VALUE_MAP || k.kind == VALUE_LIST)
        return fail_key(d, key);
    r = decode(d, value, &v);
    if (r < 0)
        return r;
    if (!yml_key_text(d->arena, k, &text) &&
        (!d->bad_key || (k.kind == VALUE_NULL && d->bad_null_in == map.map))) {
        d->bad_key = key;
        d->bad_key_value = value;
        d->bad_null_in = k.kind == VALUE_NULL ? map.map : NULL;
    }
    if (seen && seen_before(seen, map, k, text))
        add_duplicate(d, key, value);
    else
        value_append(map, text, number(d, v));
    return 0;
}

static NODISCARD int decode_entries(struct decoder *d, const struct yml_node *n, struct seen *seen,
                                    struct value map);

static int fail_merge(struct decoder *d)
{
    return err_set(d->err, ERRC_PARSE, WRAP "yaml: map merge requires map or sequence of maps as the value");
}

/* A map, or an alias of one, at the place where << stands: later keys win. */
static NODISCARD int merge_one(struct decoder *d, const struct yml_node *n, struct seen *seen,
                               struct value map)
{
    int r = count_node(d);

    if (r < 0)
        return r;
    if (n->kind == YML_NODE_MAP)
        return decode_entries(d, n, seen, map);
    if (n->kind != YML_NODE_ALIAS || n->anchor->node.kind != YML_NODE_MAP)
        return fail_merge(d);
    r = check_alias(d, n);
    if (r < 0)
        return r;
    d->alias_depth++;
    r = count_node(d);
    if (r == 0)
        r = decode_entries(d, &n->anchor->node, seen, map);
    d->alias_depth--;
    return r;
}

static NODISCARD int merge(struct decoder *d, const struct yml_node *n, struct seen *seen, struct value map)
{
    int r = 0;

    if (n->kind != YML_NODE_LIST)
        return merge_one(d, n, seen, map);
    for (uint32_t i = n->n; i > 0 && r == 0; i--) /* backwards: earlier maps win */
        r = merge_one(d, &n->items[i - 1], seen, map);
    return r;
}

static NODISCARD int decode_entries(struct decoder *d, const struct yml_node *n, struct seen *seen,
                                    struct value map)
{
    int r = 0;

    if (++d->depth > YAML_DEPTH_MAX)
        r = err_set(d->err, ERRC_LIMIT, WRAP "yaml: line %u: exceeded max depth of %d", n->line,
                    YAML_DEPTH_MAX);
    for (uint32_t i = 0; i < n->n && r == 0; i += 2) {
        if (n->items[i].merge)
            r = merge(d, &n->items[i + 1], seen, map);
        else
            r = decode_entry(d, &n->items[i], &n->items[i + 1], seen, map);
    }
    d->depth--;
    return r;
}

static NODISCARD int decode_map(struct decoder *d, const struct yml_node *n, struct value *ret)
{
    struct seen seen = { .typed = MAP_INIT };
    struct value map = value_new_map_sized(d->arena, n->n / 2);
    int r;

    r = decode_entries(d, n, d->strict ? &seen : NULL, map);
    map_done(&seen.typed);
    if (r < 0)
        return r;
    value_sort(map);
    *ret = map;
    return 0;
}

static NODISCARD int decode_list(struct decoder *d, const struct yml_node *n, struct value *ret)
{
    struct value *items = ARENA_ARRAY(d->arena, struct value, n->n);
    int r = 0;

    if (++d->depth > YAML_DEPTH_MAX)
        r = err_set(d->err, ERRC_LIMIT, WRAP "yaml: line %u: exceeded max depth of %d", n->line,
                    YAML_DEPTH_MAX);
    for (uint32_t i = 0; i < n->n && r == 0; i++) {
        r = decode(d, &n->items[i], &items[i]);
        if (r == 0)
            items[i] = number(d, items[i]);
    }
    d->depth--;
    *ret = value_from_list(items, n->n);
    return r;
}

static NODISCARD int decode(struct decoder *d, const struct yml_node *n, struct value *ret)
{
    int r = count_node(d);

    if (r < 0)
        return r;
    switch ((enum yml_node_kind)n->kind) {
    case YML_NODE_LIST:
        return decode_list(d, n, ret);
    case YML_NODE_MAP:
        return decode_map(d, n, ret);
    case YML_NODE_ALIAS:
        return decode_alias(d, n, ret);
    default:
        return decode_scalar(d, n, ret);
    }
}

/* ---- the detour through JSON ---- */

static int fail_bad_key(struct decoder *d)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(4 * KIB);
    struct yml_node key = *d->bad_key;
    bool null;
    struct value k = VALUE_NONE;
    enum yml_tag found;

    if (key.kind == YML_NODE_ALIAS)
        key = key.anchor->node;
    null = yml_scalar_value(&key, d->arena, &k, &found) && k.kind == VALUE_NULL;
    yml_print_go(&key, &b);
    buf_adds(&b, ", value: ");
    yml_print_go(d->bad_key_value, &b);
    return err_set(d->err, ERRC_PARSE, WRAP "unsupported map key of type: %s, key: %s",
                   null ? "%!s(<nil>)" : "uint64", buf_z(&b));
}

/* The first number, in JSON's order, that JSON cannot say. */
static const struct value *find_not_finite(const struct value *v)
{
    const struct value *found = NULL;

    if (v->kind == VALUE_FLOAT && !isfinite(v->f))
        return v;
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n && !found; i++)
        found = find_not_finite(&v->list[i]);
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->map->n && !found; i++)
        found = find_not_finite(&v->map->e[i].v);
    return found;
}

static int check_finite(struct decoder *d, const struct value *v)
{
    const struct value *found = d->not_finite ? find_not_finite(v) : NULL;

    if (!found)
        return 0;
    return err_set(d->err, ERRC_PARSE, WRAP "json: unsupported value: %s",
                   isnan(found->f) ? "NaN"
                   : found->f > 0  ? "+Inf"
                                   : "-Inf");
}

int yml_decode(struct arena *a, const struct yml_node *root, const struct yml_options *o, struct value *ret,
               struct err **err)
{
    CLEANUP(buf_done) struct buf duplicates = BUF_INIT(64 * KIB);
    struct decoder d = { .arena = a,
                         .floats = o && o->floats,
                         .keep_kinds = o && o->keep_kinds,
                         .strict = o && o->strict,
                         .count = 1,
                         .err = err };
    struct value v;
    int r;

    d.duplicates = &duplicates;
    r = decode(&d, root, &v);
    if (r < 0)
        return r;
    if (duplicates.n > 0)
        return err_set(err, ERRC_PARSE, WRAP "yaml: unmarshal errors:%s", buf_z(&duplicates));
    if (d.bad_key)
        return fail_bad_key(&d);
    v = number(&d, v);
    r = check_finite(&d, &v);
    if (r == 0)
        *ret = v;
    return r;
}
