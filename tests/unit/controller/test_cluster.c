/* SPDX-License-Identifier: Apache-2.0 */
/* Controllers against a real API server: $PINTLE_TEST_KUBECONFIG as in tests/unit/kube/test_cluster.c. The kind under test
 * is ConfigMap; its "reconcile" writes an annotation. */
#include <signal.h>
#include <unistd.h>

#include "base/random.h"
#include "controller/controller_int.h"
#include "http/http.h"
#include "lib/check.h"

static struct kube *kube;
static struct arena *arena;
static char ns_text[64];

struct world {
    atomic_int runs, failures, deleted, secrets;
    _Atomic int64_t last_ms;
    atomic_bool slow;
};
static struct world world;

static struct value object(const char *kind, const char *name, const char *label)
{
    struct value v = value_new_map(arena);

    value_setz(v, "apiVersion", VALUE_STR("v1"));
    value_setz(v, "kind", value_from_str(str_from(kind)));
    value_set_path(v, "metadata.name", value_from_str(arena_dup(arena, str_from(name))));
    if (strcmp(kind, "Namespace") != 0)
        value_set_path(v, "metadata.namespace", value_from_str(str_from(ns_text)));
    if (label)
        value_set_path(v, "metadata.labels.uses", value_from_str(str_from(label)));
    return v;
}

static int open_cluster(void)
{
    const char *file = getenv("PINTLE_TEST_KUBECONFIG");
    struct kube_config_options o = { .kubeconfig = file };
    CLEANUP(kube_config_free) struct kube_config *config = NULL;

    arena = arena_new(64 * MIB);
    if (!file)
        return 0;
    snprintf(ns_text, sizeof(ns_text), "controller-test-%x", random_below(1U << 30));
    if (kube_config_load(&o, &config, NULL) < 0 || kube_new(config, &kube, NULL) < 0)
        return -1;
    return kube_create(kube, arena, object("Namespace", ns_text, NULL), NULL, NULL);
}

static void close_cluster(void)
{
    struct kube_ref ref = KUBE_REF("v1", "Namespace", STR_NONE, str_from(ns_text));

    if (kube)
        IGNORE_ERROR(kube_delete(kube, &ref, STR_NONE, NULL));
    kube_unref(kube);
    arena_free(arena);
}

#define NEED_CLUSTER() \
    do {               \
        if (!kube)     \
            skip();    \
    } while (0)

/* ---- the controller under test ------------------------------------------------------------------------------------ */

static int reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err)
{
    struct world *w = ctx;
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", call->key.ns, call->key.name);
    struct value v, patch = value_new_map(call->arena);
    int r = kube_get(call->kube, call->arena, &ref, &v, err);

    UNUSED(ret);
    if (r == -ERRC_NOT_FOUND) {
        if (err)
            err_free(*err);
        if (err)
            *err = NULL;
        atomic_fetch_add(&w->deleted, 1);
        return 0;
    }
    if (r < 0)
        return r;
    if (str_eq(call->key.name, STR("bad"))) {
        atomic_fetch_add(&w->failures, 1);
        return err_set(err, ERRC_UNAVAILABLE, "it is bad");
    }
    for (int i = 0; atomic_load(&w->slow) && i < 300 && r == 0; i++) {
        usleep(10000);
        r = kube_get(call->kube, call->arena, &ref, &v, err);
    }
    if (r < 0)
        return r;
    value_set_path(patch, "metadata.annotations.seen", VALUE_STR("yes"));
    if (kube_annotation(v, STR("seen")).n == 0)
        r = kube_merge_patch(call->kube, call->arena, &ref, patch, NULL, err);
    atomic_store(&w->last_ms, clock_mono_ms());
    atomic_fetch_add(&w->runs, 1);
    return r;
}

static void note_uses(void *ctx, struct value v, struct controller_note *note)
{
    UNUSED(ctx);
    if (kube_label(v, STR("uses")).n > 0) {
        controller_note_index(note, kube_label(v, STR("uses")));
        controller_note_keep(note, value_from_str(kube_label(v, STR("uses"))));
    }
}

/* A Secret wakes the ConfigMaps whose label names it. */
static void wake_users(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    struct world *w = ctx;

    if (!e->initial)
        atomic_fetch_add(&w->secrets, 1);
    controller_wake_index(out, "configmaps", kube_name(e->object));
}

struct running {
    struct kube *kube;
    struct controller *c;
    pthread_t thread;
    int r;
};

static void *run_main(void *arg)
{
    struct running *x = arg;

    x->r = controller_run(x->c, NULL);
    return NULL;
}

static bool start(struct running *x, struct controller_options o)
{
    struct controller_watch watches[] = {
        { .name = "configmaps",
          .api_version = STR("v1"),
          .kind = STR("ConfigMap"),
          .ns = str_from(ns_text),
          .ignore_status = true,
          .extract = note_uses,
          .ctx = &world },
        { .name = "secrets",
          .api_version = STR("v1"),
          .kind = STR("Secret"),
          .ns = str_from(ns_text),
          .metadata_only = true,
          .map = wake_users,
          .ctx = &world },
    };
    struct controller_kind kind = { "ConfigMap", reconcile, &world, watches, ARRAY_SIZE(watches) };

    if (kube_new_like(kube, &x->kube, NULL) < 0)
        return false;
    o.kube = x->kube;
    if (controller_new(&o, &kind, 1, &x->c, NULL) < 0)
        return false;
    return pthread_create(&x->thread, NULL, run_main, x) == 0;
}

static int64_t stop(struct running *x)
{
    int64_t start_ms = clock_mono_ms();

    controller_stop(x->c);
    pthread_join(x->thread, NULL);
    return clock_mono_ms() - start_ms;
}

static void finish(struct running *x)
{
    controller_free(x->c);
    kube_unref(x->kube);
}

static bool reaches(atomic_int *figure, int want)
{
    for (int i = 0; i < 1000 && atomic_load(figure) < want; i++)
        usleep(10000);
    return atomic_load(figure) >= want;
}

static void reset(void)
{
    atomic_store(&world.runs, 0);
    atomic_store(&world.failures, 0);
    atomic_store(&world.deleted, 0);
    atomic_store(&world.secrets, 0);
    atomic_store(&world.slow, false);
}

static void remove_one(const char *name)
{
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", str_from(ns_text), str_from(name));

    IGNORE_ERROR(kube_delete(kube, &ref, STR_NONE, NULL));
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void test_objects_are_reconciled_when_they_or_what_they_use_change(void **state)
{
    struct running x = { 0 };
    struct controller_object found = { 0 };
    bool first, second, woken, gone, known;
    size_t n;
    int64_t took_ms;

    UNUSED(state);
    NEED_CLUSTER();
    reset();
    IGNORE_ERROR(kube_create(kube, arena, object("ConfigMap", "one", "password"), NULL, NULL));
    assert_true(start(&x, (struct controller_options){ 0 }));
    first = reaches(&world.runs, 1);
    IGNORE_ERROR(kube_create(kube, arena, object("ConfigMap", "two", NULL), NULL, NULL));
    second = reaches(&world.runs, 2);
    usleep(300000);
    atomic_store(&world.runs, 0);
    IGNORE_ERROR(kube_create(kube, arena, object("Secret", "password", NULL), NULL, NULL));
    woken = reaches(&world.secrets, 1) && reaches(&world.runs, 1);
    known = controller_find(x.c, "configmaps", (struct controller_key){ str_from(ns_text), STR("one") },
                            arena, &found);
    IGNORE_ERROR(controller_list(x.c, "configmaps", STR("password"), arena, &n) ? 0 : -1);
    remove_one("one");
    remove_one("two");
    gone = reaches(&world.deleted, 2);
    took_ms = stop(&x);
    assert_true(first && second && woken && gone && known);
    assert_num(n, 1);
    assert_str(value_str(found.kept), "password");
    assert_true(found.uid.n > 0);
    assert_num(x.r, 0);
    assert_true(took_ms < 1000);
    assert_true(metrics_value(controller_metrics(x.c),
                              &(const struct metric){ .name = "pintle_reconcile_total",
                                                      .labels = { "kind", "result" } },
                              METRIC_LABELS(STR("ConfigMap"), STR("ok"))) >= 4);
    finish(&x);
}

static void test_failures_are_tried_again_with_pauses(void **state)
{
    struct running x = { 0 };
    bool again;
    int n;

    UNUSED(state);
    NEED_CLUSTER();
    reset();
    IGNORE_ERROR(kube_create(kube, arena, object("ConfigMap", "bad", NULL), NULL, NULL));
    assert_true(start(&x, (struct controller_options){ 0 }));
    again = reaches(&world.failures, 3); /* 0, 250, 750 ms */
    usleep(300000);
    n = atomic_load(&world.failures);
    stop(&x);
    finish(&x);
    remove_one("bad");
    assert_true(again);
    assert_true(n <= 4);
}

static void test_a_stop_ends_slow_work_in_time(void **state)
{
    struct running x = { 0 };
    int64_t took_ms;

    UNUSED(state);
    NEED_CLUSTER();
    reset();
    atomic_store(&world.slow, true);
    for (int i = 0; i < 20; i++) {
        char name[32];

        snprintf(name, sizeof(name), "slow-%d", i);
        IGNORE_ERROR(kube_create(kube, arena, object("ConfigMap", name, NULL), NULL, NULL));
    }
    assert_true(start(&x, (struct controller_options){ .workers = 4 }));
    usleep(800000);
    took_ms = stop(&x);
    finish(&x);
    for (int i = 0; i < 20; i++) {
        char name[32];

        snprintf(name, sizeof(name), "slow-%d", i);
        remove_one(name);
    }
    assert_true(took_ms >= 900 && took_ms < 2000);
}

static void test_sigterm_stops_it(void **state)
{
    struct running x = { 0 };
    int64_t start_ms;

    UNUSED(state);
    NEED_CLUSTER();
    reset();
    assert_true(start(&x, (struct controller_options){ .signals = true }));
    usleep(300000);
    start_ms = clock_mono_ms();
    kill(getpid(), SIGTERM);
    pthread_join(x.thread, NULL);
    assert_true(clock_mono_ms() - start_ms < 2000);
    assert_num(x.r, 0);
    finish(&x);
}

static struct controller_options electing(const char *who)
{
    return (struct controller_options){ .lease_ns = str_from(ns_text),
                                        .lease_name = STR("leader"),
                                        .identity = str_from(who),
                                        .lease_ms = 3000,
                                        .renew_ms = 2000,
                                        .retry_ms = 300 };
}

static bool leads(struct running *x)
{
    for (int i = 0; i < 1000 && !controller_is_leader(x->c); i++)
        usleep(10000);
    return controller_is_leader(x->c);
}

static void test_one_leads_and_the_other_follows_at_once_after_a_clean_stop(void **state)
{
    struct running a = { 0 }, b = { 0 };
    struct kube_ref ref = KUBE_REF("coordination.k8s.io/v1", "Lease", str_from(ns_text), STR("leader"));
    struct value lease = VALUE_NONE;
    bool a_leads, b_waits, b_leads;
    int64_t start_ms, took_ms;

    UNUSED(state);
    NEED_CLUSTER();
    reset();
    assert_true(start(&a, electing("a")));
    a_leads = leads(&a);
    assert_true(start(&b, electing("b")));
    usleep(1500000);
    b_waits = !controller_is_leader(b.c);
    stop(&a);
    start_ms = clock_mono_ms();
    b_leads = leads(&b);
    took_ms = clock_mono_ms() - start_ms;
    IGNORE_ERROR(kube_get(kube, arena, &ref, &lease, NULL));
    stop(&b);
    finish(&a);
    finish(&b);
    assert_true(a_leads && b_waits && b_leads);
    assert_true(took_ms < 1500);
    assert_str(value_str(value_path(lease, "spec.holderIdentity")), "b");
    assert_num(value_int(value_path(lease, "spec.leaseTransitions"), -1), 1);
    assert_num(value_int(value_path(lease, "spec.leaseDurationSeconds"), -1), 3);
}

static void test_a_leader_whose_lease_is_taken_stops_writing(void **state)
{
    struct running a = { 0 };
    struct kube_ref ref = KUBE_REF("coordination.k8s.io/v1", "Lease", str_from(ns_text), STR("leader"));
    struct value patch = value_new_map(arena), lease = VALUE_NONE;
    CLEANUP(err_free) struct err *err = NULL;
    int r;

    UNUSED(state);
    NEED_CLUSTER();
    reset();
    assert_true(start(&a, electing("a")));
    assert_true(leads(&a));
    /* Somebody else holds it and renews it. */
    for (int i = 0; i < 60; i++) {
        value_set_path(patch, "spec.holderIdentity", VALUE_STR("thief"));
        value_set_path(patch, "spec.leaseTransitions", value_from_int(100 + i));
        IGNORE_ERROR(kube_merge_patch(kube, arena, &ref, patch, &lease, NULL));
        usleep(50000);
    }
    pthread_join(a.thread, NULL);
    assert_num(a.r, -ERRC_UNAVAILABLE);
    r = kube_create(a.kube, arena, object("ConfigMap", "late", NULL), NULL, &err);
    assert_num(r, -ERRC_CANCELLED);
    finish(&a);
}

static void test_metrics_and_health_are_served(void **state)
{
    struct running x = { 0 };
    struct http_client *client = NULL;
    CLEANUP(http_response_done) struct http_response metrics = { 0 }, ready = { 0 }, none = { 0 };
    struct http_request rq = { .url = STR("http://127.0.0.1:18437/metrics") };

    UNUSED(state);
    NEED_CLUSTER();
    reset();
    assert_num(http_client_new(NULL, &client, NULL), 0);
    assert_true(start(&x, (struct controller_options){ .listen = "127.0.0.1:18437" }));
    assert_true(leads(&x));
    usleep(300000); /* lists are over, watches are opened now */
    assert_num(http_do(client, &rq, &metrics, NULL), 0);
    rq.url = STR("http://127.0.0.1:18437/readyz");
    assert_num(http_do(client, &rq, &ready, NULL), 0);
    rq.url = STR("http://127.0.0.1:18437/other");
    assert_num(http_do(client, &rq, &none, NULL), -ERRC_NOT_FOUND);
    assert_true(str_contains(metrics.body, STR("pintle_leader 1\n")));
    assert_true(str_contains(metrics.body, STR("pintle_watch_objects{watch=\"configmaps\"}")));
    assert_true(str_contains(metrics.body, STR("pintle_kube_requests_total{verb=\"watch\",code=\"200\"}")));
    assert_str(ready.body, "ok\n");
    stop(&x);
    finish(&x);
    http_client_free(client);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_are_reconciled_when_they_or_what_they_use_change),
        cmocka_unit_test(test_failures_are_tried_again_with_pauses),
        cmocka_unit_test(test_a_stop_ends_slow_work_in_time),
        cmocka_unit_test(test_sigterm_stops_it),
        cmocka_unit_test(test_one_leads_and_the_other_follows_at_once_after_a_clean_stop),
        cmocka_unit_test(test_a_leader_whose_lease_is_taken_stops_writing),
        cmocka_unit_test(test_metrics_and_health_are_served),
    };
    int failed;

    if (open_cluster() < 0)
        return 1;
    failed = RUN_TESTS(tests);
    close_cluster();
    return failed;
}
