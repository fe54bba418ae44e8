/* SPDX-License-Identifier: Apache-2.0 */
/* Every case of tests/data/template/functions.jsonl: one template a line and what real Helm's engine makes of it. The
 * file is written by tests/conformance/funcoracle. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "lib/check.h"
#include "template/template.h"
#include "json/json.h"

#define CASES "template/functions.jsonl"
#define NAME STR("c/templates/x")
#define SHOWN_MAX 20

struct answer {
    struct buf out;
    struct err *err;
};

/* value_copy() keeps the types; here the numbers must be Go's float64. */
static struct value read_json(struct arena *a, struct str text)
{
    struct err *err = NULL;
    struct value v = VALUE_NONE;

    assert_ok(json_parse(a, text, &(struct json_options){ .floats = true }, &v, &err), err);
    return v;
}

static void render(struct str template, struct str values, struct answer *ret)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    struct arena *a;
    struct value dot;

    if (tpl_set_add(set, NAME, template, &ret->err) < 0)
        return;
    run = tpl_run_new(set, NULL);
    a = tpl_run_arena(run);
    dot = tpl_values_from_map(value_new_map(a));
    value_setz(dot, "Values", tpl_values_from_map(read_json(a, values)));
    IGNORE_ERROR(tpl_render(run, NAME, dot, &ret->out, &ret->err));
}

static bool check_line(struct str line, struct str values, bool show)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIB);
    struct value c = read_json(a, line);
    struct answer got = { .out = BUF_INIT(TEMPLATE_OUTPUT_MAX) };
    struct str template = value_str(value_getz(c, "t")), err_text;
    bool ok;

    render(template, values, &got);
    err_text = str_from(err_message(got.err));
    ok = str_eq(buf_str(&got.out), value_str(value_getz(c, "out"))) &&
         str_eq(err_text, value_str(value_getz(c, "err")));
    if (!ok && show) {
        struct str want_out = value_str(value_getz(c, "out")), want_err = value_str(value_getz(c, "err"));

        print_message(STR_FMT "\n  got  " STR_FMT "%s" STR_FMT "\n  want " STR_FMT "%s" STR_FMT "\n",
                      STR_ARG(template), STR_ARG(buf_str(&got.out)), got.err ? "error: " : "",
                      STR_ARG(err_text), STR_ARG(want_out), want_err.n > 0 ? "error: " : "",
                      STR_ARG(want_err));
    }
    buf_done(&got.out);
    err_free(got.err);
    return ok;
}

static void test_functions_answer_as_helms_engine(void **state)
{
    CLEANUP(buf_done) struct buf file = BUF_INIT(64 * MIB);
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    const char *show_all = getenv("SHOW_ALL"),
               *other = getenv("CASES"); /* of another seed, relative to tests/data */
    struct str rest, line;
    CLEANUP(buf_done) struct buf values = BUF_INIT(MIB);
    size_t n = 0, failed = 0;

    UNUSED(state);
    setenv("TZ", "UTC", 1); /* as when the answers were recorded */
    check_read_data(other ? other : CASES, &file);
    rest = buf_str(&file);
    assert_true(str_split(&rest, '\n', &line));
    assert_int_equal(json_print(value_getz(read_json(a, line), "values"), 0, &values, NULL), 0);
    while (str_split(&rest, '\n', &line) && line.n > 0) {
        failed += !check_line(line, buf_str(&values), show_all || failed < SHOWN_MAX);
        n++;
    }
    if (failed > 0)
        fail_case("%zu of %zu templates differ", failed, n);
    assert_true(n >= 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_answer_as_helms_engine),
    };

    return RUN_TESTS(tests);
}
