/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static void test_kinds_are_found(void **state)
{
    const struct api_kind *k = api_kind_find(STR("apps"), STR("v1"), STR("Deployment"));

    UNUSED(state);
    assert_non_null(k);
    assert_string_equal(k->plural, "deployments");
    assert_string_equal(k->short_names, "deploy");
    assert_string_equal(k->categories, "all");
    assert_true(k->namespaced);
    assert_num(k->verbs, 0xff);
    assert_ptr_equal(api_kind_find_plural(STR("apps"), STR("v1"), STR("deployments")), k);
    assert_string_equal(api_kind_subresource(k, STR("scale"))->kind, "Scale");
    assert_null(api_kind_subresource(k, STR("log")));
    assert_null(api_kind_find(STR("apps"), STR("v2"), STR("Deployment")));
    assert_null(api_kind_find_plural(STR(""), STR("v1"), STR("deployments")));
    assert_string_equal(api_kind_tables_version(), "v1.34.4");
}

static void test_fields_of_every_struct_are_sorted_and_lead_somewhere(void **state)
{
    const struct api_types *t = &api_kind_types;

    UNUSED(state);
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct api_type *type = &t->types[i];

        assert_true(type->elem < t->n_types);
        for (uint32_t j = 0; j < type->n; j++) {
            const struct api_field *f = &t->fields[type->first + j];
            const struct api_ref ref = { t, (uint16_t)i, 0 };
            const struct str name = str_from(api_types_text(t, f->name));

            assert_true(f->type < t->n_types);
            if (j > 0 && str_cmp(str_from(api_types_text(t, f[-1].name)), name) >= 0)
                fail_case("%s: fields out of order at " STR_FMT, api_types_text(t, type->name),
                          STR_ARG(name));
            assert_ptr_equal(api_ref_field(ref, name), f);
        }
    }
}

static void test_list_keys_and_patch_keys_come_from_kubernetes(void **state)
{
    const struct api_ref container = api_kind_type_named(STR("io.k8s.api.core.v1.Container"));
    const struct api_field *ports = api_ref_field(container, STR("ports"));
    const struct api_ref list = api_ref_of_field(container, ports);
    const char *keys = api_types_text(list.of, api_ref_type(list)->keys);

    UNUSED(state);
    assert_num(api_ref_type(list)->list, API_LIST_MAP);
    assert_string_equal(keys, "containerPort");
    assert_string_equal(keys + strlen(keys) + 1, "protocol");
    assert_string_equal(api_types_text(container.of, ports->smp_key), "containerPort");
    assert_true(ports->flags & API_FIELD_SMP_MERGE);
    assert_true(
        api_ref_atomic(api_kind_type_named(STR("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"))));
    assert_false(api_ref_atomic(api_ref_member(
        api_kind_type_named(STR("io.k8s.api.core.v1.PersistentVolumeSpec")), STR("claimRef"), NULL)));
}

static void test_every_group_has_a_document_whose_references_resolve(void **state)
{
    size_t n;
    const struct api_kind *all = api_kind_all(&n);

    UNUSED(state);
    for (size_t i = 0; i < n; i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
        CLEANUP(buf_done) struct buf b = BUF_INIT(32 * MIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct value doc, schemas;
        struct str text;

        if (i > 0 && strcmp(all[i].group, all[i - 1].group) == 0 &&
            strcmp(all[i].version, all[i - 1].version) == 0)
            continue;
        assert_ok(api_kind_openapi_v3(str_from(all[i].group), str_from(all[i].version), &b, &err), err);
        assert_ok(json_parse(a, buf_str(&b), NULL, &doc, &err), err);
        schemas = value_path(doc, "components.schemas");
        text = buf_str(&b);
        for (size_t at; (at = str_find(text, STR("#/components/schemas/"))) != STR_NPOS;) {
            const struct str rest = str_sub(text, at + strlen("#/components/schemas/"), text.n);
            const struct str id = str_sub(rest, 0, str_find_char(rest, '"'));

            if (!value_has(schemas, id))
                fail_case("%s/%s: no schema " STR_FMT, all[i].group, all[i].version, STR_ARG(id));
            text = rest;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_are_found),
        cmocka_unit_test(test_fields_of_every_struct_are_sorted_and_lead_somewhere),
        cmocka_unit_test(test_list_keys_and_patch_keys_come_from_kubernetes),
        cmocka_unit_test(test_every_group_has_a_document_whose_references_resolve),
    };

    return RUN_TESTS(tests);
}
