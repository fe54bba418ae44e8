/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "apiserver/schema.h"
#include "apiserver/validate.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

/* tests/data/apiserver/custom.jsonl: custom objects and definitions, and what a real kube-apiserver said to them;
 * tools/kinds/custom_cases.py asked it. */

static void drop_assigned(struct value v)
{
    static const char *const meta[] = { "uid", "resourceVersion", "creationTimestamp", "namespace",
                                        "generation" };

    for (size_t i = 0; i < ARRAY_SIZE(meta); i++)
        value_unset(value_getz(v, "metadata"), str_from(meta[i]));
}

static void check_object(struct arena *a, const struct api_schema *s, struct value line, size_t number)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB), want = BUF_INIT(MIB), name = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct api_causes causes = API_CAUSES_INIT(a);
    struct api_notes strict = API_NOTES_INIT(a);
    struct value v = VALUE_NONE, expected = value_copy_maps(a, value_getz(line, "want"));
    int r;

    buf_addf(&name, "line %zu", number);
    r = api_schema_decode_custom(a, s, value_getz(line, "sent"), &v, &strict, &err);
    if (r < 0 || strict.n > 0) {
        buf_adds(&got, "V in version \"v1\" cannot be handled as a V: ");
        if (r < 0)
            buf_adds(&got, err_message(err));
        else
            api_schema_strict_message(&strict, &got);
    } else {
        api_schema_validate(s, v, VALUE_NONE, &causes);
        if (causes.n > 0)
            api_causes_format(&causes, STR("V"), STR("cases.example.com"), STR("x"), &got);
    }
    if (value_has(line, STR("error"))) {
        buf_addstr(&want, value_str(value_getz(line, "error")));
    } else if (got.n == 0) {
        drop_assigned(v);
        drop_assigned(expected);
        IGNORE_ERROR(json_print(v, 0, &got, NULL));
        IGNORE_ERROR(json_print(expected, 0, &want, NULL));
    }
    assert_case_str(buf_z(&name), buf_str(&got), buf_z(&want));
}

static void check_definition(struct arena *a, struct value line, size_t number)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB), want = BUF_INIT(MIB), name = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct api_causes causes = API_CAUSES_INIT(a);
    struct value crd = VALUE_NONE;

    buf_addf(&name, "line %zu", number);
    assert_ok(api_schema_decode(
                  a, api_kind_find(STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition")),
                  value_getz(line, "crd"), &crd, NULL, &err),
              err);
    api_schema_default_crd(a, crd);
    api_schema_check_crd(crd, VALUE_NONE, &causes);
    if (causes.n > 0)
        api_causes_format(&causes, STR("CustomResourceDefinition"), STR("apiextensions.k8s.io"),
                          value_str(value_path(crd, "metadata.name")), &got);
    buf_addstr(&want, value_str(value_getz(line, "error")));
    assert_case_str(buf_z(&name), buf_str(&got), buf_z(&want));
}

static void test_answers_are_those_of_kube_apiserver(void **state)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(16 * MIB);
    CLEANUP(api_schema_unref) struct api_schema *schema = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    struct str rest, text;
    size_t n = 0;

    UNUSED(state);
    check_read_data("apiserver/custom.jsonl", &all);
    rest = buf_str(&all);
    while (str_split(&rest, '\n', &text)) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        struct value line = VALUE_NONE;

        if (text.n == 0)
            continue;
        assert_int_equal(json_parse(a, text, NULL, &line, NULL), 0);
        n++;
        if (value_has(line, STR("schema")))
            assert_ok(api_schema_new(value_getz(line, "schema"), &schema, &err), err);
        else if (value_has(line, STR("crd")))
            check_definition(a, line, n);
        else
            check_object(a, schema, line, n);
    }
    assert_true(n > 100);
}

static struct value parse(struct arena *a, const char *text)
{
    struct value v = VALUE_NONE;

    assert_int_equal(json_parse(a, str_from(text), NULL, &v, NULL), 0);
    return v;
}

static void test_faults_that_an_update_did_not_make_are_ignored(void **state)
{
    static const char schema_text[] =
        "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"
        "\"a\":{\"type\":\"integer\",\"maximum\":5},\"b\":{\"type\":\"string\"}}}}}";
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIB);
    CLEANUP(api_schema_unref) struct api_schema *s = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    struct api_causes causes = API_CAUSES_INIT(a);

    UNUSED(state);
    assert_ok(api_schema_new(parse(a, schema_text), &s, &err), err);
    api_schema_validate(s, parse(a, "{\"spec\":{\"a\":9,\"b\":\"x\"}}"), parse(a, "{\"spec\":{\"a\":9}}"),
                        &causes);
    assert_num(causes.n, 0);
    api_schema_validate(s, parse(a, "{\"spec\":{\"a\":8}}"), parse(a, "{\"spec\":{\"a\":9}}"), &causes);
    assert_num(causes.n, 1);
}

static struct value nest(struct arena *a, int depth)
{
    struct value v = parse(a, "{\"type\":\"string\"}");

    for (int i = 1; i < depth; i++) {
        struct value outer = parse(a, "{\"type\":\"object\"}"), properties = value_new_map(a);

        value_setz(properties, "p", v);
        value_setz(outer, "properties", properties);
        v = outer;
    }
    return v;
}

static void test_schemas_have_a_depth_limit(void **state)
{
    UNUSED(state);
    for (int d = API_SCHEMA_DEPTH_MAX - 1; d <= API_SCHEMA_DEPTH_MAX + 1; d++) {
        CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
        CLEANUP(api_schema_unref) struct api_schema *s = NULL;

        assert_num(api_schema_new(nest(a, d), &s, NULL), d > API_SCHEMA_DEPTH_MAX ? -ERRC_LIMIT : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_those_of_kube_apiserver),
        cmocka_unit_test(test_faults_that_an_update_did_not_make_are_ignored),
        cmocka_unit_test(test_schemas_have_a_depth_limit),
    };

    return RUN_TESTS(tests);
}
