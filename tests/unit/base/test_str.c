/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/random.h"
#include "base/str.h"
#include "base/utf8.h"
#include "lib/check.h"

static void test_comparing(void **state)
{
    UNUSED(state);
    assert_true(str_eq(STR(""), STR_NONE));
    assert_false(str_eq(STR("a"), STR("b")));
    assert_true(str_cmp(STR("a"), STR("ab")) < 0);
    assert_true(str_cmp(STR("\xff"), STR("a")) > 0); /* bytes are unsigned */
    assert_num(str_cmp(STR_NONE, STR("")), 0);
    assert_true(str_ieq(STR("aBc1"), STR("AbC1")));
    assert_false(str_ieq(STR("\xc3\xa4"), STR("\xc3\x84"))); /* ASCII alone folds */
    assert_true(str_has_prefix(STR("abc"), STR("ab")));
    assert_false(str_has_prefix(STR("a"), STR("ab")));
    assert_true(str_has_suffix(STR("abc"), STR("bc")));
    assert_false(str_has_suffix(STR("c"), STR("bc")));
    assert_true(str_has_prefix(STR("a"), STR("")));
}

static void test_finding(void **state)
{
    UNUSED(state);
    assert_num(str_find(STR("abcabc"), STR("ca")), 2);
    assert_num(str_find(STR("abc"), STR("")), 0);
    assert_true(str_find(STR("abc"), STR("abcd")) == STR_NPOS);
    assert_true(str_contains(STR("abc"), STR("c")));
    assert_num(str_find_char(STR("abca"), 'a'), 0);
    assert_num(str_rfind_char(STR("abca"), 'a'), 3);
    assert_true(str_rfind_char(STR("abc"), 'x') == STR_NPOS);
    assert_true(str_find_char(STR_NONE, 'x') == STR_NPOS);
}

static void test_trimming(void **state)
{
    UNUSED(state);
    assert_str(str_trim(STR(" \t\r\n a b \v\f")), "a b");
    assert_str(str_trim(STR(" \n")), "");
    assert_str(str_trim_chars(STR("--a-b--"), "-"), "a-b");
    assert_true(ascii_is_one_of('b', "ab"));
    assert_false(ascii_is_one_of('c', "ab"));
    assert_false(ascii_is_one_of('\0', "ab"));
    assert_str(str_trim_prefix(STR("v1"), STR("v")), "1");
    assert_str(str_trim_prefix(STR("1"), STR("v")), "1");
    assert_str(str_trim_suffix(STR("a.yaml"), STR(".yaml")), "a");
}

static void test_a_split_sees_each_piece_once(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "a,b,c", "<a><b><c>" }, { "", "<>" }, { ",", "<><>" }, { "a,", "<a><>" }, { "abc", "<abc>" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf seen = BUF_INIT(100);
        struct str s = str_from(cases[i].text), piece;

        while (str_split(&s, ',', &piece))
            buf_addf(&seen, "<" STR_FMT ">", STR_ARG(piece));
        assert_case_str(cases[i].text, buf_str(&seen), cases[i].want);
    }
}

static void test_paths(void **state)
{
    UNUSED(state);
    assert_str(str_basename(STR("a/b/c.yaml")), "c.yaml");
    assert_str(str_basename(STR("c.yaml")), "c.yaml");
    assert_str(str_dirname(STR("a/b/c.yaml")), "a/b");
    assert_str(str_dirname(STR("c.yaml")), "");
}

static void test_whole_numbers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "+7", true, 7 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { " 1", false, 0 },
        { "1 ", false, 0 },
        { "0x1", false, 0 },
        { "1.0", false, 0 },
    };
    uint64_t u;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int64_t v = 0;
        assert_case_num(cases[i].text, str_to_int64(str_from(cases[i].text), &v), cases[i].ok);
        if (cases[i].ok)
            assert_case_num(cases[i].text, v, cases[i].value);
    }
    assert_true(str_to_uint64(STR("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    assert_false(str_to_uint64(STR("18446744073709551616"), &u));
    assert_false(str_to_uint64(STR("-1"), &u));
}

static void test_copies(void **state)
{
    CLEANUP(free_ptr) char *a = str_dup(STR("abc")), *b = str_dup(STR_NONE);

    UNUSED(state);
    assert_string_equal(a, "abc");
    assert_string_equal(b, "");
    assert_true(str_hash(STR("abc")) == str_hash(str_from(a)));
    assert_true(str_hash(STR("abc")) != str_hash(STR("abd")));
}

/* unicode/utf8 of Go: one bad byte is one error of width one. */
static void test_small_letters_are_those_of_go(void **state)
{
    static const struct {
        const char *text, *want; /* from strings.ToLower() of Go 1.26 */
    } cases[] = {
        { "", "" },
        { "ABC xyz [@]", "abc xyz [@]" },
        { "\xc3\x84\xc3\x96 \xd0\x96 \xce\xa3", "\xc3\xa4\xc3\xb6 \xd0\xb6 \xcf\x83" },
        { "\xc4\xb0", "i" },            /* a capital I with a dot */
        { "\xe2\x84\xaa", "k" },        /* the Kelvin sign */
        { "\xe1\xba\x9e", "\xc3\x9f" }, /* a capital sharp s */
        { "A\xff\xc3", "a\xef\xbf\xbd\xef\xbf\xbd" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(64);

        utf8_lower(str_from(cases[i].text), &b);
        assert_str(buf_str(&b), cases[i].want);
    }
}

static void test_utf8_decodes_as_go(void **state)
{
    static const struct {
        const char *text;
        size_t n, width;
        uint32_t rune;
    } cases[] = {
        { "a", 1, 1, 'a' },
        { "\xc3\xa4", 2, 2, 0xe4 },
        { "\xe2\x82\xac", 3, 3, 0x20ac },
        { "\xf0\x9f\x98\x80", 4, 4, 0x1f600 },
        { "\xc3", 1, 1, UTF8_INVALID },
        { "\x80", 1, 1, UTF8_INVALID },
        { "\xc0\xaf", 2, 1, UTF8_INVALID },         /* overlong */
        { "\xed\xa0\x80", 3, 1, UTF8_INVALID },     /* surrogate */
        { "\xf4\x90\x80\x80", 4, 1, UTF8_INVALID }, /* above U+10FFFF */
        { "\xe2\x82", 2, 1, UTF8_INVALID },
        { "\xef\xbf\xbd", 3, 3, 0xfffd },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t r = 0;
        struct str s = { cases[i].text, cases[i].n };

        assert_num(utf8_decode(s, &r), cases[i].width);
        assert_num(r, cases[i].rune);
        assert_num(utf8_valid(s), cases[i].rune != UTF8_INVALID);
    }
    assert_num(utf8_count(STR("a\xc3\xa4\xff\xe2\x82")), 5);
    assert_true(utf8_valid(STR_NONE));
}

static void test_seeded_random_numbers_repeat_and_stay_below(void **state)
{
    char a[37], b[37];
    uint32_t first[20];

    UNUSED(state);
    random_seed(42);
    for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
        first[i] = random_below(10);
        assert_true(first[i] < 10);
    }
    random_uuid(a);
    random_seed(42);
    for (size_t i = 0; i < ARRAY_SIZE(first); i++)
        assert_num(random_below(10), first[i]);
    random_uuid(b);
    assert_string_equal(a, b);
    random_seed(0);
    random_uuid(b);
    assert_string_not_equal(a, b);
    assert_num(b[14], '4');
    assert_true(random_unit() < 1);
    assert_num(random_below(1), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comparing),
        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_trimming),
        cmocka_unit_test(test_a_split_sees_each_piece_once),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_small_letters_are_those_of_go),
        cmocka_unit_test(test_utf8_decodes_as_go),
        cmocka_unit_test(test_seeded_random_numbers_repeat_and_stay_below),
    };

    return RUN_TESTS(tests);
}
