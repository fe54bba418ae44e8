/* SPDX-License-Identifier: Apache-2.0 */
/* What one answer may have, one below, at the limit, one above. A stream's queue: test_stream.c; a URL: test_url.c. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "http/http.h"
#include "lib/check.h"
#include "lib/server.h"

static const int beside[] = { -1, 0, 1 };
static struct http_client *client;
static struct server *server;

static void send_repeated(struct server_conn *c, size_t n)
{
    CLEANUP(buf_done) struct buf block = BUF_INIT(MIB);

    buf_add_repeat(&block, 'x', MIB);
    for (; n > 0; n -= MIN(n, MIB))
        server_write(c, (struct str){ block.p, MIN(n, MIB) });
}

/* Headers with n bytes in all, from the first name to the end of the last line; not the empty line behind them. */
static void send_headers(struct server_conn *c, size_t n)
{
    static const char length[] = "Content-Length: 0\r\n";
    size_t left = n - (sizeof(length) - 1);

    server_writez(c, "HTTP/1.1 200 OK\r\n");
    server_writez(c, length);
    while (left > 0) {
        size_t line = left < 4096 ? left : 2048;

        server_writez(c, "X: ");
        send_repeated(c, line - 5);
        server_writez(c, "\r\n");
        left -= line;
    }
    server_writez(c, "\r\n");
}

static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    struct str rest = rq->target, what;
    uint64_t n = 0;

    UNUSED(ctx);
    server_hang_up(c);
    rest = str_trim_prefix(rest, STR("/"));
    str_split(&rest, '/', &what);
    if (!str_to_uint64(rest, &n))
        return;
    if (str_eq(what, STR("headers"))) {
        send_headers(c, n);
    } else if (str_eq(what, STR("hops"))) {
        CLEANUP(free_ptr) char *next = xasprintf("Location: /hops/%d\r\n", (int)n - 1);

        server_reply(c, n > 0 ? 302 : 200, n > 0 ? next : NULL, STR("end"));
    } else {
        CLEANUP(free_ptr)
        char *head = xasprintf("HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n",
                               str_eq(what, STR("refused")) ? "403 Forbidden" : "200 OK", (size_t)n);

        server_writez(c, head);
        send_repeated(c, n);
    }
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

static int ask(const char *what, size_t n, struct http_request rq, struct http_response *res,
               struct err **err)
{
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/%s/%zu", server_port(server), what, n);

    rq.url = str_from(url);
    return http_do(client, &rq, res, err);
}

static void test_a_body_that_is_kept_has_a_limit(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(http_response_done) struct http_response res = { 0 };
        size_t n = (size_t)((int64_t)HTTP_BODY_MAX + beside[i]);

        assert_num(ask("body", n, (struct http_request){ 0 }, &res, NULL), beside[i] > 0 ? -ERRC_LIMIT : 0);
        assert_num(res.body.n, beside[i] > 0 ? 0 : n);
    }
}

static void test_headers_have_a_limit(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(http_response_done) struct http_response res = { 0 };
        struct err *err = NULL;
        int r = ask("headers", (size_t)((int64_t)HTTP_HEADERS_MAX + beside[i]), (struct http_request){ 0 },
                    &res, &err);

        if (beside[i] <= 0)
            assert_ok(r, err);
        else
            assert_fails(r, ERRC_LIMIT, err, NULL);
    }
}

static void test_redirects_have_a_limit(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(http_response_done) struct http_response res = { 0 };

        assert_num(
            ask("hops", (size_t)(HTTP_REDIRECTS_MAX + beside[i]), (struct http_request){ 0 }, &res, NULL),
            beside[i] > 0 ? -ERRC_UNAVAILABLE : 0);
    }
}

/* The first piece that does not fit any more ends it: what is kept is a beginning. */
static void test_of_a_refusal_only_a_beginning_is_kept(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(http_response_done) struct http_response res = { 0 };
        size_t n = (size_t)((int64_t)HTTP_ERROR_BODY_MAX + beside[i]);
        int fd = -1;
        struct http_request rq = { .any_status = true, .sink = http_sink_fd, .sink_ctx = &fd };
        struct err *err = NULL;

        assert_ok(ask("refused", n, rq, &res, &err), err);
        if (beside[i] > 0)
            assert_true(res.body.n <= HTTP_ERROR_BODY_MAX);
        else
            assert_num(res.body.n, n);
    }
}

struct slow {
    size_t got, most;
};

/* libcurl hands over at most 16 KiB; what waits beyond that is the queue. */
static int slow_sink(void *ctx, struct str bytes, struct err **err)
{
    struct slow *s = ctx;

    UNUSED(err);
    s->got += bytes.n;
    s->most = MAX(s->most, bytes.n);
    return 0;
}

static void test_what_waits_for_a_sink_has_a_limit(void **state)
{
    static const size_t sizes[] = { HTTP_QUEUE_MAX - 1, HTTP_QUEUE_MAX, HTTP_QUEUE_MAX + 1,
                                    40 * HTTP_QUEUE_MAX };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        CLEANUP(http_response_done) struct http_response res = { 0 };
        struct slow slow = { 0 };
        struct http_request rq = { .sink = slow_sink, .sink_ctx = &slow };
        struct err *err = NULL;

        assert_ok(ask("body", sizes[i], rq, &res, &err), err);
        assert_num(slow.got, sizes[i]);
        assert_true(slow.most <= HTTP_QUEUE_MAX);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    static const struct CMUnitTest tests[] = {
        TEST(test_a_body_that_is_kept_has_a_limit),
        TEST(test_headers_have_a_limit),
        TEST(test_redirects_have_a_limit),
        TEST(test_of_a_refusal_only_a_beginning_is_kept),
        TEST(test_what_waits_for_a_sink_has_a_limit),
    };

    return RUN_TESTS(tests);
}
