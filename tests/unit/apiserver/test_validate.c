/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate.h"

#include <stdlib.h>

#include "apiserver/defaults.h"
#include "apiserver/schema.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

/* tests/data/apiserver/validate.jsonl: objects and the faults that a real kube-apiserver found in them;
 * tools/kinds/default_cases.py asked it. */

static const struct api_kind *kind_of(struct value v)
{
    struct str group = value_str(value_getz(v, "apiVersion")), version = group;
    const size_t slash = str_find_char(group, '/');

    version = slash == STR_NPOS ? group : str_sub(group, slash + 1, group.n);
    group = slash == STR_NPOS ? STR("") : str_sub(group, 0, slash);
    return api_kind_find(group, version, value_str(value_getz(v, "kind")));
}

static void check_object(struct arena *a, struct value line, size_t number)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(4 * MIB), name = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct api_causes causes = API_CAUSES_INIT(a);
    struct value sent = value_getz(line, "sent"), v = VALUE_NONE;
    const struct api_kind *k = kind_of(sent);

    assert_non_null(k);
    buf_addf(&name, "%s, line %zu", k->kind, number);
    assert_ok(api_schema_decode(a, k, sent, &v, NULL, &err), err);
    if (k->namespaced)
        value_set_path(v, "metadata.namespace", VALUE_STR("default"));
    value_set_path(v, "metadata.uid", VALUE_STR("u"));
    api_default_object(a, k, v);
    api_default_create(a, k, v);
    api_validate_create(k, v, &causes);
    if (causes.n > 0)
        api_causes_format(&causes, str_from(k->kind), str_from(k->group),
                          value_str(value_path(v, "metadata.name")), &got);
    if (value_has(line, STR("error"))) {
        CLEANUP(buf_done) struct buf want = BUF_INIT(4 * MIB);

        buf_addstr(&want, value_str(value_getz(line, "error")));
        assert_case_str(buf_z(&name), buf_str(&got), buf_z(&want));
    } else {
        assert_case_str(buf_z(&name), buf_str(&got), "");
    }
}

static void check_file(const char *path, size_t at_least)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(64 * MIB);
    struct str rest, text;
    size_t n = 0;

    check_read_data(path, &all);
    rest = buf_str(&all);
    while (str_split(&rest, '\n', &text)) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        struct value line = VALUE_NONE;

        if (text.n == 0)
            continue;
        assert_int_equal(json_parse(a, text, NULL, &line, NULL), 0);
        check_object(a, line, ++n);
    }
    assert_true(n >= at_least);
}

static void test_faults_are_told_as_kube_apiserver_tells_them(void **state)
{
    UNUSED(state);
    check_file("apiserver/validate.jsonl", 100);
}

static void test_objects_that_kube_apiserver_takes_have_no_faults(void **state)
{
    UNUSED(state);
    check_file("apiserver/defaults.jsonl", 100);
}

static struct value parse(struct arena *a, const char *text)
{
    struct value v = VALUE_NONE;

    assert_int_equal(json_parse(a, str_from(text), NULL, &v, NULL), 0);
    return v;
}

static void test_updates_that_kube_apiserver_refuses(void **state)
{
#define META "\"metadata\":{\"name\":\"x\",\"namespace\":\"d\",\"uid\":\"u\",\"resourceVersion\":\"1\"}"
    static const struct {
        const char *kind, *group, *old, *new, *want;
    } cases[] = {
        { "ConfigMap", "", "{" META ",\"immutable\":true,\"data\":{\"a\":\"1\"}}",
          "{" META ",\"immutable\":true,\"data\":{\"a\":\"2\"}}",
          "ConfigMap \"x\" is invalid: data: Forbidden: field is immutable when `immutable` is set" },
        { "ConfigMap", "", "{" META ",\"immutable\":true,\"data\":{\"a\":\"1\"}}",
          "{" META ",\"data\":{\"a\":\"1\"}}",
          "ConfigMap \"x\" is invalid: immutable: Forbidden: field is immutable when `immutable` is set" },
        { "ConfigMap", "", "{" META "}",
          "{\"metadata\":{\"name\":\"x\",\"namespace\":\"d\",\"uid\":\"v\",\"resourceVersion\":\"1\"}}",
          "ConfigMap \"x\" is invalid: metadata.uid: Invalid value: \"v\": field is immutable" },
        { "ConfigMap", "", "{" META "}", "{\"metadata\":{\"name\":\"x\",\"namespace\":\"d\",\"uid\":\"u\"}}",
          "ConfigMap \"x\" is invalid: metadata.resourceVersion: Invalid value: \"\": must be specified for "
          "an update" },
        { "ConfigMap", "", "{" META "}", "{" META ",\"data\":{\"a\":\"1\"}}", "" },
        { "Secret", "", "{" META ",\"type\":\"a/b\"}", "{" META ",\"type\":\"c/d\"}",
          "Secret \"x\" is invalid: type: Invalid value: \"c/d\": field is immutable" },
        { "RoleBinding", "rbac.authorization.k8s.io",
          "{" META
          ",\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"x\"}}",
          "{" META
          ",\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"y\"}}",
          "RoleBinding.rbac.authorization.k8s.io \"x\" is invalid: roleRef: Invalid value: {\"APIGroup\":"
          "\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"y\"}: cannot change roleRef" },
    };
#undef META

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
        struct api_causes causes = API_CAUSES_INIT(a);
        const struct api_kind *k =
            api_kind_find(str_from(cases[i].group), STR("v1"), str_from(cases[i].kind));

        api_validate_update(k, parse(a, cases[i].new), parse(a, cases[i].old), &causes);
        if (causes.n > 0)
            api_causes_format(&causes, str_from(k->kind), str_from(k->group), STR("x"), &b);
        assert_case_str(cases[i].new, buf_str(&b), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_are_told_as_kube_apiserver_tells_them),
        cmocka_unit_test(test_objects_that_kube_apiserver_takes_have_no_faults),
        cmocka_unit_test(test_updates_that_kube_apiserver_refuses),
    };

    return RUN_TESTS(tests);
}
