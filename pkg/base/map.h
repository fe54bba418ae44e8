/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* map: string keys to pointers, insertion ordered. Keys are copied, unless the map borrows them; values belong to the caller.
 * The hash is seeded per process, so outsiders cannot choose colliding keys. One thread at a time. */
#include "base/base.h"
#include "base/str.h"

struct map_slot {
    uint64_t hash;
    char *key; /* NULL: removed */
    size_t key_n;
    void *value;
};

struct map {
    struct map_slot *slots; /* in insertion order */
    size_t n_slots, cap_slots;
    size_t n;        /* live entries */
    uint32_t *index; /* open addressing; slot + 1, 0 is empty */
    uint32_t cap_index;
    bool borrows;
};

#define MAP_INIT ((struct map){ 0 })
#define MAP_INIT_BORROWING \
    ((struct map){ .borrows = true }) /* for keys that outlive the map where they are */
void map_done(struct map *m);         /* frees keys and tables, not the values; m can be used again */
void map_clear(struct map *m);        /* empty again, tables kept */
DEFINE_CLEANUP_VALUE(struct map, map_done)

void *map_get(const struct map *m, struct str key); /* NULL when absent */
bool map_has(const struct map *m, struct str key);
void *map_put(struct map *m, struct str key, void *value); /* returns the value it replaced, or NULL */
void *map_remove(struct map *m, struct str key);           /* returns the value, or NULL */
/* Where the value of a key is, until the next put; a new key has NULL there. */
void **map_at(struct map *m, struct str key);
static inline size_t map_n(const struct map *m)
{
    return m->n;
}

/* for (size_t i = 0; map_next(m, &i, &key, &value);) — in insertion order; removing the current key is allowed,
 * putting is not. `key` and `value` may be NULL. */
bool map_next(const struct map *m, size_t *i, struct str *key, void **value);
