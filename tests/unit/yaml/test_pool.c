/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml/pool.h"

#include <stdint.h>
#include <string.h>

#include "lib/check.h"
#include "yaml/yaml.h"

static void test_pieces_of_any_size_keep_what_is_in_them(void **state)
{
    struct yml_pool pool = { 0 }, *before = yml_pool_use(&pool);

    UNUSED(state);
    for (size_t n = 1; n <= 10000; n += n < 70 ? 1 : 997) {
        char *p = yml_pool_malloc(n), *q = yml_pool_malloc(n);

        assert_int_equal((uintptr_t)p % 16, 0);
        memset(p, 'p', n);
        memset(q, 'q', n);
        p = yml_pool_realloc(p, n * 3);
        memset(p + n, 'P', n * 2);
        assert_true(p[0] == 'p' && p[n - 1] == 'p' && q[0] == 'q' && q[n - 1] == 'q');
        yml_pool_free(p);
        yml_pool_free(q);
    }
    yml_pool_free(NULL);
    assert_ptr_equal(yml_pool_use(before), &pool);
    yml_pool_done(&pool);
    assert_null(pool.chunks);
}

static void test_what_was_given_back_is_given_out_again(void **state)
{
    struct yml_pool pool = { 0 }, *before = yml_pool_use(&pool);
    size_t chunks = 0;

    UNUSED(state);
    for (int i = 0; i < 100000; i++) {
        char *p = yml_pool_strdup("text"), *q = yml_pool_realloc(NULL, 100);

        assert_string_equal(p, "text");
        yml_pool_free(p);
        yml_pool_free(q);
        chunks = i == 0 ? pool.n_chunks : chunks;
    }
    assert_int_equal(pool.n_chunks, chunks);
    yml_pool_use(before);
    yml_pool_done(&pool);
}

static void test_without_a_pool_it_is_malloc(void **state)
{
    char *p = yml_pool_strdup("text");

    UNUSED(state);
    p = yml_pool_realloc(p, 5000);
    assert_string_equal(p, "text");
    yml_pool_free(p);
}

/* A reader within what another one reads: each has its own. */
static int read_with_another(void *ctx, char *to, size_t n, struct err **err)
{
    static const char text[] = "[a, {b: c}]\n";
    CLEANUP(yml_reader_free) struct yml_reader *inner = yml_reader_new_text(STR("{d: [e, f]}"));
    struct yml_event e;
    bool *done = ctx;

    do
        assert_ok(yml_reader_next(inner, &e, err), *err);
    while (e.kind != YML_END);
    n = *done ? 0 : MIN(n, sizeof(text) - 1);
    memcpy(to, text, n);
    *done = true;
    return (int)n;
}

static void test_readers_do_not_share(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    bool done = false;
    CLEANUP(yml_reader_free) struct yml_reader *r = yml_reader_new(read_with_another, &done);
    struct yml_event e;
    int n = 0;

    UNUSED(state);
    for (;; n++) {
        assert_ok(yml_reader_next(r, &e, &err), err);
        if (e.kind == YML_END)
            break;
    }
    assert_int_equal(n, 8); /* the document, two lists or maps with their ends, three scalars */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_any_size_keep_what_is_in_them),
        cmocka_unit_test(test_what_was_given_back_is_given_out_again),
        cmocka_unit_test(test_without_a_pool_it_is_malloc),
        cmocka_unit_test(test_readers_do_not_share),
    };

    return RUN_TESTS(tests);
}
