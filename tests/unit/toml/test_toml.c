/* SPDX-License-Identifier: Apache-2.0 */
#include "toml/toml.h"

#include "base/limits.h"
#include "lib/check.h"
#include "lib/gocases.h"
#include "json/json.h"

static int answer(char op, struct str text, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct value v;
    int r;

    if (op == 't') {
        r = toml_parse(a, text, &v, err);
        return r < 0 ? r : json_print(v, 0, out, err);
    }
    r = json_parse(a, text, NULL, &v, err);
    return r < 0 ? r : toml_print(v, out, err);
}

/* tests/data/toml/cases.txt: what BurntSushi/toml answered (tests/conformance/yamloracle). */
static void test_every_recorded_answer_of_go_is_ours(void **state)
{
    UNUSED(state);
    assert_go_cases("toml/cases.txt", 150, answer);
}

static void test_depth_ends_at_the_limit(void **state)
{
    UNUSED(state);
    for (size_t depth = TOML_DEPTH_MAX - 1; depth <= TOML_DEPTH_MAX + 1; depth++) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        CLEANUP(buf_done) struct buf keys = BUF_INIT(MIB), lists = BUF_INIT(MIB), out = BUF_INIT(64 * MIB);
        int want = depth > TOML_DEPTH_MAX ? -ERRC_LIMIT : 0;
        struct value v;

        for (size_t i = 1; i < depth; i++)
            buf_adds(&keys, "k.");
        buf_adds(&keys, "k = 1");
        assert_num(toml_parse(a, buf_str(&keys), &v, NULL), want);
        if (want == 0)
            assert_num(toml_print(v, &out, NULL), 0);
        buf_adds(&lists, "k = ");
        buf_add_repeat(&lists, '[', depth);
        buf_add_repeat(&lists, ']', depth);
        assert_num(toml_parse(a, buf_str(&lists), &v, NULL), want);
    }
}

static void test_bytes_are_a_list_of_numbers(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value m = value_new_map(a);

    UNUSED(state);
    value_setz(m, "b", ((struct value){ .kind = VALUE_BYTES, .n = 2, .s = "hi" }));
    value_setz(m, "n", ((struct value){ .kind = VALUE_MAP, .flags = VALUE_NIL }));
    assert_ok(toml_print(m, &out, &err), err);
    assert_str(buf_str(&out), "b = [104, 105]\n");
}

static void test_a_text_over_the_limit_is_not_looked_at(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_fails(toml_parse(a, (struct str){ "a", TOML_TEXT_MAX + 1 }, &v, &err), ERRC_LIMIT, err,
                 "TOML text of 67108865 bytes is over the limit of 67108864");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_recorded_answer_of_go_is_ours),
        cmocka_unit_test(test_depth_ends_at_the_limit),
        cmocka_unit_test(test_bytes_are_a_list_of_numbers),
        cmocka_unit_test(test_a_text_over_the_limit_is_not_looked_at),
    };

    return RUN_TESTS(tests);
}
