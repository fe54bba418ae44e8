/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/apply.h"
#include "apiserver/schema.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

/* tests/data/apiserver/apply.jsonl: writes that a real kube-apiserver carried out; tools/kinds/apply_cases.py made it. */

struct write {
    struct str name, type, op, error;
    struct value live, sent, want, schema,
        owners; /* owners: managedFields as the client sent them, or null */
    struct api_apply_options o;
};

static struct value without(struct arena *a, struct value map, const char *const *keys, size_t n)
{
    struct value m = value_new_map(a);

    for (struct value_iter it = value_iter(map); value_next(&it);) {
        bool drop = false;

        for (size_t i = 0; i < n; i++)
            drop |= str_eq(it.key, str_from(keys[i]));
        if (!drop)
            value_set(m, it.key, it.v);
    }
    return m;
}

/* What the server's storage adds is not apply's: it goes, on both sides. */
static struct value comparable(struct arena *a, struct value object, bool whole)
{
    static const char *const server[] = { "uid", "resourceVersion", "generation", "creationTimestamp",
                                          "namespace" };
    struct value meta = value_getz(object, "metadata"), m = value_new_map(a);
    struct value_list l = VALUE_LIST_INIT(a);

    for (struct value_iter it = value_iter(value_getz(meta, "managedFields")); value_next(&it);) {
        struct value e = without(a, it.v, NULL, 0);

        if (value_has(e, STR("time")))
            value_setz(e, "time", VALUE_STR("T"));
        value_list_add(&l, e);
    }
    if (!whole)
        return value_list_done(&l);
    meta = without(a, meta, server, ARRAY_SIZE(server));
    value_setz(meta, "managedFields", value_list_done(&l));
    m = without(a, object, NULL, 0);
    value_setz(m, "metadata", meta);
    return m;
}

static struct value with_owners(struct arena *a, struct value object, struct value owners)
{
    static const char *const drop[] = { "managedFields" };
    struct value meta = without(a, value_getz(object, "metadata"), drop, 1), m = without(a, object, NULL, 0);

    if (!value_is_null(owners))
        value_setz(meta, "managedFields", owners);
    value_setz(m, "metadata", meta);
    return m;
}

static struct wall_time latest(struct value object)
{
    struct wall_time t = { 0, 0 }, one;

    for (struct value_iter it = value_iter(value_getz(value_getz(object, "metadata"), "managedFields"));
         value_next(&it);)
        if (clock_parse_rfc3339(value_str(value_getz(it.v, "time")), &one) && one.s > t.s)
            t = one;
    return t;
}

static struct write read_write(struct value line)
{
    struct write w = {
        .name = value_str(value_getz(line, "case")),
        .type = value_str(value_getz(line, "type")),
        .op = value_str(value_getz(line, "op")),
        .error = value_str(value_getz(line, "error")),
        .live = value_getz(line, "live"),
        .sent = value_getz(line, "sent"),
        .want = value_getz(line, "want"),
        .schema = value_getz(line, "schema"),
        .owners = value_getz(line, "owners"),
    };
    const struct value known = value_is_null(w.want) ? w.sent : w.want;

    w.o = (struct api_apply_options){
        .manager = value_str(value_getz(line, "manager")),
        .subresource = value_str(value_getz(line, "subresource")),
        .force = value_bool(value_getz(line, "force")),
        .has_status = value_bool(value_getz(line, "hasStatus")),
        .api_version = value_str(value_getz(known, "apiVersion")),
        .custom = value_is_map(w.schema),
        .now = latest(w.want),
    };
    return w;
}

static bool is_defaulted(struct str type)
{
    return str_contains(type, STR("Deployment")) || str_contains(type, STR(".Service")) || type.n == 0;
}

static void check_write(struct arena *a, struct value line, size_t number)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB), want = BUF_INIT(MIB), name = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(api_schema_unref) struct api_schema *schema = NULL;
    struct api_causes causes = API_CAUSES_INIT(a);
    struct write w = read_write(line);
    struct value ret = VALUE_NONE;
    struct api_ref type = api_kind_type_named(w.type);
    const bool apply = str_eq(w.op, STR("apply"));
    int r;

    if (value_is_map(w.schema)) {
        assert_ok(api_schema_new(w.schema, &schema, &err), err);
        type = api_schema_root(schema);
    }
    if (value_is_null(w.want) && apply && value_is_map(w.live))
        w.o.api_version = value_str(value_getz(w.live, "apiVersion"));
    if (value_is_null(w.want) && str_contains(w.error, STR("invalid object type")))
        w.o.api_version = STR("v1");
    buf_addf(&name, STR_FMT ", line %zu", STR_ARG(w.name), number);
    if (apply)
        r = api_apply_patch(a, type, &w.o, w.live, w.sent, &causes, &ret, &err);
    else
        r = api_apply_update(a, type, &w.o, w.live, with_owners(a, w.want, w.owners), &ret, &err);
    if (w.error.n > 0) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

        buf_addstr(&text, w.error);
        assert_case_str(buf_z(&name), str_from(err_message(err)), buf_z(&text));
        assert_case_num(buf_z(&name), err_http_status(err), value_int(value_getz(line, "code"), 0));
        return;
    }
    if (r < 0)
        fail_case("%s: %s", buf_z(&name), err_message(err));
    if (type.of == &api_kind_types) /* what the server does next */
        assert_ok(api_schema_decode_type(a, type, STR(""), STR(""), ret, &ret, NULL, &err), err);
    IGNORE_ERROR(json_print(comparable(a, ret, apply && !is_defaulted(w.type)), JSON_INDENT, &got, NULL));
    IGNORE_ERROR(json_print(comparable(a, w.want, apply && !is_defaulted(w.type)), JSON_INDENT, &want, NULL));
    assert_case_str(buf_z(&name), buf_str(&got), buf_z(&want));
}

static void test_ownership_is_tracked_as_kube_apiserver_does(void **state)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(16 * MIB);
    struct str rest, text;
    size_t n = 0;

    UNUSED(state);
    check_read_data("apiserver/apply.jsonl", &all);
    rest = buf_str(&all);
    while (str_split(&rest, '\n', &text)) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        struct value line = VALUE_NONE;

        if (text.n == 0 || n++ == 0) /* the first line names the server */
            continue;
        assert_int_equal(json_parse(a, text, NULL, &line, NULL), 0);
        check_write(a, line, n);
    }
    assert_true(n > 100);
}

static void check_manager(const char *manager, size_t n, bool apply, const char *want)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    struct api_causes causes = API_CAUSES_INIT(a);

    api_apply_check_manager((struct str){ manager, n }, apply, &causes);
    if (causes.n > 0)
        api_causes_format(&causes, STR("PatchOptions"), STR("meta.k8s.io"), STR(""), &b);
    assert_str(buf_str(&b), want);
}

static void test_manager_names_are_checked(void **state)
{
    char name[API_APPLY_MANAGER_MAX + 1];

    UNUSED(state);
    memset(name, 'a', sizeof(name));
    check_manager(name, API_APPLY_MANAGER_MAX - 1, true, "");
    check_manager(name, API_APPLY_MANAGER_MAX, true, "");
    check_manager(
        name, API_APPLY_MANAGER_MAX + 1, true,
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more than 128 bytes");
    check_manager("", 0, false, "");
    check_manager("", 0, true,
                  "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
                  "apply patch");
    check_manager(
        "a\nb", 3, true,
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\nb\": invalid character "
        "U+000A (at position 1)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ownership_is_tracked_as_kube_apiserver_does),
        cmocka_unit_test(test_manager_names_are_checked),
    };

    return RUN_TESTS(tests);
}
