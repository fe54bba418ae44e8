/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "lib/check.h"
#include "value/value.h"

static int set_up(void **state)
{
    *state = arena_new(SIZE_MAX);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

/* A short text of a value: {a:1,b:[x,null]}. */
static void show(struct value v, struct buf *out)
{
    struct value_iter it = value_iter(v);

    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        buf_adds(out, "null");
        break;
    case VALUE_BOOL:
        buf_adds(out, v.b ? "true" : "false");
        break;
    case VALUE_INT:
        buf_addf(out, "%lld", (long long)v.i);
        break;
    case VALUE_STRING:
        buf_addstr(out, value_str(v));
        break;
    case VALUE_LIST:
    case VALUE_MAP:
        buf_addc(out, v.kind == VALUE_MAP ? '{' : '[');
        while (value_next(&it)) {
            if (it.i > 0)
                buf_addc(out, ',');
            if (v.kind == VALUE_MAP)
                buf_addf(out, STR_FMT ":", STR_ARG(it.key));
            show(it.v, out);
        }
        buf_addc(out, v.kind == VALUE_MAP ? '}' : ']');
        break;
    default:
        buf_adds(out, "?");
    }
}

static void check_value(struct value v, const char *want)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(100000);

    show(v, &text);
    assert_str(buf_str(&text), want);
}

static struct value list_of(struct arena *a, const struct value *items, size_t n)
{
    struct value_list l = VALUE_LIST_INIT(a);

    for (size_t i = 0; i < n; i++)
        value_list_add(&l, items[i]);
    return value_list_done(&l);
}
#define LIST(a, ...)                            \
    list_of(a, (struct value[]){ __VA_ARGS__ }, \
            sizeof((struct value[]){ __VA_ARGS__ }) / sizeof(struct value))

static void test_a_map_is_sorted_by_bytes_whatever_the_order_of_its_making(void **state)
{
    struct value m = value_new_map(*state);

    value_setz(m, "b", value_from_int(2));
    value_setz(m, "B", value_from_int(1));
    value_setz(m, "a", VALUE_STR("x"));
    value_setz(m, "", VALUE_NONE);
    value_setz(m, "\xc3\xa4", value_from_bool(true));
    value_setz(m, "b", value_from_int(3));
    check_value(m, "{:null,B:1,a:x,b:3,\xc3\xa4:true}");
    assert_num(value_len(m), 5);
    assert_true(value_unset(m, STR("B")));
    assert_false(value_unset(m, STR("B")));
    check_value(m, "{:null,a:x,b:3,\xc3\xa4:true}");
}

static void test_many_keys_are_found_again(void **state)
{
    struct value m = value_new_map_sized(*state, 10);

    for (int i = 0; i < 3000; i++)
        value_set(m, arena_printf(*state, "%d", i * 7919 % 3000), value_from_int(i));
    for (int i = 0; i < 3000; i++)
        assert_num(value_int(value_get(m, arena_printf(*state, "%d", i * 7919 % 3000)), -1), i);
    assert_num(value_len(m), 3000);
}

static void test_appended_keys_are_sorted_and_the_last_of_equal_ones_wins(void **state)
{
    struct value m = value_new_map(*state);

    value_append(m, STR("b"), value_from_int(1));
    value_append(m, STR("a"), value_from_int(2));
    value_append(m, STR("b"), value_from_int(3));
    value_append(m, STR("c"), value_from_int(4));
    value_append(m, STR("a"), value_from_int(5));
    value_sort(m);
    check_value(m, "{a:5,b:3,c:4}");
}

static void test_reading_what_is_not_there_is_null(void **state)
{
    struct value m = value_new_map(*state);

    value_setz(m, "null", VALUE_NONE);
    value_setz(m, "n", value_from_int(1));
    assert_true(value_is_null(value_getz(m, "absent")));
    assert_true(value_has(m, STR("null")));
    assert_false(value_has(m, STR("absent")));
    assert_true(value_is_null(value_getz(value_from_int(1), "n")));
    assert_null(value_find(VALUE_NONE, STR("n")));
    assert_num(value_find(m, STR("n"))->v.i, 1);
    assert_num(value_len(value_from_int(5)), 0);
    assert_str(value_str(value_from_int(5)), "");
    assert_false(value_bool(VALUE_STR("true")));
}

static void test_integers_are_read_from_every_number_that_is_one(void **state)
{
    static const struct {
        double f;
        int64_t want;
    } cases[] = { { 3.0, 3 },  { -0.0, 0 },    { 3.5, -7 },           { 1e300, -7 },
                  { NAN, -7 }, { 0x1p63, -7 }, { -0x1p63, INT64_MIN } };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_num(value_int(value_from_float(cases[i].f), -7), cases[i].want);
    assert_num(value_int(value_from_uint(7), -7), 7);
    assert_num(value_int(value_from_uint(UINT64_MAX), -7), -7);
    assert_num(value_int(VALUE_STR("7"), -7), -7);
}

static void test_paths(void **state)
{
    struct value m = value_new_map(*state);

    value_set_path(m, "a.b.c", value_from_int(1));
    value_set_path(m, "a.b.d", value_from_int(2));
    value_set_path(m, "x", value_from_int(3));
    value_set_path(m, "x.y", value_from_int(4)); /* what is no map becomes one */
    check_value(m, "{a:{b:{c:1,d:2}},x:{y:4}}");
    assert_num(value_int(value_path(m, "a.b.d"), 0), 2);
    assert_true(value_is_null(value_path(m, "a.b.d.e")));
    assert_true(value_is_null(value_path(m, "a.z.d")));
}

static void test_equality_is_of_kind_and_content(void **state)
{
    struct value m = value_new_map(*state), n = value_new_map(*state);

    value_set_path(m, "a.b", LIST(*state, value_from_int(1), VALUE_NONE));
    value_set_path(n, "a.b", LIST(*state, value_from_int(1), VALUE_NONE));
    assert_true(value_equal(m, n));
    value_set_path(n, "a.c", VALUE_NONE); /* absent and null are two things */
    assert_false(value_equal(m, n));
    assert_false(value_equal(value_from_int(1), value_from_float(1)));
    assert_true(value_equal(value_from_float(0.0), value_from_float(-0.0)));
    assert_false(value_equal(VALUE_STR("1"), value_from_int(1)));
    assert_false(value_equal(LIST(*state, VALUE_NONE), LIST(*state, VALUE_NONE, VALUE_NONE)));
    assert_true(value_equal(VALUE_NONE, VALUE_NONE));
    assert_false(value_equal(VALUE_NONE, value_from_bool(false)));
}

static void test_a_copy_shares_nothing(void **state)
{
    char text[] = "text";
    struct value m = value_new_map(*state), copy;
    bool cut = false;

    value_set_path(m, "a.s", value_from_str(str_from(text)));
    value_set_path(m, "l", LIST(*state, value_getz(m, "a")));
    copy = value_copy(*state, m, &cut);
    assert_false(cut);
    text[0] = 'X';
    value_set_path(m, "a.new", value_from_int(1));
    check_value(copy, "{a:{s:text},l:[{s:text}]}");
}

static void test_a_copy_of_maps_can_be_changed_without_touching_the_source(void **state)
{
    struct value m = value_new_map(*state), copy;

    value_set_path(m, "a.b", value_from_int(1));
    copy = value_copy_maps(*state, m);
    value_set_path(copy, "a.b", value_from_int(2));
    value_set_path(copy, "c", value_from_int(3));
    check_value(m, "{a:{b:1}}");
    check_value(copy, "{a:{b:2},c:3}");
    assert_true(value_is_null(value_copy_maps(*state, VALUE_NONE)));
}

static void test_a_copy_is_cut_at_the_depth_limit(void **state)
{
    static const struct {
        int depth;
        bool cut;
    } cases[] = { { VALUE_DEPTH_MAX - 1, false }, { VALUE_DEPTH_MAX, false }, { VALUE_DEPTH_MAX + 1, true } };
    struct value loop = value_new_map(*state);
    bool cut = false;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct value v = value_from_int(1);

        for (int k = 0; k < cases[i].depth; k++)
            v = LIST(*state, v);
        value_copy(*state, v, &cut);
        assert_num(cut, cases[i].cut);
    }
    value_setz(loop, "self", loop);
    value_copy(*state, loop, &cut);
    assert_true(cut);
}

/* The examples of RFC 7386, appendix A. */
static void test_merge_patches_follow_the_rfc(void **state)
{
    struct arena *a = *state;
    struct value target = value_new_map(a), patch = value_new_map(a), result;

    value_setz(target, "title", VALUE_STR("Goodbye!"));
    value_set_path(target, "author.givenName", VALUE_STR("John"));
    value_set_path(target, "author.familyName", VALUE_STR("Doe"));
    value_setz(target, "tags", LIST(a, VALUE_STR("example"), VALUE_STR("sample")));
    value_setz(patch, "title", VALUE_STR("Hello!"));
    value_set_path(patch, "author.familyName", VALUE_NONE);
    value_setz(patch, "tags", LIST(a, VALUE_STR("example")));
    value_set_path(patch, "new.inner.gone", VALUE_NONE);
    result = value_merge_patch(a, target, patch);
    check_value(result, "{author:{givenName:John},new:{inner:{}},tags:[example],title:Hello!}");
    check_value(target, "{author:{familyName:Doe,givenName:John},tags:[example,sample],title:Goodbye!}");
    check_value(value_merge_patch(a, VALUE_STR("x"), patch),
                "{author:{},new:{inner:{}},tags:[example],title:Hello!}");
    check_value(value_merge_patch(a, target, VALUE_STR("x")), "x");
    check_value(value_merge_patch(a, VALUE_NONE, value_new_map(a)), "{}");
}

static void check_changes(struct arena *a, struct value before, struct value after, size_t max,
                          const char *want)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(100000);
    size_t n;
    struct value_change *c = value_diff(a, before, after, max, &n);

    for (size_t i = 0; i < MIN(n, max); i++) {
        buf_addf(&text, STR_FMT "=", STR_ARG(c[i].path));
        if (c[i].has_before)
            show(c[i].before, &text);
        buf_adds(&text, ">");
        if (c[i].has_after)
            show(c[i].after, &text);
        buf_addc(&text, ' ');
    }
    buf_addf(&text, "%zu", n);
    assert_str(buf_str(&text), want);
}

static void test_differences_are_named_by_path(void **state)
{
    struct arena *a = *state;
    struct value x = value_new_map(a), y = value_new_map(a);

    value_set_path(x, "image.tag", VALUE_STR("1"));
    value_set_path(y, "image.tag", VALUE_STR("2"));
    value_setz(x, "gone", value_from_bool(true));
    value_setz(y, "new", VALUE_NONE);
    value_setz(x, "a.b", value_from_int(1));
    value_setz(y, "a.b", value_from_int(2));
    value_setz(x, "ports", LIST(a, value_from_int(80), value_from_int(81)));
    value_setz(y, "ports", LIST(a, value_from_int(80), value_from_int(82), value_from_int(83)));
    value_setz(x, "kind", value_new_map(a));
    value_setz(y, "kind", LIST(a, VALUE_NONE));
    check_changes(
        a, x, y, 20,
        "a\\.b=1>2 gone=true> image.tag=1>2 kind={}>[null] new=>null ports[1]=81>82 ports[2]=>83 7");
    check_changes(a, x, y, 2, "a\\.b=1>2 gone=true> 7");
    check_changes(a, x, x, 2, "0");
    check_changes(a, value_from_int(1), VALUE_NONE, 2, "=1>null 1");
}

static void test_a_frozen_document_outlives_its_source_and_is_shared(void **state)
{
    struct arena *a = arena_new(SIZE_MAX), *holder = arena_new(SIZE_MAX);
    struct value m = value_new_map(a);
    struct doc *d, *e;

    UNUSED(state);
    value_set_path(m, "a.b", value_from_str(arena_printf(a, "te%s", "xt")));
    d = doc_freeze(m);
    arena_free(a);
    e = doc_ref(d);
    assert_ptr_equal(e, d);
    doc_keep(holder, d);
    assert_null(doc_unref(d));
    assert_null(doc_unref(e));
    check_value(doc_root(d), "{a:{b:text}}"); /* the holder's reference */
    arena_free(holder);
    assert_null(doc_unref(NULL));
    assert_true(value_is_null(doc_root(NULL)));
}

static void test_a_document_takes_an_arena_over(void **state)
{
    struct arena *a = arena_new(SIZE_MAX);
    struct value m = value_new_map(a);
    CLEANUP(doc_unref) struct doc *d = NULL;

    UNUSED(state);
    value_set_path(m, "a.b", value_from_int(1));
    d = doc_take(a, m);
    check_value(doc_root(d), "{a:{b:1}}");
    assert_null(doc_root(d).map->arena); /* value_set() asserts on it */
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_a_map_is_sorted_by_bytes_whatever_the_order_of_its_making),
        TEST(test_many_keys_are_found_again),
        TEST(test_appended_keys_are_sorted_and_the_last_of_equal_ones_wins),
        TEST(test_reading_what_is_not_there_is_null),
        TEST(test_integers_are_read_from_every_number_that_is_one),
        TEST(test_paths),
        TEST(test_equality_is_of_kind_and_content),
        TEST(test_a_copy_shares_nothing),
        TEST(test_a_copy_of_maps_can_be_changed_without_touching_the_source),
        TEST(test_a_copy_is_cut_at_the_depth_limit),
        TEST(test_merge_patches_follow_the_rfc),
        TEST(test_differences_are_named_by_path),
        TEST(test_a_frozen_document_outlives_its_source_and_is_shared),
        TEST(test_a_document_takes_an_arena_over),
    };

    return RUN_TESTS(tests);
}
