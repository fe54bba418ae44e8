/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "chart/chart.h"
#include "lib/check.h"
#include "json/json.h"

static int setup(void **state)
{
    *state = arena_new(512 * MIB);
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

static void check_json(struct value v, const char *want)
{
    struct buf out = BUF_INIT(MIB);
    struct err *err = NULL;

    assert_ok(json_print(v, 0, &out, &err), err);
    assert_str(buf_str(&out), want);
    buf_done(&out);
}

static void test_documents_of_a_file_are_merged(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "{}" },
        { "a: 1\n", "{\"a\":1}" },
        { "a: {b: 1, c: 2}\n---\na: {b: null}\n", "{\"a\":{\"b\":null,\"c\":2}}" },
        { "---\na: 1\n--- # more\nb: 2", "{\"a\":1,\"b\":2}" },
        { "a: |\n  x", "{\"a\":\"x\\n\"}" },
        { "a: 1\r\n---\r\nb: 2\r\n", "{\"a\":1,\"b\":2}" },
        { "a: \"\n---\n\"", NULL },
        { "- 1\n", NULL },
    };
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct value v = VALUE_NONE;
        struct err *err = NULL;
        int r = chart_values_parse(a, str_from(cases[i].text), &v, &err);

        if ((r < 0) != (cases[i].want == NULL))
            fail_case("%s: %d %s", cases[i].text, r, err_message(err));
        if (cases[i].want)
            check_json(v, cases[i].want);
        err_free(err);
    }
}

static void test_an_index_has_a_limit(void **state)
{
    static const struct {
        const char *text;
        bool fits;
    } cases[] = { { "a[65535]=1", true }, { "a[65536]=1", true }, { "a[65537]=1", false } };
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct value v = value_new_map(a);
        struct err *err = NULL;

        if (cases[i].fits)
            assert_ok(chart_strvals_parse(a, STRVALS_SET, str_from(cases[i].text), v, &err), err);
        else
            assert_fails(chart_strvals_parse(a, STRVALS_SET, str_from(cases[i].text), v, &err), ERRC_LIMIT,
                         err, "index of 65537 is greater than maximum supported index of 65536");
    }
}

static void test_names_and_lists_have_a_depth(void **state)
{
    static const struct {
        const char *part;
        size_t n;
        bool fits;
    } cases[] = {
        { ".a", STRVALS_DEPTH_MAX - 1, true },       { ".a", STRVALS_DEPTH_MAX, true },
        { ".a", STRVALS_DEPTH_MAX + 1, false },      { "[0]", STRVALS_LIST_DEPTH_MAX, true },
        { "[0]", STRVALS_LIST_DEPTH_MAX + 1, true }, { "[0]", STRVALS_LIST_DEPTH_MAX + 2, false },
    };
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct value v = value_new_map(a);
        struct buf text = BUF_INIT(MIB);
        struct err *err = NULL;

        buf_addc(&text, 'a');
        for (size_t k = 0; k < cases[i].n; k++)
            buf_adds(&text, cases[i].part);
        buf_adds(&text, "=1");
        if (cases[i].fits)
            assert_ok(chart_strvals_parse(a, STRVALS_SET, buf_str(&text), v, &err), err);
        else
            assert_fails(chart_strvals_parse(a, STRVALS_SET, buf_str(&text), v, &err), ERRC_LIMIT, err, NULL);
        buf_done(&text);
    }
}

/* Each step may copy the list: the memory they take together is bounded, not only the list. */
static void test_many_large_lists_end(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct value v = value_new_map(a);
    struct buf text = BUF_INIT(MIB);
    struct err *err = NULL;

    UNUSED(state);
    for (int i = 0; i < 200; i++)
        buf_addf(&text, "k%d[%d]=1,", i, 65536 - i);
    assert_fails(chart_strvals_parse(a, STRVALS_SET, buf_str(&text), v, &err), ERRC_LIMIT, err,
                 "the lists are too large");
    buf_done(&text);
}

static void test_merging_leaves_the_sources_alone(void **state)
{
    struct arena *a = *state;
    struct value base, over;
    struct err *err = NULL;

    assert_ok(chart_values_parse(a, STR("m: {a: 1, b: {c: 1}}\n"), &base, &err), err);
    assert_ok(chart_values_parse(a, STR("m: {b: {d: 2}, a: null}\nl: [1]\n"), &over, &err), err);
    check_json(chart_values_merge(a, base, over), "{\"l\":[1],\"m\":{\"a\":null,\"b\":{\"c\":1,\"d\":2}}}");
    check_json(base, "{\"m\":{\"a\":1,\"b\":{\"c\":1}}}");
    check_json(over, "{\"l\":[1],\"m\":{\"a\":null,\"b\":{\"d\":2}}}");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_documents_of_a_file_are_merged),   TEST(test_an_index_has_a_limit),
        TEST(test_names_and_lists_have_a_depth),     TEST(test_many_large_lists_end),
        TEST(test_merging_leaves_the_sources_alone),
    };

    return RUN_TESTS(tests);
}
