/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/http.h"
#include "lib/check.h"
#include "lib/server.h"

static struct http_client *client;
static struct server *server;
static atomic_bool flood_over; /* the flooding server has written all, or was cut off */

static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    char line[64];

    UNUSED(ctx);
    server_hang_up(c);
    if (str_eq(rq->target, STR("/gone"))) {
        server_reply(c, 410, NULL, STR("{\"code\":410}"));
        return;
    }
    if (str_eq(rq->target, STR("/quick"))) {
        server_reply(c, 200, NULL, STR("quick"));
        return;
    }
    if (str_eq(rq->target, STR("/late")) && !server_sleep(c, 5000))
        return;
    server_writez(c,
                  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    if (str_eq(rq->target, STR("/flood"))) {
        CLEANUP(buf_done) struct buf block = BUF_INIT(2 * MIB);

        buf_adds(&block, "100000\r\n");
        buf_add_repeat(&block, 'x', MIB);
        buf_adds(&block, "\r\n");
        for (int i = 0; i < 40 && server_sleep(c, 1); i++)
            server_write(c, buf_str(&block));
        atomic_store(&flood_over, true);
        return;
    }
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof(line), "6\r\nline %d\r\n", i);
        server_writez(c, line);
        if (!server_sleep(c, 100))
            return;
    }
    if (str_eq(rq->target, STR("/cut")))
        return;
    if (str_eq(rq->target, STR("/open")))
        IGNORE_ERROR(server_sleep(c, 10000));
    server_writez(c, "0\r\n\r\n");
}

static int setup(void **state)
{
    UNUSED(state);
    server = server_start(handler, NULL);
    return http_client_new(NULL, &client, NULL);
}

static int teardown(void **state)
{
    UNUSED(state);
    http_client_free(client);
    server_stop(server);
    return 0;
}

static int open_stream(const char *path, struct http_request rq, struct http_stream **ret, struct err **err)
{
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d%s", server_port(server), path);

    rq.url = str_from(url);
    return http_stream_open(client, &rq, ret, err);
}

static void test_what_comes_is_read_until_the_end(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    int r;

    UNUSED(state);
    assert_ok(open_stream("/lines", (struct http_request){ 0 }, &s, &err), err);
    assert_num(http_stream_status(s), 200);
    assert_str(http_stream_header(s, STR("content-type")), "application/json");
    while ((r = http_stream_read(s, 1000, &out, &err)) > 0)
        ;
    assert_num(r, 0);
    assert_str(buf_str(&out), "line 0line 1line 2");
}

static void test_nothing_in_time_is_a_timeout_and_the_stream_goes_on(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    int timeouts = 0, r;

    UNUSED(state);
    assert_ok(open_stream("/lines", (struct http_request){ 0 }, &s, &err), err);
    while ((r = http_stream_read(s, 30, &out, NULL)) != 0) {
        assert_true(r > 0 || r == -ERRC_TIMEOUT);
        timeouts += r < 0;
    }
    assert_str(buf_str(&out), "line 0line 1line 2");
    assert_true(timeouts >= 3);
}

static void test_a_cut_stream_gives_what_came_and_then_the_reason(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    int r;

    UNUSED(state);
    assert_ok(open_stream("/cut", (struct http_request){ 0 }, &s, &err), err);
    while ((r = http_stream_read(s, 1000, &out, &err)) > 0)
        ;
    assert_num(r, -ERRC_UNAVAILABLE);
    assert_str(buf_str(&out), "line 0line 1line 2");
}

static void test_refusals_are_errors_or_streams(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(http_stream_close) struct http_stream *s = NULL;

    UNUSED(state);
    assert_num(open_stream("/gone", (struct http_request){ 0 }, &s, &err), -ERRC_GONE);
    assert_num(err_http_status(err), 410);
    assert_num(open_stream("/gone", (struct http_request){ .any_status = true }, &s, NULL), 0);
    assert_num(http_stream_status(s), 410);
    assert_true(http_stream_read(s, 1000, &out, NULL) > 0);
    assert_str(buf_str(&out), "{\"code\":410}");
}

static void test_headers_have_a_deadline(void **state)
{
    struct http_stream *s = NULL;
    int64_t start = clock_mono_ms();

    UNUSED(state);
    assert_num(open_stream("/late", (struct http_request){ .deadline_ms = 100 }, &s, NULL), -ERRC_TIMEOUT);
    assert_true(clock_mono_ms() - start < 1000);
}

static void test_a_reader_that_sleeps_loses_the_stream_not_the_memory(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(64 * MIB);
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    int r;

    UNUSED(state);
    assert_ok(open_stream("/flood", (struct http_request){ 0 }, &s, &err), err);
    for (int i = 0; i < 3000 && !atomic_load(&flood_over); i++)
        usleep(10000);
    while ((r = http_stream_read(s, 1000, &out, &err)) > 0)
        ;
    assert_num(r, -ERRC_LIMIT);
    assert_true(out.n <= HTTP_STREAM_QUEUE_MAX);
}

static void *cancel_soon(void *arg)
{
    usleep(400000);
    http_stream_cancel(arg);
    return NULL;
}

static void test_cancelling_wakes_the_reader(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    int64_t start = clock_mono_ms();
    pthread_t thread;
    int r;

    UNUSED(state);
    assert_ok(open_stream("/open", (struct http_request){ 0 }, &s, &err), err);
    pthread_create(&thread, NULL, cancel_soon, s);
    while ((r = http_stream_read(s, 10000, &out, NULL)) > 0)
        ;
    pthread_join(thread, NULL);
    assert_num(r, -ERRC_CANCELLED);
    assert_true(clock_mono_ms() - start < 2000);
}

static void test_exchanges_do_not_wait_behind_streams(void **state)
{
    struct http_stream *s[50] = { NULL };
    CLEANUP(http_response_done) struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/quick", server_port(server));
    struct http_request rq = { .url = str_from(url), .deadline_ms = 2000 };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(s); i++)
        assert_ok(open_stream("/open", (struct http_request){ 0 }, &s[i], &err), err);
    assert_ok(http_do(client, &rq, &res, &err), err);
    for (size_t i = 0; i < ARRAY_SIZE(s); i++)
        http_stream_close(s[i]);
}

static void *open_late(void *arg)
{
    UNUSED(arg);
    IGNORE_ERROR(open_stream("/late", (struct http_request){ .deadline_ms = 2000 },
                             &(struct http_stream *){ NULL }, NULL));
    return NULL;
}

static void test_streams_do_not_wait_for_each_other(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    pthread_t late;
    int r;

    UNUSED(state);
    assert_num(pthread_create(&late, NULL, open_late, NULL), 0);
    usleep(200 * 1000);
    r = open_stream("/lines", (struct http_request){ .deadline_ms = 1000 }, &s, &err);
    pthread_join(late, NULL);
    assert_ok(r, err);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_comes_is_read_until_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_in_time_is_a_timeout_and_the_stream_goes_on, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_cut_stream_gives_what_came_and_then_the_reason, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_refusals_are_errors_or_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_headers_have_a_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_reader_that_sleeps_loses_the_stream_not_the_memory, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_cancelling_wakes_the_reader, setup, teardown),
        cmocka_unit_test_setup_teardown(test_exchanges_do_not_wait_behind_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_streams_do_not_wait_for_each_other, setup, teardown),
    };

    return RUN_TESTS(tests);
}
