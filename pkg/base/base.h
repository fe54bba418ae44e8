/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* base: what every file may rely on: attributes, scope-bound cleanup, allocation that cannot fail.
 *
 * Small allocations abort when memory is gone (a controller in a cgroup is killed first anyway), so they
 * have no error path. Every size that an outsider controls has a limit in base/limits.h instead. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODISCARD __attribute__((warn_unused_result))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define UNUSED(x) ((void)(x))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* A call whose failure is meant to have no consequence; grep for it in reviews. */
#define IGNORE_ERROR(call)           \
    do {                             \
        int ignored_error_ = (call); \
        UNUSED(ignored_error_);      \
    } while (0)

/* CLEANUP(foo_free) struct foo *f = NULL; calls foo_free(f) when f goes out of scope, unless it is NULL.
 * Runs on return and break, never across longjmp(). */
#define CLEANUP(fn) __attribute__((cleanup(fn##_cleanup)))
#define DEFINE_CLEANUP(type, fn)             \
    static inline void fn##_cleanup(type *p) \
    {                                        \
        if (*p)                              \
            fn(*p);                          \
    }
/* The same for structs held by value: the destructor takes a pointer and accepts an initialised struct. */
#define DEFINE_CLEANUP_VALUE(type, fn)       \
    static inline void fn##_cleanup(type *p) \
    {                                        \
        fn(p);                               \
    }

/* Yields the pointer and leaves NULL behind: the value has a new owner. */
#define TAKE(p)                     \
    ({                              \
        __typeof__(p) taken_ = (p); \
        (p) = NULL;                 \
        taken_;                     \
    })

/* malloc family that aborts instead of returning NULL. Owned by the caller; release with free(). */
void *xmalloc(size_t n) NODISCARD;
void *xcalloc(size_t count, size_t size) NODISCARD; /* zeroed; aborts on overflow too */
void *xrealloc(void *p, size_t n) NODISCARD;
void *xreallocarray(void *p, size_t count, size_t size) NODISCARD;
char *xstrdup(const char *s) NODISCARD;
char *xstrndup(const char *s, size_t n) NODISCARD;
char *xasprintf(const char *fmt, ...) PRINTF(1, 2) NODISCARD;
/* For a process that does one thing with a few megabytes and ends: one heap that keeps what is freed, and whose first
 * megabytes are huge pages where the system has them. Page by page they would take as long as rendering a chart. */
void memory_for_one_run(void);
/* For a process that lives long, before its first thread: two heaps that all threads share, and large blocks that go back
 * to the system when they are freed. Else each of a hundred threads keeps what its largest request needed. */
void memory_share_heaps(void);

void free_ptr(void *p); /* free() under a name that CLEANUP() can use */
static inline void free_ptr_cleanup(void *p)
{
    free_ptr(*(void **)p);
}

/* Closes a descriptor that is not negative. CLEANUP(fd_close) int fd = -1; */
void fd_close(int fd);
static inline void fd_close_cleanup(int *fd)
{
    if (*fd >= 0)
        fd_close(*fd);
}

/* Grows *items (elements of `size` bytes, capacity *cap) so that it holds at least `want` elements. */
void *array_grow(void *items, size_t *cap, size_t want, size_t size) NODISCARD;
#define ARRAY_GROW(items, cap, want)     \
    ((items) = (want) <= (cap) ? (items) \
                               : (__typeof__(items))array_grow((items), &(cap), (want), sizeof(*(items))))
