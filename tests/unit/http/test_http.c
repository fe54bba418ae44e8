/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges with a well-behaved server. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/http.h"
#include "lib/check.h"
#include "lib/server.h"

static struct http_client *client;
static struct server *server;
static char url_text[256];

static struct str url(const char *path)
{
    snprintf(url_text, sizeof(url_text), "http://127.0.0.1:%d%s", server_port(server), path);
    return str_from(url_text);
}

static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    UNUSED(ctx);
    if (str_eq(rq->target, STR("/echo")))
        server_reply(c, 200, "X-Tag: a\r\nx-tag: b\r\n", rq->body);
    else if (str_eq(rq->target, STR("/headers")))
        server_reply(c, 200, NULL, rq->headers);
    else if (str_eq(rq->target, STR("/etag")) && str_eq(server_header(rq, "If-None-Match"), STR("\"v1\"")))
        server_reply(c, 304, "ETag: \"v1\"\r\n", STR(""));
    else if (str_eq(rq->target, STR("/etag")))
        server_reply(c, 200, "ETag: \"v1\"\r\nLast-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\n", STR("new"));
    else if (str_has_prefix(rq->target, STR("/status/429")))
        server_reply(c, 429, "Retry-After: 7\r\n", STR("slow down"));
    else if (str_has_prefix(rq->target, STR("/sleep")) && server_sleep(c, 5000))
        server_reply(c, 200, NULL, STR("late"));
    else if (str_has_prefix(rq->target, STR("/nap")) && server_sleep(c, 100))
        server_reply(c, 200, NULL, rq->target);
    else
        server_reply(c, 404, NULL, STR("no such thing"));
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

static void test_a_body_goes_there_and_back(void **state)
{
    CLEANUP(http_response_done) struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    struct http_request rq = { .url = url("/echo"), .body = STR("hello") };

    UNUSED(state);
    assert_ok(http_do(client, &rq, &res, &err), err);
    assert_num(res.status, 200);
    assert_str(res.body, "hello");
    assert_str(http_response_header(&res, STR("X-TAG")), "a");
    assert_num(res.body_bytes, 5);
    assert_str(res.url, url_text);
}

static void test_only_the_headers_asked_for_are_sent(void **state)
{
    CLEANUP(http_response_done) struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    const struct http_header headers[] = { { STR("X-One"), STR("1") }, { STR("X-Empty"), STR("") } };
    struct http_request rq = {
        .url = url("/headers"), .headers = headers, .n_headers = 2, .method = "PUT", .body = STR("")
    };
    char want[512];

    UNUSED(state);
    assert_ok(http_do(client, &rq, &res, &err), err);
    snprintf(want, sizeof(want),
             "Host: 127.0.0.1:%d\r\nUser-Agent: pintle/%s\r\nAccept: */*\r\nX-One: "
             "1\r\nX-Empty:\r\nContent-Length: 0",
             server_port(server), PINTLE_VERSION);
    assert_str(res.body, want);
}

static void test_a_header_with_a_line_break_is_refused(void **state)
{
    struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    const struct http_header headers[] = { { STR("X-One"), STR("1\r\nX-Two: 2") } };
    struct http_request rq = { .url = url("/headers"), .headers = headers, .n_headers = 1 };

    UNUSED(state);
    assert_fails(http_do(client, &rq, &res, &err), ERRC_INVALID, err, "header X-One cannot be sent");
}

static void test_a_refusal_names_method_url_and_status_and_no_query(void **state)
{
    struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    struct http_request rq = { .url = url("/status/429?token=secret"), .method = "DELETE" };
    char want[256];

    UNUSED(state);
    snprintf(want, sizeof(want), "DELETE http://127.0.0.1:%d/status/429: 429 Too Many Requests",
             server_port(server));
    assert_num(http_do(client, &rq, &res, &err), -ERRC_UNAVAILABLE);
    assert_string_equal(err_message(err), want);
    assert_num(err_http_status(err), 429);
    assert_num(err_retry_after_ms(err), 7000);
}

static void test_any_status_is_an_answer_when_asked(void **state)
{
    CLEANUP(http_response_done) struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    struct http_request rq = { .url = url("/nothing"), .any_status = true };

    UNUSED(state);
    assert_ok(http_do(client, &rq, &res, &err), err);
    assert_num(res.status, 404);
    assert_str(res.body, "no such thing");
}

static void test_conditional_requests_see_304(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct http_response res = { 0 };
    struct http_request rq = { .url = url("/etag") };

    UNUSED(state);
    assert_ok(http_do(client, &rq, &res, &err), err);
    assert_str(http_response_header(&res, STR("etag")), "\"v1\"");
    assert_str(res.body, "new");
    http_response_done(&res);
    rq.etag = STR("\"v1\"");
    assert_ok(http_do(client, &rq, &res, &err), err);
    assert_num(res.status, 304);
    assert_str(res.body, "");
    http_response_done(&res);
}

static void test_the_deadline_ends_a_slow_answer(void **state)
{
    struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    struct http_request rq = { .url = url("/sleep"), .deadline_ms = 100 };
    int64_t start = clock_mono_ms();

    UNUSED(state);
    assert_num(http_do(client, &rq, &res, &err), -ERRC_TIMEOUT);
    assert_true(clock_mono_ms() - start < 1000);
}

static void test_many_requests_run_at_once_and_answer_in_order(void **state)
{
    struct http_request rq[20];
    struct http_result results[20];
    char urls[20][64];
    int64_t start = clock_mono_ms(), took;

    UNUSED(state);
    for (int i = 0; i < 20; i++) {
        snprintf(urls[i], sizeof(urls[i]), "http://127.0.0.1:%d/nap/%d", server_port(server), i);
        rq[i] = (struct http_request){ .url = str_from(urls[i]) };
    }
    rq[7].url = STR("ftp://h/");
    assert_num(http_do_all(client, rq, 20, 8, results), -ERRC_INVALID);
    took = clock_mono_ms() - start;
    for (int i = 0; i < 20; i++) {
        if (i != 7)
            assert_str(results[i].response.body, strrchr(urls[i], '/') - 4);
        else
            assert_num(results[i].r, -ERRC_INVALID);
        http_result_done(&results[i]);
    }
    assert_true(took >= 300 && took < 1500); /* 19 of 100 ms each, 8 at a time */
    assert_true(server_connections(server) <= 8 + 4);
}

static void test_connections_are_kept(void **state)
{
    int before = 0;

    UNUSED(state);
    for (int i = 0; i < 20; i++) {
        CLEANUP(http_response_done) struct http_response res = { 0 };
        CLEANUP(err_free) struct err *err = NULL;
        struct http_request rq = { .url = url("/echo"), .body = STR("x") };

        if (i == 1)
            before = server_connections(server);
        assert_ok(http_do(client, &rq, &res, &err), err);
    }
    assert_num(server_connections(server), before);
}

static int take(void *ctx, struct str bytes, struct err **err)
{
    struct buf *b = ctx;

    if (b->n + bytes.n > 300000)
        return err_set(err, ERRC_PARSE, "this is no index");
    buf_addstr(b, bytes);
    return 0;
}

static void test_a_sink_gets_the_body(void **state)
{
    CLEANUP(http_response_done) struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB), body = BUF_INIT(MIB);
    struct http_request rq = { .url = url("/echo"), .sink = take, .sink_ctx = &got };

    UNUSED(state);
    buf_add_repeat(&body, 'x', 300000);
    rq.body = buf_str(&body);
    assert_ok(http_do(client, &rq, &res, &err), err);
    assert_num(got.n, 300000);
    assert_num(res.body_bytes, 300000);
    assert_num(res.body.n, 0);
}

static void test_a_sink_that_fails_ends_the_transfer(void **state)
{
    struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB), body = BUF_INIT(MIB);
    struct http_request rq = { .url = url("/echo"), .sink = take, .sink_ctx = &got };

    UNUSED(state);
    buf_add_repeat(&body, 'x', 300001);
    rq.body = buf_str(&body);
    assert_fails(http_do(client, &rq, &res, &err), ERRC_PARSE, err, "this is no index");
}

static void *cancel_soon(void *arg)
{
    usleep(100000);
    http_client_cancel(arg);
    return NULL;
}

static void test_cancelling_the_client_ends_what_waits_and_what_comes(void **state)
{
    struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    struct http_request rq = { .url = url("/sleep") };
    struct http_client *c = NULL;
    int64_t start = clock_mono_ms();
    pthread_t thread;

    UNUSED(state);
    assert_ok(http_client_new(NULL, &c, &err), err);
    pthread_create(&thread, NULL, cancel_soon, c);
    assert_fails(http_do(c, &rq, &res, &err), ERRC_CANCELLED, err, "GET: cancelled");
    assert_fails(http_do(c, &rq, &res, &err), ERRC_CANCELLED, err, "the HTTP client was stopped");
    pthread_join(thread, NULL);
    http_client_free(c);
    assert_true(clock_mono_ms() - start < 1000);
}

static void test_a_client_that_is_not_used_ends_at_once(void **state)
{
    int64_t start = clock_mono_ms();

    UNUSED(state);
    for (int i = 0; i < 20; i++) {
        struct http_client *c = NULL;
        struct err *err = NULL;

        assert_ok(http_client_new(NULL, &c, &err), err);
        http_client_free(c);
    }
    assert_true(clock_mono_ms() - start < 10000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_body_goes_there_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_the_headers_asked_for_are_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_header_with_a_line_break_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_refusal_names_method_url_and_status_and_no_query, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_any_status_is_an_answer_when_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_conditional_requests_see_304, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_deadline_ends_a_slow_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_requests_run_at_once_and_answer_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_connections_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_sink_gets_the_body, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_sink_that_fails_ends_the_transfer, setup, teardown),
        cmocka_unit_test(test_a_client_that_is_not_used_ends_at_once),
        cmocka_unit_test_setup_teardown(test_cancelling_the_client_ends_what_waits_and_what_comes, setup,
                                        teardown),
    };

    return RUN_TESTS(tests);
}
