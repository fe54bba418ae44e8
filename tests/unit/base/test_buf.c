/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "lib/check.h"

static void test_text_of_every_kind_is_appended_and_nul_terminated(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(1000);

    UNUSED(state);
    assert_string_equal(buf_z(&b), "");
    buf_adds(&b, "a");
    buf_addc(&b, 'b');
    buf_addstr(&b, STR("cd"));
    buf_add(&b, "\0e", 2);
    buf_addf(&b, "%d%s", 7, "f");
    buf_add_repeat(&b, '-', 3);
    buf_add_rune(&b, 0x20ac);
    buf_add_rune(&b, 0xd800);
    buf_add_rune(&b, 0x110000);
    assert_num(b.n, 20);
    assert_memory_equal(b.p, "abcd\0e7f---\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd", 21);
    assert_num(buf_check(&b, NULL), 0);
}

static void test_formatted_text_longer_than_the_stack_copy_is_whole(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(100000);

    UNUSED(state);
    for (int n = 250; n < 262; n++) {
        buf_clear(&b);
        buf_addf(&b, "%0*d", n, 1);
        assert_num(b.n, n);
        assert_num(b.p[n - 1], '1');
        assert_num(b.p[n], 0);
    }
}

static void test_nothing_is_added_beyond_the_maximum(void **state)
{
    static const struct {
        size_t n;
        int r;
    } cases[] = { { 99, 0 }, { 100, 0 }, { 101, -ERRC_LIMIT } };
    char text[200];

    UNUSED(state);
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (int way = 0; way < 4; way++) {
            CLEANUP(buf_done) struct buf b = BUF_INIT(100);

            if (way == 0)
                buf_add(&b, text, cases[i].n);
            else if (way == 1)
                buf_add_repeat(&b, 'x', cases[i].n);
            else if (way == 2)
                buf_addf(&b, "%.*s", (int)cases[i].n, text);
            else
                for (size_t k = 0; k < cases[i].n; k++)
                    buf_addc(&b, 'x');
            assert_num(buf_check(&b, NULL), cases[i].r);
            assert_true(b.n <= 100);
        }
    }
}

static void test_a_failure_is_remembered_until_the_buffer_is_cleared(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(4);
    struct err *err = NULL;

    UNUSED(state);
    buf_adds(&b, "abc");
    buf_adds(&b, "de");
    buf_adds(&b, "f");
    assert_str(buf_str(&b), "abc");
    assert_fails(buf_check(&b, &err), ERRC_LIMIT, err, NULL);
    buf_clear(&b);
    buf_adds(&b, "abcd");
    assert_num(buf_check(&b, NULL), 0);
}

static void test_reserve_gives_room_or_fails(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(8);
    char *p = buf_reserve(&b, 8);

    UNUSED(state);
    assert_non_null(p);
    memcpy(p, "12345", 5);
    buf_commit(&b, 5);
    assert_str(buf_str(&b), "12345");
    assert_null(buf_reserve(&b, 4));
    assert_null(buf_reserve(&b, SIZE_MAX));
    assert_num(buf_check(&b, NULL), -ERRC_LIMIT);
}

static void test_take_hands_the_content_over(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(100), empty = BUF_INIT(100);
    CLEANUP(free_ptr) char *p = NULL, *nothing = NULL;

    UNUSED(state);
    buf_adds(&b, "abc");
    p = buf_take(&b);
    nothing = buf_take(&empty);
    assert_string_equal(p, "abc");
    assert_string_equal(nothing, "");
    assert_num(b.n, 0);
    buf_adds(&b, "d");
    assert_str(buf_str(&b), "d");
    buf_truncate(&b, 0);
    assert_str(buf_str(&b), "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_of_every_kind_is_appended_and_nul_terminated),
        cmocka_unit_test(test_formatted_text_longer_than_the_stack_copy_is_whole),
        cmocka_unit_test(test_nothing_is_added_beyond_the_maximum),
        cmocka_unit_test(test_a_failure_is_remembered_until_the_buffer_is_cleared),
        cmocka_unit_test(test_reserve_gives_room_or_fails),
        cmocka_unit_test(test_take_hands_the_content_over),
    };

    return RUN_TESTS(tests);
}
