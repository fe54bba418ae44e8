/* SPDX-License-Identifier: Apache-2.0 */
/* Entries that libyaml reads in parts: the same as when it reads the whole text. */
#include <stdlib.h>

#include "unit/registry/index_lib.h"

#define IN_PIECES "%YAML 1.1\n---\n"
#define AS_A_WHOLE "%YAML 1.1 \n---\n" /* the blank makes the layout uncertain */

enum { ENTRIES = 1500, BYTES_MAX = 4 * 1024 * 1024 };

/* What comes among ordinary entries, and whether the index is taken at all. */
static const struct {
    const char *odd;
    bool taken;
} cases[] = {
    { "", true },
    { "  - {apiVersion: v2, name: web, version: 0.0.1}\n", true },
    { "  - apiVersion: v2\n    name: web\n    version: !!str 0.0.1\n", true },
    { "  - &a\n    apiVersion: v2\n    name: web\n    home: &h x\n    icon: *h\n    version: 0.0.1\n", true },
    { "  - apiVersion: v2\n    description: \"one\n      two\"\n    name: web\n    version: 0.0.1\n", true },
    { "  - apiVersion: v2\n    description: \"one\n  - two\"\n    name: web\n    version: 0.0.1\n", true },
    { "  - apiVersion: v2\n    description: |\n      - a\n\n\n    name: web\n    version: 0.0.1\n", true },
    { "  - apiVersion: v2\n    description: |+\n      - a\n\n\n  -\n    name: web\n    version: 0.0.1\n",
      true },
    { "  - apiVersion: v2\n    home: \"https:\\/\\/h\"\n    name: web\n    version: 0.0.1\n", true },
    { "  - null\n  -\n  - x\n  - [1, 2]\n", true },
    { "  -   apiVersion: v2\n      name: web # c\n      version: 0.0.1\n  # c\n", true },
    { "  - apiVersion: v2\n    home: &h x\n    name: web\n    version: 0.0.1\n"
      "  - apiVersion: v2\n    home: *h\n    name: web\n    version: 0.0.2\n",
      false },
    { "  - apiVersion: v2\n    name: web\n    name: web\n    version: 0.0.1\n", false },
    { "  - apiVersion: v2\n    name: \"web\n    version: 0.0.1\n", false },
    { "  - apiVersion: [v2\n    name: web\n    version: 0.0.1\n", false },
    { "   - apiVersion: v2\n     name: web\n     version: 0.0.1\n", false },
};

static void add_entries(struct buf *text, int from, int to)
{
    for (int i = from; i < to; i++)
        buf_addf(text,
                 "  - apiVersion: v2\n    created: \"2026-01-12T17:19:21+01:00\"\n    description: number "
                 "%d, which"
                 " is\n      long\n    name: web\n    urls:\n    - https://example.com/web-1.%d.0.tgz\n"
                 "    version: 1.%d.0\n",
                 i % 7, i, i);
}

/* The entries at [at, at + 3) come last. */
static int load(struct index_test *t, const char *head, const char *odd, int at, struct registry_loaded *ret)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(BYTES_MAX);

    buf_addf(&text, "%sapiVersion: v1\nentries:\n  web:\n", head);
    add_entries(&text, 0, at);
    buf_adds(&text, odd);
    add_entries(&text, at + 3, ENTRIES);
    add_entries(&text, at, at + 3);
    buf_adds(&text, "  zero: []\n");
    return index_test_load(t, buf_z(&text), ret);
}

static int load_and_tell(struct index_test *t, const char *head, const char *odd, int at, struct buf *out)
{
    struct registry_loaded got;
    int r = load(t, head, odd, at, &got);

    if (r < 0) {
        buf_adds(out, err_message(t->err));
        err_free(TAKE(t->err));
        return r;
    }
    buf_addf(out, "%d skipped\n", (int)got.figures.skipped);
    index_test_dump(t, out);
    return 0;
}

/* A head, and the same text again with one more entry: an update. */
static void load_twice(struct index_test *t, const char *head, size_t i, int at, struct buf *out)
{
    int r = load_and_tell(t, head, cases[i].odd, at, out);

    assert_case_num(cases[i].odd, r == 0, cases[i].taken);
    if (r == 0)
        r = load_and_tell(t, head, "  - {apiVersion: v2, name: web, version: 0.0.9}\n", at, out);
    assert_case_num(cases[i].odd, r == 0, cases[i].taken);
    assert_ok(registry_forget(t->db, STR("r"), &t->err), t->err);
}

static void test_entries_in_parts_are_those_of_the_whole(void **state)
{
    static const int places[] = { 0, 1, 400, ENTRIES - 3 };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (size_t k = 0; k < (i == 0 ? ARRAY_SIZE(places) : 2); k++) {
            CLEANUP(buf_done) struct buf pieces = BUF_INIT(BYTES_MAX), whole = BUF_INIT(BYTES_MAX);
            struct index_test *t = *state;

            load_twice(t, IN_PIECES, i, places[(i + k) % ARRAY_SIZE(places)], &pieces);
            load_twice(t, AS_A_WHOLE, i, places[(i + k) % ARRAY_SIZE(places)], &whole);
            if (!str_eq(buf_str(&pieces), buf_str(&whole)))
                fail_case("%s", cases[i].odd);
        }
    }
}

static void test_one_more_entry_is_a_few_rows(void **state)
{
    struct index_test *t = *state;
    struct registry_loaded got;

    assert_ok(load(t, IN_PIECES, "", 400, &got), t->err);
    assert_num(got.rows, ENTRIES + 2);
    assert_ok(load(t, IN_PIECES, "  - {apiVersion: v2, name: web, version: 0.0.9}\n", 400, &got), t->err);
    assert_num(got.rows, 3);
    assert_num(got.figures.versions, ENTRIES + 1);
}

enum { CHARTS = 2500 };

/* Charts of no, one and two entries, whose dashes are in three columns, and a last one. */
static int load_charts(struct index_test *t, const char *head, const char *last, struct registry_loaded *ret)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(BYTES_MAX);

    buf_addf(&text, "%sapiVersion: v1\nentries:\n", head);
    for (int i = 0; i < CHARTS; i++) {
        const char *dash = &"      -"[i % 3 * 2];

        buf_addf(&text, "  c%d:%s\n", i, i % 5 ? "" : " []");
        for (int k = 0; k < (i % 5 + 1) / 2; k++)
            buf_addf(&text, "%s {apiVersion: v2, name: c%d, version: 1.%d.0}\n", dash, i, k);
    }
    buf_addf(&text, "  %s:\n  - {apiVersion: v2, name: web, version: 1.0.0}\n", last);
    return index_test_load(t, buf_z(&text), ret);
}

static void test_many_small_charts_in_parts_are_those_of_the_whole(void **state)
{
    static const char *const heads[] = { "", IN_PIECES, AS_A_WHOLE };
    struct index_test *t = *state;
    struct registry_loaded got;
    struct buf dumps[ARRAY_SIZE(heads)];

    for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
        dumps[i] = BUF_INIT(BYTES_MAX);
        assert_ok(load_charts(t, heads[i], "web", &got), t->err);
        assert_num(got.figures.charts, CHARTS / 5 * 4 + 1);
        assert_num(got.figures.versions, CHARTS / 5 * 6 + 1);
        index_test_dump(t, &dumps[i]);
        assert_ok(registry_forget(t->db, STR("r"), &t->err), t->err);
        assert_ok(load_charts(t, heads[i], "newest", &got), t->err);
        assert_ok(load_charts(t, heads[i], "web", &got), t->err);
        assert_num(got.rows, 5);
        assert_ok(registry_forget(t->db, STR("r"), &t->err), t->err);
    }
    for (size_t i = 1; i < ARRAY_SIZE(heads); i++)
        assert_true(str_eq(buf_str(&dumps[i]), buf_str(&dumps[0])));
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
        buf_done(&dumps[i]);
}

static void test_a_chart_twice_is_refused_with_its_line(void **state)
{
    struct index_test *t = *state;
    struct registry_loaded got;

    assert_fails(load_charts(t, IN_PIECES, "c7", &got), ERRC_PARSE, t->err,
                 "index of repository r: line 5505: entries.c7 is there twice");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_entries_in_parts_are_those_of_the_whole, index_test_begin,
                                        index_test_end),
        cmocka_unit_test_setup_teardown(test_one_more_entry_is_a_few_rows, index_test_begin, index_test_end),
        cmocka_unit_test_setup_teardown(test_many_small_charts_in_parts_are_those_of_the_whole,
                                        index_test_begin, index_test_end),
        cmocka_unit_test_setup_teardown(test_a_chart_twice_is_refused_with_its_line, index_test_begin,
                                        index_test_end),
    };

    return RUN_TESTS(tests);
}
