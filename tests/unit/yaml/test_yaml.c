/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml/yaml.h"

#include <stdio.h>
#include <time.h>

#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static void assert_reads(const char *text, const struct yml_options *o, const char *want)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    if (yml_parse(a, str_from(text), o, &v, &err) < 0 || json_print(v, 0, &out, &err) < 0)
        buf_addf(&out, "error: %s", err_message(err));
    assert_case_str(text, buf_str(&out), want);
}

static void test_integers_stay_exact_unless_floats_are_asked_for(void **state)
{
    static const struct yml_options floats = { .floats = true };
    static const char text[] = "[9007199254740993, 18446744073709551615, 1.0, -0.0, 0.5, 0x10]";

    UNUSED(state);
    assert_reads(text, NULL, "[9007199254740993,18446744073709551615,1,0,0.5,16]");
    assert_reads(text, &floats, "[9007199254740992,18446744073709552000,1,-0,0.5,16]");
}

static void test_an_escaped_slash_counts_where_it_is_an_escape(void **state)
{
    UNUSED(state);
    assert_reads("\"\\x5A\\x5A\\x5A\": 1\na\\/: 2\n", NULL, "{\"ZZZ\":1,\"a\\\\/\":2}");
    assert_reads("\"\xc3\xa9\xc3\xa9\": 1\na: \\/\n", NULL, "{\"a\":\"\\\\/\",\"\xc3\xa9\xc3\xa9\":1}");
}

static void test_all_documents_are_a_list(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_ok(yml_parse_all(a, STR("a: 1\n---\n---\n- b\n...\n"), NULL, &v, &err), err);
    assert_ok(json_print(v, 0, &out, &err), err);
    assert_str(buf_str(&out), "[{\"a\":1},null,[\"b\"]]");
}

static void test_an_aliased_map_is_a_map_of_its_own(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_ok(yml_parse(a, STR("a: &x {k: 1}\nb: *x\n"), NULL, &v, &err), err);
    value_setz(value_getz(v, "a"), "k", value_from_int(2));
    assert_num(value_int(value_path(v, "b.k"), 0), 1);
}

static void assert_depth(char open, char close, int depth, int max)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;
    int r;

    for (int i = 0; i < depth; i++) {
        if (open == '-')
            buf_adds(&text, "- ");
        else
            buf_addc(&text, open);
    }
    if (open != '-')
        buf_add_repeat(&text, close, (size_t)depth);
    r = yml_parse(a, buf_str(&text), NULL, &v, &err);
    assert_case_num(err_message(err), r, depth > max ? -ERRC_LIMIT : 0);
}

static void test_depth_ends_at_the_limits(void **state)
{
    UNUSED(state);
    for (int d = -1; d <= 1; d++) {
        assert_depth('[', ']', YAML_FLOW_DEPTH_MAX + d, YAML_FLOW_DEPTH_MAX);
        assert_depth('-', 0, YAML_DEPTH_MAX + d, YAML_DEPTH_MAX);
    }
}

static void test_aliases_cannot_deepen_beyond_the_limit(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    buf_adds(&text, "- &a0 x\n");
    for (int i = 0; i < 40000; i++)
        buf_adds(&text, "- pad\n"); /* keeps the share of aliases low */
    for (int i = 1; i <= 12; i++) {
        buf_addf(&text, "- &a%d ", i);
        buf_add_repeat(&text, '[', 100);
        buf_addf(&text, "*a%d", i - 1);
        buf_add_repeat(&text, ']', 100);
        buf_addc(&text, '\n');
    }
    assert_fails(yml_parse(a, buf_str(&text), NULL, &v, &err), ERRC_LIMIT, err, NULL);
}

/* CPU time: other programs may be running. */
static int64_t cpu_ms(void)
{
    return (int64_t)clock() * 1000 / CLOCKS_PER_SEC;
}

static void test_a_megabyte_of_brackets_is_refused_at_once(void **state)
{
    static const char *const openers[] = { "[", "{", "[\n", "{a: ", "- ", "? ", "[{", "- [" };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(openers); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * MIB);
        CLEANUP(err_free) struct err *err = NULL;
        int64_t from = cpu_ms();
        struct value v;

        while (text.n < MIB)
            buf_adds(&text, openers[i]);
        assert_true(yml_parse(a, buf_str(&text), NULL, &v, &err) < 0);
        if (cpu_ms() - from > 1000) /* 100 ms without sanitizers */
            fail_case("%s took %d ms", openers[i], (int)(cpu_ms() - from));
    }
}

static void test_a_bomb_of_aliases_is_refused(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    buf_adds(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 9; i++) {
        buf_addf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            buf_addf(&text, "*a%d, ", i - 1);
        buf_adds(&text, "]\n");
    }
    assert_fails(yml_parse(a, buf_str(&text), NULL, &v, &err), ERRC_LIMIT, err,
                 "error converting YAML to JSON: yaml: document contains excessive aliasing");
}

static void test_bytes_and_nil_follow_the_encoder(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value m = value_new_map(a);

    UNUSED(state);
    value_setz(m, "bytes", ((struct value){ .kind = VALUE_BYTES, .n = 2, .s = "hi" }));
    value_setz(m, "list", ((struct value){ .kind = VALUE_LIST, .flags = VALUE_NIL }));
    value_setz(m, "map", value_new_map(a));
    value_setz(m, "single", ((struct value){ .kind = VALUE_FLOAT, .type = VALUE_TYPE_FLOAT32, .f = 0.1F }));
    value_setz(m, "text", VALUE_STR("\xff"));
    assert_ok(yml_print(m, &out, &err), err);
    assert_str(buf_str(&out), "bytes: aGk=\nlist: null\nmap: {}\nsingle: 0.1\ntext: \xef\xbf\xbd\n");
    buf_clear(&out);
    assert_ok(yml_print_pretty(m, &out, &err), err);
    assert_str(buf_str(&out),
               "bytes:\n  - 104\n  - 105\nlist: []\nmap: {}\nsingle: 0.1\ntext: !!binary /w==\n");
}

static int read_pieces(void *ctx, char *to, size_t n, struct err **err)
{
    struct str *left = ctx;
    size_t take = MIN(MIN(n, (size_t)7), left->n);

    if (str_has_prefix(*left, STR("fail")))
        return err_set(err, ERRC_IO, "the disk is gone");
    memcpy(to, left->p, take);
    *left = str_sub(*left, take, left->n);
    return (int)take;
}

static void test_events_come_from_a_stream(void **state)
{
    static const enum yml_event_kind want[] = { YML_DOCUMENT, YML_MAP,     YML_SCALAR,   YML_LIST,
                                                YML_SCALAR,   YML_ALIAS,   YML_LIST_END, YML_SCALAR,
                                                YML_SCALAR,   YML_MAP_END, YML_DOCUMENT, YML_SCALAR,
                                                YML_END };
    struct str text = STR("entries: [&a one, *a]\nb: \"x\"\n--- 3\n");
    CLEANUP(yml_reader_free) struct yml_reader *r = yml_reader_new(read_pieces, &text);
    CLEANUP(err_free) struct err *err = NULL;
    struct yml_event e;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
        assert_ok(yml_reader_next(r, &e, &err), err);
        assert_num(e.kind, want[i]);
        if (i == 4)
            assert_str(e.anchor, "a");
        if (i == 8)
            assert_true(e.line == 2 && !e.plain);
    }
}

static void test_a_value_is_taken_out_of_a_stream(void **state)
{
    struct str text = STR("a: {b: [1, two]}\nc: d\n");
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(yml_reader_free) struct yml_reader *r = yml_reader_new(read_pieces, &text);
    CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct yml_event e;
    struct value v;

    UNUSED(state);
    for (int i = 0; i < 4; i++) /* document, map, key, value */
        assert_ok(yml_reader_next(r, &e, &err), err);
    assert_ok(yml_reader_value(r, &e, a, NULL, &v, &err), err);
    assert_ok(json_print(v, 0, &out, &err), err);
    assert_str(buf_str(&out), "{\"b\":[1,\"two\"]}");
    assert_ok(yml_reader_next(r, &e, &err), err);
    assert_str(e.text, "c");
}

static void test_a_failing_source_is_reported(void **state)
{
    struct str text = STR("a: \"xyzfail");
    CLEANUP(yml_reader_free) struct yml_reader *r = yml_reader_new(read_pieces, &text);
    CLEANUP(err_free) struct err *err = NULL;
    struct yml_event e = { .kind = YML_DOCUMENT };
    int got = 0;

    UNUSED(state);
    for (int i = 0; i < 5 && got == 0; i++)
        got = yml_reader_next(r, &e, &err);
    assert_fails(got, ERRC_IO, err, "the disk is gone");
}

static void test_a_text_over_the_limit_is_not_looked_at(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_fails(yml_parse(a, (struct str){ "1", YAML_TEXT_MAX + 1 }, NULL, &v, &err), ERRC_LIMIT, err,
                 "YAML text of 268435457 bytes is over the limit of 268435456");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_stay_exact_unless_floats_are_asked_for),
        cmocka_unit_test(test_an_escaped_slash_counts_where_it_is_an_escape),
        cmocka_unit_test(test_all_documents_are_a_list),
        cmocka_unit_test(test_an_aliased_map_is_a_map_of_its_own),
        cmocka_unit_test(test_depth_ends_at_the_limits),
        cmocka_unit_test(test_aliases_cannot_deepen_beyond_the_limit),
        cmocka_unit_test(test_a_megabyte_of_brackets_is_refused_at_once),
        cmocka_unit_test(test_a_bomb_of_aliases_is_refused),
        cmocka_unit_test(test_bytes_and_nil_follow_the_encoder),
        cmocka_unit_test(test_events_come_from_a_stream),
        cmocka_unit_test(test_a_value_is_taken_out_of_a_stream),
        cmocka_unit_test(test_a_failing_source_is_reported),
        cmocka_unit_test(test_a_text_over_the_limit_is_not_looked_at),
    };

    return RUN_TESTS(tests);
}
