/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken for valid without compiling the schema is valid for the compiled one, too; nothing rare is taken. */
#include "base/limits.h"
#include "lib/check.h"
#include "schema/schema.h"
#include "json/json.h"

static const char *const drafts[] = {
    "http://json-schema.org/draft-04/schema#",      "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",      "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
};

/* "sure", "valid" and "invalid" as the compiled schema says, or "wrong" where the two disagree. */
static const char *ask(struct str schema, const char *instance)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(schema_free) struct schema *s = NULL;
    struct value v = VALUE_NONE;
    bool sure;
    int r;

    assert_num(json_parse(a, str_from(instance), NULL, &v, NULL), 0);
    sure = schema_is_surely_valid(schema, v);
    r = schema_compile(schema, &s, NULL);
    if (r == 0)
        r = schema_validate(s, v, NULL, NULL);
    return sure ? (r == 0 ? "sure" : "wrong") : r == 0 ? "valid" : "invalid";
}

struct surely_case {
    const char *members, *instance;
    const char *want[ARRAY_SIZE(drafts)];
};

#define ALL(word)                    \
    {                                \
        word, word, word, word, word \
    }
#define FROM_6(old, word)           \
    {                               \
        old, word, word, word, word \
    }
#define UNTIL_7(word, then)          \
    {                                \
        word, word, word, then, then \
    }

static const struct surely_case cases[] = {
    { "\"type\":\"object\"", "{}", ALL("sure") },
    { "\"type\":\"object\"", "[]", ALL("invalid") },
    { "\"type\":\"integer\"", "1", ALL("sure") },
    { "\"type\":\"integer\"", "1.0", ALL("sure") },
    { "\"type\":\"integer\"", "1.5", ALL("invalid") },
    { "\"type\":\"number\"", "7", ALL("sure") },
    { "\"type\":[\"string\",\"null\"]", "null", ALL("sure") },
    { "\"type\":[\"string\",\"null\"]", "false", ALL("invalid") },
    { "\"enum\":[\"a\",1,null]", "1.0", ALL("sure") },
    { "\"enum\":[\"a\",1,null]", "\"1\"", ALL("invalid") },
    { "\"const\":{\"a\":[1]}", "{\"a\":[1.0]}", ALL("sure") },
    { "\"const\":1", "2", FROM_6("sure", "invalid") },
    { "\"const\":null", "null", ALL("sure") },
    { "\"minLength\":2,\"maxLength\":2", "\"\xc3\xa4\xc3\xb6\"", ALL("sure") },
    { "\"minLength\":3", "\"\xc3\xa4\xc3\xb6\"", ALL("invalid") },
    { "\"maxLength\":1", "\"ab\"", ALL("invalid") },
    { "\"maxLength\":1", "[1,2]", ALL("sure") },
    { "\"minItems\":1,\"maxItems\":1", "[0]", ALL("sure") },
    { "\"minItems\":1", "[]", ALL("invalid") },
    { "\"maxItems\":0", "[0]", ALL("invalid") },
    { "\"minProperties\":1,\"maxProperties\":1", "{\"a\":0}", ALL("sure") },
    { "\"minProperties\":2", "{\"a\":0}", ALL("invalid") },
    { "\"required\":[\"a\"]", "{\"a\":null}", ALL("sure") },
    { "\"required\":[\"a\"]", "{\"b\":1}", ALL("invalid") },
    { "\"required\":[\"a\"]", "\"text\"", ALL("sure") },
    { "\"properties\":{\"a\":{\"type\":\"string\"}}", "{\"a\":\"x\",\"b\":1}", ALL("sure") },
    { "\"properties\":{\"a\":{\"type\":\"string\"}}", "{\"a\":1}", ALL("invalid") },
    { "\"properties\":{\"a\":{}},\"additionalProperties\":false", "{\"a\":1}", ALL("sure") },
    { "\"properties\":{\"a\":{}},\"additionalProperties\":false", "{\"b\":1}", ALL("invalid") },
    { "\"additionalProperties\":{\"type\":\"string\"}", "{\"b\":\"1\"}", ALL("sure") },
    { "\"additionalProperties\":{\"type\":\"string\"}", "{\"b\":1}", ALL("invalid") },
    { "\"items\":{\"minimum\":3}", "[3,4]", ALL("sure") },
    { "\"items\":{\"minimum\":3}", "[3,2]", ALL("invalid") },
    { "\"items\":{},\"additionalItems\":false", "[3,2]", ALL("sure") },
    { "\"additionalItems\":false", "[3,2]", ALL("sure") },
    { "\"uniqueItems\":true", "[1,\"1\",[1]]", ALL("sure") },
    { "\"uniqueItems\":true", "[1,1.0]", ALL("invalid") },
    { "\"uniqueItems\":true", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", ALL("sure") },
    { "\"uniqueItems\":true", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]", ALL("valid") },
    { "\"minimum\":1,\"maximum\":2", "1.5", ALL("sure") },
    { "\"maximum\":2", "2.5", ALL("invalid") },
    { "\"minimum\":2", "-3", ALL("invalid") },
    { "\"exclusiveMinimum\":1", "1.5", FROM_6("invalid", "sure") },
    { "\"exclusiveMinimum\":1", "1", ALL("invalid") },
    { "\"exclusiveMaximum\":1", "1", ALL("invalid") },
    { "\"pattern\":\"^a+$\"", "\"aaa\"", ALL("sure") },
    { "\"pattern\":\"^a+$\"", "\"aab\"", ALL("invalid") },
    { "\"format\":\"ipv4\"", "\"10.0.0.1\"", ALL("sure") },
    { "\"format\":\"ipv4\"", "\"10.0.0\"", UNTIL_7("invalid", "sure") },
    { "\"format\":\"duration\"", "\"P1D\"", ALL("sure") },
    { "\"format\":\"duration\"", "\"P1\\u0000\"", UNTIL_7("invalid", "sure") },
    { "\"format\":\"of-mine\"", "\"10.0.0\"", ALL("sure") },
    { "\"allOf\":[{\"minimum\":1},{\"maximum\":3}]", "2", ALL("sure") },
    { "\"allOf\":[{\"minimum\":1},{\"maximum\":3}]", "4", ALL("invalid") },
    { "\"anyOf\":[{\"type\":\"string\"},{\"maximum\":3}]", "2", ALL("sure") },
    { "\"anyOf\":[{\"type\":\"string\"},{\"maximum\":3}]", "4", ALL("invalid") },
    { "\"oneOf\":[{\"minimum\":1},{\"maximum\":3}]", "4", ALL("sure") },
    { "\"oneOf\":[{\"minimum\":1},{\"maximum\":3}]", "2", ALL("invalid") },
    { "\"oneOf\":[{\"minimum\":9},{\"maximum\":3}]", "5", ALL("invalid") },
    { "\"not\":{\"type\":\"string\"}", "5", ALL("sure") },
    { "\"not\":{\"type\":\"string\"}", "\"5\"", ALL("invalid") },
    { "\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":2},\"else\":{\"minimum\":2}", "\"ab\"",
      ALL("sure") },
    { "\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":2},\"else\":{\"minimum\":2}",
      "\"a\"",
      { "sure", "sure", "invalid", "invalid", "invalid" } },
    { "\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":2},\"else\":{\"minimum\":2}",
      "1",
      { "sure", "sure", "invalid", "invalid", "invalid" } },
    { "\"definitions\":{\"x\":{\"type\":\"string\"}},\"items\":{\"$ref\":\"#/definitions/x\"}", "[\"a\"]",
      ALL("sure") },
    { "\"definitions\":{\"x\":{\"type\":\"string\"}},\"items\":{\"$ref\":\"#/definitions/x\"}", "[1]",
      ALL("invalid") },
    { "\"$defs\":{\"x\":{}},\"items\":{\"$ref\":\"#/$defs/x\",\"maximum\":1}", "[2]",
      UNTIL_7("sure", "invalid") },
    { "\"items\":{\"$ref\":\"#\"},\"type\":\"array\"", "[[],[[]]]", ALL("sure") },
    { "\"items\":{\"$ref\":\"#\"},\"type\":\"array\"", "[1]", ALL("invalid") },
    /* what is rare is left to the compiled schema */
    { "\"$ref\":\"#\"", "1", ALL("invalid") },
    { "\"properties\":{\"x\":{}},\"items\":{\"$ref\":\"#/properties/x\"}", "[1]", ALL("valid") },
    { "\"items\":{\"$ref\":\"#/definitions/x\"}", "[]", ALL("invalid") },
    { "\"definitions\":{\"x\":{\"properties\":{\"y\":{}}}},\"items\":{\"$ref\":\"#/definitions/x/properties/"
      "y\"}",
      "[1]", ALL("valid") },
    { "\"definitions\":{\"x/y\":{}},\"items\":{\"$ref\":\"#/definitions/x/y\"}", "[]", ALL("invalid") },
    { "\"patternProperties\":{\"^a\":{}}", "{}", ALL("valid") },
    { "\"contains\":{}", "[1]", ALL("valid") },
    { "\"propertyNames\":{}", "{\"a\":1}", ALL("valid") },
    { "\"multipleOf\":2", "4", ALL("valid") },
    { "\"type\":\"text\"", "1", ALL("invalid") },
    { "\"properties\":{\"a\":{\"pattern\":\"(\"}}", "{}", ALL("invalid") },
    { "\"properties\":{\"a\":{\"$ref\":\"other.json\"}}", "{}", ALL("invalid") },
};

static void test_cases_in_every_draft(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (size_t d = 0; d < ARRAY_SIZE(drafts); d++) {
            CLEANUP(free_ptr)
            char *schema = xasprintf("{\"$schema\":\"%s\",%s}", drafts[d], cases[i].members);
            CLEANUP(free_ptr) char *what = xasprintf("%s: %s", schema, cases[i].instance);

            assert_case_str(what, str_from(ask(str_from(schema), cases[i].instance)), cases[i].want[d]);
        }
    }
}

static void test_other_drafts_and_no_draft(void **state)
{
    UNUSED(state);
    assert_string_equal(ask(STR("{}"), "1"), "sure");
    assert_string_equal(ask(STR("{\"const\":1}"), "2"), "invalid");
    assert_string_equal(ask(STR("{\"$schema\":\"https://example.com/own\"}"), "1"), "invalid");
    assert_string_equal(ask(STR("{\"$schema\":7}"), "1"), "invalid");
    assert_string_equal(ask(STR("true"), "1"), "valid");
    assert_string_equal(ask(STR("{"), "1"), "invalid");
    assert_string_equal(ask(STR(""), "1"), "invalid");
}

static void test_a_deep_instance_is_left_to_the_compiled_schema(void **state)
{
    CLEANUP(buf_done) struct buf deep = BUF_INIT(MIB);

    UNUSED(state);
    buf_add_repeat(&deep, '[', 60);
    buf_add_repeat(&deep, ']', 60);
    assert_string_equal(ask(STR("{\"items\":{\"$ref\":\"#\"}}"), buf_z(&deep)), "valid");
    assert_string_equal(ask(STR("{\"items\":{}}"), buf_z(&deep)), "sure");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_in_every_draft),
        cmocka_unit_test(test_other_drafts_and_no_draft),
        cmocka_unit_test(test_a_deep_instance_is_left_to_the_compiled_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
