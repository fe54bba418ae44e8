/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to a run and not to the language: budgets, depth, the environment, shared state. */
#include <pthread.h>

#include "lib/check.h"
#include "template/template.h"

#include "base/limits.h"

static struct tpl_set *set_of(const char *text)
{
    struct tpl_set *set = tpl_set_new();
    struct err *err = NULL;

    assert_ok(tpl_set_add(set, STR("c/templates/t.yaml"), str_from(text), &err), err);
    return set;
}

/* Renders `text` under `env` with . = {"n": n}. */
static int render(const char *text, const struct tpl_env *env, int64_t n, struct buf *out, struct err **err)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = set_of(text);
    CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, env);
    struct value dot = value_new_map(tpl_run_arena(run)), number = value_from_int(n);

    number.type = VALUE_TYPE_INT;
    value_setz(dot, "n", number);
    return tpl_render(run, STR("c/templates/t.yaml"), dot, out, err);
}

static void assert_limit(const char *text, const struct tpl_env *env, int64_t n, const char *want)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    CLEANUP(err_free) struct err *err = NULL;
    int r;

    buf_adds(&out, "before");
    r = render(text, env, n, &out, &err);
    if (r != -ERRC_LIMIT || !str_contains(str_from(err_message(err)), str_from(want)) ||
        !str_has_prefix(str_from(err_message(err)), STR("rendering c/templates/t.yaml stopped: ")))
        fail_case("%.60s: %d %.300s", text, r, err_message(err));
    assert_str(buf_str(&out), "before");
}

static void assert_renders(const char *text, const struct tpl_env *env, int64_t n, const char *want)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    struct err *err = NULL;

    assert_ok(render(text, env, n, &out, &err), err);
    assert_case_str(text, buf_str(&out), want);
}

static size_t steps_of(const char *text)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = set_of(text);
    CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, NULL);
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    struct err *err = NULL;

    assert_ok(tpl_render(run, STR("c/templates/t.yaml"), VALUE_NONE, &out, &err), err);
    return tpl_run_steps(run);
}

static void steps_are_limited(void **state)
{
    const char *text = "{{ range 100 }}{{ print . }}{{ end }}";
    size_t n = steps_of(text);
    struct tpl_env env = { .steps_max = n };

    UNUSED(state);
    assert_true(n > 100);
    env.steps_max = n + 1;
    assert_renders("{{ range 100 }}{{ $_ := print . }}{{ end }}", &env, 0, "");
    env.steps_max = n;
    assert_renders("{{ range 100 }}{{ $_ := print . }}{{ end }}", &env, 0, "");
    env.steps_max = n - 1;
    assert_limit(text, &env, 0, "more than");
    env.steps_max = 100000;
    assert_limit("{{ range 1000000000 }}{{ end }}", &env, 0, "more than 100000 steps");
    assert_limit("{{ until 1000000000 }}", &env, 0, "more than");
}

static void output_is_limited(void **state)
{
    struct tpl_env env = { .output_max = 100 };

    UNUSED(state);
    assert_renders("{{ printf \"%99s\" \"x\" | len }}", &env, 0, "99");
    assert_limit("{{ range 101 }}x{{ end }}", &env, 0, "more than 100 bytes of output");
    assert_limit("{{ printf \"%101s\" \"x\" }}", &env, 0, "more than 100 bytes of output");
    for (size_t n = 99; n <= 101; n++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
        CLEANUP(err_free) struct err *err = NULL;
        int r = render("{{ range .n }}x{{ end }}", &env, (int64_t)n, &out, &err);

        assert_case_num("limit - 1, limit, limit + 1", r, n <= 100 ? 0 : -ERRC_LIMIT);
        assert_num(out.n, n <= 100 ? n : 0);
    }
}

static void output_of_all_files_of_a_run_counts(void **state)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = set_of("{{ range 60 }}x{{ end }}");
    struct tpl_env env = { .output_max = 100 };
    CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, &env);
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(tpl_render(run, STR("c/templates/t.yaml"), VALUE_NONE, &out, &err), err);
    assert_fails(tpl_render(run, STR("c/templates/t.yaml"), VALUE_NONE, &out, &err), ERRC_LIMIT, err, NULL);
}

static void memory_is_limited(void **state)
{
    struct tpl_env env = { .memory_max = 256 * KIB };

    UNUSED(state);
    assert_renders("{{ range 10 }}{{ $x := print . }}{{ end }}ok", &env, 0, "ok");
    assert_limit("{{ range 1000000 }}{{ $x := printf \"%100d\" . }}{{ end }}", &env, 0, "bytes of memory");
    assert_limit("{{ define \"a\" }}{{ range 1000 }}xxxxxxxxxx{{ end }}{{ end }}"
                 "{{ range 1000 }}{{ $x := include \"a\" . }}{{ end }}",
                 &env, 0, "bytes of memory");
}

static void deep_includes_of_one_name_render(void **state)
{
    const char *text =
        "{{ define \"r\" }}{{ if gt . 0 }}{{ if true }}{{ with . }}{{ include \"r\" (sub . 1 | int) }}"
        "{{ end }}{{ end }}{{ else }}end{{ end }}{{ end }}{{ include \"r\" .n }}";
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_renders(text, NULL, 999, "end");
    assert_renders(text, NULL, TEMPLATE_DEPTH_MAX, "end");
    assert_num(render(text, NULL, TEMPLATE_DEPTH_MAX + 1, &out, &err), -ERRC_TEMPLATE);
    assert_true(
        str_has_suffix(str_from(err_message(err)),
                       STR("rendering template has a nested reference name: r: unable to execute template")));
}

/* No text may use up the stack. */
static void recursion_without_end_is_an_error(void **state)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_num(
        render("{{ define \"r\" }}{{ template \"r\" }}{{ end }}{{ template \"r\" }}", NULL, 0, &out, &err),
        -ERRC_TEMPLATE);
    assert_true(str_has_suffix(str_from(err_message(err)), STR("exceeded maximum template depth (100000)")));
    assert_limit("{{ tpl \"{{ tpl .x . }}\" (dict \"x\" \"{{ tpl .x . }}\") }}", NULL, 0, "nesting");
}

/* `n` times `open`, a 1, `n` times `close`. */
static void nested(struct buf *b, const char *open, const char *close, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_adds(b, open);
    buf_adds(b, "1");
    for (size_t i = 0; i < n; i++)
        buf_adds(b, close);
}

static void nesting_in_the_source_is_limited(void **state)
{
    static const struct {
        const char *open, *close;
        size_t n;
        const char *want; /* NULL: it renders */
    } cases[] = {
        { "(", ")", 1000, NULL },
        { "(", ")", 10001, "parse error at (t:1): max expression depth exceeded" },
        { "(", ")", 100000, "parse error at (t:1): max expression depth exceeded" },
        { "if true }}{{ ", " }}{{ end ", 1000, NULL },
        { "if true }}{{ ", " }}{{ end ", 200000, "parse error at (t:1): max expression depth exceeded" },
        { "if false }}{{ else ", "", 0, NULL },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(64 * MIB), out = BUF_INIT(MIB);
        CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
        CLEANUP(err_free) struct err *err = NULL;
        int r;

        buf_adds(&text, "{{ ");
        nested(&text, cases[i].open, cases[i].close, cases[i].n);
        buf_adds(&text, " }}");
        r = tpl_set_add(set, STR("t"), buf_str(&text), &err);
        assert_case_str(cases[i].open, str_from(err_message(err)), cases[i].want ? cases[i].want : "");
        if (r == 0) {
            CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, NULL);

            assert_ok(tpl_render(run, STR("t"), VALUE_NONE, &out, &err), err);
            assert_str(buf_str(&out), "1");
        }
    }
}

/* Whether the parentheses parse and render. */
static void *render_nested(void *arg)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB), out = BUF_INIT(MIB);
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, NULL);
    const size_t *n = arg;

    buf_adds(&text, "{{ ");
    nested(&text, "(", ")", *n);
    buf_adds(&text, " }}");
    if (tpl_set_add(set, STR("t"), buf_str(&text), NULL) < 0 ||
        tpl_render(run, STR("t"), VALUE_NONE, &out, NULL) < 0)
        return NULL;
    return arg;
}

static void parentheses_nest_as_deep_as_in_go(void **state)
{
    pthread_attr_t attr;

    UNUSED(state);
    assert_num(pthread_attr_init(&attr), 0);
    assert_num(pthread_attr_setstacksize(&attr, 256 * MIB), 0);
    for (size_t n = TEMPLATE_NODES_DEPTH_MAX - 1; n <= TEMPLATE_NODES_DEPTH_MAX + 1; n++) {
        pthread_t thread;
        void *rendered;

        assert_num(pthread_create(&thread, &attr, render_nested, &n), 0);
        assert_num(pthread_join(thread, &rendered), 0);
        assert_case_num("limit - 1, limit, limit + 1", rendered != NULL, n <= TEMPLATE_NODES_DEPTH_MAX);
    }
    pthread_attr_destroy(&attr);
}

static void a_value_that_contains_itself_does_not_print(void **state)
{
    UNUSED(state);
    assert_limit("{{ $d := dict }}{{ $_ := set $d \"self\" $d }}{{ $d }}", NULL, 0, "bytes of output");
}

static int answer_lookup(void *ctx, struct arena *a, struct str api_version, struct str kind, struct str ns,
                         struct str name, struct value *ret, struct err **err)
{
    if (str_eq(name, STR("broken")))
        return err_set(err, ERRC_FORBIDDEN, "no rights");
    *ret = value_new_map(a);
    value_setz(*ret, "text",
               value_from_str(arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT "/" STR_FMT "/%s",
                                           STR_ARG(api_version), STR_ARG(kind), STR_ARG(ns), STR_ARG(name),
                                           (const char *)ctx)));
    return 0;
}

static int answer_resolve(void *ctx, struct arena *a, struct str host, struct str *ret, struct err **err)
{
    UNUSED(ctx);
    UNUSED(err);
    *ret = arena_printf(a, "ip of " STR_FMT, STR_ARG(host));
    return 0;
}

static void lookup_and_dns_are_handed_in(void **state)
{
    char ctx[] = "cluster";
    struct tpl_env env = { .ctx = ctx, .lookup = answer_lookup, .resolve = answer_resolve };
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_renders("{{ (lookup \"v1\" \"Pod\" \"ns\" \"p\").text }}", &env, 0, "v1/Pod/ns/p/cluster");
    assert_renders("{{ getHostByName \"h\" }}", &env, 0, "ip of h");
    assert_num(render("{{ lookup \"v1\" \"Pod\" \"\" \"broken\" }}", &env, 0, &out, &err), -ERRC_TEMPLATE);
    assert_str(str_from(err_message(err)),
               "template: c/templates/t.yaml:1:3: executing \"c/templates/t.yaml\" at "
               "<lookup \"v1\" \"Pod\" \"\" \"broken\">: error calling lookup: no rights");
    env.lint = true;
    assert_renders("{{ lookup \"v1\" \"Pod\" \"\" \"broken\" }}", &env, 0, "map[]");
}

static void keep_warning(void *ctx, enum tpl_warning what, struct str message)
{
    static const char *const names[] = { "null", "empty", "fail" };

    buf_addf(ctx, "%s " STR_FMT ";", names[what], STR_ARG(message));
}

static void lint_mode_reports_instead_of_failing(void **state)
{
    CLEANUP(buf_done) struct buf warnings = BUF_INIT(MIB);
    struct tpl_env env = { .ctx = &warnings, .warn = keep_warning, .lint = true };

    UNUSED(state);
    assert_renders(
        "[{{ fail \"a\" }}{{ required \"b\" nil }}{{ required \"c\" 0 }}{{ required \"d\" \"\" }}]", &env, 0,
        "[0]");
    assert_str(buf_str(&warnings), "fail a;null b;empty d;");
}

static void a_failed_render_leaves_the_run_usable(void **state)
{
    CLEANUP(tpl_set_free)
    struct tpl_set *set = set_of("{{ define \"x\" }}{{ range 3 }}{{ fail \"f\" }}{{ end }}{{ end }}"
                                 "{{ include \"x\" . }}");
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(tpl_set_add(set, STR("ok"), STR("fine{{ $x := 1 }}{{ $x }}"), &err), err);
    run = tpl_run_new(set, NULL);
    for (int i = 0; i < 3; i++) {
        buf_clear(&out);
        assert_fails(tpl_render(run, STR("c/templates/t.yaml"), VALUE_NONE, &out, &err), ERRC_TEMPLATE, err,
                     "execution error at (c/templates/t.yaml:1:64): f");
        assert_ok(tpl_render(run, STR("ok"), VALUE_NONE, &out, &err), err);
        assert_str(buf_str(&out), "fine1");
    }
    assert_fails(tpl_render(run, STR("nope"), VALUE_NONE, &out, &err), ERRC_TEMPLATE, err,
                 "template: no template \"nope\" associated with template \"gotpl\"");
}

static void names_sort_as_helm_sorts_them(void **state)
{
    static const char *const sorted[] = { "c/charts/d/templates/x.yaml", "c/charts/b/templates/x.yaml",
                                          "c/templates/z.yaml",          "c/templates/a.yaml",
                                          "c/templates/_h.tpl",          "c/a" };

    UNUSED(state);
    for (size_t i = 1; i < ARRAY_SIZE(sorted); i++) {
        assert_true(tpl_name_cmp(str_from(sorted[i - 1]), str_from(sorted[i])) < 0);
        assert_true(tpl_name_cmp(str_from(sorted[i]), str_from(sorted[i - 1])) > 0);
    }
    assert_num(tpl_name_cmp(STR("a/b"), STR("a/b")), 0);
    assert_true(tpl_name_is_partial(STR("c/templates/_h.tpl")));
    assert_false(tpl_name_is_partial(STR("c/_templates/h.tpl")));
}

static void *render_often(void *arg)
{
    for (int i = 0; i < 50; i++) {
        CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(arg, NULL);
        CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
        int r = tpl_render(run, STR("c/templates/t.yaml"), VALUE_NONE, &out, NULL);

        if (r < 0 || !str_eq(buf_str(&out), STR("a1b5")))
            return arg;
    }
    return NULL;
}

static void a_set_is_shared_between_threads(void **state)
{
    CLEANUP(tpl_set_free)
    struct tpl_set *set = set_of("{{ define \"x\" }}{{ . }}{{ end }}a{{ include \"x\" 1 }}"
                                 "{{ tpl \"b{{ include `x` 5 }}\" . }}");
    pthread_t threads[4];

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        assert_num(pthread_create(&threads[i], NULL, render_often, set), 0);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        void *failed;

        assert_num(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

/* The same tpl text is parsed once: its nodes are not added to the run's memory again. */
static void equal_tpl_texts_are_parsed_once(void **state)
{
    CLEANUP(tpl_set_free)
    struct tpl_set *set =
        set_of("{{ range 10000 }}{{ tpl \"{{ if . }}{{ print 1 2 3 4 5 | len }}{{ end }}\" . }}{{ end }}");
    CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, NULL);
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(tpl_render(run, STR("c/templates/t.yaml"), VALUE_NONE, &out, &err), err);
    assert_num(out.n, 9999);
    assert_true(tpl_run_peak_bytes(run) < 600 * KIB);
}

/* Copying 20,000 items at each append would be 3 GiB. */
static void appending_in_a_loop_costs_a_few_copies_of_the_list(void **state)
{
    CLEANUP(tpl_set_free)
    struct tpl_set *set =
        set_of("{{ $l := list }}{{ range until 20000 }}{{ $l = append $l . }}{{ end }}{{ len $l }}");
    CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, NULL);
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(tpl_render(run, STR("c/templates/t.yaml"), VALUE_NONE, &out, &err), err);
    assert_str(buf_str(&out), "20000");
    assert_true(tpl_run_peak_bytes(run) < 2 * MIB);
}

static void two_appends_to_one_list_do_not_meet(void **state)
{
    CLEANUP(tpl_set_free)
    struct tpl_set *set = set_of("{{ $a := append (list 1) 2 }}{{ $b := append $a 3 }}{{ $c := append $a 4 }}"
                                 "{{ $d := append $b 5 }}{{ $a }}{{ $b }}{{ $c }}{{ $d }}");
    CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, NULL);
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(tpl_render(run, STR("c/templates/t.yaml"), VALUE_NONE, &out, &err), err);
    assert_str(buf_str(&out), "[1 2][1 2 3][1 2 4][1 2 3 5]");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_limited),
        cmocka_unit_test(appending_in_a_loop_costs_a_few_copies_of_the_list),
        cmocka_unit_test(two_appends_to_one_list_do_not_meet),
        cmocka_unit_test(output_is_limited),
        cmocka_unit_test(output_of_all_files_of_a_run_counts),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(deep_includes_of_one_name_render),
        cmocka_unit_test(recursion_without_end_is_an_error),
        cmocka_unit_test(nesting_in_the_source_is_limited),
        cmocka_unit_test(parentheses_nest_as_deep_as_in_go),
        cmocka_unit_test(a_value_that_contains_itself_does_not_print),
        cmocka_unit_test(lookup_and_dns_are_handed_in),
        cmocka_unit_test(lint_mode_reports_instead_of_failing),
        cmocka_unit_test(a_failed_render_leaves_the_run_usable),
        cmocka_unit_test(names_sort_as_helm_sorts_them),
        cmocka_unit_test(a_set_is_shared_between_threads),
        cmocka_unit_test(equal_tpl_texts_are_parsed_once),
    };

    return RUN_TESTS(tests);
}
