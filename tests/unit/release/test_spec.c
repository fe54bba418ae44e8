/* SPDX-License-Identifier: Apache-2.0 */
#include "release/spec.h"

#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static struct value parse(struct arena *a, const char *text)
{
    struct err *err = NULL;
    struct value v;

    assert_ok(json_parse(a, str_from(text), NULL, &v, &err), err);
    return v;
}

static void test_timeouts_are_seconds_nanoseconds_or_durations(void **state)
{
    static const struct {
        const char *json;
        int64_t ms; /* -1: refused */
    } cases[] = {
        { "null", 0 },          { "3600", 3600000 },  { "999999", 999999000 },  { "1000000", 1 },
        { "5000000000", 5000 }, { "\"5m\"", 300000 }, { "\"1h30m\"", 5400000 }, { "\"5\"", -1 },
        { "-1", -1 },           { "\"-5m\"", -1 },    { "\"soon\"", -1 },       { "true", -1 },
    };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int64_t ms = -1;
        bool ok = release_timeout_parse(parse(a, cases[i].json), &ms);

        assert_case_num(cases[i].json, ok ? ms : -1, cases[i].ms);
    }
}

static void test_the_target_namespace_needs_a_config_that_lists_it(void **state)
{
    static const struct {
        const char *target, *config, *error; /* error NULL: allowed */
    } cases[] = {
        { "", "null", NULL },
        { "team", "null", NULL },
        { "other", "null",
          "a Release in namespace team may install into namespace other only with a Config that lists it in "
          "spec.namespace.allowed" },
        { "other", "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"namespace\":{\"allowed\":[\"other\"]}}}",
          NULL },
        { "other", "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"namespace\":{\"allowed\":[\"*\"]}}}", NULL },
        { "other", "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"namespace\":{\"allowed\":[\"third\"]}}}",
          "namespace other is not among spec.namespace.allowed of Config team/c: add it there, or choose "
          "another "
          "spec.namespace" },
        { "team", "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"namespace\":{\"allowed\":[\"third\"]}}}",
          "namespace team is not among spec.namespace.allowed of Config team/c: add it there, or choose "
          "another "
          "spec.namespace" },
        { "team", "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"namespace\":{\"allowed\":[]}}}", NULL },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        struct value object =
            parse(a, "{\"metadata\":{\"name\":\"web\",\"namespace\":\"team\"},\"spec\":{\"name\":\"web\"}}");
        struct release_config config;
        struct release_spec spec;
        struct err *err = NULL;
        int r;

        value_setz(value_getz(object, "spec"), "namespace", value_from_str(str_from(cases[i].target)));
        assert_ok(release_spec_read(object, &spec, &err), err);
        assert_ok(release_config_read(parse(a, cases[i].config), &config, &err), err);
        r = release_check_namespace(&spec, &config, &err);
        if (cases[i].error)
            assert_fails(r, ERRC_FORBIDDEN, err, cases[i].error);
        else
            assert_ok(r, err);
    }
}

static void test_release_names_follow_helm(void **state)
{
    static const struct {
        const char *name;
        bool valid;
    } cases[] = {
        { "web", true },
        { "a.b-c.d", true },
        { "1", true },
        { "-web", false },
        { "web-", false },
        { "We", false },
        { "a..b", false },
        { "a_b", false },
        { "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", true },    /* 52 */
        { "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", true },   /* 53 */
        { "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", false }, /* 54 */
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        struct value object = parse(a, "{\"metadata\":{\"name\":\"o\",\"namespace\":\"team\"},\"spec\":{}}");
        struct release_spec spec;
        struct err *err = NULL;
        int r;

        value_setz(value_getz(object, "spec"), "name", value_from_str(str_from(cases[i].name)));
        r = release_spec_read(object, &spec, &err);
        err_free(err);
        assert_case_num(cases[i].name, r == 0, cases[i].valid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeouts_are_seconds_nanoseconds_or_durations),
        cmocka_unit_test(test_the_target_namespace_needs_a_config_that_lists_it),
        cmocka_unit_test(test_release_names_follow_helm),
    };

    return RUN_TESTS(tests);
}
