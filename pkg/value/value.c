/* SPDX-License-Identifier: Apache-2.0 */
#include "value/value.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

struct value value_new_map_sized(struct arena *a, size_t n)
{
    struct value_map *m = ARENA_NEW(a, struct value_map);

    m->arena = a;
    if (n > 0) {
        m->e = ARENA_ARRAY(a, struct value_entry, n);
        m->cap = (uint32_t)n;
    }
    return value_from_map(m);
}

struct value value_new_map(struct arena *a)
{
    return value_new_map_sized(a, 0);
}

int64_t value_int(struct value v, int64_t otherwise)
{
    switch (v.kind) {
    case VALUE_INT:
        return v.i;
    case VALUE_UINT:
        return v.u <= INT64_MAX ? (int64_t)v.u : otherwise;
    case VALUE_FLOAT:
        return v.f >= -0x1p63 && v.f < 0x1p63 && v.f == trunc(v.f) ? (int64_t)v.f : otherwise;
    default:
        return otherwise;
    }
}

/* The first entry whose key is not below `key`. */
static uint32_t lower_bound(const struct value_map *m, struct str key)
{
    uint32_t lo = 0, hi = m->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (str_cmp(m->e[mid].key, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Most maps are so short that comparing lengths finds the key sooner than comparing texts. */
#define SHORT_MAP 8

const struct value_entry *value_find(struct value map, struct str key)
{
    uint32_t i;

    if (map.kind != VALUE_MAP)
        return NULL;
    if (map.map->n <= SHORT_MAP) {
        for (i = 0; i < map.map->n; i++)
            if (str_eq(map.map->e[i].key, key))
                return &map.map->e[i];
        return NULL;
    }
    i = lower_bound(map.map, key);
    return i < map.map->n && str_eq(map.map->e[i].key, key) ? &map.map->e[i] : NULL;
}

struct value value_get(struct value map, struct str key)
{
    const struct value_entry *e = value_find(map, key);

    return e ? e->v : VALUE_NONE;
}

bool value_has(struct value map, struct str key)
{
    return value_find(map, key) != NULL;
}

static void make_room(struct value_map *m)
{
    uint32_t cap = m->cap ? m->cap * 2 : 4;

    assert(m->arena); /* a frozen map is never changed */
    if (m->n < m->cap)
        return;
    m->e = arena_grow(m->arena, m->e, m->cap * sizeof(*m->e), cap * sizeof(*m->e));
    m->cap = cap;
}

void value_set(struct value map, struct str key, struct value v)
{
    struct value_map *m = map.map;
    uint32_t i;

    assert(map.kind == VALUE_MAP && m->arena);
    i = m->n > 0 && str_cmp(m->e[m->n - 1].key, key) < 0 ? m->n : lower_bound(m, key);
    if (i < m->n && str_eq(m->e[i].key, key)) {
        m->e[i].v = v;
        return;
    }
    make_room(m);
    memmove(&m->e[i + 1], &m->e[i], (m->n - i) * sizeof(*m->e));
    m->e[i] = (struct value_entry){ key, v };
    m->n++;
}

bool value_unset(struct value map, struct str key)
{
    struct value_map *m = map.map;
    uint32_t i;

    assert(map.kind == VALUE_MAP && m->arena);
    i = lower_bound(m, key);
    if (i == m->n || !str_eq(m->e[i].key, key))
        return false;
    memmove(&m->e[i], &m->e[i + 1], (m->n - i - 1) * sizeof(*m->e));
    m->n--;
    return true;
}

void value_append(struct value map, struct str key, struct value v)
{
    make_room(map.map);
    map.map->e[map.map->n++] = (struct value_entry){ key, v };
}

/* Merge sort: stable, so that of equal keys the last stays last; linear when already in order. */
static void sort_entries(struct value_entry *e, struct value_entry *tmp, size_t n)
{
    size_t half = n / 2, i = 0, j = half, k = 0;

    if (n < 2)
        return;
    sort_entries(e, tmp, half);
    sort_entries(e + half, tmp, n - half);
    if (str_cmp(e[half - 1].key, e[half].key) <= 0)
        return;
    while (i < half && j < n)
        tmp[k++] = str_cmp(e[j].key, e[i].key) < 0 ? e[j++] : e[i++];
    while (i < half)
        tmp[k++] = e[i++];
    memcpy(e, tmp, k * sizeof(*e));
}

void value_sort(struct value map)
{
    struct value_map *m = map.map;
    struct value_entry *tmp;
    uint32_t n = 0;
    bool sorted = true;

    for (uint32_t i = 1; i < m->n && sorted; i++)
        sorted = str_cmp(m->e[i - 1].key, m->e[i].key) < 0;
    if (sorted)
        return;
    tmp = xreallocarray(NULL, m->n, sizeof(*tmp));
    sort_entries(m->e, tmp, m->n);
    free(tmp);
    for (uint32_t i = 0; i < m->n; i++) {
        if (n > 0 && str_eq(m->e[n - 1].key, m->e[i].key))
            m->e[n - 1] = m->e[i];
        else
            m->e[n++] = m->e[i];
    }
    m->n = n;
}

struct value_iter value_iter(struct value v)
{
    return (struct value_iter){ .of = v };
}

bool value_next(struct value_iter *it)
{
    if (it->of.kind == VALUE_MAP) {
        if (it->next >= it->of.map->n)
            return false;
        it->key = it->of.map->e[it->next].key;
        it->v = it->of.map->e[it->next].v;
    } else if (it->of.kind == VALUE_LIST) {
        if (it->next >= it->of.n)
            return false;
        it->v = it->of.list[it->next];
    } else {
        return false;
    }
    it->i = it->next++;
    return true;
}

struct value value_path(struct value v, const char *path)
{
    struct str rest = str_from(path), part;

    while (str_split(&rest, '.', &part))
        v = value_get(v, part);
    return v;
}

void value_set_path(struct value map, const char *path, struct value v)
{
    struct arena *a = map.map->arena;
    struct str rest = str_from(path), part;

    while (str_split(&rest, '.', &part)) {
        struct value next;

        if (!rest.p) {
            value_set(map, arena_dup(a, part), v);
            return;
        }
        next = value_get(map, part);
        if (next.kind != VALUE_MAP) {
            next = value_new_map(a);
            value_set(map, arena_dup(a, part), next);
        }
        map = next;
    }
}

void value_list_add(struct value_list *l, struct value v)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 4;

        l->items = arena_grow(l->arena, l->items, l->cap * sizeof(*l->items), cap * sizeof(*l->items));
        l->cap = cap;
    }
    l->items[l->n++] = v;
}

static struct value copy(struct arena *a, struct value v, int depth, bool *cut)
{
    if (depth > VALUE_DEPTH_MAX) {
        if (cut)
            *cut = true;
        return VALUE_NONE;
    }
    if (v.kind == VALUE_STRING || v.kind == VALUE_BYTES) {
        v.s = arena_dup(a, value_str(v)).p;
    } else if (v.kind == VALUE_LIST) {
        struct value *items = ARENA_ARRAY(a, struct value, v.n);

        for (uint32_t i = 0; i < v.n; i++)
            items[i] = copy(a, v.list[i], depth + 1, cut);
        v.list = items;
    } else if (v.kind == VALUE_MAP) {
        struct value m = value_new_map_sized(a, v.map->n);

        for (uint32_t i = 0; i < v.map->n; i++)
            value_append(m, arena_dup(a, v.map->e[i].key), copy(a, v.map->e[i].v, depth + 1, cut));
        v.map = m.map;
    }
    return v;
}

struct value value_copy(struct arena *a, struct value v, bool *ret_cut)
{
    return copy(a, v, 0, ret_cut);
}

static struct value copy_maps(struct arena *a, struct value v, int depth)
{
    if (depth > VALUE_DEPTH_MAX)
        return VALUE_NONE;
    if (v.kind == VALUE_LIST) {
        struct value *items = NULL;

        for (uint32_t i = 0; i < v.n; i++) {
            if (!items && (v.list[i].kind == VALUE_MAP || v.list[i].kind == VALUE_LIST)) {
                items = ARENA_ARRAY(a, struct value, v.n);
                memcpy(items, v.list, v.n * sizeof(*items));
            }
            if (items)
                items[i] = copy_maps(a, v.list[i], depth + 1);
        }
        if (items)
            v.list = items;
    } else if (v.kind == VALUE_MAP) {
        struct value m = value_new_map_sized(a, v.map->n);

        for (uint32_t i = 0; i < v.map->n; i++)
            value_append(m, v.map->e[i].key, copy_maps(a, v.map->e[i].v, depth + 1));
        v.map = m.map;
    }
    return v;
}

struct value value_copy_maps(struct arena *a, struct value v)
{
    return copy_maps(a, v, 0);
}

bool value_is_deeper(struct value v, int levels)
{
    bool deeper = false;

    if (v.kind != VALUE_MAP && v.kind != VALUE_LIST)
        return false;
    if (levels == 0)
        return true;
    for (struct value_iter it = value_iter(v); !deeper && value_next(&it);)
        deeper = value_is_deeper(it.v, levels - 1);
    return deeper;
}

static bool equal(struct value a, struct value b, int depth)
{
    if (a.kind != b.kind) {
        if (a.kind == VALUE_INT && b.kind == VALUE_UINT)
            return a.i >= 0 && (uint64_t)a.i == b.u;
        if (a.kind == VALUE_UINT && b.kind == VALUE_INT)
            return b.i >= 0 && (uint64_t)b.i == a.u;
        return false;
    }
    if (depth > VALUE_DEPTH_MAX)
        return false;
    switch ((enum value_kind)a.kind) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return a.b == b.b;
    case VALUE_INT:
    case VALUE_UINT:
        return a.u == b.u;
    case VALUE_FLOAT:
        return a.f == b.f;
    case VALUE_STRING:
    case VALUE_BYTES:
        return str_eq(value_str(a), value_str(b));
    case VALUE_LIST:
        if (a.n != b.n)
            return false;
        for (uint32_t i = 0; i < a.n; i++)
            if (!equal(a.list[i], b.list[i], depth + 1))
                return false;
        return true;
    case VALUE_MAP:
        if (a.map->n != b.map->n)
            return false;
        for (uint32_t i = 0; a.map != b.map && i < a.map->n; i++)
            if (!str_eq(a.map->e[i].key, b.map->e[i].key) || !equal(a.map->e[i].v, b.map->e[i].v, depth + 1))
                return false;
        return true;
    case VALUE_OBJECT:
        return a.object == b.object;
    }
    return false;
}

bool value_equal(struct value a, struct value b)
{
    return equal(a, b, 0);
}

static struct value merge_patch(struct arena *a, struct value target, struct value patch, int depth)
{
    struct value to;

    if (patch.kind != VALUE_MAP || depth > VALUE_DEPTH_MAX)
        return patch;
    to = value_new_map_sized(a, value_len(target) + patch.map->n);
    if (target.kind == VALUE_MAP)
        for (uint32_t i = 0; i < target.map->n; i++)
            value_append(to, target.map->e[i].key, target.map->e[i].v);
    for (uint32_t i = 0; i < patch.map->n; i++) {
        const struct value_entry *e = &patch.map->e[i];

        if (e->v.kind == VALUE_NULL)
            value_unset(to, e->key);
        else
            value_set(to, e->key, merge_patch(a, value_get(to, e->key), e->v, depth + 1));
    }
    return to;
}

struct value value_merge_patch(struct arena *a, struct value target, struct value patch)
{
    return merge_patch(a, target, patch, 0);
}
