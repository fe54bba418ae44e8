/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* relay: one thread fills slots, another one empties them, in turn. The slots are the owner's array; between two calls each
 * belongs to one thread alone, and what was written to it is seen by the other. */
#include <pthread.h>

#include "base/base.h"

struct relay {
    size_t n;    /* slots */
    size_t open; /* the one to be filled: the filling thread's */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    size_t first, filled; /* guarded by the mutex, as are those below */
    bool ended, broken;
};

void relay_init(struct relay *r, size_t n); /* n of two or more */
void relay_done(struct relay *r);           /* both threads are through with it */

/* The filling thread: slot `open` is full. Waits until the next one is free: `open` then. False: broken. */
NODISCARD bool relay_push(struct relay *r);
/* ... nothing more will come. */
void relay_end(struct relay *r);

/* The emptying thread: waits for a full slot. False: there will be none, or broken. */
NODISCARD bool relay_pull(struct relay *r, size_t *ret);
/* ... it is empty. */
void relay_drop(struct relay *r);

/* Either of them gives up: nobody waits any more, and what both do from now on fails. */
void relay_break(struct relay *r);
