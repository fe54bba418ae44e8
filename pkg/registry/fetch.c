/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads: the one place where URLs of repositories are opened, as whom and with which limits. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "archive/archive.h"
#include "base/digest.h"
#include "base/encode.h"
#include "base/fs.h"
#include "base/limits.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

#define DEADLINE_DEFAULT_MS 60000

/* ---- http -------------------------------------------------------------------------------------------------------- */

struct request {
    struct http_request http;
    struct http_credentials credentials;
    struct http_tls tls;
};

static int64_t deadline(const struct registry_source *s)
{
    return s->deadline_ms ? s->deadline_ms : DEADLINE_DEFAULT_MS;
}

static void fill_request(struct request *rq, const struct registry_source *s, struct str url)
{
    *rq = (struct request){ .http = { .url = url,
                                      .deadline_ms = deadline(s),
                                      .proxy = s->proxy,
                                      .refuse_nets = s->refuse_nets,
                                      .any_status = true } };
    rq->tls.insecure = s->insecure;
    rq->http.tls = &rq->tls;
    if (!s->auth)
        return;
    rq->credentials = (struct http_credentials){ .origin = s->pass_credentials ? url : s->url,
                                                 .user = s->auth->user,
                                                 .password = s->auth->password,
                                                 .bearer = s->auth->bearer,
                                                 .cert_pem = s->auth->cert_pem,
                                                 .key_pem = s->auth->key_pem };
    rq->tls.ca_pem = s->auth->ca_pem;
    rq->http.credentials = &rq->credentials;
}

/* A refusal in Helm's words: "failed to fetch URL : 404 Not Found". */
static int check_status(const struct http_response *rs, struct str url, struct err **err)
{
    CLEANUP(buf_done) struct buf shown = BUF_INIT(HTTP_URL_MAX * 4);
    enum errc code = http_status_errc(rs->status);
    int r;

    if (rs->status >= 200 && rs->status < 300)
        return 0;
    http_url_redact(url, &shown);
    r = err_set(err, code == ERRC_NONE ? ERRC_INVALID : code, "failed to fetch %s : %d " STR_FMT,
                buf_z(&shown), rs->status, STR_ARG(rs->status_text));
    if (err)
        err_set_http(*err, rs->status, STR_NONE, rs->retry_after_ms);
    return r;
}

static int fetch_http(const struct registry_source *s, struct str url, size_t max, struct buf *out,
                      struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    static const struct http_header accept = { STR("Accept"),
                                               STR("application/gzip,application/octet-stream") };
    struct request rq;
    int r;

    fill_request(&rq, s, url);
    rq.http.headers = &accept;
    rq.http.n_headers = 1;
    rq.http.body_max = max;
    r = http_do(s->http, &rq.http, &rs, err);
    if (r >= 0)
        r = check_status(&rs, url, err);
    if (r < 0)
        return r;
    buf_addstr(out, rs.body);
    return buf_check(out, err);
}

/* ---- registries -------------------------------------------------------------------------------------------------- */

static int find_login(const struct registry_source *s, struct arena *a, struct str host,
                      struct oci_login *ret, struct err **err)
{
    const struct registry_auth *auth = s->auth;
    struct oci_ref home;

    if (!auth)
        return 0;
    if (auth->user.n + auth->password.n + auth->bearer.n == 0)
        return auth->logins.n ? oci_login_find(a, auth->logins, host, ret, err) : 0;
    /* These are for the source's registry, not for one that an index names. */
    if (!s->pass_credentials &&
        (oci_ref_parse(a, arena_printf(a, STR_FMT "/x", STR_ARG(str_trim_suffix(s->url, STR("/")))), &home,
                       NULL) < 0 ||
         !oci_is_url(s->url) || !str_eq(home.host, host)))
        return 0;
    *ret =
        (struct oci_login){ .user = auth->user, .password = auth->password, .registry_token = auth->bearer };
    return 1;
}

int registry_oci_open(const struct registry_source *s, struct arena *a, struct str host,
                      struct oci_client **ret, struct err **err)
{
    struct oci_options o = { .http = s->http,
                             .proxy = s->proxy,
                             .insecure = s->insecure,
                             .plain_http = s->plain_http,
                             .pass_credentials = s->pass_credentials,
                             .refuse_nets = s->refuse_nets,
                             .deadline_ms = deadline(s) };
    int r = find_login(s, a, host, &o.login, err);

    if (r < 0)
        return r;
    if (s->auth) {
        o.ca_pem = s->auth->ca_pem;
        o.cert_pem = s->auth->cert_pem;
        o.key_pem = s->auth->key_pem;
    }
    *ret = oci_client_new(host, &o);
    return 0;
}

static int fetch_oci(const struct registry_source *s, struct str url, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * OCI_MANIFEST_MAX);
    CLEANUP(oci_client_free) struct oci_client *c = NULL;
    struct str plain = str_trim_suffix(url, STR(".prov"));
    bool prov = plain.n < url.n;
    struct oci_chart_layers layers;
    struct oci_manifest manifest;
    struct oci_ref ref;
    int r = oci_ref_parse(a, plain, &ref, err);

    if (r == 0)
        r = registry_oci_open(s, a, ref.host, &c, err);
    if (r == 0)
        r = oci_manifest_fetch(c, a, &ref, &manifest, err);
    if (r == 0)
        r = oci_chart_layers(&manifest, &layers, err);
    if (r < 0)
        return r;
    if (prov && layers.prov.media_type.n == 0)
        return err_set(err, ERRC_NOT_FOUND,
                       "manifest does not contain a layer with mediatype " OCI_MEDIA_PROV);
    return oci_blob_fetch(c, &ref, prov ? &layers.prov : &layers.chart, out, err);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int fetch_file(const struct registry_source *s, struct str url, struct buf *out, struct err **err)
{
    CLEANUP(buf_done) struct buf path = BUF_INIT(FS_PATH_MAX);

    if (!s->files)
        return err_set(err, ERRC_FORBIDDEN, "URL " STR_FMT ": files are not read here", STR_ARG(url));
    if (!url_unescape(str_trim_prefix(url, STR("file://")), &path) || path.failed || path.n == 0 ||
        path.p[0] != '/' || memchr(path.p, '\0', path.n))
        return err_set(err, ERRC_INVALID, "URL " STR_FMT ": not file:///path", STR_ARG(url));
    return fs_read_file(buf_z(&path), out, err);
}

int registry_fetch_url(const struct registry_source *s, struct str url, size_t max, struct buf *out,
                       struct err **err)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(max);
    int r;

    if (oci_is_url(url))
        r = fetch_oci(s, url, &got, err);
    else if (str_has_prefix(url, STR("file://")))
        r = fetch_file(s, url, &got, err);
    else
        r = fetch_http(s, url, max, &got, err);
    if (r < 0)
        return r;
    buf_addstr(out, buf_str(&got));
    return buf_check(out, err);
}

/* ---- indexes ----------------------------------------------------------------------------------------------------- */

/* "https://h/charts?sig=1" and "index.yaml" give "https://h/charts/index.yaml?sig=1". */
static struct str index_url(struct arena *a, struct str url)
{
    return registry_resolve_url(a, url, STR("index.yaml"));
}

/* Servers say 200 and send a web page: a parser would complain about its first line, we say what it is. */
static int check_no_page(const struct http_response *rs, struct err **err)
{
    struct str type = http_response_header(rs, STR("Content-Type"));

    if (!str_has_prefix(type, STR("text/html")))
        return 0;
    return err_set(err, ERRC_PARSE, "the server sent a web page (text/html), not an index.yaml");
}

static int fetch_index_file(const struct registry_source *s, struct arena *a, const char *path,
                            struct registry_fetched *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    char hex[SHA256_HEX];
    int r = fetch_file(s, index_url(a, s->url), &text, err);

    if (r == 0)
        r = fs_write_file(path, buf_str(&text), 0600, err);
    if (r < 0)
        return r;
    sha256_hex(buf_str(&text), hex);
    *ret = (struct registry_fetched){ .url = s->url, .digest = arena_dup(a, str_from(hex)) };
    return 1;
}

/* The digest is taken while the network is waited for; not of a text that is read meanwhile, which tells more than a digest. */
struct index_download {
    int fd;
    struct digest *digest; /* NULL: none */
    const struct index_progress *progress;
};

static int take_index(void *ctx, struct str bytes, struct err **err)
{
    struct index_download *d = ctx;
    int r = http_sink_fd(&d->fd, bytes, err);

    if (r == 0 && d->progress)
        d->progress->fn(d->progress->ctx, bytes.n);
    if (d->digest)
        digest_add(d->digest, bytes);
    return r;
}

/* 1: new bytes; 0: none. */
static int fetch_index_http(const struct registry_source *s, struct arena *a,
                            const struct registry_fetched *known, const char *path,
                            const struct index_progress *progress, struct registry_fetched *ret,
                            struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    CLEANUP(fd_close) int fd = fs_open_empty(path, 0644);
    CLEANUP(digest_free) struct digest *digest = progress ? NULL : digest_new(DIGEST_SHA256);
    struct index_download download = { fd, digest, progress };
    struct str url = index_url(a, s->url);
    char hex[SHA256_HEX] = "";
    struct request rq;
    int r;

    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    fill_request(&rq, s, url);
    rq.http.sink = take_index;
    rq.http.sink_ctx = &download;
    rq.http.body_max = INDEX_TEXT_MAX;
    rq.http.compressed = true;
    if (known && str_eq(known->url, s->url)) {
        rq.http.etag = known->etag;
        rq.http.last_modified = known->last_modified;
    }
    r = http_do(s->http, &rq.http, &rs, err);
    if (r == 0 && rs.status == 304)
        return 0;
    if (r >= 0)
        r = check_status(&rs, url, err);
    if (r >= 0)
        r = check_no_page(&rs, err);
    if (r < 0)
        return r;
    if (digest)
        digest_finish_hex(digest, hex);
    *ret = (struct registry_fetched){
        .url = s->url,
        .etag = arena_dup(a, http_response_header(&rs, STR("ETag"))),
        .last_modified = arena_dup(a, http_response_header(&rs, STR("Last-Modified"))),
        .digest = arena_dup(a, str_from(hex)),
    };
    return 1;
}

int index_fetch(const struct registry_source *s, struct arena *a, const struct registry_fetched *known,
                const char *path, const struct index_progress *progress, struct registry_fetched *ret,
                struct err **err)
{
    CLEANUP(buf_done) struct buf shown = BUF_INIT(HTTP_URL_MAX * 4);
    int r = str_has_prefix(s->url, STR("file://")) ? fetch_index_file(s, a, path, ret, err)
                                                   : fetch_index_http(s, a, known, path, progress, ret, err);

    if (r >= 0)
        return r;
    http_url_redact(s->url, &shown);
    return err_wrap(err, r, "looks like \"%s\" is not a valid chart repository or cannot be reached",
                    buf_z(&shown));
}

int registry_fetch_index(const struct registry_source *s, struct arena *a,
                         const struct registry_fetched *known, const char *path, struct registry_fetched *ret,
                         struct err **err)
{
    return index_fetch(s, a, known, path, NULL, ret, err);
}

/* ---- charts ------------------------------------------------------------------------------------------------------ */

static int check_digest(const struct registry_version *v, struct str packed, struct err **err)
{
    struct str digest = str_trim_prefix(v->digest, STR("sha256:"));
    char hex[SHA256_HEX];

    sha256_hex(packed, hex);
    if (digest.n == 0 || str_ieq(digest, str_from(hex)))
        return 0;
    return err_set(err, ERRC_DIGEST, "the index says sha256 " STR_FMT ", the archive has %s", STR_ARG(digest),
                   hex);
}

static int check_is_archive(struct str url, struct str packed, struct err **err)
{
    CLEANUP(buf_done) struct buf shown = BUF_INIT(HTTP_URL_MAX * 4);

    if (archive_is_gzip(packed))
        return 0;
    http_url_redact(url, &shown);
    return err_set(err, ERRC_PARSE, "%s does not appear to be a gzipped archive; got '%s'", buf_z(&shown),
                   archive_content_type(packed));
}

static int fetch_one(const struct registry_source *s, struct str url, const struct registry_version *v,
                     struct buf *out, struct err **err)
{
    struct str packed;
    size_t start = out->n;
    int r = registry_fetch_url(s, url, ARCHIVE_PACKED_MAX, out, err);

    if (r < 0)
        return r;
    packed = str_sub(buf_str(out), start, out->n);
    r = check_is_archive(url, packed, err);
    return r < 0 ? r : check_digest(v, packed, err);
}

int registry_fetch_version(const struct registry_source *s, struct arena *a, const struct registry_version *v,
                           struct buf *out, struct str *ret_url, struct err **err)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(64 * KIB);
    struct value urls = value_getz(v->entry, "urls");
    int r = -ERRC_NOT_FOUND, status = 0;
    size_t length = out->n;

    for (struct value_iter it = value_iter(urls); value_next(&it);) {
        CLEANUP(err_free) struct err *cause = NULL;
        struct str url = registry_resolve_url(a, s->url, value_str(it.v));

        r = fetch_one(s, url, v, out, &cause);
        if (r == 0) {
            *ret_url = url;
            return 0;
        }
        buf_truncate(out, length);
        buf_addf(&all, "%s%s", all.n ? "; " : "", err_message(cause));
        status = err_http_status(cause);
    }
    if (value_len(urls) == 0)
        buf_adds(&all, "the index gives no url for it");
    r = err_set(err, (enum errc) - r, "%s", buf_z(&all));
    if (err)
        err_set_http(*err, status, STR_NONE, 0);
    return r;
}

int registry_fetch_chart(const struct registry_source *s, const struct registry_version *v, struct buf *out,
                         struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct str url;
    int r = registry_fetch_version(s, a, v, out, &url, err);

    return r < 0 ? err_wrap(err, r, "chart " STR_FMT " " STR_FMT " of repository " STR_FMT, STR_ARG(v->name),
                            STR_ARG(v->version), STR_ARG(s->name))
                 : 0;
}
