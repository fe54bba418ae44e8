/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* arena: memory that is released as a whole. One thread at a time.
 *
 * Nothing is freed one by one. An arena has a byte limit: past it, arena_failed() turns true and stays so, and
 * allocations still succeed within a reserve so that the code in between needs no error path; whoever drives the
 * work (evaluator, parser) polls it and stops with LIMIT. Under ASan every block has a gap behind it and memory
 * that was rewound is poisoned. */
#include "base/base.h"
#include "base/str.h"

struct arena;

struct arena *arena_new(size_t limit_bytes) NODISCARD;
void arena_free(struct arena *a); /* a may be NULL */
DEFINE_CLEANUP(struct arena *, arena_free)

/* Memory aligned for any type; not initialised. Never NULL. */
void *arena_alloc(struct arena *a, size_t n) NODISCARD;
void *arena_calloc(struct arena *a, size_t n) NODISCARD;      /* zeroed */
void *arena_alloc_words(struct arena *a, size_t n) NODISCARD; /* aligned for pointers and 64-bit numbers */
void *arena_alloc_bytes(struct arena *a, size_t n) NODISCARD; /* without alignment: for text */
#define ARENA_NEW(a, type) ((type *)arena_calloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc_array((a), (n), sizeof(type)))
void *arena_alloc_array(struct arena *a, size_t n, size_t size) NODISCARD; /* aborts on overflow */

/* Grows the block at `p` (old bytes, from this arena or NULL) to `n` bytes: in place when it was the last block. */
void *arena_grow(struct arena *a, void *p, size_t old, size_t n) NODISCARD;

struct str arena_dup(struct arena *a, struct str s) NODISCARD;   /* copy; NUL-terminated behind its end */
const char *arena_dupz(struct arena *a, struct str s) NODISCARD; /* the same as a C string */
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3) NODISCARD;

/* Calls fn(p) when the arena is freed (not on rewind), last registered first. */
void arena_on_free(struct arena *a, void (*fn)(void *p), void *p);

/* Would n more bytes stay within the limit? Ask before an allocation whose size an outsider chose. */
bool arena_fits(const struct arena *a, size_t n);
bool arena_failed(const struct arena *a); /* more than the limit was asked for */
size_t arena_used(const struct arena *a); /* bytes handed out and not rewound */
size_t arena_peak(const struct arena *a); /* the highest arena_used() so far */
size_t arena_limit(const struct arena *a);

struct arena_mark {
    void *chunk;
    size_t used, total;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark m); /* everything allocated since the mark is gone */
