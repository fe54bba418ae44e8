/* SPDX-License-Identifier: Apache-2.0 */
#include "release/values.h"

#include "base/encode.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

/* A cluster of a few objects: "Kind/name" -> JSON. */
struct fake {
    const char *key, *json;
};

static int fake_get(void *ctx, struct arena *a, const char *kind, struct str ns, struct str name,
                    struct value *ret, struct err **err)
{
    struct str key = arena_printf(a, "%s/%.*s", kind, STR_ARG(name));

    for (const struct fake *f = ctx; f->key; f++)
        if (str_eq(key, str_from(f->key)))
            return json_parse(a, str_from(f->json), NULL, ret, err);
    return err_set(err, ERRC_NOT_FOUND, "%s %.*s/%.*s: not found", kind, STR_ARG(ns), STR_ARG(name));
}

static struct value parse(struct arena *a, const char *text)
{
    struct err *err = NULL;
    struct value v;

    assert_ok(json_parse(a, str_from(text), NULL, &v, &err), err);
    return v;
}

static void assert_json(struct value v, const char *want)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    struct err *err = NULL;

    assert_ok(json_print(v, 0, &text, &err), err);
    assert_str(buf_str(&text), want);
}

static void test_values_merge_in_list_order(void **state)
{
    static const struct fake objects[] = {
        { "Values/one", "{\"spec\":{\"json\":{\"a\":1,\"list\":[1,2],\"m\":{\"x\":1,\"y\":1}}}}" },
        { "Values/two", "{\"spec\":{\"json\":{\"a\":2,\"list\":[3],\"m\":{\"y\":2},\"gone\":null}}}" },
        { NULL, NULL },
    };
    struct values_source src = { fake_get, (void *)(uintptr_t)objects };
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_ok(
        values_collect(&src, a, STR("ns"), parse(a, "[\"one\",\"two\"]"), VALUE_NONE, VALUE_NONE, &v, &err),
        err);
    assert_json(v, "{\"a\":2,\"gone\":null,\"list\":[3],\"m\":{\"x\":1,\"y\":2}}");
    assert_ok(values_collect(&src, a, STR("ns"), parse(a, "[\"two\",\"one\"]"), VALUE_NONE,
                             parse(a, "{\"a\":3}"), &v, &err),
              err);
    assert_json(v, "{\"a\":3,\"gone\":null,\"list\":[1,2],\"m\":{\"x\":1,\"y\":1}}");
    assert_num(value_getz(v, "a").kind, VALUE_FLOAT); /* as templates see numbers */
}

static void test_own_json_beats_refs_and_refs_nest(void **state)
{
    static const struct fake objects[] = {
        { "Values/top",
          "{\"spec\":{\"json\":{\"db\":{\"size\":9}},\"refs\":{\"db\":\"db\",\"web\":\"web\"}}}" },
        { "Values/db", "{\"spec\":{\"json\":{\"size\":1,\"name\":\"d\"},\"refs\":{\"auth\":\"auth\"}}}" },
        { "Values/web", "{\"spec\":{\"json\":{\"port\":80}}}" },
        { "Values/auth", "{\"spec\":{\"json\":{\"user\":\"u\"}}}" },
        { NULL, NULL },
    };
    struct values_source src = { fake_get, (void *)(uintptr_t)objects };
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_ok(values_resolve(&src, a, STR("ns"), STR("top"), &v, &err), err);
    assert_json(v, "{\"db\":{\"auth\":{\"user\":\"u\"},\"name\":\"d\",\"size\":9},\"web\":{\"port\":80}}");
}

static void test_cycles_and_missing_objects_are_named(void **state)
{
    static const struct fake objects[] = {
        { "Values/a", "{\"spec\":{\"refs\":{\"x\":\"b\"}}}" },
        { "Values/b", "{\"spec\":{\"refs\":{\"y\":\"c\"}}}" },
        { "Values/c", "{\"spec\":{\"refs\":{\"z\":\"a\"}}}" },
        { "Values/self", "{\"spec\":{\"refs\":{\"x\":\"self\"}}}" },
        { "Values/lost", "{\"spec\":{\"refs\":{\"x\":\"nowhere\"}}}" },
        { NULL, NULL },
    };
    struct values_source src = { fake_get, (void *)(uintptr_t)objects };
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_fails(values_resolve(&src, a, STR("ns"), STR("a"), &v, &err), ERRC_INVALID, err,
                 "Values a -> b -> c -> a: the refs form a cycle");
    assert_fails(values_resolve(&src, a, STR("ns"), STR("self"), &v, &err), ERRC_INVALID, err,
                 "Values self -> self: the refs form a cycle");
    assert_fails(values_resolve(&src, a, STR("ns"), STR("lost"), &v, &err), ERRC_NOT_FOUND, err,
                 "Values lost: spec.refs: Values ns/nowhere: not found");
    assert_fails(values_resolve(&src, a, STR("ns"), STR("none"), &v, &err), ERRC_NOT_FOUND, err,
                 "Values ns/none: not found");
}

/* Values v1 -> v2 -> … -> vN. */
static int chain_get(void *ctx, struct arena *a, const char *kind, struct str ns, struct str name,
                     struct value *ret, struct err **err)
{
    int64_t n = 0, *last = ctx;

    UNUSED(kind);
    UNUSED(ns);
    str_to_int64(str_sub(name, 1, name.n), &n);
    return json_parse(a,
                      n == *last
                          ? STR("{\"spec\":{\"json\":{\"end\":true}}}")
                          : arena_printf(a, "{\"spec\":{\"refs\":{\"x\":\"v%lld\"}}}", (long long)n + 1),
                      NULL, ret, err);
}

static void test_the_depth_of_refs_is_limited(void **state)
{
    UNUSED(state);
    for (int64_t last = VALUES_REFS_DEPTH_MAX - 1; last <= VALUES_REFS_DEPTH_MAX + 1; last++) {
        CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
        struct values_source src = { chain_get, &last };
        struct err *err = NULL;
        struct value v;
        int r = values_resolve(&src, a, STR("ns"), STR("v1"), &v, &err);

        if (last <= VALUES_REFS_DEPTH_MAX)
            assert_ok(r, err);
        else
            assert_fails(r, ERRC_INVALID, err, NULL);
    }
}

/* v1 refers twice to v2, v2 twice to v3, …: 2^30 ways through 30 objects. */
static int fan_get(void *ctx, struct arena *a, const char *kind, struct str ns, struct str name,
                   struct value *ret, struct err **err)
{
    int64_t n = 0, *reads = ctx;

    UNUSED(kind);
    UNUSED(ns);
    (*reads)++;
    str_to_int64(str_sub(name, 1, name.n), &n);
    return json_parse(a,
                      n == 30 ? STR("{\"spec\":{}}")
                              : arena_printf(a, "{\"spec\":{\"refs\":{\"l\":\"v%lld\",\"r\":\"v%lld\"}}}",
                                             (long long)n + 1, (long long)n + 1),
                      NULL, ret, err);
}

static void test_the_number_of_resolved_objects_is_limited(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    int64_t reads = 0;
    struct values_source src = { fan_get, &reads };
    struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_fails(values_resolve(&src, a, STR("ns"), STR("v1"), &v, &err), ERRC_LIMIT, err, NULL);
    assert_num(reads, VALUES_READS_MAX);
}

static void test_secrets_are_marked_and_never_quoted(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    CLEANUP(buf_done) struct buf good = BUF_INIT(KIB), bad = BUF_INIT(KIB);
    struct fake objects[] = { { "Secret/good", NULL }, { "Secret/bad", NULL }, { NULL, NULL } };
    struct values_source src = { fake_get, objects };
    struct err *err = NULL;
    struct value v;

    UNUSED(state);
    base64_encode(BASE64_STD, STR("password: canary-5c1e\n"), &good);
    base64_encode(BASE64_STD, STR("canary-5c1e: [\n"), &bad);
    objects[0].json = arena_printf(a, "{\"data\":{\"values.yaml\":\"%s\"}}", buf_z(&good)).p;
    objects[1].json = arena_printf(a, "{\"data\":{\"values.yaml\":\"%s\"}}", buf_z(&bad)).p;
    assert_ok(values_collect(&src, a, STR("ns"), VALUE_NONE,
                             parse(a, "[{\"kind\":\"Secret\",\"name\":\"good\"}]"), VALUE_NONE, &v, &err),
              err);
    assert_json(v, "{\"password\":\"canary-5c1e\"}");
    assert_true(value_getz(v, "password").flags & VALUE_SENSITIVE);
    assert_fails(values_collect(&src, a, STR("ns"), VALUE_NONE,
                                parse(a, "[{\"kind\":\"Secret\",\"name\":\"bad\"}]"), VALUE_NONE, &v, &err),
                 ERRC_PARSE, err, "spec.valuesFrom: key values.yaml of Secret ns/bad is not a YAML map");
}

static void test_optional_sources_may_be_absent(void **state)
{
    static const struct fake objects[] = { { "ConfigMap/here", "{\"data\":{\"k\":\"a: 1\"}}" },
                                           { NULL, NULL } };
    struct values_source src = { fake_get, (void *)(uintptr_t)objects };
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_ok(
        values_collect(
            &src, a, STR("ns"), VALUE_NONE,
            parse(a, "[{\"kind\":\"ConfigMap\",\"name\":\"none\",\"optional\":true},"
                     "{\"kind\":\"ConfigMap\",\"name\":\"here\",\"valuesKey\":\"other\",\"optional\":true},"
                     "{\"kind\":\"ConfigMap\",\"name\":\"here\",\"valuesKey\":\"k\"}]"),
            VALUE_NONE, &v, &err),
        err);
    assert_json(v, "{\"a\":1}");
    assert_fails(values_collect(&src, a, STR("ns"), VALUE_NONE,
                                parse(a, "[{\"kind\":\"ConfigMap\",\"name\":\"here\"}]"), VALUE_NONE, &v,
                                &err),
                 ERRC_NOT_FOUND, err, "spec.valuesFrom: ConfigMap ns/here has no key values.yaml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_merge_in_list_order),
        cmocka_unit_test(test_own_json_beats_refs_and_refs_nest),
        cmocka_unit_test(test_cycles_and_missing_objects_are_named),
        cmocka_unit_test(test_the_depth_of_refs_is_limited),
        cmocka_unit_test(test_the_number_of_resolved_objects_is_limited),
        cmocka_unit_test(test_secrets_are_marked_and_never_quoted),
        cmocka_unit_test(test_optional_sources_may_be_absent),
    };

    return RUN_TESTS(tests);
}
