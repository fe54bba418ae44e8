/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void free_keys(struct map *m)
{
    for (size_t i = 0; !m->borrows && i < m->n_slots; i++)
        free(m->slots[i].key);
}

void map_done(struct map *m)
{
    free_keys(m);
    free(m->slots);
    free(m->index);
    *m = (struct map){ .borrows = m->borrows };
}

void map_clear(struct map *m)
{
    free_keys(m);
    m->n = m->n_slots = 0;
    if (m->cap_index > 0)
        memset(m->index, 0, m->cap_index * sizeof(*m->index));
}

static struct map_slot *find(const struct map *m, struct str key, uint64_t hash)
{
    size_t at;

    if (m->cap_index == 0)
        return NULL;
    for (at = hash & (m->cap_index - 1); m->index[at]; at = (at + 1) & (m->cap_index - 1)) {
        struct map_slot *s = &m->slots[m->index[at] - 1];

        if (s->key && s->hash == hash && str_eq((struct str){ s->key, s->key_n }, key))
            return s;
    }
    return NULL;
}

void *map_get(const struct map *m, struct str key)
{
    struct map_slot *s = find(m, key, str_hash(key));

    return s ? s->value : NULL;
}

bool map_has(const struct map *m, struct str key)
{
    return find(m, key, str_hash(key)) != NULL;
}

static void index_add(struct map *m, size_t slot)
{
    size_t at = m->slots[slot].hash & (m->cap_index - 1);

    while (m->index[at])
        at = (at + 1) & (m->cap_index - 1);
    m->index[at] = (uint32_t)(slot + 1);
}

/* Drops removed slots and makes the index at most half full. */
static void rebuild(struct map *m)
{
    size_t live = 0, cap = 16;

    for (size_t i = 0; i < m->n_slots; i++)
        if (m->slots[i].key)
            m->slots[live++] = m->slots[i];
    m->n_slots = live;
    while (cap < (live + 1) * 4)
        cap *= 2;
    assert(cap <= UINT32_MAX); /* of entries that fill 16 GiB */
    free(m->index);
    m->index = xcalloc(cap, sizeof(*m->index));
    m->cap_index = (uint32_t)cap;
    for (size_t i = 0; i < live; i++)
        index_add(m, i);
}

static char *kept_key(const struct map *m, struct str key)
{
    if (!m->borrows)
        return str_dup(key);
    return (char *)(uintptr_t)(key.p ? key.p : "");
}

void **map_at(struct map *m, struct str key)
{
    uint64_t hash = str_hash(key);
    struct map_slot *s = find(m, key, hash);

    if (s)
        return &s->value;
    if ((m->n_slots + 1) * 2 > m->cap_index)
        rebuild(m);
    ARRAY_GROW(m->slots, m->cap_slots, m->n_slots + 1);
    m->slots[m->n_slots] = (struct map_slot){ hash, kept_key(m, key), key.n, NULL };
    index_add(m, m->n_slots++);
    m->n++;
    return &m->slots[m->n_slots - 1].value;
}

void *map_put(struct map *m, struct str key, void *value)
{
    void **at = map_at(m, key), *old = *at;

    *at = value;
    return old;
}

void *map_remove(struct map *m, struct str key)
{
    struct map_slot *s = find(m, key, str_hash(key));

    if (!s)
        return NULL;
    if (!m->borrows)
        free(s->key);
    s->key = NULL;
    m->n--;
    return s->value;
}

bool map_next(const struct map *m, size_t *i, struct str *key, void **value)
{
    while (*i < m->n_slots) {
        struct map_slot *s = &m->slots[(*i)++];

        if (!s->key)
            continue;
        if (key)
            *key = (struct str){ s->key, s->key_n };
        if (value)
            *value = s->value;
        return true;
    }
    return false;
}
