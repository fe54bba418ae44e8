/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "yaml/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes end in an error or in a value; what is printed of it can be read again, but for a key "<<" that was quoted:
 * go-yaml prints it plain. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct yml_options strict = { .floats = true, .strict = true };
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(64 * MIB), pretty = BUF_INIT(64 * MIB);
    struct str text = { (const char *)data, size };
    struct value v, again;

    if (yml_parse_all(a, text, &strict, &v, NULL) == 0)
        assert(value_is_list(v));
    if (yml_parse(a, text, NULL, &v, NULL) < 0)
        return 0;
    if (yml_print_pretty(v, &pretty, NULL) < 0 || yml_print(v, &out, NULL) < 0)
        return 0;
    assert(yml_parse(a, buf_str(&out), NULL, &again, NULL) == 0 || str_contains(buf_str(&out), STR("<<")));
    return 0;
}
