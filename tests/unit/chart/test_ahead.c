/* SPDX-License-Identifier: Apache-2.0 */
/* A chart whose templates were parsed while it was loaded renders what it renders when they were not. */
#include <stdlib.h>

#include "archive/archive.h"
#include "base/fs.h"
#include "base/limits.h"
#include "chart/chart.h"
#include "lib/check.h"

#define META(name) STR("apiVersion: v2\nname: " name "\nversion: 1.0.0\n")
#define LIBRARY STR("{{ define \"where\" }}{{ .Chart.Name }} {{ .Template.Name }}{{ end }}")
#define OBJECT STR("kind: A\nwhere: {{ include \"where\" . }}\nvalue: {{ .Values.value }}\n")
#define BAD STR("\n{{ if }}")

static int setup(void **state)
{
    *state = check_temp_dir();
    return 0;
}

static int teardown(void **state)
{
    check_temp_done(*state);
    return 0;
}

/* The files below and a template that makes a thread worth its while. */
static char *pack(const char *dir, const struct archive_file *some, size_t n)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf packed = BUF_INIT(MIB);
    struct archive_file *files = ARENA_ARRAY(a, struct archive_file, n + 1);
    char *path = fs_join(dir, "chart.tgz");
    struct err *err = NULL;

    memcpy(files, some, n * sizeof(*files));
    files[n].name = STR("templates/large.yaml");
    files[n].data = arena_printf(a, "kind: Large\n# %0*d\n", 256 * 1024, 1);
    assert_ok(archive_write(STR("top"), files, n + 1, &packed, &err), err);
    assert_ok(fs_write_file(path, buf_str(&packed), 0644, &err), err);
    return path;
}

static int render(struct chart *c, int64_t value, struct buf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    struct value values = value_new_map(a), on = value_new_map(a);
    int rc;

    value_setz(values, "value", value_from_int(value));
    value_setz(on, "enabled", value_from_bool(value % 2 == 1));
    value_setz(values, "optional", on);
    rc = chart_render(c, values, NULL, NULL, &r, &err);
    buf_addf(out, "%d %s\n", rc, err_message(err));
    for (size_t i = 0; r && i < r->n_manifests; i++)
        buf_addf(out, STR_FMT " " STR_FMT "\n", STR_ARG(r->manifests[i].path),
                 STR_ARG(r->manifests[i].content));
    return rc;
}

static void assert_same_renders(const char *dir, const struct archive_file *files, size_t n, int want)
{
    CLEANUP(free_ptr) char *path = pack(dir, files, n);
    CLEANUP(chart_unref) struct chart *plain = NULL;
    struct err *err = NULL;

    assert_ok(chart_load(path, NULL, &plain, &err), err);
    for (int round = 0; round < 10; round++) {
        CLEANUP(chart_unref) struct chart *ahead = NULL;

        assert_ok(chart_load_to_render(path, NULL, &ahead, &err), err);
        for (int64_t value = 0; value < 3; value++) {
            CLEANUP(buf_done) struct buf got = BUF_INIT(16 * MIB), expected = BUF_INIT(16 * MIB);

            assert_num(render(plain, value, &expected), want);
            render(ahead, value, &got);
            assert_str(buf_str(&got), buf_z(&expected));
        }
    }
}

static void test_subcharts_under_their_names_and_others(void **state)
{
    const struct archive_file files[] = {
        { .name = STR("Chart.yaml"),
          .data = STR("apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n"
                      "- {name: always, version: 1.x}\n- {name: always, alias: other, version: 1.x}\n"
                      "- {name: optional, version: 1.x, condition: optional.enabled}\n") },
        { .name = STR("values.yaml"), .data = STR("value: 1\n") },
        { .name = STR("templates/_lib.tpl"), .data = LIBRARY },
        { .name = STR("templates/x.yaml"), .data = OBJECT },
        { .name = STR("charts/always/Chart.yaml"), .data = META("always") },
        { .name = STR("charts/always/templates/_lib.tpl"), .data = LIBRARY },
        { .name = STR("charts/always/templates/x.yaml"), .data = OBJECT },
        { .name = STR("charts/optional/Chart.yaml"), .data = META("optional") },
        { .name = STR("charts/optional/templates/x.yaml"), .data = OBJECT },
        { .name = STR("charts/in-a-folder-of-another-name/Chart.yaml"), .data = META("unlisted") },
        { .name = STR("charts/in-a-folder-of-another-name/templates/x.yaml"), .data = OBJECT },
    };

    assert_same_renders(*state, files, ARRAY_SIZE(files), 0);
}

/* requirements.yaml is read into the chart's metadata, after Chart.yaml. */
static void test_a_name_that_changes_while_the_chart_is_loaded(void **state)
{
    const struct archive_file files[] = {
        { .name = STR("Chart.yaml"), .data = STR("apiVersion: v1\nname: top\nversion: 1.0.0\n") },
        { .name = STR("requirements.yaml"), .data = STR("name: renamed\n") },
        { .name = STR("templates/_lib.tpl"), .data = LIBRARY },
        { .name = STR("templates/x.yaml"), .data = OBJECT },
    };

    assert_same_renders(*state, files, ARRAY_SIZE(files), 0);
}

static void test_of_two_files_with_one_name_the_later_counts(void **state)
{
    const struct archive_file files[] = {
        { .name = STR("Chart.yaml"), .data = META("top") },
        { .name = STR("templates/x.yaml"), .data = STR("kind: Earlier") },
        { .name = STR("templates/x.yaml"), .data = STR("kind: Later") },
    };

    assert_same_renders(*state, files, ARRAY_SIZE(files), 0);
}

static void test_the_error_is_that_of_the_first_file_that_has_one(void **state)
{
    const struct archive_file files[] = {
        { .name = STR("Chart.yaml"), .data = META("top") },
        { .name = STR("templates/a.yaml"), .data = BAD },
        { .name = STR("templates/b.yaml"), .data = BAD },
        { .name = STR("charts/sub/Chart.yaml"), .data = META("sub") },
        { .name = STR("charts/sub/templates/x.yaml"), .data = BAD },
    };

    assert_same_renders(*state, files, ARRAY_SIZE(files), -ERRC_TEMPLATE);
}

static void test_a_chart_that_is_not_rendered_after_all(void **state)
{
    const struct archive_file files[] = { { .name = STR("Chart.yaml"), .data = META("top") } };
    CLEANUP(free_ptr) char *path = pack(*state, files, ARRAY_SIZE(files));

    for (int round = 0; round < 20; round++) {
        CLEANUP(chart_unref) struct chart *c = NULL;
        struct err *err = NULL;

        assert_ok(chart_load_to_render(path, NULL, &c, &err), err);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_subcharts_under_their_names_and_others),
        TEST(test_a_name_that_changes_while_the_chart_is_loaded),
        TEST(test_of_two_files_with_one_name_the_later_counts),
        TEST(test_the_error_is_that_of_the_first_file_that_has_one),
        TEST(test_a_chart_that_is_not_rendered_after_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
