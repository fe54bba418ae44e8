/* SPDX-License-Identifier: Apache-2.0 */
/* What a template can make grow stops at a limit, soon. */
#include <time.h>

#include "base/limits.h"
#include "lib/check.h"
#include "template/template.h"

#define NAME STR("c/templates/x")
#define CPU_SECONDS_MAX 4 /* one, and what the sanitizers cost */

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A tenth of the budgets' default values: the test is to end soon, too. */
#define STEPS_MAX (TEMPLATE_STEPS_MAX / 10)
#define MEMORY_MAX (TEMPLATE_MEMORY_MAX / 8)

static int render(const char *template, size_t steps_max, struct buf *out, struct err **err)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    const struct tpl_env env = { .steps_max = steps_max,
                                 .memory_max = steps_max == STEPS_MAX ? MEMORY_MAX : 0 };
    int r = tpl_set_add(set, NAME, str_from(template), err);

    if (r < 0)
        return r;
    run = tpl_run_new(set, &env);
    return tpl_render(run, NAME, value_new_map(tpl_run_arena(run)), out, err);
}

static void test_growth_stops_at_a_limit_soon(void **state)
{
#define TWINS "{{ $l := list 1 }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}"
/* The same with fewer items before the text is too long. */
#define LONG_TWINS "{{ $l := list (repeat 1000 \"x\") }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}"
#define OTHER_TWINS "{{ $m := list 1 }}{{ range until 40 }}{{ $m = list $m $m }}{{ end }}"
#define CYCLE "{{ $d := dict }}{{ $_ := set $d \"a\" $d }}"
    static const char *const templates[] = {
        "{{ repeat 2 (repeat 40000000 \"x\") }}",
        "{{ range until 100 }}{{ $x := repeat 10000000 \"x\" }}{{ end }}",
        "{{ indent 67108864 \"a\" }}",
        "{{ indent 10000 (repeat 100000 \"\\n\") }}",
        "{{ nindent 10000 (repeat 100000 \"\\n\") }}",
        "{{ until 1000000000 }}",
        "{{ until -1000000000 }}",
        "{{ untilStep 0 1000000000 1 }}",
        "{{ untilStep 9223372036854775000 9223372036854775807 0 }}{{ untilStep -9223372036854775807 "
        "9223372036854775807 1 }}",
        "{{ seq 1000000000 }}",
        "{{ seq 1 1 9223372036854775806 }}",
        "{{ b64enc (repeat 60000000 \"x\") | len }}",
        "{{ b32enc (repeat 43000000 \"x\") | len }}",
        "{{ regexReplaceAll \"a\" (repeat 100000 \"a\") (repeat 1000 \"b\") }}",
        "{{ regexReplaceAll \"(a+)\" (repeat 10000 \"a\") (repeat 10000 \"$1\") }}",
        "{{ regexReplaceAllLiteral \"\" (repeat 100000 \"a\") (repeat 1000 \"b\") }}",
        "{{ regexFindAll \"x*y|x\" (repeat 3000000 \"x\") -1 | len }}",
        "{{ regexSplit \"\" (repeat 60000000 \"x\") -1 | len }}",
        "{{ replace \"a\" (repeat 1000 \"b\") (repeat 100000 \"a\") }}",
        "{{ replace \"\" (repeat 1000 \"b\") (repeat 100000 \"a\") }}",
        "{{ wrapWith 1 (repeat 1000 \"b\") (repeat 100000 \"a\") }}",
        "{{ join (repeat 1000 \"b\") (until 100000) }}",
        "{{ splitList \"\" (repeat 60000000 \"x\") | len }}",
        "{{ split \"\" (repeat 60000000 \"x\") | len }}",
        "{{ quote (repeat 17000000 \"\\x01\") | len }}",
        "{{ upper (repeat 67108864 \"ŉ\") | len }}",
        "{{ nospace (repeat 60000000 \"\\xe9 \") | len }}",
        "{{ randAlphaNum 20000000 | len }}",
        "{{ randBytes 100000000 | len }}",
        "{{ shuffle (repeat 60000000 \"x\") | len }}",
        "{{ $l := list 1 2 }}{{ range until 60 }}{{ $l = concat $l $l }}{{ end }}",
        "{{ $l := until 3000000 }}{{ range until 60 }}{{ $l = append $l 1 }}{{ end }}",
        "{{ $l := until 300000 }}{{ uniq $l | len }}",
        "{{ $d := dict }}{{ range $i := 10000000 }}{{ $_ := set $d (print $i) $d }}{{ end }}",
        TWINS "{{ toJson $l }}",
        TWINS "{{ toYaml $l }}",
        TWINS "{{ toToml (dict \"a\" $l) }}",
        LONG_TWINS "{{ toString $l }}",
        TWINS "{{ deepCopy $l | len }}",
        TWINS OTHER_TWINS "{{ deepEqual $l $m }}",
        TWINS OTHER_TWINS "{{ has $l (list $m) }}",
        CYCLE "{{ merge $d $d }}",
        CYCLE "{{ mergeOverwrite (dict \"a\" $d) $d }}",
        CYCLE "{{ deepCopy $d }}",
        CYCLE "{{ toYaml $d }}",
        CYCLE "{{ toJson $d }}",
        CYCLE "{{ toString $d }}",
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(templates); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
        CLEANUP(err_free) struct err *err = NULL;
        double start = cpu_seconds();
        int r = render(templates[i], STEPS_MAX, &out, &err);

        if (r != -ERRC_LIMIT)
            fail_case("%s: %d %.200s", templates[i], r, err_message(err));
        if (cpu_seconds() - start > CPU_SECONDS_MAX)
            fail_case("%s: took %.1f s", templates[i], cpu_seconds() - start);
    }
}

static void test_texts_are_as_long_as_the_output_may_be(void **state)
{
    static const struct {
        const char *template;
        int want;
    } cases[] = {
        { "{{ repeat 67108863 \"x\" | len }}", 0 },
        { "{{ repeat 67108864 \"x\" | len }}", 0 },
        { "{{ repeat 67108865 \"x\" | len }}", -ERRC_LIMIT },
        { "{{ indent 67108862 \"x\" | len }}", 0 },
        { "{{ indent 67108863 \"x\" | len }}", 0 },
        { "{{ indent 67108864 \"x\" | len }}", -ERRC_LIMIT },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);

        assert_case_num(cases[i].template, render(cases[i].template, 0, &out, NULL), cases[i].want);
    }
}

static void test_functions_slow_by_design_have_their_price(void **state)
{
    static const struct {
        const char *template;
        size_t steps_max;
        int want;
    } cases[] = {
        { "{{ $x := genPrivateKey \"rsa\" }}", 5000000, -ERRC_LIMIT },
        { "{{ $x := genPrivateKey \"dsa\" }}", 10000000, -ERRC_LIMIT },
        { "{{ $x := genCA \"a\" 1 }}", 1000000, -ERRC_LIMIT },
        { "{{ $x := genCA \"a\" 1 }}", TEMPLATE_STEPS_MAX / 100, 0 }, /* some charts make fifty and more */
        { "{{ $x := genPrivateKey \"ecdsa\" }}", 50000, -ERRC_LIMIT },
        { "{{ $x := genPrivateKey \"ecdsa\" }}", 200000, 0 },
        { "{{ range until 5 }}{{ $x := bcrypt \"a\" }}{{ end }}", 4500000, -ERRC_LIMIT },
        { "{{ $x := bcrypt \"a\" }}", 1100000, 0 },
        { "{{ range until 2 }}{{ $x := derivePassword 1 \"pin\" \"a\" \"b\" \"c\" }}{{ end }}", 4900000,
          -ERRC_LIMIT },
        { "{{ $x := derivePassword 1 \"pin\" \"a\" \"b\" \"c\" }}", 2600000, 0 },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);

        assert_case_num(cases[i].template, render(cases[i].template, cases[i].steps_max, &out, NULL),
                        cases[i].want);
    }
}

/* A render of two pieces: what the first takes is known from an earlier one, the rest is asked for at once. */
static int render_in(size_t taken, size_t *ret_peak, struct err **err)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    const struct tpl_env env = { 0 };
    int r = tpl_set_add(set, NAME, STR("{{ $x := repeat 1000 \"abc\" }}{{ len $x }}"), err);

    if (r < 0)
        return r;
    run = tpl_run_new(set, &env);
    if (taken > 0)
        *(char *)arena_alloc_bytes(tpl_run_arena(run), taken) = 0;
    r = tpl_render(run, NAME, value_new_map(tpl_run_arena(run)), &out, err);
    *ret_peak = tpl_run_peak_bytes(run);
    return r;
}

static void test_memory_ends_at_the_limit(void **state)
{
    size_t needs = 0, peak;
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(render_in(0, &needs, &err), err);
    for (int d = -1; d <= 1; d++) {
        int r = render_in((size_t)((int64_t)(TEMPLATE_MEMORY_MAX - needs) + d), &peak, &err);

        if (d <= 0)
            assert_ok(r, err);
        else
            assert_fails(r, ERRC_LIMIT, err, NULL);
        assert_true(d > 0 || peak == TEMPLATE_MEMORY_MAX + (size_t)d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_stops_at_a_limit_soon),
        cmocka_unit_test(test_texts_are_as_long_as_the_output_may_be),
        cmocka_unit_test(test_memory_ends_at_the_limit),
        cmocka_unit_test(test_functions_slow_by_design_have_their_price),
    };

    return RUN_TESTS(tests);
}
