/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>

#include "serve.h"

#define CMS "/api/v1/namespaces/default/configmaps"
#define MINE "&fieldSelector=metadata.name!=kube-root-ca.crt"

enum { SOON_MS = 5000, NOTHING_MS = 50 };

static void make(struct fixture *f, const char *name, const char *colour)
{
    CLEANUP(free_ptr)
    char *body = xasprintf("{'metadata':{'name':'%s','labels':{'colour':'%s'}}}", name, colour);

    post(f, 201, CMS, body);
}

static void paint(struct fixture *f, const char *name, const char *colour)
{
    CLEANUP(free_ptr) char *target = xasprintf(CMS "/%s", name);
    CLEANUP(free_ptr) char *body = xasprintf("{'metadata':{'labels':{'colour':'%s'}}}", colour);

    merge(f, 200, target, body);
}

static void erase(struct fixture *f, const char *name)
{
    CLEANUP(free_ptr) char *target = xasprintf(CMS "/%s", name);

    delete_(f, 200, target);
}

static struct str rv_now(struct fixture *f)
{
    return at(get(f, 200, CMS).body, "metadata.resourceVersion");
}

static void from_nothing_the_present_state_comes_first(void **state)
{
    struct fixture *f = *state;
    struct watching w;

    make(f, "a", "red");
    make(f, "b", "red");
    serve_watch(f, CMS "?watch=1" MINE, &w);
    assert_str(serve_next(f, &w, SOON_MS), "ADDED a ADDED b");
    paint(f, "a", "blue");
    assert_str(serve_next(f, &w, SOON_MS), "MODIFIED a");
    erase(f, "b");
    assert_str(serve_next(f, &w, SOON_MS), "DELETED b");
    serve_unwatch(&w);
}

static void from_a_number_only_what_came_after(void **state)
{
    struct fixture *f = *state;
    CLEANUP(free_ptr) char *target = NULL;
    struct watching w;

    make(f, "a", "red");
    target = xasprintf(CMS "?watch=1&resourceVersion=" STR_FMT MINE, STR_ARG(rv_now(f)));
    make(f, "b", "red");
    paint(f, "a", "blue");
    serve_watch(f, target, &w);
    assert_str(serve_next(f, &w, SOON_MS), "ADDED b MODIFIED a");
    assert_str(serve_next(f, &w, NOTHING_MS), "");
    serve_unwatch(&w);
}

static void a_selector_sees_objects_come_and_go(void **state)
{
    struct fixture *f = *state;
    struct watching w;

    make(f, "a", "red");
    make(f, "b", "blue");
    serve_watch(f, CMS "?watch=1&labelSelector=colour%3Dred", &w);
    assert_str(serve_next(f, &w, SOON_MS), "ADDED a");
    paint(f, "b", "red");
    assert_str(serve_next(f, &w, SOON_MS), "ADDED b");
    paint(f, "a", "green");
    assert_str(serve_next(f, &w, SOON_MS), "DELETED a");
    paint(f, "a", "yellow");
    erase(f, "a");
    assert_str(serve_next(f, &w, NOTHING_MS), "");
    erase(f, "b");
    assert_str(serve_next(f, &w, SOON_MS), "DELETED b");
    serve_unwatch(&w);
}

static void initial_events_end_with_a_bookmark(void **state)
{
    struct fixture *f = *state;
    struct watching w;

    make(f, "a", "red");
    serve_watch(
        f,
        CMS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" MINE,
        &w);
    assert_str(serve_next(f, &w, SOON_MS), "ADDED a BOOKMARK ");
    make(f, "b", "red");
    assert_str(serve_next(f, &w, SOON_MS), "ADDED b");
    serve_unwatch(&w);
    ask(f, 422, .method = "GET", .target = CMS "?watch=1&sendInitialEvents=true");
    ask(f, 422, .method = "GET", .target = CMS "?watch=1&resourceVersionMatch=NotOlderThan");
}

static void a_number_that_was_compacted_is_an_error_event(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    struct watching w;

    make(f, "a", "red");
    for (int i = 0; i < 5; i++)
        paint(f, "a", i % 2 ? "red" : "blue");
    assert_ok(api_store_compact(f->server->store, 3600000, 2, &err), err);
    serve_watch(f, CMS "?watch=1&resourceVersion=1", &w);
    assert_str(serve_next(f, &w, SOON_MS), "ERROR 410");
    assert_str(serve_next(f, &w, SOON_MS), "end");
    serve_unwatch(&w);
}

static void the_timeout_ends_it_with_a_bookmark(void **state)
{
    struct fixture *f = *state;
    CLEANUP(free_ptr)
    char *target =
        xasprintf(CMS "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=" STR_FMT,
                  STR_ARG(rv_now(f)));
    struct watching w;

    serve_watch(f, target, &w);
    assert_str(serve_next(f, &w, SOON_MS), "BOOKMARK ");
    assert_str(serve_next(f, &w, SOON_MS), "end");
    serve_unwatch(&w);
}

static void one_namespace_does_not_see_the_other(void **state)
{
    struct fixture *f = *state;
    struct watching w;

    serve_watch(f, "/api/v1/namespaces/kube-public/secrets?watch=1", &w);
    post(f, 201, "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'here'}}");
    post(f, 201, "/api/v1/namespaces/kube-public/secrets", "{'metadata':{'name':'there'}}");
    assert_str(serve_next(f, &w, SOON_MS), "ADDED there");
    serve_unwatch(&w);
}

static void a_write_that_changes_nothing_is_no_event(void **state)
{
    struct fixture *f = *state;
    CLEANUP(free_ptr) char *target = NULL;
    struct str before;
    struct watching w;

    make(f, "a", "red");
    before = rv_now(f);
    target = xasprintf(CMS "?watch=1&resourceVersion=" STR_FMT, STR_ARG(before));
    paint(f, "a", "red");
    assert_str(rv_now(f), arena_dupz(f->arena, before));
    serve_watch(f, target, &w);
    assert_str(serve_next(f, &w, NOTHING_MS), "");
    serve_unwatch(&w);
}

static void a_watch_of_a_custom_kind_ends_with_its_definition(void **state)
{
    struct fixture *f = *state;
    struct watching w;

    post(f, 201, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         "{'metadata':{'name':'cakes.example.org'},'spec':{'group':'example.org','scope':'Namespaced','names'"
         ":{'plural':"
         "'cakes','kind':'Cake'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'"
         "openAPIV3Schema':{"
         "'type':'object','x-kubernetes-preserve-unknown-fields':true}}}]}}");
    post(f, 201, "/apis/example.org/v1/namespaces/default/cakes",
         "{'apiVersion':'example.org/v1','kind':'Cake','metadata':{'name':'lemon'}}");
    serve_watch(f, "/apis/example.org/v1/cakes?watch=1", &w);
    assert_str(serve_next(f, &w, SOON_MS), "ADDED lemon");
    delete_(f, 200, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cakes.example.org");
    assert_str(serve_next(f, &w, SOON_MS), "DELETED lemon");
    assert_str(serve_next(f, &w, SOON_MS), "end");
    serve_unwatch(&w);
    get(f, 404, "/apis/example.org/v1/cakes");
}

static void a_request_without_headers_is_served(void **state)
{
    struct fixture *f = *state;

    ask(f, 201, .method = "POST", .target = CMS, .body = "{'metadata':{'name':'bare'}}", .bare = true);
    ask(f, 415, .method = "PATCH", .target = CMS "/bare", .body = "{}", .bare = true);
    ask(f, 200, .method = "DELETE", .target = CMS "/bare", .bare = true);
}

enum { OBJECTS = 40 };

static void *create_many(void *arg)
{
    struct fixture *f = arg, own = { .server = f->server, .arena = arena_new(64 << 20) };
    void *failed = NULL;

    for (int i = 0; i < OBJECTS; i++) {
        CLEANUP(free_ptr) char *body = xasprintf("{'metadata':{'name':'n%d'}}", i);
        const struct question q = { .method = "POST", .target = CMS, .body = body };

        if (serve(&own, q).code != 201)
            failed = arg;
    }
    arena_free(own.arena);
    return failed;
}

static void many_writes_arrive_once_and_in_order(void **state)
{
    struct fixture *f = *state;
    struct watching w;
    pthread_t thread;
    int seen = 0;
    void *failed;

    serve_watch(f, CMS "?watch=1" MINE, &w);
    assert_int_equal(pthread_create(&thread, NULL, create_many, f), 0);
    while (seen < OBJECTS) {
        struct str events = serve_next(f, &w, SOON_MS), one;

        if (events.n == 0)
            break;
        while (str_split(&events, ' ', &one))
            seen += str_eq(one, STR("ADDED"));
    }
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    assert_num(seen, OBJECTS);
    serve_unwatch(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SERVE_TEST(from_nothing_the_present_state_comes_first),
        SERVE_TEST(from_a_number_only_what_came_after),
        SERVE_TEST(a_selector_sees_objects_come_and_go),
        SERVE_TEST(initial_events_end_with_a_bookmark),
        SERVE_TEST(a_number_that_was_compacted_is_an_error_event),
        SERVE_TEST(the_timeout_ends_it_with_a_bookmark),
        SERVE_TEST(one_namespace_does_not_see_the_other),
        SERVE_TEST(a_write_that_changes_nothing_is_no_event),
        SERVE_TEST(a_watch_of_a_custom_kind_ends_with_its_definition),
        SERVE_TEST(a_request_without_headers_is_served),
        SERVE_TEST(many_writes_arrive_once_and_in_order),
    };

    return RUN_TESTS(tests);
}
