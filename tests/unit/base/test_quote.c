/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "lib/check.h"

static void test_quoting_follows_go(void **state)
{
    static const struct {
        struct str text;
        const char *want;
    } cases[] = {
        { { "", 0 }, "\"\"" },
        { { "a\"b\\", 4 }, "\"a\\\"b\\\\\"" },
        { { "\t\n\r\a\b\f\v", 7 }, "\"\\t\\n\\r\\a\\b\\f\\v\"" },
        { { "\0\x1f\x7f", 3 }, "\"\\x00\\x1f\\x7f\"" },
        { { "\xc3\xa9", 2 }, "\"\xc3\xa9\"" },
        { { "\xc2\xad\xe2\x80\x8b\xc2\xa0", 7 }, "\"\\u00ad\\u200b\\u00a0\"" },
        { { "\xff", 1 }, "\"\\xff\"" },
        { { "\xf3\xa0\x80\x81", 4 }, "\"\\U000e0001\"" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(128);

        utf8_quote(cases[i].text, &b);
        assert_case_str(cases[i].want, buf_str(&b), cases[i].want);
    }
}

static void test_white_space_is_unicodes(void **state)
{
    static const uint32_t spaces[] = { ' ', '\t', 0x85, 0xa0, 0x2003, 0x2028, 0x3000 };
    static const uint32_t others[] = { 'a', 0, 0x200b, 0x180e, 0xfeff };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
        assert_true(utf8_is_space(spaces[i]));
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        assert_false(utf8_is_space(others[i]));
}

static void test_one_character_of_a_quoted_text(void **state)
{
    static const struct {
        const char *text;
        bool valid;
        uint32_t want;
        size_t width;
    } cases[] = {
        { "a'", true, 'a', 1 },    { "\\n", true, '\n', 2 },    { "\\u00e9x", true, 0xe9, 6 },
        { "\\101", true, 'A', 4 }, { "\xff", true, 0xfffd, 1 }, { "\\\"", true, '"', 2 },
        { "\\'", false, 0, 0 },    { "\"", false, 0, 0 },       { "\\ud800", false, 0, 0 },
        { "\\x4", false, 0, 0 },   { "\\777", false, 0, 0 },    { "", false, 0, 0 },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str text = str_from(cases[i].text), rest = text;
        uint32_t r = 0;
        bool multibyte, valid = utf8_unquote_char(&rest, '"', &r, &multibyte);

        assert_case_num(cases[i].text, valid, cases[i].valid);
        if (!valid)
            continue;
        assert_case_num(cases[i].text, r, cases[i].want);
        assert_case_num(cases[i].text, (int64_t)(text.n - rest.n), (int64_t)cases[i].width);
    }
}

static void test_a_whole_text_is_unquoted(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    UNUSED(state);
    assert_true(utf8_unquote(STR("a\\n\\x80\\u00e9\xff"), '"', &b));
    assert_str(buf_str(&b), "a\n\x80\xc3\xa9\xef\xbf\xbd");
    assert_false(utf8_unquote(STR("a\\q"), '"', &b));
}

static void test_code_points_letters_and_digits(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    UNUSED(state);
    utf8_print_code_point('!', &b);
    utf8_print_code_point('\t', &b);
    utf8_print_code_point(0x203d, &b);
    assert_str(buf_str(&b), "U+0021 '!'U+0009U+203D '\xe2\x80\xbd'");
    assert_true(utf8_is_letter('a') && utf8_is_letter(0x43a) && !utf8_is_letter('1') && !utf8_is_letter('_'));
    assert_true(utf8_is_digit('7') && utf8_is_digit(0x0663) && !utf8_is_digit(0xb2));
    assert_false(utf8_is_letter(UINT32_MAX) || utf8_is_digit(UINT32_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quoting_follows_go),
        cmocka_unit_test(test_white_space_is_unicodes),
        cmocka_unit_test(test_one_character_of_a_quoted_text),
        cmocka_unit_test(test_a_whole_text_is_unquoted),
        cmocka_unit_test(test_code_points_letters_and_digits),
    };

    return RUN_TESTS(tests);
}
