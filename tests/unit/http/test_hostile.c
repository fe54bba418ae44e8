/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are broken or mean: every exchange ends in time, within the limits, with a clear error. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/http.h"
#include "lib/check.h"
#include "lib/server.h"

static struct http_client *client;
static struct server *server;

static void endless_body(struct server_conn *c)
{
    char block[4096];

    memset(block, 'x', sizeof(block));
    server_writez(c, "HTTP/1.1 200 OK\r\n\r\n");
    while (server_sleep(c, 1))
        server_write(c, (struct str){ block, sizeof(block) });
}

static void endless_headers(struct server_conn *c)
{
    char line[1024];

    memset(line, 'x', sizeof(line));
    memcpy(line, "X: ", 3);
    memcpy(line + sizeof(line) - 2, "\r\n", 2);
    server_writez(c, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 2000 && server_sleep(c, 1); i++)
        server_write(c, (struct str){ line, sizeof(line) });
}

static void slow_bytes(struct server_conn *c)
{
    server_writez(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while (server_sleep(c, 200))
        server_writez(c, "x");
}

static void many_encodings(struct server_conn *c)
{
    server_writez(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip");
    for (int i = 0; i < 1000; i++)
        server_writez(c, ", gzip");
    server_writez(c, "\r\nContent-Length: 1\r\n\r\nx");
}

static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    static const struct {
        const char *path, *bytes;
    } fixed[] = {
        { "/short", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello" },
        { "/long", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more" },
        { "/chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" },
        { "/nothing", "" },
        { "/garbage", "SSH-2.0-OpenSSH\r\n\r\n" },
        { "/html", "HTTP/1.1 503 Down\r\nContent-Length: 6\r\n\r\n<html>" },
        { "/loop", "HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n" },
        { "/to-file", "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n" },
        { "/to-user", "HTTP/1.1 302 Found\r\nLocation: http://u:p@127.0.0.1/\r\nContent-Length: 0\r\n\r\n" },
        { "/two-lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello" },
    };

    UNUSED(ctx);
    server_hang_up(c);
    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
        if (str_eq(rq->target, str_from(fixed[i].path)))
            server_writez(c, fixed[i].bytes);
    }
    if (str_eq(rq->target, STR("/endless")))
        endless_body(c);
    else if (str_eq(rq->target, STR("/headers")))
        endless_headers(c);
    else if (str_eq(rq->target, STR("/slow")))
        slow_bytes(c);
    else if (str_eq(rq->target, STR("/encodings")))
        many_encodings(c);
    else if (str_eq(rq->target, STR("/reset")))
        server_reset(c);
    else if (str_eq(rq->target, STR("/silent")))
        IGNORE_ERROR(server_sleep(c, 10000));
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

static void test_broken_answers_end_with_a_clear_error(void **state)
{
    static const struct {
        const char *path;
        enum errc code;
        const char *error; /* behind "GET <url>: " */
    } cases[] = {
        { "/short", ERRC_UNAVAILABLE, "transfer closed with 95 bytes remaining to read" },
        { "/chunk", ERRC_UNAVAILABLE, "Illegal or missing hexadecimal sequence in chunked-encoding" },
        { "/garbage", ERRC_INVALID, "Received HTTP/0.9 when not allowed" },
        { "/reset", ERRC_UNAVAILABLE, "Recv failure: Connection reset by peer" },
        { "/html", ERRC_UNAVAILABLE, "503 Service Unavailable" },
        { "/loop", ERRC_UNAVAILABLE, "more than 10 redirects" },
        { "/to-file", ERRC_INVALID, "redirect: URL file:///etc/passwd: only http and https are allowed" },
        { "/to-user", ERRC_INVALID,
          "redirect: URL http://127.0.0.1/: user information is not allowed in it" },
        { "/endless", ERRC_LIMIT, "the answer is larger than 1048576 bytes" },
        { "/headers", ERRC_LIMIT, "more than 131072 bytes of headers" },
        { "/encodings", ERRC_PARSE, "Reject response due to more than 5 content encodings" },
        { "/slow", ERRC_TIMEOUT,
          "Operation too slow. Less than 100 bytes/sec transferred the last 1 seconds" },
        { "/silent", ERRC_TIMEOUT,
          "Operation too slow. Less than 100 bytes/sec transferred the last 1 seconds" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d%s", server_port(server), cases[i].path);
        CLEANUP(free_ptr) char *want = xasprintf("GET %s: %s", url, cases[i].error);
        struct http_response res = { 0 };
        struct http_request rq = {
            .url = str_from(url), .body_max = MIB, .idle_ms = 1000, .rate_min = 100, .compressed = true
        };
        int64_t start = clock_mono_ms();

        assert_case_num(cases[i].path, http_do(client, &rq, &res, &err), -(int)cases[i].code);
        assert_case_str(cases[i].path, str_from(err_message(err)), want);
        assert_true(clock_mono_ms() - start < 5000);
    }
}

static void test_more_bytes_than_announced_are_not_taken(void **state)
{
    CLEANUP(http_response_done) struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/long", server_port(server));
    struct http_request rq = { .url = str_from(url) };

    UNUSED(state);
    assert_ok(http_do(client, &rq, &res, &err), err);
    assert_str(res.body, "hello");
}

static void test_a_connection_closed_without_an_answer_reads_as_in_go(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(free_ptr)
    char *url = xasprintf("http://127.0.0.1:%d/nothing", server_port(server)),
         *want = xasprintf("Get \"%s\": EOF", url);
    struct http_response res = { 0 };
    struct http_request rq = { .url = str_from(url) };

    UNUSED(state);
    assert_num(http_do(client, &rq, &res, &err), -ERRC_UNAVAILABLE);
    assert_string_equal(err_message(err), want);
}

static void test_nobody_listens(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct http_response res = { 0 };
    struct http_request rq = { .url = STR("http://127.0.0.1:1/x?secret=1") };

    UNUSED(state);
    assert_num(http_do(client, &rq, &res, &err), -ERRC_UNAVAILABLE);
    assert_string_equal(err_message(err),
                        "Get \"http://127.0.0.1:1/x\": dial tcp 127.0.0.1:1: connect: connection refused");
}

static void test_a_body_has_a_limit(void **state)
{
    struct http_response res = { 0 };
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/long", server_port(server));

    UNUSED(state);
    for (size_t max = 4; max <= 6; max++) {
        struct http_request rq = { .url = str_from(url), .body_max = max };

        assert_num(http_do(client, &rq, &res, NULL), max >= 5 ? 0 : -ERRC_LIMIT);
        http_response_done(&res);
    }
}

static void test_a_write_whose_fate_is_unknown_is_sent_once(void **state)
{
    static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE" };
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/nothing", server_port(server));

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
        struct http_response res = { 0 };
        struct http_request rq = { .url = str_from(url), .method = methods[i], .body = STR("{}") };
        int before = server_requests(server);

        assert_case_num(methods[i], http_do(client, &rq, &res, NULL), -ERRC_UNAVAILABLE);
        assert_case_num(methods[i], server_requests(server), before + 1);
    }
}

static void test_inner_addresses_are_refused_by_policy(void **state)
{
    static const struct {
        const char *format, *why;
    } cases[] = {
        { "http://127.0.0.1:%d/long", "loopback" },  { "http://localhost:%d/long", "loopback" },
        { "http://2130706433:%d/long", "loopback" }, { "http://0x7f.1:%d/long", "loopback" },
        { "http://[::1]:%d/long", "loopback" },      { "http://[::ffff:127.0.0.1]:%d/", "loopback" },
        { "http://localhost.:%d/long", "loopback" }, { "http://169.254.169.254:%d/latest", "link-local" },
        { "http://0:%d/long", "special-purpose" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf url = BUF_INIT(1024);
        CLEANUP(err_free) struct err *err = NULL;
        struct http_response res = { 0 };
        struct http_request rq = { .refuse_nets = HTTP_REFUSE_LOCAL };
        struct str format = str_from(cases[i].format);
        size_t at = str_find(format, STR("%d"));

        buf_addstr(&url, str_sub(format, 0, at));
        buf_addf(&url, "%d", server_port(server));
        buf_addstr(&url, str_sub(format, at + 2, format.n));
        rq.url = buf_str(&url);
        assert_case_num(cases[i].format, http_do(client, &rq, &res, &err), -ERRC_FORBIDDEN);
        assert_non_null(strstr(err_message(err), cases[i].why));
    }
    assert_num(server_requests(server), 0);
}

static void test_names_are_checked_by_the_address_they_resolve_to(void **state)
{
    char name[HOST_NAME_MAX + 1] = "";
    CLEANUP(free_ptr) char *url = NULL;
    CLEANUP(err_free) struct err *err = NULL;
    struct http_response res = { 0 };
    struct http_request rq = { .refuse_nets = ~0U };
    int r;

    UNUSED(state);
    assert_num(gethostname(name, sizeof(name) - 1), 0);
    url = xasprintf("http://%s:%d/long", name, server_port(server));
    rq.url = str_from(url);
    r = http_do(client, &rq, &res, &err);
    if (r == -ERRC_UNAVAILABLE && strstr(err_message(err), "no such host"))
        skip(); /* this machine cannot resolve its own name */
    assert_num(r, -ERRC_FORBIDDEN);
    assert_non_null(strstr(err_message(err), "the host's address is "));
}

static void test_a_kept_connection_does_not_get_round_the_policy(void **state)
{
    CLEANUP(http_response_done) struct http_response res = { 0 };
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/html", server_port(server));
    struct http_request rq = { .url = str_from(url), .any_status = true };
    struct http_response refused = { 0 };

    UNUSED(state);
    assert_ok(http_do(client, &rq, &res, &err), err);
    rq.refuse_nets = HTTP_REFUSE_LOCAL;
    assert_num(http_do(client, &rq, &refused, NULL), -ERRC_FORBIDDEN);
    assert_num(server_requests(server), 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_broken_answers_end_with_a_clear_error, setup, teardown),
        cmocka_unit_test_setup_teardown(test_more_bytes_than_announced_are_not_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_connection_closed_without_an_answer_reads_as_in_go, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_nobody_listens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_body_has_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_write_whose_fate_is_unknown_is_sent_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_inner_addresses_are_refused_by_policy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_are_checked_by_the_address_they_resolve_to, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_kept_connection_does_not_get_round_the_policy, setup,
                                        teardown),
    };

    return RUN_TESTS(tests);
}
