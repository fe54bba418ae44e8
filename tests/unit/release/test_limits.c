/* SPDX-License-Identifier: Apache-2.0 */
/* What a release may have: one below, at the limit, one above. */
#include "archive/archive.h"
#include "base/encode.h"
#include "base/limits.h"
#include "lib/check.h"
#include "lib/server.h"
#include "release/object.h"
#include "release/record.h"

static const int beside[] = { -1, 0, 1 };

static void discovery(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    UNUSED(ctx);
    if (str_has_prefix(rq->target, STR("/api/v1")))
        server_reply(
            c, 200, "Content-Type: application/json\r\n",
            STR("{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":[{\"name\":"
                "\"configmaps\","
                "\"singularName\":\"\",\"namespaced\":true,\"kind\":\"ConfigMap\",\"verbs\":[\"get\"]}]}"));
    else
        server_reply(c, 404, NULL, STR("{}"));
}

static void test_a_release_has_so_many_objects(void **state)
{
    static const struct release_owner owner = { .release = { "web", 3 }, .ns = { "a", 1 } };
    struct server *server = server_start(discovery, NULL);
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d", server_port(server));
    struct kube_config_options o = { .kubeconfig = "/dev/null", .server = url };
    CLEANUP(kube_config_free) struct kube_config *config = NULL;
    struct kube *kube = NULL;
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(kube_config_load(&o, &config, &err), err);
    assert_ok(kube_new(config, &kube, &err), err);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
        CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);
        struct release_objects got = { 0 };
        size_t n = (size_t)((int64_t)RELEASE_OBJECTS_MAX + beside[i]);

        buf_adds(&text, "kind: List\napiVersion: v1\nitems:\n");
        for (size_t k = 0; k < n; k++)
            buf_addf(&text, "- {apiVersion: v1, kind: ConfigMap, metadata: {name: c%zu}}\n", k);
        if (beside[i] <= 0)
            assert_ok(release_objects_parse(kube, a, buf_str(&text), &owner, &got, &err), err);
        else
            assert_fails(release_objects_parse(kube, a, buf_str(&text), &owner, &got, &err), ERRC_LIMIT, err,
                         "more than 20000 objects in one release");
        assert_num(got.n, beside[i] <= 0 ? n : 0);
    }
    kube_unref(kube);
    server_stop(server);
}

/* Text that deflate stores as it is. */
static struct str noise(struct arena *a, size_t n)
{
    char *p = arena_alloc_bytes(a, n);
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        p[i] = (char)('!' + x % 90);
        if (p[i] == '"' || p[i] == '\\' || p[i] == '<' || p[i] == '>' || p[i] == '&')
            p[i] = '_';
    }
    return (struct str){ p, n };
}

/* Bytes of data.release as the API server counts them, or 0 when the record is refused for its size. */
static size_t encoded(size_t n)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf data = BUF_INIT(4 * RELEASE_RECORD_MAX);
    CLEANUP(record_free) struct record *r = record_new(STR("demo"), STR("big"), 3);
    CLEANUP(err_free) struct err *err = NULL;
    struct value secret;
    int e;

    value_setz(r->release, "manifest", value_from_str(noise(a, n)));
    e = record_encode(r, a, &secret, &err);
    if (e == -ERRC_LIMIT)
        return 0;
    check_ok(e, &err, "record_encode", __FILE__, __LINE__);
    assert_true(base64_decode(BASE64_STD, value_str(value_path(secret, "data.release")), &data, NULL));
    return data.n;
}

/* base64 gives four bytes at a time, and the limit is a multiple of it. */
static void test_a_record_fits_into_a_secret(void **state)
{
    size_t n = 900 * KIB, about = n * RELEASE_RECORD_MAX / encoded(n), fits = about - 4 * KIB,
           fails = about + 4 * KIB;

    UNUSED(state);
    assert_num(encoded(fails), 0);
    while (fails - fits > 1) {
        n = fits + (fails - fits) / 2;
        if (encoded(n) > 0)
            fits = n;
        else
            fails = n;
    }
    assert_true(encoded(fits) <= RELEASE_RECORD_MAX);
    assert_true(encoded(fits) > RELEASE_RECORD_MAX - 64);
}

static void test_what_a_record_unpacks_to_has_a_limit(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        CLEANUP(buf_done)
        struct buf json = BUF_INIT(2 * RELEASE_RECORD_UNPACKED_MAX), packed = BUF_INIT(MIB),
                   inner = BUF_INIT(MIB), outer = BUF_INIT(2 * MIB);
        struct value secret = value_new_map(a);
        struct record *r = NULL;
        struct err *err = NULL;

        value_set_path(secret, "metadata.name", VALUE_STR("x"));
        buf_adds(&json, "{\"name\":\"big\",\"version\":1,\"info\":{\"status\":\"deployed\"}}");
        buf_add_repeat(&json, ' ', (size_t)((int64_t)RELEASE_RECORD_UNPACKED_MAX + beside[i]) - json.n);
        assert_ok(archive_gzip(buf_str(&json), &packed, &err), err);
        base64_encode(BASE64_STD, buf_str(&packed), &inner);
        base64_encode(BASE64_STD, buf_str(&inner), &outer);
        value_set_path(secret, "data.release", value_from_str(buf_str(&outer)));
        if (beside[i] <= 0)
            assert_ok(record_decode(secret, &r, &err), err);
        else
            assert_fails(record_decode(secret, &r, &err), ERRC_LIMIT, err, NULL);
        record_free(r);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_release_has_so_many_objects),
        cmocka_unit_test(test_a_record_fits_into_a_secret),
        cmocka_unit_test(test_what_a_record_unpacks_to_has_a_limit),
    };

    return RUN_TESTS(tests);
}
