/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/printer.h"

#include <stdlib.h>

#include "apiserver/jsonpath.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

/* tests/data/apiserver/tables.jsonl: objects and their rows in a real kube-apiserver's Tables; tools/kinds/table_cases.py
 * asked it. */

static struct value parse(struct arena *a, struct str text)
{
    struct value v = VALUE_NONE;

    assert_int_equal(json_parse(a, text, NULL, &v, NULL), 0);
    return v;
}

static const struct api_kind *kind_of(struct value v)
{
    struct str group = value_str(value_getz(v, "apiVersion")), version = group;
    const size_t slash = str_find_char(group, '/');

    version = slash == STR_NPOS ? group : str_sub(group, slash + 1, group.n);
    group = slash == STR_NPOS ? STR("") : str_sub(group, 0, slash);
    return api_kind_find(group, version, value_str(value_getz(v, "kind")));
}

static void check_row(struct arena *a, struct value line, size_t number)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB), want = BUF_INIT(MIB), name = BUF_INIT(KIB);
    const struct value object = value_getz(line, "object");
    const struct api_kind *k = kind_of(object);
    const struct wall_time now = { value_int(value_getz(line, "time"), 0), 0 };
    struct value cells, conditions;

    assert_non_null(k);
    buf_addf(&name, "%s, line %zu", k->kind, number);
    api_printer_row(api_printer_of_kind(k), a, object, now, &cells, &conditions);
    IGNORE_ERROR(json_print(cells, 0, &got, NULL));
    IGNORE_ERROR(json_print(conditions, 0, &got, NULL));
    IGNORE_ERROR(json_print(value_getz(line, "cells"), 0, &want, NULL));
    IGNORE_ERROR(json_print(value_getz(line, "conditions"), 0, &want, NULL));
    assert_case_str(buf_z(&name), buf_str(&got), buf_z(&want));
    assert_case_num(buf_z(&name), value_len(api_printer_columns(api_printer_of_kind(k), a)),
                    value_len(cells));
}

static void test_rows_are_those_of_kube_apiserver(void **state)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(16 * MIB);
    struct str rest, text;
    size_t n = 0;

    UNUSED(state);
    check_read_data("apiserver/tables.jsonl", &all);
    rest = buf_str(&all);
    while (str_split(&rest, '\n', &text)) {
        CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);

        if (text.n > 0)
            check_row(a, parse(a, text), ++n);
    }
    assert_true(n > 80);
}

static void test_durations(void **state)
{
    static const struct {
        int64_t s;
        const char *want;
    } cases[] = {
        { -2, "<invalid>" },  { -1, "0s" },       { 0, "0s" },           { 119, "119s" },
        { 120, "2m" },        { 121, "2m1s" },    { 599, "9m59s" },      { 600, "10m" },
        { 10799, "179m" },    { 10800, "3h" },    { 10860, "3h1m" },     { 28800, "8h" },
        { 172799, "47h" },    { 172800, "2d" },   { 180000, "2d2h" },    { 691200, "8d" },
        { 63071999, "729d" }, { 63072000, "2y" }, { 64000000, "2y10d" }, { 252288000, "8y" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

        api_printer_duration(cases[i].s, &b);
        assert_case_str(cases[i].want, buf_str(&b), cases[i].want);
    }
}

static void test_paths(void **state)
{
    static const char doc[] =
        "{\"s\":{\"l\":[{\"n\":\"a\",\"v\":1},{\"n\":\"b\",\"v\":2}],\"a.b\":\"dot\",\"x\":null},\"n\":5}";
    static const struct {
        const char *path, *want; /* NULL: refused */
    } cases[] = {
        { ".n", "[5]" },
        { ".s.l[*].n", "[\"a\",\"b\"]" },
        { ".s.l[0].n", "[\"a\"]" },
        { ".s.l[-1].n", "[\"b\"]" },
        { ".s.l[7].n", "[]" },
        { ".s.l[?(@.n==\"b\")].v", "[2]" },
        { ".s.l[?(@.n=='b')].v", "[2]" },
        { ".s.l[?(@.v>1)].n", "[\"b\"]" },
        { ".s.l[?(@.q)].n", "[]" },
        { ".s['a.b']", "[\"dot\"]" },
        { ".s.a\\.b", "[\"dot\"]" },
        { ".missing.x", "[]" },
        { "{.n}", "[5]" },
        { "n", NULL },
        { "..n", NULL },
        { ".s[", NULL },
        { ".s.l[1:2]", NULL },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
        CLEANUP(api_jsonpath_free) struct api_jsonpath *p = NULL;
        const int r = api_jsonpath_parse(str_from(cases[i].path), &p, NULL);

        assert_case_num(cases[i].path, r >= 0, cases[i].want != NULL);
        if (r < 0)
            continue;
        IGNORE_ERROR(json_print(api_jsonpath_find(p, a, parse(a, str_from(doc))), 0, &b, NULL));
        assert_case_str(cases[i].path, buf_str(&b), cases[i].want);
    }
}

static void test_custom_columns(void **state)
{
    static const char columns[] = "[{\"name\":\"I\",\"type\":\"integer\",\"jsonPath\":\".spec.i\"},{\"name\":"
                                  "\"S\",\"type\":\"string\",\"jsonPath\":\".spec.l[*]\"},"
                                  "{\"name\":\"D\",\"type\":\"date\",\"jsonPath\":\".spec.d\",\"priority\":1}"
                                  ",{\"name\":\"B\",\"type\":\"boolean\",\"jsonPath\":\".spec.b\"},"
                                  "{\"name\":\"O\",\"type\":\"string\",\"jsonPath\":\".spec.o\"},{\"name\":"
                                  "\"M\",\"type\":\"string\",\"jsonPath\":\".spec.missing\"},"
                                  "{\"name\":\"W\",\"type\":\"integer\",\"jsonPath\":\".spec.b\"}]";
    static const char object[] =
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"i\":5,\"l\":[\"a\",\"b\"],\"d\":\"1970-01-01T00:00:10Z\","
        "\"b\":true,\"o\":{\"k\":1}}}";
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(api_printer_free) struct api_printer *p = NULL, *plain = NULL;
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value cells, conditions;

    UNUSED(state);
    assert_ok(api_printer_new(parse(a, str_from(columns)), &p, &err), err);
    api_printer_row(p, a, parse(a, str_from(object)), (struct wall_time){ 100, 0 }, &cells, &conditions);
    IGNORE_ERROR(json_print(cells, 0, &b, NULL));
    assert_str(buf_str(&b), "[\"x\",5,\"a b\",\"90s\",true,\"{\\\"k\\\":1}\",null,null]");
    assert_true(value_is_null(conditions));
    assert_ok(api_printer_new(VALUE_NONE, &plain, &err), err);
    assert_num(value_len(api_printer_columns(plain, a)), 2);
    assert_str(value_str(value_getz(value_at(api_printer_columns(plain, a), 1), "name")), "Age");
    assert_fails(
        api_printer_new(parse(a, STR("[{\"name\":\"q\",\"type\":\"string\",\"jsonPath\":\"x\"}]")), &p, &err),
        ERRC_INVALID, err, "jsonPath: unsupported path: x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_those_of_kube_apiserver),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_custom_columns),
    };

    return RUN_TESTS(tests);
}
