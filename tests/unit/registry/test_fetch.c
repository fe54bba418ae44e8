/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes and archives from servers that are broken, slow, mean or elsewhere. `other` notes every credential it sees. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/fs.h"
#include "base/limits.h"
#include "lib/check.h"
#include "lib/server.h"
#include "registry/registry.h"

static struct arena *a;
static struct http_client *http;
static struct server *home, *other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int home_credentials, other_credentials;
static char *dir, *path;
static struct buf archive;
static char digest[SHA256_HEX];

static const char index_text[] =
    "apiVersion: v1\nentries:\n  web:\n  - apiVersion: v2\n    name: web\n    version: 1.0.0\n";

static void endless_body(struct server_conn *c)
{
    char block[64 * 1024];

    memset(block, 'x', sizeof(block));
    server_writez(c, "HTTP/1.1 200 OK\r\n\r\n");
    while (server_sleep(c, 0))
        server_write(c, (struct str){ block, sizeof(block) });
}

static void slow_bytes(struct server_conn *c)
{
    server_writez(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while (server_sleep(c, 100))
        server_writez(c, "x");
}

/* The index in small pieces, so that who reads it is always ahead of it. */
static void drip(struct server_conn *c, const char *head)
{
    CLEANUP(free_ptr) char *text = xasprintf("%s%s", head, index_text);
    CLEANUP(free_ptr)
    char *reply = xasprintf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", strlen(text));
    struct str rest = str_from(text);

    server_writez(c, reply);
    for (; rest.n > 0 && server_sleep(c, 1); rest = str_sub(rest, MIN(rest.n, (size_t)7), rest.n))
        server_write(c, str_sub(rest, 0, MIN(rest.n, (size_t)7)));
}

static void send_away(struct server_conn *c, bool is_index)
{
    CLEANUP(free_ptr)
    char *head = xasprintf("Location: http://127.0.0.1:%d/good/%s\r\n", server_port(other),
                           is_index ? "index.yaml" : "web.tgz");

    server_reply(c, 302, head, STR(""));
}

/* "/<what>/index.yaml", "/<what>/web.tgz": <what> is how it goes wrong. */
static void serve(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    struct str what = str_sub(rq->target, 1, rq->target.n), to;
    bool is_index = str_contains(rq->target, STR("index.yaml"));

    if (server_header(rq, "Authorization").n > 0) {
        pthread_mutex_lock(&lock);
        (*(int *)ctx)++;
        pthread_mutex_unlock(&lock);
    }
    str_split(&what, '/', &to);
    if (str_eq(to, STR("html")))
        server_reply(c, 200, "Content-Type: text/html\r\n", STR("<html><body>Sign in</body></html>"));
    else if (str_eq(to, STR("short")))
        server_writez(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"), server_hang_up(c);
    else if (str_eq(to, STR("chunks")))
        server_writez(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"),
            server_hang_up(c);
    else if (str_eq(to, STR("endless")))
        endless_body(c);
    else if (str_eq(to, STR("slow")))
        slow_bytes(c);
    else if (str_eq(to, STR("reset")))
        server_reset(c);
    else if (str_eq(to, STR("missing")))
        server_reply(c, 404, NULL, STR("no"));
    else if (str_eq(to, STR("broken")))
        server_reply(c, 503, "Retry-After: 7\r\n", STR("no"));
    else if (str_eq(to, STR("loop")))
        server_reply(c, 302, "Location: ?again\r\n", STR(""));
    else if (str_eq(to, STR("to-file")))
        server_reply(c, 302, "Location: file:///etc/passwd\r\n", STR(""));
    else if (str_eq(to, STR("drip")))
        drip(c, "");
    else if (str_eq(to, STR("drip-libyaml")))
        drip(c, "%YAML 1.1\n---\n");
    else if (str_eq(to, STR("drip-twice")))
        drip(c, "apiVersion: v1\n");
    else if (str_eq(to, STR("away")))
        send_away(c, is_index);
    else if (str_eq(to, STR("garbage")))
        server_writez(c, "SSH-2.0-OpenSSH_9\r\n"), server_hang_up(c);
    else
        server_reply(c, 200, NULL, is_index ? str_from(index_text) : buf_str(&archive));
}

static int setup(void **state)
{
    struct archive_file file = { STR("Chart.yaml"),
                                 STR("apiVersion: v2\nname: web\nversion: 1.0.0\n"),
                                 { 0 } };

    UNUSED(state);
    a = arena_new(256 * MIB);
    archive = BUF_INIT(MIB);
    if (archive_write(STR("web"), &file, 1, &archive, NULL) < 0)
        return -1;
    sha256_hex(buf_str(&archive), digest);
    home_credentials = other_credentials = 0;
    home = server_start(serve, &home_credentials);
    other = server_start(serve, &other_credentials);
    dir = check_temp_dir();
    path = fs_join(dir, "index.yaml");
    return http_client_new(NULL, &http, NULL);
}

static int teardown(void **state)
{
    UNUSED(state);
    http_client_free(http);
    server_stop(home);
    server_stop(other);
    check_temp_done(dir);
    free(path);
    buf_done(&archive);
    arena_free(a);
    return 0;
}

static const struct registry_auth login = { .user = { "ann", 3 }, .password = { "canary", 6 } };

static struct registry_source source_at(const char *what)
{
    return (struct registry_source){ .http = http,
                                     .name = STR("test"),
                                     .url =
                                         arena_printf(a, "http://127.0.0.1:%d/%s", server_port(home), what),
                                     .auth = &login,
                                     .deadline_ms = 700 };
}

static int fetch_index(const struct registry_source *s, struct err **err)
{
    struct registry_fetched got;

    return registry_fetch_index(s, a, NULL, path, &got, err);
}

static struct registry_version version_of(const char *const *urls, size_t n, const char *sha256)
{
    struct registry_version v = { .name = STR("web"), .version = STR("1.0.0"), .digest = str_from(sha256) };
    struct value_list list = VALUE_LIST_INIT(a);

    for (size_t i = 0; i < n; i++)
        value_list_add(&list, value_from_str(str_from(urls[i])));
    v.entry = value_new_map(a);
    value_setz(v.entry, "urls", value_list_done(&list));
    return v;
}

static int fetch_chart(const struct registry_source *s, const char *url, const char *sha256, struct err **err)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(ARCHIVE_PACKED_MAX);
    struct registry_version v = version_of(&url, 1, sha256);

    return registry_fetch_chart(s, &v, &out, err);
}

static const struct {
    const char *what;
    enum errc code;
    const char *text;
} matrix[] = {
    { "html", ERRC_PARSE, "text/html" },
    { "short", ERRC_UNAVAILABLE, "transfer closed with 95 bytes remaining" },
    { "chunks", ERRC_UNAVAILABLE, "chunked-encoding" },
    { "slow", ERRC_TIMEOUT, "timed out" },
    { "reset", ERRC_UNAVAILABLE, "Connection reset by peer" },
    { "missing", ERRC_NOT_FOUND, "404" },
    { "broken", ERRC_UNAVAILABLE, "503" },
    { "loop", ERRC_UNAVAILABLE, "more than 10 redirects" },
    { "to-file", ERRC_INVALID, "only http and https are allowed" },
    { "garbage", ERRC_INVALID, "HTTP/0.9" },
};

static void test_an_index_from_a_bad_server_is_an_error_that_names_it(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(matrix); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        struct registry_source s = source_at(matrix[i].what);
        int64_t start = clock_mono_ms();

        assert_case_num(matrix[i].what, fetch_index(&s, &err), -(int)matrix[i].code);
        if (!strstr(err_message(err), matrix[i].text) ||
            !strstr(err_message(err), "is not a valid chart repository"))
            fail_case("%s: %s", matrix[i].what, err_message(err));
        assert_null(strstr(err_message(err), "canary"));
        assert_true(clock_mono_ms() - start < 5000);
    }
    assert_num(other_credentials, 0);
}

static void count(void *ctx)
{
    ++*(int *)ctx;
}

/* What a first load leaves in an empty cache: the text, the names and the database, or nothing at all. What there is to be done
 * meanwhile is done once. */
static int update_cache(const char *what, struct str **ret_names, size_t *ret_n, struct err **err)
{
    CLEANUP(free_ptr) char *folder = fs_join(dir, what);
    CLEANUP(registry_db_close) struct registry_db *db = NULL;
    struct registry_source s = source_at(what);
    char **files = NULL;
    size_t n_files = 0;
    int r, called = 0;

    if (registry_db_open(folder, &db, NULL) < 0)
        return -ERRC_INTERNAL;
    r = registry_cache_update(db, folder, &s, &(struct registry_meanwhile){ count, &called }, err);
    assert_case_num(what, called, 1);
    if (registry_charts(db, s.name, a, ret_names, ret_n, NULL) < 0 ||
        fs_list_dir(folder, &files, &n_files, NULL) < 0)
        return -ERRC_INTERNAL;
    fs_names_free(files, n_files);
    assert_case_num(what, n_files, r < 0 ? 0 : 3);
    return r;
}

static void test_an_index_that_is_read_while_it_arrives_is_the_same(void **state)
{
    static const char *const whats[] = { "good", "drip", "drip-libyaml" };
    struct err *err = NULL;
    struct str *names;
    size_t n;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(whats); i++) {
        CLEANUP(free_ptr) char *list = xasprintf("%s/%s/test-charts.txt", dir, whats[i]);
        CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);

        assert_ok(update_cache(whats[i], &names, &n, &err), err);
        assert_num(n, 1);
        assert_str(names[0], "web");
        assert_num(fs_read_file(list, &text, NULL), 0);
        assert_string_equal(buf_z(&text), "web\n");
    }
    assert_fails(update_cache("drip-twice", &names, &n, &err), ERRC_PARSE, err,
                 "index of repository test: line 2: key apiVersion is there twice");
}

static void test_an_index_that_does_not_arrive_leaves_nothing(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(matrix); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        struct str *names;
        size_t n;

        assert_case_num(matrix[i].what, update_cache(matrix[i].what, &names, &n, &err), -(int)matrix[i].code);
        if (!strstr(err_message(err), matrix[i].text) || strncmp(err_message(err), "looks like", 10) != 0)
            fail_case("%s: %s", matrix[i].what, err_message(err));
        assert_num(n, 0);
    }
}

static void test_an_archive_from_a_bad_server_is_an_error_that_names_it(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(matrix); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        struct registry_source s = source_at(matrix[i].what);

        assert_case_num(matrix[i].what, fetch_chart(&s, "web.tgz", digest, &err), -(int)matrix[i].code);
        if (!strstr(err_message(err), matrix[i].text) ||
            !strstr(err_message(err), "chart web 1.0.0 of repository test"))
            fail_case("%s: %s", matrix[i].what, err_message(err));
        assert_null(strstr(err_message(err), "canary"));
    }
    assert_num(other_credentials, 0);
}

static void test_an_archive_with_other_bytes_names_both_digests(void **state)
{
    static const char wrong[] = "0000000000000000000000000000000000000000000000000000000000000000";
    CLEANUP(free_ptr) char *want = NULL;
    struct registry_source s = source_at("good");
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(fetch_chart(&s, "web.tgz", digest, &err), err);
    assert_ok(fetch_chart(&s, "web.tgz", "", &err), err);
    want = xasprintf("chart web 1.0.0 of repository test: the index says sha256 %s, the archive has %s",
                     wrong, digest);
    assert_fails(fetch_chart(&s, "web.tgz", wrong, &err), ERRC_DIGEST, err, want);
}

static void test_an_endless_archive_ends_at_the_limit(void **state)
{
    struct registry_source s = source_at("endless");
    struct err *err = NULL;

    UNUSED(state);
    s.deadline_ms = 60000;
    assert_fails(fetch_chart(&s, "web.tgz", "", &err), ERRC_LIMIT, err, NULL);
}

static void test_an_archive_may_have_20_mib(void **state)
{
    struct registry_source s = source_at("good");

    UNUSED(state);
    s.deadline_ms = 60000;
    for (size_t n = ARCHIVE_PACKED_MAX - 1; n <= ARCHIVE_PACKED_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(ARCHIVE_PACKED_MAX);

        archive.max = 2 * ARCHIVE_PACKED_MAX;
        buf_add_repeat(&archive, '\0', n - archive.n);
        assert_num(registry_fetch_url(&s, arena_printf(a, STR_FMT "/web.tgz", STR_ARG(s.url)),
                                      ARCHIVE_PACKED_MAX, &out, NULL),
                   n <= ARCHIVE_PACKED_MAX ? 0 : -ERRC_LIMIT);
    }
}

static void test_all_urls_are_tried_in_their_order(void **state)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(free_ptr)
    char *log = NULL, *good = xasprintf("http://127.0.0.1:%d/good/a.tgz", server_port(other));
    const char *const urls[] = { "/missing/a.tgz", "/html/b.tgz", good, "/good/never.tgz" };
    struct registry_version v = version_of(urls, ARRAY_SIZE(urls), digest);
    struct registry_source s = source_at("good");
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(registry_fetch_chart(&s, &v, &out, &err), err);
    assert_num(out.n, archive.n);
    log = server_log(home);
    assert_string_equal(log, "GET /missing/a.tgz\nGET /html/b.tgz\n");
    assert_num(home_credentials, 2);
    assert_num(other_credentials, 0);
    v = version_of(NULL, 0, digest);
    assert_fails(registry_fetch_chart(&s, &v, &out, &err), ERRC_NOT_FOUND, err,
                 "chart web 1.0.0 of repository test: the index gives no url for it");
}

static void test_credentials_stay_at_home_unless_they_are_to_be_passed(void **state)
{
    CLEANUP(free_ptr) char *there = xasprintf("http://127.0.0.1:%d/good/web.tgz", server_port(other));
    struct registry_source s = source_at("good"), away = source_at("away");
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(fetch_chart(&s, there, digest, &err), err);
    assert_ok(fetch_chart(&away, "web.tgz", digest, &err), err);
    assert_num(fetch_index(&away, &err), 1);
    assert_num(server_requests(other), 3);
    assert_num(other_credentials, 0);
    s.pass_credentials = true;
    assert_ok(fetch_chart(&s, there, digest, &err), err);
    assert_num(other_credentials, 1);
}

static void test_addresses_of_the_inside_are_refused_everywhere(void **state)
{
    CLEANUP(free_ptr) char *proxy = xasprintf("http://127.0.0.1:%d", server_port(home));
    static const char *const urls[] = {
        "http://127.0.0.1:%d/good/", "http://[::ffff:7f00:1]:%d/good/",   "http://2130706433:%d/good/",
        "http://localhost:%d/good/", "http://169.254.169.254:%d/latest/", "oci://127.0.0.1:%d/good/",
        "oci://localhost:%d/good/"
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
        struct str format = str_from(urls[i]);
        size_t at = str_find(format, STR("%d"));
        struct registry_source s = source_at("good");

        s.refuse_nets = HTTP_REFUSE_LOCAL;
        s.plain_http = true;
        s.url = arena_printf(a, STR_FMT "%d" STR_FMT, STR_ARG(str_sub(format, 0, at)), server_port(home),
                             STR_ARG(str_sub(format, at + 2, format.n)));
        if (str_has_prefix(format, STR("oci")))
            assert_case_num(urls[i],
                            registry_fetch_tags(&s, a, NULL, &(struct str){ "web", 3 }, 1, path, NULL),
                            -ERRC_FORBIDDEN);
        else
            assert_case_num(urls[i], fetch_index(&s, NULL), -ERRC_FORBIDDEN);
        assert_case_num(urls[i],
                        fetch_chart(&s, arena_printf(a, STR_FMT "web:1", STR_ARG(s.url)).p, "", NULL),
                        -ERRC_FORBIDDEN);
    }
    for (int i = 0; i < 2; i++) { /* a proxy that the object brings is an address, too */
        struct registry_source s = { .http = http,
                                     .url = STR("http://charts.example.invalid"),
                                     .proxy = proxy };

        s.refuse_nets = i ? HTTP_REFUSE_LOCAL : 0;
        assert_num(fetch_index(&s, NULL), i ? -ERRC_FORBIDDEN : 1);
    }
    assert_num(server_requests(home), 1);
}

static void test_files_are_read_for_command_lines_only(void **state)
{
    CLEANUP(free_ptr) char *file = fs_join(dir, "web.tgz"), *url = xasprintf("file://%s", file);
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    struct registry_source s = source_at("good");
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(fs_write_file(file, buf_str(&archive), 0600, &err), err);
    assert_fails(fetch_chart(&s, url, digest, &err), ERRC_FORBIDDEN, err, NULL);
    s.files = true;
    assert_ok(fetch_chart(&s, url, digest, &err), err);
    assert_fails(registry_fetch_url(&s, STR("file://host/etc/passwd"), MIB, &out, &err), ERRC_INVALID, err,
                 NULL);
    assert_fails(registry_fetch_url(&s, STR("file:///%00"), MIB, &out, &err), ERRC_INVALID, err, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void test_urls_compare_without_their_case_and_slash(void **state)
{
    static const struct {
        const char *one, *other;
        bool same;
    } cases[] = {
        { "https://charts.example.com/a", "HTTPS://Charts.Example.COM:443/a//", true },
        { "http://charts.example.com", "http://charts.example.com:80/", true },
        { "oci://ghcr.io/Charts", "oci://GHCR.io/Charts/", true },
        { "https://charts.example.com/a", "https://charts.example.com/A", false },
        { "https://charts.example.com/a", "http://charts.example.com/a", false },
        { "https://charts.example.com:8443/a", "https://charts.example.com/a", false },
        { "https://charts.example.com/a?x=1", "https://charts.example.com/a", false },
        { "@stable", "@stable/", true },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_case_num(cases[i].other,
                        str_eq(registry_normalize_url(a, str_from(cases[i].one)),
                               registry_normalize_url(a, str_from(cases[i].other))),
                        cases[i].same);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_an_index_from_a_bad_server_is_an_error_that_names_it),
        TEST(test_an_index_that_is_read_while_it_arrives_is_the_same),
        TEST(test_an_index_that_does_not_arrive_leaves_nothing),
        TEST(test_an_archive_from_a_bad_server_is_an_error_that_names_it),
        TEST(test_an_archive_with_other_bytes_names_both_digests),
        TEST(test_an_endless_archive_ends_at_the_limit),
        TEST(test_an_archive_may_have_20_mib),
        TEST(test_all_urls_are_tried_in_their_order),
        TEST(test_credentials_stay_at_home_unless_they_are_to_be_passed),
        TEST(test_addresses_of_the_inside_are_refused_everywhere),
        TEST(test_files_are_read_for_command_lines_only),
        TEST(test_urls_compare_without_their_case_and_slash),
    };

    return RUN_TESTS(tests);
}
