/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a ReleaseGroup, against a scripted API server: what it writes, and what it says. */
#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"
#include "lib/check.h"
#include "lib/server.h"
#include "releasegroup/releasegroup.h"
#include "json/json.h"

#define GROUP                                                                                            \
    "{\"apiVersion\":\"pintle.dev/v1alpha1\",\"kind\":\"ReleaseGroup\",\"metadata\":{\"name\":\"shop\"," \
    "\"namespace\":\"team\",\"uid\":\"u1\",\"generation\":3,\"annotations\":{\"pintle.dev/"              \
    "reconcile-at\":\"7\"}},"                                                                            \
    "\"spec\":{\"name\":\"shop\",\"labelSelector\":\"shop\",\"releases\":[{\"name\":\"web\",\"chart\":"  \
    "\"web\",\"repo\":\"r\"}]}}"
#define LIST(items)                 \
    "{\"apiVersion\":\"pintle.dev/" \
    "v1alpha1\",\"kind\":\"ReleaseList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[" items "]}"
#define FOREIGN                                                                               \
    "{\"apiVersion\":\"pintle.dev/"                                                           \
    "v1alpha1\",\"kind\":\"Release\",\"metadata\":{\"name\":\"web\",\"namespace\":\"team\"}," \
    "\"spec\":{}}"
#define LEFT                                                                                 \
    "{\"apiVersion\":\"pintle.dev/"                                                          \
    "v1alpha1\",\"kind\":\"Release\",\"metadata\":{\"name\":\"old\",\"namespace\":\"team\"," \
    "\"uid\":\"u9\",\"ownerReferences\":[{\"uid\":\"u1\"}]},\"spec\":{}}"

static struct server *server;
static struct kube *kube;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *group, *list;
static char *applied, *status; /* bodies of the last writes */

static void keep(char **to, struct str body)
{
    free(*to);
    *to = str_dup(body);
}

static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    UNUSED(ctx);
    pthread_mutex_lock(&lock);
    if (str_contains(rq->target, STR("/releasegroups/shop/status")))
        keep(&status, rq->body);
    else if (str_eq(rq->method, STR("PATCH")))
        keep(&applied, rq->body);
    pthread_mutex_unlock(&lock);
    if (str_contains(rq->target, STR("/releasegroups/")))
        server_reply(c, group ? 200 : 404, NULL, str_from(group ? group : "{}"));
    else if (str_eq(rq->method, STR("GET")))
        server_reply(c, 200, NULL, str_from(list));
    else
        server_reply(c, 200, NULL, STR("{}"));
}

static int setup(void **state)
{
    CLEANUP(free_ptr) char *url = NULL;
    CLEANUP(kube_config_free) struct kube_config *config = NULL;
    struct kube_config_options o = { .kubeconfig = "/dev/null" };

    UNUSED(state);
    server = server_start(handler, NULL);
    url = xasprintf("http://127.0.0.1:%d", server_port(server));
    o.server = url;
    group = GROUP;
    applied = status = NULL;
    if (kube_config_load(&o, &config, NULL) < 0 || kube_new(config, &kube, NULL) < 0)
        return -1;
    kube_kind_add(kube, STR("pintle.dev/v1alpha1"), STR("ReleaseGroup"), STR("releasegroups"), true);
    kube_kind_add(kube, STR("pintle.dev/v1alpha1"), STR("Release"), STR("releases"), true);
    return 0;
}

static int teardown(void **state)
{
    UNUSED(state);
    kube_unref(kube);
    server_stop(server);
    free(applied);
    free(status);
    return 0;
}

static int look(const char *live, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct releasegroup_manager *m = releasegroup_manager_new(kube, NULL);
    struct controller_call call = { .kube = kube, .arena = a, .key = { STR("team"), STR("shop") } };
    struct controller_result result = { 0 };
    size_t n;
    const struct controller_kind *kind = releasegroup_manager_kinds(m, &n);
    int r;

    list = live;
    r = kind->reconcile(kind->ctx, &call, &result, err);
    releasegroup_manager_free(m);
    return r;
}

static void assert_holds(const char *text, const char *part)
{
    if (!text || !str_contains(str_from(text), str_from(part)))
        fail_case("%s lacks %s", text ? text : "(nothing was written)", part);
}

static void test_members_are_made_with_owner_and_labels(void **state)
{
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(look(LIST(""), &err), err);
    assert_holds(applied, "\"uid\":\"u1\"");
    assert_holds(applied, "\"labels\":{\"release\":\"web\",\"releaseGroup\":\"shop\"}");
    assert_holds(applied, "\"spec\":{\"chart\":\"web\",\"name\":\"web\",\"repo\":\"r\"}");
    assert_holds(status, "0 of 1 Releases are ready");
    assert_holds(status, "\"observedGeneration\":3");
    assert_holds(status, "\"lastHandledReconcileAt\":\"7\"");
    assert_holds(status, "\"type\":\"Reconciling\"");
}

static void test_a_foreign_release_is_left_alone(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_int_equal(look(LIST(FOREIGN), &err), -ERRC_EXISTS);
    assert_null(applied);
    assert_holds(status, "NotAMember");
    assert_holds(status,
                 "spec.releases[0]: Release team/web exists and does not belong to this ReleaseGroup");
    assert_holds(status, "\"type\":\"Stalled\"");
}

static void test_who_left_the_group_is_deleted(void **state)
{
    CLEANUP(free_ptr) char *log = NULL;
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(look(LIST(LEFT), &err), err);
    log = server_log(server);
    assert_holds(log, "DELETE /apis/pintle.dev/v1alpha1/namespaces/team/releases/old");
}

static void test_a_group_that_is_gone_is_nothing_to_do(void **state)
{
    struct err *err = NULL;

    UNUSED(state);
    group = NULL;
    assert_ok(look(LIST(""), &err), err);
    assert_null(applied);
    assert_null(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_members_are_made_with_owner_and_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_foreign_release_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_left_the_group_is_deleted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_group_that_is_gone_is_nothing_to_do, setup, teardown),
    };

    return RUN_TESTS(tests);
}
