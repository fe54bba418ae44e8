/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of real charts that end too early: an error, or the chart as it was, never another one. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/limits.h"
#include "chart/chart.h"
#include "lib/check.h"

/* $CUTS a chart (tests/conformance/truncated.sh takes 100); places are the same in every run. */
static size_t cuts_wanted(void)
{
    const char *text = getenv("CUTS");
    uint64_t n = 0;

    return text && str_to_uint64(str_from(text), &n) ? (size_t)n : 3;
}

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static bool is_same(const struct chart *a, const struct chart *b)
{
    size_t n, m;
    const struct chart_file *x = chart_files(a, &n), *y = chart_files(b, &m);

    if (n != m || chart_subchart_n(a) != chart_subchart_n(b))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!str_eq(x[i].name, y[i].name) || !str_eq(x[i].data, y[i].data))
            return false;
    for (size_t i = 0; i < chart_subchart_n(a); i++)
        if (!is_same(chart_subchart(a, i), chart_subchart(b, i)))
            return false;
    return true;
}

static void cut(const char *name, struct str packed, const struct chart *whole, size_t at)
{
    CLEANUP(free_ptr) char *exact = malloc(at + 1); /* so that a read beyond the end is seen */
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    int r;

    memcpy(exact, packed.p, at);
    r = chart_load_archive((struct str){ exact, at }, NULL, &c, &err);
    if (r >= 0 && !is_same(c, whole))
        fail_case("%s cut at byte %zu of %zu is taken for another chart", name, at, packed.n);
    if (r < 0 && err_message(err)[0] == '\0')
        fail_case("%s cut at byte %zu: no reason is given", name, at);
}

static void cut_archive(const char *folder, const char *name, size_t cuts)
{
    CLEANUP(free_ptr) char *path = fs_join(folder, name);
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    CLEANUP(chart_unref) struct chart *whole = NULL;
    struct err *err = NULL;
    uint64_t state = 7;

    assert_ok(fs_read_file(path, &packed, &err), err);
    assert_ok(chart_load_archive(buf_str(&packed), NULL, &whole, &err), err);
    for (size_t i = 0; i < cuts; i++)
        cut(name, buf_str(&packed), whole, (size_t)(next_random(&state) % packed.n));
    cut(name, buf_str(&packed), whole, packed.n - 1);
}

static void test_a_chart_that_is_cut_short_is_never_another_chart(void **state)
{
    const char *corpus = getenv("CORPUS");
    char **names = NULL, *folder;
    size_t n = 0;

    UNUSED(state);
    if (!corpus) {
        print_message("no charts: CORPUS is not set\n");
        skip();
    }
    folder = fs_join(corpus, "charts");
    assert_num(fs_list_dir(folder, &names, &n, NULL), 0);
    for (size_t i = 0; i < n; i++)
        if (str_has_suffix(str_from(names[i]), STR(".tgz")))
            cut_archive(folder, names[i], cuts_wanted());
    fs_names_free(names, n);
    free(folder);
}

/* Every byte of a small archive, without the corpus. */
static void test_a_small_chart_is_cut_at_every_byte(void **state)
{
    static const struct chart_file files[] = {
        { .name = STR("Chart.yaml"), .data = STR("apiVersion: v2\nname: a\nversion: 1.0.0\n") },
        { .name = STR("values.yaml"), .data = STR("a: 1\n") },
        { .name = STR("templates/a.yaml"), .data = STR("a: {{ .Values.a }}\n") },
    };
    CLEANUP(chart_unref) struct chart *made = NULL, *whole = NULL;
    CLEANUP(buf_done) struct buf packed = BUF_INIT(MIB);
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(chart_load_files(files, ARRAY_SIZE(files), NULL, &made, &err), err);
    assert_ok(chart_pack(made, STR_NONE, STR_NONE, &packed, &err), err);
    assert_ok(chart_load_archive(buf_str(&packed), NULL, &whole, &err), err);
    for (size_t at = 0; at < packed.n; at++)
        cut("a", buf_str(&packed), whole, at);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chart_that_is_cut_short_is_never_another_chart),
        cmocka_unit_test(test_a_small_chart_is_cut_at_every_byte),
    };

    return RUN_TESTS(tests);
}
