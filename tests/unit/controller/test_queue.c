/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "controller/controller_int.h"
#include "lib/check.h"

static struct controller_key key(const char *ns, const char *name)
{
    return (struct controller_key){ str_from(ns), str_from(name) };
}

static void take(struct queue *q, struct queue_task *t, const char *want)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(1024);

    assert_true(queue_take(q, t));
    buf_addf(&b, STR_FMT "/" STR_FMT, STR_ARG(t->key.ns), STR_ARG(t->key.name));
    assert_str(buf_str(&b), want);
}

static void done(struct queue *q, struct queue_task *t)
{
    queue_done(q, t, ERRC_NONE, 0, 0);
}

static void test_several_wishes_are_one_run(void **state)
{
    struct queue *q = queue_new(4);
    struct queue_task t;

    UNUSED(state);
    for (int i = 0; i < 5; i++)
        queue_add(q, 0, key("a", "x"), false);
    assert_num(queue_figures(q).waiting, 1);
    take(q, &t, "a/x");
    assert_num(queue_figures(q).waiting, 0);
    done(q, &t);
    assert_num(queue_figures(q).waiting, 0);
    queue_free(q);
}

static void test_a_change_during_the_run_causes_exactly_one_more(void **state)
{
    struct queue *q = queue_new(4);
    struct queue_task t;

    UNUSED(state);
    queue_add(q, 0, key("a", "x"), false);
    take(q, &t, "a/x");
    queue_add(q, 0, key("a", "x"), false);
    queue_add(q, 0, key("a", "x"), false);
    assert_num(queue_figures(q).waiting, 0); /* never on two workers at once */
    done(q, &t);
    assert_num(queue_figures(q).waiting, 1);
    take(q, &t, "a/x");
    done(q, &t);
    assert_num(queue_figures(q).waiting, 0);
    queue_free(q);
}

static void test_kinds_of_one_name_are_apart(void **state)
{
    struct queue *q = queue_new(4);
    struct queue_task s, t;

    UNUSED(state);
    queue_add(q, 0, key("a", "x"), false);
    queue_add(q, 1, key("a", "x"), false);
    take(q, &s, "a/x");
    take(q, &t, "a/x");
    assert_true(s.kind != t.kind);
    done(q, &s);
    done(q, &t);
    queue_free(q);
}

static void test_namespaces_take_turns(void **state)
{
    static const char *const want[] = { "a/1", "b/1", "c/1", "a/2", "b/2", "a/3" };
    struct queue *q = queue_new(1);
    struct queue_task t;

    UNUSED(state);
    queue_add(q, 0, key("a", "1"), false);
    queue_add(q, 0, key("a", "2"), false);
    queue_add(q, 0, key("a", "3"), false);
    queue_add(q, 0, key("b", "1"), false);
    queue_add(q, 0, key("b", "2"), false);
    queue_add(q, 0, key("c", "1"), false);
    for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
        take(q, &t, want[i]);
        done(q, &t);
    }
    queue_free(q);
}

static void test_one_namespace_leaves_workers_for_others(void **state)
{
    struct queue *q = queue_new(2);
    struct queue_task one, two, other, three;

    UNUSED(state);
    for (int i = 0; i < 5; i++) {
        char name[16];

        snprintf(name, sizeof(name), "%d", i);
        queue_add(q, 0, key("noisy", name), false);
    }
    take(q, &one, "noisy/0");
    take(q, &two, "noisy/1");
    queue_add(q, 0, key("quiet", "x"), false);
    take(q, &other, "quiet/x"); /* the third worker does not go to noisy/2 */
    done(q, &one);
    take(q, &three, "noisy/2");
    queue_free(q);
}

static void test_changes_overtake_the_first_list(void **state)
{
    struct queue *q = queue_new(4);
    struct queue_task t;

    UNUSED(state);
    queue_add(q, 0, key("a", "old"), true);
    queue_add(q, 0, key("b", "old"), true);
    queue_add(q, 0, key("a", "new"), false);
    take(q, &t, "a/new");
    take(q, &t, "b/old");
    queue_free(q);
}

static void test_delayed_entries_come_when_due_and_the_earlier_time_wins(void **state)
{
    struct queue *q = queue_new(4);
    struct queue_task t;
    int64_t start = clock_mono_ms();

    UNUSED(state);
    queue_add_after(q, 0, key("a", "late"), 120);
    queue_add_after(q, 0, key("a", "soon"), 60);
    queue_add_after(q, 0, key("a", "soon"), 5000);
    queue_add_after(q, 0, key("a", "first"), 10000);
    queue_add_after(q, 0, key("a", "first"), 20);
    assert_num(queue_figures(q).delayed, 3);
    take(q, &t, "a/first");
    take(q, &t, "a/soon");
    assert_true(clock_mono_ms() - start >= 60);
    take(q, &t, "a/late");
    assert_true(clock_mono_ms() - start >= 120 && clock_mono_ms() - start < 1000);
    queue_free(q);
}

static void test_a_change_does_not_wait_for_the_delay(void **state)
{
    struct queue *q = queue_new(4);
    struct queue_task t;

    UNUSED(state);
    queue_add_after(q, 0, key("a", "x"), 60000);
    queue_add(q, 0, key("a", "x"), false);
    take(q, &t, "a/x");
    assert_num(queue_figures(q).delayed, 0);
    queue_free(q);
}

static void test_failures_wait_longer_each_time_and_are_forgotten_by_success(void **state)
{
    struct queue *q = queue_new(4);
    struct queue_task t;

    UNUSED(state);
    queue_add(q, 0, key("a", "x"), false);
    take(q, &t, "a/x");
    assert_num(t.failures, 0);
    queue_done(q, &t, ERRC_UNAVAILABLE, 0, 0);
    assert_num(queue_figures(q).delayed, 1);
    take(q, &t, "a/x");
    assert_num(t.failures, 1);
    queue_done(q, &t, ERRC_UNAVAILABLE, 0, 20); /* the reconcile knows better */
    take(q, &t, "a/x");
    assert_num(t.failures, 2);
    done(q, &t);
    queue_add(q, 0, key("a", "x"), false);
    take(q, &t, "a/x");
    assert_num(t.failures, 0);
    queue_free(q);
}

static void test_pauses_by_failure(void **state)
{
    static const struct {
        unsigned failures;
        enum errc code;
        int64_t retry_after_ms, min_ms;
    } cases[] = {
        { 1, ERRC_UNAVAILABLE, 0, 250 }, { 2, ERRC_UNAVAILABLE, 0, 500 },      { 5, ERRC_CONFLICT, 0, 4000 },
        { 12, ERRC_TIMEOUT, 0, 300000 }, { 500, ERRC_UNAVAILABLE, 0, 300000 }, { 1, ERRC_INVALID, 0, 600000 },
        { 1, ERRC_TEMPLATE, 0, 600000 }, { 99, ERRC_FORBIDDEN, 0, 600000 },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int64_t ms = queue_pause_ms(cases[i].failures, cases[i].code, 0);

        assert_true(ms >= cases[i].min_ms && ms <= cases[i].min_ms + cases[i].min_ms / 5);
    }
    assert_num(queue_pause_ms(1, ERRC_UNAVAILABLE, 7000), 7000);
}

static void test_stopping_wakes_workers(void **state)
{
    struct queue *q = queue_new(4);
    struct queue_task t;

    UNUSED(state);
    queue_add(q, 0, key("a", "x"), false);
    queue_stop(q);
    assert_false(queue_take(q, &t));
    queue_free(q);
}

static void test_many_delayed_entries_come_in_order(void **state)
{
    struct clock_fake fake = { .mono_ns = 1000000000 };
    struct queue *q = queue_new(1000);
    struct queue_task t;
    int wrong = 0;

    UNUSED(state);
    clock_set_fake(&fake);
    for (int i = 0; i < 500; i++) {
        char name[16];

        snprintf(name, sizeof(name), "%03d", i * 7 % 500);
        queue_add_after(q, 0, key("a", name), 1 + i * 7 % 500 / 10);
    }
    for (int tick = 0; tick < 50; tick++) {
        fake.mono_ns += 1000000;
        for (int i = 0; i < 10; i++) {
            int64_t n = -1;

            wrong += !queue_take(q, &t) || !str_to_int64(t.key.name, &n) || n / 10 != tick;
            done(q, &t);
        }
    }
    clock_set_fake(NULL);
    assert_num(wrong, 0);
    assert_num(queue_figures(q).delayed, 0);
    queue_free(q);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_wishes_are_one_run),
        cmocka_unit_test(test_a_change_during_the_run_causes_exactly_one_more),
        cmocka_unit_test(test_kinds_of_one_name_are_apart),
        cmocka_unit_test(test_namespaces_take_turns),
        cmocka_unit_test(test_one_namespace_leaves_workers_for_others),
        cmocka_unit_test(test_changes_overtake_the_first_list),
        cmocka_unit_test(test_delayed_entries_come_when_due_and_the_earlier_time_wins),
        cmocka_unit_test(test_a_change_does_not_wait_for_the_delay),
        cmocka_unit_test(test_failures_wait_longer_each_time_and_are_forgotten_by_success),
        cmocka_unit_test(test_pauses_by_failure),
        cmocka_unit_test(test_stopping_wakes_workers),
        cmocka_unit_test(test_many_delayed_entries_come_in_order),
    };

    return RUN_TESTS(tests);
}
