/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "chart/kind.h"
#include "lib/check.h"
#include "json/json.h"

static struct arena *a;

static int setup(void **state)
{
    UNUSED(state);
    a = arena_new(MIB);
    return 0;
}

static int teardown(void **state)
{
    UNUSED(state);
    arena_free(a);
    return 0;
}

static struct value parse(const char *text)
{
    struct value v = VALUE_NONE;
    struct err *err = NULL;

    assert_ok(json_parse(a, str_from(text), NULL, &v, &err), err);
    return v;
}

static void assert_json(const char *name, struct value v, const char *want)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(64 * KIB);
    struct err *err = NULL;

    assert_ok(json_print(v, 0, &got, &err), err);
    assert_case_str(name, buf_str(&got), want);
}

static void test_a_list_of_versions_follows_what_is_asked_for(void **state)
{
    static const struct {
        const char *name, *versions, *before, *after, *want;
    } cases[] = {
        { "the first", "null", "{}", "{\"p\":{\"1\":[\"^1\"]}}", "[\"^1\"]" },
        { "one more", "[\"^1\"]", "{\"p\":{\"1\":[\"^1\"]}}", "{\"p\":{\"1\":[\"^1\"],\"2\":[\"^2\"]}}",
          "[\"^1\",\"^2\"]" },
        { "one less", "[\"^1\",\"^2\"]", "{\"p\":{\"1\":[\"^1\"],\"2\":[\"^2\"]}}",
          "{\"p\":{\"1\":[],\"2\":[\"^2\"]}}", "[\"^2\"]" },
        { "another still asks", "[\"^1\"]", "{\"p\":{\"1\":[\"^1\"]},\"q\":{\"1\":[\"^1\"]}}",
          "{\"q\":{\"1\":[\"^1\"]}}", "[\"^1\"]" },
        { "written by hand", "[\"0.9\",\"^1\"]", "{\"p\":{\"1\":[\"^1\"]}}", "{\"p\":{\"1\":[\"^2\"]}}",
          "[\"0.9\",\"^2\"]" },
        { "from before there were notes", "[\"^1\"]", "{}", "{\"p\":{\"1\":[\"^2\"]}}", "[\"^1\",\"^2\"]" },
        { "never nothing", "[\"^1\"]", "{\"p\":{\"1\":[\"^1\"]}}", "{}", "[\"^1\"]" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_json(
            cases[i].name,
            chart_asked_versions(a, parse(cases[i].versions), parse(cases[i].before), parse(cases[i].after)),
            cases[i].want);
}

static void test_what_is_asked_is_noted_by_chart_and_version(void **state)
{
    struct value one = chart_asked_with(a, value_new_map(a), STR("p"), STR("1.0.0"), STR("^1"));
    struct value two = chart_asked_with(a, one, STR("p"), STR("1.0.0"), STR("*"));

    UNUSED(state);
    assert_json("one", one, "{\"p\":{\"1.0.0\":[\"^1\"]}}");
    assert_json("two", two, "{\"p\":{\"1.0.0\":[\"^1\",\"*\"]}}");
    assert_json("again", chart_asked_with(a, two, STR("p"), STR("1.0.0"), STR("*")),
                "{\"p\":{\"1.0.0\":[\"^1\",\"*\"]}}");
    assert_json("less", chart_asked_without(a, two, STR("p"), STR("1.0.0")), "{\"p\":{}}");
    assert_json("a stranger", chart_asked_without(a, two, STR("q"), STR("1.0.0")),
                "{\"p\":{\"1.0.0\":[\"^1\",\"*\"]}}");
}

static void test_only_owners_ask(void **state)
{
    struct value asked = parse("{\"p\":{\"1\":[\"^1\"]},\"q\":{\"1\":[\"^2\"]},\"r\":{}}");

    UNUSED(state);
    assert_json("one is gone", chart_asked_by(a, asked, parse("[{\"kind\":\"Chart\",\"name\":\"q\"}]")),
                "{\"q\":{\"1\":[\"^2\"]}}");
    assert_json("nobody owns it", chart_asked_by(a, asked, VALUE_NONE),
                "{\"p\":{\"1\":[\"^1\"]},\"q\":{\"1\":[\"^2\"]}}");
}

static void test_a_note_that_cannot_be_read_says_nothing(void **state)
{
    static const char *const cases[] = {
        "{}", "{\"metadata\":{\"annotations\":{\"pintle.dev/asked-for\":\"[1]\"}}}",
        "{\"metadata\":{\"annotations\":{\"pintle.dev/asked-for\":\"{\"}}}"
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_json(cases[i], chart_asked_read(a, parse(cases[i])), "{}");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_a_list_of_versions_follows_what_is_asked_for),
        TEST(test_what_is_asked_is_noted_by_chart_and_version),
        TEST(test_only_owners_ask),
        TEST(test_a_note_that_cannot_be_read_says_nothing),
    };

    return RUN_TESTS(tests);
}
