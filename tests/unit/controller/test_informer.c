/* SPDX-License-Identifier: Apache-2.0 */
/* What wakes reconciles, and how often, against a scripted API server. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "controller/controller_int.h"
#include "lib/check.h"
#include "lib/server.h"

static struct server *server;
static struct kube *kube;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *const *lists; /* answers to lists, the last one stays */
static int n_lists, at_list;
static const char *const *streams; /* what each watch says */
static int n_streams, at_stream;
static bool streams_wait; /* for the first reconcile: what is listed first goes behind what changes */
static atomic_int n_watches;
static char log_text[4096]; /* "name " of every reconcile, in order */

static void wait_for_first(void)
{
    bool there = false;

    for (int i = 0; i < 300 && !there; i++) {
        usleep(10000);
        pthread_mutex_lock(&lock);
        there = log_text[0] != '\0';
        pthread_mutex_unlock(&lock);
    }
}

static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    const char *text;

    UNUSED(ctx);
    pthread_mutex_lock(&lock);
    if (!str_contains(rq->target, STR("watch=true"))) {
        text = lists[at_list < n_lists - 1 ? at_list++ : at_list];
        pthread_mutex_unlock(&lock);
        server_reply(c, 200, NULL, str_from(text));
        return;
    }
    text = at_stream < n_streams ? streams[at_stream++] : "";
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&n_watches, 1);
    server_hang_up(c);
    server_writez(c, "HTTP/1.1 200 OK\r\n\r\n");
    if (streams_wait)
        wait_for_first();
    server_writez(c, text);
    if (!strstr(text, "ERROR"))
        IGNORE_ERROR(server_sleep(c, 60000));
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
    at_list = at_stream = 0;
    streams_wait = false;
    log_text[0] = '\0';
    atomic_store(&n_watches, 0);
    if (kube_config_load(&o, &config, NULL) < 0)
        return -1;
    return kube_new(config, &kube, NULL);
}

static int teardown(void **state)
{
    UNUSED(state);
    kube_unref(kube);
    server_stop(server);
    return 0;
}

static int reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err)
{
    UNUSED(ctx);
    UNUSED(ret);
    UNUSED(err);
    pthread_mutex_lock(&lock);
    snprintf(log_text + strlen(log_text), sizeof(log_text) - strlen(log_text), STR_FMT " ",
             STR_ARG(call->key.name));
    pthread_mutex_unlock(&lock);
    return 0;
}

static void note_label(void *ctx, struct value v, struct controller_note *note)
{
    UNUSED(ctx);
    if (kube_label(v, STR("uses")).n > 0)
        controller_note_index(note, kube_label(v, STR("uses")));
}

static void *run(void *arg)
{
    IGNORE_ERROR(controller_run(arg, NULL));
    return NULL;
}

static bool log_becomes(const char *want)
{
    bool there = false;

    for (int i = 0; i < 300 && !there; i++) {
        usleep(10000);
        pthread_mutex_lock(&lock);
        there = strcmp(log_text, want) == 0;
        pthread_mutex_unlock(&lock);
    }
    usleep(50000); /* nothing more comes */
    return there;
}

#define OBJECT(name, version, more) \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u" name "\",\"resourceVersion\":\"" version "\"" more "}}"
#define LIST(version, items) "{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define GONE "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}"

/* One kind "Thing" with a watch on Namespaces (a kind without namespaces). */
static struct controller *make(bool ignore_status)
{
    struct controller_watch watch = { .name = "things",
                                      .api_version = STR("v1"),
                                      .kind = STR("Namespace"),
                                      .ignore_status = ignore_status,
                                      .extract = note_label };
    struct controller_kind kind = { "Thing", reconcile, NULL, &watch, 1 };
    struct controller_options o = { .kube = kube, .workers = 1 };
    struct controller *c = NULL;

    if (controller_new(&o, &kind, 1, &c, NULL) < 0)
        abort();
    return c;
}

static void stop(struct controller *c, pthread_t thread)
{
    controller_stop(c);
    pthread_join(thread, NULL);
    controller_free(c);
}

static void test_what_vanished_between_two_lists_wakes_and_what_stayed_does_not(void **state)
{
    static const char *const the_lists[] = { LIST("5", OBJECT("a", "1", "") "," OBJECT(
                                                           "b", "2", "") "," OBJECT("c", "3", "")),
                                             LIST("9", OBJECT("a", "1", "") "," OBJECT("c", "8", "")) };
    static const char *const the_streams[] = { GONE };
    struct controller *c;
    pthread_t thread;
    bool there;

    UNUSED(state);
    lists = the_lists;
    n_lists = 2;
    streams = the_streams;
    n_streams = 1;
    c = make(false);
    pthread_create(&thread, NULL, run, c);
    there = log_becomes("a b c c b ");
    stop(c, thread);
    assert_string_equal(log_text, "a b c c b ");
    assert_true(there);
}

static void test_status_changes_do_not_wake_those_who_ignore_them(void **state)
{
    static const char *const the_lists[] = { LIST("5", OBJECT("a", "1", "")) };
    static const char *const the_streams[] = {
        EVENT("MODIFIED", "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"6\",\"uid\":\"ua\","
                          "\"managedFields\":[1]},\"status\":{\"x\":1}}")
            EVENT("MODIFIED", "{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"7\"}}"),
    };
    struct controller *c;
    pthread_t thread;

    UNUSED(state);
    lists = the_lists;
    n_lists = 1;
    streams = the_streams;
    n_streams = 1;
    streams_wait = true;
    c = make(true);
    pthread_create(&thread, NULL, run, c);
    IGNORE_ERROR(log_becomes("a b ") ? 0 : -1);
    stop(c, thread);
    assert_string_equal(log_text, "a b ");
}

static void test_index_keys_follow_the_object(void **state)
{
    static const char *const the_lists[] = {
        LIST("5", OBJECT("a", "1", ",\"labels\":{\"uses\":\"x\"}") "," OBJECT(
                      "b", "2", ",\"labels\":{\"uses\":\"x\"}")),
    };
    static const char *const the_streams[] = {
        EVENT("MODIFIED", OBJECT("a", "6", ",\"labels\":{\"uses\":\"y\"}"))
            EVENT("DELETED", OBJECT("b", "7", "")),
    };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct controller_object *y;
    struct controller *c;
    size_t n_x, n_y, n_all;
    pthread_t thread;

    UNUSED(state);
    lists = the_lists;
    n_lists = 1;
    streams = the_streams;
    n_streams = 1;
    c = make(false);
    pthread_create(&thread, NULL, run, c);
    IGNORE_ERROR(log_becomes("a b a b ") ? 0 : -1);
    IGNORE_ERROR(controller_list(c, "things", STR("x"), a, &n_x) ? 0 : -1);
    y = controller_list(c, "things", STR("y"), a, &n_y);
    IGNORE_ERROR(controller_list(c, "things", STR_NONE, a, &n_all) ? 0 : -1);
    stop(c, thread);
    assert_num(n_x, 0);
    assert_num(n_y, 1);
    assert_num(n_all, 1);
    assert_str(y[0].name, "a");
    assert_str(y[0].resource_version, "6");
}

static void test_watches_on_the_same_objects_share_one_stream(void **state)
{
    static const char *const the_lists[] = { LIST("5", OBJECT("a", "1", "")) };
    struct controller_watch more = { .name = "more", .api_version = STR("v1"), .kind = STR("Namespace") };
    struct controller_watch late = { .name = "late", .api_version = STR("v1"), .kind = STR("Namespace") };
    struct controller_watch other = {
        .name = "other", .api_version = STR("v1"), .kind = STR("Namespace"), .label_selector = STR("a=b")
    };
    struct controller *c;
    pthread_t thread;
    int shared, own;
    bool again;

    UNUSED(state);
    lists = the_lists;
    n_lists = 1;
    n_streams = 0;
    c = make(false);
    assert_num(controller_add_watch(c, "Thing", &more, NULL), 0);
    assert_num(controller_add_watch(c, "Nothing", &late, NULL), -ERRC_INVALID);
    pthread_create(&thread, NULL, run, c);
    IGNORE_ERROR(log_becomes("a ") ? 0 : -1);
    usleep(200000);
    shared = atomic_load(&n_watches);
    assert_num(controller_add_watch(c, "Thing", &late, NULL), 0);
    again = log_becomes("a a "); /* it hears of what is known */
    assert_num(controller_add_watch(c, "Thing", &other, NULL), 0);
    usleep(300000);
    own = atomic_load(&n_watches);
    controller_remove_watch(c, "other");
    controller_remove_watch(c, "late");
    controller_remove_watch(c, "unknown");
    stop(c, thread);
    assert_num(shared, 1);
    assert_true(again);
    assert_num(own, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_vanished_between_two_lists_wakes_and_what_stayed_does_not,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_status_changes_do_not_wake_those_who_ignore_them, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_index_keys_follow_the_object, setup, teardown),
        cmocka_unit_test_setup_teardown(test_watches_on_the_same_objects_share_one_stream, setup, teardown),
    };

    return RUN_TESTS(tests);
}
