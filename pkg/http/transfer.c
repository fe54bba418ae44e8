/* SPDX-License-Identifier: Apache-2.0 */
/* One exchange: the copied request, its hops, what came of it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "http/http_int.h"

#define STREAM_BUFFER 4096L
#define SINK_BUFFER (128 * 1024L) /* a sink is there for much */

/* ---- the request, copied ------------------------------------------------------------------------------------------ */

static bool header_is_clean(const struct http_header *h)
{
    for (size_t i = 0; i < h->value.n; i++) {
        if (h->value.p[i] == '\r' || h->value.p[i] == '\n' || h->value.p[i] == '\0')
            return false;
    }
    for (size_t i = 0; i < h->name.n; i++) {
        if ((unsigned char)h->name.p[i] <= ' ' || h->name.p[i] == ':' || h->name.p[i] == 0x7f)
            return false;
    }
    return h->name.n > 0;
}

static struct str dup_str(struct arena *a, struct str s)
{
    return s.p ? arena_dup(a, s) : STR_NONE;
}

static const char *dup_z(struct arena *a, const char *z)
{
    return z ? arena_dupz(a, str_from(z)) : NULL;
}

static int copy_headers(struct transfer *t, const struct http_request *rq, struct err **err)
{
    struct http_header *h = ARENA_ARRAY(t->memory, struct http_header, rq->n_headers);

    for (size_t i = 0; i < rq->n_headers; i++) {
        if (!header_is_clean(&rq->headers[i]))
            return err_set(err, ERRC_INVALID, "header " STR_FMT " cannot be sent",
                           STR_ARG(rq->headers[i].name));
        h[i].name = arena_dup(t->memory, rq->headers[i].name);
        h[i].value = arena_dup(t->memory, rq->headers[i].value);
    }
    t->rq.headers = h;
    return 0;
}

static void copy_identity(struct transfer *t, const struct http_request *rq)
{
    struct arena *a = t->memory;

    if (rq->credentials) {
        const struct http_credentials *c = rq->credentials;

        t->credentials = (struct http_credentials){ .origin = dup_str(a, c->origin),
                                                    .user = dup_str(a, c->user),
                                                    .password = dup_str(a, c->password),
                                                    .bearer = dup_str(a, c->bearer),
                                                    .cert_pem = dup_str(a, c->cert_pem),
                                                    .key_pem = dup_str(a, c->key_pem) };
    }
    if (rq->tls) {
        t->tls = (struct http_tls){ .ca_pem = dup_str(a, rq->tls->ca_pem),
                                    .ca_file = dup_z(a, rq->tls->ca_file),
                                    .server_name = dup_z(a, rq->tls->server_name),
                                    .insecure = rq->tls->insecure };
    }
}

static void copy_request(struct transfer *t, const struct http_request *rq)
{
    struct arena *a = t->memory;

    t->rq = *rq;
    t->rq.url = t->first_url = arena_dup(a, rq->url);
    t->rq.method = dup_z(a, rq->method);
    t->rq.body = dup_str(a, rq->body);
    t->rq.proxy = dup_z(a, rq->proxy);
    t->rq.etag = dup_str(a, rq->etag);
    t->rq.last_modified = dup_str(a, rq->last_modified);
    t->rq.body_max = rq->body_max ? rq->body_max : t->stream ? SIZE_MAX : HTTP_BODY_MAX;
    t->redirects = rq->redirects == 0 ? HTTP_REDIRECTS_MAX : MAX(rq->redirects, 0);
    t->until_ms = clock_mono_ms() + (rq->deadline_ms > 0 ? rq->deadline_ms : HTTP_DEADLINE_MS);
    copy_identity(t, rq);
}

void transfer_unref(struct transfer *t)
{
    if (!t || atomic_fetch_sub(&t->refs, 1) > 1)
        return;
    if (t->easy)
        curl.easy_cleanup(t->easy);
    curl.slist_free_all(t->headers);
    curl.slist_free_all(t->connect_to);
    transfer_answer_clear(t);
    free(t->answer.items);
    free(t->url);
    buf_done(&t->body);
    buf_done(&t->queue);
    err_free(t->err);
    arena_free(t->memory);
    free(t);
}

/* ---- a hop -------------------------------------------------------------------------------------------------------- */

const char *transfer_method(const struct transfer *t)
{
    return t->rq.method ? t->rq.method : t->rq.body.p ? "POST" : "GET";
}

/* "GET https://host/path" */
static void describe(const struct transfer *t, struct buf *out)
{
    buf_addf(out, "%s ", transfer_method(t));
    http_url_redact(str_from(t->url), out);
}

static void add_header(struct transfer *t, struct str name, struct str value)
{
    CLEANUP(buf_done) struct buf line = BUF_INIT(SIZE_MAX / 2);

    buf_addstr(&line, name);
    if (value.n > 0) {
        buf_adds(&line, ": ");
        buf_addstr(&line, value);
    } else {
        buf_addc(&line, ';'); /* how libcurl is told to send an empty header */
    }
    t->headers = curl.slist_append(t->headers, buf_z(&line));
}

/* Headers that may follow to another origin: they carry no identity. */
static bool header_travels(struct str name)
{
    static const char *const names[] = { "Accept", "Accept-Encoding", "Accept-Language", "Range",
                                         "Cache-Control" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (str_ieq(name, str_from(names[i])))
            return true;
    }
    return false;
}

static bool has_header(const struct transfer *t, struct str name)
{
    for (size_t i = 0; i < t->rq.n_headers; i++) {
        if (str_ieq(t->rq.headers[i].name, name))
            return true;
    }
    return false;
}

static void add_authorization(struct transfer *t)
{
    const struct http_credentials *c = &t->credentials;
    CLEANUP(buf_done) struct buf value = BUF_INIT(SIZE_MAX / 2), pair = BUF_INIT(SIZE_MAX / 2);

    if (c->bearer.n > 0) {
        buf_adds(&value, "Bearer ");
        buf_addstr(&value, c->bearer);
    } else if (c->user.n > 0 || c->password.n > 0) {
        buf_addstr(&pair, c->user);
        buf_addc(&pair, ':');
        buf_addstr(&pair, c->password);
        buf_adds(&value, "Basic ");
        base64_encode(BASE64_STD, buf_str(&pair), &value);
    }
    if (value.n > 0 && !has_header(t, STR("Authorization")))
        add_header(t, STR("Authorization"), buf_str(&value));
}

static void set_headers(struct transfer *t, bool at_home, bool trusted)
{
    curl.slist_free_all(t->headers);
    t->headers = NULL;
    for (size_t i = 0; i < t->rq.n_headers; i++) {
        if (at_home || header_travels(t->rq.headers[i].name))
            add_header(t, t->rq.headers[i].name, t->rq.headers[i].value);
    }
    if (trusted)
        add_authorization(t);
    if (t->rq.etag.n > 0)
        add_header(t, STR("If-None-Match"), t->rq.etag);
    if (t->rq.last_modified.n > 0)
        add_header(t, STR("If-Modified-Since"), t->rq.last_modified);
    t->headers = curl.slist_append(t->headers, "Expect:");
    if (t->rq.body.p && !has_header(t, STR("Content-Type")))
        t->headers = curl.slist_append(t->headers, "Content-Type:");
}

static void set_method(struct transfer *t)
{
    const char *method = transfer_method(t);
    CURL *e = t->easy;

    t->sent = 0;
    if (t->rq.body.p) {
        curl.easy_setopt(e, CURLOPT_POST, 1L);
        curl.easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->rq.body.n);
    } else if (strcmp(method, "HEAD") == 0) {
        curl.easy_setopt(e, CURLOPT_NOBODY, 1L);
    } else {
        curl.easy_setopt(e, CURLOPT_HTTPGET, 1L);
    }
    if (strcmp(method, "HEAD") != 0)
        curl.easy_setopt(e, CURLOPT_CUSTOMREQUEST, method);
}

static void set_blob(CURL *e, CURLoption option, struct str text)
{
    struct curl_blob blob = { (void *)(uintptr_t)text.p, text.n, CURL_BLOB_NOCOPY };

    if (text.n > 0)
        curl.easy_setopt(e, option, &blob);
}

/* The TLS name differs from the host: libcurl checks the URL's name, so the URL gets it, and the connection goes where
 * the host is. */
static void set_server_name(struct transfer *t, const struct http_url *u)
{
    CLEANUP(free_ptr)
    char *url = xasprintf("https://%s:%d" STR_FMT "%s" STR_FMT, t->tls.server_name, u->port, STR_ARG(u->path),
                          u->query.n ? "?" : "", STR_ARG(u->query));
    CLEANUP(free_ptr)
    char *to = xasprintf("%s:%d:" STR_FMT ":%d", t->tls.server_name, u->port, STR_ARG(u->host), u->port);
    CLEANUP(free_ptr) char *host = xasprintf("Host: " STR_FMT ":%d", STR_ARG(u->host), u->port);

    t->headers = curl.slist_append(t->headers, host);
    curl.slist_free_all(t->connect_to);
    t->connect_to = curl.slist_append(NULL, to);
    curl.easy_setopt(t->easy, CURLOPT_CONNECT_TO, t->connect_to);
    curl.easy_setopt(t->easy, CURLOPT_URL, url);
}

/* libcurl goes on using an HTTP/2 connection that has fallen silent for as long as a stream is open on it, but never for
 * another set of roots. So each epoch has its own: the same certificates, another remark behind them. */
static struct str epoch_roots(struct transfer *t)
{
    if (t->epoch == 0)
        return t->tls.ca_pem;
    return arena_printf(t->memory, STR_FMT "\n# %d\n", STR_ARG(t->tls.ca_pem), t->epoch);
}

void transfer_suspect(struct transfer *t)
{
    int epoch = t->epoch;

    IGNORE_ERROR(atomic_compare_exchange_strong(&t->loop->client->epoch, &epoch, t->epoch + 1) ? 0 : -1);
}

static void set_tls(struct transfer *t, const struct http_url *u, bool at_home, bool trusted)
{
    CURL *e = t->easy;
    bool verify = !(t->tls.insecure && at_home);

    curl.easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl.easy_setopt(e, CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
    curl.easy_setopt(e, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
    if (t->tls.ca_pem.n > 0)
        set_blob(e, CURLOPT_CAINFO_BLOB, epoch_roots(t));
    else if (t->tls.ca_file)
        curl.easy_setopt(e, CURLOPT_CAINFO, t->tls.ca_file);
    if (trusted) {
        set_blob(e, CURLOPT_SSLCERT_BLOB, t->credentials.cert_pem);
        set_blob(e, CURLOPT_SSLKEY_BLOB, t->credentials.key_pem);
    }
    if (t->tls.server_name && at_home && str_eq(u->scheme, STR("https")))
        set_server_name(t, u);
}

static void set_limits(struct transfer *t)
{
    const struct http_request *rq = &t->rq;
    int64_t idle_s = ((rq->idle_ms > 0 ? rq->idle_ms : HTTP_IDLE_MS) + 999) / 1000;
    CURL *e = t->easy;

    curl.easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)(rq->connect_ms > 0 ? rq->connect_ms : HTTP_CONNECT_MS));
    if (t->stream) {
        curl.easy_setopt(e, CURLOPT_BUFFERSIZE, STREAM_BUFFER); /* each of a thousand idle watches has one */
        return;
    }
    if (rq->sink)
        curl.easy_setopt(e, CURLOPT_BUFFERSIZE, SINK_BUFFER);
    curl.easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)MAX(t->until_ms - clock_mono_ms(), 1));
    curl.easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, (long)MAX(rq->rate_min, (size_t)1));
    curl.easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)idle_s);
}

static int check_host(const struct transfer *t, const struct http_url *u, struct err **err)
{
    enum http_net net = HTTP_NET_LOOPBACK;
    struct str host = str_trim_suffix(u->host, STR("."));
    bool local = str_eq(host, STR("localhost")) || str_has_suffix(host, STR(".localhost"));

    if ((local || http_net_of(u->host, &net)) && (t->rq.refuse_nets & HTTP_NET_BIT(net)))
        return err_set(err, ERRC_FORBIDDEN, "the host's address is %s, which is not allowed here",
                       http_net_name(net));
    return 0;
}

static void set_proxy(struct transfer *t, const struct http_url *u)
{
    CLEANUP(free_ptr) char *proxy = t->rq.proxy ? xstrdup(t->rq.proxy) : proxy_for(u);

    /* Who runs us trusts the proxy of the environment; one that a request brings is an address like any other. */
    t->proxied = *proxy != '\0' && !t->rq.proxy;
    curl.easy_setopt(t->easy, CURLOPT_PROXY, proxy);
    curl.easy_setopt(t->easy, CURLOPT_NOPROXY, "");
}

/* Plain HTTP never has streams; waiting to learn that would last until the first answer, which may be a watch's. */
static void set_protocol(struct transfer *t, const struct http_url *u)
{
    CURL *e = t->easy;

    curl.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(e, CURLOPT_QUICK_EXIT, 1L); /* else ending a name look-up waits for the resolver */
    curl.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl.easy_setopt(e, CURLOPT_PIPEWAIT, (long)str_eq(u->scheme, STR("https")));
    curl.easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
    curl.easy_setopt(e, CURLOPT_USERAGENT, t->loop->client->user_agent);
    if (t->rq.compressed)
        curl.easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "gzip");
}

static int prepare(struct transfer *t, struct err **err)
{
    CLEANUP(http_url_done) struct http_url u = { 0 };
    bool at_home, trusted;
    int r;

    r = http_url_parse(str_from(t->url), &u, err);
    if (r < 0)
        return r;
    r = check_host(t, &u, err);
    if (r < 0)
        return r;
    at_home = t->hops == 0 || http_url_same_origin(t->first_url, str_from(t->url));
    trusted = t->credentials.origin.n > 0 && http_url_same_origin(t->credentials.origin, str_from(t->url));
    curl.easy_setopt(t->easy, CURLOPT_URL, t->url);
    set_protocol(t, &u);
    set_headers(t, at_home, trusted);
    set_method(t);
    set_tls(t, &u, at_home, trusted);
    set_limits(t);
    set_proxy(t, &u);
    curl.easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
    transfer_set_callbacks(t);
    return 0;
}

static int transfer_prepare(struct transfer *t, struct err **err)
{
    CLEANUP(buf_done) struct buf what = BUF_INIT(HTTP_URL_MAX * 4);
    int r = prepare(t, err);

    if (r == 0 || r == -ERRC_UNSUPPORTED)
        return r;
    describe(t, &what);
    return err_wrap(err, r, "%s", buf_z(&what));
}

int transfer_new(struct http_client *c, const struct http_request *rq, bool stream, struct transfer **ret,
                 struct err **err)
{
    CLEANUP(transfer_unref) struct transfer *t = NULL;
    int r = curl_open(err);

    if (r < 0)
        return r;
    t = xcalloc(1, sizeof(*t));
    atomic_init(&t->refs, 1);
    t->loop = stream ? &c->streams : &c->exchanges;
    t->stream = stream;
    t->epoch = atomic_load(&c->epoch);
    t->memory = arena_new(SIZE_MAX / 2);
    t->body.max = t->queue.max = SIZE_MAX;
    t->easy = curl.easy_init();
    if (!t->easy)
        return err_set(err, ERRC_INTERNAL, "libcurl has no memory");
    copy_request(t, rq);
    r = copy_headers(t, rq, err);
    if (r < 0)
        return r;
    t->url = str_dup(rq->url);
    r = transfer_prepare(t, err);
    if (r < 0)
        return r;
    *ret = TAKE(t);
    return 0;
}

/* ---- the end of a hop --------------------------------------------------------------------------------------------- */

bool transfer_is_accepted(const struct transfer *t, int status)
{
    bool conditional = t->rq.etag.n > 0 || t->rq.last_modified.n > 0;

    return t->rq.any_status || (status >= 200 && status < 300) || (status == 304 && conditional) ||
           (status >= 300 && status < 400 && t->redirects == 0);
}

bool transfer_is_redirect(const struct transfer *t)
{
    const char *method = transfer_method(t);

    if (t->redirects == 0 || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0))
        return false;
    if (t->status != 301 && t->status != 302 && t->status != 303 && t->status != 307 && t->status != 308)
        return false;
    return transfer_answer_header(t, STR("Location")).n > 0;
}

static int redirect(struct transfer *t, struct err **err)
{
    CLEANUP(buf_done) struct buf what = BUF_INIT(HTTP_URL_MAX * 4), next = BUF_INIT(HTTP_URL_MAX * 2);
    int r;

    describe(t, &what);
    if (++t->hops > t->redirects)
        return err_set(err, ERRC_UNAVAILABLE, "%s: more than %d redirects", buf_z(&what), t->redirects);
    r = http_url_resolve(str_from(t->url), transfer_answer_header(t, STR("Location")), &next, err);
    if (r < 0)
        return err_wrap(err, r, "%s: redirect", buf_z(&what));
    if (clock_mono_ms() >= t->until_ms)
        return err_set(err, ERRC_TIMEOUT, "%s: timed out", buf_z(&what));
    free(t->url);
    t->url = buf_take(&next);
    t->peer.ss_family = AF_UNSPEC;
    transfer_answer_clear(t);
    curl.slist_free_all(t->connect_to);
    t->connect_to = NULL;
    /* A fresh handle: nothing of the last hop, its certificate above all, may be left in it. */
    curl.easy_cleanup(t->easy);
    t->easy = curl.easy_init();
    r = transfer_prepare(t, err);
    return r < 0 ? r : 1;
}

int transfer_status_error(const struct transfer *t, struct err **err)
{
    CLEANUP(buf_done) struct buf what = BUF_INIT(HTTP_URL_MAX * 4);
    enum errc code = http_status_errc(t->status);
    int r;

    describe(t, &what);
    r = err_set(err, code == ERRC_NONE ? ERRC_INVALID : code, "%s: %d%s%s", buf_z(&what), t->status,
                *http_status_text(t->status) ? " " : "", http_status_text(t->status));
    if (err)
        err_set_http(*err, t->status, STR_NONE,
                     http_retry_after_ms(transfer_answer_header(t, STR("Retry-After"))));
    return r;
}

int transfer_finish(struct transfer *t, CURLcode code, struct err **err)
{
    if (code == CURLE_OPERATION_TIMEDOUT)
        transfer_suspect(t);
    if (code != CURLE_OK && !t->enough)
        return transfer_failed(t, code, err);
    if (transfer_is_redirect(t))
        return redirect(t, err);
    return transfer_is_accepted(t, t->status) ? 0 : transfer_status_error(t, err);
}
