/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "chart/chart.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any text ends in an error or in a map that can be printed. --set-file is left out: it reads files. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum strvals_kind kinds[] = { STRVALS_SET, STRVALS_STRING, STRVALS_JSON, STRVALS_LITERAL };
    struct str text = { (const char *)data, size };

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        CLEANUP(buf_done) struct buf out = BUF_INIT(64 * MIB);
        struct value v = value_new_map(a);

        if (chart_strvals_parse(a, kinds[i], text, v, NULL) == 0)
            assert(json_print(v, 0, &out, NULL) != -ERRC_INTERNAL);
        assert(value_is_map(v));
    }
    return 0;
}
