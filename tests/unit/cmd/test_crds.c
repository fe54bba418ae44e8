/* SPDX-License-Identifier: Apache-2.0 */
/* The definitions that the program carries, held against the rules that they share. */
#include <string.h>

#include "base/limits.h"
#include "lib/check.h"
#include "pintle/embedded.h"
#include "value/value.h"
#include "yaml/yaml.h"

#define KINDS 7

static struct arena *arena;
static struct value crds[KINDS]; /* sorted by plural */

static int load(void **state)
{
    struct err *err = NULL;
    size_t n = 0;

    UNUSED(state);
    arena = arena_new(64 * MIB);
    for (const struct embedded_file *f = cmd_crds_files; f->name; f++) {
        if (n == KINDS || yml_parse(arena, str_from(f->text), NULL, &crds[n], &err) < 0) {
            print_error("%s: %s\n", f->name, err_message(err));
            return -1;
        }
        n++;
    }
    return n == KINDS ? 0 : -1;
}

static int drop(void **state)
{
    UNUSED(state);
    arena_free(arena);
    return 0;
}

static struct value schema_of(const char *plural)
{
    for (size_t i = 0; i < KINDS; i++)
        if (str_eq(value_str(value_path(crds[i], "spec.names.plural")), str_from(plural)))
            return value_path(value_at(value_path(crds[i], "spec.versions"), 0),
                              "schema.openAPIV3Schema.properties");
    fail_case("no definition of %s", plural);
    return VALUE_NONE;
}

static void test_names_scopes_and_categories(void **state)
{
    static const struct {
        const char *plural, *singular, *kind, *scope;
    } want[KINDS] = {
        { "charts", "chart", "Chart", "Cluster" },
        { "configs", "config", "Config", "Namespaced" },
        { "releasegroups", "releasegroup", "ReleaseGroup", "Namespaced" },
        { "releases", "release", "Release", "Namespaced" },
        { "repogroups", "repogroup", "RepoGroup", "Cluster" },
        { "repositories", "repository", "Repository", "Cluster" },
        { "values", "values", "Values", "Namespaced" },
    };

    UNUSED(state);
    for (size_t i = 0; i < KINDS; i++) {
        struct value names = value_path(crds[i], "spec.names"),
                     version = value_at(value_path(crds[i], "spec.versions"), 0);
        struct str name = value_str(value_path(crds[i], "metadata.name"));

        assert_str(name, arena_printf(arena, "%s.pintle.dev", want[i].plural).p);
        assert_str(value_str(value_getz(names, "plural")), want[i].plural);
        assert_str(value_str(value_getz(names, "singular")), want[i].singular);
        assert_str(value_str(value_getz(names, "kind")), want[i].kind);
        assert_str(value_str(value_path(crds[i], "spec.scope")), want[i].scope);
        assert_str(value_str(value_at(value_getz(names, "categories"), 0)), "pintle");
        assert_num(value_len(value_getz(names, "shortNames")), 1);
        assert_str(value_str(value_getz(version, "name")), "v1alpha1");
        assert_true(value_has(value_getz(version, "subresources"), STR("status")));
        assert_str(
            value_str(value_path(value_at(value_getz(version, "additionalPrinterColumns"), 0), "name")),
            "Ready");
    }
}

/* The schema without what may differ at two places: the description. */
static struct value bare(struct value schema)
{
    struct value v = value_copy_maps(arena, schema);

    value_unset(v, STR("description"));
    return v;
}

static void test_members_of_groups_have_the_schema_of_the_kind_itself(void **state)
{
    UNUSED(state);
    assert_true(value_equal(bare(value_path(schema_of("repogroups"), "spec.properties.repos.items")),
                            bare(value_path(schema_of("repositories"), "spec"))));
    assert_true(value_equal(bare(value_path(schema_of("releasegroups"), "spec.properties.releases.items")),
                            bare(value_path(schema_of("releases"), "spec"))));
}

static void test_every_kind_reports_in_the_same_way(void **state)
{
    static const char *const shared[] = { "conditions", "observedGeneration", "lastHandledReconcileAt" };
    struct value first = value_path(schema_of("charts"), "status.properties");

    UNUSED(state);
    for (size_t i = 0; i < KINDS; i++) {
        const char *plural = arena_dupz(arena, value_str(value_path(crds[i], "spec.names.plural")));
        struct value status = value_path(schema_of(plural), "status.properties");

        for (size_t k = 0; k < ARRAY_SIZE(shared); k++)
            if (!value_equal(value_get(status, str_from(shared[k])), value_get(first, str_from(shared[k]))))
                fail_case("%s: status.%s differs from that of charts", plural, shared[k]);
    }
}

static bool is_free(struct value schema)
{
    return value_bool(value_getz(schema, "x-kubernetes-preserve-unknown-fields")) ||
           value_bool(value_getz(schema, "x-kubernetes-int-or-string"));
}

/* Every field is described and typed; what a status or an outsider's list can hold is bounded. */
static void check_schema(struct value schema, const char *path, bool in_status)
{
    struct str type = value_str(value_getz(schema, "type"));
    struct value_iter it = value_iter(value_getz(schema, "properties"));
    bool is_string = str_eq(type, STR("string")), has_end = value_has(schema, STR("maxLength")) ||
                                                            value_has(schema, STR("enum")) ||
                                                            value_has(schema, STR("format"));

    if (value_str(value_getz(schema, "description")).n == 0)
        fail_case("%s has no description", path);
    if (type.n == 0 && !is_free(schema))
        fail_case("%s has no type", path);
    if (str_eq(type, STR("array")) && !value_has(schema, STR("maxItems")))
        fail_case("%s has no maxItems", path);
    if (str_eq(type, STR("array")) && !value_has(schema, STR("x-kubernetes-list-type")))
        fail_case("%s has no list type", path);
    if (in_status && is_string && !has_end)
        fail_case("%s has no maxLength", path);
    if (value_has(schema, STR("items")))
        check_schema(value_getz(schema, "items"), arena_printf(arena, "%s[]", path).p, in_status);
    while (value_next(&it))
        check_schema(it.v, arena_printf(arena, "%s." STR_FMT, path, STR_ARG(it.key)).p, in_status);
}

static void test_every_field_is_described_typed_and_bounded(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < KINDS; i++) {
        struct str plural = value_str(value_path(crds[i], "spec.names.plural"));
        struct value schema = schema_of(arena_dupz(arena, plural));

        check_schema(value_getz(schema, "spec"), arena_printf(arena, STR_FMT ".spec", STR_ARG(plural)).p,
                     false);
        check_schema(value_getz(schema, "status"), arena_printf(arena, STR_FMT ".status", STR_ARG(plural)).p,
                     true);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_scopes_and_categories),
        cmocka_unit_test(test_members_of_groups_have_the_schema_of_the_kind_itself),
        cmocka_unit_test(test_every_kind_reports_in_the_same_way),
        cmocka_unit_test(test_every_field_is_described_typed_and_bounded),
    };

    return cmocka_run_group_tests(tests, load, drop);
}
