/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/encode.h"
#include "base/limits.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

#define DEADLINE_DEFAULT_MS 60000

/* ---- credentials ------------------------------------------------------------------------------------------------- */

static bool is_printable(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || (unsigned char)s.p[i] > 0x7e)
            return false;
    return s.n > 0;
}

/* yaho wanted its Secrets encoded twice: what is base64 of printable text once more, padding and all, is taken so. */
static struct str decode_again(struct arena *a, struct str s)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(64 * KIB);

    s = str_trim_suffix(s, STR("\n"));
    if (s.n < 4 || s.n % 4 != 0 || !base64_decode(BASE64_STD, s, &raw, NULL) || !is_printable(buf_str(&raw)))
        return s;
    return arena_dup(a, buf_str(&raw));
}

static struct str secret_value(struct arena *a, struct value secret, struct str key)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(MIB);
    struct value v = value_get(value_getz(secret, "data"), key);

    if (!value_is_string(v) || !base64_decode(BASE64_STD, value_str(v), &raw, NULL) || raw.failed)
        return STR("");
    return arena_dup(a, buf_str(&raw));
}

static struct str first_value(struct arena *a, struct value secret, struct str one, struct str other)
{
    struct str v = secret_value(a, secret, one);

    return decode_again(a, v.n ? v : secret_value(a, secret, other));
}

int registry_auth_from_secret(struct arena *a, struct value secret, struct registry_auth *ret,
                              struct err **err)
{
    struct registry_auth auth = {
        .user = first_value(a, secret, STR("user"), STR("username")),
        .password = first_value(a, secret, STR("password"), STR("")),
        .bearer = first_value(a, secret, STR("token"), STR("")),
        .ca_pem = secret_value(a, secret, STR("ca.crt")),
        .cert_pem = secret_value(a, secret, STR("tls.crt")),
        .key_pem = secret_value(a, secret, STR("tls.key")),
    };
    const char *missing = NULL;

    if (auth.user.n > 0 && auth.password.n == 0)
        missing = "password";
    else if (auth.password.n > 0 && auth.user.n == 0)
        missing = "user";
    else if (auth.cert_pem.n > 0 && auth.key_pem.n == 0)
        missing = "tls.key";
    else if (auth.key_pem.n > 0 && auth.cert_pem.n == 0)
        missing = "tls.crt";
    else if (auth.user.n + auth.bearer.n + auth.ca_pem.n + auth.cert_pem.n == 0)
        missing = "user and password, token, ca.crt or tls.crt";
    if (missing)
        return err_set(err, ERRC_INVALID, "Secret %.*s has no %s", STR_ARG(kube_name(secret)), missing);
    *ret = auth;
    return 0;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

struct request {
    struct http_request http;
    struct http_credentials credentials;
    struct http_tls tls;
};

static void fill_request(struct request *rq, const struct registry_source *s, struct str url)
{
    *rq = (struct request){ .http = { .url = url,
                                      .deadline_ms = s->deadline_ms ? s->deadline_ms : DEADLINE_DEFAULT_MS,
                                      .refuse_nets = s->refuse_nets } };
    if (!s->auth)
        return;
    rq->credentials = (struct http_credentials){ .origin = s->url,
                                                 .user = s->auth->user,
                                                 .password = s->auth->password,
                                                 .bearer = s->auth->bearer,
                                                 .cert_pem = s->auth->cert_pem,
                                                 .key_pem = s->auth->key_pem };
    rq->tls.ca_pem = s->auth->ca_pem;
    rq->http.credentials = &rq->credentials;
    rq->http.tls = &rq->tls;
}

/* "https://h/charts?sig=1" and "index.yaml" give "https://h/charts/index.yaml?sig=1". */
static struct str index_url(struct arena *a, struct str url)
{
    return registry_resolve_url(a, url, STR("index.yaml"));
}

/* Servers say 200 and send a web page: Helm's YAML parser would complain about line 1, we say what it is. */
static int check_is_index(const struct http_response *rs, const char *path, struct err **err)
{
    struct str type = http_response_header(rs, STR("Content-Type"));

    UNUSED(path);
    if (!str_has_prefix(type, STR("text/html")))
        return 0;
    return err_set(err, ERRC_PARSE, "the server sent a web page (text/html), not an index.yaml");
}

int registry_fetch_index(const struct registry_source *s, struct arena *a,
                         const struct registry_fetched *known, const char *path, struct str *ret_etag,
                         struct str *ret_last_modified, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    CLEANUP(fd_close) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct request rq;
    int r;

    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    fill_request(&rq, s, index_url(a, s->url));
    rq.http.sink = http_sink_fd;
    rq.http.sink_ctx = &fd;
    rq.http.body_max = INDEX_TEXT_MAX;
    rq.http.compressed = true;
    if (known && str_eq(known->url, s->url)) {
        rq.http.etag = known->etag;
        rq.http.last_modified = known->last_modified;
    }
    r = http_do(s->http, &rq.http, &rs, err);
    if (r == 0 && rs.status == 304)
        return 0;
    if (r == 0)
        r = check_is_index(&rs, path, err);
    if (r < 0)
        return err_wrap(err, r, "looks like \"%.*s\" is not a valid chart repository or cannot be reached",
                        STR_ARG(s->url));
    *ret_etag = arena_dup(a, http_response_header(&rs, STR("ETag")));
    *ret_last_modified = arena_dup(a, http_response_header(&rs, STR("Last-Modified")));
    return 1;
}

static int check_digest(const struct registry_version *v, struct str packed, struct err **err)
{
    char hex[SHA256_HEX];

    sha256_hex(packed, hex);
    if (v->digest.n == 0 || str_ieq(v->digest, str_from(hex)))
        return 0;
    return err_set(err, ERRC_DIGEST, "the index says sha256 %.*s, the archive has %s", STR_ARG(v->digest),
                   hex);
}

static int fetch_one(const struct registry_source *s, struct str url, const struct registry_version *v,
                     struct buf *out, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    struct request rq;
    int r;

    fill_request(&rq, s, url);
    rq.http.body_max = ARCHIVE_PACKED_MAX;
    r = http_do(s->http, &rq.http, &rs, err);
    if (r == 0)
        r = check_digest(v, rs.body, err);
    if (r == 0)
        buf_addstr(out, rs.body);
    return r < 0 ? r : buf_check(out, err);
}

int registry_fetch_chart(const struct registry_source *s, const struct registry_version *v, struct buf *out,
                         struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf all = BUF_INIT(64 * KIB);
    struct value urls = value_getz(v->entry, "urls");
    int r = err_set(NULL, ERRC_NOT_FOUND, "no url");
    size_t length = out->n;

    for (struct value_iter it = value_iter(urls); value_next(&it);) {
        struct err *cause = NULL;

        r = fetch_one(s, registry_resolve_url(a, s->url, value_str(it.v)), v, out, &cause);
        if (r == 0)
            return 0;
        buf_truncate(out, length);
        buf_addf(&all, "%s%s", all.n ? "; " : "", err_message(cause));
        err_free(cause);
    }
    if (value_len(urls) == 0)
        buf_adds(&all, "the index gives no url for it");
    return err_set(err, (enum errc) - r, "chart %.*s %.*s of repository %.*s: %s", STR_ARG(v->name),
                   STR_ARG(v->version), STR_ARG(s->name), buf_z(&all));
}
