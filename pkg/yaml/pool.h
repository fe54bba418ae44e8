/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* pool: memory for libyaml, which asks for half a dozen small pieces for each scalar; private to yaml. Pieces of a parser come from
 * the pool that is in use when it is called, without a lock, and go back to it.
 *
 *     struct yml_pool *before = yml_pool_use(&r->pool);
 *     yaml_parser_parse(…);
 *     yml_pool_use(before);
 */
#include <stddef.h>

enum { YML_POOL_CLASSES = 9 }; /* pieces of 16 to 4096 bytes; larger ones are malloc's */

struct yml_pool { /* all zero: empty */
    void *free[YML_POOL_CLASSES];
    char *at;
    size_t left; /* of the newest chunk */
    void *chunks;
    size_t n_chunks;
};

/* What this thread's calls of libyaml use from now on; NULL: malloc. Returns what they used before. */
struct yml_pool *yml_pool_use(struct yml_pool *p);
/* All pieces are gone. The pool is empty then. */
void yml_pool_done(struct yml_pool *p);

/* By these names libyaml knows malloc, free, realloc and strdup (see the Makefile). What was taken from a pool goes back while the
 * same pool is in use. */
void *yml_pool_malloc(size_t n);
void yml_pool_free(void *p); /* may be NULL */
void *yml_pool_realloc(void *p, size_t n);
char *yml_pool_strdup(const char *z);
