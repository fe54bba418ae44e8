/* SPDX-License-Identifier: Apache-2.0 */
/* The quick reader: what it takes, it reads as libyaml does; what it does not understand, it leaves alone. */
#include "yaml/quick.h"

#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static void test_common_texts_are_taken_and_mean_what_libyaml_says(void **state)
{
    static const char *const cases[] = {
        "# only a comment\n",
        "a: 1\nb: 0x1f\nc: 1.5\nd: .5\ne: -0\nf: +1\ng: 1_000\nh: 0o17\ni: 017\nj: 1e3\nk: "
        "9223372036854775808\n",
        "a: yes\nb: No\nc: ~\nd: null\ne:\nf: True\ng: y\nh: \"yes\"\ni: 'null'\nj: 2001-01-01\n",
        "yes: 1\n2: two\n3.0: three\nfalse: no\n2001-01-01: day\n",
        "a: x # comment\nb: x#y\nc: http://h:80/#f\nd: a'b\"c\ne: x[y]{z},\n",
        "a:\n  b:\n    c: 1\n  # aside\n\n  d: 2\ne:\n- 1\n- 2\nf:\n  - - x\n    - y\n  -\n    z: 1\n  - k: "
        "1\n    l: 2\n",
        "a: |\n  one\n   two\n\n  three\n\n\nb: |-\n  x\n\nc: |+\n  x\n\n\nd: >\n  p\n  q\n\n  r\n   s\n  "
        "t\ne: |2\n   x\n",
        "a: |\n\n  x\nb: |\nc: >-\n\nd: |+\n\n\ne: end\n",
        "a: |\n  no break at the end",
        "a: one\n  two\n\n  three\nb:\n  four\n  five # end\nc: -x\n",
        "a: \"one\n  two\n\n  three\"\nb: 'it''s\n  here'\nc: \"x\\\n    \\  y\\n\\t\\\\\\\"\\u00e9\"\nd: "
        "'\\n'\n",
        "a: \"\\U0001F525\\U000000e9\\U0010ffff\"\nb: 0d1\nc: 0_xa\nd: 1c\ne: +0Xd\nf: 12ab\ng: +.inf2\n",
        "a: {}\nb: []\nc: [1, \"a:b\", 'c', {d: e, \"f\":1}]\nd: {\n  a: 1,\n  b: [x,\n  y]}\n",
        "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":\"\\u003c\"}",
        "- a\n- b: 1\n  c: 2\n-\n- d\n",
        "\"a b\": 1\n'c': 2\nd e : 3\n",
        "a: 1\na: 2\n",
        "k\xc3\xa9y: v\xc3\xa4l\n",
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(buf_done) struct buf quick = BUF_INIT(MIB), events = BUF_INIT(MIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct value v = VALUE_NONE;

        if (!yml_quick_parse(a, str_from(cases[i]), NULL, &v))
            buf_adds(&quick, "not taken");
        else
            assert_ok(json_print(v, 0, &quick, &err), err);
        assert_ok(yml_parse_events(a, str_from(cases[i]), NULL, &v, &err), err);
        assert_ok(json_print(v, 0, &events, &err), err);
        assert_case_str(cases[i], buf_str(&quick), buf_z(&events));
    }
}

static void test_what_is_rare_or_wrong_is_left_to_libyaml(void **state)
{
    static const char *const cases[] = {
        "",
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "%YAML 1.1\n---\na: 1\n",
        "---\na: 1\n",
        "a: 1\n---\nb: 2\n",
        "a: 1\n...\n",
        "? a\n: b\n",
        "<<: {a: 1}\n",
        "a: 1\n b: 2\n",
        "a:\n  b: 1\n c: 2\n",
        "a: b: c\n",
        "a: 'x' y\n",
        "a: [1, 2\n",
        "a: [b: c]\n",
        "a: [1, 2]: 3\n",
        "a:\tb\n",
        "a:\n\tb: 1\n",
        "a: 1\r\nb: 2\r\n",
        "a: \x01\n",
        "a: \xff\n",
        "a: \xe2\x80\xa8\n",
        "a: .inf\n",
        "a: .nan\n",
        "~: 1\n",
        "18446744073709551615: 1\n",
        "a: |\n   \n x\n",
        "a: |\n \tx\n",
        "a: \"\\x41\"\n",
        "a: \"\\/\"\n",
        "a: \"x\ny\"\n",
        "a: 'x\n",
        "plain\n",
        "- a\nb: 1\n",
        "a: 1\n- b\n",
        "a: @b\n",
        "a: `b`\n",
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        struct value v;

        assert_case_str(
            cases[i], yml_quick_parse(a, str_from(cases[i]), NULL, &v) ? STR("taken") : STR("left"), "left");
    }
}

static void test_duplicate_keys_are_libyamls_when_they_matter(void **state)
{
    static const struct yml_options strict = { .strict = true };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct value v;

    UNUSED(state);
    assert_false(yml_quick_parse(a, STR("a: 1\nb: {c: 1, c: 2}\n"), &strict, &v));
    assert_true(yml_quick_parse(a, STR("a: 1\nb: {c: 1, d: 2}\n"), &strict, &v));
}

/* "[" n times in one another. */
static bool takes_depth(size_t n)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
    struct value v;

    buf_add_repeat(&text, '[', n);
    buf_add_repeat(&text, ']', n);
    return yml_quick_parse(a, buf_str(&text), NULL, &v);
}

static void test_depth_has_a_limit(void **state)
{
    UNUSED(state);
    assert_true(takes_depth(QUICK_DEPTH_MAX - 1));
    assert_true(takes_depth(QUICK_DEPTH_MAX));
    assert_false(takes_depth(QUICK_DEPTH_MAX + 1));
}

static void test_members_nobody_wants_are_checked_but_cost_no_memory(void **state)
{
    static const struct str kind = { "kind", 4 };
    static const struct yml_options only = { .borrow = true, .only = &kind, .n_only = 1 };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB), *whole = arena_new(MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    struct value v;

    UNUSED(state);
    buf_adds(&text, "kind: ConfigMap\ndata:\n");
    for (int i = 0; i < 1000; i++)
        buf_addf(&text, "  k%d: [a, {b: \"x\\n\"}, 'it''s']\n", i);
    assert_true(yml_quick_parse(a, buf_str(&text), &only, &v));
    assert_str(value_str(value_getz(v, "kind")), "ConfigMap");
    assert_num(value_len(v), 1);
    assert_true(arena_peak(a) < 256);
    assert_true(yml_quick_parse(whole, buf_str(&text), NULL, &v));
    assert_true(arena_peak(whole) > 100000);
    buf_adds(&text, "  last: .nan\n");
    assert_false(yml_quick_parse(a, buf_str(&text), &only, &v));
}

static void test_borrowed_strings_stand_in_the_text(void **state)
{
    static const struct yml_options borrow = { .borrow = true };
    static const char text[] = "key: value of it\n";
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct value v;

    UNUSED(state);
    assert_true(yml_quick_parse(a, str_from(text), &borrow, &v));
    assert_ptr_equal(value_str(value_getz(v, "key")).p, text + 5);
    assert_true(yml_quick_parse(a, str_from(text), NULL, &v));
    assert_ptr_not_equal(value_str(value_getz(v, "key")).p, text + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_texts_are_taken_and_mean_what_libyaml_says),
        cmocka_unit_test(test_what_is_rare_or_wrong_is_left_to_libyaml),
        cmocka_unit_test(test_duplicate_keys_are_libyamls_when_they_matter),
        cmocka_unit_test(test_depth_has_a_limit),
        cmocka_unit_test(test_members_nobody_wants_are_checked_but_cost_no_memory),
        cmocka_unit_test(test_borrowed_strings_stand_in_the_text),
    };

    return RUN_TESTS(tests);
}
