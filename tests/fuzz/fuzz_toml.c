/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "toml/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes end in an error or in a document that prints, and what is printed is a document again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(64 * MIB);
    struct value v, again;

    if (toml_parse(a, (struct str){ (const char *)data, size }, &v, NULL) < 0)
        return 0;
    assert(value_is_map(v));
    if (toml_print(v, &out, NULL) == 0)
        assert(toml_parse(a, buf_str(&out), &again, NULL) == 0);
    return 0;
}
