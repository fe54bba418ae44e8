/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include <math.h>

#include "lib/check.h"

static void test_shortest_g_follows_go(void **state)
{
    static const struct {
        double v;
        const char *want;
    } cases[] = {
        { 3.0, "3" },
        { 100000, "100000" },
        { 999999, "999999" },
        { 1000000, "1e+06" },
        { 1234567, "1.234567e+06" },
        { 1234567.5, "1.2345675e+06" },
        { 123456789, "1.23456789e+08" },
        { 0.0001, "0.0001" },
        { 0.00001, "1e-05" },
        { 1.5e300, "1.5e+300" },
        { -0.0, "-0" },
        { INFINITY, "+Inf" },
        { -INFINITY, "-Inf" },
        { 0.1, "0.1" },
        { 5e-324, "5e-324" },
        { 9007199254740993.0, "9.007199254740992e+15" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(64);

        number_format_float(cases[i].v, 'g', -1, 64, &b);
        assert_case_str(cases[i].want, buf_str(&b), cases[i].want);
    }
}

static void test_integers_with_base_prefixes(void **state)
{
    static const struct {
        const char *text;
        enum number_result result;
        int64_t want;
    } cases[] = {
        { "0777", NUMBER_OK, 511 },
        { "0o17", NUMBER_OK, 15 },
        { "0x1F", NUMBER_OK, 31 },
        { "-0b1", NUMBER_OK, -1 },
        { "08", NUMBER_SYNTAX, 0 },
        { "1_000", NUMBER_OK, 1000 },
        { "0x_1F", NUMBER_OK, 31 },
        { "", NUMBER_SYNTAX, 0 },
        { "9223372036854775808", NUMBER_RANGE, INT64_MAX },
        { "-9223372036854775808", NUMBER_OK, INT64_MIN },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int64_t v;

        assert_case_num(cases[i].text, number_parse_int(str_from(cases[i].text), 0, 64, &v), cases[i].result);
        assert_case_num(cases[i].text, v, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortest_g_follows_go),
        cmocka_unit_test(test_integers_with_base_prefixes),
    };

    return RUN_TESTS(tests);
}
