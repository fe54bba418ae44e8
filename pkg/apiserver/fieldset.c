/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/fieldset.h"

#include "base/limits.h"
#include "json/json.h"

struct fieldset *fieldset_new(struct arena *a)
{
    struct fieldset *s = ARENA_NEW(a, struct fieldset);

    s->arena = a;
    return s;
}

/* Where the element is, or belongs. Walks in sorted order add behind the last one. */
static uint32_t place(const struct fieldset *s, struct str element, bool *ret_found)
{
    uint32_t low = 0, high = s->n;

    *ret_found = false;
    if (s->n > 0 && str_cmp(s->items[s->n - 1].element, element) < 0)
        return s->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = str_cmp(s->items[middle].element, element);

        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct fieldset_item *put(struct fieldset *s, struct str element)
{
    bool found;
    const uint32_t at = place(s, element, &found);

    if (found)
        return &s->items[at];
    if (s->n == s->cap) {
        const uint32_t cap = s->cap ? 2 * s->cap : 4;

        s->items = arena_grow(s->arena, s->items, s->cap * sizeof(*s->items), cap * sizeof(*s->items));
        s->cap = cap;
    }
    memmove(&s->items[at + 1], &s->items[at], (s->n - at) * sizeof(*s->items));
    s->n++;
    s->items[at] = (struct fieldset_item){ element, false, NULL };
    return &s->items[at];
}

static struct fieldset *sub_of(struct fieldset *s, const struct fieldset_path *path)
{
    struct fieldset_item *item;

    if (!path)
        return s;
    s = sub_of(s, path->up);
    item = put(s, path->element);
    if (!item->sub)
        item->sub = fieldset_new(s->arena);
    return (struct fieldset *)(uintptr_t)item->sub; /* made above: still ours */
}

void fieldset_add(struct fieldset *s, const struct fieldset_path *path)
{
    put(sub_of(s, path->up), path->element)->member = true;
}

bool fieldset_empty(const struct fieldset *s)
{
    for (uint32_t i = 0; s && i < s->n; i++)
        if (s->items[i].member || !fieldset_empty(s->items[i].sub))
            return false;
    return true;
}

const struct fieldset_item *fieldset_find(const struct fieldset *s, struct str element)
{
    bool found = false;
    const uint32_t at = s ? place(s, element, &found) : 0;

    return found ? &s->items[at] : NULL;
}

/* ---- two sets side by side ---- */

enum operation { UNION, DIFFERENCE, INTERSECTION, EXCLUDE };

static bool keeps(enum operation op, bool x, bool y)
{
    switch (op) {
    case UNION:
        return x || y;
    case INTERSECTION:
        return x && y;
    default:
        return x && !y;
    }
}

static const struct fieldset *combine(struct arena *a, enum operation op, const struct fieldset *x,
                                      const struct fieldset *y)
{
    struct fieldset *out;
    uint32_t i = 0, j = 0;

    if (!x || x->n == 0)
        return op == UNION ? y : NULL;
    if (!y || y->n == 0)
        return op == INTERSECTION ? NULL : x;
    out = fieldset_new(a);
    while (i < x->n || j < y->n) {
        const int order = i == x->n ? 1 : j == y->n ? -1 : str_cmp(x->items[i].element, y->items[j].element);
        const struct fieldset_item none = { .sub = NULL };
        const struct fieldset_item *l = order <= 0 ? &x->items[i++] : &none,
                                   *r = order >= 0 ? &y->items[j++] : &none;
        const bool member = keeps(op, l->member, r->member);
        const struct fieldset *sub = op == EXCLUDE && r->member ? NULL : combine(a, op, l->sub, r->sub);

        if (!member && fieldset_empty(sub))
            continue;
        *put(out, order <= 0 ? l->element : r->element) =
            (struct fieldset_item){ order <= 0 ? l->element : r->element, member, sub };
    }
    return out;
}

const struct fieldset *fieldset_union(struct arena *a, const struct fieldset *x, const struct fieldset *y)
{
    return combine(a, UNION, x, y);
}

const struct fieldset *fieldset_difference(struct arena *a, const struct fieldset *x,
                                           const struct fieldset *y)
{
    return combine(a, DIFFERENCE, x, y);
}

const struct fieldset *fieldset_intersection(struct arena *a, const struct fieldset *x,
                                             const struct fieldset *y)
{
    return combine(a, INTERSECTION, x, y);
}

const struct fieldset *fieldset_exclude(struct arena *a, const struct fieldset *x, const struct fieldset *y)
{
    return combine(a, EXCLUDE, x, y);
}

const struct fieldset *fieldset_of(struct arena *a, const char *const *paths, size_t n)
{
    struct fieldset *s = fieldset_new(a);

    for (size_t i = 0; i < n; i++) {
        struct str rest = str_from(paths[i]), name;
        struct fieldset_path path[8];
        size_t depth = 0;

        while (str_split(&rest, ' ', &name) && depth < ARRAY_SIZE(path)) {
            path[depth] = (struct fieldset_path){ depth ? &path[depth - 1] : NULL,
                                                  arena_printf(a, "f:" STR_FMT, STR_ARG(name)) };
            depth++;
        }
        fieldset_add(s, &path[depth - 1]);
    }
    return s;
}

/* ---- FieldsV1 ---- */

static bool canonical_element(struct arena *a, struct str element, struct str *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(MIB);
    struct value v = VALUE_NONE;

    *ret = element;
    if (element.n < 2 || element.p[1] != ':')
        return false;
    if (element.p[0] != 'k' && element.p[0] != 'v')
        return element.p[0] == 'f' || element.p[0] == 'i';
    if (json_parse(a, str_sub(element, 2, element.n), NULL, &v, NULL) < 0)
        return false;
    buf_addf(&b, "%c:", element.p[0]);
    if (json_print(v, 0, &b, NULL) < 0)
        return false;
    if (!str_eq(buf_str(&b), element))
        *ret = arena_dup(a, buf_str(&b));
    return element.p[0] == 'v' || value_is_map(v);
}

bool fieldset_parse(struct arena *a, struct value fields, const struct fieldset **ret)
{
    struct fieldset *s = fieldset_new(a);

    if (!value_is_map(fields))
        return value_is_null(fields);
    for (struct value_iter it = value_iter(fields); value_next(&it);) {
        const struct fieldset *sub = NULL;
        struct fieldset_item *item;
        struct str element;

        if (str_eq(it.key, STR(".")))
            continue; /* its container has seen it */
        if (!canonical_element(a, it.key, &element) || !fieldset_parse(a, it.v, &sub))
            return false;
        item = put(s, element);
        item->member = value_len(it.v) == 0 || value_has(it.v, STR("."));
        item->sub = sub;
    }
    *ret = s;
    return true;
}

struct value fieldset_value(struct arena *a, const struct fieldset *s)
{
    struct value m = value_new_map_sized(a, s ? s->n + 1 : 0);

    for (uint32_t i = 0; s && i < s->n; i++) {
        const struct fieldset_item *item = &s->items[i];
        struct value sub;

        if (!item->member && fieldset_empty(item->sub))
            continue;
        sub = fieldset_value(a, item->sub);
        if (item->member && value_len(sub) > 0)
            value_setz(sub, ".", value_new_map(a));
        value_append(m, item->element, sub);
    }
    value_sort(m);
    return m;
}

/* ---- paths as text ---- */

static void add_key_text(struct str json, struct buf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIB);
    struct value v = VALUE_NONE;
    bool first = true;

    IGNORE_ERROR(json_parse(a, json, NULL, &v, NULL));
    buf_addc(out, '[');
    for (struct value_iter it = value_iter(v); value_next(&it); first = false) {
        buf_addf(out, "%s" STR_FMT "=", first ? "" : ",", STR_ARG(it.key));
        IGNORE_ERROR(json_print(it.v, 0, out, NULL));
    }
    buf_addc(out, ']');
}

void fieldset_element_text(struct str element, struct buf *out)
{
    const struct str rest = str_sub(element, 2, element.n);

    if (element.p[0] == 'f')
        buf_addf(out, "." STR_FMT, STR_ARG(rest));
    else if (element.p[0] == 'k')
        add_key_text(rest, out);
    else
        buf_addf(out, element.p[0] == 'v' ? "[=" STR_FMT "]" : "[" STR_FMT "]", STR_ARG(rest));
}

static void each(const struct fieldset *s, struct buf *path, void (*fn)(void *ctx, struct str text),
                 void *ctx)
{
    const size_t n = path->n;

    for (uint32_t i = 0; s && i < s->n; i++) {
        if (!s->items[i].member)
            continue;
        fieldset_element_text(s->items[i].element, path);
        fn(ctx, buf_str(path));
        buf_truncate(path, n);
    }
    for (uint32_t i = 0; s && i < s->n; i++) {
        if (!s->items[i].sub)
            continue;
        fieldset_element_text(s->items[i].element, path);
        each(s->items[i].sub, path, fn, ctx);
        buf_truncate(path, n);
    }
}

void fieldset_each(const struct fieldset *s, void (*fn)(void *ctx, struct str text), void *ctx)
{
    CLEANUP(buf_done) struct buf path = BUF_INIT(MIB);

    each(s, &path, fn, ctx);
}
