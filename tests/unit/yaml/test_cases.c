/* SPDX-License-Identifier: Apache-2.0 */
/* tests/data/yaml/cases.txt: what Go's libraries answered to made-up inputs (tests/conformance/yamloracle). */
#include "base/limits.h"
#include "lib/check.h"
#include "lib/gocases.h"
#include "yaml/yaml.h"
#include "json/json.h"

static int answer(char op, struct str text, struct buf *out, struct err **err)
{
    static const struct json_options json_floats = { .floats = true };
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct yml_options yaml = { .floats = true, .strict = op == 's' };
    struct value v;
    int r;

    if (op == 'y' || op == 's')
        r = yml_parse(a, text, &yaml, &v, err);
    else
        r = json_parse(a, text, op == 'j' ? &json_floats : NULL, &v, err);
    if (r < 0)
        return r;
    if (op == 'p')
        return yml_print(v, out, err);
    if (op == 'q')
        return yml_print_pretty(v, out, err);
    return json_print(v, op == 'i' ? JSON_INDENT | JSON_ESCAPE_HTML : 0, out, err);
}

static void test_every_recorded_answer_of_go_is_ours(void **state)
{
    UNUSED(state);
    assert_go_cases("yaml/cases.txt", 300, answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_recorded_answer_of_go_is_ours),
    };

    return RUN_TESTS(tests);
}
