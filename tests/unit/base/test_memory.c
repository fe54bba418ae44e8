/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "lib/check.h"

static void test_one_run_keeps_what_it_frees(void **state)
{
    const size_t n = (size_t)3 * 1024 * 1024;
    CLEANUP(arena_free) struct arena *a = NULL;
    char *before, *p;
    void *top;

    UNUSED(state);
    before = xstrdup("what was there before");
    memory_for_one_run();
    p = memset(xmalloc(n), 1, n);
    top = sbrk(0);
    free(p);
    assert_ptr_equal(sbrk(0), top);
    p = memset(xmalloc(n / 2), 1, n / 2);
    assert_ptr_equal(sbrk(0), top);
    free(p);
    assert_string_equal(before, "what was there before");
    free(before);
    a = arena_new(n);
    memset(arena_alloc(a, n), 2, n);
    assert_false(arena_failed(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_run_keeps_what_it_frees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
