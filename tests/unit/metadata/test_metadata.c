/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata/metadata.h"

#include "base/limits.h"
#include "lib/check.h"
#include "yaml/yaml.h"
#include "json/json.h"

static int setup(void **state)
{
    *state = arena_new(16 * MIB);
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

static void test_lock_digest_is_helms(void **state)
{
    struct arena *a = *state;
    struct metadata md = { 0 };
    struct metadata_lock lock;
    struct err *err = NULL;
    struct buf out = BUF_INIT(256);

    /* Both files from `helm dependency update` of v4.2.4. */
    assert_ok(
        metadata_parse(
            a,
            STR("apiVersion: v2\nname: q\nversion: 0.1.0\ndependencies:\n- name: l\n  version: \">=0.1.0 "
                "<2\"\n  repository: file://../l\n  tags: [a]\n  import-values: [data, {child: a, "
                "parent: b}]\n  alias: x\n  condition: a.b\n"),
            &md, &err),
        err);
    assert_ok(
        metadata_lock_parse(a,
                            STR("dependencies:\n- name: l\n  repository: file://../l\n  version: 0.1.0\n"
                                "generated: \"2026-11-21T04:07:02.309505161Z\"\n"),
                            &lock, &err),
        err);
    assert_ok(metadata_lock_digest(md.dependencies, md.n_dependencies, lock.dependencies, lock.n_dependencies,
                                   &out, &err),
              err);
    assert_str(buf_str(&out), "sha256:95a04f8d4deffbeb5185641c8dc92c39eb1671b084ef249b55aecc44ec814c77");
    buf_done(&out);
}

static void test_lock_times_are_printed_as_go_prints_them(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z" },
        { "2024-05-06T07:08:09.120+02:00", "2024-05-06T07:08:09.12+02:00" },
        { "2024-05-06T07:08:09.000+00:00", "2024-05-06T07:08:09Z" },
        { "2024-05-06T07:08:09.1234567891Z", "2024-05-06T07:08:09.123456789Z" },
    };
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str yaml = arena_printf(a, "generated: \"%s\"\n", cases[i].text);
        struct metadata_lock lock;
        struct err *err = NULL;

        assert_ok(metadata_lock_parse(a, yaml, &lock, &err), err);
        assert_case_str(cases[i].text, lock.generated, cases[i].want);
    }
}

static void test_json_has_helms_order_and_escapes(void **state)
{
    struct arena *a = *state;
    struct metadata md = { 0 };
    struct err *err = NULL;
    struct buf out = BUF_INIT(4096);

    assert_ok(metadata_parse(
                  a,
                  STR("type: library\nname: web\nversion: 1.10\nannotations: {b: 1, a: <}\ndeprecated: true\n"
                      "maintainers: [{url: u, name: m}]\nkeywords: [k]\ndependencies: [{name: d}]\n"),
                  &md, &err),
              err);
    assert_ok(metadata_print_json(&md, &out, &err), err);
    assert_str(buf_str(&out),
               "{\"name\":\"web\",\"version\":\"1.1\",\"keywords\":[\"k\"],\"maintainers\":[{\"name\":\"m\","
               "\"url\":\"u\"}],\"deprecated\":true,\"annotations\":{\"a\":\"\\u003c\",\"b\":\"1\"},"
               "\"dependencies\":[{\"name\":\"d\",\"repository\":\"\"}],\"type\":\"library\"}");
    buf_clear(&out);
    assert_ok(metadata_print_json(NULL, &out, &err), err);
    assert_str(buf_str(&out), "null");
    buf_done(&out);
}

static void test_yaml_and_json_say_the_same(void **state)
{
    struct arena *a = *state;
    struct metadata md = { 0 }, again = { 0 };
    struct err *err = NULL;
    struct buf yaml = BUF_INIT(4096), json = BUF_INIT(4096), back = BUF_INIT(4096);

    assert_ok(metadata_parse(
                  a,
                  STR("apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: \"1.10\"\nsources: [a, b]\n"
                      "dependencies: [{name: d, version: ^1, tags: [t], import-values: [x]}]\n"),
                  &md, &err),
              err);
    assert_ok(yml_print(metadata_to_value(a, &md), &yaml, &err), err);
    assert_ok(metadata_parse(a, buf_str(&yaml), &again, &err), err);
    assert_ok(metadata_print_json(&md, &json, &err), err);
    assert_ok(metadata_print_json(&again, &back, &err), err);
    assert_str(buf_str(&back), buf_z(&json));
    buf_done(&yaml);
    buf_done(&json);
    buf_done(&back);
}

static void test_text_is_cleaned_before_it_is_checked(void **state)
{
    struct arena *a = *state;
    struct metadata md = { .api_version = STR("v2"),
                           .name = STR("we\xe2\x80\x8b"
                                       "b"),
                           .version = STR("1.0.0"),
                           .description = STR("a\tb\xc2\xa0"
                                              "c\xff\n") };
    struct err *err = NULL;

    assert_ok(metadata_check(a, &md, &err), err);
    assert_str(md.name, "web");
    assert_str(md.description, "a b c\xef\xbf\xbd ");
}

static void test_names_that_leave_a_folder_are_refused(void **state)
{
    static const struct {
        struct str name;
        const char *want;
    } cases[] = {
        { STR("."), "validation: chart.metadata.name \".\" is not allowed" },
        { STR(".."), "validation: chart.metadata.name \"..\" is not allowed" },
        { STR("a/b"), "validation: chart.metadata.name \"a/b\" is invalid" },
        { STR("/"), "validation: chart.metadata.name \"/\" is invalid" },
        { STR(""), "validation: chart.metadata.name is required" },
        { STR("\x01"), "validation: chart.metadata.name is required" },
        { STR("..."), NULL },
        { STR(".git"), NULL },
        { STR("a."), NULL },
    };
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct metadata md = { .api_version = STR("v2"), .name = cases[i].name, .version = STR("1.0.0") };
        struct err *err = NULL;

        if (cases[i].want)
            assert_fails(metadata_check(a, &md, &err), ERRC_INVALID, err, cases[i].want);
        else
            assert_ok(metadata_check(a, &md, &err), err);
    }
}

static void test_requirements_are_merged_onto_the_chart(void **state)
{
    struct arena *a = *state;
    struct metadata md = { 0 };
    struct err *err = NULL;

    assert_ok(metadata_parse(a, STR("name: web\nversion: 1.0.0\n"), &md, &err), err);
    assert_ok(metadata_parse(a, STR("dependencies: [{name: d}]\nversion: null\n"), &md, &err), err);
    assert_str(md.version, "1.0.0");
    assert_num(md.n_dependencies, 1);
    assert_ok(metadata_parse(a, STR(""), &md, &err), err);
    assert_num(md.n_dependencies, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_lock_digest_is_helms),
        TEST(test_lock_times_are_printed_as_go_prints_them),
        TEST(test_json_has_helms_order_and_escapes),
        TEST(test_yaml_and_json_say_the_same),
        TEST(test_text_is_cleaned_before_it_is_checked),
        TEST(test_names_that_leave_a_folder_are_refused),
        TEST(test_requirements_are_merged_onto_the_chart),
    };

    return RUN_TESTS(tests);
}
