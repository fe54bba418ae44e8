/* SPDX-License-Identifier: Apache-2.0 */
/* A chart as ConfigMaps and back: every file is there to the byte, and what is rendered is the same. $CORPUS has real charts. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/random.h"
#include "chart/chart.h"
#include "chart/store.h"
#include "content/content.h"
#include "lib/check.h"
#include "json/json.h"

enum { CONFIGMAP_MAX = 1 << 20 };

static void check_size(const char *name, struct value part)
{
    static const char *const members[] = { "data", "binaryData" };
    size_t bytes = 0;

    for (size_t i = 0; i < ARRAY_SIZE(members); i++)
        for (struct value_iter it = value_iter(value_get(part, str_from(members[i]))); value_next(&it);) {
            bytes += i ? value_str(it.v).n / 4 * 3 : value_str(it.v).n;
            assert_true(it.key.n > 0 && it.key.n <= 253);
        }
    if (bytes > CONFIGMAP_MAX)
        fail_msg("%s: a ConfigMap of %zu bytes", name, bytes);
}

/* The ConfigMaps of a set go through JSON, as they do on their way to a server and back. */
static size_t through_json(struct arena *a, const char *name, const struct store_set *s,
                           struct chart_file *out)
{
    struct content_file *files;
    struct value *parts;
    struct err *err = NULL;
    size_t n_parts, n, n_out = 0;

    parts = content_objects(a, &s->set, s->files, s->n, &n_parts);
    for (size_t i = 0; i < n_parts; i++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(8 * MIB);

        check_size(name, parts[i]);
        assert_ok(json_print(parts[i], 0, &text, &err), err);
        assert_ok(json_parse(a, arena_dup(a, buf_str(&text)), NULL, &parts[i], &err), err);
    }
    assert_ok(content_unpack(a, parts, n_parts, &files, &n, &err), err);
    for (size_t i = 0; i < n; i++)
        if (store_is_chart_file(&files[i]))
            out[n_out++] = (struct chart_file){ .name = files[i].path, .data = files[i].data };
    return n_out;
}

static struct chart *restore(struct arena *a, const char *name, const struct chart *c)
{
    struct chart_stored id = { STR("repo"), chart_metadata(c)->name, chart_metadata(c)->version, STR("00") };
    struct store_set sets[STORE_SETS];
    struct chart *back = NULL;
    struct chart_file *files;
    struct err *err = NULL;
    size_t n_files, n = 0;

    chart_files(c, &n_files);
    files = ARENA_ARRAY(a, struct chart_file, n_files + STORE_SETS);
    store_sets(a, STR("ns"), &id, c, VALUE_NONE, NULL, 0, sets);
    for (size_t i = 0; i < STORE_SETS; i++)
        n += through_json(a, name, &sets[i], files + n);
    assert_num(n, n_files);
    assert_ok(chart_load_files(files, n, NULL, &back, &err), err);
    return back;
}

static const struct chart_file *find(const struct chart *c, struct str name)
{
    size_t n;
    const struct chart_file *files = chart_files(c, &n);

    for (size_t i = 0; i < n; i++)
        if (str_eq(files[i].name, name))
            return &files[i];
    return NULL;
}

static void check_files(const char *name, const struct chart *want, const struct chart *got)
{
    size_t n;
    const struct chart_file *files = chart_files(want, &n);

    for (size_t i = 0; i < n; i++) {
        const struct chart_file *f = find(got, files[i].name);

        if (!f || !str_eq(f->data, files[i].data))
            fail_msg("%s: " STR_FMT " is %s", name, STR_ARG(files[i].name), f ? "another" : "missing");
    }
}

/* What comes of the chart with its own values: the manifest, hooks and notes, or the error. Equal seeds, equal texts. */
static void render(struct chart *c, struct buf *out)
{
    static const struct wall_time now = { 1700000000, 0 };
    const struct chart_render_options o = { .release_name = STR("r"),
                                            .ns = STR("ns"),
                                            .revision = 1,
                                            .now = &now,
                                            .include_crds = true,
                                            .subchart_notes = true };
    CLEANUP(chart_rendered_free) struct chart_rendered *r = NULL;
    CLEANUP(err_free) struct err *err = NULL;

    random_seed(7);
    if (chart_render(c, VALUE_NONE, &o, NULL, &r, &err) < 0) {
        buf_adds(out, err_message(err));
        return;
    }
    buf_addstr(out, r->manifest);
    for (size_t i = 0; i < r->n_hooks; i++)
        buf_addstr(out, r->hooks[i].content);
    buf_addstr(out, r->notes);
}

/* Keys of the chart are made by OpenSSL, which takes no seed: true for such a chart. */
static bool is_new_each_time(struct chart *c, struct str first)
{
    CLEANUP(buf_done) struct buf again = BUF_INIT(64 * MIB);

    render(c, &again);
    return !str_eq(buf_str(&again), first);
}

static void round_trip(const char *name, struct chart *c)
{
    CLEANUP(arena_free) struct arena *a = arena_new(8 * ARCHIVE_UNPACKED_MAX);
    CLEANUP(buf_done) struct buf want = BUF_INIT(64 * MIB), got = BUF_INIT(64 * MIB);
    CLEANUP(chart_unref) struct chart *back = restore(a, name, c);

    check_files(name, c, back);
    render(c, &want);
    render(back, &got);
    if (!str_eq(buf_str(&want), buf_str(&got)) && !is_new_each_time(c, buf_str(&want)))
        fail_msg("%s: %zu bytes rendered, not %zu", name, got.n, want.n);
}

static void round_trip_archive(const char *folder, const char *name)
{
    CLEANUP(free_ptr) char *path = fs_join(folder, name);
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    CLEANUP(chart_unref) struct chart *c = NULL;
    struct err *err = NULL;

    assert_ok(fs_read_file(path, &packed, &err), err);
    assert_ok(chart_load_archive(buf_str(&packed), NULL, &c, &err), err);
    round_trip(name, c);
}

static void test_charts_of_this_repository_come_back_to_the_byte(void **state)
{
    static const char *const folders[] = { "examples/charts/cache", "examples/charts/webapp",
                                           "tests/fault/charts/hooked" };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        CLEANUP(chart_unref) struct chart *c = NULL;
        struct err *err = NULL;

        assert_ok(chart_load(folders[i], NULL, &c, &err), err);
        round_trip(folders[i], c);
    }
}

#define FILE_(n, d)                    \
    {                                  \
        .name = STR(n), .data = STR(d) \
    }

/* What yaho lost: depth, folders with equal names in them, tests, other files, comments and order of the values, names that are
 * alike once they are keys. */
static void test_nothing_of_a_chart_is_lost(void **state)
{
    static const struct chart_file files[] = {
        FILE_("Chart.yaml", "apiVersion: v2\nname: foo-bar\nversion: 1.0.0+build.1\n"),
        FILE_("values.yaml", "# a comment\nz: 1\na: 2 # the order\n"),
        FILE_("values.schema.json", "{}"),
        FILE_("README.md", "read\0me"),
        FILE_("templates/a/b/c/x.yaml", "deep: {{ .Template.BasePath }}\n"),
        FILE_("templates/a/x.yaml", "a: {{ .Files.Get \"files/data.bin\" | quote }}\n"),
        FILE_("templates/b/x.yaml", "b: {{ range $p, $_ := .Files.Glob \"files/**\" }}{{ $p }},{{ end }}\n"),
        FILE_("templates/a_x.yaml", "c: 1\n"),
        FILE_("templates/a-x.yaml", "d: 1\n"),
        FILE_("templates/tests/t.yaml",
              "apiVersion: v1\nkind: Pod\nmetadata: { name: t, annotations: { helm.sh/hook: test } }\n"),
        FILE_("templates/NOTES.txt", "notes"),
        FILE_("templates/_helpers.tpl", ""),
        FILE_("crds/deep/a.yaml", "kind: CustomResourceDefinition\n"),
        FILE_("files/data.bin", "\377\376\0\1"),
        FILE_("files/ä ö.txt", "no key"),
        FILE_(".helmignore", "*.bak\n"),
        FILE_("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
        FILE_("charts/sub/values.yaml", "s: 1\n"),
        FILE_("charts/sub/templates/s.yaml", "s: {{ .Values.s }}\n"),
        FILE_("charts/sub/crds/s.yaml", "kind: CustomResourceDefinition\n"),
    };
    CLEANUP(chart_unref) struct chart *c = NULL;
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(chart_load_files(files, ARRAY_SIZE(files), NULL, &c, &err), err);
    round_trip("foo-bar", c);
}

static void test_a_file_larger_than_a_configmap_is_split(void **state)
{
    CLEANUP(buf_done) struct buf noise = BUF_INIT(8 * MIB);
    struct chart_file files[] = { FILE_("Chart.yaml", "apiVersion: v2\nname: big\nversion: 1.0.0\n"),
                                  { .name = STR("files/noise") } };
    CLEANUP(chart_unref) struct chart *c = NULL;
    struct err *err = NULL;
    uint64_t x = 1;

    UNUSED(state);
    for (size_t i = 0; i < 3 * MIB; i++)
        buf_addc(&noise, (char)((x = x * 6364136223846793005u + 1) >> 56));
    files[1].data = buf_str(&noise);
    assert_ok(chart_load_files(files, ARRAY_SIZE(files), NULL, &c, &err), err);
    round_trip("big", c);
}

static void test_charts_of_the_corpus_come_back_to_the_byte(void **state)
{
    const char *corpus = getenv("CORPUS");
    CLEANUP(free_ptr) char *folder = NULL;
    char **names = NULL;
    size_t n = 0, done = 0;

    UNUSED(state);
    if (!corpus) {
        print_message("no charts: CORPUS is not set\n");
        skip();
    }
    folder = fs_join(corpus, "charts");
    assert_num(fs_list_dir(folder, &names, &n, NULL), 0);
    for (size_t i = 0; i < n; i++)
        if (str_has_suffix(str_from(names[i]), STR(".tgz"))) {
            round_trip_archive(folder, names[i]);
            done++;
        }
    fs_names_free(names, n);
    print_message("%zu charts\n", done);
    assert_true(done > 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charts_of_this_repository_come_back_to_the_byte),
        cmocka_unit_test(test_nothing_of_a_chart_is_lost),
        cmocka_unit_test(test_a_file_larger_than_a_configmap_is_split),
        cmocka_unit_test(test_charts_of_the_corpus_come_back_to_the_byte),
    };

    return RUN_TESTS(tests);
}
