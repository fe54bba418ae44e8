/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static NORETURN void out_of_memory(void)
{
    static const char text[] = "out of memory\n";

    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        abort();
    abort();
}

void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);

    if (!p)
        out_of_memory();
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);

    if (!p)
        out_of_memory();
    return p;
}

void *xrealloc(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p)
        out_of_memory();
    return p;
}

void *xreallocarray(void *p, size_t count, size_t size)
{
    size_t n;

    if (__builtin_mul_overflow(count, size, &n))
        out_of_memory();
    return xrealloc(p, n);
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
    char *p = xmalloc(n + 1);

    if (n > 0)
        memcpy(p, s, n);
    p[n] = '\0';
    return p;
}

char *xasprintf(const char *fmt, ...)
{
    char *p = NULL;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vasprintf(&p, fmt, args);
    va_end(args);
    if (n < 0)
        out_of_memory();
    return p;
}

void free_ptr(void *p)
{
    free(p);
}

void fd_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

void *array_grow(void *items, size_t *cap, size_t want, size_t size)
{
    size_t n = *cap ? *cap : 8;

    if (want <= *cap)
        return items;
    while (n < want) {
        if (__builtin_mul_overflow(n, (size_t)2, &n))
            out_of_memory();
    }
    items = xreallocarray(items, n, size);
    *cap = n;
    return items;
}

#define PAGE ((uintptr_t)4096)
#define HUGE_PAGE ((uintptr_t)2 * 1024 * 1024)
#define HEAP_SMALL ((uintptr_t)400 * 1024)
#define HEAP_HUGE (2 * HUGE_PAGE)
/* What every run needs comes at once, which takes half as long as page by page. */
#define HEAP_SURE ((uintptr_t)192 * 1024)

/* The heap's top is moved up to end HEAP_SMALL before a huge page begins: the address space in between stays unused. What
 * malloc writes while it grows the heap is before that place, for a page that is there already is never made huge. */
void memory_for_one_run(void)
{
    uintptr_t top = (uintptr_t)sbrk(0);
    uintptr_t huge = (top + HEAP_SMALL + PAGE + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    void *volatile grown;

    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
    mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
    if (sbrk((intptr_t)(huge - PAGE - HEAP_SMALL - top)) == (void *)-1)
        return;
    mallopt(M_TOP_PAD, HEAP_HUGE);
    grown = xmalloc(HEAP_SMALL);
    free(grown);
    mallopt(M_TOP_PAD, 128 * 1024);
    madvise((void *)huge, HEAP_HUGE, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    madvise((void *)(huge - HEAP_SMALL), HEAP_SURE, MADV_POPULATE_WRITE);
#endif
}

void memory_share_heaps(void)
{
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    mallopt(M_TRIM_THRESHOLD, 256 * 1024);
}
