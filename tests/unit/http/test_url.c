/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "http/http.h"
#include "lib/check.h"

static void test_urls_are_taken_apart(void **state)
{
    static const struct {
        const char *url, *scheme, *host, *path, *query;
        int port;
    } cases[] = {
        { "https://charts.example.com/stable", "https", "charts.example.com", "/stable", "", 443 },
        { "HTTP://Charts.Example.COM:8080", "http", "charts.example.com", "/", "", 8080 },
        { "http://[::1]:81/a?b=c&d", "http", "[::1]", "/a", "b=c&d", 81 },
        { "http://h/p@q?x=y@z", "http", "h", "/p@q", "x=y@z", 80 },
        { "http://0x7f.1/", "http", "127.0.0.1", "/", "", 80 }, /* as the resolver would read it */
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        struct http_url u;

        assert_ok(http_url_parse(str_from(cases[i].url), &u, &err), err);
        assert_case_str(cases[i].url, u.scheme, cases[i].scheme);
        assert_case_str(cases[i].url, u.host, cases[i].host);
        assert_case_str(cases[i].url, u.path, cases[i].path);
        assert_case_str(cases[i].url, u.query, cases[i].query);
        assert_case_num(cases[i].url, u.port, cases[i].port);
        http_url_done(&u);
    }
}

static void test_urls_that_may_not_be_used_are_refused_by_name(void **state)
{
    static const struct {
        const char *url, *error;
    } cases[] = {
        { "", "the URL is empty" },
        { "charts.example.com", "URL charts.example.com: it has no scheme" },
        { "ftp://h/", "URL ftp://h/: only http and https are allowed" },
        { "file:///etc/passwd", "URL file:///etc/passwd: only http and https are allowed" },
        { "gopher://h/1", "URL gopher://h/1: only http and https are allowed" },
        { "https://u:secret@h/x", "URL https://h/x: user information is not allowed in it" },
        { "https://good.example@evil.example/",
          "URL https://evil.example/: user information is not allowed in it" },
        { "https://@h/", "URL https://h/: user information is not allowed in it" },
        { "http://h/a b", "URL http://h/a b: blanks, control characters and backslashes are not allowed" },
        { "http://h\\@evil/",
          "URL http://evil/: blanks, control characters and backslashes are not allowed" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        struct http_url u;

        assert_fails(http_url_parse(str_from(cases[i].url), &u, &err), ERRC_INVALID, err, cases[i].error);
    }
}

static void test_url_length_has_a_limit(void **state)
{
    UNUSED(state);
    for (int d = -1; d <= 1; d++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(2 * HTTP_URL_MAX);
        CLEANUP(err_free) struct err *err = NULL;
        struct http_url u = { 0 };

        buf_adds(&b, "http://h/");
        buf_add_repeat(&b, 'a', (size_t)((int64_t)HTTP_URL_MAX + d) - b.n);
        if (d <= 0)
            assert_ok(http_url_parse(buf_str(&b), &u, &err), err);
        else
            assert_fails(http_url_parse(buf_str(&b), &u, &err), ERRC_INVALID, err,
                         "the URL is longer than 8192 bytes");
        http_url_done(&u);
    }
}

static void test_references_resolve_as_in_go(void **state)
{
    /* net/url: base.ResolveReference(ref) */
    static const struct {
        const char *base, *reference, *want;
    } cases[] = {
        { "https://h/charts/index.yaml", "a-1.tgz", "https://h/charts/a-1.tgz" },
        { "https://h/charts/", "a-1.tgz", "https://h/charts/a-1.tgz" },
        { "https://h/charts/index.yaml", "/a-1.tgz", "https://h/a-1.tgz" },
        { "https://h/charts/index.yaml", "../a-1.tgz", "https://h/a-1.tgz" },
        { "https://h:8443/x", "//other/y", "https://other/y" },
        { "https://h/x?a=b", "y?c=d#f", "https://h/y?c=d" },
        { "https://h/x", "http://other:81/y", "http://other:81/y" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(HTTP_URL_MAX);
        CLEANUP(err_free) struct err *err = NULL;

        assert_ok(http_url_resolve(str_from(cases[i].base), str_from(cases[i].reference), &out, &err), err);
        assert_case_str(cases[i].reference, buf_str(&out), cases[i].want);
    }
}

static void test_origins_compare_scheme_host_and_port(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "https://h/x", "https://H:443/y?z", true },
        { "http://h", "http://h:80/", true },
        { "https://h", "http://h", false },
        { "https://h", "https://h:8443", false },
        { "https://h", "https://sub.h", false },
        { "https://h", "https://h.evil", false },
        { "https://h", "https://h@evil", false },
        { "https://127.0.0.1", "https://2130706433", true },
        { "nonsense", "nonsense", false },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_case_num(cases[i].b, http_url_same_origin(str_from(cases[i].a), str_from(cases[i].b)),
                        cases[i].same);
}

static void test_nets_of_addresses(void **state)
{
    static const struct {
        const char *host;
        int net; /* -1: a name */
    } cases[] = {
        { "127.0.0.1", HTTP_NET_LOOPBACK },
        { "127.255.0.1", HTTP_NET_LOOPBACK },
        { "::1", HTTP_NET_LOOPBACK },
        { "[::1]", HTTP_NET_LOOPBACK },
        { "2130706433", HTTP_NET_LOOPBACK },
        { "0x7f000001", HTTP_NET_LOOPBACK },
        { "0177.1", HTTP_NET_LOOPBACK },
        { "::ffff:127.0.0.1", HTTP_NET_LOOPBACK },
        { "::127.0.0.1", HTTP_NET_LOOPBACK },
        { "64:ff9b::7f00:1", HTTP_NET_LOOPBACK },
        { "2002:7f00:1::", HTTP_NET_LOOPBACK },
        { "0", HTTP_NET_SPECIAL },
        { "0.0.0.0", HTTP_NET_SPECIAL },
        { "::", HTTP_NET_SPECIAL },
        { "169.254.169.254", HTTP_NET_LINK },
        { "fe80::1", HTTP_NET_LINK },
        { "fe80::1%eth0", HTTP_NET_LINK },
        { "10.0.0.1", HTTP_NET_PRIVATE },
        { "172.16.0.1", HTTP_NET_PRIVATE },
        { "172.32.0.1", HTTP_NET_PUBLIC },
        { "192.168.1.1", HTTP_NET_PRIVATE },
        { "100.64.0.1", HTTP_NET_PRIVATE },
        { "fd00::1", HTTP_NET_PRIVATE },
        { "224.0.0.1", HTTP_NET_SPECIAL },
        { "255.255.255.255", HTTP_NET_SPECIAL },
        { "ff02::1", HTTP_NET_SPECIAL },
        { "8.8.8.8", HTTP_NET_PUBLIC },
        { "2606:4700::1111", HTTP_NET_PUBLIC },
        { "example.com", -1 },
        { "", -1 },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        enum http_net net = HTTP_NET_PUBLIC;
        bool known = http_net_of(str_from(cases[i].host), &net);

        assert_case_num(cases[i].host, known ? (int)net : -1, cases[i].net);
    }
}

static void test_redacting_takes_secrets_out(void **state)
{
    static const struct {
        const char *url, *want;
    } cases[] = {
        { "https://u:p@h/x?token=s#f", "https://h/x" },
        { "https://h/@x/y", "https://h/@x/y" },
        { "u:p@h", "h" },
        { "https://h\033[31m/x", "https://h\\u001b[31m/x" },
        { "", "" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(HTTP_URL_MAX);

        http_url_redact(str_from(cases[i].url), &out);
        assert_case_str(cases[i].url, buf_str(&out), cases[i].want);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls_are_taken_apart),
        cmocka_unit_test(test_urls_that_may_not_be_used_are_refused_by_name),
        cmocka_unit_test(test_url_length_has_a_limit),
        cmocka_unit_test(test_references_resolve_as_in_go),
        cmocka_unit_test(test_origins_compare_scheme_host_and_port),
        cmocka_unit_test(test_nets_of_addresses),
        cmocka_unit_test(test_redacting_takes_secrets_out),
    };

    return RUN_TESTS(tests);
}
