/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/schema.h"

#include "base/limits.h"
#include "lib/check.h"
#include "lib/gocases.h"
#include "json/json.h"

/* ["schema as text", instance] */
static int answer(char op, struct str text, struct buf *out, struct err **err)
{
    static const struct json_options floats = { .floats = true };
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    CLEANUP(schema_free) struct schema *s = NULL;
    struct value pair;
    bool sure = false;
    int r;

    UNUSED(op);
    r = json_parse(a, text, &floats, &pair, err);
    if (r == 0) {
        sure = schema_is_surely_valid(value_str(value_at(pair, 0)), value_at(pair, 1));
        r = schema_compile(value_str(value_at(pair, 0)), &s, err);
    }
    if (r == 0)
        r = schema_validate(s, value_at(pair, 1), out, err);
    assert_true(r == 0 || !sure);
    return r;
}

/* tests/data/schema/cases.txt: what santhosh-tekuri/jsonschema answered (tests/conformance/yamloracle). */
static void test_every_recorded_answer_of_go_is_ours(void **state)
{
    UNUSED(state);
    assert_go_cases("schema/cases.txt", 200, answer);
}

static void assert_answer(const char *schema, const char *instance, const char *want)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(schema_free) struct schema *s = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v = VALUE_NONE;
    int r;

    assert_ok(json_parse(a, str_from(instance), NULL, &v, &err), err);
    r = schema_compile(str_from(schema), &s, &err);
    if (r == 0)
        r = schema_validate(s, v, &out, &err);
    if (r < 0)
        buf_addf(&out, "error: %s", err_message(err));
    assert_case_str(schema, buf_str(&out), want);
}

static void test_reports_read_as_in_helm(void **state)
{
    UNUSED(state);
    assert_answer("{\"properties\":{\"age\":{\"minimum\":0}},\"required\":[\"employmentInfo\"]}",
                  "{\"age\":-5}",
                  "- at '': missing property 'employmentInfo'\n- at '/age': minimum: got -5, want 0\n");
    assert_answer(
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"strong\"}", "1",
        "error: \"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation "
        "failed "
        "with 'http://json-schema.org/draft-07/schema#'\n- at '/type': 'anyOf' failed\n  - at '/type': value "
        "must "
        "be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n  - at '/type': got "
        "string, want array");
}

static void test_nothing_is_loaded(void **state)
{
    UNUSED(state);
    assert_answer("{\"$ref\":\"other.json\"}", "1",
                  "error: failing loading \"file:///other.json\": other documents are not loaded");
    assert_answer("{\"$ref\":\"https://example.com/a.json#/b\"}", "1",
                  "error: failing loading \"https://example.com/a.json\": other documents are not loaded");
    assert_answer("{\"$ref\":\"ftp://example.com/a\"}", "1",
                  "error: failing loading \"ftp://example.com/a\": no URLLoader registered for "
                  "\"ftp://example.com/a\"");
    assert_answer("{\"$ref\":\"urn:example:unknown\"}", "1", "");
}

static void test_unreadable_texts(void **state)
{
    UNUSED(state);
    assert_answer("", "1", "error: EOF");
    assert_answer("{", "1", "error: unexpected EOF");
    assert_answer("{} x", "1", "error: invalid character after top-level value");
    assert_answer("[1,]", "1", "error: invalid character ']' looking for beginning of value");
}

static void test_a_cycle_of_references_ends(void **state)
{
    UNUSED(state);
    assert_answer(
        "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
        "1",
        "- at '': both /$ref/$ref/$ref and /$ref resolve to \"file:///values.schema.json#/$defs/a\" causing "
        "reference cycle\n");
}

/* A chain of n references that ends at `true`. */
static int validate_chain(size_t n)
{
    CLEANUP(schema_free) struct schema *s = NULL;
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    int r;

    buf_adds(&text, "{\"$ref\":\"#/$defs/1\",\"$defs\":{");
    for (size_t i = 1; i < n; i++)
        buf_addf(&text, "\"%zu\":{\"$ref\":\"#/$defs/%zu\"},", i, i + 1);
    buf_addf(&text, "\"%zu\":true}}", n);
    r = schema_compile(buf_str(&text), &s, NULL);
    return r < 0 ? r : schema_validate(s, VALUE_NONE, NULL, NULL);
}

static void test_references_in_a_row_end_at_the_limit(void **state)
{
    UNUSED(state);
    assert_num(validate_chain(SCHEMA_REF_DEPTH_MAX - 1), 0);
    assert_num(validate_chain(SCHEMA_REF_DEPTH_MAX), 0);
    assert_num(validate_chain(SCHEMA_REF_DEPTH_MAX + 1), -ERRC_LIMIT);
    assert_num(validate_chain(10000), -ERRC_LIMIT);
}

/* n levels of lists under a schema that follows itself down. */
static int validate_levels(size_t n)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(schema_free) struct schema *s = NULL;
    struct value v = VALUE_NONE;

    for (size_t i = 1; i < n; i++) {
        struct value_list l = VALUE_LIST_INIT(a);

        value_list_add(&l, v);
        v = value_list_done(&l);
    }
    if (schema_compile(
            STR("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":{\"$ref\":\"#\"}}"), &s,
            NULL) < 0)
        return -ERRC_INTERNAL;
    return schema_validate(s, v, NULL, NULL);
}

static void test_levels_end_at_the_limit(void **state)
{
    size_t most = SCHEMA_DEPTH_MAX / 2; /* a reference and an item for each list */

    UNUSED(state);
    assert_num(validate_levels(most), 0);
    assert_num(validate_levels(most + 1), -ERRC_LIMIT);
}

static void test_steps_are_bounded(void **state)
{
    CLEANUP(schema_free) struct schema *s = NULL;
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    /* every level asks the next one ten times */
    buf_adds(&text, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
    for (int i = 0; i < 20; i++) {
        buf_addf(&text, "\"%d\":{\"allOf\":[", i);
        for (int k = 0; k < 10; k++)
            buf_addf(&text, "%s{\"$ref\":\"#/$defs/%d\"}", k ? "," : "", i + 1);
        buf_adds(&text, "]},");
    }
    buf_adds(&text, "\"20\":{\"type\":\"null\"}}}");
    assert_ok(schema_compile(buf_str(&text), &s, &err), err);
    assert_fails(schema_validate(s, VALUE_NONE, NULL, &err), ERRC_LIMIT, err, NULL);
}

/* A schema that takes exactly n steps: itself, `rest` of its own, and for each of 1000 items one and those below it. */
static int validate_steps(struct arena *a, size_t n)
{
    enum { ITEMS = 1000 };
    CLEANUP(schema_free) struct schema *s = NULL;
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    struct value_list l = VALUE_LIST_INIT(a);
    size_t below = (n - 1) / ITEMS - 1, rest = n - 1 - ITEMS * (below + 1);
    int r;

    for (size_t i = 0; i < ITEMS; i++)
        value_list_add(&l, VALUE_NONE);
    buf_adds(&text, "{\"allOf\":[{}");
    buf_add_repeat(&text, ' ', 1);
    for (size_t i = 1; i < rest; i++)
        buf_adds(&text, ",{}");
    buf_adds(&text, "],\"items\":{\"allOf\":[{}");
    for (size_t i = 1; i < below; i++)
        buf_adds(&text, ",{}");
    buf_adds(&text, "]}}");
    r = schema_compile(buf_str(&text), &s, NULL);
    return r < 0 ? r : schema_validate(s, value_list_done(&l), NULL, NULL);
}

static void test_steps_end_at_the_limit(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);

    UNUSED(state);
    assert_num(validate_steps(a, SCHEMA_STEPS_MAX - 1), 0);
    assert_num(validate_steps(a, SCHEMA_STEPS_MAX), 0);
    assert_num(validate_steps(a, SCHEMA_STEPS_MAX + 1), -ERRC_LIMIT);
}

/* A violation for each of n items, and `rest` bytes in the name of one. */
static int report_of(size_t n, size_t rest, struct buf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(schema_free) struct schema *s = NULL;
    struct value_list l = VALUE_LIST_INIT(a);
    char *name = arena_alloc_bytes(a, 1000 + rest);
    struct err *err = NULL;

    memset(name, 'x', 1000 + rest);
    for (size_t i = 0; i < n; i++) {
        struct value v = value_new_map(a);

        value_set(v, (struct str){ name, i ? 1000 : 1000 + rest }, VALUE_NONE);
        value_list_add(&l, v);
    }
    assert_ok(schema_compile(STR("{\"items\":{\"additionalProperties\":false}}"), &s, &err), err);
    return schema_validate(s, value_list_done(&l), out, NULL);
}

static void test_a_report_has_a_size(void **state)
{
    enum { ITEMS = 15000 };
    size_t n;

    UNUSED(state);
    {
        CLEANUP(buf_done) struct buf report = BUF_INIT(SCHEMA_REPORT_MAX);

        assert_num(report_of(ITEMS, 0, &report), 1);
        n = report.n;
    }
    for (int d = -1; d <= 1; d++) {
        CLEANUP(buf_done) struct buf report = BUF_INIT(SCHEMA_REPORT_MAX);

        assert_num(report_of(ITEMS, SCHEMA_REPORT_MAX - n + (size_t)d, &report), d <= 0 ? 1 : -ERRC_LIMIT);
        assert_true(d > 0 || report.n == SCHEMA_REPORT_MAX + (size_t)d);
    }
}

static void test_numbers_are_exact_decimals(void **state)
{
    UNUSED(state);
    assert_answer("{\"multipleOf\":0.01}", "0.29", "");
    assert_answer("{\"multipleOf\":0.01}", "0.295", "- at '': multipleOf: got 0.295, want 0.01\n");
    assert_answer("{\"multipleOf\":1e-300}", "1e300", "");
    assert_answer("{\"maximum\":18446744073709551614}", "18446744073709551615",
                  "- at '': maximum: got 1.8446744073709552\u00d710\u00b9\u2079, want "
                  "1.8446744073709552\u00d710\u00b9\u2079\n");
    assert_answer("{\"const\":1.0}", "1", "");
    assert_answer("{\"maxLength\":1}", "\"abc\"", "- at '': maxLength: got 3, want 1\n");
    assert_answer("{\"minimum\":12345}", "1234.5", "- at '': minimum: got 1,234.5, want 12,345\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_recorded_answer_of_go_is_ours),
        cmocka_unit_test(test_reports_read_as_in_helm),
        cmocka_unit_test(test_nothing_is_loaded),
        cmocka_unit_test(test_unreadable_texts),
        cmocka_unit_test(test_a_cycle_of_references_ends),
        cmocka_unit_test(test_references_in_a_row_end_at_the_limit),
        cmocka_unit_test(test_levels_end_at_the_limit),
        cmocka_unit_test(test_steps_end_at_the_limit),
        cmocka_unit_test(test_a_report_has_a_size),
        cmocka_unit_test(test_steps_are_bounded),
        cmocka_unit_test(test_numbers_are_exact_decimals),
    };

    return RUN_TESTS(tests);
}
