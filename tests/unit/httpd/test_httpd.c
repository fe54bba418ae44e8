/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "httpd/httpd.h"
#include "lib/check.h"

#define BODY_LIMIT 1000

struct fixture {
    struct httpd *httpd;
    char *dir;
};

/* /file is 100 bytes; /echo answers with the body; /query with two parameters. */
static void on_request(void *ctx, const struct httpd_request *rq, struct httpd_reply *reply)
{
    struct fixture *f = ctx;

    if (str_eq(rq->path, STR("/file"))) {
        CLEANUP(free_ptr) char *path = fs_join(f->dir, "file");

        httpd_reply_file(rq, reply, open(path, O_RDONLY | O_CLOEXEC), 100, "\"tag\"");
    } else if (str_eq(rq->path, STR("/echo"))) {
        char text[BODY_LIMIT];
        ssize_t n = rq->body_fd < 0 ? 0 : pread(rq->body_fd, text, sizeof(text), 0);

        buf_addf(&reply->body, "%.*s %lld:", STR_ARG(rq->method), (long long)rq->body_n);
        buf_add(&reply->body, text, (size_t)n);
    } else {
        struct str n = httpd_request_query(rq, "n"), none = httpd_request_query(rq, "none");

        buf_addf(&reply->body, "%.*s%s", STR_ARG(n), none.p ? "!" : "?");
    }
}

static bool admit(void *ctx, const struct httpd_request *rq, struct httpd_reply *reply)
{
    UNUSED(ctx);
    if (str_eq(rq->path, STR("/echo")))
        return true;
    reply->status = 401;
    buf_adds(&reply->body, "who?\n");
    return false;
}

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
    struct err *err = NULL;

    f->dir = check_temp_dir();
    CLEANUP(free_ptr) char *path = fs_join(f->dir, "file");

    for (int i = 0; i < 10; i++)
        buf_addf(&text, "%d123456789", i);
    assert_ok(fs_write_file(path, buf_str(&text), 0600, &err), err);
    assert_ok(httpd_start(&(struct httpd_options){ .address = "127.0.0.1:0",
                                                   .handler = on_request,
                                                   .admit = admit,
                                                   .ctx = f,
                                                   .threads = 2,
                                                   .body_dir = f->dir,
                                                   .body_max = BODY_LIMIT },
                          &f->httpd, &err),
              err);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    httpd_stop(f->httpd);
    check_temp_done(f->dir);
    free(f);
    return 0;
}

static void exchange(const struct fixture *f, const char *request, struct buf *out)
{
    CLEANUP(fd_close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)httpd_port(f->httpd)) };
    char text[4096];
    ssize_t n;

    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(write(fd, request, strlen(request)), (ssize_t)strlen(request));
    while ((n = read(fd, text, sizeof(text))) > 0)
        buf_add(out, text, (size_t)n);
}

/* "STATUS Content-Range|body" of a GET of /file with these headers. */
static void get_file(const struct fixture *f, const char *headers, struct buf *out)
{
    CLEANUP(buf_done) struct buf request = BUF_INIT(KIB), answer = BUF_INIT(64 * KIB);
    struct str all, range = STR("");
    size_t at;

    buf_addf(&request, "GET /file HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", headers);
    exchange(f, buf_z(&request), &answer);
    all = buf_str(&answer);
    at = str_find(all, STR("Content-Range: "));
    if (at != STR_NPOS) {
        range = str_sub(all, at + 15, all.n);
        range = str_sub(range, 0, str_find(range, STR("\r\n")));
    }
    buf_addf(out, "%.3s %.*s|", all.p + 9, STR_ARG(range));
    buf_addstr(out, str_sub(all, str_find(all, STR("\r\n\r\n")) + 4, all.n));
}

static void test_ranges_and_conditions_of_a_file(void **state)
{
    static const struct {
        const char *headers, *want;
    } cases[] = {
        { "Range: bytes=10-14\r\n", "206 bytes 10-14/100|11234" },
        { "Range: bytes=95-\r\n", "206 bytes 95-99/100|56789" },
        { "Range: bytes=-3\r\n", "206 bytes 97-99/100|789" },
        { "Range: bytes=98-200\r\n", "206 bytes 98-99/100|89" },
        { "Range: bytes=100-\r\n", "416 bytes */100|" },
        { "Range: bytes=-0\r\n", "416 bytes */100|" },
        { "Range: bytes=0-0\r\nIf-Range: \"tag\"\r\n", "206 bytes 0-0/100|0" },
        { "If-None-Match: \"tag\"\r\n", "304 |" },
        { "If-None-Match: \"a\", \"tag\"\r\n", "304 |" },
        { "If-None-Match: *\r\n", "304 |" },
        { "If-None-Match: \"tag\"\r\nRange: bytes=0-1\r\n", "304 |" },
    };
    static const char *const whole[] = { "",
                                         "Range: bytes=5-2\r\n",
                                         "Range: bytes=x-\r\n",
                                         "Range: lines=1-2\r\n",
                                         "Range: bytes=0-1,3-4\r\n",
                                         "Range: bytes=0-1\r\nIf-Range: \"old\"\r\n",
                                         "If-None-Match: \"other\"\r\n" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf got = BUF_INIT(64 * KIB);

        get_file(*state, cases[i].headers, &got);
        assert_case_str(cases[i].headers, buf_str(&got), cases[i].want);
    }
    for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
        CLEANUP(buf_done) struct buf got = BUF_INIT(64 * KIB);

        get_file(*state, whole[i], &got);
        assert_case_num(whole[i], got.n, 5 + 100);
        assert_true(str_has_prefix(buf_str(&got), STR("200 |0123456789")));
    }
}

static void test_head_sends_the_length_and_no_body(void **state)
{
    CLEANUP(buf_done) struct buf answer = BUF_INIT(64 * KIB);

    exchange(*state, "HEAD /file HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", &answer);
    assert_true(str_contains(buf_str(&answer), STR("Content-Length: 100\r\n")));
    assert_true(str_has_suffix(buf_str(&answer), STR("\r\n\r\n")));
}

static void check_answer(const struct fixture *f, const char *request, const char *start, const char *end)
{
    CLEANUP(buf_done) struct buf answer = BUF_INIT(64 * KIB);

    exchange(f, request, &answer);
    if (!str_has_prefix(buf_str(&answer), str_from(start)) ||
        !str_has_suffix(buf_str(&answer), str_from(end)))
        fail_case("%s\n--- %s", request, buf_z(&answer));
}

static void test_bodies_arrive_whole(void **state)
{
    check_answer(*state,
                 "PUT /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
                 "HTTP/1.1 200", "PUT 5:hello");
    check_answer(*state,
                 "PATCH /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: "
                 "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                 "HTTP/1.1 200", "PATCH 5:abcde");
    check_answer(*state, "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 200", "POST 0:");
}

static void test_a_body_has_a_limit(void **state)
{
    for (size_t n = BODY_LIMIT - 1; n <= BODY_LIMIT + 1; n++) {
        CLEANUP(buf_done) struct buf request = BUF_INIT(64 * KIB);

        buf_addf(&request,
                 "PUT /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", n);
        buf_add_repeat(&request, 'x', n);
        check_answer(*state, buf_z(&request), n > BODY_LIMIT ? "HTTP/1.1 413" : "HTTP/1.1 200",
                     n > BODY_LIMIT ? "too large\n" : "x");
    }
}

static void test_a_body_that_is_not_let_in_is_not_read(void **state)
{
    check_answer(*state, "PUT /other HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", "HTTP/1.1 401",
                 "who?\n");
}

static void test_a_query_is_decoded(void **state)
{
    check_answer(*state, "GET /q?n=a%2Bb&x=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                 "HTTP/1.1 200", "a+b?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ranges_and_conditions_of_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_head_sends_the_length_and_no_body, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bodies_arrive_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_body_has_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_body_that_is_not_let_in_is_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_query_is_decoded, setup, teardown),
    };

    return RUN_TESTS(tests);
}
