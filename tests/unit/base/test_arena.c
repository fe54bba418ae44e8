/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/arena.h"
#include "lib/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define IS_POISONED(p) (__asan_address_is_poisoned(p) != 0)
#define HAS_ASAN true
#else
#define IS_POISONED(p) ((void)(p), false)
#define HAS_ASAN false
#endif

static void test_blocks_are_aligned_and_keep_what_was_written(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    char *blocks[200];

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
        blocks[i] = arena_alloc(a, i * 37);
        assert_num((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], (int)i, i * 37);
    }
    for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
        for (size_t k = 0; k < i * 37; k++)
            assert_num((unsigned char)blocks[i][k], i % 256);
}

static void test_calloc_zeroes_memory_that_was_used_before(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    struct arena_mark m = arena_mark(a);
    char *p = arena_alloc(a, 1000);

    UNUSED(state);
    memset(p, 0x55, 1000);
    arena_rewind(a, m);
    p = arena_calloc(a, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_num(p[i], 0);
}

static void test_a_block_larger_than_any_chunk_fits(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    size_t n = (size_t)5 << 20;
    char *p = arena_alloc(a, n);

    UNUSED(state);
    memset(p, 1, n);
    assert_num(arena_used(a), n);
}

static void test_the_limit_is_a_flag_that_stays_and_allocations_go_on(void **state)
{
    static const struct {
        size_t n;
        bool failed;
    } cases[] = { { 999, false }, { 1000, false }, { 1001, true } };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(1000);
        struct arena_mark m = arena_mark(a);

        assert_num(arena_limit(a), 1000);
        assert_num(arena_fits(a, cases[i].n), !cases[i].failed);
        memset(arena_alloc(a, cases[i].n), 1, cases[i].n);
        assert_num(arena_failed(a), cases[i].failed);
        arena_rewind(a, m);
        assert_num(arena_failed(a), cases[i].failed);
        assert_num(arena_fits(a, 1), !cases[i].failed);
    }
}

static void test_rewind_gives_memory_back_and_keeps_what_is_older(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    struct str old = arena_dup(a, STR("old"));
    struct arena_mark m = arena_mark(a);
    size_t used = arena_used(a);
    char *p = NULL;

    UNUSED(state);
    for (int i = 0; i < 1000; i++)
        p = arena_alloc(a, 4096);
    assert_true(arena_peak(a) >= 4096000);
    arena_rewind(a, m);
    assert_num(arena_used(a), used);
    assert_true(arena_peak(a) >= 4096000);
    assert_str(old, "old");
    UNUSED(p);
}

static void test_rewound_memory_and_gaps_are_poisoned(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    char *kept = arena_alloc(a, 32), *p;
    struct arena_mark m = arena_mark(a);

    UNUSED(state);
    if (!HAS_ASAN)
        skip();
    p = arena_alloc(a, 32);
    assert_false(IS_POISONED(kept + 31));
    assert_true(IS_POISONED(kept + 32));
    assert_false(IS_POISONED(p));
    arena_rewind(a, m);
    assert_true(IS_POISONED(p));
    assert_false(IS_POISONED(kept));
}

static void test_grow_keeps_the_content_in_place_or_moved(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    char *p = arena_alloc(a, 10), *q;

    UNUSED(state);
    memcpy(p, "0123456789", 10);
    q = arena_grow(a, p, 10, 100);
    assert_ptr_equal(q, p); /* the last block grows where it is */
    memset(q + 10, 'x', 90);
    assert_ptr_equal(arena_grow(a, q, 100, 50), q);
    memset(arena_alloc(a, 1), 'y', 1);
    p = arena_grow(a, q, 100, 5000);
    assert_ptr_not_equal(p, q);
    assert_memory_equal(p, "0123456789xxxx", 14);
    assert_non_null(arena_grow(a, NULL, 0, 8));
}

static void test_strings_are_copied_with_a_nul_behind(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    char text[] = "abc";
    struct str s = arena_dup(a, str_from(text));
    const char *z = arena_dupz(a, str_sub(str_from(text), 0, 2));

    UNUSED(state);
    text[0] = 'X';
    assert_str(s, "abc");
    assert_num(s.p[3], 0);
    assert_string_equal(z, "ab");
    assert_string_equal(arena_dupz(a, STR_NONE), "");
    assert_str(arena_printf(a, "%s-%05d", "x", 42), "x-00042");
}

static char order[8];

static void note(void *p)
{
    order[strlen(order)] = *(const char *)p;
}

static void test_on_free_runs_last_registered_first_and_not_on_rewind(void **state)
{
    struct arena *a = arena_new(SIZE_MAX);
    struct arena_mark m = arena_mark(a);

    UNUSED(state);
    memset(order, 0, sizeof(order));
    arena_on_free(a, note, (char[]){ 'a' });
    arena_on_free(a, note, (char[]){ 'b' });
    arena_rewind(a, m);
    assert_string_equal(order, "");
    arena_free(a);
    assert_string_equal(order, "ba");
    arena_free(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_aligned_and_keep_what_was_written),
        cmocka_unit_test(test_calloc_zeroes_memory_that_was_used_before),
        cmocka_unit_test(test_a_block_larger_than_any_chunk_fits),
        cmocka_unit_test(test_the_limit_is_a_flag_that_stays_and_allocations_go_on),
        cmocka_unit_test(test_rewind_gives_memory_back_and_keeps_what_is_older),
        cmocka_unit_test(test_rewound_memory_and_gaps_are_poisoned),
        cmocka_unit_test(test_grow_keeps_the_content_in_place_or_moved),
        cmocka_unit_test(test_strings_are_copied_with_a_nul_behind),
        cmocka_unit_test(test_on_free_runs_last_registered_first_and_not_on_rewind),
    };

    return RUN_TESTS(tests);
}
