/* SPDX-License-Identifier: Apache-2.0 */
/* Templates that are parsed by two threads, or once for several files, give what parsing one after the other gives. */
#include <stdlib.h>

#include "base/limits.h"
#include "chart/chart.h"
#include "lib/check.h"

#define FILES 200 /* of 2 KiB each: far more than what starts a thread */

/* Chart.yaml and FILES templates; `odd` has `text` instead. */
static struct chart *load_many(struct arena *a, size_t odd, const char *text)
{
    struct chart_file *files = ARENA_ARRAY(a, struct chart_file, FILES + 1);
    struct chart *c = NULL;
    CLEANUP(err_free) struct err *err = NULL;

    memset(files, 0, (FILES + 1) * sizeof(*files));
    files[0].name = STR("Chart.yaml");
    files[0].data = STR("apiVersion: v2\nname: many\nversion: 1.0.0\n");
    for (size_t i = 0; i < FILES; i++) {
        struct chart_file *f = &files[i + 1];

        f->name = arena_printf(a, "templates/%03zu.yaml", i);
        f->data = arena_printf(
            a,
            "{{- define \"n%zu\" }}{{ %zu }}{{ end -}}\nkind: ConfigMap\nmetadata: {name: c%zu}\n"
            "n: {{ include \"n%zu\" . }}\n# %02000d\n",
            i, i, i, (i * 7 + 3) % FILES, 0);
        if (i == odd || (i == odd + 1 && text))
            f->data = text ? str_from(text) : f->data;
    }
    assert_ok(chart_load_files(files, FILES + 1, NULL, &c, &err), err);
    return c;
}

static void test_every_definition_of_many_files_is_found(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    const struct chart_render_options o = { .release_name = STR("r") };

    UNUSED(state);
    for (int round = 0; round < 20; round++) {
        struct chart *c = load_many(a, FILES, NULL);
        CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
        CLEANUP(err_free) struct err *err = NULL;

        assert_ok(chart_render(c, VALUE_NONE, &o, NULL, &r, &err), err);
        assert_num(r->n_manifests, FILES);
        for (size_t i = 0; i < r->n_manifests; i++) {
            CLEANUP(free_ptr) char *want = xasprintf("name: c%zu}\nn: %zu\n", i, (i * 7 + 3) % FILES);

            assert_true(str_contains(r->manifests[i].content, str_from(want)));
        }
        chart_unref(c);
    }
}

/* Helm parses from z to a. */
static void test_the_first_file_with_an_error_is_the_one_that_is_told(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    const struct chart_render_options o = { .release_name = STR("r") };

    UNUSED(state);
    for (size_t odd = 0; odd + 1 < FILES; odd += 13) {
        struct chart *c = load_many(a, odd, "{{ if }}");
        CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
        CLEANUP(free_ptr)
        char *want = xasprintf("parse error at (many/templates/%03zu.yaml:1): missing value for if", odd + 1);
        struct err *err = NULL;

        assert_fails(chart_render(c, VALUE_NONE, &o, NULL, &r, &err), ERRC_TEMPLATE, err, want);
        chart_unref(c);
    }
}

static void test_a_failure_before_the_templates_ends_the_parsing(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    const struct chart_file bad[] = {
        { .name = STR("Chart.yaml"), .data = STR("apiVersion: v2\nname: bad\nversion: 1.0.0\n") },
        { .name = STR("values.schema.json"), .data = STR("{\"required\":[\"x\"]}") },
        { .name = STR("templates/a.yaml"), .data = arena_printf(a, "{{ %s }}# %0200000d", "1", 0) },
    };
    struct chart *failing = NULL;
    CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(chart_load_files(bad, ARRAY_SIZE(bad), NULL, &failing, &err), err);
    assert_fails(chart_render(failing, VALUE_NONE, NULL, NULL, &r, &err), ERRC_SCHEMA, err, NULL);
    chart_unref(failing);
}

/* Two subcharts with the same library: its definitions, and errors in it, go by each one's own path. */
static void test_one_text_in_two_places(void **state)
{
    static const struct chart_file files[] = {
        { .name = STR("Chart.yaml"), .data = STR("apiVersion: v2\nname: top\nversion: 1.0.0\n") },
        { .name = STR("charts/a/Chart.yaml"), .data = STR("name: a\nversion: 1.0.0\n") },
        { .name = STR("charts/a/templates/_lib.tpl"),
          .data = STR("{{ define \"lib\" }}{{ .Chart.Name }}{{ end }}") },
        { .name = STR("charts/a/templates/x.yaml"),
          .data =
              STR("kind: A\nn: {{ include \"lib\" . }}\nt: {{ .Template.Name }}\nf: {{ .Values.no.way }}") },
        { .name = STR("charts/b/Chart.yaml"), .data = STR("name: b\nversion: 1.0.0\n") },
        { .name = STR("charts/b/templates/_lib.tpl"),
          .data = STR("{{ define \"lib\" }}{{ .Chart.Name }}{{ end }}") },
        { .name = STR("charts/b/templates/x.yaml"),
          .data =
              STR("kind: A\nn: {{ include \"lib\" . }}\nt: {{ .Template.Name }}\nf: {{ .Values.no.way }}") },
    };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    static const char *const subs[] = { "a", "b" };

    UNUSED(state);
    for (size_t bad = 0; bad < 2; bad++) {
        struct value good = value_new_map(a), values = value_new_map(a), no = value_new_map(a);
        CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
        CLEANUP(free_ptr) char *place = xasprintf("top/charts/%s/templates/x.yaml:4:", subs[bad]);
        struct chart *c = NULL;
        struct err *err = NULL;

        assert_ok(chart_load_files(files, ARRAY_SIZE(files), NULL, &c, &err), err);
        value_setz(no, "way", value_from_int(1));
        value_setz(good, "no", no);
        value_set(values, str_from(subs[1 - bad]), good);
        assert_num(chart_render(c, values, NULL, NULL, &r, &err), -ERRC_TEMPLATE);
        assert_true(str_contains(str_from(err_message(err)), str_from(place)));
        err_clear(&err);
        value_set(values, str_from(subs[bad]), good);
        assert_ok(chart_render(c, values, NULL, NULL, &r, &err), err);
        assert_num(r->n_manifests, 2);
        assert_true(str_contains(r->manifests[0].content, STR("n: a\nt: top/charts/a/templates/x.yaml\n")));
        assert_true(str_contains(r->manifests[1].content, STR("n: b\nt: top/charts/b/templates/x.yaml\n")));
        chart_unref(c);
    }
}

/* The text defines a template by the path of its first file: the second file must not take that definition as its own. */
static void test_a_text_with_the_name_of_its_own_file(void **state)
{
    static const char text[] = "{{ define \"top/charts/a/templates/x.yaml\" }}kind: D{{ end }}";
    const struct chart_file files[] = {
        { .name = STR("Chart.yaml"), .data = STR("apiVersion: v2\nname: top\nversion: 1.0.0\n") },
        { .name = STR("charts/a/Chart.yaml"), .data = STR("name: a\nversion: 1.0.0\n") },
        { .name = STR("charts/a/templates/x.yaml"), .data = str_from(text) },
        { .name = STR("charts/b/Chart.yaml"), .data = STR("name: b\nversion: 1.0.0\n") },
        { .name = STR("charts/b/templates/x.yaml"), .data = str_from(text) },
    };
    CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    struct chart *c = NULL;

    UNUSED(state);
    assert_ok(chart_load_files(files, ARRAY_SIZE(files), NULL, &c, &err), err);
    assert_ok(chart_render(c, VALUE_NONE, NULL, NULL, &r, &err), err);
    assert_num(r->n_manifests, 1);
    assert_str(r->manifests[0].path, "top/charts/a/templates/x.yaml");
    chart_unref(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_definition_of_many_files_is_found),
        cmocka_unit_test(test_the_first_file_with_an_error_is_the_one_that_is_told),
        cmocka_unit_test(test_a_failure_before_the_templates_ends_the_parsing),
        cmocka_unit_test(test_one_text_in_two_places),
        cmocka_unit_test(test_a_text_with_the_name_of_its_own_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
