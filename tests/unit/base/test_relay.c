/* SPDX-License-Identifier: Apache-2.0 */
#include "base/relay.h"

#include "lib/check.h"

enum { SLOTS = 3, NUMBERS = 1000 };

struct line {
    struct relay relay;
    int slots[SLOTS];
    int stop_at; /* the emptying thread breaks off there; -1: never */
    int sum, pushed;
};

static void *empty(void *arg)
{
    struct line *l = arg;
    size_t slot;

    while (relay_pull(&l->relay, &slot)) {
        if (l->slots[slot] == l->stop_at) {
            relay_break(&l->relay);
            break;
        }
        l->sum += l->slots[slot];
        relay_drop(&l->relay);
    }
    return NULL;
}

static void run(struct line *l, int n, bool end)
{
    pthread_t thread;
    bool ok = true;

    relay_init(&l->relay, SLOTS);
    assert_int_equal(pthread_create(&thread, NULL, empty, l), 0);
    for (int i = 1; i <= n && ok; i++) {
        l->slots[l->relay.open] = i;
        ok = relay_push(&l->relay);
        l->pushed += ok;
    }
    if (end)
        relay_end(&l->relay);
    else
        relay_break(&l->relay);
    pthread_join(thread, NULL);
    relay_done(&l->relay);
}

static void test_all_that_is_pushed_is_pulled_once(void **state)
{
    struct line l = { .stop_at = -1 };

    UNUSED(state);
    run(&l, NUMBERS, true);
    assert_int_equal(l.pushed, NUMBERS);
    assert_int_equal(l.sum, NUMBERS * (NUMBERS + 1) / 2);
}

static void test_nothing_pushed_is_nothing_pulled(void **state)
{
    struct line l = { .stop_at = -1 };

    UNUSED(state);
    run(&l, 0, true);
    assert_int_equal(l.sum, 0);
}

static void test_nobody_waits_for_who_gave_up(void **state)
{
    struct line l = { .stop_at = 10 };

    UNUSED(state);
    run(&l, NUMBERS, true);
    assert_int_equal(l.sum, 45);
    assert_in_range(l.pushed, 9, 10 + SLOTS);
    l = (struct line){ .stop_at = -1 };
    run(&l, 0, false);
    assert_int_equal(l.sum, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_that_is_pushed_is_pulled_once),
        cmocka_unit_test(test_nothing_pushed_is_nothing_pulled),
        cmocka_unit_test(test_nobody_waits_for_who_gave_up),
    };

    return RUN_TESTS(tests);
}
