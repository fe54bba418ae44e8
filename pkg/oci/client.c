/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a registry: the first without a token, then as its challenge wants (oras-go registry/remote/auth). */
#include <stdlib.h>

#include "base/encode.h"
#include "base/limits.h"
#include "oci/oci_int.h"
#include "json/json.h"

struct oci_client *oci_client_new(struct str host, const struct oci_options *o)
{
    struct oci_client *c = xcalloc(1, sizeof(*c));
    struct str server = str_eq(host, STR("docker.io")) ? STR("registry-1.docker.io") : host;

    c->options = *o;
    c->host = str_dup(host);
    c->base = xasprintf("%s://" STR_FMT, o->plain_http ? "http" : "https", STR_ARG(server));
    c->scope = xstrdup("");
    return c;
}

static void forget_token(struct oci_client *c)
{
    if (c->token)
        explicit_bzero(c->token, strlen(c->token));
    free(TAKE(c->token));
}

void oci_client_free(struct oci_client *c)
{
    if (!c)
        return;
    forget_token(c);
    free(c->scope);
    free(c->base);
    free(c->host);
    free(c);
}

void oci_fill(const struct oci_client *c, struct http_request *rq, struct http_tls *tls,
              struct http_credentials *credentials)
{
    const struct oci_options *o = &c->options;

    *tls = (struct http_tls){ .ca_pem = o->ca_pem, .insecure = o->insecure };
    *credentials = (struct http_credentials){ .origin = str_from(c->base),
                                              .cert_pem = o->cert_pem,
                                              .key_pem = o->key_pem };
    rq->tls = tls;
    rq->credentials = credentials;
    rq->proxy = o->proxy;
    rq->refuse_nets = o->refuse_nets;
    rq->deadline_ms = o->deadline_ms;
    rq->any_status = true;
}

/* ---- errors -------------------------------------------------------------------------------------------------------- */

/* What Go's %v prints of decoded JSON, as far as registries use it for details. */
static void print_detail(struct value v, struct buf *out)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4 * KIB);

    if (value_is_string(v)) {
        escape_controls(value_str(v), out);
        return;
    }
    if (!value_is_map(v)) {
        IGNORE_ERROR(json_print(v, 0, &text, NULL));
        escape_controls(buf_str(&text), out);
        return;
    }
    buf_adds(out, "map[");
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        buf_adds(out, it.i ? " " : "");
        escape_controls(it.key, out);
        buf_addc(out, ':');
        if (!value_is_map(it.v))
            print_detail(it.v, out);
    }
    buf_addc(out, ']');
}

static void print_error(struct value e, struct buf *out)
{
    struct str code = value_str(value_getz(e, "code")), message = value_str(value_getz(e, "message"));

    for (size_t i = 0; i < code.n; i++) {
        char c = code.p[i] == '_' ? ' ' : ascii_lower(code.p[i]);

        escape_controls((struct str){ &c, 1 }, out);
    }
    if (message.n == 0)
        return;
    buf_adds(out, ": ");
    escape_controls(message, out);
    if (value_is_null(value_getz(e, "detail")))
        return;
    buf_adds(out, ": ");
    print_detail(value_getz(e, "detail"), out);
}

int oci_status_error(const char *method, const struct http_response *rs, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * KIB), url = BUF_INIT(HTTP_URL_MAX * 4);
    enum errc code = http_status_errc(rs->status);
    struct value root = VALUE_NONE;
    int r;

    if (rs->body.n <= HTTP_ERROR_BODY_MAX)
        IGNORE_ERROR(json_parse(a, rs->body, NULL, &root, NULL));
    for (struct value_iter it = value_iter(value_getz(root, "errors")); value_next(&it);) {
        buf_adds(&text, it.i ? "; " : "");
        print_error(it.v, &text);
    }
    http_url_redact(rs->url, &url);
    r = err_set(err, code == ERRC_NONE ? ERRC_INVALID : code, "%s \"%s\": response status code %d: %s",
                method, buf_z(&url), rs->status, text.n ? buf_z(&text) : http_status_text(rs->status));
    if (err)
        err_set_http(*err, rs->status, STR_NONE, rs->retry_after_ms);
    return r;
}

/* ---- one exchange -------------------------------------------------------------------------------------------------- */

static int send(struct oci_client *c, const struct oci_request *rq, struct http_response *ret,
                struct err **err)
{
    CLEANUP(free_ptr) char *url = NULL;
    struct http_header headers[2];
    struct http_credentials credentials;
    struct http_tls tls;
    struct http_request h = { .method = rq->method, .body = rq->body, .headers = headers };

    url = str_has_prefix(rq->path, STR("/")) ? xasprintf("%s" STR_FMT, c->base, STR_ARG(rq->path))
                                             : str_dup(rq->path);
    h.url = str_from(url);
    oci_fill(c, &h, &tls, &credentials);
    h.body_max = MAX(rq->body_max, OCI_MANIFEST_MAX);
    if (c->token) {
        credentials.bearer = str_from(c->token);
    } else if (c->basic) {
        credentials.user = c->options.login.user;
        credentials.password = c->options.login.password;
    }
    if (rq->accept)
        headers[h.n_headers++] = (struct http_header){ STR("Accept"), str_from(rq->accept) };
    if (rq->content_type)
        headers[h.n_headers++] = (struct http_header){ STR("Content-Type"), str_from(rq->content_type) };
    return http_do(c->options.http, &h, ret, err);
}

/* A registry that wants to know who asks has said how: 1 when the request is worth repeating. */
static int answer_challenge(struct oci_client *c, const struct oci_request *rq,
                            const struct http_response *rs, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    const struct oci_login *login = &c->options.login;
    struct oci_challenge ch;
    struct str token;
    int r;

    if (!http_url_same_origin(str_from(c->base), rs->url))
        return 0; /* a redirect's target asks: it gets nothing */
    oci_challenge_parse(a, http_response_header(rs, STR("WWW-Authenticate")), &ch);
    if (ch.scheme == OCI_AUTH_NONE)
        return 0;
    if (ch.scheme == OCI_AUTH_BASIC) {
        bool again = !c->basic && login->user.n > 0 && login->password.n > 0;

        if (!again && !c->basic)
            return err_set(err, ERRC_UNAUTHORIZED, "%s \"%s" STR_FMT "\": basic credential not found",
                           rq->method, c->base, STR_ARG(rq->path));
        c->basic = true;
        return again;
    }
    r = oci_token_fetch(c, a, &ch, rq->scope, &token, err);
    if (r < 0)
        return err_wrap(err, r, "%s \"%s" STR_FMT "\"", rq->method, c->base, STR_ARG(rq->path));
    c->token = str_dup(token);
    free(c->scope);
    c->scope = str_dup(rq->scope);
    return 1;
}

int oci_do(struct oci_client *c, const struct oci_request *rq, struct http_response *ret, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    int r;

    if (!str_eq(str_from(c->scope), rq->scope))
        forget_token(c);
    r = send(c, rq, &rs, err);
    if (r == 0 && rs.status == 401) {
        forget_token(c);
        r = answer_challenge(c, rq, &rs, err);
        if (r == 1) {
            http_response_done(&rs);
            r = send(c, rq, &rs, err);
        }
    }
    if (r < 0)
        return r;
    if (rs.status >= 400 && !(rs.status == 404 && rq->missing_ok))
        return oci_status_error(rq->method, &rs, err);
    *ret = rs;
    rs = (struct http_response){ 0 };
    return 0;
}

struct str oci_scope(struct arena *a, const struct oci_ref *ref, const char *actions)
{
    return arena_printf(a, "repository:" STR_FMT ":%s", STR_ARG(ref->repository), actions);
}

int oci_same_origin(struct oci_client *c, struct arena *a, struct str from, struct str target,
                    struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf url = BUF_INIT(HTTP_URL_MAX * 2), shown = BUF_INIT(HTTP_URL_MAX * 4);
    int r = http_url_resolve(from, target, &url, err);

    if (r < 0)
        return r;
    if (!http_url_same_origin(str_from(c->base), buf_str(&url))) {
        http_url_redact(buf_str(&url), &shown);
        return err_set(err, ERRC_FORBIDDEN, "registry %s sends us to another server, %s", c->host,
                       buf_z(&shown));
    }
    *ret = arena_dup(a, buf_str(&url));
    return 0;
}

int oci_ping(struct oci_client *c, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    struct oci_request rq = { .method = "GET", .path = STR("/v2/") };

    return oci_do(c, &rq, &rs, err);
}
