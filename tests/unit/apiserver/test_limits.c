/* SPDX-License-Identifier: Apache-2.0 */
/* What a request may have: one below, at the limit, one above. Depth: test_depth.c; operations: test_patch.c. */
#include "apiserver/jsonpath.h"
#include "apiserver/patch.h"
#include "base/limits.h"
#include "unit/apiserver/serve.h"

static const int beside[] = { -1, 0, 1 };

static void a_request_has_so_many_parameters(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(MIB);

        buf_adds(&b, "/api/v1/namespaces?");
        for (size_t k = 0; k < (size_t)((int64_t)API_PARAMS_MAX + beside[i]); k++)
            buf_addf(&b, "p%zu=1&", k);
        get(f, beside[i] > 0 ? 400 : 200, buf_z(&b));
    }
}

static const char *repeated(struct buf *b, const char *before, const char *item, size_t n, const char *after)
{
    buf_clear(b);
    buf_adds(b, before);
    for (size_t k = 0; k < n; k++)
        buf_addf(b, "%s%s%zu", k ? "%2C" : "", item, k);
    buf_adds(b, after);
    return buf_z(b);
}

static void a_selector_has_so_many_terms(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(MIB);
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        size_t n = (size_t)((int64_t)API_SELECTOR_TERMS_MAX + beside[i]);
        int code = beside[i] > 0 ? 400 : 200;

        get(f, code, repeated(&b, "/api/v1/namespaces?labelSelector=", "a", n, ""));
        get(f, code, repeated(&b, "/api/v1/namespaces?labelSelector=a+in+%28", "v", n, "%29"));
        get(f, code, repeated(&b, "/api/v1/namespaces?fieldSelector=", "metadata.name%21=a", n, ""));
    }
}

static void a_path_in_a_definition_has_a_length(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(api_jsonpath_free) struct api_jsonpath *p = NULL;
        CLEANUP(buf_done) struct buf b = BUF_INIT(2 * API_JSONPATH_MAX);

        buf_addc(&b, '.');
        buf_add_repeat(&b, 'a', (size_t)((int64_t)API_JSONPATH_MAX + beside[i]) - 1);
        assert_num(api_jsonpath_parse(buf_str(&b), &p, NULL), beside[i] > 0 ? -ERRC_LIMIT : 0);
    }
}

/* The worker keeps API_HISTORY_MAX of them. */
static void what_is_kept_of_the_past_has_a_number(void **state)
{
    enum { KEPT = 3 };
    struct fixture *f = *state;
    struct answer last;
    struct err *err = NULL;
    int64_t now = 0;

    for (int i = 0; i < KEPT + 4; i++)
        last = post(f, 201, "/api/v1/namespaces/default/configmaps", "{'metadata':{'generateName':'c'}}");
    assert_true(str_to_int64(at(last.body, "metadata.resourceVersion"), &now));
    assert_ok(api_store_compact(f->server->store, API_HISTORY_MS, KEPT, &err), err);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        const char *target = arena_dupz(
            f->arena,
            arena_printf(
                f->arena,
                "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact&resourceVersion=%lld",
                (long long)now - KEPT - beside[i]));

        get(f, beside[i] > 0 ? 410 : 200, target);
    }
}

static struct value nested_not(struct arena *a, size_t n, const char *text)
{
    struct value v = value_new_map(a);

    value_setz(v, "description", value_from_str(str_from(text)));
    for (size_t i = 1; i < n; i++) {
        struct value outer = value_new_map(a);

        value_setz(outer, "not", v);
        v = outer;
    }
    return v;
}

static void a_strategic_patch_has_so_many_levels(void **state)
{
    struct fixture *f = *state;
    struct api_ref type =
        api_kind_type_named(STR("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"));

    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        size_t n = (size_t)(API_PATCH_DEPTH_MAX + beside[i]);
        struct err *err = NULL;
        struct value v;
        int r = api_patch_strategic(f->arena, type, nested_not(f->arena, n, "a"),
                                    nested_not(f->arena, n, "b"), &v, &err);

        if (beside[i] <= 0)
            assert_ok(r, err);
        else
            assert_fails(r, ERRC_INVALID, err, "exceeded max depth");
    }
}

/* What a Secret's and a ConfigMap's own rule says is smaller. */
static void an_object_has_a_size_as_stored(void **state)
{
    struct fixture *f = *state;
    CLEANUP(buf_done) struct buf text = BUF_INIT(2 * API_OBJECT_MAX);

    buf_add_repeat(&text, 'x', 2 * API_OBJECT_MAX);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(buf_done) struct buf json = BUF_INIT(2 * API_OBJECT_MAX);
        struct value v = value_new_map(f->arena), meta = value_new_map(f->arena);
        struct api_write w = { .op = API_OP_CREATE,
                               .key = { STR("configmaps"), STR("default"),
                                        arena_printf(f->arena, "large%zu", i) },
                               .object = v };
        struct err *err = NULL;
        int r;

        value_setz(v, "metadata", meta);
        value_setz(meta, "resourceVersion", VALUE_STR("00")); /* as long as the one that it gets */
        value_setz(v, "data", VALUE_STR(""));
        IGNORE_ERROR(json_print(v, 0, &json, NULL));
        value_setz(v, "data",
                   value_from_str((struct str){ text.p, API_OBJECT_MAX - json.n + (size_t)beside[i] }));
        r = api_store_write(f->server->store, &w, &err);
        if (beside[i] <= 0)
            assert_ok(r, err);
        else
            assert_fails(r, ERRC_LIMIT, err, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVE_TEST(a_request_has_so_many_parameters),     SERVE_TEST(a_selector_has_so_many_terms),
        SERVE_TEST(a_path_in_a_definition_has_a_length),  SERVE_TEST(what_is_kept_of_the_past_has_a_number),
        SERVE_TEST(a_strategic_patch_has_so_many_levels), SERVE_TEST(an_object_has_a_size_as_stored),
    };

    return RUN_TESTS(tests);
}
