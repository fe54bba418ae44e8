/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "lib/check.h"

static int parse_print(struct str text, const struct json_options *o, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct value v;
    int r = json_parse(a, text, o, &v, err);

    return r < 0 ? r : json_print(v, 0, out, err);
}

static void assert_parses(const char *text, const struct json_options *o, const char *want)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;

    if (parse_print(str_from(text), o, &out, &err) < 0)
        buf_addf(&out, "error: %s", err_message(err));
    assert_case_str(text, buf_str(&out), want);
}

static void test_documents_come_back_as_go_prints_them(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "null", "null" },
        { " true ", "true" },
        { "[1,-2,3.5,1e3,1E-7,1e21,0.1,-0.0]", "[1,-2,3.5,1000,1e-7,1e+21,0.1,-0]" },
        { "9223372036854775807", "9223372036854775807" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "18446744073709551615", "18446744073709551615" },
        { "18446744073709551616", "18446744073709552000" },
        { "999999999999999999", "999999999999999999" },
        { "1000000000000000000", "1000000000000000000" },
        { "123456789012345678901234567890", "1.2345678901234568e+29" },
        { "1.7976931348623157e308", "1.7976931348623157e+308" },
        { "5e-324", "5e-324" },
        { "1e-400", "0" },
        { "{\"b\":1,\"a\":{\"y\":[],\"x\":{}},\"b\":2}", "{\"a\":{\"x\":{},\"y\":[]},\"b\":2}" },
        { "\"a\\u00e9\\n\\/\\\"\\\\\\b\\f\\r\\t\"", "\"a\xc3\xa9\\n/\\\"\\\\\\b\\f\\r\\t\"" },
        { "\"\\ud83d\\ude00 \\ud83d \\ude00 \\ud83d\\u0041\"",
          "\"\xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd"
          "A\"" },
        { "\"\xff\xc3 \xe2\x82\"", "\"\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\"\\u2028\\u0000\x7f\"", "\"\\u2028\\u0000\x7f\"" },
        { "\"a string that is longer than one register: \xc3\xa4\xc3\xb6\xc3\xbc \\u20ac and more text\"",
          "\"a string that is longer than one register: \xc3\xa4\xc3\xb6\xc3\xbc \xe2\x82\xac and more "
          "text\"" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_parses(cases[i].text, NULL, cases[i].want);
}

static void test_numbers_become_floats_when_asked(void **state)
{
    static const struct json_options o = { .floats = true };

    UNUSED(state);
    assert_parses("[1,9007199254740993,-0,100000000000000000000,1e400]", &o,
                  "error: json: cannot unmarshal number 1e400 into Go value of type float64");
    assert_parses("[1,9007199254740993,-0,100000000000000000000,1000000000000000000000]", &o,
                  "[1,9007199254740992,-0,100000000000000000000,1e+21]");
}

static void test_errors_are_in_the_words_of_go(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "unexpected end of JSON input" },
        { "  ", "unexpected end of JSON input" },
        { "{", "unexpected end of JSON input" },
        { "[1", "unexpected end of JSON input" },
        { "\"a", "unexpected end of JSON input" },
        { "\"a\\", "invalid character ' ' in string escape code" },
        { "-", "invalid character ' ' in numeric literal" },
        { "tru", "invalid character ' ' in literal true (expecting 'e')" },
        { "x", "invalid character 'x' looking for beginning of value" },
        { "'a'", "invalid character '\\'' looking for beginning of value" },
        { "\\", "invalid character '\\\\' looking for beginning of value" },
        { "\x01", "invalid character '\\x01' looking for beginning of value" },
        { "\xc3\xa9", "invalid character '\xc3\x83' looking for beginning of value" },
        { "\x85", "invalid character '\\u0085' looking for beginning of value" },
        { "[1,]", "invalid character ']' looking for beginning of value" },
        { "[1 2]", "invalid character '2' after array element" },
        { "[1}", "invalid character '}' after array element" },
        { "{1:2}", "invalid character '1' looking for beginning of object key string" },
        { "{\"a\" 1}", "invalid character '1' after object key" },
        { "{\"a\":1 \"b\"", "invalid character '\"' after object key:value pair" },
        { "{\"a\":1,}", "invalid character '}' looking for beginning of object key string" },
        { "1 2", "invalid character '2' after top-level value" },
        { "01", "invalid character '1' after top-level value" },
        { "-a", "invalid character 'a' in numeric literal" },
        { "1.x", "invalid character 'x' after decimal point in numeric literal" },
        { "1e+", "invalid character ' ' in exponent of numeric literal" },
        { "1ex", "invalid character 'x' in exponent of numeric literal" },
        { "trux", "invalid character 'x' in literal true (expecting 'e')" },
        { "nil", "invalid character 'i' in literal null (expecting 'u')" },
        { "\"\n\"", "invalid character '\\n' in string literal" },
        { "\"\\x\"", "invalid character 'x' in string escape code" },
        { "\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
        CLEANUP(err_free) struct err *err = NULL;
        int r = parse_print(str_from(cases[i].text), NULL, &out, &err);

        assert_case_num(cases[i].text, r, -ERRC_PARSE);
        assert_case_str(cases[i].text, str_from(err_message(err)), cases[i].want);
    }
}

static void test_duplicates_are_refused_when_asked(void **state)
{
    static const struct json_options o = { .refuse_duplicates = true };

    UNUSED(state);
    assert_parses("{\"c\":1,\"a\":{\"x\":1},\"b\":2}", &o, "{\"a\":{\"x\":1},\"b\":2,\"c\":1}");
    assert_parses("{\"c\":1,\"a\":1,\"b\":2,\"a\":2,\"c\":3}", &o, "error: json: duplicate field \"a\"");
}

static void test_depth_ends_at_the_limit(void **state)
{
    UNUSED(state);
    for (int depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX + 1; depth++) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        CLEANUP(buf_done) struct buf text = BUF_INIT(MIB), out = BUF_INIT(MIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct value v;

        buf_add_repeat(&text, '[', (size_t)depth);
        buf_add_repeat(&text, ']', (size_t)depth);
        if (depth > JSON_DEPTH_MAX) {
            assert_fails(json_parse(a, buf_str(&text), NULL, &v, &err), ERRC_LIMIT, err,
                         "exceeded max depth");
            continue;
        }
        assert_ok(json_parse(a, buf_str(&text), NULL, &v, &err), err);
        assert_ok(json_print(v, 0, &out, &err), err);
        assert_true(str_eq(buf_str(&out), buf_str(&text)));
    }
}

static void test_the_arena_limit_ends_a_document(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * KIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    buf_addc(&text, '[');
    for (int i = 0; i < 100000; i++)
        buf_adds(&text, "1,");
    buf_adds(&text, "1]");
    assert_fails(json_parse(a, buf_str(&text), NULL, &v, &err), ERRC_LIMIT, err,
                 "JSON needs more than the limit of 65536 bytes");
}

static void test_borrowed_strings_point_into_the_text(void **state)
{
    static const struct json_options o = { .borrow = true };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    const char *text = "[\"plain\",\"esc\\n\"]";
    struct value v;

    UNUSED(state);
    assert_ok(json_parse(a, str_from(text), &o, &v, &err), err);
    assert_ptr_equal(value_at(v, 0).s, text + 2);
    assert_str(value_str(value_at(v, 1)), "esc\n");
}

static void test_strings_outlive_the_text_unless_they_are_borrowed(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    char text[] = "{\"key\":[\"plain\",\"esc\\n\"]}";
    struct value v, list;

    UNUSED(state);
    assert_ok(json_parse(a, str_from(text), NULL, &v, &err), err);
    memset(text, 'x', sizeof(text) - 1);
    list = value_getz(v, "key");
    assert_num(value_len(list), 2);
    assert_str(value_str(value_at(list, 0)), "plain");
    assert_str(value_str(value_at(list, 1)), "esc\n");
}

static void test_a_stream_is_cut_at_values(void **state)
{
    static const char text[] = " {\"a\":\"}\\\"\",\"b\":[1]}\n[2]\"x\\\"y\" 12 true{}";
    static const char *const want[] = {
        " {\"a\":\"}\\\"\",\"b\":[1]}", "\n[2]", "\"x\\\"y\"", " 12", " true", "{}"
    };
    struct json_scan scan = { 0 };
    size_t from = 0, n = 0;

    UNUSED(state);
    /* bytes arrive one by one */
    for (size_t have = 1; have < sizeof(text); have++) {
        size_t end;

        while (json_scan_value(&scan, (struct str){ text + from, have - from }, &end, NULL) > 0) {
            assert_true(n < ARRAY_SIZE(want));
            assert_case_str(want[n], ((struct str){ text + from, end }), want[n]);
            from += end;
            n++;
        }
    }
    assert_num(n, ARRAY_SIZE(want));
}

static void test_a_stream_with_a_stray_bracket_fails(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct json_scan scan = { 0 };
    size_t end;

    UNUSED(state);
    assert_fails(json_scan_value(&scan, STR(" ]"), &end, &err), ERRC_PARSE, err,
                 "invalid character ']' looking for beginning of value");
}

static void test_a_text_over_the_limit_is_not_looked_at(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_fails(json_parse(a, (struct str){ "1", JSON_TEXT_MAX + 1 }, NULL, &v, &err), ERRC_LIMIT, err,
                 "JSON text of 268435457 bytes is over the limit of 268435456");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents_come_back_as_go_prints_them),
        cmocka_unit_test(test_numbers_become_floats_when_asked),
        cmocka_unit_test(test_errors_are_in_the_words_of_go),
        cmocka_unit_test(test_duplicates_are_refused_when_asked),
        cmocka_unit_test(test_depth_ends_at_the_limit),
        cmocka_unit_test(test_the_arena_limit_ends_a_document),
        cmocka_unit_test(test_borrowed_strings_point_into_the_text),
        cmocka_unit_test(test_strings_outlive_the_text_unless_they_are_borrowed),
        cmocka_unit_test(test_a_stream_is_cut_at_values),
        cmocka_unit_test(test_a_stream_with_a_stray_bracket_fails),
        cmocka_unit_test(test_a_text_over_the_limit_is_not_looked_at),
    };

    return RUN_TESTS(tests);
}
