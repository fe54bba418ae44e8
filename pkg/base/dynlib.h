/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* dynlib: a shared library that is opened when it is first needed, so that it costs nothing at every start.
 *
 *     static struct { CURL *(*easy_init)(void); … } curl;
 *     static const struct dynlib_symbol symbols[] = { DYNLIB_SYMBOL(curl, easy_init, "curl_easy_init"), … };
 *     static struct dynlib lib = DYNLIB("libcurl", "libcurl4", &curl, symbols, "libcurl.so.4");
 *     r = dynlib_open(&lib, err);   // then curl.easy_init()
 */
#include <pthread.h>

#include "base/base.h"
#include "base/err.h"

struct dynlib_symbol {
    const char *name;
    size_t offset; /* of its function pointer in the table */
};
#define DYNLIB_SYMBOL(table, member, name)          \
    {                                               \
        (name), offsetof(__typeof__(table), member) \
    }

#define DYNLIB_FILES 3
struct dynlib {
    const char *title;   /* for error messages: "libcurl" */
    const char *package; /* the Debian package that brings it */
    void *table;
    const struct dynlib_symbol *symbols;
    size_t n_symbols;
    const char *files
        [DYNLIB_FILES]; /* sonames, or paths from "$ORIGIN/" on, the program's folder: the first that is there */
    pthread_mutex_t lock;
    void *handle; /* NULL until it is open */
};
#define DYNLIB(title, package, table, symbols, ...)                                   \
    {                                                                                 \
        (title), (package), (table), (symbols), ARRAY_SIZE(symbols), { __VA_ARGS__ }, \
            PTHREAD_MUTEX_INITIALIZER, NULL                                           \
    }

/* Opens the library and fills the table, once; later calls return 0 at once. It stays open until the process ends.
 * Safe from any thread. UNSUPPORTED naming library and package when no file is there that has all symbols; the next
 * call tries again. */
NODISCARD int dynlib_open(struct dynlib *lib, struct err **err);
