/* SPDX-License-Identifier: Apache-2.0 */
/* Watch streams: framing, and a reflector whose server drops, cuts, repeats, forgets and falls silent. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "kube/kube.h"
#include "lib/check.h"
#include "lib/server.h"

/* ---- framing ------------------------------------------------------------------------------------------------------ */

static void test_events_are_found_whatever_the_pieces(void **state)
{
    static const char text[] =
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a}{\\\"\"}}}\n"
        "{\"type\":\"BOOKMARK\",\"object\":{}}{\"type\":\"DELETED\",\"object\":{\"x\":[{}]}} \n";

    UNUSED(state);
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        CLEANUP(kube_watch_parser_free) struct kube_watch_parser *p = kube_watch_parser_new(0);
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(buf_done) struct buf types = BUF_INIT(1024);
        CLEANUP(err_free) struct err *err = NULL;
        int r = 0;

        for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
            struct kube_watch_event e;

            kube_watch_parser_add(p, (struct str){ text + at, MIN(piece, sizeof(text) - 1 - at) });
            while ((r = kube_watch_parser_next(p, a, &e, &err)) > 0)
                buf_addf(&types, STR_FMT " ", STR_ARG(e.type));
            assert_num(r, 0);
        }
        assert_str(buf_str(&types), "ADDED BOOKMARK DELETED ");
    }
}

static void test_a_broken_stream_stays_broken(void **state)
{
    CLEANUP(kube_watch_parser_free) struct kube_watch_parser *p = kube_watch_parser_new(0);
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct kube_watch_event e;

    UNUSED(state);
    kube_watch_parser_add(p, STR("<html>"));
    assert_num(kube_watch_parser_next(p, a, &e, NULL), -ERRC_PARSE);
    kube_watch_parser_add(p, STR("{\"type\":\"ADDED\"}"));
    assert_num(kube_watch_parser_next(p, a, &e, NULL), -ERRC_PARSE);
}

static void test_an_event_has_a_limit(void **state)
{
    UNUSED(state);
    for (int d = -1; d <= 1; d++) {
        CLEANUP(kube_watch_parser_free) struct kube_watch_parser *p = kube_watch_parser_new(0);
        CLEANUP(arena_free) struct arena *a = arena_new(4 * KUBE_EVENT_MAX);
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * KUBE_EVENT_MAX);
        struct kube_watch_event e;

        buf_adds(&text, "{\"type\":\"");
        buf_add_repeat(&text, 'x', (size_t)((int64_t)KUBE_EVENT_MAX + d - 11));
        buf_adds(&text, "\"}");
        kube_watch_parser_add(p, buf_str(&text));
        assert_num(kube_watch_parser_next(p, a, &e, NULL), d <= 0 ? 1 : -ERRC_LIMIT);
    }
}

/* ---- the reflector ------------------------------------------------------------------------------------------------ */

struct step {          /* of the server: an answer to the next list or watch */
    const char *list;  /* a list body, or NULL: this step is a watch */
    int status;        /* 0: 200 */
    const char *watch; /* what the stream says */
    enum { END, CUT, RESET, SILENT } then;
};
static const struct step *steps;
static int n_steps, at_step;
static char wanted_version[64]; /* resourceVersion of the last watch */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct server *server;
static struct kube *kube;

static void answer_watch(struct server_conn *c, const struct step *s)
{
    char head[64];

    if (s->status) {
        server_reply(c, s->status, NULL, str_from(s->watch));
        return;
    }
    server_writez(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    if (*s->watch) {
        snprintf(head, sizeof(head), "%zx\r\n", strlen(s->watch));
        server_writez(c, head);
        server_writez(c, s->watch);
        server_writez(c, "\r\n");
    }
    if (s->then == SILENT)
        IGNORE_ERROR(server_sleep(c, 60000));
    else if (s->then == END && server_sleep(c, 1100)) /* not at once: that would be a trouble of its own */
        server_writez(c, "0\r\n\r\n");
    else if (s->then == RESET && server_sleep(c, 100)) /* what was not read by then would be lost */
        server_reset(c);
    server_hang_up(c);
}

static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    size_t version = str_find(rq->target, STR("resourceVersion="));
    bool watches = str_contains(rq->target, STR("watch=true"));
    struct step s;

    UNUSED(ctx);
    pthread_mutex_lock(&lock);
    s = steps[at_step < n_steps - 1 ? at_step++ : at_step];
    if (watches)
        snprintf(
            wanted_version, sizeof(wanted_version), STR_FMT,
            STR_ARG(version == STR_NPOS ? STR("none") : str_sub(rq->target, version + 16, rq->target.n)));
    pthread_mutex_unlock(&lock);
    if (watches != (s.list == NULL))
        server_reply(c, 500, NULL, STR("not what the script says"));
    else if (s.list)
        server_reply(c, s.status ? s.status : 200, NULL, str_from(s.list));
    else
        answer_watch(c, &s);
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
    at_step = 0;
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

struct seen {
    pthread_mutex_t lock;
    struct buf log; /* "begin item:a end:5 ADDED:b …" */
};

static void note(struct seen *s, const char *what, struct str name)
{
    pthread_mutex_lock(&s->lock);
    buf_addf(&s->log, "%s%s%s" STR_FMT, s->log.n ? " " : "", what, name.n ? ":" : "", STR_ARG(name));
    pthread_mutex_unlock(&s->lock);
}

static void on_begin(void *ctx)
{
    note(ctx, "begin", STR_NONE);
}

static void on_item(void *ctx, struct value v)
{
    note(ctx, "item", kube_name(v));
}

static void on_end(void *ctx, struct str version)
{
    note(ctx, "end", version);
}

static void on_event(void *ctx, enum kube_event_type type, struct value v)
{
    static const char *const names[] = { "ADDED", "MODIFIED", "DELETED" };

    note(ctx, names[type], kube_name(v));
}

static void *run(void *arg)
{
    kube_reflector_run(arg);
    return NULL;
}

/* Plays the script until the log is what is wanted, at most for `ms`. */
static void play(const struct step *s, int n, const char *want, int ms, struct kube_reflector_figures *ret)
{
    struct seen seen = { PTHREAD_MUTEX_INITIALIZER, BUF_INIT(64 * KIB) };
    struct kube_reflector_sink sink = { &seen, on_begin, on_item, on_end, on_event, NULL };
    struct kube_reflector_options o = { .ref = KUBE_REF("v1", "ConfigMap", STR_NONE, STR_NONE),
                                        .watch_s = 1 };
    struct kube_reflector *r = kube_reflector_new(kube, &o, &sink);
    int64_t start = clock_mono_ms();
    pthread_t thread;
    bool there = false;

    steps = s;
    n_steps = n;
    pthread_create(&thread, NULL, run, r);
    while (!there && clock_mono_ms() - start < ms) {
        usleep(10000);
        pthread_mutex_lock(&seen.lock);
        there = str_eq(buf_str(&seen.log), str_from(want));
        pthread_mutex_unlock(&seen.lock);
    }
    kube_reflector_stop(r);
    pthread_join(thread, NULL);
    *ret = kube_reflector_figures(r);
    kube_reflector_free(r);
    assert_str(buf_str(&seen.log), want);
    buf_done(&seen.log);
}

#define LIST(version, items) \
    "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define ITEM(name, version) "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":" ITEM(name, version) "}\n"

static void test_a_lost_connection_goes_on_where_it_was(void **state)
{
    static const struct step script[] = {
        { .list = LIST("5", ITEM("a", "3")) },
        { .watch = EVENT("ADDED", "b", "6"), .then = RESET },
        { .watch = EVENT("MODIFIED", "b", "7") "{\"type\":\"MODI", .then = CUT },
        { .watch = EVENT("DELETED", "b", "9"), .then = SILENT },
    };
    struct kube_reflector_figures f;

    UNUSED(state);
    play(script, ARRAY_SIZE(script), "begin item:a end:5 ADDED:b MODIFIED:b DELETED:b", 10000, &f);
    assert_num(f.lists, 1);
    assert_num(f.watches, 3);
    assert_string_equal(wanted_version, "7");
}

static void test_bookmarks_move_the_version(void **state)
{
    static const struct step script[] = {
        { .list = LIST("5", "") },
        { .watch = EVENT("BOOKMARK", "", "40"), .then = END },
        { .watch = EVENT("ADDED", "x", "41"), .then = SILENT },
    };
    struct kube_reflector_figures f;

    UNUSED(state);
    play(script, ARRAY_SIZE(script), "begin end:5 ADDED:x", 10000, &f);
    assert_string_equal(wanted_version, "40");
    assert_num(f.bookmarks, 1);
    assert_num(f.failures, 0);
}

static void test_410_lists_again_at_once(void **state)
{
    static const struct step script[] = {
        { .list = LIST("5", ITEM("a", "3")) },
        { .watch = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","
                   "\"message\":\"old\"}}",
          .then = END },
        { .list = LIST("90", ITEM("b", "80")) },
        { .status = 410,
          .watch = "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"old\"}" },
        { .list = LIST("91", "") },
        { .watch = "", .then = SILENT },
    };
    struct kube_reflector_figures f;
    int64_t start = clock_mono_ms();

    UNUSED(state);
    play(script, ARRAY_SIZE(script), "begin item:a end:5 begin item:b end:90 begin end:91", 5000, &f);
    assert_true(clock_mono_ms() - start < 2000);
    assert_num(f.failures, 0);
}

static void test_a_list_that_fails_is_tried_again_after_a_pause(void **state)
{
    static const struct step script[] = {
        { .list = "", .status = 500 },
        { .list = "<html>" },
        { .list = LIST("5", ITEM("a", "3")) },
        { .watch = "", .then = SILENT },
    };
    struct kube_reflector_figures f;
    int64_t start = clock_mono_ms();

    UNUSED(state);
    play(script, ARRAY_SIZE(script), "begin begin begin item:a end:5", 15000, &f);
    assert_true(clock_mono_ms() - start >= 800 + 1600);
    assert_num(f.failures, 2);
}

static void test_a_silent_watch_is_replaced(void **state)
{
    static const struct step script[] = {
        { .list = LIST("5", "") },
        { .watch = EVENT("ADDED", "a", "6"), .then = SILENT },
        { .watch = EVENT("ADDED", "b", "7"), .then = SILENT },
    };
    struct kube_reflector_figures f;
    int64_t start = clock_mono_ms(), took;

    UNUSED(state);
    play(script, ARRAY_SIZE(script), "begin end:5 ADDED:a ADDED:b", 10000, &f);
    took = clock_mono_ms() - start;
    assert_num(f.silent, 1);
    assert_true(took >= 2000 && took < 4000); /* twice watch_s; with the default 30 s it is at most 43 s */
    assert_string_equal(wanted_version, "6");
}

static void test_events_that_make_no_sense_are_skipped(void **state)
{
    static const struct step script[] = {
        { .list = LIST("5", "") },
        { .watch = "{\"type\":\"STRANGE\",\"object\":{}}{\"type\":\"ADDED\"}{\"type\":\"ADDED\",\"object\":["
                   "1]}" EVENT("ADDED", "a", "6"),
          .then = SILENT },
    };
    struct kube_reflector_figures f;

    UNUSED(state);
    play(script, ARRAY_SIZE(script), "begin end:5 ADDED:a", 5000, &f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_are_found_whatever_the_pieces),
        cmocka_unit_test(test_a_broken_stream_stays_broken),
        cmocka_unit_test(test_an_event_has_a_limit),
        cmocka_unit_test_setup_teardown(test_a_lost_connection_goes_on_where_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bookmarks_move_the_version, setup, teardown),
        cmocka_unit_test_setup_teardown(test_410_lists_again_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_list_that_fails_is_tried_again_after_a_pause, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_silent_watch_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events_that_make_no_sense_are_skipped, setup, teardown),
    };

    return RUN_TESTS(tests);
}
