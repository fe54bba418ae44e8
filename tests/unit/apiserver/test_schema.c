/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/quantity.h"
#include "apiserver/schema.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

/* The words are those of kube-apiserver 1.34 for the same bodies. */

static void check_body(const char *kind, const char *group, enum api_schema_format format, const char *body,
                       const char *want)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIB);
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct api_notes strict = API_NOTES_INIT(a);
    const struct api_kind *k = api_kind_find(str_from(group), STR("v1"), str_from(kind));
    struct value v = VALUE_NONE;

    if (api_schema_read(a, str_from(body), format, &v, &strict, &err) < 0) {
        api_schema_unrecognized(str_from(body), str_from(kind), err, &got);
    } else if (api_schema_decode(a, k, v, &v, &strict, &err) < 0) {
        buf_adds(&got, err_message(err));
        assert_num(err_http_status(err), 400);
    } else if (strict.n > 0) {
        api_schema_strict_message(&strict, &got);
    } else {
        IGNORE_ERROR(json_print(v, 0, &got, NULL));
    }
    assert_case_str(body, buf_str(&got), want);
}

static void test_bodies_are_decoded_as_go_decodes_them(void **state)
{
#define BAD "Deployment in version \"v1\" cannot be handled as a Deployment: "
    static const struct {
        const char *body, *want;
    } cases[] = {
        { "{\"spec\":{\"replicas\":\"3\",\"foo\":1}}", BAD
          "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32" },
        { "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"env\":[{\"value\":1}]}]}}}}",
          BAD "json: cannot unmarshal number into Go struct field "
              "EnvVar.spec.template.spec.containers.env.value of type string" },
        { "{\"spec\":{\"replicas\":3.5}}", BAD "json: cannot unmarshal number 3.5 into Go struct field "
                                               "DeploymentSpec.spec.replicas of type int32" },
        { "{\"spec\":{\"replicas\":99999999999}}",
          BAD "json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas "
              "of type int32" },
        { "{\"metadata\":{\"labels\":{\"a\":1}}}", BAD
          "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string" },
        { "{\"metadata\":\"x\"}", BAD
          "json: cannot unmarshal string into Go struct field Deployment.metadata of type v1.ObjectMeta" },
        { "{\"metadata\":{\"creationTimestamp\":\"junk\"}}",
          BAD "parsing time \"junk\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"junk\" as \"2006\"" },
        { "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"abc\"}}}]"
          "}}}}",
          BAD API_QUANTITY_RULE },
        { "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"livenessProbe\":{\"httpGet\":{\"port\":true}"
          "}}]}}}}",
          BAD "json: cannot unmarshal bool into Go struct field "
              "HTTPGetAction.spec.template.spec.containers.livenessProbe.httpGet.port of type int32" },
        { "{\"metadata\":{\"name\":\"a\",\"x\":1},\"spec\":{\"foo\":1,\"replicas\":3}}",
          "strict decoding error: unknown field \"metadata.x\", unknown field \"spec.foo\"" },
        { "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"imaged\":\"x\"}]}}}}",
          "strict decoding error: unknown field \"spec.template.spec.containers[1].imaged\"" },
        { "{\"spec\":{\"replicas\":3,\"replicas\":4}}",
          "strict decoding error: duplicate field \"spec.replicas\"" },
        { "{\"metadata\":{\"name\":\"a\",\"labels\":{}},\"spec\":{\"paused\":false,\"replicas\":0,"
          "\"selector\":null}}",
          "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":0,\"selector\":null,\"strategy\":{},"
          "\"template\":{\"metadata\":{},"
          "\"spec\":{\"containers\":null}}},\"status\":{}}" },
    };
#undef BAD

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check_body("Deployment", "apps", API_SCHEMA_JSON, cases[i].body, cases[i].want);
}

static void test_bodies_of_config_maps_and_secrets(void **state)
{
#define UNKNOWN "the object provided is unrecognized (must be of type ConfigMap): "
    UNUSED(state);
    check_body("ConfigMap", "", API_SCHEMA_JSON, "{\"data\":{\"a\":{\"b\":1}}}",
               "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal object "
               "into Go struct field "
               "ConfigMap.data of type string");
    check_body("Secret", "", API_SCHEMA_JSON, "{\"data\":{\"a\":\"!!\"}}",
               "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at input byte 0");
    check_body("Secret", "", API_SCHEMA_JSON, "{\"data\":{\"a\":7}}",
               "Secret in version \"v1\" cannot be handled as a Secret: json: cannot unmarshal number into "
               "Go struct field "
               "Secret.data of type []uint8");
    check_body("Secret", "", API_SCHEMA_JSON, "{\"data\":[\"a\"]}",
               "Secret in version \"v1\" cannot be handled as a Secret: json: cannot unmarshal array into Go "
               "struct field "
               "Secret.data of type map[string][]uint8");
    check_body("ConfigMap", "", API_SCHEMA_JSON, "{\"metadata\":{\"name\":\"x\"},\"data\":{\"a\":\"1\"",
               UNKNOWN "couldn't get version/kind; json parse error: unexpected end of JSON input "
                       "({\"metadata\":{\"name\":\"x\"},"
                       "\"data ...)");
    check_body("ConfigMap", "", API_SCHEMA_JSON, "[1]",
               UNKNOWN "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go "
                       "value of type struct { "
                       "APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                       "\"json:\\\"kind,omitempty\\\"\" } "
                       "(5b315d)");
    check_body("ConfigMap", "", API_SCHEMA_JSON, "",
               UNKNOWN "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)");
    check_body("ConfigMap", "", API_SCHEMA_YAML,
               "metadata: {name: x}\ndata:\n  a: \"1\"\n  a: \"2\"\nfoo: 1\n",
               "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"a\" already set in map, "
               "unknown field \"foo\"");
#undef UNKNOWN
}

static void test_duplicates_are_named_with_their_path(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "{\"a\":{\"b\":[{\"c\":1,\"c\":2}]}}", "duplicate field \"a.b[0].c\"" },
        { "{\"a\":[[1,2],[{},{\"c\":1,\"x\":[],\"c\":2}]]}", "duplicate field \"a[1][1].c\"" },
        { "{\"a\":1,\"b\":{\"x\":\"}\\\"\"},\"a\":2}", "duplicate field \"a\"" },
        { "{\"a\":1,\"\\u0061\":2,\"a\":3}", "duplicate field \"a\"" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct api_notes strict = API_NOTES_INIT(a);
        struct value v;

        assert_ok(api_schema_read(a, str_from(cases[i].text), API_SCHEMA_JSON, &v, &strict, &err), err);
        assert_case_num(cases[i].text, strict.n, 1);
        assert_case_str(cases[i].text, strict.items[0], cases[i].want);
    }
}

static void test_quantities_get_their_canonical_form(void **state)
{
    static const struct {
        const char *in, *want; /* NULL: refused */
    } cases[] = {
        { "0", "0" },
        { "0.5", "500m" },
        { "1000m", "1" },
        { "1500m", "1500m" },
        { "1024Mi", "1Gi" },
        { "1000Mi", "1000Mi" },
        { "1.5Gi", "1536Mi" },
        { "2000M", "2G" },
        { "1e3", "1e3" },
        { "12000", "12k" },
        { "0.1n", "1n" },
        { "-5", "-5" },
        { "+5", "5" },
        { "1Ki", "1Ki" },
        { "512", "512" },
        { "0.5Ki", "512" },
        { "100", "100" },
        { "1E", "1E" },
        { "3.14159", "3141590u" },
        { "0Gi", "0" },
        { "", NULL },
        { "abc", NULL },
        { "1.2.3", NULL },
        { "1Qi", NULL },
        { "e", NULL },
        { ".5", "500m" },
        { "5.", "5" },
        { "-0.5", "-500m" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
        struct api_quantity q;
        const bool ok = api_quantity_parse(str_from(cases[i].in), &q);

        assert_case_num(cases[i].in, ok, cases[i].want != NULL);
        if (!ok)
            continue;
        api_quantity_print(q, &b);
        assert_case_str(cases[i].in, buf_str(&b), cases[i].want);
    }
}

static void test_quantities_compare_by_amount(void **state)
{
    static const struct {
        const char *a, *b;
        int want;
    } cases[] = { { "1", "1000m", 0 }, { "1Gi", "1G", 1 }, { "-1", "1", -1 },
                  { "0", "0m", 0 },    { "1n", "1E", -1 }, { "2", "1999m", 1 } };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct api_quantity a = { 0 }, b = { 0 };

        assert_true(api_quantity_parse(str_from(cases[i].a), &a) &&
                    api_quantity_parse(str_from(cases[i].b), &b));
        assert_case_num(cases[i].a, api_quantity_cmp(a, b), cases[i].want);
        assert_case_num(cases[i].b, api_quantity_cmp(b, a), -cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_are_decoded_as_go_decodes_them),
        cmocka_unit_test(test_bodies_of_config_maps_and_secrets),
        cmocka_unit_test(test_duplicates_are_named_with_their_path),
        cmocka_unit_test(test_quantities_get_their_canonical_form),
        cmocka_unit_test(test_quantities_compare_by_amount),
    };

    return RUN_TESTS(tests);
}
