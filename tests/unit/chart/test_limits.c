/* SPDX-License-Identifier: Apache-2.0 */
/* What a chart may have: one below, at the limit, one above. One file, charts in charts: test_load.c; --set: test_values.c. */
#include <stdlib.h>

#include "archive/archive.h"
#include "base/fs.h"
#include "base/limits.h"
#include "chart/chart_int.h"
#include "lib/check.h"

#define CHART STR("apiVersion: v2\nname: c\nversion: 1.0.0\n")

static const int beside[] = { -1, 0, 1 };

/* An archive whose files have `n` bytes in all. */
static void pack(struct str zeros, size_t n, struct buf *out)
{
    struct archive_file files[32] = { { .name = STR("Chart.yaml"), .data = CHART } };
    size_t k = 1;
    struct err *err = NULL;

    for (n -= files[0].data.n; n > 0; k++) {
        size_t part = MIN(n, ARCHIVE_FILE_MAX);

        files[k] = (struct archive_file){ .name = STR("zeros"), .data = str_sub(zeros, 0, part) };
        n -= part;
    }
    assert_ok(archive_write(STR("c"), files, k, out, &err), err);
}

/* The archives as they are count, too. */
static void test_all_archives_of_a_chart_share_a_limit(void **state)
{
    static const char *const names[] = { "charts/a.tgz", "charts/b.tgz", "charts/c.tgz" };
    static const size_t sizes[] = { 70 * MIB, 70 * MIB, 55 * MIB };
    CLEANUP(buf_done) struct buf zeros = BUF_INIT(16 * MIB);
    struct buf packed[] = { BUF_INIT(8 * MIB), BUF_INIT(8 * MIB), BUF_INIT(8 * MIB) };
    struct chart_file files[] = {
        { .name = STR("Chart.yaml"), .data = CHART }, { 0 }, { 0 }, { 0 }, { .name = STR("rest") }
    };
    size_t left = CHART_UNPACKED_TOTAL_MAX - CHART.n;

    UNUSED(state);
    buf_add_repeat(&zeros, '\0', 2 * ARCHIVE_FILE_MAX);
    for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
        pack(buf_str(&zeros), sizes[k], &packed[k]);
        files[k + 1] = (struct chart_file){ .name = str_from(names[k]), .data = buf_str(&packed[k]) };
        left -= sizes[k] + packed[k].n;
    }
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(chart_unref) struct chart *c = NULL;
        struct err *err = NULL;
        int r;

        files[4].data = str_sub(buf_str(&zeros), 0, left + (size_t)beside[i]);
        r = chart_load_files(files, ARRAY_SIZE(files), NULL, &c, &err);
        if (beside[i] <= 0)
            assert_ok(r, err);
        else
            assert_fails(
                r, ERRC_LIMIT, err,
                "error unpacking subchart c.tgz in c: charts in charts are larger than the maximum size "
                "209715200");
    }
    for (size_t k = 0; k < ARRAY_SIZE(names); k++)
        buf_done(&packed[k]);
}

/* Go's bufio.Scanner holds a line and its end in 64 KiB. */
static void test_a_line_of_the_ignore_file_has_a_limit(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(chart_ignore_free) struct chart_ignore *rules = NULL;
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * IGNORE_LINE_MAX);
        struct err *err = NULL;

        buf_add_repeat(&text, 'x', (size_t)((int64_t)IGNORE_LINE_MAX - 1 + beside[i]));
        if (beside[i] <= 0)
            assert_ok(chart_ignore_parse(buf_str(&text), &rules, &err), err);
        else
            assert_fails(chart_ignore_parse(buf_str(&text), &rules, &err), ERRC_LIMIT, err,
                         "bufio.Scanner: token too long");
    }
}

static void test_folders_in_folders_have_a_depth(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(chart_unref) struct chart *c = NULL;
        CLEANUP(buf_done) struct buf path = BUF_INIT(64 * KIB);
        char *dir = check_temp_dir();
        CLEANUP(free_ptr) char *file = fs_join(dir, "Chart.yaml");
        struct err *err = NULL;

        assert_ok(fs_write_file(file, CHART, 0644, &err), err);
        buf_adds(&path, dir);
        for (int k = 1; k < DIR_DEPTH_MAX + beside[i]; k++) /* the chart's own folder is the first */
            buf_adds(&path, "/d");
        assert_ok(fs_make_dirs(buf_z(&path), 0755, &err), err);
        if (beside[i] <= 0)
            assert_ok(chart_load(dir, NULL, &c, &err), err);
        else
            assert_fails(chart_load(dir, NULL, &c, &err), ERRC_LIMIT, err, NULL);
        check_temp_done(dir);
    }
}

/* What the arena has already given out counts: it is the same for all values of a command. */
static void test_values_have_so_much_memory(void **state)
{
    const struct str text = STR("a: {b: [1, 2, c]}\nd: text\n");
    size_t needs = 0;

    UNUSED(state);
    for (int d = -2; d <= 1; d++) { /* the first is to know what they need */
        CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
        struct value v;
        struct err *err = NULL;
        int r;

        if (d > -2)
            memset(arena_alloc_bytes(a, (size_t)((int64_t)(VALUES_MEMORY_MAX - needs) + d)), 0, 1);
        r = chart_values_parse(a, text, &v, &err);
        if (d <= 0)
            assert_ok(r, err);
        else
            assert_fails(r, ERRC_LIMIT, err, NULL);
        needs = d == -2 ? arena_peak(a) : needs;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_archives_of_a_chart_share_a_limit),
        cmocka_unit_test(test_a_line_of_the_ignore_file_has_a_limit),
        cmocka_unit_test(test_folders_in_folders_have_a_depth),
        cmocka_unit_test(test_values_have_so_much_memory),
    };

    return RUN_TESTS(tests);
}
