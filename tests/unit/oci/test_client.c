/* SPDX-License-Identifier: Apache-2.0 */
/* A registry that is honest, wrong or hostile (spec N11), and a second server that must never see a credential. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/limits.h"
#include "lib/check.h"
#include "lib/server.h"
#include "oci/oci.h"

static struct arena *a;
static struct http_client *http;
static struct server *registry, *other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int other_credentials; /* requests at `other` with an Authorization */
static char last_auth[256];   /* at the registry */
static char realm[128], link_to[128], location[128], redirect[128], service[128];
static bool wants_token, wants_basic, never_content;
static struct str tags, manifest, blob;
static const char *content_digest;

static int port_of(struct server *s)
{
    return server_port(s);
}

/* 401 with the challenge when the request has not what is wanted. */
static bool challenged(struct server_conn *c, struct str auth)
{
    CLEANUP(buf_done) struct buf head = BUF_INIT(4 * KIB);

    if (wants_token && (never_content || !str_has_prefix(auth, STR("Bearer "))))
        buf_addf(&head, "WWW-Authenticate: Bearer realm=\"%s\",service=\"%s\"\r\n", realm, service);
    else if (wants_basic && (never_content || !str_has_prefix(auth, STR("Basic "))))
        buf_adds(&head, "WWW-Authenticate: Basic realm=\"r\"\r\n");
    if (head.n == 0)
        return false;
    server_reply(c, 401, buf_z(&head),
                 STR("{\"errors\":[{\"code\":\"UNAUTHORIZED\",\"message\":\"authentication required\"}]}"));
    return true;
}

static void endless(struct server_conn *c)
{
    char block[4096];

    memset(block, 'x', sizeof(block));
    server_writez(c, "HTTP/1.1 200 OK\r\n\r\n");
    while (server_sleep(c, 1))
        server_write(c, (struct str){ block, sizeof(block) });
}

static void answer(struct server_conn *c, const struct server_request *rq)
{
    CLEANUP(buf_done) struct buf head = BUF_INIT(4 * KIB);

    if (str_contains(rq->target, STR("/tags/list"))) {
        if (link_to[0])
            buf_addf(&head, "Link: <%s>; rel=\"next\"\r\n", link_to);
        server_reply(c, 200, head.n ? buf_z(&head) : NULL, tags);
    } else if (str_contains(rq->target, STR("/manifests/"))) {
        if (content_digest)
            buf_addf(&head, "Docker-Content-Digest: %s\r\n", content_digest);
        server_reply(c,
                     str_eq(rq->method, STR("PUT")) ? 201
                     : manifest.n                   ? 200
                                                    : 404,
                     head.n ? buf_z(&head) : NULL, manifest);
    } else if (str_contains(rq->target, STR("/blobs/uploads/"))) {
        buf_addf(&head, "Location: %s\r\n", location);
        server_reply(c, 202, buf_z(&head), STR(""));
    } else if (str_eq(rq->method, STR("PUT"))) {
        server_reply(c, 201, NULL, STR(""));
    } else if (str_contains(rq->target, STR("/blobs/")) && redirect[0]) {
        buf_addf(&head, "Location: %s\r\n", redirect);
        server_reply(c, 307, buf_z(&head), STR(""));
    } else if (str_contains(rq->target, STR("/blobs/")) && !blob.p) {
        endless(c);
    } else if (str_contains(rq->target, STR("/blobs/"))) {
        server_reply(c, blob.n ? 200 : 404, NULL, blob);
    } else {
        server_reply(c, 200, NULL, STR("{\"token\":\"tok\"}"));
    }
}

static void serve_registry(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    struct str auth = server_header(rq, "Authorization");

    UNUSED(ctx);
    pthread_mutex_lock(&lock);
    snprintf(last_auth, sizeof(last_auth), STR_FMT, STR_ARG(auth));
    pthread_mutex_unlock(&lock);
    if (str_has_prefix(rq->target, STR("/token")) || !challenged(c, auth))
        answer(c, rq);
}

static void serve_other(void *ctx, struct server_conn *c, const struct server_request *rq)
{
    UNUSED(ctx);
    pthread_mutex_lock(&lock);
    other_credentials += server_header(rq, "Authorization").n > 0 || str_contains(rq->body, STR("secret")) ||
                         str_contains(rq->target, STR("secret"));
    pthread_mutex_unlock(&lock);
    if (str_has_prefix(rq->target, STR("/asks")))
        server_reply(c, 401, "WWW-Authenticate: Basic realm=\"r\"\r\n", STR(""));
    else if (str_has_prefix(rq->target, STR("/blob")))
        server_reply(c, 200, NULL, blob);
    else
        server_reply(c, 200, NULL, STR("{\"access_token\":\"tok\"}"));
}

static int setup(void **state)
{
    UNUSED(state);
    a = arena_new(256 * MIB);
    other_credentials = 0;
    realm[0] = link_to[0] = location[0] = redirect[0] = last_auth[0] = '\0';
    snprintf(service, sizeof(service), "s");
    wants_token = wants_basic = never_content = false;
    tags = STR("{\"name\":\"web\",\"tags\":[\"1.0.0\",\"1.1.0_b\"]}");
    manifest = blob = STR("");
    content_digest = NULL;
    registry = server_start(serve_registry, NULL);
    other = server_start(serve_other, NULL);
    return http_client_new(NULL, &http, NULL);
}

static int teardown(void **state)
{
    UNUSED(state);
    http_client_free(http);
    server_stop(registry);
    server_stop(other);
    arena_free(a);
    return 0;
}

static const struct oci_login ann = { .user = { "ann", 3 }, .password = { "secret", 6 } };

static struct oci_client *client_as(const struct oci_login *login, bool pass)
{
    CLEANUP(free_ptr) char *host = xasprintf("127.0.0.1:%d", port_of(registry));
    struct oci_options o = {
        .http = http, .plain_http = true, .pass_credentials = pass, .deadline_ms = 5000
    };

    if (login)
        o.login = *login;
    return oci_client_new(str_from(host), &o);
}

static struct oci_ref ref_of(const char *tag, const char *digest)
{
    return (struct oci_ref){ .host = arena_printf(a, "127.0.0.1:%d", port_of(registry)),
                             .repository = STR("charts/web"),
                             .tag = str_from(tag),
                             .digest = str_from(digest) };
}

static int list_tags(const struct oci_login *login, bool pass, size_t *n, struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = client_as(login, pass);
    struct oci_ref ref = ref_of("", "");
    struct str *items;

    return oci_tags(c, a, &ref, &items, n, err);
}

/* ---- who is asked for credentials ------------------------------------------------------------------------------------- */

static void test_a_registry_that_asks_nothing_gets_nothing(void **state)
{
    struct err *err = NULL;
    size_t n = 0;

    UNUSED(state);
    assert_ok(list_tags(&ann, false, &n, &err), err);
    assert_num(n, 2);
    assert_string_equal(last_auth, "");
}

static void test_a_basic_challenge_is_answered_once(void **state)
{
    struct err *err = NULL;
    size_t n = 0;

    UNUSED(state);
    wants_basic = true;
    assert_ok(list_tags(&ann, false, &n, &err), err);
    assert_string_equal(last_auth, "Basic YW5uOnNlY3JldA==");
    never_content = true;
    assert_fails(list_tags(&ann, false, &n, &err), ERRC_UNAUTHORIZED, err, NULL);
    assert_num(server_requests(registry), 4);
}

static void test_a_token_is_fetched_for_the_scope_we_need_and_no_other(void **state)
{
    CLEANUP(free_ptr) char *log = NULL;
    struct err *err = NULL;
    size_t n = 0;

    UNUSED(state);
    wants_token = true;
    snprintf(realm, sizeof(realm), "http://127.0.0.1:%d/token?x=1", port_of(registry));
    snprintf(service, sizeof(service), "s&scope=repository:all:push");
    assert_ok(list_tags(&ann, false, &n, &err), err);
    assert_string_equal(last_auth, "Bearer tok");
    log = server_log(registry);
    assert_non_null(strstr(
        log,
        "GET "
        "/token?x=1&service=s%26scope%3Drepository%3Aall%3Apush&scope=repository%3Acharts%2Fweb%3Apull\n"));
}

static void test_a_token_that_is_refused_is_asked_for_once_more_and_no_oftener(void **state)
{
    struct err *err = NULL;
    size_t n = 0;

    UNUSED(state);
    wants_token = never_content = true;
    snprintf(realm, sizeof(realm), "http://127.0.0.1:%d/token", port_of(registry));
    assert_fails(list_tags(&ann, false, &n, &err), ERRC_UNAUTHORIZED, err, NULL);
    assert_num(server_requests(registry), 3);
}

static void test_a_token_service_elsewhere_is_not_given_the_login(void **state)
{
    struct err *err = NULL;
    size_t n = 0;

    UNUSED(state);
    wants_token = true;
    snprintf(realm, sizeof(realm), "http://127.0.0.1:%d/token", port_of(other));
    assert_fails(list_tags(&ann, false, &n, &err), ERRC_FORBIDDEN, err, NULL);
    assert_fails(list_tags(&(struct oci_login){ .identity_token = STR("secret") }, false, &n, &err),
                 ERRC_FORBIDDEN, err, NULL);
    assert_num(server_requests(other), 0);
    assert_ok(list_tags(NULL, false, &n, &err), err); /* without a login anybody may be asked */
    assert_num(server_requests(other), 1);
    assert_num(other_credentials, 0);
    assert_ok(list_tags(&ann, true, &n, &err), err); /* the user said so */
    assert_num(other_credentials, 1);
}

static void test_an_identity_token_goes_in_the_body_of_a_post(void **state)
{
    CLEANUP(free_ptr) char *log = NULL;
    struct err *err = NULL;
    size_t n = 0;

    UNUSED(state);
    wants_token = true;
    snprintf(realm, sizeof(realm), "http://127.0.0.1:%d/token", port_of(registry));
    assert_ok(list_tags(&(struct oci_login){ .identity_token = STR("secret") }, false, &n, &err), err);
    log = server_log(registry);
    assert_non_null(strstr(log, "POST /token\n"));
}

static void test_realms_that_are_no_web_address_are_refused(void **state)
{
    static const char *const realms[] = { "file:///etc/passwd", "gopher://127.0.0.1/", "unix:/run/x", "",
                                          "http://u:p@127.0.0.1/" };

    UNUSED(state);
    wants_token = true;
    for (size_t i = 0; i < ARRAY_SIZE(realms); i++) {
        struct err *err = NULL;
        size_t n;

        snprintf(realm, sizeof(realm), "%s", realms[i]);
        assert_fails(list_tags(NULL, false, &n, &err), ERRC_INVALID, err, NULL);
    }
}

static void test_a_token_service_without_a_token_is_an_error(void **state)
{
    struct err *err = NULL;
    size_t n;

    UNUSED(state);
    wants_token = true;
    snprintf(realm, sizeof(realm), "http://127.0.0.1:%d/v2/x/tags/list", port_of(registry));
    never_content = true;
    assert_fails(list_tags(NULL, false, &n, &err), ERRC_UNAUTHORIZED, err, NULL);
    snprintf(realm, sizeof(realm), "http://127.0.0.1:%d/blob", port_of(other));
    blob = STR("<html>");
    assert_fails(list_tags(NULL, false, &n, &err), ERRC_PARSE, err, NULL);
}

/* ---- being sent elsewhere ---------------------------------------------------------------------------------------------- */

static int fetch_blob(const struct oci_login *login, struct str digest, int64_t size, size_t max,
                      struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = client_as(login, false);
    CLEANUP(buf_done) struct buf out = BUF_INIT(max);
    struct oci_descriptor d = { STR(OCI_MEDIA_CHART), digest, size };
    struct oci_ref ref = ref_of("1", "");

    return oci_blob_fetch(c, &ref, &d, &out, err);
}

static struct str digest_of(struct str bytes)
{
    char hex[SHA256_HEX];

    sha256_hex(bytes, hex);
    return arena_printf(a, "sha256:%s", hex);
}

static void test_a_blob_on_another_server_is_fetched_without_credentials(void **state)
{
    struct err *err = NULL;

    UNUSED(state);
    wants_basic = true;
    blob = STR("hello");
    snprintf(redirect, sizeof(redirect), "http://127.0.0.1:%d/blob", port_of(other));
    assert_ok(fetch_blob(&ann, digest_of(blob), 5, KIB, &err), err);
    assert_num(server_requests(other), 1);
    snprintf(redirect, sizeof(redirect), "http://127.0.0.1:%d/asks", port_of(other));
    assert_fails(fetch_blob(&ann, digest_of(blob), 5, KIB, &err), ERRC_UNAUTHORIZED, err, NULL);
    assert_num(server_requests(other), 2); /* its challenge is not answered */
    assert_num(other_credentials, 0);
}

static void test_the_next_page_of_tags_is_on_the_same_server(void **state)
{
    struct err *err = NULL;
    size_t n;

    UNUSED(state);
    snprintf(link_to, sizeof(link_to), "http://127.0.0.1:%d/v2/charts/web/tags/list?last=x", port_of(other));
    assert_fails(list_tags(&ann, false, &n, &err), ERRC_FORBIDDEN, err, NULL);
    assert_num(server_requests(other), 0);
}

static int push(struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = client_as(&ann, false);
    struct oci_push p = { .ref = ref_of("1", ""), .archive = STR("archive"), .config = STR("{}") };
    struct str digest;

    return oci_push_chart(c, a, &p, &digest, err);
}

static void test_uploads_stay_on_the_same_server(void **state)
{
    CLEANUP(free_ptr) char *log = NULL;
    struct err *err = NULL;

    UNUSED(state);
    snprintf(location, sizeof(location), "http://127.0.0.1:%d/upload", port_of(other));
    assert_fails(push(&err), ERRC_FORBIDDEN, err, NULL);
    assert_num(server_requests(other), 0);
    snprintf(location, sizeof(location), "/upload/1?state=x");
    assert_ok(push(&err), err);
    log = server_log(registry);
    assert_non_null(strstr(log, "PUT /upload/1?state=x&digest=sha256:"));
    assert_non_null(strstr(log, "PUT /v2/charts/web/manifests/1\n"));
}

static void test_what_is_there_is_not_uploaded_again(void **state)
{
    CLEANUP(free_ptr) char *log = NULL;
    struct err *err = NULL;

    UNUSED(state);
    blob = STR("x");
    assert_ok(push(&err), err);
    log = server_log(registry);
    assert_null(strstr(log, "POST "));
}

static void test_addresses_that_are_not_allowed_are_not_asked(void **state)
{
    CLEANUP(free_ptr) char *host = xasprintf("127.0.0.1:%d", port_of(registry));
    struct oci_options o = { .http = http, .plain_http = true, .refuse_nets = HTTP_REFUSE_LOCAL };
    CLEANUP(oci_client_free) struct oci_client *c = oci_client_new(str_from(host), &o);
    struct oci_ref ref = ref_of("", "");
    struct err *err = NULL;
    struct str *items;
    size_t n;

    UNUSED(state);
    assert_fails(oci_tags(c, a, &ref, &items, &n, &err), ERRC_FORBIDDEN, err, NULL);
    assert_num(server_requests(registry), 0);
}

/* ---- wrong content ----------------------------------------------------------------------------------------------------- */

static int fetch_manifest(const char *digest, struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = client_as(NULL, false);
    struct oci_ref ref = ref_of("1", digest);
    struct oci_chart_layers layers;
    struct oci_manifest m;
    int r = oci_manifest_fetch(c, a, &ref, &m, err);

    return r < 0 ? r : oci_chart_layers(&m, &layers, err);
}

#define DESCRIPTOR(type)     \
    "{\"mediaType\":\"" type \
    "\",\"size\":2,\"digest\":\"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\"}"
#define CONFIG "\"config\":" DESCRIPTOR(OCI_MEDIA_CONFIG)

static void test_manifests_that_are_none(void **state)
{
    static const struct {
        const char *text;
        enum errc code;
    } cases[] = {
        { "{\"schemaVersion\":2," CONFIG ",\"layers\":[" DESCRIPTOR(OCI_MEDIA_CHART) "]}", ERRC_NONE },
        { "{\"schemaVersion\":2," CONFIG ",\"layers\":[" DESCRIPTOR(OCI_MEDIA_CHART_LEGACY) "]}", ERRC_NONE },
        { "<html><body>login</body></html>", ERRC_PARSE },
        { "{\"schemaVersion\":2,\"mediaType\":\"" OCI_MEDIA_INDEX "\",\"manifests\":[]}", ERRC_PARSE },
        { "{\"mediaType\":\"" OCI_MEDIA_INDEX "\"," CONFIG ",\"layers\":[" DESCRIPTOR(OCI_MEDIA_CHART) "]}",
          ERRC_PARSE },
        { "{\"schemaVersion\":2,\"layers\":[" DESCRIPTOR(OCI_MEDIA_CHART) "]}", ERRC_PARSE },
        { "{" CONFIG ",\"layers\":[{\"mediaType\":\"" OCI_MEDIA_CHART
          "\",\"size\":2,\"digest\":\"sha256:../x\"}]}",
          ERRC_PARSE },
        { "{" CONFIG ",\"layers\":[{\"mediaType\":\"" OCI_MEDIA_CHART "\",\"size\":-2}]}", ERRC_PARSE },
        { "{" CONFIG ",\"layers\":[" DESCRIPTOR("application/vnd.oci.image.layer.v1.tar") "]}",
          ERRC_INVALID },
        { "{\"config\":" DESCRIPTOR("application/vnd.oci.image.config.v1+json") ",\"layers\":[" DESCRIPTOR(
              OCI_MEDIA_CHART) "]}",
          ERRC_INVALID },
        { "{" CONFIG "}", ERRC_INVALID },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        manifest = str_from(cases[i].text);
        assert_case_num(cases[i].text, fetch_manifest("", NULL), -(int)cases[i].code);
    }
}

static void test_a_manifest_has_the_digest_that_was_asked_for_and_told(void **state)
{
    static const char wrong[] = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
    struct err *err = NULL;
    struct str digest;

    UNUSED(state);
    manifest = STR("{" CONFIG ",\"layers\":[" DESCRIPTOR(OCI_MEDIA_CHART) "]}");
    digest = digest_of(manifest);
    assert_ok(fetch_manifest(arena_dupz(a, digest), &err), err);
    assert_fails(fetch_manifest(wrong, &err), ERRC_DIGEST, err, NULL);
    content_digest = wrong;
    assert_fails(fetch_manifest("", &err), ERRC_DIGEST, err, NULL);
}

static void test_a_manifest_has_a_limit(void **state)
{
    UNUSED(state);
    for (size_t n = OCI_MANIFEST_MAX - 1; n <= OCI_MANIFEST_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * OCI_MANIFEST_MAX);

        buf_adds(&text, "{" CONFIG ",\"layers\":[" DESCRIPTOR(OCI_MEDIA_CHART) "]}");
        buf_add_repeat(&text, ' ', n - text.n);
        manifest = buf_str(&text);
        assert_num(fetch_manifest("", NULL), n <= OCI_MANIFEST_MAX ? 0 : -ERRC_LIMIT);
    }
}

static void test_layers_have_a_limit(void **state)
{
    UNUSED(state);
    for (size_t n = OCI_LAYERS_MAX - 1; n <= OCI_LAYERS_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

        buf_adds(&text, "{" CONFIG ",\"layers\":[");
        for (size_t i = 0; i < n; i++)
            buf_addf(&text, "%s%s", i ? "," : "", DESCRIPTOR(OCI_MEDIA_CHART));
        buf_adds(&text, "]}");
        manifest = buf_str(&text);
        assert_num(fetch_manifest("", NULL), n <= OCI_LAYERS_MAX ? 0 : -ERRC_LIMIT);
    }
}

static void test_a_blob_is_what_the_manifest_says(void **state)
{
    struct err *err = NULL;

    UNUSED(state);
    blob = STR("hello");
    assert_ok(fetch_blob(NULL, digest_of(blob), 5, 5, &err), err);
    assert_fails(fetch_blob(NULL, digest_of(STR("other")), 5, KIB, &err), ERRC_DIGEST, err, NULL);
    assert_fails(fetch_blob(NULL, digest_of(blob), 4, KIB, &err), ERRC_DIGEST, err, NULL);
    assert_fails(fetch_blob(NULL, digest_of(blob), 6, KIB, &err), ERRC_DIGEST, err, NULL);
    assert_fails(fetch_blob(NULL, digest_of(blob), 5, 4, &err), ERRC_LIMIT, err, NULL);
    blob = STR_NONE;
    assert_fails(fetch_blob(NULL, digest_of(STR("x")), 1, KIB, &err), ERRC_LIMIT, err, NULL);
}

static void test_pages_have_a_limit(void **state)
{
    struct err *err = NULL;
    size_t n;

    UNUSED(state);
    snprintf(link_to, sizeof(link_to), "/v2/charts/web/tags/list?last=1");
    assert_fails(list_tags(NULL, false, &n, &err), ERRC_LIMIT, err, NULL);
    assert_num(server_requests(registry), OCI_PAGES_MAX);
}

static void test_tags_have_a_limit(void **state)
{
    UNUSED(state);
    for (size_t n = OCI_TAGS_MAX - 1; n <= OCI_TAGS_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(OCI_MANIFEST_MAX);
        size_t got = 0;

        buf_adds(&text, "{\"tags\":[\"\"");
        for (size_t i = 1; i < n; i++)
            buf_adds(&text, ",\"1\"");
        buf_adds(&text, "]}");
        tags = buf_str(&text);
        assert_num(list_tags(NULL, false, &got, NULL), n <= OCI_TAGS_MAX ? 0 : -ERRC_LIMIT);
        assert_num(got, n <= OCI_TAGS_MAX ? n : 0);
    }
}

static void test_errors_of_the_registry_are_told_and_hold_no_secret(void **state)
{
    struct err *err = NULL;
    CLEANUP(free_ptr) char *want = NULL;
    size_t n;

    UNUSED(state);
    wants_basic = never_content = true;
    want = xasprintf(
        "GET \"http://127.0.0.1:%d/v2/charts/web/tags/list\": response status code 401: unauthorized: "
        "authentication required",
        port_of(registry));
    assert_fails(list_tags(&ann, false, &n, &err), ERRC_UNAUTHORIZED, err, want);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_a_registry_that_asks_nothing_gets_nothing),
        TEST(test_a_basic_challenge_is_answered_once),
        TEST(test_a_token_is_fetched_for_the_scope_we_need_and_no_other),
        TEST(test_a_token_that_is_refused_is_asked_for_once_more_and_no_oftener),
        TEST(test_a_token_service_elsewhere_is_not_given_the_login),
        TEST(test_an_identity_token_goes_in_the_body_of_a_post),
        TEST(test_realms_that_are_no_web_address_are_refused),
        TEST(test_a_token_service_without_a_token_is_an_error),
        TEST(test_a_blob_on_another_server_is_fetched_without_credentials),
        TEST(test_the_next_page_of_tags_is_on_the_same_server),
        TEST(test_uploads_stay_on_the_same_server),
        TEST(test_what_is_there_is_not_uploaded_again),
        TEST(test_addresses_that_are_not_allowed_are_not_asked),
        TEST(test_manifests_that_are_none),
        TEST(test_a_manifest_has_the_digest_that_was_asked_for_and_told),
        TEST(test_a_manifest_has_a_limit),
        TEST(test_layers_have_a_limit),
        TEST(test_a_blob_is_what_the_manifest_says),
        TEST(test_pages_have_a_limit),
        TEST(test_tags_have_a_limit),
        TEST(test_errors_of_the_registry_are_told_and_hold_no_secret),
    };

    return RUN_TESTS(tests);
}
