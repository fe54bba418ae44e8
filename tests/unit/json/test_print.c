/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json.h"

#include <math.h>

#include "base/limits.h"
#include "lib/check.h"

static void test_floats_print_as_in_go(void **state)
{
    static const struct {
        double f;
        const char *want;
    } cases[] = {
        { 0, "0" },
        { -0.0, "-0" },
        { 1, "1" },
        { -1.5, "-1.5" },
        { 1e20, "100000000000000000000" },
        { 1e21, "1e+21" },
        { 1e-6, "0.000001" },
        { 1e-7, "1e-7" },
        { 1.5e-10, "1.5e-10" },
        { 1e300, "1e+300" },
        { 9007199254740993.0, "9007199254740992" },
        { 123456789.125, "123456789.125" },
        { 1e15, "1000000000000000" },
        { 5e-324, "5e-324" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);

        json_print_float(cases[i].f, &out);
        assert_case_str(cases[i].want, buf_str(&out), cases[i].want);
    }
}

static void test_strings_are_escaped_as_in_go(void **state)
{
    static const struct {
        const char *s, *html, *plain;
    } cases[] = {
        { "<a href=\"x\">&</a>", "\"\\u003ca href=\\\"x\\\"\\u003e\\u0026\\u003c/a\\u003e\"",
          "\"<a href=\\\"x\\\">&</a>\"" },
        { "\x01\x1f\x7f\b\f\n\r\t", "\"\\u0001\\u001f\x7f\\b\\f\\n\\r\\t\"",
          "\"\\u0001\\u001f\x7f\\b\\f\\n\\r\\t\"" },
        { "\xe2\x80\xa8\xe2\x80\xa9\xe2\x82\xac", "\"\\u2028\\u2029\xe2\x82\xac\"",
          "\"\\u2028\\u2029\xe2\x82\xac\"" },
        { "a\xff\xc0z", "\"a\\ufffd\\ufffdz\"", "\"a\\ufffd\\ufffdz\"" },
        { "sixteen bytes and then some & more text < 40",
          "\"sixteen bytes and then some \\u0026 more text \\u003c 40\"",
          "\"sixteen bytes and then some & more text < 40\"" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);

        json_print_string(str_from(cases[i].s), JSON_ESCAPE_HTML, &out);
        assert_case_str(cases[i].s, buf_str(&out), cases[i].html);
        buf_clear(&out);
        json_print_string(str_from(cases[i].s), 0, &out);
        assert_case_str(cases[i].s, buf_str(&out), cases[i].plain);
    }
}

static void test_indented_as_marshal_indent(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_ok(json_parse(a, STR("{\"a\":[1,{\"b\":2}],\"c\":{},\"d\":[]}"), NULL, &v, &err), err);
    assert_ok(json_print(v, JSON_INDENT, &out, &err), err);
    assert_str(buf_str(&out),
               "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}");
}

static void test_bytes_nils_and_small_floats(void **state)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    const struct value items[] = {
        { .kind = VALUE_BYTES, .n = 2, .s = "hi" },
        { .kind = VALUE_BYTES, .flags = VALUE_NIL },
        { .kind = VALUE_LIST, .flags = VALUE_NIL },
        { .kind = VALUE_MAP, .flags = VALUE_NIL },
        { .kind = VALUE_FLOAT, .type = VALUE_TYPE_FLOAT32, .f = 0.1F },
        value_from_uint(UINT64_MAX),
    };

    UNUSED(state);
    assert_ok(json_print(value_from_list(items, ARRAY_SIZE(items)), 0, &out, &err), err);
    assert_str(buf_str(&out), "[\"aGk=\",null,null,null,0.1,18446744073709551615]");
}

static void test_what_json_cannot_say_is_an_error(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value loop = value_new_map(a);

    UNUSED(state);
    buf_adds(&out, "kept");
    assert_fails(json_print(value_from_float(NAN), 0, &out, &err), ERRC_INVALID, err,
                 "json: unsupported value: NaN");
    assert_fails(json_print(value_from_float(-INFINITY), 0, &out, &err), ERRC_INVALID, err,
                 "json: unsupported value: -Inf");
    value_setz(loop, "self", loop);
    assert_fails(json_print(loop, 0, &out, &err), ERRC_LIMIT, err,
                 "json: unsupported value: encountered a cycle via map[string]interface {}");
    assert_str(buf_str(&out), "kept");
}

static void test_output_stops_at_the_buffers_limit(void **state)
{
    static const struct {
        size_t max;
        int want;
    } cases[] = { { 6, -ERRC_LIMIT }, { 7, 0 }, { 8, 0 } };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(cases[i].max);

        assert_num(json_print(VALUE_STR("12345"), 0, &out, NULL), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats_print_as_in_go),
        cmocka_unit_test(test_strings_are_escaped_as_in_go),
        cmocka_unit_test(test_indented_as_marshal_indent),
        cmocka_unit_test(test_bytes_nils_and_small_floats),
        cmocka_unit_test(test_what_json_cannot_say_is_an_error),
        cmocka_unit_test(test_output_stops_at_the_buffers_limit),
    };

    return RUN_TESTS(tests);
}
