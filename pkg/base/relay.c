/* SPDX-License-Identifier: Apache-2.0 */
#include "base/relay.h"

#include <assert.h>

void relay_init(struct relay *r, size_t n)
{
    assert(n >= 2);
    *r = (struct relay){ .n = n };
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->moved, NULL);
}

void relay_done(struct relay *r)
{
    pthread_cond_destroy(&r->moved);
    pthread_mutex_destroy(&r->mutex);
}

bool relay_push(struct relay *r)
{
    bool ok;

    r->open = (r->open + 1) % r->n;
    pthread_mutex_lock(&r->mutex);
    r->filled++;
    pthread_cond_signal(&r->moved);
    while (r->filled == r->n && !r->broken)
        pthread_cond_wait(&r->moved, &r->mutex);
    ok = !r->broken;
    pthread_mutex_unlock(&r->mutex);
    return ok;
}

bool relay_pull(struct relay *r, size_t *ret)
{
    bool ok;

    pthread_mutex_lock(&r->mutex);
    while (r->filled == 0 && !r->ended && !r->broken)
        pthread_cond_wait(&r->moved, &r->mutex);
    ok = r->filled > 0 && !r->broken;
    *ret = r->first;
    pthread_mutex_unlock(&r->mutex);
    return ok;
}

void relay_drop(struct relay *r)
{
    pthread_mutex_lock(&r->mutex);
    assert(r->filled > 0);
    r->first = (r->first + 1) % r->n;
    r->filled--;
    pthread_cond_signal(&r->moved);
    pthread_mutex_unlock(&r->mutex);
}

static void set(struct relay *r, bool *flag)
{
    pthread_mutex_lock(&r->mutex);
    *flag = true;
    pthread_cond_signal(&r->moved);
    pthread_mutex_unlock(&r->mutex);
}

void relay_end(struct relay *r)
{
    set(r, &r->ended);
}

void relay_break(struct relay *r)
{
    set(r, &r->broken);
}
