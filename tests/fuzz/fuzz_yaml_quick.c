/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "yaml/quick.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct str members[] = { { "kind", 4 }, { "metadata", 8 } };

/* What is asked for of the root must be there although the rest was dropped. */
static void check_members(struct str text, struct value whole)
{
    const struct yml_options options = { .only = members, .n_only = ARRAY_SIZE(members) };
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    struct value v;

    assert(yml_quick_parse(a, text, &options, &v) && v.kind == whole.kind);
    for (size_t i = 0; i < ARRAY_SIZE(members); i++)
        assert(value_equal(value_get(v, members[i]), value_get(whole, members[i])));
}

/* Whatever the quick reader takes, libyaml reads as the same value; what libyaml refuses, the quick reader does not take. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct yml_options options[] = { { 0 },
                                                  { .floats = true, .borrow = true },
                                                  { .keep_kinds = true, .strict = true } };

    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB), *b = arena_new(256 * MIB);
        struct str text = { (const char *)data, size };
        struct value quick, slow;

        if (!yml_quick_parse(a, text, &options[i], &quick))
            return 0;
        assert(yml_parse_events(b, text, &options[i], &slow, NULL) == 0);
        assert(value_equal(quick, slow));
        if (i == 0)
            check_members(text, slow);
    }
    return 0;
}
