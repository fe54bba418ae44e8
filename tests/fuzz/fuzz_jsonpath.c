/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is JSON, the rest a template. */
#include <assert.h>

#include "base/arena.h"
#include "base/limits.h"
#include "jsonpath/jsonpath.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(jsonpath_free) struct jsonpath *path = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(JSONPATH_OUTPUT_MAX);
    struct str text = { (const char *)data, size }, json;
    struct value v;

    str_split(&text, '\n', &json);
    if (json_parse(a, json, &(struct json_options){ .floats = true }, &v, NULL) < 0)
        return 0;
    if (jsonpath_parse(text.p ? text : STR(""), &path, NULL) < 0)
        return 0;
    if (jsonpath_print(path, v, &out, NULL) < 0)
        assert(out.n == 0);
    return 0;
}
