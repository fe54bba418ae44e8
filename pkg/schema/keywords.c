/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/number.h"
#include "base/utf8.h"
#include "schema/validate.h"

/* Paths outlive the frame when a violation points to them. */
static const struct path *path_name(struct frame *f, struct str name)
{
    struct path *p = ARENA_NEW(f->run->arena, struct path);

    p->parent = f->path;
    p->name = name;
    return p;
}

static const struct path *path_index(struct frame *f, size_t index)
{
    struct path *p = ARENA_NEW(f->run->arena, struct path);

    p->parent = f->path;
    p->index = index;
    p->is_index = true;
    return p;
}

static void add_text(struct frame *f, const char *text)
{
    buf_adds(schema_violation_begin(f), text);
    schema_violation_add(f);
}

/* "minItems: got 1, want 2" */
static void add_count(struct frame *f, const char *name, size_t got, int64_t want)
{
    struct buf *out = schema_violation_begin(f);

    buf_addf(out, "%s: got ", name);
    schema_decimal_print_int(got, out);
    buf_adds(out, ", want ");
    if (want < 0)
        buf_addc(out, '-');
    schema_decimal_print_int(want < 0 ? (size_t)-want : (size_t)want, out);
    schema_violation_add(f);
}

static void check_counts(struct frame *f, const char *min_name, const struct count *min, const char *max_name,
                         const struct count *max, size_t n)
{
    if (min->set && (min->n > 0 && n < (uint64_t)min->n))
        add_count(f, min_name, n, min->n);
    if (max->set && (max->n < 0 || n > (uint64_t)max->n))
        add_count(f, max_name, n, max->n);
}

/* ---- objects ---- */

/* Appends the quoted names that the object lacks; how many they are. */
static size_t print_missing(struct value obj, const struct str *names, size_t n, struct buf *out)
{
    size_t missing = 0;

    for (size_t i = 0; i < n; i++) {
        if (value_has(obj, names[i]))
            continue;
        if (missing++ > 0)
            buf_adds(out, ", ");
        schema_quote(names[i], out);
    }
    return missing;
}

static void check_required(struct frame *f)
{
    struct value required = f->node->required;
    CLEANUP(buf_done) struct buf missing = BUF_INIT(MIB);
    struct buf *out;
    size_t n = 0;

    for (uint32_t i = 0; required.kind == VALUE_LIST && i < required.n; i++) {
        struct str name = value_str(required.list[i]);

        if (!value_is_string(required.list[i]) || value_has(f->value, name))
            continue;
        if (n++ > 0)
            buf_adds(&missing, ", ");
        schema_quote(name, &missing);
    }
    if (n == 0)
        return;
    out = schema_violation_begin(f);
    buf_adds(out, n == 1 ? "missing property " : "missing properties ");
    buf_addstr(out, buf_str(&missing));
    schema_violation_add(f);
}

static void check_dependencies(struct frame *f, const struct node_map *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct named_node *d = &m->items[i];
        CLEANUP(buf_done) struct buf missing = BUF_INIT(MIB);
        struct buf *out;

        if (!value_has(f->value, d->name))
            continue;
        if (d->node) {
            schema_frame_add(f, schema_validate_self(f, d->node, NULL, false));
            continue;
        }
        if (print_missing(f->value, d->names, d->n_names, &missing) == 0)
            continue;
        out = schema_violation_begin(f);
        buf_adds(out, "properties ");
        buf_addstr(out, buf_str(&missing));
        buf_adds(out, " required, if ");
        schema_quote(d->name, out);
        buf_adds(out, " exists");
        schema_violation_add(f);
    }
}

static const struct named_node *find_property(const struct node_map *m, struct str name)
{
    size_t lo = 0, hi = m->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(m->items[mid].name, name);

        if (c == 0)
            return &m->items[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* `names` collects what additionalProperties: false refuses. */
static void check_property(struct frame *f, const struct value_iter *it, struct buf *names)
{
    const struct node *n = f->node;
    const struct named_node *own = find_property(&n->properties, it->key);
    bool evaluated = own != NULL;

    if (own)
        schema_frame_add(f, schema_validate_value(f, own->node, it->v, path_name(f, it->key)));
    for (size_t i = 0; i < n->pattern_properties.n; i++) {
        if (!regex_match(n->pattern_properties.items[i].regex, it->key))
            continue;
        evaluated = true;
        schema_frame_add(
            f, schema_validate_value(f, n->pattern_properties.items[i].node, it->v, path_name(f, it->key)));
    }
    if (!evaluated && n->additional_properties.kind != ADDITIONAL_NONE) {
        evaluated = true;
        if (n->additional_properties.kind == ADDITIONAL_NODE) {
            schema_frame_add(
                f, schema_validate_value(f, n->additional_properties.node, it->v, path_name(f, it->key)));
        } else if (n->additional_properties.kind == ADDITIONAL_FALSE) {
            if (names->n > 0)
                buf_adds(names, ", ");
            schema_quote(it->key, names);
        }
    }
    if (evaluated)
        schema_unevaluated_remove(&f->unevaluated, it->i);
}

static void check_property_names(struct frame *f)
{
    for (struct value_iter it = value_iter(f->value); f->node->property_names && value_next(&it);) {
        struct violation *e = schema_validate_top(f->run, f->node->property_names, value_from_str(it.key),
                                                  f->quiet),
                         *named;

        if (!e)
            continue;
        named = schema_violation_new(f, VIOLATION_LEAF);
        named->at = NULL;
        buf_adds(schema_violation_begin(f), "invalid propertyName ");
        schema_quote(it.key, &f->run->text);
        named->text = arena_dup(f->run->arena, buf_str(&f->run->text));
        named->causes = e->kind == VIOLATION_GROUP ? e->causes : e;
        schema_frame_add(f, named);
    }
}

static void check_object(struct frame *f)
{
    const struct node *n = f->node;
    CLEANUP(buf_done) struct buf names = BUF_INIT(MIB);

    check_counts(f, "minProperties", &n->min_properties, "maxProperties", &n->max_properties,
                 value_len(f->value));
    check_required(f);
    if (f->quiet && f->n > 0)
        return;
    check_dependencies(f, &n->dependencies);
    for (struct value_iter it = value_iter(f->value); value_next(&it);) {
        if (f->quiet && f->n > 0)
            return;
        check_property(f, &it, &names);
    }
    if (names.n > 0) {
        buf_adds(schema_violation_begin(f), "additional properties ");
        buf_addstr(&f->run->text, buf_str(&names));
        buf_adds(&f->run->text, " not allowed");
        schema_violation_add(f);
    }
    check_property_names(f);
    check_dependencies(f, &n->dependent_schemas);
    check_dependencies(f, &n->dependent_required);
}

/* ---- arrays ---- */

static bool equal_numbers(struct value a, struct value b)
{
    struct decimal x, y;

    if (a.kind == b.kind && a.kind == VALUE_INT)
        return a.i == b.i;
    x = schema_decimal_from(a);
    y = schema_decimal_from(b);
    return schema_decimal_cmp(&x, &y) == 0;
}

/* Deeper than any schema may be nothing is equal: instances can be deeper than the stack. */
static bool equal_below(struct value a, struct value b, int depth)
{
    unsigned type = schema_type_of(a);
    bool same = type == schema_type_of(b) && depth <= SCHEMA_DEPTH_MAX;

    if (!same)
        return false;
    switch (type) {
    case TYPE_NUMBER:
        return equal_numbers(a, b);
    case TYPE_ARRAY:
        same = a.n == b.n;
        for (uint32_t i = 0; i < a.n && same; i++)
            same = equal_below(a.list[i], b.list[i], depth + 1);
        return same;
    case TYPE_OBJECT:
        same = a.map->n == b.map->n;
        for (uint32_t i = 0; i < a.map->n && same; i++)
            same = str_eq(a.map->e[i].key, b.map->e[i].key) &&
                   equal_below(a.map->e[i].v, b.map->e[i].v, depth + 1);
        return same;
    default:
        return value_equal(a, b);
    }
}

bool schema_equal(struct value a, struct value b)
{
    return equal_below(a, b, 0);
}

#define HASH_DEPTH_MAX 64 /* what is below does not change the hash */
#define HASH_FACTOR 0x9e3779b97f4a7c15U

static uint64_t hash_value(struct value v, int depth)
{
    uint64_t h = schema_type_of(v) * HASH_FACTOR;

    if (schema_type_of(v) == TYPE_NUMBER) {
        struct decimal d = schema_decimal_from(v);

        return h ^ str_hash((struct str){ d.d, (size_t)d.n }) ^ (uint64_t)d.point;
    }
    if (v.kind == VALUE_STRING)
        return h ^ str_hash(value_str(v));
    for (struct value_iter it = value_iter(v); depth < HASH_DEPTH_MAX && value_next(&it);)
        h = (h ^ str_hash(it.key) ^ hash_value(it.v, depth + 1)) * HASH_FACTOR + it.i;
    return v.kind == VALUE_BOOL ? h + v.b : h;
}

/* The first item that equals one before it. */
static bool find_duplicate(struct frame *f, struct value list, size_t *ret_first, size_t *ret_second)
{
    size_t cap = 16;
    uint32_t *table, *next;
    uint64_t *hashes;

    while (cap < 2 * (size_t)list.n)
        cap *= 2;
    table = arena_calloc(f->run->arena, cap * sizeof(*table));
    next = arena_calloc(f->run->arena, ((size_t)list.n + 1) * sizeof(*next));
    hashes = arena_calloc(f->run->arena, ((size_t)list.n + 1) * sizeof(*hashes));
    for (uint32_t i = 0; i < list.n; i++) {
        uint32_t *slot, found = UINT32_MAX;

        hashes[i] = hash_value(list.list[i], 0);
        slot = &table[(hashes[i] ^ hashes[i] >> 32) & (cap - 1)];
        for (uint32_t k = *slot; k > 0; k = next[k - 1])
            if (hashes[k - 1] == hashes[i] && schema_equal(list.list[k - 1], list.list[i]))
                found = k - 1;
        if (found != UINT32_MAX) {
            *ret_first = found;
            *ret_second = i;
            return true;
        }
        next[i] = *slot;
        *slot = i + 1;
    }
    return false;
}

static void check_unique(struct frame *f)
{
    struct buf *out;
    size_t first, second;

    if (!f->node->unique_items || f->value.n < 2 || !find_duplicate(f, f->value, &first, &second))
        return;
    out = schema_violation_begin(f);
    buf_adds(out, "items at ");
    schema_decimal_print_int(first, out);
    buf_adds(out, " and ");
    schema_decimal_print_int(second, out);
    buf_adds(out, " are equal");
    schema_violation_add(f);
}

/* `offset`: where the items begin; upstream numbers those behind a prefix from 0 again. */
static void check_each(struct frame *f, const struct node *n, size_t offset)
{
    for (size_t i = offset; i < f->value.n; i++)
        schema_frame_add(f, schema_validate_value(f, n, f->value.list[i], path_index(f, i - offset)));
}

static size_t check_prefix(struct frame *f, const struct node_list *l)
{
    size_t n = MIN(l->n, (size_t)f->value.n);

    for (size_t i = 0; i < n; i++)
        schema_frame_add(f, schema_validate_value(f, l->items[i], f->value.list[i], path_index(f, i)));
    return n;
}

static void check_items(struct frame *f)
{
    const struct node *n = f->node;
    size_t evaluated = 0;

    if (n->draft >= 2020) {
        evaluated = check_prefix(f, &n->prefix_items);
        if (n->items2020)
            check_each(f, n->items2020, evaluated);
        return;
    }
    if (n->items) {
        check_each(f, n->items, 0);
        evaluated = f->value.n;
    } else if (n->item_list.set) {
        evaluated = check_prefix(f, &n->item_list);
    }
    if (n->additional_items.kind == ADDITIONAL_NODE) {
        check_each(f, n->additional_items.node, evaluated);
    } else if (n->additional_items.kind == ADDITIONAL_FALSE && evaluated != f->value.n) {
        struct buf *out = schema_violation_begin(f);

        buf_adds(out, "last ");
        schema_decimal_print_int(f->value.n - evaluated, out);
        buf_adds(out, " additionalItem(s) not allowed");
        schema_violation_add(f);
    }
}

static void fail_contains(struct frame *f, const char *word, int64_t want, size_t n, struct str matched)
{
    struct buf *out = schema_violation_begin(f);

    buf_addf(out, "%s ", word);
    schema_decimal_print_int((size_t)want, out);
    buf_adds(out, " items required to match contains schema, but ");
    if (n == 0 && word[1] == 'i') {
        buf_adds(out, "none matched");
        return;
    }
    buf_adds(out, "matched ");
    schema_decimal_print_int(n, out);
    buf_adds(out, " items at ");
    buf_addstr(out, matched);
}

static void check_contains(struct frame *f)
{
    const struct node *n = f->node;
    CLEANUP(buf_done) struct buf matched = BUF_INIT(MIB);
    struct violation *first = NULL, *last = NULL;
    size_t count = 0;

    for (uint32_t i = 0; i < f->value.n; i++) {
        struct violation *e = schema_validate_value(f, n->contains, f->value.list[i], path_index(f, i));

        if (e) {
            if (last)
                last->next = e;
            else
                first = e;
            last = e;
            continue;
        }
        buf_addf(&matched, "%s%u", count++ > 0 ? " " : "", i);
        if (n->draft >= 2020)
            schema_unevaluated_remove(&f->unevaluated, i);
    }
    if (n->min_contains.set ? (n->min_contains.n > 0 && count < (uint64_t)n->min_contains.n) : count == 0) {
        if (n->min_contains.set)
            fail_contains(f, "min", n->min_contains.n, count, buf_str(&matched));
        else
            buf_adds(schema_violation_begin(f), "no items match contains schema");
        schema_violation_add(f);
        f->last->causes = first;
    }
    if (n->max_contains.set && n->max_contains.n >= 0 && count > (uint64_t)n->max_contains.n) {
        fail_contains(f, "max", n->max_contains.n, count, buf_str(&matched));
        schema_violation_add(f);
    }
}

static void check_array(struct frame *f)
{
    const struct node *n = f->node;

    check_counts(f, "minItems", &n->min_items, "maxItems", &n->max_items, f->value.n);
    check_unique(f);
    check_items(f);
    if (n->contains)
        check_contains(f);
}

/* ---- strings and numbers ---- */

static void check_string(struct frame *f)
{
    const struct node *n = f->node;
    struct str s = value_str(f->value);
    struct buf *out;

    if (n->min_length.set || n->max_length.set)
        check_counts(f, "minLength", &n->min_length, "maxLength", &n->max_length, utf8_count(s));
    if (!n->pattern || regex_match(n->pattern, s))
        return;
    out = schema_violation_begin(f);
    schema_quote(s, out);
    buf_adds(out, " does not match pattern ");
    schema_quote(n->pattern_text, out);
    schema_violation_add(f);
}

static void add_bound(struct frame *f, const char *name, const struct bound *b)
{
    struct buf *out = schema_violation_begin(f);

    buf_addf(out, "%s: got ", name);
    schema_decimal_print(f->value, out);
    buf_adds(out, ", want ");
    schema_decimal_print(b->value, out);
    schema_violation_add(f);
}

static void check_number(struct frame *f)
{
    const struct node *n = f->node;
    struct decimal d = schema_decimal_from(f->value), limit;

    limit = schema_decimal_from(n->minimum.set ? n->minimum.value : value_from_int(0));
    if (n->minimum.set && schema_decimal_cmp(&d, &limit) < 0)
        add_bound(f, "minimum", &n->minimum);
    limit = schema_decimal_from(n->maximum.set ? n->maximum.value : value_from_int(0));
    if (n->maximum.set && schema_decimal_cmp(&d, &limit) > 0)
        add_bound(f, "maximum", &n->maximum);
    limit = schema_decimal_from(n->exclusive_minimum.set ? n->exclusive_minimum.value : value_from_int(0));
    if (n->exclusive_minimum.set && schema_decimal_cmp(&d, &limit) <= 0)
        add_bound(f, "exclusiveMinimum", &n->exclusive_minimum);
    limit = schema_decimal_from(n->exclusive_maximum.set ? n->exclusive_maximum.value : value_from_int(0));
    if (n->exclusive_maximum.set && schema_decimal_cmp(&d, &limit) >= 0)
        add_bound(f, "exclusiveMaximum", &n->exclusive_maximum);
    limit = schema_decimal_from(n->multiple_of.set ? n->multiple_of.value : value_from_int(1));
    if (n->multiple_of.set && !schema_decimal_is_multiple(&d, &limit))
        add_bound(f, "multipleOf", &n->multiple_of);
}

void schema_check_kind(struct frame *f)
{
    switch (schema_type_of(f->value)) {
    case TYPE_OBJECT:
        check_object(f);
        return;
    case TYPE_ARRAY:
        check_array(f);
        return;
    case TYPE_STRING:
        check_string(f);
        return;
    case TYPE_NUMBER:
        check_number(f);
        return;
    default:
        return;
    }
}

/* ---- combinations ---- */

/* Adds a violation with the chain as its causes. */
static void add_causes(struct frame *f, const char *text, struct violation *causes)
{
    add_text(f, text);
    f->last->causes = causes;
}

struct chain {
    struct violation *first, *last;
};

static void chain_add(struct chain *c, struct violation *e)
{
    if (c->last)
        c->last->next = e;
    else
        c->first = e;
    c->last = e;
}

static void check_all_of(struct frame *f)
{
    struct chain errors = { 0 };

    for (size_t i = 0; i < f->node->all_of.n; i++) {
        struct violation *e = schema_validate_self(f, f->node->all_of.items[i], NULL, false);

        if (!e)
            continue;
        chain_add(&errors, e);
        if (f->quiet)
            break;
    }
    if (errors.first)
        add_causes(f, "'allOf' failed", errors.first);
}

static void check_any_of(struct frame *f)
{
    struct chain errors = { 0 };
    bool matched = f->node->any_of.n == 0;

    for (size_t i = 0; i < f->node->any_of.n; i++) {
        struct violation *e = schema_validate_self(f, f->node->any_of.items[i], NULL, false);

        if (e) {
            chain_add(&errors, e);
            continue;
        }
        matched = true;
        if (f->unevaluated.left == 0) /* else all are asked what they look at */
            break;
    }
    if (!matched)
        add_causes(f, "'anyOf' failed", errors.first);
}

static void check_one_of(struct frame *f)
{
    struct chain errors = { 0 };
    size_t matched = SIZE_MAX;

    for (size_t i = 0; i < f->node->one_of.n; i++) {
        struct violation *e = schema_validate_self(f, f->node->one_of.items[i], NULL, matched != SIZE_MAX);

        if (e) {
            if (matched == SIZE_MAX)
                chain_add(&errors, e);
        } else if (matched == SIZE_MAX) {
            matched = i;
        } else {
            struct buf *out = schema_violation_begin(f);

            buf_adds(out, "'oneOf' failed, subschemas ");
            schema_decimal_print_int(matched, out);
            buf_adds(out, ", ");
            schema_decimal_print_int(i, out);
            buf_adds(out, " matched");
            schema_violation_add(f);
            return;
        }
    }
    if (f->node->one_of.n > 0 && matched == SIZE_MAX)
        add_causes(f, "'oneOf' failed, none matched", errors.first);
}

void schema_check_combinations(struct frame *f)
{
    const struct node *n = f->node;

    if (n->not &&!schema_validate_self(f, n->not, NULL, true))
        add_text(f, "'not' failed");
    check_all_of(f);
    check_any_of(f);
    check_one_of(f);
    if (!n->if_node)
        return;
    if (!schema_validate_self(f, n->if_node, NULL, true)) {
        if (n->then_node)
            schema_frame_add(f, schema_validate_self(f, n->then_node, NULL, false));
    } else if (n->else_node) {
        schema_frame_add(f, schema_validate_self(f, n->else_node, NULL, false));
    }
}

void schema_check_unevaluated(struct frame *f)
{
    struct unevaluated *u = &f->unevaluated;
    const struct node *n =
        f->value.kind == VALUE_MAP ? f->node->unevaluated_properties : f->node->unevaluated_items;

    if (!n || (f->value.kind != VALUE_MAP && f->value.kind != VALUE_LIST))
        return;
    for (struct value_iter it = value_iter(f->value); value_next(&it);)
        if (it.i < u->n && u->set[it.i])
            schema_frame_add(f, schema_validate_value(f, n, it.v,
                                                      f->value.kind == VALUE_MAP ? path_name(f, it.key)
                                                                                 : path_index(f, it.i)));
    *u = (struct unevaluated){ 0 };
}

/* ---- texts ---- */

void schema_quote(struct str s, struct buf *out)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(10 * s.n + 16);

    utf8_quote(s, &quoted);
    buf_addc(out, '\'');
    for (size_t i = 1; i + 1 < quoted.n; i++) {
        if (quoted.p[i] == '\\' && quoted.p[i + 1] == '"')
            continue;
        if (quoted.p[i] == '\'')
            buf_addc(out, '\\');
        buf_addc(out, quoted.p[i]);
    }
    buf_addc(out, '\'');
}

void schema_display(struct value v, struct buf *out)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        buf_adds(out, "<nil>");
        return;
    case VALUE_BOOL:
        buf_adds(out, v.b ? "true" : "false");
        return;
    case VALUE_INT:
        buf_addf(out, "%lld", (long long)v.i);
        return;
    case VALUE_UINT:
        buf_addf(out, "%llu", (unsigned long long)v.u);
        return;
    case VALUE_FLOAT: /* upstream has the text of the schema: whole numbers were written with a point there */
        if (v.f == trunc(v.f) && fabs(v.f) < 1e15)
            number_format_float(v.f, 'f', 1, 64, out);
        else
            number_format_float(v.f, 'g', -1, 64, out);
        return;
    case VALUE_STRING:
        schema_quote(value_str(v), out);
        return;
    default:
        buf_adds(out, "value");
    }
}
