/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/fs.h"
#include "base/limits.h"
#include "chart/chart.h"
#include "lib/check.h"

#define CHART(name) STR("apiVersion: v2\nname: " name "\nversion: 1.0.0\n")

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

static void write_file(const char *dir, const char *name, struct str text)
{
    CLEANUP(free_ptr) char *path = fs_join(dir, name), *parent = str_dup(str_dirname(str_from(path)));
    struct err *err = NULL;

    assert_ok(fs_make_dirs(parent, 0755, &err), err);
    assert_ok(fs_write_file(path, text, 0644, &err), err);
}

/* `depth` charts, each in the archive of the one before. */
static void pack_nested(size_t depth, struct buf *out)
{
    struct buf inner = BUF_INIT(64 * MIB);
    struct err *err = NULL;

    for (size_t i = 0; i < depth; i++) {
        struct archive_file files[] = { { .name = STR("Chart.yaml"), .data = CHART("c") },
                                        { .name = STR("charts/c.tgz"), .data = buf_str(&inner) } };

        buf_clear(out);
        assert_ok(archive_write(STR("c"), files, i == 0 ? 1 : 2, out, &err), err);
        buf_clear(&inner);
        buf_addstr(&inner, buf_str(out));
    }
    buf_done(&inner);
}

static void test_charts_in_charts_have_a_depth(void **state)
{
    static const struct {
        size_t depth;
        bool fits;
    } cases[] = { { CHART_NESTING_MAX, true },
                  { CHART_NESTING_MAX + 1, true },
                  { CHART_NESTING_MAX + 2, false } };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf packed = BUF_INIT(64 * MIB);
        CLEANUP(chart_unref) struct chart *c = NULL;
        struct err *err = NULL;

        pack_nested(cases[i].depth, &packed);
        if (cases[i].fits)
            assert_ok(chart_load_archive(buf_str(&packed), NULL, &c, &err), err);
        else
            assert_fails(chart_load_archive(buf_str(&packed), NULL, &c, &err), ERRC_LIMIT, err, NULL);
        buf_done(&packed);
    }
}

/* Each archive is within its own limit; together they are not. */
static void test_archives_in_a_chart_share_a_limit(void **state)
{
    struct buf zeros = BUF_INIT(8 * MIB), sub = BUF_INIT(8 * MIB);
    struct chart_file files[6] = { { .name = STR("Chart.yaml"), .data = CHART("c") } };
    struct archive_file parts[16] = { { .name = STR("Chart.yaml"), .data = CHART("s") } };
    CLEANUP(chart_unref) struct chart *c = NULL;
    char names[5][32];
    struct err *err = NULL;

    UNUSED(state);
    buf_add_repeat(&zeros, '\0', ARCHIVE_FILE_MAX);
    for (size_t i = 1; i < ARRAY_SIZE(parts); i++)
        parts[i] = (struct archive_file){ .name = STR("zeros"), .data = buf_str(&zeros) };
    assert_ok(archive_write(STR("s"), parts, ARRAY_SIZE(parts), &sub, &err), err);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        snprintf(names[i], sizeof(names[i]), "charts/s%zu.tgz", i);
        files[i + 1] = (struct chart_file){ .name = str_from(names[i]), .data = buf_str(&sub) };
    }
    assert_ok(chart_load_files(files, 3, NULL, &c, &err), err);
    c = chart_unref(c);
    assert_fails(chart_load_files(files, 6, NULL, &c, &err), ERRC_LIMIT, err, NULL);
    buf_done(&zeros);
    buf_done(&sub);
}

static void test_links_are_followed_and_loops_end(void **state)
{
    const char *dir = *state;
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(free_ptr) char *link = fs_join(dir, "values.yaml"), *loop = fs_join(dir, "files/loop");
    struct err *err = NULL;

    write_file(dir, "Chart.yaml", CHART("c"));
    write_file(dir, "real.yaml", STR("a: 1\n"));
    write_file(dir, "files/x", STR("x"));
    assert_int_equal(symlink("real.yaml", link), 0);
    assert_ok(chart_load(dir, NULL, &c, &err), err);
    assert_num(value_int(value_getz(chart_default_values(c), "a"), 0), 1);
    c = chart_unref(c);
    assert_int_equal(symlink("..", loop), 0);
    if (chart_load(dir, NULL, &c, &err) >= 0)
        fail_case("a folder that contains itself was loaded");
    err_free(err);
}

static void test_what_is_no_file_is_refused(void **state)
{
    const char *dir = *state;
    CLEANUP(free_ptr) char *pipe = fs_join(dir, "pipe"), *link = fs_join(dir, "zero");
    CLEANUP(chart_unref) struct chart *c = NULL;
    struct err *err = NULL;

    write_file(dir, "Chart.yaml", CHART("c"));
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_fails(chart_load(dir, NULL, &c, &err), ERRC_INVALID, err, NULL);
    unlink(pipe);
    assert_int_equal(symlink("/dev/zero", link), 0);
    assert_fails(chart_load(dir, NULL, &c, &err), ERRC_INVALID, err, NULL);
}

static void test_a_large_file_in_a_folder_is_refused(void **state)
{
    static const struct {
        size_t n;
        bool fits;
    } cases[] = { { ARCHIVE_FILE_MAX - 1, true },
                  { ARCHIVE_FILE_MAX, true },
                  { ARCHIVE_FILE_MAX + 1, false } };
    const char *dir = *state;

    write_file(dir, "Chart.yaml", CHART("c"));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(chart_unref) struct chart *c = NULL;
        struct buf b = BUF_INIT(8 * MIB);
        struct err *err = NULL;

        buf_add_repeat(&b, 'x', cases[i].n);
        write_file(dir, "big", buf_str(&b));
        if (cases[i].fits)
            assert_ok(chart_load(dir, NULL, &c, &err), err);
        else
            assert_fails(chart_load(dir, NULL, &c, &err), ERRC_LIMIT, err,
                         "chart file \"big\" is larger than the maximum file size 5242880");
        buf_done(&b);
    }
}

static void test_a_list_of_files_is_a_chart(void **state)
{
    static const struct chart_file files[] = {
        { .name = STR("Chart.yaml"), .data = STR("name: c\nversion: 1.0.0\n") },
        { .name = STR("templates/a.yaml"), .data = STR("a: 1\n") },
        { .name = STR("charts/s/Chart.yaml"), .data = CHART("s") },
        { .name = STR("charts/s/templates/s.yaml"), .data = STR("s: 1\n") },
        { .name = STR("charts/.hidden/Chart.yaml"), .data = STR("not: loaded\n") },
    };
    CLEANUP(chart_unref) struct chart *c = NULL;
    struct err *err = NULL;
    size_t n;

    UNUSED(state);
    assert_ok(chart_load_files(files, ARRAY_SIZE(files), NULL, &c, &err), err);
    assert_str(chart_metadata(c)->api_version, "v1");
    chart_files(c, &n);
    assert_num(n, ARRAY_SIZE(files));
    assert_str(chart_find_file(c, STR("templates/a.yaml"))->data, "a: 1\n");
    assert_num(chart_subchart_n(c), 1);
    assert_str(chart_metadata(chart_subchart(c, 0))->name, "s");
    assert_null(chart_find_file(c, STR("nosuch")));
    assert_null(chart_lock(c));
}

static void test_a_subchart_outlives_its_parent(void **state)
{
    static const struct chart_file files[] = {
        { .name = STR("Chart.yaml"), .data = CHART("c") },
        { .name = STR("charts/s/Chart.yaml"), .data = CHART("s") },
        { .name = STR("charts/s/values.yaml"), .data = STR("a: text\n") },
    };
    CLEANUP(chart_unref) struct chart *c = NULL, *sub = NULL;
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(chart_load_files(files, ARRAY_SIZE(files), NULL, &c, &err), err);
    sub = chart_ref((struct chart *)(uintptr_t)chart_subchart(c, 0));
    c = chart_unref(c);
    assert_str(chart_metadata(sub)->name, "s");
    assert_str(value_str(value_getz(chart_default_values(sub), "a")), "text");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_charts_in_charts_have_a_depth),       TEST(test_archives_in_a_chart_share_a_limit),
        TEST(test_links_are_followed_and_loops_end),    TEST(test_what_is_no_file_is_refused),
        TEST(test_a_large_file_in_a_folder_is_refused), TEST(test_a_list_of_files_is_a_chart),
        TEST(test_a_subchart_outlives_its_parent),
    };

    return RUN_TESTS(tests);
}
