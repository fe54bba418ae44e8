/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials go to the configured origin and nowhere else (CVE-2021-32690, CVE-2022-27774). Two servers: `home`, whose
 * origin is configured, and `other`; each notes every Authorization header it saw. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/http.h"
#include "lib/check.h"
#include "lib/server.h"

struct seen {
    pthread_mutex_t lock;
    int with, without;
    char last[256];
    bool custom; /* the last one carried X-Token */
};
static struct seen seen_home, seen_other;
static struct http_client *client;
static struct server *home, *other;

/* "/<code>/<rest>" redirects to what X-To says. */
static void handler(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    struct seen *s = ctx;
    struct str auth = server_header(rq, "Authorization");
    struct str path = rq->target, first;
    int64_t code = 0;

    pthread_mutex_lock(&s->lock);
    if (auth.n > 0)
        s->with++;
    else
        s->without++;
    snprintf(s->last, sizeof(s->last), STR_FMT, STR_ARG(auth));
    s->custom = server_header(rq, "X-Token").n > 0;
    pthread_mutex_unlock(&s->lock);
    path = str_sub(path, 1, path.n);
    str_split(&path, '/', &first);
    if (str_to_int64(first, &code) && code >= 300 && code < 400) {
        CLEANUP(free_ptr) char *to = xasprintf("Location: http://" STR_FMT "\r\n", STR_ARG(path));

        server_reply(c, (int)code, to, STR("moved"));
        return;
    }
    server_reply(c, 200, NULL, STR("ok"));
}

static int setup(void **state)
{
    UNUSED(state);
    memset(&seen_home, 0, sizeof(seen_home));
    memset(&seen_other, 0, sizeof(seen_other));
    pthread_mutex_init(&seen_home.lock, NULL);
    pthread_mutex_init(&seen_other.lock, NULL);
    home = server_start(handler, &seen_home);
    other = server_start(handler, &seen_other);
    return http_client_new(NULL, &client, NULL);
}

static int teardown(void **state)
{
    UNUSED(state);
    http_client_free(client);
    server_stop(home);
    server_stop(other);
    return 0;
}

static int get(const char *url, const char *user, const char *password)
{
    CLEANUP(http_response_done) struct http_response res = { 0 };
    CLEANUP(free_ptr) char *origin = xasprintf("http://127.0.0.1:%d/charts", server_port(home));
    struct http_credentials credentials = { .origin = str_from(origin),
                                            .user = str_from(user),
                                            .password = str_from(password) };
    const struct http_header headers[] = { { STR("X-Token"), STR("secret") }, { STR("Accept"), STR("a/b") } };
    struct http_request rq = {
        .url = str_from(url), .credentials = &credentials, .headers = headers, .n_headers = 2
    };

    return http_do(client, &rq, &res, NULL);
}

static void test_the_configured_origin_gets_them(void **state)
{
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/index.yaml", server_port(home));

    UNUSED(state);
    assert_num(get(url, "user", "pass"), 0);
    assert_string_equal(seen_home.last, "Basic dXNlcjpwYXNz");
}

static void test_other_origins_do_not(void **state)
{
    CLEANUP(free_ptr) char *port = xasprintf("http://127.0.0.1:%d/a.tgz", server_port(other));
    CLEANUP(free_ptr) char *host = xasprintf("http://localhost:%d/a.tgz", server_port(home));

    UNUSED(state);
    assert_num(get(port, "user", "pass"), 0);
    assert_num(get(host, "user", "pass"), 0);
    assert_num(seen_other.with, 0);
    assert_num(seen_home.with, 0);
    assert_num(seen_other.without + seen_home.without, 2);
}

static void test_redirects_elsewhere_lose_them_and_every_header_that_may_tell(void **state)
{
    static const int codes[] = { 301, 302, 303, 307, 308 };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
        CLEANUP(free_ptr)
        char *url = xasprintf("http://127.0.0.1:%d/%d/127.0.0.1:%d/a.tgz", server_port(home), codes[i],
                              server_port(other));

        assert_num(get(url, "user", "pass"), 0);
        assert_num(seen_home.with, i + 1);
        assert_num(seen_other.without, i + 1);
        assert_false(seen_other.custom);
    }
    assert_num(seen_other.with, 0);
}

static void test_a_chain_that_comes_back_has_them_at_home_only(void **state)
{
    CLEANUP(free_ptr)
    char *url = xasprintf("http://127.0.0.1:%d/302/127.0.0.1:%d/302/127.0.0.1:%d/a.tgz", server_port(home),
                          server_port(other), server_port(home));

    UNUSED(state);
    assert_num(get(url, "user", "pass"), 0);
    assert_num(seen_home.with, 2);
    assert_num(seen_other.with, 0);
}

static void test_a_chain_that_starts_elsewhere_never_has_them_there(void **state)
{
    CLEANUP(free_ptr)
    char *url =
        xasprintf("http://127.0.0.1:%d/302/127.0.0.1:%d/a.tgz", server_port(other), server_port(home));

    UNUSED(state);
    assert_num(get(url, "user", "pass"), 0);
    assert_num(seen_other.with, 0);
    assert_num(seen_home.with, 1);
    assert_false(seen_home.custom); /* the request's own headers belong to the origin of its URL */
}

static void test_redirects_with_user_information_are_refused(void **state)
{
    CLEANUP(free_ptr)
    char *url =
        xasprintf("http://127.0.0.1:%d/302/x:y@127.0.0.1:%d/a.tgz", server_port(home), server_port(other));

    UNUSED(state);
    assert_num(get(url, "user", "pass"), -ERRC_INVALID);
    assert_num(server_requests(other), 0);
}

static void test_alternating_tenants_never_share_an_identity(void **state)
{
    static const char *const want[] = { "Basic YWxpY2U6MQ==", "Basic Ym9iOjI=", "" };
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/index.yaml", server_port(home));

    UNUSED(state);
    for (int i = 0; i < 9; i++) {
        static const char *const users[] = { "alice", "bob", "" }, *const words[] = { "1", "2", "" };

        assert_num(get(url, users[i % 3], words[i % 3]), 0);
        assert_string_equal(seen_home.last, want[i % 3]);
    }
}

static void test_no_secret_is_in_the_error(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct http_response res = { 0 };
    struct http_credentials credentials = { .origin = STR("http://127.0.0.1:1"), .bearer = STR("canary") };
    struct http_request rq = { .url = STR("http://127.0.0.1:1/x?sig=canary#canary"),
                               .credentials = &credentials };

    UNUSED(state);
    assert_true(http_do(client, &rq, &res, &err) < 0);
    assert_null(strstr(err_message(err), "canary"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_configured_origin_gets_them, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_origins_do_not, setup, teardown),
        cmocka_unit_test_setup_teardown(test_redirects_elsewhere_lose_them_and_every_header_that_may_tell,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_chain_that_comes_back_has_them_at_home_only, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_chain_that_starts_elsewhere_never_has_them_there, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_redirects_with_user_information_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_alternating_tenants_never_share_an_identity, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_secret_is_in_the_error, setup, teardown),
    };

    return RUN_TESTS(tests);
}
