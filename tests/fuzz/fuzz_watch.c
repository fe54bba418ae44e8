/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "kube/kube.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes what comes; the number of events, or the failure's code below zero. */
static int drain(struct kube_watch_parser *p, struct arena *a, int n)
{
    struct kube_watch_event e;
    int r = 0;

    while (n >= 0 && (r = kube_watch_parser_next(p, a, &e, NULL)) > 0)
        n++;
    return r < 0 ? r : n;
}

/* However a stream is cut into pieces, the same events come out of it. The first byte chooses the pieces. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    CLEANUP(kube_watch_parser_free) struct kube_watch_parser *whole = kube_watch_parser_new(64 * KIB);
    CLEANUP(kube_watch_parser_free) struct kube_watch_parser *cut = kube_watch_parser_new(64 * KIB);
    size_t piece;
    int want, got = 0;

    if (size == 0)
        return 0;
    piece = 1 + data[0] % 17;
    kube_watch_parser_add(whole, (struct str){ (const char *)data + 1, size - 1 });
    want = drain(whole, a, 0);
    for (size_t at = 1; at < size; at += piece) {
        kube_watch_parser_add(cut, (struct str){ (const char *)data + at, MIN(piece, size - at) });
        got = drain(cut, a, got);
    }
    assert(want == got);
    return 0;
}
