/* SPDX-License-Identifier: Apache-2.0 */
/* Requests against a scripted API server: what is sent, what is sent again, what an answer becomes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "kube/kube.h"
#include "lib/check.h"
#include "lib/server.h"
#include "json/json.h"

static struct server *server;
static struct kube *kube;
static struct arena *arena;

struct script { /* what the server answers, one after the other; the last one stays */
    int status;
    const char *headers, *body;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct script *script;
static int n_script, at;
static char last_target[1024], last_headers[2048], last_body[4096];

#define OBJECT \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"7\"}}"
#define STATUS(code, reason, message, more)                                                    \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"" message \
    "\",\"reason\":\"" reason "\",\"code\":" #code more "}"

static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    struct script s;

    UNUSED(ctx);
    pthread_mutex_lock(&lock);
    s = script[at < n_script - 1 ? at++ : at];
    snprintf(last_target, sizeof(last_target), STR_FMT " " STR_FMT, STR_ARG(rq->method), STR_ARG(rq->target));
    snprintf(last_headers, sizeof(last_headers), STR_FMT "\r", STR_ARG(rq->headers));
    snprintf(last_body, sizeof(last_body), STR_FMT, STR_ARG(rq->body));
    pthread_mutex_unlock(&lock);
    if (s.status == 0)
        server_hang_up(c);
    else
        server_reply(c, s.status, s.headers, str_from(s.body));
}

static void play(const struct script *s, int n)
{
    pthread_mutex_lock(&lock);
    script = s;
    n_script = n;
    at = 0;
    pthread_mutex_unlock(&lock);
}
#define PLAY(s) play((s), (int)ARRAY_SIZE(s))

static int setup(void **state)
{
    CLEANUP(free_ptr) char *url = NULL;
    CLEANUP(kube_config_free) struct kube_config *config = NULL;
    struct kube_config_options o = { .kubeconfig = "/dev/null" };

    UNUSED(state);
    server = server_start(handler, NULL);
    arena = arena_new(64 * MIB);
    url = xasprintf("http://127.0.0.1:%d/prefix/?x=y", server_port(server));
    o.server = url;
    if (kube_config_load(&o, &config, NULL) < 0)
        return -1;
    return kube_new(config, &kube, NULL);
}

static int teardown(void **state)
{
    UNUSED(state);
    kube_unref(kube);
    server_stop(server);
    arena_free(arena);
    return 0;
}

static struct value parse(const char *text)
{
    struct value v = VALUE_NONE;

    if (json_parse(arena, str_from(text), NULL, &v, NULL) < 0)
        abort();
    return v;
}

static void test_requests_look_as_the_api_wants_them(void **state)
{
    static const struct script ok[] = { { 200, NULL, OBJECT } };
    struct value object =
        parse("{\"apiVersion\":\"apps/"
              "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\",\"namespace\":\"a\"}}");
    struct kube_ref cm = KUBE_REF("v1", "ConfigMap", STR("a"), STR("x"));
    const struct {
        struct kube_request rq;
        const char *target, *header, *body;
    } cases[] = {
        { { .verb = KUBE_GET, .ref = cm },
          "GET /prefix/api/v1/namespaces/a/configmaps/x",
          "Accept: application/json\r",
          "" },
        { { .verb = KUBE_GET, .ref = cm, .metadata_only = true },
          "GET /prefix/api/v1/namespaces/a/configmaps/x",
          "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json\r",
          "" },
        { { .verb = KUBE_CREATE, .object = object, .field_manager = STR("helm"), .dry_run = true },
          "POST /prefix/apis/apps/v1/namespaces/a/deployments?fieldManager=helm&dryRun=All",
          "Content-Type: application/json\r",
          "{\"apiVersion\":\"apps/"
          "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\",\"namespace\":\"a\"}}" },
        { { .verb = KUBE_UPDATE, .object = object, .subresource = STR("status") },
          "PUT /prefix/apis/apps/v1/namespaces/a/deployments/web/status",
          "Content-Type: application/json\r",
          NULL },
        { { .verb = KUBE_APPLY, .object = object, .field_manager = STR("a b"), .force = true },
          "PATCH /prefix/apis/apps/v1/namespaces/a/deployments/web?fieldManager=a%20b&force=true",
          "Content-Type: application/apply-patch+yaml\r",
          NULL },
        { { .verb = KUBE_PATCH, .ref = cm, .object = parse("[]"), .patch = KUBE_PATCH_JSON },
          "PATCH /prefix/api/v1/namespaces/a/configmaps/x",
          "Content-Type: application/json-patch+json\r",
          "[]" },
        { { .verb = KUBE_PATCH, .ref = cm, .body = STR("{}"), .patch = KUBE_PATCH_STRATEGIC },
          "PATCH /prefix/api/v1/namespaces/a/configmaps/x",
          "Content-Type: application/strategic-merge-patch+json\r",
          "{}" },
        { { .verb = KUBE_DELETE,
            .ref = cm,
            .propagation = KUBE_FOREGROUND,
            .uid = STR("u"),
            .has_grace = true },
          "DELETE /prefix/api/v1/namespaces/a/configmaps/x",
          "Content-Type: application/json\r",
          "{\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,\"kind\":\"DeleteOptions\",\"preconditions\":{"
          "\"uid\":\"u\"},"
          "\"propagationPolicy\":\"Foreground\"}" },
        { { .verb = KUBE_GET,
            .ref = KUBE_REF("rbac.authorization.k8s.io/v1", "ClusterRole", STR("ignored"), STR("a:b")) },
          "GET /prefix/apis/rbac.authorization.k8s.io/v1/clusterroles/a:b",
          "Accept: application/json\r",
          "" },
    };

    UNUSED(state);
    PLAY(ok);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;

        assert_ok(kube_do(kube, arena, &cases[i].rq, NULL, &err), err);
        assert_case_str(cases[i].target, str_from(last_target), cases[i].target);
        assert_non_null(strstr(last_headers, cases[i].header));
        if (cases[i].body)
            assert_case_str(cases[i].target, str_from(last_body), cases[i].body);
    }
}

static void test_lists_escape_selectors_and_name_their_items(void **state)
{
    static const struct script ok[] = { { 200, NULL,
                                          "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"9\"},"
                                          "\"items\":[{\"metadata\":{\"name\":\"p\"}}]}" } };
    struct kube_request rq = { .verb = KUBE_LIST,
                               .ref = KUBE_REF("v1", "Pod", STR_NONE, STR_NONE),
                               .label_selector = STR("a in (b,c),d!=e"),
                               .field_selector = STR("metadata.name=x") };
    CLEANUP(free_ptr)
    char *target =
        xasprintf("GET /prefix/api/v1/pods?labelSelector=%s&fieldSelector=metadata.name%%3Dx&limit=%d",
                  "a%20in%20%28b%2Cc%29%2Cd%21%3De", KUBE_LIST_PAGE);
    CLEANUP(err_free) struct err *err = NULL;
    struct value list;

    UNUSED(state);
    PLAY(ok);
    assert_ok(kube_do(kube, arena, &rq, &list, &err), err);
    assert_string_equal(last_target, target);
    assert_str(kube_resource_version(list), "9");
    assert_str(value_str(value_getz(value_at(value_getz(list, "items"), 0), "kind")), "Pod");
}

static void test_requests_that_cannot_be_sent_say_why(void **state)
{
    const struct {
        struct kube_request rq;
        const char *error;
    } cases[] = {
        { { .verb = KUBE_GET, .ref = KUBE_REF("v1", "ConfigMap", STR("a"), STR("..")) },
          "get ConfigMap a/..: the name \"..\" cannot be part of a path" },
        { { .verb = KUBE_GET, .ref = KUBE_REF("v1", "ConfigMap", STR("a/b"), STR("x")) },
          "get ConfigMap a/b/x: the namespace \"a/b\" cannot be part of a path" },
        { { .verb = KUBE_GET, .ref = KUBE_REF("v1", "ConfigMap", STR("a"), STR("x%2fy")) },
          "get ConfigMap a/x%2fy: the name \"x%2fy\" cannot be part of a path" },
        { { .verb = KUBE_GET, .ref = KUBE_REF("v1", "ConfigMap", STR_NONE, STR("x")) },
          "get ConfigMap x: the namespace is missing" },
        { { .verb = KUBE_DELETE, .ref = KUBE_REF("v1", "ConfigMap", STR("a"), STR_NONE) },
          "delete ConfigMap a/*: the name is missing" },
        { { .verb = KUBE_APPLY,
            .object = parse("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}") },
          "apply Namespace x: the field manager is missing" },
        { { .verb = KUBE_CREATE, .object = parse("{}") }, "create object: apiVersion or kind is missing" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;

        assert_fails(kube_do(kube, arena, &cases[i].rq, NULL, &err), ERRC_INVALID, err, cases[i].error);
    }
    assert_num(server_requests(server), 0);
}

static void test_an_object_that_is_too_large_is_not_sent(void **state)
{
    static const struct script ok[] = { { 200, NULL, OBJECT } };

    UNUSED(state);
    PLAY(ok);
    for (int d = -1; d <= 1; d++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * KUBE_OBJECT_MAX);
        struct kube_request rq = { .verb = KUBE_UPDATE,
                                   .ref = KUBE_REF("v1", "ConfigMap", STR("a"), STR("x")) };

        buf_add_repeat(&text, ' ', (size_t)((int64_t)KUBE_OBJECT_MAX + d));
        rq.body = buf_str(&text);
        assert_num(kube_do(kube, arena, &rq, NULL, NULL), d <= 0 ? 0 : -ERRC_LIMIT);
    }
}

static void test_refusals_become_errors_with_status_and_reason(void **state)
{
    static const struct {
        struct script s;
        enum errc code;
        const char *error, *reason;
    } cases[] = {
        { { 404, NULL, STATUS(404, "NotFound", "configmaps x not found", "") },
          ERRC_NOT_FOUND,
          "get ConfigMap a/x: configmaps x not found",
          "NotFound" },
        { { 409, NULL, STATUS(409, "AlreadyExists", "there", "") },
          ERRC_EXISTS,
          "get ConfigMap a/x: there",
          "AlreadyExists" },
        { { 409, NULL, STATUS(409, "Conflict", "changed", "") },
          ERRC_CONFLICT,
          "get ConfigMap a/x: changed",
          "Conflict" },
        { { 410, NULL, STATUS(410, "Expired", "too old", "") },
          ERRC_GONE,
          "get ConfigMap a/x: too old",
          "Expired" },
        { { 403, NULL,
            STATUS(403, "Forbidden", "no",
                   ",\"details\":{\"causes\":[{\"reason\":\"NamespaceTerminating\"}]}") },
          ERRC_FORBIDDEN,
          "get ConfigMap a/x: no",
          "NamespaceTerminating" },
        { { 422, NULL, STATUS(422, "Invalid", "bad\\u001b[31m", "") },
          ERRC_INVALID,
          "get ConfigMap a/x: bad\\u001b[31m",
          "Invalid" },
        { { 500, NULL,
            STATUS(500, "", "failed to create typed patch object (a/x; v1, Kind=Pod): .a: b", "") },
          ERRC_INVALID,
          "get ConfigMap a/x: failed to create typed patch object (a/x; v1, Kind=Pod): .a: b",
          "" },
        { { 500, NULL, STATUS(500, "InternalError", "out of order", "") },
          ERRC_UNAVAILABLE,
          "get ConfigMap a/x: out of order",
          "InternalError" },
        { { 502, NULL, "<html>Bad Gateway</html>" },
          ERRC_UNAVAILABLE,
          "get ConfigMap a/x: 502 Bad Gateway",
          "" },
        { { 404, NULL, "404 page not found\n" },
          ERRC_NOT_FOUND,
          "get ConfigMap a/x: 404 Not Found: 404 page not found",
          "" },
        { { 200, NULL, "" }, ERRC_UNAVAILABLE, "get ConfigMap a/x: the answer is empty", "" },
        { { 200, NULL, "<html>" }, ERRC_UNAVAILABLE, "get ConfigMap a/x: the answer is no JSON object", "" },
        { { 200, NULL, "{\"kind\":" },
          ERRC_UNAVAILABLE,
          "get ConfigMap a/x: the answer is no JSON object",
          "" },
        { { 307, "Location: http://127.0.0.1:1/\r\n", "" },
          ERRC_UNAVAILABLE,
          "get ConfigMap a/x: 307 Temporary Redirect",
          "" },
    };
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", STR("a"), STR("x"));

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;

        play(&cases[i].s, 1);
        assert_case_num(cases[i].error, kube_get(kube, arena, &ref, NULL, &err), -(int)cases[i].code);
        assert_case_str(cases[i].error, str_from(err_message(err)), cases[i].error);
        assert_case_str(cases[i].error, err_http_reason(err), cases[i].reason);
    }
}

static void test_what_a_secret_held_is_not_in_the_error(void **state)
{
    static const struct script s[] = {
        { 422, NULL,
          STATUS(422, "Invalid", "data[a]: Invalid value: canary",
                 ",\"details\":{\"causes\":[{\"reason\":\"FieldValueInvalid\",\"message\":\"canary\","
                 "\"field\":\"data[a]\"}]}") },
    };
    struct value secret = parse(
        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\",\"namespace\":\"a\"}}");
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    PLAY(s);
    assert_fails(kube_create(kube, arena, secret, NULL, &err), ERRC_INVALID, err,
                 "create Secret a/x: the server refuses this Secret, field data[a]");
}

static void test_refusals_with_a_time_are_repeated_after_it(void **state)
{
    static const struct script busy[] = { { 429, "Retry-After: 1\r\n", "" },
                                          { 503, "Retry-After: 1\r\n", "" },
                                          { 201, NULL, OBJECT } };
    static const struct script plain[] = { { 429, NULL, "" } };
    struct value v = parse(
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\",\"namespace\":\"a\"}}");
    struct kube_request late = { .verb = KUBE_CREATE, .object = v, .deadline_ms = 1500 };
    CLEANUP(err_free) struct err *err = NULL;
    int64_t start = clock_mono_ms();

    UNUSED(state);
    PLAY(busy);
    assert_ok(kube_create(kube, arena, v, NULL, &err), err);
    assert_num(server_requests(server), 3);
    assert_true(clock_mono_ms() - start >= 2000);
    PLAY(plain);
    assert_num(kube_create(kube, arena, v, NULL, NULL), -ERRC_UNAVAILABLE);
    assert_num(server_requests(server), 4);
    PLAY(busy);
    assert_num(kube_do(kube, arena, &late, NULL, NULL),
               -ERRC_UNAVAILABLE); /* the second pause passes the deadline */
    assert_num(server_requests(server), 6);
}

static void test_broken_connections_repeat_reads_alone(void **state)
{
    static const struct script broken[] = { { 0, NULL, NULL }, { 200, NULL, OBJECT } };
    struct value v = parse(
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\",\"namespace\":\"a\"}}");
    struct kube_ref ref = kube_ref_of(v);

    UNUSED(state);
    PLAY(broken);
    assert_num(kube_get(kube, arena, &ref, NULL, NULL), 0);
    assert_num(server_requests(server), 2);
    PLAY(broken);
    assert_num(kube_create(kube, arena, v, NULL, NULL), -ERRC_UNAVAILABLE);
    assert_num(server_requests(server), 3);
    PLAY(broken);
    assert_num(kube_delete(kube, &ref, STR_NONE, NULL), -ERRC_UNAVAILABLE);
    assert_num(server_requests(server), 4);
}

static void test_an_expired_page_begins_the_list_again(void **state)
{
    static const struct script s[] = {
        { 200, NULL,
          "{\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"t\"},\"items\":[{\"metadata\":{\"name\":"
          "\"a\"}}]}" },
        { 410, NULL, STATUS(410, "Expired", "old", "") },
        { 200, NULL,
          "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"metadata\":{\"name\":\"b\"}},{"
          "\"metadata\":{\"name\":\"c\"}}]}" },
    };
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", STR("a"), STR_NONE);
    CLEANUP(err_free) struct err *err = NULL;
    struct value list;

    UNUSED(state);
    PLAY(s);
    assert_ok(kube_list(kube, arena, &ref, STR_NONE, &list, &err), err);
    assert_num(value_len(value_getz(list, "items")), 2);
    assert_str(kube_resource_version(list), "5");
    assert_num(server_requests(server), 3);
}

static void test_views_send_their_identity_and_share_the_connection(void **state)
{
    static const struct script ok[] = { { 200, NULL, OBJECT } };
    const struct str groups[] = { STR("g1"), STR("g2") };
    struct kube *as = kube_as(kube, STR("jane"), groups, 2),
                *account = kube_as_service_account(kube, STR("a"), STR("b"));
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", STR("a"), STR("x"));

    UNUSED(state);
    PLAY(ok);
    assert_num(kube_get(as, arena, &ref, NULL, NULL), 0);
    assert_non_null(
        strstr(last_headers, "Impersonate-User: jane\r\nImpersonate-Group: g1\r\nImpersonate-Group: g2\r"));
    assert_num(kube_get(account, arena, &ref, NULL, NULL), 0);
    assert_non_null(strstr(last_headers, "Impersonate-User: system:serviceaccount:a:b\r"));
    assert_num(kube_get(kube, arena, &ref, NULL, NULL), 0);
    assert_null(strstr(last_headers, "Impersonate"));
    assert_num(server_connections(server), 1);
    kube_unref(as);
    kube_unref(account);
}

static void test_behind_the_fence_nothing_is_written(void **state)
{
    static const struct script ok[] = { { 200, NULL, OBJECT } };
    struct value v = parse(
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\",\"namespace\":\"a\"}}");
    struct kube_ref ref = kube_ref_of(v);
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    PLAY(ok);
    kube_set_fence(kube, clock_mono_ms() + 60000);
    assert_num(kube_update(kube, arena, v, NULL, NULL), 0);
    kube_set_fence(kube, clock_mono_ms());
    assert_fails(kube_update(kube, arena, v, NULL, &err), ERRC_CANCELLED, err,
                 "update ConfigMap a/x: this process is not the leader any more");
    assert_num(kube_get(kube, arena, &ref, NULL, NULL), 0);
    assert_num(server_requests(server), 2);
}

static void test_an_answer_that_is_too_large_is_not_kept(void **state)
{
    struct kube_request rq = { .verb = KUBE_GET, .ref = KUBE_REF("v1", "ConfigMap", STR("a"), STR("x")) };

    UNUSED(state);
    for (int d = -1; d <= 1; d++) {
        CLEANUP(arena_free) struct arena *a = arena_new(4 * KUBE_ANSWER_MAX);
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * KUBE_ANSWER_MAX);
        struct script large = { .status = 200 };
        struct value v = VALUE_NONE;

        buf_adds(&text, OBJECT);
        buf_add_repeat(&text, ' ', (size_t)((int64_t)KUBE_ANSWER_MAX + d) - text.n);
        large.body = buf_z(&text);
        play(&large, 1);
        assert_num(kube_do(kube, a, &rq, &v, NULL), d <= 0 ? 0 : -ERRC_LIMIT);
        assert_str(kube_resource_version(v), d <= 0 ? "7" : "");
    }
}

static atomic_bool held, let_go;

static void hold(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    UNUSED(ctx);
    UNUSED(rq);
    atomic_store(&held, true);
    while (!atomic_load(&let_go) && server_sleep(c, 10))
        ;
    server_reply(c, 201, NULL, STR(OBJECT));
}

static void test_events_that_find_no_room_are_dropped_and_counted(void **state)
{
    struct server *silent = server_start(hold, NULL);
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d", server_port(silent));
    struct kube_config_options o = { .kubeconfig = "/dev/null", .server = url };
    CLEANUP(kube_config_free) struct kube_config *config = NULL;
    struct kube *to = NULL;
    struct kube_recorder *r;
    struct err *err = NULL;
    struct value about = parse(OBJECT);

    UNUSED(state);
    assert_ok(kube_config_load(&o, &config, &err), err);
    assert_ok(kube_new(config, &to, &err), err);
    r = kube_recorder_new(to, STR("test"));
    kube_event(r, about, KUBE_EVENT_NORMAL, "First", "it is taken from the queue");
    for (int i = 0; i < 500 && !atomic_load(&held); i++)
        usleep(10000);
    for (size_t i = 1; i < KUBE_RECORDER_QUEUE_MAX; i++)
        kube_event(r, about, KUBE_EVENT_NORMAL, "More", "%zu", i);
    assert_num(kube_recorder_dropped(r), 0);
    kube_event(r, about, KUBE_EVENT_NORMAL, "More", "the last one that fits");
    assert_num(kube_recorder_dropped(r), 0);
    kube_event(r, about, KUBE_EVENT_NORMAL, "More", "one too many");
    assert_num(kube_recorder_dropped(r), 1);
    atomic_store(&let_go, true);
    kube_recorder_free(r);
    kube_unref(to);
    server_stop(silent);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_requests_look_as_the_api_wants_them, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists_escape_selectors_and_name_their_items, setup, teardown),
        cmocka_unit_test_setup_teardown(test_requests_that_cannot_be_sent_say_why, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_object_that_is_too_large_is_not_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_answer_that_is_too_large_is_not_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events_that_find_no_room_are_dropped_and_counted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_refusals_become_errors_with_status_and_reason, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_a_secret_held_is_not_in_the_error, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals_with_a_time_are_repeated_after_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken_connections_repeat_reads_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_expired_page_begins_the_list_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_views_send_their_identity_and_share_the_connection, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_behind_the_fence_nothing_is_written, setup, teardown),
    };

    return RUN_TESTS(tests);
}
