/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/check.h"
#include "lib/rows.h"

#define CASES "regex/cases.txt"
#define GROUPS_MAX 16

#define CPU_SECONDS_MAX 10 /* one, and what the sanitizers cost */

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void compare_text(const struct row *row, struct str got, struct str want)
{
    if (!str_eq(got, want))
        fail_case("%s: " STR_FMT ": got " STR_FMT ", want " STR_FMT, row->name, STR_ARG(row->field[1]),
                  STR_ARG(got), STR_ARG(want));
}

static void check_error(const struct row *row)
{
    CLEANUP(regex_unref) struct regex *re = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    int r = regex_compile(row->field[1], &re, &err);

    compare_text(row, str_from(err_message(err)), row->field[2]);
    assert_true(r < 0);
}

static struct regex *compile(const struct row *row)
{
    struct regex *re = NULL;
    struct err *err = NULL;

    if (regex_compile(row->field[1], &re, &err) < 0)
        fail_case("%s: " STR_FMT ": %s", row->name, STR_ARG(row->field[1]), err_message(err));
    return re;
}

static void check_groups(const struct row *row)
{
    CLEANUP(regex_unref) struct regex *re = compile(row);
    CLEANUP(buf_done) struct buf got = BUF_INIT(64);
    CLEANUP(buf_done) struct buf want = BUF_INIT(64);

    buf_addf(&got, "%zu", regex_groups(re));
    compare_text(row, buf_str(&got), row->field[2]);
    buf_addf(&want, STR_FMT " " STR_FMT, STR_ARG(row->field[3]), STR_ARG(row->field[4]));
    buf_clear(&got);
    buf_addf(&got, "%d %d", regex_group_number(re, STR("x")), regex_group_number(re, STR("n")));
    compare_text(row, buf_str(&got), buf_str(&want));
}

static void check_find(const struct row *row)
{
    CLEANUP(regex_unref) struct regex *re = compile(row);
    CLEANUP(regex_finder_done) struct regex_finder f = regex_find_all(re, row->field[2]);
    CLEANUP(buf_done) struct buf got = BUF_INIT(4096);
    struct regex_span spans[GROUPS_MAX];
    size_t n = regex_groups(re) + 1;

    assert_true(n <= GROUPS_MAX);
    while (regex_finder_next(&f, spans, n)) {
        if (got.n > 0)
            buf_addc(&got, ';');
        for (size_t i = 0; i < n; i++)
            buf_addf(&got, "%s%td %td", i ? " " : "", spans[i].from, spans[i].to);
    }
    if (!str_eq(buf_str(&got), row->field[3]))
        fail_case("%s: " STR_FMT " on " STR_FMT ": got " STR_FMT ", want " STR_FMT, row->name,
                  STR_ARG(row->field[1]), STR_ARG(row->field[2]), STR_ARG(buf_str(&got)),
                  STR_ARG(row->field[3]));
    assert_int_equal(regex_match(re, row->field[2]), row->field[3].n > 0);
}

static void check_quote(const struct row *row)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(4096);

    regex_quote(row->field[1], &got);
    compare_text(row, buf_str(&got), row->field[2]);
}

static void run_kind(const char *kind, void (*check)(const struct row *row), size_t at_least)
{
    CLEANUP(rows_done) struct rows rows = { 0 };
    struct row row;
    size_t n = 0;

    rows_open(&rows, CASES);
    while (rows_next(&rows, &row)) {
        if (!str_eq(row.field[0], str_from(kind)))
            continue;
        check(&row);
        n++;
    }
    assert_true(n >= at_least);
}

static void test_bad_patterns_fail_with_the_texts_of_go(void **state)
{
    UNUSED(state);
    run_kind("error", check_error, 300);
}

static void test_groups_have_the_numbers_of_go(void **state)
{
    UNUSED(state);
    run_kind("groups", check_groups, 500);
}

static void test_matches_are_those_of_go(void **state)
{
    UNUSED(state);
    run_kind("find", check_find, 5000);
}

/* It is found without libre2; as a group it is not. */
static void test_a_pattern_that_is_plain_text_finds_what_it_finds_as_a_group(void **state)
{
    static const char *const texts[] = { "", "ab", "xabxaab", "\xff\x61\x62\xe2\xc3\xa9 ab", "ABab\n" };
    CLEANUP(regex_unref) struct regex *plain = NULL, *group = NULL;

    UNUSED(state);
    assert_num(regex_compile(STR("ab"), &plain, NULL), 0);
    assert_num(regex_compile(STR("(?:ab)"), &group, NULL), 0);
    assert_num(regex_groups(plain), 0);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct regex_finder a = regex_find_all(plain, str_from(texts[i])),
                            b = regex_find_all(group, str_from(texts[i]));
        struct regex_span x[2] = { { 0, 0 } }, y[2] = { { 0, 0 } };
        bool found;

        assert_true(regex_match(plain, a.text) == regex_match(group, a.text));
        do {
            found = regex_finder_next(&a, x, 2);
            assert_true(regex_finder_next(&b, y, 2) == found);
            assert_memory_equal(x, y, found ? sizeof(x) : 0);
        } while (found);
        regex_finder_done(&a);
        regex_finder_done(&b);
    }
}

static void test_quoting_is_that_of_go(void **state)
{
    UNUSED(state);
    run_kind("quote", check_quote, 30);
}

static void test_equal_patterns_share_one_expression(void **state)
{
    CLEANUP(regex_unref) struct regex *a = NULL;
    CLEANUP(regex_unref) struct regex *b = NULL;
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_ok(regex_compile(STR("^shared+$"), &a, &err), err);
    assert_ok(regex_compile(STR("^shared+$"), &b, &err), err);
    assert_ptr_equal(a, b);
}

static void test_patterns_longer_than_the_limit_are_refused(void **state)
{
    static const struct {
        size_t n;
        int want;
    } cases[] = { { REGEX_PATTERN_MAX - 1, 0 },
                  { REGEX_PATTERN_MAX, 0 },
                  { REGEX_PATTERN_MAX + 1, -ERRC_LIMIT } };
    CLEANUP(free_ptr) char *text = xmalloc(REGEX_PATTERN_MAX + 1);

    UNUSED(state);
    memset(text, 'a', REGEX_PATTERN_MAX + 1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(regex_unref) struct regex *re = NULL;

        assert_case_num("length", regex_compile((struct str){ text, cases[i].n }, &re, NULL), cases[i].want);
    }
}

static void test_costly_patterns_end_soon(void **state)
{
    static const struct {
        const char *pattern, *piece;
        int want;
    } cases[] = {
        { "(a*)*b", "a", 0 },
        { "(a|aa)+$", "a", 0 },
        { "((a{30}){30})", "a", 0 },
        { "(((a{9}){9}){9}x{1000}){1}", "a", 0 },
        { "(?:(?:\\pL{100}){5}){2}", "é", 0 },
        { "(?:\\pL{1000}|\\pN{1000}|.{1000})", "é", 0 },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(regex_unref) struct regex *re = NULL;
        CLEANUP(buf_done) struct buf text = BUF_INIT(1 << 20);
        double start = cpu_seconds();

        for (int k = 0; k < 20000; k++)
            buf_adds(&text, cases[i].piece);
        assert_case_num(cases[i].pattern, regex_compile(str_from(cases[i].pattern), &re, NULL),
                        cases[i].want);
        regex_match(re, buf_str(&text));
        if (cpu_seconds() - start > CPU_SECONDS_MAX)
            fail_case("%s: took %.1f s", cases[i].pattern, cpu_seconds() - start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_patterns_fail_with_the_texts_of_go),
        cmocka_unit_test(test_groups_have_the_numbers_of_go),
        cmocka_unit_test(test_matches_are_those_of_go),
        cmocka_unit_test(test_a_pattern_that_is_plain_text_finds_what_it_finds_as_a_group),
        cmocka_unit_test(test_quoting_is_that_of_go),
        cmocka_unit_test(test_equal_patterns_share_one_expression),
        cmocka_unit_test(test_patterns_longer_than_the_limit_are_refused),
        cmocka_unit_test(test_costly_patterns_end_soon),
    };

    return RUN_TESTS(tests);
}
