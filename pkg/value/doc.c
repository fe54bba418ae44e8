/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "value/value.h"

struct doc {
    atomic_int refs;
    struct arena *arena;
    struct value root;
};

/* No map of a frozen tree may grow. */
static void freeze(struct value v, int depth)
{
    assert(depth <= VALUE_DEPTH_MAX + 1);
    if (v.kind == VALUE_LIST) {
        for (uint32_t i = 0; i < v.n; i++)
            freeze(v.list[i], depth + 1);
    } else if (v.kind == VALUE_MAP) {
        v.map->arena = NULL;
        for (uint32_t i = 0; i < v.map->n; i++)
            freeze(v.map->e[i].v, depth + 1);
    }
}

struct doc *doc_take(struct arena *a, struct value root)
{
    struct doc *d = xcalloc(1, sizeof(*d));

    atomic_init(&d->refs, 1);
    d->arena = a;
    d->root = root;
    freeze(root, 0);
    return d;
}

struct doc *doc_freeze(struct value v)
{
    struct arena *a = arena_new(SIZE_MAX);

    return doc_take(a, value_copy(a, v, NULL));
}

struct doc *doc_ref(struct doc *d)
{
    atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    return d;
}

struct doc *doc_unref(struct doc *d)
{
    if (d && atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) == 1) {
        arena_free(d->arena);
        free(d);
    }
    return NULL;
}

struct value doc_root(const struct doc *d)
{
    return d ? d->root : VALUE_NONE;
}

static void unref_doc(void *d)
{
    doc_unref(d);
}

void doc_keep(struct arena *a, struct doc *d)
{
    arena_on_free(a, unref_doc, doc_ref(d));
}
