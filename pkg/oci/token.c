/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: the distribution project's token and OAuth2 endpoints, as oras-go asks them. */
#include "base/encode.h"
#include "base/limits.h"
#include "oci/oci_int.h"
#include "json/json.h"

/* Token services that are known to belong to a registry of another name. */
static const struct {
    const char *host, *service;
} known[] = {
    { "docker.io", "https://auth.docker.io" },
    { "registry-1.docker.io", "https://auth.docker.io" },
    { "registry.gitlab.com", "https://gitlab.com" },
};

static bool may_have_login(const struct oci_client *c, struct str realm)
{
    if (http_url_same_origin(str_from(c->base), realm))
        return true;
    /* never from TLS to plain text */
    if (!c->options.plain_http && !str_has_prefix(realm, STR("https://")))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (str_eq(str_from(c->host), str_from(known[i].host)) &&
            http_url_same_origin(str_from(known[i].service), realm))
            return true;
    return c->options.pass_credentials;
}

static int check_realm(const struct oci_client *c, struct str realm, struct err **err)
{
    CLEANUP(http_url_done) struct http_url u = { 0 };
    int r = http_url_parse(realm, &u, err);

    if (r < 0)
        return err_wrap(err, r, "bearer realm");
    if (!c->options.plain_http && str_eq(u.scheme, STR("http")))
        return err_set(err, ERRC_FORBIDDEN,
                       "bearer realm \"" STR_FMT "\" uses http but registry was contacted over https",
                       STR_ARG(realm));
    return 0;
}

static bool has_login(const struct oci_login *l)
{
    return l->user.n + l->password.n + l->identity_token.n > 0;
}

static int refuse_login(const struct oci_client *c, struct str realm, struct err **err)
{
    CLEANUP(buf_done) struct buf shown = BUF_INIT(HTTP_URL_MAX * 4);

    http_url_redact(realm, &shown);
    return err_set(err, ERRC_FORBIDDEN,
                   "registry %s wants its credentials sent to another server, %s: allow it with "
                   "--pass-credentials (spec.passCredentials) when that server is its token service",
                   c->host, buf_z(&shown));
}

/* name=value, joined with '&'; empty values are left out. */
static void add_param(struct buf *out, const char *sep, const char *name, struct str value)
{
    if (value.n == 0)
        return;
    buf_addf(out, "%s%s=", out->n ? "&" : sep, name);
    url_escape(value, "", out);
}

/* The body of a POST, or the query of a GET. */
static void describe(const struct oci_client *c, const struct oci_challenge *ch, struct str scope, bool oauth,
                     struct buf *out)
{
    const struct oci_login *l = &c->options.login;

    if (oauth) {
        add_param(out, "", "grant_type", l->identity_token.n ? STR("refresh_token") : STR("password"));
        add_param(out, "", "refresh_token", l->identity_token);
        add_param(out, "", "client_id", STR("pintle"));
    }
    add_param(out, "", "service", ch->service);
    add_param(out, "", "scope", scope);
}

static int ask(struct oci_client *c, const struct oci_challenge *ch, struct str scope, bool with_login,
               struct http_response *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf url = BUF_INIT(HTTP_URL_MAX), params = BUF_INIT(OCI_CONFIG_MAX);
    bool oauth = with_login && c->options.login.identity_token.n > 0;
    static const struct http_header form = { STR("Content-Type"), STR("application/x-www-form-urlencoded") };
    struct http_request rq = { .method = oauth ? "POST" : "GET" };
    struct http_credentials credentials;
    struct http_tls tls;

    describe(c, ch, scope, oauth, &params);
    buf_addstr(&url, ch->realm);
    if (oauth) {
        rq.body = buf_str(&params);
        rq.headers = &form;
        rq.n_headers = 1;
    } else if (params.n > 0) {
        buf_addf(&url, "%s" STR_FMT, str_find_char(ch->realm, '?') == STR_NPOS ? "?" : "&",
                 STR_ARG(buf_str(&params)));
    }
    rq.url = buf_str(&url);
    oci_fill(c, &rq, &tls, &credentials);
    rq.body_max = OCI_MANIFEST_MAX;
    if (with_login) {
        credentials.origin = ch->realm;
        credentials.user = oauth ? STR_NONE : c->options.login.user;
        credentials.password = oauth ? STR_NONE : c->options.login.password;
    }
    return http_do(c->options.http, &rq, ret, err);
}

int oci_token_fetch(struct oci_client *c, struct arena *a, const struct oci_challenge *ch, struct str scope,
                    struct str *ret, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    const struct oci_login *login = &c->options.login;
    struct value root;
    struct str token;
    int r;

    if (login->registry_token.n > 0) {
        *ret = login->registry_token;
        return 0;
    }
    r = check_realm(c, ch->realm, err);
    if (r < 0)
        return r;
    if (has_login(login) && !may_have_login(c, ch->realm))
        return refuse_login(c, ch->realm, err);
    r = ask(c, ch, scope, has_login(login), &rs, err);
    if (r < 0)
        return r;
    if (rs.status != 200)
        return oci_status_error(login->identity_token.n ? "POST" : "GET", &rs, err);
    r = json_parse(a, arena_dup(a, rs.body), NULL, &root, NULL);
    token = value_str(value_getz(root, "access_token"));
    if (token.n == 0)
        token = value_str(value_getz(root, "token"));
    if (r < 0 || token.n == 0)
        return err_set(err, ERRC_PARSE, "the token service of registry %s sent no token", c->host);
    *ret = token;
    return 0;
}
