/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/typed.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"
#include "json/json.h"

/* How a value is walked: by its type, or where there is none, by what it is. Null then walks as a map. */
enum atom { ATOM_SCALAR, ATOM_LIST, ATOM_MAP };

static bool deduced(struct api_ref t)
{
    switch (api_ref_kind(t)) {
    case API_TYPE_ANY:
    case API_TYPE_FIELDS:
    case API_TYPE_RAW:
    case API_TYPE_JSON:
    case API_TYPE_SCHEMA_OR_BOOL:
    case API_TYPE_SCHEMA_OR_ARRAY:
    case API_TYPE_SCHEMA_OR_STRINGS:
        return true;
    default:
        return false;
    }
}

static enum atom atom_of(struct api_ref t, struct value v)
{
    if (deduced(t))
        return value_is_list(v) ? ATOM_LIST : value_is_map(v) || value_is_null(v) ? ATOM_MAP : ATOM_SCALAR;
    switch (api_ref_kind(t)) {
    case API_TYPE_LIST:
        return ATOM_LIST;
    case API_TYPE_MAP:
    case API_TYPE_STRUCT:
        return ATOM_MAP;
    default:
        return ATOM_SCALAR;
    }
}

static enum api_list_kind list_kind(struct api_ref t)
{
    return deduced(t) ? API_LIST_ATOMIC : (enum api_list_kind)api_ref_type(t)->list;
}

static struct str member_element(struct arena *a, struct str name)
{
    return arena_printf(a, "f:" STR_FMT, STR_ARG(name));
}

static bool is_named(struct api_ref t, struct str name)
{
    return api_ref_field(t, name) != NULL;
}

/* ---- items of lists ---- */

/* The default of a key field ("TCP" for protocol), or null. */
static struct value key_default(struct arena *a, struct api_ref items, struct str key)
{
    const struct api_field *f = api_ref_field(items, key);
    struct value v = VALUE_NONE;

    if (f && f->dflt)
        IGNORE_ERROR(json_parse(a, str_from(api_types_text(items.of, f->dflt)), NULL, &v, NULL));
    return v;
}

static struct str json_element(struct arena *a, char kind, struct value v)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KUBE_OBJECT_MAX);

    buf_addf(&b, "%c:", kind);
    IGNORE_ERROR(json_print(v, 0, &b, NULL));
    return arena_dup(a, buf_str(&b));
}

const char *typed_item_element(struct arena *a, struct api_ref list, struct value item, struct str *ret)
{
    const struct api_type *t = api_ref_type(list);
    const struct api_ref items = api_ref_items(list);
    const char *key = api_types_text(list.of, t->keys);
    struct value keys;

    if (list_kind(list) == API_LIST_SET) {
        if (value_is_null(item))
            return "associative list without keys has an element that's an explicit null";
        if (value_is_map(item))
            return "associative list without keys has an element that's a map type";
        if (value_is_list(item))
            return "not supported: associative list with lists as elements";
        *ret = json_element(a, 'v', item);
        return NULL;
    }
    if (value_is_null(item))
        return "associative list with keys may not have a null element";
    if (!value_is_map(item))
        return "associative list with keys may not have non-map elements";
    keys = value_new_map_sized(a, t->n_keys);
    for (uint8_t i = 0; i < t->n_keys; i++, key += strlen(key) + 1) {
        const struct str name = str_from(key);
        const struct value v = value_has(item, name) ? value_get(item, name) : key_default(a, items, name);

        if (value_has(item, name) || !value_is_null(v))
            value_set(keys, name, v);
    }
    if (value_len(keys) == 0)
        return "associative list with keys has an element that omits all key fields";
    *ret = json_element(a, 'k', keys);
    return NULL;
}

struct items {
    struct str *elements; /* of each position; STR_NONE when it has none */
    size_t n;
    struct map first; /* element -> position + 1 of its first item */
    struct map count; /* element -> how many, for those with more than one */
};

static void items_done(struct items *l)
{
    map_done(&l->first);
    map_done(&l->count);
}
DEFINE_CLEANUP_VALUE(struct items, items_done)

static void index_items(struct arena *a, struct api_ref list, struct value v, struct items *ret)
{
    ret->n = value_is_list(v) ? v.n : 0;
    ret->elements = ARENA_ARRAY(a, struct str, ret->n + 1);
    for (size_t i = 0; i < ret->n; i++) {
        uintptr_t count;

        ret->elements[i] = STR_NONE;
        if (typed_item_element(a, list, value_at(v, i), &ret->elements[i]))
            continue;
        if (!map_has(&ret->first, ret->elements[i])) {
            map_put(&ret->first, ret->elements[i], (void *)(i + 1)); /* positions, not pointers */
            continue;
        }
        count = (uintptr_t)map_get(&ret->count, ret->elements[i]);
        map_put(&ret->count, ret->elements[i], (void *)(count ? count + 1 : 2));
    }
}

static size_t first_of(const struct items *l, struct str element) /* position + 1, or 0 */
{
    return (size_t)(uintptr_t)map_get(&l->first, element);
}

static bool is_duplicate(const struct items *l, struct str element)
{
    return map_has(&l->count, element);
}

/* ---- the fields of a value ---- */

struct walk {
    struct arena *a;
    struct fieldset *out;
};

static void walk_fields(struct walk *w, struct api_ref t, struct value v, const struct fieldset_path *at);

static void add_path(struct fieldset *s, const struct fieldset_path *at)
{
    if (at)
        fieldset_add(s, at);
}

static void walk_list(struct walk *w, struct api_ref t, struct value v, const struct fieldset_path *at)
{
    CLEANUP(items_done) struct items items = { .first = MAP_INIT, .count = MAP_INIT };

    index_items(w->a, t, v, &items);
    for (size_t i = 0; i < items.n; i++) {
        const struct fieldset_path here = { at, items.elements[i] };

        if (!here.element.p)
            continue;
        if (!is_duplicate(&items, here.element))
            walk_fields(w, api_ref_items(t), value_at(v, i), &here);
        fieldset_add(w->out, &here);
    }
}

static void walk_fields(struct walk *w, struct api_ref t, struct value v, const struct fieldset_path *at)
{
    const enum atom atom = atom_of(t, v);

    if (atom == ATOM_SCALAR || (atom == ATOM_LIST && list_kind(t) == API_LIST_ATOMIC) ||
        (atom == ATOM_MAP && api_ref_atomic(t))) {
        add_path(w->out, at);
        return;
    }
    if (atom == ATOM_LIST) {
        walk_list(w, t, v, at);
        return;
    }
    if (!value_is_map(v))
        return;
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        const struct fieldset_path here = { at, member_element(w->a, it.key) };

        walk_fields(w, api_ref_member(t, it.key, NULL), it.v, &here);
        if (value_is_null(it.v) || (value_is_map(it.v) && value_len(it.v) == 0) || !is_named(t, it.key))
            fieldset_add(w->out, &here);
    }
}

const struct fieldset *typed_fields(struct arena *a, struct api_ref type, struct value v)
{
    struct walk w = { a, fieldset_new(a) };

    walk_fields(&w, type, v, NULL);
    return w.out;
}

/* ---- comparison ---- */

struct compare {
    struct arena *a;
    struct fieldset *added, *modified, *removed;
};

static void compare(struct compare *c, struct api_ref t, const struct value *l, const struct value *r,
                    const struct fieldset_path *at);

static void compare_leaf(struct compare *c, const struct value *l, const struct value *r,
                         const struct fieldset_path *at)
{
    if (!l)
        add_path(c->added, at);
    else if (!r)
        add_path(c->removed, at);
    else if (!value_equal(*l, *r))
        add_path(c->modified, at);
}

static const struct value *nth(struct value list, size_t position_plus_1)
{
    return position_plus_1 ? &list.list[position_plus_1 - 1] : NULL;
}

static bool same_duplicates(struct value l, const struct items *li, struct value r, const struct items *ri,
                            struct str e)
{
    size_t j = 0;

    for (size_t i = 0; i < li->n; i++) {
        if (!str_eq(li->elements[i], e))
            continue;
        while (j < ri->n && !str_eq(ri->elements[j], e))
            j++;
        if (j == ri->n || !value_equal(value_at(l, i), value_at(r, j++)))
            return false;
    }
    while (j < ri->n && !str_eq(ri->elements[j], e))
        j++;
    return j == ri->n;
}

/* One element of either list; duplicates count as one value. */
static void compare_item(struct compare *c, struct api_ref t, struct value l, const struct items *li,
                         struct value r, const struct items *ri, const struct fieldset_path *here)
{
    const struct str e = here->element;
    const bool many_l = is_duplicate(li, e), many_r = is_duplicate(ri, e);
    const struct value *lv = nth(l, first_of(li, e)), *rv = nth(r, first_of(ri, e));

    if (many_l && many_r) {
        if (!same_duplicates(l, li, r, ri, e))
            fieldset_add(c->modified, here);
    } else if (many_l) {
        if (rv)
            compare(c, api_ref_items(t), NULL, rv, here);
        fieldset_add(c->removed, here);
    } else if (many_r) {
        if (lv)
            compare(c, api_ref_items(t), lv, NULL, here);
        fieldset_add(c->added, here);
    } else {
        compare(c, api_ref_items(t), lv, rv, here);
    }
}

static void compare_lists(struct compare *c, struct api_ref t, struct value l, struct value r,
                          const struct fieldset_path *at)
{
    CLEANUP(items_done) struct items li = { .first = MAP_INIT, .count = MAP_INIT };
    CLEANUP(items_done) struct items ri = { .first = MAP_INIT, .count = MAP_INIT };

    index_items(c->a, t, l, &li);
    index_items(c->a, t, r, &ri);
    for (size_t i = 0; i < li.n; i++) {
        const struct fieldset_path here = { at, li.elements[i] };

        if (here.element.p && first_of(&li, here.element) == i + 1)
            compare_item(c, t, l, &li, r, &ri, &here);
    }
    for (size_t i = 0; i < ri.n; i++) {
        const struct fieldset_path here = { at, ri.elements[i] };

        if (here.element.p && first_of(&ri, here.element) == i + 1 && !first_of(&li, here.element))
            compare_item(c, t, l, &li, r, &ri, &here);
    }
}

static void compare_maps(struct compare *c, struct api_ref t, struct value l, struct value r,
                         const struct fieldset_path *at)
{
    const size_t nl = value_is_map(l) ? value_len(l) : 0, nr = value_is_map(r) ? value_len(r) : 0;
    size_t i = 0, j = 0;

    while (i < nl || j < nr) {
        const struct value_entry *le = i < nl ? value_entry_at(l, i) : NULL,
                                 *re = j < nr ? value_entry_at(r, j) : NULL;
        const int order = !le ? 1 : !re ? -1 : str_cmp(le->key, re->key);
        const struct str key = order <= 0 ? le->key : re->key;
        const struct fieldset_path here = { at, member_element(c->a, key) };

        compare(c, api_ref_member(t, key, NULL), order <= 0 ? &le->v : NULL, order >= 0 ? &re->v : NULL,
                &here);
        i += order <= 0;
        j += order >= 0;
    }
}

static bool is_hollow(const struct value *v, enum value_kind kind)
{
    return !v || v->kind != kind || value_len(*v) == 0;
}

/* Did it end here, as one value? */
static bool compare_as(struct compare *c, struct api_ref t, enum atom atom, const struct value *l,
                       const struct value *r, const struct fieldset_path *at)
{
    const enum value_kind kind = atom == ATOM_LIST ? VALUE_LIST : VALUE_MAP;

    if (atom == ATOM_SCALAR || (is_hollow(l, kind) && is_hollow(r, kind)) ||
        (atom == ATOM_LIST ? list_kind(t) == API_LIST_ATOMIC : api_ref_atomic(t))) {
        compare_leaf(c, l, r, at);
        return true;
    }
    (atom == ATOM_LIST ? compare_lists : compare_maps)(c, t, l ? *l : VALUE_NONE, r ? *r : VALUE_NONE, at);
    return false;
}

static void compare(struct compare *c, struct api_ref t, const struct value *l, const struct value *r,
                    const struct fieldset_path *at)
{
    bool leaf = false;

    if (r)
        leaf = compare_as(c, t, atom_of(t, *r), l, r, at);
    if (l && (!r || atom_of(t, *l) != atom_of(t, *r)))
        leaf |= compare_as(c, t, atom_of(t, *l), l, r, at);
    if (leaf)
        return;
    if (!l)
        add_path(c->added, at);
    else if (!r)
        add_path(c->removed, at);
}

void typed_compare(struct arena *a, struct api_ref type, struct value before, struct value after,
                   struct typed_comparison *ret)
{
    struct compare c = { a, fieldset_new(a), fieldset_new(a), fieldset_new(a) };

    compare(&c, type, &before, &after, NULL);
    *ret = (struct typed_comparison){ c.added, c.modified, c.removed };
}

/* ---- merge ---- */

/* The order of the result: items that both have come in the change's order, base's own items stay where they were among
 * them. After the merging walker of structured-merge-diff. */
struct merge_lists {
    struct arena *a;
    struct api_ref t;
    struct value l, r;
    struct items li, ri;
    struct map done;
    struct value_list out;
};

static void merge_take(struct merge_lists *m, struct str e, const struct value *l, const struct value *r)
{
    if (r)
        map_put(&m->done, e, m);
    value_list_add(&m->out, !r ? *l : !l ? *r : typed_merge(m->a, api_ref_items(m->t), *l, *r));
}

/* The next element of `r` from *at on that `l` has, too. */
static struct str next_shared(const struct merge_lists *m, size_t *at)
{
    while (*at < m->ri.n) {
        const struct str e = m->ri.elements[(*at)++];

        if (first_of(&m->li, e))
            return e;
    }
    return STR_NONE;
}

static void merge_items(struct merge_lists *m)
{
    size_t shared_at = 0, i = 0, j = 0;
    struct str shared = next_shared(m, &shared_at);

    while (i < m->li.n || j < m->ri.n) {
        const struct str le = i < m->li.n ? m->li.elements[i] : STR_NONE;
        const struct str re = j < m->ri.n ? m->ri.elements[j] : STR_NONE;

        if (i < m->li.n && j < m->ri.n) {
            if (str_eq(le, re)) {
                merge_take(m, re, is_duplicate(&m->li, le) ? NULL : nth(m->l, i + 1), nth(m->r, j + 1));
                i++, j++;
                shared = next_shared(m, &shared_at);
                continue;
            }
            if (first_of(&m->ri, le) && shared.p && !str_eq(shared, le)) {
                i++;
                continue;
            }
        }
        if (i < m->li.n) {
            if (!first_of(&m->ri, le)) {
                merge_take(m, le, nth(m->l, i + 1), NULL);
                i++;
                continue;
            }
            if (map_has(&m->done, le))
                i++;
        }
        if (j < m->ri.n) {
            merge_take(m, re, is_duplicate(&m->li, re) ? NULL : nth(m->l, first_of(&m->li, re)),
                       nth(m->r, j + 1));
            j++;
            if (shared.p && str_eq(shared, re))
                shared = next_shared(m, &shared_at);
        }
    }
}

static struct value merge_list(struct arena *a, struct api_ref t, struct value l, struct value r)
{
    struct merge_lists m = { .a = a, .t = t, .l = l, .r = r, .done = MAP_INIT, .out = VALUE_LIST_INIT(a) };

    index_items(a, t, l, &m.li);
    index_items(a, t, r, &m.ri);
    merge_items(&m);
    items_done(&m.li);
    items_done(&m.ri);
    map_done(&m.done);
    return m.out.n > 0 ? value_list_done(&m.out) : r;
}

struct value typed_merge(struct arena *a, struct api_ref type, struct value base, struct value change)
{
    const enum atom atom = atom_of(type, change);
    const enum value_kind kind = atom == ATOM_LIST ? VALUE_LIST : VALUE_MAP;
    struct value m;

    if (atom == ATOM_SCALAR || (is_hollow(&base, kind) && is_hollow(&change, kind)) ||
        (atom == ATOM_LIST ? list_kind(type) == API_LIST_ATOMIC : api_ref_atomic(type)))
        return change;
    if (is_hollow(&change, kind))
        return base;
    if (is_hollow(&base, kind))
        return change;
    if (atom == ATOM_LIST)
        return merge_list(a, type, base, change);
    m = value_new_map_sized(a, value_len(base) + value_len(change));
    for (struct value_iter it = value_iter(base); value_next(&it);) {
        const struct value_entry *e = value_find(change, it.key);

        value_append(m, it.key, e ? typed_merge(a, api_ref_member(type, it.key, NULL), it.v, e->v) : it.v);
    }
    for (struct value_iter it = value_iter(change); value_next(&it);)
        if (!value_has(base, it.key))
            value_append(m, it.key, it.v);
    value_sort(m);
    return m;
}

/* ---- removal ---- */

static struct value remove_items(struct arena *a, struct api_ref t, struct value v,
                                 const struct fieldset *paths)
{
    struct value_list out = VALUE_LIST_INIT(a);

    for (size_t i = 0; i < value_len(v); i++) {
        struct str element = STR_NONE;
        const struct fieldset_item *item = NULL;

        if (!typed_item_element(a, t, value_at(v, i), &element))
            item = fieldset_find(paths, element);
        if (item && item->member)
            continue;
        value_list_add(&out, item && !fieldset_empty(item->sub)
                                 ? typed_remove(a, api_ref_items(t), value_at(v, i), item->sub)
                                 : value_at(v, i));
    }
    return out.n > 0 ? value_list_done(&out) : VALUE_NONE;
}

struct value typed_remove(struct arena *a, struct api_ref type, struct value v, const struct fieldset *paths)
{
    const enum atom atom = atom_of(type, v);
    struct value m;

    if (atom == ATOM_SCALAR)
        return v;
    if (value_len(v) == 0 || value_is_string(v) ||
        (atom == ATOM_LIST ? list_kind(type) == API_LIST_ATOMIC : api_ref_atomic(type)))
        return VALUE_NONE;
    if (atom == ATOM_LIST)
        return remove_items(a, type, v, paths);
    m = value_new_map_sized(a, value_len(v));
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        const struct fieldset_item *item = fieldset_find(paths, member_element(a, it.key));

        if (item && item->member)
            continue;
        value_append(m, it.key,
                     item && !fieldset_empty(item->sub)
                         ? typed_remove(a, api_ref_member(type, it.key, NULL), it.v, item->sub)
                         : it.v);
    }
    value_sort(m);
    return value_len(m) > 0 ? m : VALUE_NONE;
}

const struct fieldset *typed_with_parents(struct arena *a, struct api_ref type, const struct fieldset *s)
{
    struct fieldset *out;

    if (fieldset_empty(s))
        return s;
    out = fieldset_new(a);
    out->items = ARENA_ARRAY(a, struct fieldset_item, s->n);
    out->n = out->cap = s->n;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct fieldset_item *item = &s->items[i];
        const struct str name = str_sub(item->element, 2, item->element.n);
        const bool field = item->element.p[0] == 'f', has_sub = !fieldset_empty(item->sub);
        const struct api_ref sub = field ? api_ref_member(type, name, NULL) : api_ref_items(type);

        out->items[i] =
            (struct fieldset_item){ item->element, item->member || (field && has_sub && is_named(type, name)),
                                    has_sub ? typed_with_parents(a, sub, item->sub) : NULL };
    }
    return out;
}
