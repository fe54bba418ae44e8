/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"
#include "chart/chart.h"
#include "lib/check.h"

static const struct chart_file files[] = {
    { .name = STR("Chart.yaml"),
      .data = STR("apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: \">=1.20.0\"\ndependencies: "
                  "[{name: s, version: "
                  "\"*\", condition: s.on}]\n") },
    { .name = STR("values.yaml"), .data = STR("num: 1\n") },
    { .name = STR("templates/a.yaml"),
      .data =
          STR("kind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\nnum: {{ .Values.num }}\nset: {{ set "
              ".Values \"num\" 9 | "
              "len }}\nlook: {{ (lookup \"v1\" \"Secret\" \"ns\" \"x\").found }}\nnow: {{ now | date "
              "\"2006\" }}\n") },
    { .name = STR("templates/secret.yaml"),
      .data = STR("apiVersion: v1\nkind: Secret\nstringData: {p: hidden}\n") },
    { .name = STR("templates/NOTES.txt"), .data = STR("notes {{ .Values.num }}\n") },
    { .name = STR("charts/s/Chart.yaml"), .data = STR("name: s\nversion: 1.0.0\n") },
    { .name = STR("charts/s/templates/s.yaml"), .data = STR("kind: Namespace\nmetadata: {name: s}\n") },
    { .name = STR("charts/s/templates/NOTES.txt"), .data = STR("sub notes\n") },
};

struct fixture {
    struct arena *arena;
    struct chart *chart;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct err *err = NULL;

    f->arena = arena_new(16 * MIB);
    assert_ok(chart_load_files(files, ARRAY_SIZE(files), NULL, &f->chart, &err), err);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    chart_unref(f->chart);
    arena_free(f->arena);
    free(f);
    return 0;
}

static int find_secret(void *ctx, struct arena *a, struct str api_version, struct str kind, struct str ns,
                       struct str name, struct value *ret, struct err **err)
{
    UNUSED(err);
    *ret = value_new_map(a);
    if (str_eq(api_version, STR("v1")) && str_eq(kind, STR("Secret")) && str_eq(ns, STR("ns")) &&
        str_eq(name, STR("x")))
        value_setz(*ret, "found", value_from_str(str_from(ctx)));
    return 0;
}

static void test_options_reach_the_templates(void **state)
{
    struct fixture *f = *state;
    char answer[] = "yes";
    const struct wall_time now = { 1000000000, 0 };
    const struct chart_render_options o = {
        .release_name = STR("rel"),
        .lookup = find_secret,
        .lookup_ctx = answer,
        .now = &now,
        .hide_secrets = true,
    };
    CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
    struct err *err = NULL;

    assert_ok(chart_render(f->chart, VALUE_NONE, &o, NULL, &r, &err), err);
    assert_str(r->manifest,
               "---\n# Source: web/charts/s/templates/s.yaml\nkind: Namespace\nmetadata: {name: s}\n\n"
               "---\n# Source: web/templates/secret.yaml\n# HIDDEN: The Secret output has been suppressed\n"
               "---\n# Source: web/templates/a.yaml\nkind: ConfigMap\nmetadata: {name: rel}\nnum: 1\nset: "
               "2\nlook: yes\n"
               "now: 2001\n\n");
    assert_str(r->notes, "notes 9\n");
    assert_str(r->manifests[1].content, "apiVersion: v1\nkind: Secret\nstringData: {p: hidden}\n");
}

/* Templates may change their values; the chart and later renders must not see it. */
static void test_a_render_leaves_the_chart_alone(void **state)
{
    struct fixture *f = *state;
    const struct chart_render_options o = { .release_name = STR("rel"), .subchart_notes = true };
    struct err *err = NULL;

    for (int i = 0; i < 3; i++) {
        CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;

        assert_ok(chart_render(f->chart, VALUE_NONE, &o, NULL, &r, &err), err);
        assert_true(str_contains(r->manifest, STR("\nnum: 1\n")));
        assert_str(r->notes, "sub notes\n\nnotes 9\n");
    }
}

/* More shapes of the tree than a chart keeps parsed sets for. */
static void test_many_shapes_of_one_chart(void **state)
{
    CLEANUP(buf_done) struct buf yaml = BUF_INIT(64 * KIB);
    CLEANUP(chart_unref) struct chart *c = NULL;
    struct fixture *f = *state;
    struct chart_file tree[10] = { { .name = STR("Chart.yaml") } };
    struct err *err = NULL;

    buf_adds(&yaml, "apiVersion: v2\nname: p\nversion: 1.0.0\ndependencies:\n");
    for (size_t i = 1; i < ARRAY_SIZE(tree); i++) {
        tree[i].name = arena_printf(f->arena, "charts/s%zu/Chart.yaml", i);
        tree[i].data = arena_printf(f->arena, "name: s%zu\nversion: 1.0.0\n", i);
        buf_addf(&yaml, "- {name: s%zu, version: '*', condition: s%zu.on}\n", i, i);
    }
    tree[0].data = buf_str(&yaml);
    assert_ok(chart_load_files(tree, ARRAY_SIZE(tree), NULL, &c, &err), err);
    for (size_t i = 0; i < 40; i++) {
        CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
        struct value values = value_new_map(f->arena);

        for (size_t k = 1; k < ARRAY_SIZE(tree); k++)
            value_set_path(values, arena_printf(f->arena, "s%zu.on", k).p, value_from_bool(i % (k + 1) != 0));
        assert_ok(chart_render(c, values, NULL, NULL, &r, &err), err);
    }
}

static void test_a_kube_version_that_does_not_fit_is_a_failed_release(void **state)
{
    struct fixture *f = *state;
    struct chart_capabilities caps = *chart_capabilities_default();
    const struct chart_render_options o = { .capabilities = &caps };
    CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
    struct err *err = NULL;

    assert_ok(chart_kube_version_parse(f->arena, STR("v1.19.7+k3s1"), &caps, &err), err);
    assert_fails(chart_render(f->chart, VALUE_NONE, &o, NULL, &r, &err), ERRC_TEMPLATE, err,
                 "chart requires kubeVersion: >=1.20.0 which is incompatible with Kubernetes v1.19.7+k3s1");
}

static void *render_in_thread(void *ctx)
{
    uintptr_t bad = 0;

    for (int i = 0; i < 20; i++) {
        struct chart_rendered *r = NULL;

        if (chart_render(ctx, VALUE_NONE, NULL, NULL, &r, NULL) < 0 || r->n_manifests != 3)
            bad++;
        chart_rendered_free(r);
    }
    return (void *)bad;
}

static void test_threads_share_a_chart(void **state)
{
    struct fixture *f = *state;
    pthread_t threads[4];

    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, render_in_thread, f->chart), 0);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        void *bad;

        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_options_reach_the_templates),
        TEST(test_a_render_leaves_the_chart_alone),
        TEST(test_many_shapes_of_one_chart),
        TEST(test_a_kube_version_that_does_not_fit_is_a_failed_release),
        TEST(test_threads_share_a_chart),
    };

    return RUN_TESTS(tests);
}
