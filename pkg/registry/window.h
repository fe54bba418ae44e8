/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* window: the part of an index's text that is being looked at; private to the registry module. Memory is that of the largest
 * entry, not of the text. */
#include "registry/registry_int.h"

struct index_window {
    struct index_source *from;
    char *p; /* what was read and not taken is p[at] to p[n] */
    size_t at, n, cap;
    bool end; /* nothing more will come */
};

void index_window_done(struct index_window *w);
DEFINE_CLEANUP_VALUE(struct index_window, index_window_done)
static inline struct str index_window_text(const struct index_window *w) /* borrowed until more is read */
{
    return (struct str){ w->p ? w->p + w->at : "", w->n - w->at };
}
/* Reads on: 1; 0 at the end of the text, or when INDEX_ENTRY_MAX bytes are not enough. */
NODISCARD int index_window_more(struct index_window *w, struct err **err);
