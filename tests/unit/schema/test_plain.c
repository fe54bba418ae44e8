/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas that are taken by their looks are valid against the metaschema of their draft; all others are left to it. */
#include "base/limits.h"
#include "lib/check.h"
#include "schema/schema_int.h"
#include "json/json.h"

static const int drafts[] = { 4, 6, 7, 2019, 2020 };

static struct value parse(struct arena *a, const char *text)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct value v = VALUE_NONE;

    assert_ok(json_parse(a, str_from(text), NULL, &v, &err), err);
    return v;
}

/* What the metaschema says: 0 is valid. */
static int ask_metaschema(struct value v, int draft)
{
    CLEANUP(buf_done) struct buf report = BUF_INIT(MIB);
    struct resource resource = { .pointer = STR(""), .id = STR(SCHEMA_ROOT_URL), .draft = draft };
    struct resource *resources[] = { &resource };
    struct document doc = {
        .url = STR(SCHEMA_ROOT_URL), .root = v, .resources = resources, .n_resources = 1
    };
    const struct schema *meta = NULL;

    assert_num(schema_metaschema_get(draft, &meta, NULL), 0);
    return schema_validate_node(meta, meta->root, v, &doc, STR(""), true, &report, NULL);
}

static void test_what_looks_plain_is_valid_in_every_draft(void **state)
{
    static const char *const cases[] = {
        "{}",
        "{\"type\":\"object\",\"title\":\"t\",\"properties\":{\"a\":{\"type\":[\"string\",\"null\"],\"form\":"
        "true}}}",
        "{\"items\":{\"$ref\":\"#/definitions/"
        "a.b-c\"},\"definitions\":{\"a.b-c\":{\"enum\":[\"x\",1,null]}}}",
        "{\"allOf\":[{\"required\":[\"a\",\"b\"]}],\"anyOf\":[{}],\"oneOf\":[{\"not\":{\"minLength\":1}}]}",
        "{\"if\":{},\"then\":{\"maximum\":2.5},\"else\":{\"minimum\":-1},\"additionalProperties\":false}",
        "{\"pattern\":\"^a+$\",\"format\":\"uri\",\"default\":{\"type\":1},\"uniqueItems\":true,\"maxItems\":"
        "0}",
        "{\"x-kubernetes\":[1],\"render\":{\"type\":7},\"readOnly\":true,\"additionalItems\":{\"type\":"
        "\"integer\"}}",
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (size_t d = 0; d < ARRAY_SIZE(drafts); d++) {
            CLEANUP(arena_free) struct arena *a = arena_new(MIB);
            struct value v = parse(a, cases[i]);

            assert_case_str(cases[i], schema_is_plain(v, drafts[d], 0) ? STR("plain") : STR("not"), "plain");
            assert_num(ask_metaschema(v, drafts[d]), 0);
        }
    }
}

static void test_what_is_rare_or_wrong_is_left_to_the_metaschema(void **state)
{
    static const char *const cases[] = {
        "true",
        "{\"type\":\"text\"}",
        "{\"type\":[]}",
        "{\"type\":[\"string\",\"string\"]}",
        "{\"title\":1}",
        "{\"required\":true}",
        "{\"required\":[]}",
        "{\"required\":[\"a\",\"a\"]}",
        "{\"enum\":[]}",
        "{\"enum\":[1,1.0]}",
        "{\"properties\":[]}",
        "{\"properties\":{\"a\":{\"b\":0,\"type\":1}}}",
        "{\"definitions\":{\"a\":{\"$id\":\"b\"}}}",
        "{\"id\":\"a\"}",
        "{\"$anchor\":\"a\"}",
        "{\"$ref\":\"a b\"}",
        "{\"$ref\":\"%zz\"}",
        "{\"pattern\":\"(\"}",
        "{\"minLength\":-1}",
        "{\"minLength\":1.5}",
        "{\"maximum\":\"1\"}",
        "{\"multipleOf\":0}",
        "{\"allOf\":[]}",
        "{\"items\":[{}]}",
        "{\"patternProperties\":{\"(\":{}}}",
        "{\"uniqueItems\":\"yes\"}",
        "{\"properties\":{\"a\":{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}}}",
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);

        for (size_t d = 0; d < ARRAY_SIZE(drafts); d++)
            assert_case_str(cases[i],
                            schema_is_plain(parse(a, cases[i]), drafts[d], 0) ? STR("plain") : STR("left"),
                            "left");
    }
}

static void test_drafts_differ_where_their_metaschemas_do(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct value bounds = parse(a, "{\"exclusiveMinimum\":1}"), examples = parse(a, "{\"examples\":[1]}");
    struct value draft7 = parse(a, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}");

    UNUSED(state);
    assert_false(schema_is_plain(bounds, 4, 0));
    assert_true(schema_is_plain(bounds, 6, 0));
    assert_false(schema_is_plain(examples, 4, 0));
    assert_true(schema_is_plain(examples, 2020, 0));
    assert_true(schema_is_plain(draft7, 7, 0));
    assert_false(schema_is_plain(draft7, 6, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_looks_plain_is_valid_in_every_draft),
        cmocka_unit_test(test_what_is_rare_or_wrong_is_left_to_the_metaschema),
        cmocka_unit_test(test_drafts_differ_where_their_metaschemas_do),
    };

    return RUN_TESTS(tests);
}
