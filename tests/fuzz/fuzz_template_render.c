/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "template/template.h"

#include "unit/template/render_case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *ctx, struct str path, struct str text)
{
    UNUSED(ctx);
    UNUSED(path);
    UNUSED(text);
}

static struct value some_values(struct arena *a)
{
    struct value values = value_new_map(a), map = value_new_map(a);
    struct value *items = ARENA_ARRAY(a, struct value, 3);

    value_setz(map, "x", VALUE_STR("X"));
    value_setz(map, "nul", VALUE_NONE);
    items[0] = VALUE_STR("a");
    items[1] = value_from_int(1);
    items[2] = map;
    value_setz(values, "s", VALUE_STR("str"));
    value_setz(values, "n", value_from_int(3));
    value_setz(values, "l", value_from_list(items, 3));
    value_setz(values, "m", map);
    return values;
}

/* Any template renders or fails within its budgets. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct render_case c = {
        .names = { STR("templates/t.yaml"), STR("f.txt") },
        .texts = { { (const char *)data, size }, STR("one\ntwo\n") },
        .n = 2,
        .values = some_values(a),
        .env = { .steps_max = 100000, .output_max = MIB, .memory_max = 8 * MIB },
    };

    if (render_case_parse(&c, set, &err) == 0)
        IGNORE_ERROR(render_case_render(&c, set, ignore, NULL, &err));
    return 0;
}
