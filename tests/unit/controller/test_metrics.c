/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller_int.h"
#include "lib/check.h"

static const double small[] = { 0.5, 2, 0 };
static const struct metric counter = { "t_total", "Things.", METRIC_COUNTER, { "a", "b" }, NULL };
static const struct metric gauge = { "t_gauge", "Now.", METRIC_GAUGE, { NULL }, NULL };
static const struct metric histogram = { "t_seconds", "Time.", METRIC_HISTOGRAM, { "a" }, small };

static void test_the_text_is_prometheus(void **state)
{
    CLEANUP(metrics_free) struct metrics *m = metrics_new();
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);

    UNUSED(state);
    metrics_add(m, &counter, METRIC_LABELS(STR("x"), STR("q\"\\\n")), 1);
    metrics_add(m, &counter, METRIC_LABELS(STR("x"), STR("q\"\\\n")), 2);
    metrics_set(m, &gauge, NULL, 0.25);
    metrics_observe(m, &histogram, METRIC_LABELS(STR("y")), 0.5);
    metrics_observe(m, &histogram, METRIC_LABELS(STR("y")), 1);
    metrics_observe(m, &histogram, METRIC_LABELS(STR("y")), 100);
    metrics_format(m, &out);
    assert_str(buf_str(&out),
               "# HELP t_total Things.\n# TYPE t_total counter\nt_total{a=\"x\",b=\"q\\\"\\\\\\n\"} 3\n"
               "# HELP t_gauge Now.\n# TYPE t_gauge gauge\nt_gauge 0.25\n"
               "# HELP t_seconds Time.\n# TYPE t_seconds histogram\nt_seconds_bucket{a=\"y\",le=\"0.5\"} 1\n"
               "t_seconds_bucket{a=\"y\",le=\"2\"} 2\nt_seconds_bucket{a=\"y\",le=\"+Inf\"} 3\n"
               "t_seconds_sum{a=\"y\"} 101.5\nt_seconds_count{a=\"y\"} 3\n"
               "# HELP pintle_metrics_dropped_total Series that were not made because there are too many.\n"
               "# TYPE pintle_metrics_dropped_total counter\npintle_metrics_dropped_total 0\n");
}

static void test_series_can_be_read_and_dropped(void **state)
{
    CLEANUP(metrics_free) struct metrics *m = metrics_new();
    const struct str *labels = METRIC_LABELS(STR("x"), STR("y"));

    UNUSED(state);
    assert_true(metrics_value(m, &counter, labels) == 0);
    metrics_add(m, &counter, labels, 5);
    assert_true(metrics_value(m, &counter, labels) == 5);
    metrics_forget(m, &counter, labels);
    assert_true(metrics_value(m, &counter, labels) == 0);
    metrics_add(NULL, &counter, labels, 5);
}

static void test_series_have_a_limit(void **state)
{
    CLEANUP(metrics_free) struct metrics *m = metrics_new();
    CLEANUP(buf_done) struct buf out = BUF_INIT(64 * MIB);

    UNUSED(state);
    for (size_t i = 0; i < METRICS_SERIES_MAX + 1; i++) {
        char text[32];

        snprintf(text, sizeof(text), "%zu", i);
        metrics_add(m, &counter, METRIC_LABELS(str_from(text), STR("")), 1);
        if (i == METRICS_SERIES_MAX - 1)
            assert_true(metrics_value(m, &counter, METRIC_LABELS(str_from(text), STR(""))) == 1);
        if (i == METRICS_SERIES_MAX)
            assert_true(metrics_value(m, &counter, METRIC_LABELS(str_from(text), STR(""))) == 0);
    }
    metrics_format(m, &out);
    assert_true(str_has_suffix(buf_str(&out), STR("pintle_metrics_dropped_total 1\n")));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_text_is_prometheus),
        cmocka_unit_test(test_series_can_be_read_and_dropped),
        cmocka_unit_test(test_series_have_a_limit),
    };

    return RUN_TESTS(tests);
}
