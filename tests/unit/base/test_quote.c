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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quoting_follows_go),
        cmocka_unit_test(test_white_space_is_unicodes),
    };

    return RUN_TESTS(tests);
}
