/* SPDX-License-Identifier: Apache-2.0 */
/* The client against a real API server: $PINTLE_TEST_KUBECONFIG names its kubeconfig (cluster-admin). Without it every
 * test is skipped; `make conformance` sets it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/random.h"
#include "kube/kube.h"
#include "lib/check.h"
#include "json/json.h"

static struct kube *kube;
static struct arena *arena;
static char ns_text[64];
static atomic_int n_exchanges;

static struct str ns(void)
{
    return str_from(ns_text);
}

static void observe(void *ctx, const struct kube_exchange *x)
{
    UNUSED(ctx);
    UNUSED(x);
    atomic_fetch_add(&n_exchanges, 1);
}

static struct value parse(const char *text)
{
    struct value v = VALUE_NONE;

    if (json_parse(arena, arena_dup(arena, str_from(text)), NULL, &v, NULL) < 0)
        abort();
    return v;
}

/* The text with its single %s replaced by the namespace. */
static struct value object(const char *text)
{
    struct str s = str_from(text);
    size_t at = str_find(s, STR("NS"));
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    buf_addstr(&b, str_sub(s, 0, at));
    buf_adds(&b, ns_text);
    buf_addstr(&b, str_sub(s, at + 2, s.n));
    return parse(buf_z(&b));
}

static int group_setup(void **state)
{
    const char *file = getenv("PINTLE_TEST_KUBECONFIG");
    CLEANUP(kube_config_free) struct kube_config *config = NULL;
    struct kube_config_options o = { .kubeconfig = file };
    struct err *err = NULL;

    UNUSED(state);
    arena = arena_new(64 * MIB);
    if (!file)
        return 0;
    if (kube_config_load(&o, &config, &err) < 0 || kube_new(config, &kube, &err) < 0) {
        print_error("%s\n", err_message(err));
        return -1;
    }
    kube_add_observer(kube, observe, NULL);
    snprintf(ns_text, sizeof(ns_text), "kube-test-%x", random_below(1U << 30));
    if (kube_create(kube, arena,
                    object("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"NS\"}}"),
                    NULL, &err) < 0) {
        print_error("%s\n", err_message(err));
        return -1;
    }
    return 0;
}

static int group_teardown(void **state)
{
    struct kube_ref ref = KUBE_REF("v1", "Namespace", STR_NONE, ns());

    UNUSED(state);
    if (kube)
        IGNORE_ERROR(kube_delete(kube, &ref, STR_NONE, NULL));
    arena_free(arena);
    kube_unref(kube);
    return 0;
}

#define NEED_CLUSTER() \
    do {               \
        if (!kube)     \
            skip();    \
    } while (0)

#define CONFIGMAP "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"NS\",\"name\":"

static void test_objects_are_created_read_changed_and_deleted(void **state)
{
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", ns(), STR("crud"));
    CLEANUP(err_free) struct err *err = NULL;
    struct value v = VALUE_NONE;

    UNUSED(state);
    NEED_CLUSTER();
    assert_ok(kube_create(kube, arena, object(CONFIGMAP "\"crud\"},\"data\":{\"a\":\"1\"}}"), &v, &err), err);
    assert_true(kube_uid(v).n > 0);
    assert_num(kube_create(kube, arena, object(CONFIGMAP "\"crud\"}}"), NULL, &err), -ERRC_EXISTS);
    assert_num(err_http_status(err), 409);
    err_free(err);
    err = NULL;
    assert_ok(kube_get(kube, arena, &ref, &v, &err), err);
    value_set_path(v, "data.b", VALUE_STR("2"));
    assert_ok(kube_update(kube, arena, v, NULL, &err), err);
    assert_num(kube_update(kube, arena, v, NULL, &err), -ERRC_CONFLICT);
    err_free(err);
    err = NULL;
    assert_ok(kube_merge_patch(kube, arena, &ref, parse("{\"data\":{\"a\":null}}"), &v, &err), err);
    assert_false(value_has(value_getz(v, "data"), STR("a")));
    assert_num(kube_delete(kube, &ref, STR("00000000-0000-0000-0000-000000000000"), &err), -ERRC_CONFLICT);
    err_free(err);
    err = NULL;
    assert_ok(kube_delete(kube, &ref, kube_uid(v), &err), err);
    assert_ok(kube_delete(kube, &ref, STR_NONE, &err), err);
    assert_num(kube_get(kube, arena, &ref, &v, &err), -ERRC_NOT_FOUND);
    assert_non_null(strstr(err_message(err), "configmaps \"crud\" not found"));
    assert_false(kube_err_is_no_match(err));
}

static void test_apply_creates_and_names_who_is_in_the_way(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct value v = VALUE_NONE;
    struct value one = object(CONFIGMAP "\"apply\"},\"data\":{\"a\":\"1\"}}");
    struct value two = object(CONFIGMAP "\"apply\"},\"data\":{\"a\":\"2\"}}");

    UNUSED(state);
    NEED_CLUSTER();
    assert_ok(kube_apply(kube, arena, one, STR("helm"), false, &v, &err), err);
    assert_num(kube_apply(kube, arena, two, STR("other"), false, &v, &err), -ERRC_CONFLICT);
    assert_true(kube_err_is_apply_conflict(err));
    assert_non_null(strstr(err_message(err), "conflict with \"helm\""));
    assert_non_null(strstr(err_message(err), ".data.a"));
    err_free(err);
    err = NULL;
    assert_ok(kube_apply(kube, arena, two, STR("other"), true, &v, &err), err);
    assert_str(value_str(value_path(v, "data.a")), "2");
}

static void test_many_requests_run_together_and_are_counted(void **state)
{
    enum { N = 60 };
    struct kube_request rq[N];
    struct kube_result results[N];
    CLEANUP(err_free) struct err *err = NULL;
    struct kube_ref all = KUBE_REF("v1", "ConfigMap", ns(), STR_NONE);
    struct value list = VALUE_NONE;
    int before;

    UNUSED(state);
    NEED_CLUSTER();
    for (int i = 0; i < N; i++) {
        CLEANUP(free_ptr)
        char *text = xasprintf("%s\"many-%02d\",\"labels\":{\"many\":\"yes\"}}}", CONFIGMAP, i);

        rq[i] = (struct kube_request){ .verb = KUBE_CREATE, .object = object(text) };
    }
    rq[5].object = rq[4].object;
    before = atomic_load(&n_exchanges);
    assert_num(kube_do_all(kube, arena, rq, N, 0, results), -ERRC_EXISTS);
    assert_num(atomic_load(&n_exchanges) - before, N);
    for (int i = 0; i < N; i++) {
        if (i != 4 && i != 5)
            assert_true(results[i].created);
    }
    assert_true((results[4].r == 0) != (results[5].r == 0));
    kube_results_done(results, N);
    before = atomic_load(&n_exchanges);
    assert_ok(kube_list(kube, arena, &all, STR("many=yes"), &list, &err), err);
    assert_num(value_len(value_getz(list, "items")), N - 1);
    assert_num(atomic_load(&n_exchanges) - before, 1);
    assert_true(kube_resource_version(list).n > 0);
    assert_str(value_str(value_getz(value_at(value_getz(list, "items"), 0), "kind")), "ConfigMap");
}

static void test_pages_add_up(void **state)
{
    struct kube_request rq = { .verb = KUBE_LIST,
                               .limit = 7,
                               .metadata_only = true,
                               .ref = KUBE_REF("v1", "ConfigMap", ns(), STR_NONE),
                               .label_selector = STR("many=yes") };
    CLEANUP(err_free) struct err *err = NULL;
    struct value list = VALUE_NONE, first;
    int before = atomic_load(&n_exchanges);

    UNUSED(state);
    NEED_CLUSTER();
    assert_ok(kube_do(kube, arena, &rq, &list, &err), err);
    assert_num(value_len(value_getz(list, "items")), 59);
    assert_num(atomic_load(&n_exchanges) - before, 9);
    first = value_at(value_getz(list, "items"), 0);
    assert_str(value_str(value_getz(first, "kind")), "ConfigMap");
    assert_str(kube_name(first), "many-00");
}

static int bump(void *ctx, struct arena *a, struct value v, struct err **err)
{
    int *tries = ctx;

    UNUSED(err);
    if ((*tries)++ == 0) { /* somebody is faster */
        struct kube_ref ref = kube_ref_of(v);

        IGNORE_ERROR(kube_merge_patch(kube, a, &ref, parse("{\"data\":{\"x\":\"y\"}}"), NULL, NULL));
    }
    value_set_path(v, "data.done", VALUE_STR("yes"));
    return 1;
}

static void test_a_conflict_is_tried_again_on_what_is_there_now(void **state)
{
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", ns(), STR("conflict"));
    CLEANUP(err_free) struct err *err = NULL;
    struct value v = VALUE_NONE;
    int tries = 0;

    UNUSED(state);
    NEED_CLUSTER();
    assert_ok(kube_create(kube, arena, object(CONFIGMAP "\"conflict\"}}"), &v, &err), err);
    assert_ok(kube_update_retry(kube, arena, &ref, STR_NONE, bump, &tries, &v, &err), err);
    assert_num(tries, 2);
    assert_str(value_str(value_path(v, "data.done")), "yes");
    assert_str(value_str(value_path(v, "data.x")), "y");
}

static void test_discovery_knows_kinds_names_and_versions(void **state)
{
    const struct kube_kind *kind = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    struct value versions = VALUE_NONE, version = VALUE_NONE;
    bool has = false;
    int before;

    UNUSED(state);
    NEED_CLUSTER();
    before = atomic_load(&n_exchanges);
    assert_ok(kube_kind_find(kube, STR("v1"), STR("Secret"), &kind, &err), err);
    assert_num(atomic_load(&n_exchanges) - before, 0);
    assert_ok(kube_kind_find(kube, STR("flowcontrol.apiserver.k8s.io/v1"), STR("FlowSchema"), &kind, &err),
              err);
    assert_str(kind->plural, "flowschemas");
    assert_false(kind->namespaced);
    assert_ok(kube_kind_find(kube, STR("flowcontrol.apiserver.k8s.io/v1"), STR("PriorityLevelConfiguration"),
                             &kind, &err),
              err);
    assert_num(atomic_load(&n_exchanges) - before, 1);
    assert_num(kube_kind_find(kube, STR("example.com/v1"), STR("Nothing"), &kind, &err), -ERRC_NOT_FOUND);
    assert_true(kube_err_is_no_match(err));
    assert_string_equal(err_message(err), "no matches for kind \"Nothing\" in version \"example.com/v1\"");
    err_free(err);
    err = NULL;
    assert_ok(kube_kind_find_resource(kube, STR("deploy"), &kind, &err), err);
    assert_str(kind->api_version, "apps/v1");
    assert_ok(kube_kind_find_resource(kube, STR("horizontalpodautoscalers.v1.autoscaling"), &kind, &err),
              err);
    assert_str(kind->api_version, "autoscaling/v1");
    assert_ok(kube_api_versions(kube, arena, &versions, &err), err);
    for (size_t i = 0; i < value_len(versions); i++)
        has = has || str_eq(value_str(value_at(versions, i)), STR("apps/v1/Deployment"));
    assert_true(has);
    assert_ok(kube_server_version(kube, arena, &version, &err), err);
    assert_true(str_has_prefix(value_str(value_getz(version, "gitVersion")), STR("v1.")));
}

static void test_a_view_carries_another_identity(void **state)
{
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", ns(), STR("conflict"));
    CLEANUP(kube_unref) struct kube *view = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    NEED_CLUSTER();
    view = kube_as_service_account(kube, ns(), STR("nobody"));
    assert_num(kube_get(view, arena, &ref, &v, &err), -ERRC_FORBIDDEN);
    assert_non_null(strstr(err_message(err), "system:serviceaccount:"));
    assert_num(err_http_status(err), 403);
}

struct sink {
    pthread_mutex_t lock;
    int begins, ends, listed, added, modified, deleted;
    char last[64];
};

static void on_begin(void *ctx)
{
    ((struct sink *)ctx)->begins++;
}

static void on_item(void *ctx, struct value v)
{
    UNUSED(v);
    ((struct sink *)ctx)->listed++;
}

static void on_end(void *ctx, struct str version)
{
    struct sink *s = ctx;

    UNUSED(version);
    pthread_mutex_lock(&s->lock);
    s->ends++;
    pthread_mutex_unlock(&s->lock);
}

static void on_event(void *ctx, enum kube_event_type type, struct value v)
{
    struct sink *s = ctx;

    pthread_mutex_lock(&s->lock);
    *(type == KUBE_ADDED ? &s->added : type == KUBE_MODIFIED ? &s->modified : &s->deleted) += 1;
    snprintf(s->last, sizeof(s->last), STR_FMT, STR_ARG(kube_name(v)));
    pthread_mutex_unlock(&s->lock);
}

static void *run(void *arg)
{
    kube_reflector_run(arg);
    return NULL;
}

static bool wait_for(struct sink *s, const int *figure, int want)
{
    for (int i = 0; i < 500; i++) {
        bool there;

        pthread_mutex_lock(&s->lock);
        there = *figure >= want;
        pthread_mutex_unlock(&s->lock);
        if (there)
            return true;
        usleep(10000);
    }
    return false;
}

static void test_a_reflector_lists_and_follows(void **state)
{
    struct sink s = { .lock = PTHREAD_MUTEX_INITIALIZER };
    struct kube_reflector_sink sink = { &s, on_begin, on_item, on_end, on_event, NULL };
    struct kube_reflector_options o = { .ref = KUBE_REF("v1", "ConfigMap", ns(), STR_NONE),
                                        .watch_s = 2,
                                        .metadata_only = true };
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", ns(), STR("followed"));
    struct kube_reflector *r = NULL;
    bool listed, added, modified, deleted, late;
    pthread_t thread;
    int64_t start;

    UNUSED(state);
    NEED_CLUSTER();
    r = kube_reflector_new(kube, &o, &sink);
    pthread_create(&thread, NULL, run, r);
    listed = wait_for(&s, &s.ends, 1);
    IGNORE_ERROR(kube_create(kube, arena, object(CONFIGMAP "\"followed\"}}"), NULL, NULL));
    added = wait_for(&s, &s.added, 1);
    IGNORE_ERROR(kube_merge_patch(kube, arena, &ref, parse("{\"data\":{\"a\":\"b\"}}"), NULL, NULL));
    modified = wait_for(&s, &s.modified, 1);
    IGNORE_ERROR(kube_delete(kube, &ref, STR_NONE, NULL));
    deleted = wait_for(&s, &s.deleted, 1);
    usleep(3000000); /* the server has ended a watch meanwhile */
    IGNORE_ERROR(kube_create(kube, arena, object(CONFIGMAP "\"followed\"}}"), NULL, NULL));
    late = wait_for(&s, &s.added, 2);
    start = clock_mono_ms();
    kube_reflector_stop(r);
    pthread_join(thread, NULL);
    assert_true(clock_mono_ms() - start < 1000);
    assert_true(listed && added && modified && deleted && late);
    assert_num(s.begins, 1);
    assert_true(kube_reflector_figures(r).watches >= 2);
    assert_num(kube_reflector_figures(r).lists, 1);
    kube_reflector_free(r);
}

static int is_there(void *ctx, enum kube_event_type type, struct value v, struct err **err)
{
    UNUSED(err);
    UNUSED(type);
    return str_eq(kube_name(v), str_from(ctx));
}

static void test_waiting_sees_what_is_there_already(void **state)
{
    struct kube_reflector_options o = { .ref = KUBE_REF("v1", "ConfigMap", ns(), STR_NONE) };
    CLEANUP(err_free) struct err *err = NULL;
    char name[] = "conflict", absent[] = "absent";

    UNUSED(state);
    NEED_CLUSTER();
    assert_num(kube_watch_until(kube, &o, 5000, is_there, name, &err), 1);
    assert_num(kube_watch_until(kube, &o, 300, is_there, absent, &err), -ERRC_TIMEOUT);
}

static void test_equal_events_are_counted_on_one_object(void **state)
{
    struct kube_ref all = KUBE_REF("v1", "Event", ns(), STR_NONE);
    struct kube_recorder *r;
    CLEANUP(err_free) struct err *err = NULL;
    struct value list = VALUE_NONE, first;
    struct value about = VALUE_NONE;

    UNUSED(state);
    NEED_CLUSTER();
    about = object(CONFIGMAP "\"conflict\",\"uid\":\"u1\"}}");
    r = kube_recorder_new(kube, STR("pintle"));
    for (int i = 0; i < 5; i++)
        kube_event(r, about, KUBE_EVENT_WARNING, "Tested", "the message %d", 1);
    kube_event(r, about, KUBE_EVENT_NORMAL, "Other", "fine");
    kube_recorder_free(r);
    assert_ok(kube_list(kube, arena, &all, STR_NONE, &list, &err), err);
    assert_num(value_len(value_getz(list, "items")), 2);
    first = value_at(value_getz(list, "items"), 0);
    if (str_eq(value_str(value_getz(first, "reason")), STR("Other")))
        first = value_at(value_getz(list, "items"), 1);
    assert_num(value_int(value_getz(first, "count"), 0), 5);
    assert_str(value_str(value_getz(first, "type")), "Warning");
    assert_str(value_str(value_path(first, "involvedObject.name")), "conflict");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_are_created_read_changed_and_deleted),
        cmocka_unit_test(test_apply_creates_and_names_who_is_in_the_way),
        cmocka_unit_test(test_many_requests_run_together_and_are_counted),
        cmocka_unit_test(test_pages_add_up),
        cmocka_unit_test(test_a_conflict_is_tried_again_on_what_is_there_now),
        cmocka_unit_test(test_discovery_knows_kinds_names_and_versions),
        cmocka_unit_test(test_a_view_carries_another_identity),
        cmocka_unit_test(test_a_reflector_lists_and_follows),
        cmocka_unit_test(test_waiting_sees_what_is_there_already),
        cmocka_unit_test(test_equal_events_are_counted_on_one_object),
    };
    int failed;

    if (group_setup(NULL) < 0)
        return 1;
    failed = RUN_TESTS(tests);
    return group_teardown(NULL) < 0 ? 1 : failed;
}
