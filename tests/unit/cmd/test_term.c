/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/check.h"
#include "pintle/term.h"

static struct cli in_memory(char **out, size_t *n)
{
    return (struct cli){ .out = open_memstream(out, n), .errout = stderr };
}

static void test_columns_are_aligned_as_kubectl_does(void **state)
{
    CLEANUP(free_ptr) char *out = NULL;
    size_t n;
    struct cli c = in_memory(&out, &n);
    CLEANUP(term_table_free) struct term_table *t = term_table_new(3);

    UNUSED(state);
    term_table_add(t, (struct str[]){ STR("NAME"), STR("A"), STR("AGE") });
    term_table_add(t, (struct str[]){ STR("web-\xc3\xa4"), STR(""), STR("5m") });
    term_table_add(t, (struct str[]){ STR("a-longer-name"), STR("x"), STR("") });
    term_table_print(&c, t);
    fclose(c.out);
    assert_str(str_from(out), "NAME            A     AGE\n"
                              "web-\xc3\xa4                 5m\n"
                              "a-longer-name   x     \n");
}

static void test_control_characters_of_a_cell_are_escaped(void **state)
{
    CLEANUP(free_ptr) char *out = NULL;
    size_t n;
    struct cli c = in_memory(&out, &n);
    CLEANUP(term_table_free) struct term_table *t = term_table_new(1);

    UNUSED(state);
    term_table_add(t, (struct str[]){ STR("a\x1b[31m\nb") });
    term_table_print(&c, t);
    fclose(c.out);
    assert_str(str_from(out), "a\\u001b[31m\\nb\n");
}

static void test_many_rows_grow_the_table(void **state)
{
    CLEANUP(free_ptr) char *out = NULL;
    size_t n, lines = 0;
    struct cli c = in_memory(&out, &n);
    CLEANUP(term_table_free) struct term_table *t = term_table_new(2);

    UNUSED(state);
    for (int i = 0; i < 1000; i++)
        term_table_add(t, (struct str[]){ STR("a"), STR("b") });
    term_table_print(&c, t);
    fclose(c.out);
    for (size_t i = 0; i < n; i++)
        lines += out[i] == '\n';
    assert_num(lines, 1000);
}

static void test_nothing_is_coloured_and_no_progress_shown_away_from_a_terminal(void **state)
{
    FILE *file = tmpfile();
    struct cli c = { .out = file, .errout = file };

    UNUSED(state);
    assert_non_null(file);
    assert_string_equal(term_color(&c, TERM_RED), "");
    term_progress(&c, "waiting %d", 1);
    assert_num(ftell(file), 0);
    fclose(file);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_aligned_as_kubectl_does),
        cmocka_unit_test(test_control_characters_of_a_cell_are_escaped),
        cmocka_unit_test(test_many_rows_grow_the_table),
        cmocka_unit_test(test_nothing_is_coloured_and_no_progress_shown_away_from_a_terminal),
    };

    return RUN_TESTS(tests);
}
