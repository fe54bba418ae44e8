/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/registry.h"

#include <stdlib.h>
#include <unistd.h>

#include "unit/registry/index_lib.h"

#define ENTRY(name, version) "  - apiVersion: v2\n    name: " name "\n    version: " version "\n"

static const char small[] =
    "apiVersion: v1\nentries:\n"
    "  web:\n" ENTRY("web", "1.1.0")
        ENTRY("web", "1.0.0") "  db:\n" ENTRY("db", "0.1.0") "generated: \"2026-01-01T00:00:00Z\"\n";

static void assert_dump(struct index_test *t, const char *want)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB);

    index_test_dump(t, &got);
    assert_str(buf_str(&got), want);
}

static void load(struct index_test *t, const char *text, struct registry_loaded *ret)
{
    assert_ok(index_test_load(t, text, ret), t->err);
}

/* ---- what is read ------------------------------------------------------------------------------------------------------- */

/* One index in the three ways. Behind %YAML libyaml reads each entry, and all of it when the directive looks odd. */
static const char in_blocks[] = "apiVersion: v1\n"
                                "entries:\n"
                                "  web:\n"
                                "  - annotations:\n"
                                "      changes: |\n"
                                "        - one\n"
                                "\n"
                                "        - two\n"
                                "    apiVersion: v2\n"
                                "    appVersion: 1.10\n"
                                "    description: A text that goes on\n"
                                "      here\n"
                                "    keywords:\n"
                                "    - a\n"
                                "    - b\n"
                                "    name: web\n"
                                "    newField:\n"
                                "      of: {tomorrow: [1, 2]}\n"
                                "    urls:\n"
                                "    - web-1.0.0.tgz\n"
                                "    version: 1.0.0\n"
                                "  - {apiVersion: v2, name: web, version: 0.9.0, \"quoted\": 'x'}\n"
                                "generated: \"2026-01-01T00:00:00Z\"\n"
                                "serverInfo:\n"
                                "  contextPath: /x\n"
                                "publicKeys:\n"
                                "- abc\n";
static const char in_json[] =
    "{\"apiVersion\": \"v1\", \"entries\": {\"web\": [\n"
    "{\"annotations\": {\"changes\": \"- one\\n\\n- two\\n\"}, \"apiVersion\": \"v2\", \"appVersion\": "
    "\"1.1\","
    "\"description\": \"A text that goes on here\", \"keywords\": [\"a\", \"b\"], \"name\": \"web\","
    "\"newField\": {\"of\": {\"tomorrow\": [1, 2]}}, \"urls\": [\"web-1.0.0.tgz\"], \"version\": \"1.0.0\"} "
    ",\n"
    "{\"apiVersion\": \"v2\", \"name\": \"web\", \"version\": \"0.9.0\", \"quoted\": \"x\"}]},\n"
    "\"generated\": \"2026-01-01T00:00:00Z\", \"serverInfo\": {}, \"publicKeys\": null}\n";
static const char in_rows[] =
    "web 1.0.0 (1.1|A text that goes on here|a b) {\"annotations\":{\"changes\":\"- one\\n\\n- two\\n\"},"
    "\"apiVersion\":\"v2\",\"appVersion\":\"1.1\",\"description\":\"A text that goes on "
    "here\",\"keywords\":[\"a\",\"b\"],"
    "\"name\":\"web\",\"newField\":{\"of\":{\"tomorrow\":[1,2]}},\"urls\":[\"web-1.0.0.tgz\"],\"version\":"
    "\"1.0.0\"}\n"
    "web 0.9.0 (||) {\"apiVersion\":\"v2\",\"name\":\"web\",\"quoted\":\"x\",\"version\":\"0.9.0\"}\n";

static void test_every_reader_finds_the_same_and_keeps_unknown_fields(void **state)
{
    CLEANUP(free_ptr) char *for_libyaml = xasprintf("%%YAML 1.1\n---\n%s", in_blocks);
    CLEANUP(free_ptr) char *for_its_events = xasprintf("%%YAML 1.1 \n---\n%s", in_blocks);
    CLEANUP(free_ptr) char *with_start = xasprintf("---\n%s", in_blocks);
    CLEANUP(free_ptr) char *with_comment = xasprintf("# comment\n%s", in_blocks);
    const char *const texts[] = { in_blocks, in_json, for_libyaml, for_its_events, with_start, with_comment };
    struct index_test *t = *state;

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct registry_loaded got;

        load(t, texts[i], &got);
        assert_num(got.figures.charts, 1);
        assert_num(got.figures.versions, 2);
        assert_num(got.figures.skipped, 0);
        assert_dump(t, in_rows);
        assert_ok(registry_forget(t->db, STR("r"), &t->err), t->err);
    }
}

static void test_versions_are_sorted_from_new_to_old(void **state)
{
    static const char text[] = "apiVersion: v1\nentries:\n  a:\n" ENTRY("a", "1.0.0") ENTRY("a", "1.0.0-rc.1")
        ENTRY("a", "1.10.0") ENTRY("a", "v1.9") ENTRY("a", "1.0.0+b");
    static const char *const want[] = { "1.10.0", "v1.9", "1.0.0", "1.0.0+b", "1.0.0-rc.1" };
    struct index_test *t = *state;
    struct registry_loaded got;
    struct registry_version *v;
    size_t n;

    load(t, text, &got);
    assert_ok(registry_versions(t->db, STR("r"), STR("a"), t->arena, &v, &n, &t->err), t->err);
    assert_num(n, ARRAY_SIZE(want));
    for (size_t i = 0; i < n; i++)
        assert_str(v[i].version, want[i]);
}

static void test_entries_that_helm_skips_are_skipped_and_counted(void **state)
{
    static const char text[] = "apiVersion: v1\nentries:\n  a:\n  -\n" ENTRY("a", "1.0.0") /* null */
        "  - name: a\n    version: 0.9.0\n"                        /* without apiVersion it is v1 */
        ENTRY("a", "not-a-version")                                /* validation */
        "  - apiVersion: v2\n    name: ../a\n    version: 0.8.0\n" /* ... */
        "  - apiVersion: v2\n    name: a\n"                        /* ... */
        "  - apiVersion: v2\n    name: a\n    version: 0.7.0\n    type: other\n"
        "  - apiVersion: v2\n    name: a\n    version: 0.6.0\n    dependencies:\n    - name: d\n    - name: "
        "d\n" /* passes */
        "  - text\n"
        "  b:\n  c: []\n  d: ~\n";
    struct index_test *t = *state;
    struct registry_loaded got;

    load(t, text, &got);
    assert_num(got.figures.charts, 1);
    assert_num(got.figures.versions, 3);
    assert_num(got.figures.skipped, 6);
}

static void test_odd_parts_end_in_an_error_or_in_nothing(void **state)
{
    static const char *const odd[] = { "~",   "''",     "1",   "[]",   "{}",
                                       "[~]", "{x: ~}", "[1]", "text", "{a: [~, 1, {}]}" };
    static const char *const frames[] = { "apiVersion: v1\nentries: %s\n",
                                          "apiVersion: v1\nentries:\n  a: %s\n",
                                          "apiVersion: v1\nentries:\n  a:\n  - %s\n",
                                          "apiVersion: %s\nentries: {}\n",
                                          "apiVersion: v1\nentries: {}\ngenerated: %s\n",
                                          "%s\n" };
    struct index_test *t = *state;

    for (size_t i = 0; i < ARRAY_SIZE(odd) * ARRAY_SIZE(frames); i++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
        struct str frame = str_from(frames[i / ARRAY_SIZE(odd)]);
        size_t at = str_find(frame, STR("%s"));
        struct registry_loaded got;

        buf_addstr(&text, str_sub(frame, 0, at));
        buf_adds(&text, odd[i % ARRAY_SIZE(odd)]);
        buf_addstr(&text, str_sub(frame, at + 2, frame.n));
        if (index_test_load(t, buf_z(&text), &got) < 0)
            err_free(TAKE(t->err));
        else
            assert_num(got.figures.versions, 0);
    }
}

static void test_a_truncated_index_never_crashes(void **state)
{
    struct index_test *t = *state;

    for (size_t n = 0; n < sizeof(in_blocks); n += 3) {
        CLEANUP(free_ptr) char *part = xstrndup(in_blocks, n);
        struct registry_loaded got;

        if (index_test_load(t, part, &got) < 0)
            err_free(TAKE(t->err));
    }
}

/* ---- what is refused ------------------------------------------------------------------------------------------------------ */

static void test_what_is_wrong_is_named_and_the_last_good_index_stays(void **state)
{
    static const struct {
        const char *text;
        enum errc code;
        const char *message;
    } cases[] = {
        { "", ERRC_PARSE, "empty index.yaml file" },
        { "# nothing\n", ERRC_PARSE, "empty index.yaml file" },
        { "entries: {}\n", ERRC_INVALID, "no API version specified" },
        { "{\"entries\": {}}", ERRC_INVALID, "no API version specified" },
        { "apiVersion: ''\nentries: {}\n", ERRC_INVALID, "no API version specified" },
        { "<html>\n", ERRC_PARSE, "line 1: not a map: this is no index.yaml" },
        { "apiVersion: v1\nentries:\n  a:\n" ENTRY("a", "1.0.0") "  b:\n" ENTRY("b", "1.0.0") "  a:\n" ENTRY(
              "a", "2.0.0"),
          ERRC_PARSE, "line 11: entries.a is there twice" },
        { "apiVersion: v1\nentries: {}\napiVersion: v2\n", ERRC_PARSE,
          "line 3: key apiVersion is there twice" },
        { "{\"apiVersion\": \"v1\",\n\"entries\": {\"a\": [],\n\"a\": []}}", ERRC_PARSE,
          "line 3: entries.a is there twice" },
        { "apiVersion: v1\nentries:\n  a:\n" ENTRY("a", "1.0.0") "#\n      x: 1\n    y: 2\n", ERRC_PARSE,
          NULL },
        { "apiVersion: v1\nentries:\n  a:\n" ENTRY("a", "1.0.0") "    x:\n\r y: 2\n", ERRC_PARSE, NULL },
        { "apiVersion: v1\n[]: b\n", ERRC_PARSE, "line 2: a key that is no text" },
        { "apiVersion: v1\nentries:\n  {a: b}: []\n", ERRC_PARSE, "line 3: a key that is no text" },
        { "apiVersion: v1\nentries:\n  a: text\n", ERRC_PARSE, "line 3: entries.a is not a list" },
        { "apiVersion: v1\nentries:\n  a:\n" ENTRY("a", "1.0.0") "    name: b\n", ERRC_PARSE, NULL },
        { "apiVersion: v1\nentries:\n  a:\n    - {name: a, version: 1.0.0}\n" ENTRY("a", "2.0.0"), ERRC_PARSE,
          "yaml: line 4: did not find expected key" },
    };
    struct index_test *t = *state;
    struct registry_loaded got;

    load(t, small, &got);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(free_ptr)
        char *want = cases[i].message ? xasprintf("index of repository r: %s", cases[i].message) : NULL;
        struct registry_version v;

        assert_fails(index_test_load(t, cases[i].text, &got), cases[i].code, t->err, want);
        assert_num(registry_find(t->db, STR("r"), STR("web"), STR(""), t->arena, &v, &t->err), 1);
        assert_str(v.version, "1.1.0");
    }
}

static void test_a_key_twice_in_an_entry_is_refused_with_its_line(void **state)
{
    struct index_test *t = *state;
    struct registry_loaded got;
    int r = index_test_load(t, "apiVersion: v1\nentries:\n  a:\n" ENTRY("a", "1.0.0") "    name: b\n", &got);

    assert_num(r, -ERRC_PARSE);
    if (!str_contains(str_from(err_message(t->err)), STR("line 7")))
        fail_case("no line in: %s", err_message(t->err));
}

static void test_the_size_ends_at_the_limit(void **state)
{
    static const struct registry_fetched from = { .url = { "http://h/", 9 } };
    struct index_test *t = *state;
    struct registry_loaded got;
    size_t n = strlen(small);

    assert_ok(index_test_load_as(t, &from, small, n + 1, &got), t->err);
    assert_ok(registry_forget(t->db, STR("r"), &t->err), t->err);
    assert_ok(index_test_load_as(t, &from, small, n, &got), t->err);
    assert_ok(registry_forget(t->db, STR("r"), &t->err), t->err);
    assert_num(index_test_load_as(t, &from, small, n - 1, &got), -ERRC_LIMIT);
}

/* ---- what is written ------------------------------------------------------------------------------------------------------ */

/* What follows the document is read, too: it belongs to the digest. */
static void test_the_largest_index_has_a_size(void **state)
{
    struct index_test *t = *state;
    CLEANUP(free_ptr) char *path = fs_join(t->dir, "large.yaml");
    CLEANUP(buf_done) struct buf text = BUF_INIT(2 * MIB);
    struct registry_load load = { .repository = STR("r"),
                                  .path = path,
                                  .fetched = { .url = STR("http://h/") } };

    buf_adds(&text, "apiVersion: v1\nentries: {}\n...\n");
    buf_add_repeat(&text, '\n', MIB); /* so far it is YAML; then there is a hole */
    assert_ok(fs_write_file(path, buf_str(&text), 0600, &t->err), t->err);
    for (int d = -1; d <= 1; d++) {
        struct registry_loaded loaded;

        assert_int_equal(truncate(path, (off_t)INDEX_TEXT_MAX + d), 0);
        if (d <= 0)
            assert_ok(registry_index_load(t->db, &load, t->arena, &loaded, &t->err), t->err);
        else
            assert_fails(registry_index_load(t->db, &load, t->arena, &loaded, &t->err), ERRC_LIMIT, t->err,
                         "index of repository r: index is larger than the limit of 268435456 bytes");
    }
}

/* A reader that looks at entries as a whole hands a longer one to the reader that does not. */
static void test_an_entry_of_any_size_is_read(void **state)
{
    struct index_test *t = *state;
    CLEANUP(buf_done) struct buf text = BUF_INIT(4 * INDEX_ENTRY_MAX);
    static const char *const forms[][2] = {
        { "apiVersion: v1\nentries:\n  a:\n  - name: a\n    version: 1.0.0\n    urls: [a.tgz]\n    home: ",
          "\n" },
        { "{\"apiVersion\":\"v1\",\"entries\":{\"a\":[{\"name\":\"a\",\"version\":\"1.0.0\",\"urls\":[\"a."
          "tgz\"],"
          "\"home\":\"",
          "\"}]}}" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        for (int d = -1; d <= 1; d++) {
            struct registry_loaded loaded;

            buf_clear(&text);
            buf_adds(&text, forms[i][0]);
            buf_add_repeat(&text, (char)('x' + d), (size_t)((int64_t)INDEX_ENTRY_MAX + d) - 60);
            buf_adds(&text, forms[i][1]);
            assert_ok(index_test_load(t, buf_z(&text), &loaded), t->err);
            assert_num(loaded.figures.versions, 1);
        }
    }
}

static void test_the_same_index_again_writes_nothing(void **state)
{
    struct index_test *t = *state;
    struct registry_fetched as = { .url = STR("http://h/"), .etag = STR("\"1\"") }, now;
    struct registry_loaded got;
    bool found;

    assert_ok(index_test_load_as(t, &as, small, 0, &got), t->err);
    assert_true(got.all && !got.unchanged);
    assert_ok(index_test_load_as(t, &as, small, 0, &got), t->err);
    assert_true(got.unchanged);
    assert_num(got.rows, 0);
    as.etag = STR("\"2\"");
    assert_ok(index_test_load_as(t, &as, small, 0, &got), t->err);
    assert_true(got.unchanged);
    assert_num(got.rows, 1);
    assert_ok(registry_fetched_find(t->db, STR("r"), t->arena, &now, &found, &t->err), t->err);
    assert_true(found);
    assert_str(now.etag, "\"2\"");
    assert_num(now.figures.versions, 3);
}

static void test_a_new_version_writes_three_rows(void **state)
{
    static const char text[] =
        "apiVersion: v1\nentries:\n"
        "  web:\n" ENTRY("web", "1.2.0") ENTRY("web", "1.1.0")
            ENTRY("web", "1.0.0") "  db:\n" ENTRY("db", "0.1.0") "generated: \"2026-01-02T00:00:00Z\"\n";
    struct index_test *t = *state;
    struct registry_loaded got;

    load(t, small, &got);
    load(t, text, &got);
    assert_num(got.rows, 3); /* its entry, its chart, the repository */
    assert_true(!got.all);
    assert_num(got.n_changed, 1);
    assert_str(got.changed[0], "web");
    assert_num(got.figures.versions, 4);
    index_test_reopen(t);
    assert_dump(t, "db 0.1.0 (||) {\"apiVersion\":\"v2\",\"name\":\"db\",\"version\":\"0.1.0\"}\n"
                   "web 1.2.0 (||) {\"apiVersion\":\"v2\",\"name\":\"web\",\"version\":\"1.2.0\"}\n"
                   "web 1.1.0 (||) {\"apiVersion\":\"v2\",\"name\":\"web\",\"version\":\"1.1.0\"}\n"
                   "web 1.0.0 (||) {\"apiVersion\":\"v2\",\"name\":\"web\",\"version\":\"1.0.0\"}\n");
}

static void test_versions_and_charts_that_left_are_gone(void **state)
{
    static const char text[] = "apiVersion: v1\nentries:\n  web:\n" ENTRY("web", "1.0.0");
    struct index_test *t = *state;
    struct registry_loaded got;

    load(t, small, &got);
    load(t, text, &got);
    assert_num(got.n_changed, 2);
    assert_num(got.figures.charts, 1);
    assert_dump(t, "web 1.0.0 (||) {\"apiVersion\":\"v2\",\"name\":\"web\",\"version\":\"1.0.0\"}\n");
}

/* More than an update keeps in memory: then a new file takes the place of the old one. */
static void test_an_index_that_differs_in_everything_is_loaded_anew(void **state)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * MIB);
    struct index_test *t = *state;
    struct registry_loaded got;

    load(t, small, &got);
    buf_adds(&text, "apiVersion: v1\nentries:\n  big:\n");
    for (int i = 0; i < 3000; i++)
        buf_addf(&text, "  - name: big\n    version: 1.0.%d\n    description: '%01500d'\n", i, i);
    load(t, buf_z(&text), &got);
    assert_true(got.all);
    assert_num(got.figures.versions, 3000);
}

/* ---- look-ups ------------------------------------------------------------------------------------------------------------- */

static void test_a_picked_version_has_its_own_texts(void **state)
{
    static const char text[] = "apiVersion: v1\nentries:\n  a:\n" ENTRY("a", "1.2.0")
        ENTRY("a", "1.1.0") "    appVersion: other\n    description: one more\n" ENTRY("a", "1.0.0");
    struct index_test *t = *state;
    struct registry_loaded got;
    struct registry_version v;

    load(t, text, &got);
    assert_num(registry_find(t->db, STR("r"), STR("a"), STR("1.1.0"), t->arena, &v, &t->err), 1);
    assert_str(v.app_version, "other");
    assert_str(v.description, "one more");
    assert_num(registry_find(t->db, STR("r"), STR("a"), STR("1.0.0"), t->arena, &v, &t->err), 1);
    assert_str(v.app_version, "");
    assert_str(v.description, "");
}

static void test_a_version_is_picked_as_helm_does(void **state)
{
    static const char text[] = "apiVersion: v1\nentries:\n  a:\n" ENTRY("a", "2.0.0-rc.1") ENTRY("a", "1.2.0")
        ENTRY("a", "1.1.0+build") ENTRY("a", "1.0.0");
    static const struct {
        const char *wanted, *picked;
    } cases[] = {
        { "", "1.2.0" },
        { "*", "1.2.0" },
        { "1.0.0", "1.0.0" },
        { "~1.1", "1.1.0+build" },
        { "1.1.0", "1.1.0+build" },
        { ">0.0.0-0", "2.0.0-rc.1" },
        { "2.0.0-rc.1", "2.0.0-rc.1" },
        { "^3", NULL },
        { ">=1 <1.2", "1.1.0+build" },
    };
    struct index_test *t = *state;
    struct registry_loaded got;
    struct registry_version v;

    load(t, text, &got);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int r = registry_find(t->db, STR("r"), STR("a"), str_from(cases[i].wanted), t->arena, &v, &t->err);

        assert_case_num(cases[i].wanted, r, cases[i].picked != NULL);
        if (r == 1)
            assert_case_str(cases[i].wanted, v.version, cases[i].picked);
    }
    assert_num(registry_find(t->db, STR("r"), STR("b"), STR(""), t->arena, &v, &t->err), 0);
    assert_num(registry_find(t->db, STR("other"), STR("a"), STR(""), t->arena, &v, &t->err), 0);
    assert_fails(registry_find(t->db, STR("r"), STR("a"), STR("not one"), t->arena, &v, &t->err), ERRC_PARSE,
                 t->err, "improper constraint: \"not one\"");
}

static void test_names_that_are_no_file_names_have_files_too(void **state)
{
    static const char *const names[] = { "../../etc", "a/b", "", ".", "a\\b" };
    struct index_test *t = *state;
    CLEANUP(free_ptr) char *path = fs_join(t->dir, "index.yaml");

    assert_ok(fs_write_file(path, str_from(small), 0600, &t->err), t->err);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct registry_load what = { .repository = str_from(names[i]), .path = path };
        struct registry_loaded got;
        struct registry_version v;

        assert_ok(registry_index_load(t->db, &what, t->arena, &got, &t->err), t->err);
        assert_num(registry_find(t->db, what.repository, STR("db"), STR(""), t->arena, &v, &t->err), 1);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, index_test_begin, index_test_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_reader_finds_the_same_and_keeps_unknown_fields),
        TEST(test_versions_are_sorted_from_new_to_old),
        TEST(test_entries_that_helm_skips_are_skipped_and_counted),
        TEST(test_odd_parts_end_in_an_error_or_in_nothing),
        TEST(test_a_truncated_index_never_crashes),
        TEST(test_what_is_wrong_is_named_and_the_last_good_index_stays),
        TEST(test_a_key_twice_in_an_entry_is_refused_with_its_line),
        TEST(test_the_size_ends_at_the_limit),
        TEST(test_the_largest_index_has_a_size),
        TEST(test_an_entry_of_any_size_is_read),
        TEST(test_the_same_index_again_writes_nothing),
        TEST(test_a_new_version_writes_three_rows),
        TEST(test_versions_and_charts_that_left_are_gone),
        TEST(test_an_index_that_differs_in_everything_is_loaded_anew),
        TEST(test_a_picked_version_has_its_own_texts),
        TEST(test_a_version_is_picked_as_helm_does),
        TEST(test_names_that_are_no_file_names_have_files_too),
    };

    return RUN_TESTS(tests);
}
