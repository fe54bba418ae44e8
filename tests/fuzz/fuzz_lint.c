/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "chart/lint_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A rendered manifest: any bytes end, object by object, in the end or in an error that has words; what is said about the
 * objects' names is text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    CLEANUP(lint_decoder_done) struct lint_decoder d;
    CLEANUP(err_free) struct err *err = NULL;
    struct lint_object o;
    size_t left;
    int r;

    lint_decoder_init(&d, a, (struct str){ (const char *)data, size });
    left = d.rest.n;
    while ((r = lint_decoder_next(&d, &o, &err)) > 0) {
        CLEANUP(buf_done) struct buf faults = BUF_INIT(64 * MIB);

        assert(d.rest.n <= left);
        left = d.rest.n;
        if (r == 1)
            lint_name_faults(&o, &faults);
        assert(!faults.failed);
    }
    assert((r < 0) == (err != NULL));
    assert(r == 0 || err_message(err)[0]);
    return 0;
}
