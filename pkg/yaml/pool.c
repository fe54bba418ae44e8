/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#define POOLS false /* each piece by itself, so that it is watched */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOLS false
#endif
#endif
#ifndef POOLS
#define POOLS true
#endif

#define SMALLEST ((size_t)16)
#define CHUNK_FIRST ((size_t)4 * 1024)
#define CHUNK_MAX ((size_t)64 * 1024)

/* In front of each piece. */
struct head {
    _Alignas(16) size_t size; /* of the piece; more than the largest class: it is malloc's */
    size_t class;
};

struct chunk {
    _Alignas(16) struct chunk *next;
};

static _Thread_local struct yml_pool *current;

struct yml_pool *yml_pool_use(struct yml_pool *p)
{
    struct yml_pool *before = current;

    current = p;
    return before;
}

void yml_pool_done(struct yml_pool *p)
{
    for (struct chunk *c = p->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *p = (struct yml_pool){ 0 };
}

static struct head *head_of(void *p)
{
    return (struct head *)p - 1;
}

static void new_chunk(struct yml_pool *p, size_t need)
{
    size_t size = MIN(CHUNK_FIRST << MIN(p->n_chunks, (size_t)4), CHUNK_MAX);
    struct chunk *c;

    size = MAX(size, need + sizeof(*c));
    c = xmalloc(size);
    c->next = p->chunks;
    p->chunks = c;
    p->n_chunks++;
    p->at = (char *)(c + 1);
    p->left = size - sizeof(*c);
}

static size_t class_of(size_t n)
{
    return n <= SMALLEST ? 0 : (size_t)(64 - __builtin_clzl(n - 1)) - 4;
}

void *yml_pool_malloc(size_t n)
{
    size_t class = class_of(n), size = SMALLEST << class;
    struct yml_pool *p = current;
    struct head *h;

    if (!POOLS || !p || class >= YML_POOL_CLASSES) {
        h = xmalloc(sizeof(*h) + n);
        *h = (struct head){ n, YML_POOL_CLASSES };
        return h + 1;
    }
    if (p->free[class]) {
        void *piece = p->free[class];

        memcpy(&p->free[class], piece, sizeof(void *));
        return piece;
    }
    if (p->left < sizeof(*h) + size)
        new_chunk(p, sizeof(*h) + size);
    h = (struct head *)(void *)p->at;
    p->at += sizeof(*h) + size;
    p->left -= sizeof(*h) + size;
    *h = (struct head){ size, class };
    return h + 1;
}

void yml_pool_free(void *piece)
{
    size_t class;

    if (!piece)
        return;
    class = head_of(piece)->class;
    if (class == YML_POOL_CLASSES) {
        free(head_of(piece));
        return;
    }
    assert(current);
    memcpy(piece, &current->free[class], sizeof(void *));
    current->free[class] = piece;
}

void *yml_pool_realloc(void *piece, size_t n)
{
    size_t had = piece ? head_of(piece)->size : 0;
    void *larger;

    if (piece && n <= had)
        return piece;
    larger = yml_pool_malloc(n);
    if (piece)
        memcpy(larger, piece, had);
    yml_pool_free(piece);
    return larger;
}

char *yml_pool_strdup(const char *z)
{
    size_t n = strlen(z) + 1;

    return memcpy(yml_pool_malloc(n), z, n);
}
