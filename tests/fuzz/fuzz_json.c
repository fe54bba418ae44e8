/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes end in an error or in a value that prints, and what is printed reads back equal. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(64 * MIB);
    struct str text = { (const char *)data, size };
    struct json_scan scan = { 0 };
    struct value v, again;
    size_t end;

    if (json_scan_value(&scan, text, &end, NULL) > 0)
        assert(end <= size);
    if (json_parse(a, text, NULL, &v, NULL) < 0)
        return 0;
    if (json_print(v, JSON_ESCAPE_HTML, &out, NULL) < 0)
        return 0;
    assert(json_parse(a, buf_str(&out), NULL, &again, NULL) == 0);
    buf_clear(&out);
    assert(json_print(again, JSON_INDENT, &out, NULL) == 0);
    return 0;
}
