/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/map.h"
#include "lib/check.h"

#define MANY 5000

static struct str key_of(int i, char *text, size_t size)
{
    return (struct str){ text, (size_t)snprintf(text, size, "key-%d", i) };
}

static void test_put_get_and_remove_many_keys(void **state)
{
    CLEANUP(map_done) struct map m = MAP_INIT;
    static int values[MANY];
    char text[32];

    UNUSED(state);
    for (int i = 0; i < MANY; i++)
        assert_null(map_put(&m, key_of(i, text, sizeof(text)), &values[i]));
    assert_num(map_n(&m), MANY);
    for (int i = 0; i < MANY; i += 2)
        assert_ptr_equal(map_remove(&m, key_of(i, text, sizeof(text))), &values[i]);
    assert_num(map_n(&m), MANY / 2);
    for (int i = 0; i < MANY; i++) {
        struct str key = key_of(i, text, sizeof(text));
        assert_num(map_has(&m, key), i % 2);
        assert_ptr_equal(map_get(&m, key), i % 2 ? &values[i] : NULL);
    }
    assert_null(map_remove(&m, STR("never there")));
}

static void test_put_replaces_and_returns_what_was_there(void **state)
{
    CLEANUP(map_done) struct map m = MAP_INIT;
    int a, b;

    UNUSED(state);
    assert_null(map_get(&m, STR("x")));
    assert_null(map_put(&m, STR("x"), &a));
    assert_ptr_equal(map_put(&m, STR("x"), &b), &a);
    assert_ptr_equal(map_get(&m, STR("x")), &b);
    assert_num(map_n(&m), 1);
}

static void test_keys_are_copied_and_may_hold_any_bytes(void **state)
{
    CLEANUP(map_done) struct map m = MAP_INIT;
    char text[] = "a\0b";
    int v;

    UNUSED(state);
    map_put(&m, (struct str){ text, 3 }, &v);
    map_put(&m, STR(""), &v);
    text[2] = 'c';
    assert_true(map_has(&m, (struct str){ "a\0b", 3 }));
    assert_false(map_has(&m, (struct str){ "a\0c", 3 }));
    assert_true(map_has(&m, STR("")));
}

static void test_iteration_is_in_insertion_order_and_allows_removal(void **state)
{
    CLEANUP(map_done) struct map m = MAP_INIT;
    CLEANUP(buf_done) struct buf seen = BUF_INIT(100);
    char one[] = "1", two[] = "2", three[] = "3", four[] = "4";
    struct str key;
    void *value;

    UNUSED(state);
    map_put(&m, STR("c"), three);
    map_put(&m, STR("a"), one);
    map_put(&m, STR("b"), two);
    map_put(&m, STR("c"), four); /* stays where it was */
    for (size_t i = 0; map_next(&m, &i, &key, &value);) {
        buf_addf(&seen, STR_FMT "%s ", STR_ARG(key), (const char *)value);
        if (str_eq(key, STR("a")))
            map_remove(&m, key);
    }
    for (size_t i = 0; map_next(&m, &i, &key, NULL);)
        buf_addstr(&seen, key);
    assert_str(buf_str(&seen), "c4 a1 b2 cb");
}

static void test_a_map_that_is_filled_and_emptied_again_and_again_stays_right(void **state)
{
    CLEANUP(map_done) struct map m = MAP_INIT;
    char text[32];
    int v;

    UNUSED(state);
    for (int i = 0; i < 20000; i++) {
        map_put(&m, key_of(i, text, sizeof(text)), &v);
        if (i >= 10)
            assert_ptr_equal(map_remove(&m, key_of(i - 10, text, sizeof(text))), &v);
    }
    assert_num(map_n(&m), 10);
    assert_true(m.cap_slots < 1000); /* removed slots are used again */
}

static void test_a_value_can_be_changed_where_it_stands(void **state)
{
    CLEANUP(map_done) struct map m = MAP_INIT;
    char text[32];

    UNUSED(state);
    assert_null(*map_at(&m, STR("a")));
    *map_at(&m, STR("a")) = text;
    assert_ptr_equal(*map_at(&m, STR("a")), text);
    assert_ptr_equal(map_get(&m, STR("a")), text);
    assert_num(map_n(&m), 1);
    for (int i = 0; i < 1000; i++)
        *map_at(&m, key_of(i, text, sizeof(text))) = text + i % 32;
    for (int i = 0; i < 1000; i++)
        assert_ptr_equal(map_get(&m, key_of(i, text, sizeof(text))), text + i % 32);
}

static void test_a_borrowing_map_keeps_the_keys_where_they_are(void **state)
{
    CLEANUP(map_done) struct map m = MAP_INIT_BORROWING;
    char a[] = "a", b[] = "b";
    struct str key;

    UNUSED(state);
    for (int round = 0; round < 2; round++) {
        map_put(&m, str_from(a), a);
        map_put(&m, str_from(b), b);
        map_put(&m, STR_NONE, a);
        assert_ptr_equal(map_get(&m, STR("")), a);
        for (size_t i = 0; map_next(&m, &i, &key, NULL);)
            if (key.n > 0)
                assert_ptr_equal(key.p, key.p[0] == 'a' ? a : b);
        assert_ptr_equal(map_remove(&m, STR("a")), a);
        assert_num(map_n(&m), 2);
        map_clear(&m);
        assert_num(map_n(&m), 0);
        assert_false(map_has(&m, STR("b")));
    }
}

static void test_a_cleared_map_is_empty_and_can_be_filled_again(void **state)
{
    CLEANUP(map_done) struct map m = MAP_INIT;
    char text[32];
    int v;

    UNUSED(state);
    map_clear(&m);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            assert_null(map_put(&m, key_of(i, text, sizeof(text)), &v));
        assert_num(map_n(&m), 100);
        map_clear(&m);
        assert_false(map_has(&m, key_of(1, text, sizeof(text))));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_get_and_remove_many_keys),
        cmocka_unit_test(test_put_replaces_and_returns_what_was_there),
        cmocka_unit_test(test_keys_are_copied_and_may_hold_any_bytes),
        cmocka_unit_test(test_iteration_is_in_insertion_order_and_allows_removal),
        cmocka_unit_test(test_a_map_that_is_filled_and_emptied_again_and_again_stays_right),
        cmocka_unit_test(test_a_value_can_be_changed_where_it_stands),
        cmocka_unit_test(test_a_borrowing_map_keeps_the_keys_where_they_are),
        cmocka_unit_test(test_a_cleared_map_is_empty_and_can_be_filled_again),
    };

    return RUN_TESTS(tests);
}
