/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/defaults.h"

#include <stdlib.h>

#include "apiserver/defaults_int.h"
#include "apiserver/schema.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

/* tests/data/apiserver/defaults.jsonl: objects and what a real kube-apiserver made of them; tools/kinds/default_cases.py
 * asked it. */

static const struct api_kind *kind_of(struct value v)
{
    struct str group = value_str(value_getz(v, "apiVersion")), version = group;
    const size_t slash = str_find_char(group, '/');

    version = slash == STR_NPOS ? group : str_sub(group, slash + 1, group.n);
    group = slash == STR_NPOS ? STR("") : str_sub(group, 0, slash);
    return api_kind_find(group, version, value_str(value_getz(v, "kind")));
}

/* What depends on the server's state: identity, addresses. */
static void drop_assigned(struct value v)
{
    static const char *const meta[] = { "resourceVersion", "creationTimestamp", "namespace" };
    const struct value kind = value_getz(v, "kind");
    static const char *const service[] = { "clusterIP", "clusterIPs", "healthCheckNodePort" };
    const struct value spec = value_getz(v, "spec");

    for (size_t i = 0; i < ARRAY_SIZE(meta); i++)
        value_unset(value_getz(v, "metadata"), str_from(meta[i]));
    if (str_eq(value_str(kind), STR("PersistentVolumeClaim")) ||
        str_eq(value_str(kind), STR("PersistentVolume")))
        value_unset(value_getz(v, "metadata"), STR("finalizers")); /* of an admission plugin */
    if (str_eq(value_str(kind), STR("PersistentVolume")))
        value_unset(value_getz(v, "status"), STR("lastPhaseTransitionTime"));
    if (!str_eq(value_str(kind), STR("Service")))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(service); i++)
        value_unset(spec, str_from(service[i]));
    for (struct value_iter it = value_iter(value_getz(spec, "ports")); value_next(&it);)
        value_unset(it.v, STR("nodePort"));
}

static void check_object(struct arena *a, struct value line, size_t number)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(4 * MIB), want = BUF_INIT(4 * MIB), name = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value sent = value_getz(line, "sent"), expected = value_copy_maps(a, value_getz(line, "want")),
                 v = VALUE_NONE;
    const struct api_kind *k = kind_of(sent);

    if (!k || !value_is_map(expected))
        return;
    buf_addf(&name, "%s, line %zu", k->kind, number);
    assert_ok(api_schema_decode(a, k, sent, &v, NULL, &err), err);
    api_default_object(a, k, v);
    if (value_is_null(value_path(v, "metadata.name")))
        value_set_path(v, "metadata.name", value_path(expected, "metadata.name"));
    value_set_path(v, "metadata.uid", value_path(expected, "metadata.uid"));
    api_default_create(a, k, v);
    drop_assigned(v);
    drop_assigned(expected);
    IGNORE_ERROR(json_print(v, JSON_INDENT, &got, NULL));
    IGNORE_ERROR(json_print(expected, JSON_INDENT, &want, NULL));
    assert_case_str(buf_z(&name), buf_str(&got), buf_z(&want));
}

static void check_file(const char *path)
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
    assert_true(n > 0);
}

static void test_objects_become_what_kube_apiserver_makes_of_them(void **state)
{
    UNUSED(state);
    check_file("apiserver/defaults.jsonl");
}

static void test_rows_are_sorted(void **state)
{
    UNUSED(state);
    assert_true(api_default_rows_sorted());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_become_what_kube_apiserver_makes_of_them),
        cmocka_unit_test(test_rows_are_sorted),
    };

    return RUN_TESTS(tests);
}
