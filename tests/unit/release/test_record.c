/* SPDX-License-Identifier: Apache-2.0 */
#include "release/record.h"

#include "base/encode.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static struct value read_secret(struct arena *a, const char *path)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4 * MIB);
    struct err *err = NULL;
    struct value v;

    check_read_data(path, &text);
    assert_ok(json_parse(a, buf_str(&text), NULL, &v, &err), err);
    return v;
}

static void test_a_record_of_helm_is_read(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(record_free) struct record *r = NULL;
    struct value secret = read_secret(a, "release/helm-4.2.4-record.json");
    struct record_head h = record_head(value_getz(secret, "metadata"));
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(record_decode(secret, &r, &err), err);
    assert_str(record_name(r), "web");
    assert_str(record_namespace(r), "demo");
    assert_num(record_revision(r), 1);
    assert_num(record_status(r), RECORD_DEPLOYED);
    assert_true(record_is_ssa(r));
    assert_num(value_int(value_getz(record_config(r), "replicaCount"), 0), 2);
    assert_true(str_has_prefix(record_manifest(r), STR("---\n# Source: podinfo/templates/")));
    assert_num(h.revision, 1);
    assert_num(h.status, RECORD_DEPLOYED);
    assert_str(h.release, "web");
}

static void test_a_record_comes_back_as_it_was_written(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(record_free) struct record *r = NULL, *again = NULL;
    struct value secret = read_secret(a, "release/helm-4.2.4-record.json"), mine;
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(record_decode(secret, &r, &err), err);
    record_set_status(r, RECORD_SUPERSEDED, STR("later"));
    record_set_annotation(r, RECORD_ANNOTATION_INPUTS, STR("abc"));
    assert_ok(record_encode(r, a, &mine, &err), err);
    assert_str(value_str(value_path(mine, "metadata.labels.status")), "superseded");
    assert_str(value_str(value_path(mine, "metadata.labels.owner")), "helm");
    assert_str(value_str(value_path(mine, "metadata.name")), "sh.helm.release.v1.web.v1");
    assert_true(value_is_null(value_path(mine, "metadata.labels.createdAt"))); /* Helm drops it on update */
    assert_ok(record_decode(mine, &again, &err), err);
    assert_true(value_equal(again->release, r->release));
    assert_str(record_annotation(again, RECORD_ANNOTATION_INPUTS), "abc");
}

static void set_release_data(struct value secret, struct arena *a, struct str payload)
{
    CLEANUP(buf_done) struct buf inner = BUF_INIT(8 * MIB), outer = BUF_INIT(8 * MIB);
    struct value data = value_new_map(a);

    base64_encode(BASE64_STD, payload, &inner);
    base64_encode(BASE64_STD, buf_str(&inner), &outer);
    value_setz(data, "release", value_from_str(arena_dup(a, buf_str(&outer))));
    value_setz(secret, "data", data);
}

static void test_plain_json_of_an_old_helm_is_read(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(record_free) struct record *r = NULL;
    struct value secret = value_new_map(a);
    struct err *err = NULL;

    UNUSED(state);
    value_set_path(secret, "metadata.name", VALUE_STR("x"));
    set_release_data(
        secret, a, STR("{\"name\":\"old\",\"version\":7,\"info\":{\"status\":\"failed\",\"deleted\":\"\"}}"));
    assert_ok(record_decode(secret, &r, &err), err);
    assert_num(record_revision(r), 7);
    assert_num(record_status(r), RECORD_FAILED);
}

static void test_damaged_records_are_refused_by_name(void **state)
{
    static const struct {
        const char *payload, *want;
    } cases[] = {
        { "[]", "release record x: not a Helm release" },
        { "{\"name\":", "release record x: unexpected end of JSON input" },
        { "\x1f\x8b\x08garbage", NULL },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        struct value secret = value_new_map(a);
        struct record *r = NULL;
        struct err *err = NULL;

        value_set_path(secret, "metadata.name", VALUE_STR("x"));
        set_release_data(secret, a, str_from(cases[i].payload));
        assert_fails(record_decode(secret, &r, &err), ERRC_PARSE, err, cases[i].want);
        assert_null(r);
    }
}

/* Text that deflate cannot shrink, so that its size is that of the record. */
static void add_noise(struct record *r, size_t n)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(4 * MIB), text = BUF_INIT(8 * MIB);
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        buf_addc(&raw, (char)x);
    }
    base64_encode(BASE64_STD, buf_str(&raw), &text);
    value_setz(r->release, "manifest", value_from_str(arena_dup(r->arena, buf_str(&text))));
}

static void test_a_record_over_a_mebibyte_is_refused_before_it_is_written(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct err *err = NULL;
    struct value secret;

    UNUSED(state);
    for (int fits = 0; fits <= 1; fits++) {
        CLEANUP(record_free) struct record *r = record_new(STR("demo"), STR("big"), 3);

        record_set_status(r, RECORD_PENDING_INSTALL, STR("Initial install underway"));
        record_set_deployed_now(r);
        add_noise(r, fits ? 700 * KIB : 800 * KIB);
        if (fits)
            assert_ok(record_encode(r, a, &secret, &err), err);
        else
            assert_fails(record_encode(r, a, &secret, &err), ERRC_LIMIT, err, NULL);
    }
}

static void test_hook_runs_are_kept_per_event(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(record_free) struct record *r = NULL;
    struct value secret = read_secret(a, "release/helm-4.2.4-record.json"), hook;
    struct str kind, name, path;
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(record_decode(secret, &r, &err), err);
    hook = value_at(record_hooks(r), 0);
    kind = value_str(value_getz(hook, "kind"));
    name = value_str(value_getz(hook, "name"));
    path = value_str(value_getz(hook, "path"));
    assert_str(record_hook_run(r, kind, name, path).phase, "");
    record_set_hook_run(r, kind, name, path, "Running");
    assert_true(record_hook_run(r, kind, name, path).started);
    record_set_hook_run(r, kind, name, path, "Succeeded");
    assert_str(record_hook_run(r, kind, name, path).phase, "Succeeded");
    assert_true(record_hook_run(r, kind, name, path).started);
    record_reset_hooks(r, "pre-install");
    assert_str(record_hook_run(r, kind, name, path).phase, "Succeeded");
    record_reset_hooks(r, "test");
    assert_str(record_hook_run(r, kind, name, path).phase, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record_of_helm_is_read),
        cmocka_unit_test(test_a_record_comes_back_as_it_was_written),
        cmocka_unit_test(test_plain_json_of_an_old_helm_is_read),
        cmocka_unit_test(test_damaged_records_are_refused_by_name),
        cmocka_unit_test(test_a_record_over_a_mebibyte_is_refused_before_it_is_written),
        cmocka_unit_test(test_hook_runs_are_kept_per_event),
    };

    return RUN_TESTS(tests);
}
