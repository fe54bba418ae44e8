/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lib/check.h"

#define NONE INT64_MIN /* is refused */

/* Answers of Go's time.ParseDuration. */
static void test_durations_are_parsed_as_go(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t ns;
    } cases[] = {
        { "0", true, 0 },
        { "1s", true, 1000000000 },
        { "1h15m30.918s", true, 4530918000000 },
        { "-1.5h", true, -5400000000000 },
        { "100ms", true, 100000000 },
        { ".5s", true, 500000000 },
        { "1.s", true, 1000000000 },
        { "+5m", true, 300000000000 },
        { "1us", true, 1000 },
        { "1\xc2\xb5s", true, 1000 },
        { "1\xce\xbcs", true, 1000 },
        { "1.0000000000000000000000001s", true, 1000000000 },
        { "9223372036854775807ns", true, INT64_MAX },
        { "-9223372036854775808ns", true, INT64_MIN },
        { "9223372036854775808ns", false, 0 },
        { "3000000h", false, 0 },
        { "", false, 0 },
        { "s", false, 0 },
        { "1", false, 0 },
        { "1x", false, 0 },
        { "1h-1m", false, 0 },
        { " 1s", false, 0 },
        { "-", false, 0 },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int64_t ns = 0;
        assert_case_num(cases[i].text, clock_parse_duration(str_from(cases[i].text), &ns), cases[i].ok);
        assert_case_num(cases[i].text, ns, cases[i].ns);
    }
}

static void test_durations_are_printed_as_go(void **state)
{
    static const struct {
        int64_t ns;
        const char *want;
    } cases[] = {
        { 0, "0s" },
        { 1, "1ns" },
        { 999, "999ns" },
        { 1000, "1\xc2\xb5s" },
        { 1500, "1.5\xc2\xb5s" },
        { 999999, "999.999\xc2\xb5s" },
        { 1000000, "1ms" },
        { 1000000000, "1s" },
        { 90000000000, "1m30s" },
        { 3600000000000, "1h0m0s" },
        { 3661000000001, "1h1m1.000000001s" },
        { -1500000000, "-1.5s" },
        { INT64_MAX, "2562047h47m16.854775807s" },
        { INT64_MIN, "-2562047h47m16.854775808s" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(100);
        clock_format_duration(cases[i].ns, &out);
        assert_case_str(cases[i].want, buf_str(&out), cases[i].want);
    }
}

static void test_times_are_parsed(void **state)
{
    static const struct {
        const char *text;
        int64_t s;
        int32_t ns;
    } cases[] = {
        { "2006-01-02T15:04:05Z", 1136214245, 0 },
        { "2006-01-02T15:04:05.123456789Z", 1136214245, 123456789 },
        { "2006-01-02T15:04:05.1234567899Z", 1136214245, 123456789 },
        { "2006-01-02T15:04:05.1+02:00", 1136207045, 100000000 },
        { "2004-02-29T23:59:59-23:59", 1078185539, 0 },
        { "1969-12-31T23:59:59Z", -1, 0 },
        { "0001-01-01T00:00:00Z", -62135596800, 0 },
        { "9999-12-31T23:59:59.999999999Z", 253402300799, 999999999 },
        { "2006-02-29T00:00:00Z", NONE, 0 },
        { "2006-13-02T15:04:05Z", NONE, 0 },
        { "2006-01-02T24:00:00Z", NONE, 0 },
        { "2006-01-02T15:04:60Z", NONE, 0 },
        { "2006-01-02 15:04:05Z", NONE, 0 },
        { "2006-01-02T15:04:05", NONE, 0 },
        { "2006-01-02T15:04:05.Z", NONE, 0 },
        { "2006-01-02T15:04:05+0200", NONE, 0 },
        { "06-01-02T15:04:05Z", NONE, 0 },
        { "", NONE, 0 },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct wall_time t = { NONE, 0 };
        bool ok = clock_parse_rfc3339(str_from(cases[i].text), &t);

        assert_case_num(cases[i].text, ok, cases[i].s != NONE);
        assert_case_num(cases[i].text, t.s, cases[i].s);
        assert_case_num(cases[i].text, t.ns, cases[i].ns);
    }
}

static void test_times_are_printed(void **state)
{
    static const struct {
        struct wall_time t;
        const char *seconds, *micro, *nano;
    } cases[] = {
        { { 1136214245, 0 }, "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000000Z", "2006-01-02T15:04:05Z" },
        { { 1136214245, 120000000 },
          "2006-01-02T15:04:05Z",
          "2006-01-02T15:04:05.120000Z",
          "2006-01-02T15:04:05.12Z" },
        { { -1, 1 },
          "1969-12-31T23:59:59Z",
          "1969-12-31T23:59:59.000000Z",
          "1969-12-31T23:59:59.000000001Z" },
        { { -62135596800, 0 },
          "0001-01-01T00:00:00Z",
          "0001-01-01T00:00:00.000000Z",
          "0001-01-01T00:00:00Z" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf s = BUF_INIT(100), u = BUF_INIT(100), n = BUF_INIT(100);

        clock_format_rfc3339(cases[i].t, &s);
        clock_format_rfc3339_micro(cases[i].t, &u);
        clock_format_rfc3339_nano(cases[i].t, &n);
        assert_str(buf_str(&s), cases[i].seconds);
        assert_str(buf_str(&u), cases[i].micro);
        assert_str(buf_str(&n), cases[i].nano);
    }
}

static void test_days_and_dates_are_each_others_inverse(void **state)
{
    UNUSED(state);
    assert_num(clock_days_from_civil(1970, 1, 1), 0);
    assert_num(clock_days_from_civil(2000, 3, 1), 11017);
    for (int64_t day = -800000; day < 800000; day += 37) {
        int64_t y;
        int m, d;

        clock_civil_from_days(day, &y, &m, &d);
        assert_num(clock_days_from_civil(y, m, d), day);
    }
}

static void test_a_fake_clock_answers_until_it_is_taken_away(void **state)
{
    struct clock_fake fake = { { 1000, 7 }, 5000000 };
    int64_t real;

    UNUSED(state);
    clock_set_fake(&fake);
    assert_num(clock_wall().s, 1000);
    assert_num(clock_wall().ns, 7);
    assert_num(clock_mono_ms(), 5);
    fake.mono_ns += 1000000;
    assert_num(clock_mono_ms(), 6);
    clock_set_fake(NULL);
    real = clock_mono_ns();
    assert_true(clock_wall().s > 1600000000);
    assert_true(clock_mono_ns() >= real);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations_are_parsed_as_go),
        cmocka_unit_test(test_durations_are_printed_as_go),
        cmocka_unit_test(test_times_are_parsed),
        cmocka_unit_test(test_times_are_printed),
        cmocka_unit_test(test_days_and_dates_are_each_others_inverse),
        cmocka_unit_test(test_a_fake_clock_answers_until_it_is_taken_away),
    };

    return RUN_TESTS(tests);
}
