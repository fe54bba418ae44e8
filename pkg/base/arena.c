/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#define GAP 16
#define MAPS false /* nobody would look for pointers there */
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define GAP 0
#define MAPS true
#endif

#define CHUNK_FIRST ((size_t)4 * 1024)
#define CHUNK_MAX ((size_t)1024 * 1024)

struct chunk {
    struct chunk *prev;
    size_t cap, used;
    bool mapped; /* by itself */
    _Alignas(16) char data[];
};

struct on_free {
    struct on_free *next;
    void (*fn)(void *);
    void *p;
};

struct arena {
    struct chunk *top;
    struct chunk
        *spare; /* the largest that a rewind gave back, so that a loop of marks costs no system calls */
    size_t total, limit;
    size_t peak; /* before the last rewind */
    size_t next_chunk;
    struct on_free *on_free;
    bool failed;
};

struct arena *arena_new(size_t limit_bytes)
{
    struct arena *a = xcalloc(1, sizeof(*a));

    a->limit = limit_bytes;
    a->next_chunk = CHUNK_FIRST;
    return a;
}

static void free_chunk(struct chunk *c)
{
    if (c && c->mapped)
        munmap(c, sizeof(*c) + c->cap);
    else
        free(c);
}

static void pop_chunk(struct arena *a)
{
    struct chunk *c = a->top;

    a->top = c->prev;
    UNPOISON(c->data, c->cap);
    free_chunk(c);
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct on_free *f = a->on_free, *next; f; f = next) {
        next = f->next;
        f->fn(f->p);
        free(f);
    }
    while (a->top)
        pop_chunk(a);
    free_chunk(a->spare);
    free(a);
}

/* Takes the top chunk off and keeps it when it is the largest of its kind. */
static void put_aside(struct arena *a)
{
    struct chunk *c = a->top, *smaller = c;

    if (c->cap <= CHUNK_MAX && (!a->spare || a->spare->cap < c->cap)) {
        smaller = a->spare;
        a->spare = c;
    }
    a->top = c->prev;
    POISON(c->data, c->cap);
    free_chunk(smaller);
}

/* Whoever asks for this much fills it. One fault a page costs more than what is written to the page, so all pages come at
 * once, as huge ones where they fit. Both are requests: an older kernel refuses and faults as ever. */
#define MAP_MIN ((size_t)1024 * 1024)
#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

static struct chunk *map_chunk(size_t cap)
{
    size_t n = sizeof(struct chunk) + cap;
    struct chunk *c = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (c == MAP_FAILED)
        return NULL;
#ifdef MADV_POPULATE_WRITE
    if (n >= HUGE_PAGE)
        madvise(c, n, MADV_HUGEPAGE);
    madvise(c, n, MADV_POPULATE_WRITE);
#endif
    c->mapped = true;
    c->cap = cap;
    return c;
}

static struct chunk *allocate_chunk(size_t cap)
{
    struct chunk *c = xmalloc(sizeof(*c) + cap);

    c->mapped = false;
    c->cap = cap;
    return c;
}

static struct chunk *new_chunk(struct arena *a, size_t n)
{
    struct chunk *c = NULL;

    if (a->spare && n <= a->spare->cap)
        return TAKE(a->spare);
    if (MAPS && n >= MAP_MIN)
        c = map_chunk(n);
    if (!c) {
        c = allocate_chunk(MAX(a->next_chunk, n));
        a->next_chunk = MIN(a->next_chunk * 2, CHUNK_MAX);
    }
    POISON(c->data, c->cap);
    return c;
}

static void push_chunk(struct arena *a, size_t n)
{
    struct chunk *c = new_chunk(a, n);

    c->prev = a->top;
    c->used = 0;
    a->top = c;
}

static void *take(struct arena *a, size_t n, size_t align)
{
    struct chunk *c = a->top;
    size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;
    void *p;

    if (!c || at > c->cap || n + GAP > c->cap - at) {
        push_chunk(a, n + GAP);
        c = a->top;
        at = 0;
    }
    p = c->data + at;
    c->used = at + n + GAP;
    a->total += n;
    if (a->total > a->limit)
        a->failed = true;
    UNPOISON(p, n);
    return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
    return take(a, n, 16);
}

void *arena_alloc_words(struct arena *a, size_t n)
{
    return take(a, n, 8);
}

void *arena_alloc_bytes(struct arena *a, size_t n)
{
    return take(a, n, 1);
}

void *arena_calloc(struct arena *a, size_t n)
{
    return memset(arena_alloc(a, n), 0, n);
}

void *arena_alloc_array(struct arena *a, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        abort();
    return arena_alloc(a, bytes);
}

void *arena_grow(struct arena *a, void *p, size_t old, size_t n)
{
    struct chunk *c = a->top;
    char *end = p ? (char *)p + old + GAP : NULL;
    void *to;

    if (n <= old)
        return p;
    if (p && c && end == c->data + c->used && n - old <= c->cap - c->used) {
        c->used += n - old;
        a->total += n - old;
        if (a->total > a->limit)
            a->failed = true;
        UNPOISON(p, n);
        return p;
    }
    to = arena_alloc(a, n);
    if (old > 0)
        memcpy(to, p, old);
    return to;
}

struct str arena_dup(struct arena *a, struct str s)
{
    char *p = arena_alloc_bytes(a, s.n + 1);

    if (s.n > 0)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){ p, s.n };
}

const char *arena_dupz(struct arena *a, struct str s)
{
    return arena_dup(a, s).p;
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args, again;
    char *p;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(n >= 0);
    p = arena_alloc_bytes(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (struct str){ p, (size_t)n };
}

void arena_on_free(struct arena *a, void (*fn)(void *p), void *p)
{
    struct on_free *f = xmalloc(sizeof(*f));

    *f = (struct on_free){ a->on_free, fn, p };
    a->on_free = f;
}

bool arena_fits(const struct arena *a, size_t n)
{
    return !a->failed && n <= a->limit - MIN(a->total, a->limit);
}

bool arena_failed(const struct arena *a)
{
    return a->failed;
}

size_t arena_used(const struct arena *a)
{
    return a->total;
}

size_t arena_peak(const struct arena *a)
{
    return MAX(a->peak, a->total);
}

size_t arena_limit(const struct arena *a)
{
    return a->limit;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){ a->top, a->top ? a->top->used : 0, a->total };
}

void arena_rewind(struct arena *a, struct arena_mark m)
{
    while (a->top != m.chunk) {
        assert(a->top); /* the mark is of another arena, or older than a rewind before it */
        put_aside(a);
    }
    if (a->top) {
        POISON(a->top->data + m.used, a->top->cap - m.used);
        a->top->used = m.used;
    }
    a->peak = MAX(a->peak, a->total);
    a->total = m.total;
}
