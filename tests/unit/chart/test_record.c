/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/limits.h"
#include "chart/chart.h"
#include "lib/check.h"

struct fixture {
    struct arena *arena;
    struct buf packed;
    struct chart *chart;
    struct chart_rendered *rendered;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->arena = arena_new(64 * MIB);
    f->packed = BUF_INIT(16 * MIB);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    chart_rendered_free(f->rendered);
    chart_unref(f->chart);
    buf_done(&f->packed);
    arena_free(f->arena);
    free(f);
    return 0;
}

static void render(struct fixture *f, const struct chart_render_options *o)
{
    struct value values = value_new_map(f->arena);
    struct err *err = NULL;

    check_read_data("chart/p.tgz", &f->packed);
    assert_ok(chart_load_archive(buf_str(&f->packed), NULL, &f->chart, &err), err);
    assert_ok(chart_strvals_parse(f->arena, STRVALS_SET, STR("t.enabled=false,u.deep=null"), values, &err),
              err);
    assert_ok(chart_render(f->chart, values, o, NULL, &f->rendered, &err), err);
}

static void test_chart_in_a_record_is_helms(void **state)
{
    struct fixture *f = *state;
    const struct chart_render_options o = { .release_name = STR("r"),
                                            .revision = 1,
                                            .skip_schema_validation = true };
    struct buf got = BUF_INIT(MIB);
    struct err *err = NULL;

    render(f, &o);
    assert_ok(chart_rendered_print_chart_json(f->rendered, &got, &err), err);
    assert_golden("chart/p-chart.json", buf_str(&got));
    buf_done(&got);
}

static void test_hooks_have_what_a_record_needs(void **state)
{
    struct fixture *f = *state;
    const struct chart_render_options o = {
        .release_name = STR("r"), .revision = 1, .skip_schema_validation = true, .keep_objects = true
    };
    const struct chart_hook *h;

    render(f, &o);
    assert_num(f->rendered->n_hooks, 1);
    h = &f->rendered->hooks[0];
    assert_str(h->path, "p/templates/h.yaml");
    assert_str(h->kind, "Job");
    assert_str(h->name, "j<>&");
    assert_num(h->weight, -5);
    assert_num(h->n_events, 2);
    assert_num(h->events[0], CHART_HOOK_PRE_INSTALL);
    assert_num(h->events[1], CHART_HOOK_POST_UPGRADE);
    assert_true(chart_hook_has_delete_policy(h, "hook-succeeded"));
    assert_false(chart_hook_has_delete_policy(h, "hook-failed"));
    assert_num(h->n_output_log_policies, 0);
    assert_str(value_str(value_path(h->object, "metadata.name")), "j<>&");
}

static void test_manifests_keep_their_objects_when_asked(void **state)
{
    struct fixture *f = *state;
    const struct chart_render_options o = { .release_name = STR("r"),
                                            .revision = 1,
                                            .skip_schema_validation = true,
                                            .keep_objects = true,
                                            .keep_values = true };

    render(f, &o);
    assert_num(f->rendered->n_manifests, 4);
    for (size_t i = 0; i < f->rendered->n_manifests; i++)
        assert_true(value_is_map(f->rendered->manifests[i].object));
    assert_num(value_int(value_path(f->rendered->values, "here.it.own"), 0), 1);
    assert_num(f->rendered->n_crds, 1);
    assert_str(f->rendered->crds[0].path, "p/charts/s/crds/a.yaml");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_chart_in_a_record_is_helms),
        TEST(test_hooks_have_what_a_record_needs),
        TEST(test_manifests_keep_their_objects_when_asked),
    };

    return RUN_TESTS(tests);
}
