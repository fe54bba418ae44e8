/* SPDX-License-Identifier: Apache-2.0 */
#include "semver/semver.h"

#include <string.h>

#include "lib/check.h"
#include "lib/rows.h"

#define CASES "semver/cases.txt"

static void compare_text(const struct row *row, struct str got, struct str want)
{
    if (!str_eq(got, want))
        fail_case("%s: " STR_FMT ": got " STR_FMT ", want " STR_FMT, row->name, STR_ARG(row->field[1]),
                  STR_ARG(got), STR_ARG(want));
}

static void compare_error(const struct row *row, int r, struct err **err, struct str want)
{
    compare_text(row, str_from(err_message(*err)), want);
    if ((r < 0) != (want.n > 0))
        fail_case("%s: returned %d", row->name, r);
    err_free(TAKE(*err));
}

static void check_version(const struct row *row)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf text = BUF_INIT(1024);
    struct semver v;
    int r = semver_parse(row->field[1], &v, &err);

    if (r == 0) {
        semver_format(&v, &text);
        compare_text(row, v.original, row->field[1]);
    }
    compare_text(row, buf_str(&text), row->field[2]);
    compare_error(row, r, &err, row->field[3]);
    r = semver_parse_strict(row->field[1], &v, &err);
    compare_error(row, r, &err, row->field[4]);
}

static void check_compare(const struct row *row)
{
    struct semver a, b;

    assert_int_equal(semver_parse(row->field[1], &a, NULL), 0);
    assert_int_equal(semver_parse(row->field[2], &b, NULL), 0);
    assert_case_num(row->name, semver_cmp(&a, &b), row->field[3].p[0] == '-' ? -1 : row->field[3].p[0] - '0');
}

static void check_constraint(const struct row *row)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    int r = semver_constraint_parse(row->field[1], &c, &err);

    compare_error(row, r, &err, row->field[2]);
}

static void check_check(const struct row *row)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    CLEANUP(buf_done) struct buf why = BUF_INIT(1 << 20);
    bool want = str_eq(row->field[3], STR("true"));
    struct semver v;

    assert_int_equal(semver_constraint_parse(row->field[1], &c, NULL), 0);
    assert_int_equal(semver_parse(row->field[2], &v, NULL), 0);
    if (semver_constraint_check(c, &v) != want || semver_constraint_validate(c, &v, &why) != want)
        fail_case("%s: " STR_FMT " against " STR_FMT, row->name, STR_ARG(row->field[1]),
                  STR_ARG(row->field[2]));
    compare_text(row, buf_str(&why), row->field[4]);
}

static void run_kind(const char *kind, void (*check)(const struct row *row), size_t at_least)
{
    CLEANUP(rows_done) struct rows rows = { 0 };
    struct row row;
    size_t n = 0;

    rows_open(&rows, CASES);
    for (; rows_next(&rows, &row);) {
        if (!str_eq(row.field[0], str_from(kind)))
            continue;
        check(&row);
        n++;
    }
    assert_true(n >= at_least);
}

static void test_versions_parse_as_upstream(void **state)
{
    UNUSED(state);
    run_kind("version", check_version, 80);
}

static void test_versions_compare_as_upstream(void **state)
{
    UNUSED(state);
    run_kind("compare", check_compare, 500);
}

static void test_constraints_parse_as_upstream(void **state)
{
    UNUSED(state);
    run_kind("constraint", check_constraint, 1500);
}

static void test_constraints_hold_as_upstream_and_say_why_not(void **state)
{
    UNUSED(state);
    run_kind("check", check_check, 3000);
}

static void test_versions_longer_than_the_limit_are_refused(void **state)
{
    static const struct {
        size_t n;
        int want;
    } cases[] = { { SEMVER_VERSION_MAX - 1, 0 },
                  { SEMVER_VERSION_MAX, 0 },
                  { SEMVER_VERSION_MAX + 1, -ERRC_PARSE } };
    char text[SEMVER_VERSION_MAX + 1];
    struct semver v;

    UNUSED(state);
    memset(text, 'a', sizeof(text));
    memcpy(text, "1.2.3-", 6);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_case_num("length", semver_parse((struct str){ text, cases[i].n }, &v, NULL), cases[i].want);
}

static void test_constraints_beyond_the_limits_are_refused(void **state)
{
    static const struct {
        const char *piece;
        size_t n;
        const char *want;
    } cases[] = {
        { "1||", SEMVER_GROUPS_MAX - 2, "" },
        { "1||", SEMVER_GROUPS_MAX - 1, "" },
        { "1||", SEMVER_GROUPS_MAX, "too many constraint groups (max 32)" },
        { "1||", 100000, "constraint string is too long (max 512 bytes)" },
        { " ", SEMVER_CONSTRAINT_MAX - 2, "" },
        { " ", SEMVER_CONSTRAINT_MAX - 1, "" },
        { " ", SEMVER_CONSTRAINT_MAX, "constraint string is too long (max 512 bytes)" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
        CLEANUP(err_free) struct err *err = NULL;
        CLEANUP(buf_done) struct buf text = BUF_INIT(1 << 20);

        for (size_t k = 0; k < cases[i].n; k++)
            buf_adds(&text, cases[i].piece);
        buf_adds(&text, "1");
        IGNORE_ERROR(semver_constraint_parse(buf_str(&text), &c, &err));
        assert_case_str(cases[i].piece, str_from(err_message(err)), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_parse_as_upstream),
        cmocka_unit_test(test_versions_compare_as_upstream),
        cmocka_unit_test(test_constraints_parse_as_upstream),
        cmocka_unit_test(test_constraints_hold_as_upstream_and_say_why_not),
        cmocka_unit_test(test_versions_longer_than_the_limit_are_refused),
        cmocka_unit_test(test_constraints_beyond_the_limits_are_refused),
    };

    return RUN_TESTS(tests);
}
