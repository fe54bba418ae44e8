/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

enum { WINDOW_START = 256 * 1024 };

void index_window_done(struct index_window *w)
{
    free(w->p);
    w->p = NULL;
}

int index_window_more(struct index_window *w, struct err **err)
{
    int got;

    if (w->end)
        return 0;
    if (w->at > 0) {
        memmove(w->p, w->p + w->at, w->n - w->at);
        w->n -= w->at;
        w->at = 0;
    }
    if (w->n == w->cap) {
        if (w->cap >= INDEX_ENTRY_MAX)
            return 0;
        w->cap = w->cap ? MIN(w->cap * 2, INDEX_ENTRY_MAX) : WINDOW_START;
        w->p = xrealloc(w->p, w->cap);
    }
    got = index_source_read(w->from, w->p + w->n, w->cap - w->n, err);
    if (got < 0)
        return got;
    w->n += (size_t)got;
    w->end = got == 0;
    return got > 0;
}
