/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "schema/schema.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A schema, a line's end, an instance: compiles or not, is valid or not, with and without a report alike; and what is surely
 * valid is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(schema_free) struct schema *s = NULL;
    CLEANUP(buf_done) struct buf report = BUF_INIT(64 * MIB);
    struct str rest = { (const char *)data, size }, text;
    struct value v = VALUE_NONE;
    int loud, quiet;
    bool sure;

    if (!str_split(&rest, '\n', &text) || (rest.n > 0 && json_parse(a, rest, NULL, &v, NULL) < 0))
        return 0;
    sure = schema_is_surely_valid(text, v);
    if (schema_compile(text, &s, NULL) < 0) {
        assert(!sure);
        return 0;
    }
    loud = schema_validate(s, v, &report, NULL);
    quiet = schema_validate(s, v, NULL, NULL);
    assert(loud < 0 || quiet < 0 || loud == quiet);
    assert(loud == 0 || !sure);
    assert(loud != 1 || report.n > 0);
    return 0;
}
