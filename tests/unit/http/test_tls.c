/* SPDX-License-Identifier: Apache-2.0 */
/* Who is trusted, under which name, and who gets our certificate. Needs python3 and openssl. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "http/http.h"
#include "lib/check.h"

static char *dir;
static struct http_client *client;
static FILE *server; /* ends when it is closed */
static int port;
static struct buf cert = { .max = 64 * KIB }, key = { .max = 64 * KIB };

static int start(const char *client_ca)
{
    CLEANUP(free_ptr)
    char *command = xasprintf("python3 tests/lib/tls_server.py %s/cert.pem %s/key.pem %s >%s/port", dir, dir,
                              client_ca, dir);
    CLEANUP(free_ptr) char *path = fs_join(dir, "port");
    int64_t n = 0;

    server = popen(command, "w");
    for (int i = 0; i < 500 && n == 0; i++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(64);

        usleep(20000);
        if (fs_read_file(path, &text, NULL) == 0 && str_has_suffix(buf_str(&text), STR("\n")))
            IGNORE_ERROR(str_to_int64(str_trim(buf_str(&text)), &n) ? 0 : -1);
    }
    port = (int)n;
    return server && n > 0 ? 0 : -1;
}

static int setup_with(bool wants_client)
{
    CLEANUP(free_ptr) char *make = NULL, *cert_path = NULL, *key_path = NULL;

    dir = check_temp_dir();
    make = xasprintf(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=tester "
        "-addext subjectAltName=DNS:inside.test -keyout %s/key.pem -out %s/cert.pem 2>/dev/null",
        dir, dir);
    cert_path = fs_join(dir, "cert.pem");
    key_path = fs_join(dir, "key.pem");
    if (system(make) != 0 || fs_read_file(cert_path, &cert, NULL) < 0 ||
        fs_read_file(key_path, &key, NULL) < 0)
        return -1;
    if (start(wants_client ? cert_path : "") < 0)
        return -1;
    return http_client_new(NULL, &client, NULL);
}

static int setup(void **state)
{
    UNUSED(state);
    return setup_with(false);
}

static int setup_mutual(void **state)
{
    UNUSED(state);
    return setup_with(true);
}

static int teardown(void **state)
{
    UNUSED(state);
    http_client_free(client);
    if (server)
        pclose(server);
    check_temp_done(dir);
    buf_done(&cert);
    buf_done(&key);
    return 0;
}

static int get(const struct http_tls *tls, const struct http_credentials *credentials,
               struct http_response *ret, struct err **err)
{
    CLEANUP(free_ptr) char *url = xasprintf("https://127.0.0.1:%d/", port);
    struct http_request rq = { .url = str_from(url), .tls = tls, .credentials = credentials };

    return http_do(client, &rq, ret, err);
}

static void test_an_unknown_authority_is_refused(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct http_response res = { 0 };

    UNUSED(state);
    assert_num(get(NULL, NULL, &res, &err), -ERRC_UNAVAILABLE);
    assert_non_null(strstr(err_message(err), "x509: certificate signed by unknown authority"));
}

static void test_another_name_is_refused_unless_it_is_the_one_expected(void **state)
{
    struct http_tls tls = { .ca_pem = buf_str(&cert) };
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(http_response_done) struct http_response res = { 0 };

    UNUSED(state);
    assert_num(get(&tls, NULL, &res, &err), -ERRC_UNAVAILABLE);
    assert_non_null(strstr(err_message(err), "127.0.0.1"));
    err_free(err);
    err = NULL;
    tls.server_name = "inside.test";
    assert_ok(get(&tls, NULL, &res, &err), err);
    assert_str(res.body, "nobody");
}

static void test_verification_can_be_switched_off(void **state)
{
    struct http_tls tls = { .insecure = true };
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(http_response_done) struct http_response res = { 0 };
    struct http_response refused = { 0 };

    UNUSED(state);
    assert_ok(get(&tls, NULL, &res, &err), err);
    tls.insecure = false; /* the connection that was kept must not serve those who verify */
    assert_num(get(&tls, NULL, &refused, NULL), -ERRC_UNAVAILABLE);
}

static void test_our_certificate_goes_to_its_origin_alone(void **state)
{
    CLEANUP(free_ptr)
    char *origin = xasprintf("https://127.0.0.1:%d", port), *other = xasprintf("https://127.0.0.1:1");
    struct http_tls tls = { .ca_pem = buf_str(&cert), .server_name = "inside.test" };
    struct http_credentials c = { .origin = str_from(origin),
                                  .cert_pem = buf_str(&cert),
                                  .key_pem = buf_str(&key) };
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(http_response_done) struct http_response res = { 0 };
    struct http_response refused = { 0 };

    UNUSED(state);
    assert_ok(get(&tls, &c, &res, &err), err);
    assert_str(res.body, "tester");
    /* Neither by itself nor on the connection that the certificate opened. */
    c.origin = str_from(other);
    assert_true(get(&tls, &c, &refused, NULL) < 0);
    assert_true(get(&tls, NULL, &refused, NULL) < 0);
}

static void test_a_key_that_does_not_fit_is_said_so(void **state)
{
    CLEANUP(free_ptr) char *origin = xasprintf("https://127.0.0.1:%d", port);
    struct http_tls tls = { .ca_pem = buf_str(&cert), .server_name = "inside.test" };
    struct http_credentials c = { .origin = str_from(origin),
                                  .cert_pem = buf_str(&cert),
                                  .key_pem = STR("nonsense") };
    CLEANUP(err_free) struct err *err = NULL;
    struct http_response res = { 0 };

    UNUSED(state);
    assert_num(get(&tls, &c, &res, &err), -ERRC_INVALID);
    assert_null(strstr(err_message(err), "nonsense"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_unknown_authority_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_name_is_refused_unless_it_is_the_one_expected, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_verification_can_be_switched_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_our_certificate_goes_to_its_origin_alone, setup_mutual,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_key_that_does_not_fit_is_said_so, setup_mutual, teardown),
    };

    return RUN_TESTS(tests);
}
