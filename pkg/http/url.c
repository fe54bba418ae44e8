/* SPDX-License-Identifier: Apache-2.0 */
/* URLs, taken apart by libcurl: the parser that checks is the one that connects. */
#include <stdlib.h>

#include "http/curl.h"
#include "http/http_int.h"

static void url_free(CURLU *u)
{
    curl.url_cleanup(u);
}
DEFINE_CLEANUP(CURLU *, url_free)

static int part_get(const CURLU *u, CURLUPart part, unsigned flags, char **ret)
{
    char *text = NULL;

    if (curl.url_get(u, part, &text, flags) != CURLUE_OK)
        return -ERRC_NOT_FOUND;
    *ret = xstrdup(text);
    curl.free(text);
    return 0;
}

static int refuse(struct str url, const char *why, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(HTTP_URL_MAX * 4);

    http_url_redact(url, &text);
    return err_set(err, ERRC_INVALID, "URL %s: %s", buf_z(&text), why);
}

static int check_text(struct str url, struct err **err)
{
    if (url.n == 0)
        return err_set(err, ERRC_INVALID, "the URL is empty");
    if (url.n > HTTP_URL_MAX)
        return err_set(err, ERRC_INVALID, "the URL is longer than %zu bytes", HTTP_URL_MAX);
    for (size_t i = 0; i < url.n; i++) {
        if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 0x7f || url.p[i] == '\\')
            return refuse(url, "blanks, control characters and backslashes are not allowed", err);
    }
    return 0;
}

/* What stands between "://" and the path. */
static struct str authority(struct str url)
{
    size_t start = str_find(url, STR("://"));
    struct str rest = str_sub(url, start == STR_NPOS ? 0 : start + 3, url.n);
    size_t end = 0;

    while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?' && rest.p[end] != '#')
        end++;
    return str_sub(rest, 0, end);
}

/* The handle of a URL that may be used at all. */
static int url_open(struct str url, CURLU **ret, struct err **err)
{
    CLEANUP(url_free) CURLU *u = NULL;
    CLEANUP(free_ptr) char *text = NULL, *scheme = NULL, *user = NULL;
    CURLUcode code;
    int r;

    r = check_text(url, err);
    if (r < 0)
        return r;
    r = curl_open(err);
    if (r < 0)
        return r;
    if (str_find(url, STR("://")) == STR_NPOS)
        return refuse(url, "it has no scheme", err);
    u = curl.url();
    text = str_dup(url);
    code = curl.url_set(u, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK)
        return refuse(url, curl.url_strerror(code), err);
    if (part_get(u, CURLUPART_SCHEME, 0, &scheme) < 0 ||
        (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
        return refuse(url, "only http and https are allowed", err);
    if (str_find_char(authority(url), '@') != STR_NPOS || part_get(u, CURLUPART_USER, 0, &user) == 0)
        return refuse(url, "user information is not allowed in it", err);
    *ret = TAKE(u);
    return 0;
}

struct url_parts {
    char *scheme, *host, *port, *path, *query;
};

static void parts_free(struct url_parts *p)
{
    free(p->scheme);
    free(p->host);
    free(p->port);
    free(p->path);
    free(p->query);
    free(p);
}
DEFINE_CLEANUP(struct url_parts *, parts_free)

static void lower(char *z)
{
    for (; *z; z++)
        *z = ascii_lower(*z);
}

int http_url_parse(struct str url, struct http_url *ret, struct err **err)
{
    CLEANUP(url_free) CURLU *u = NULL;
    CLEANUP(parts_free) struct url_parts *p = NULL;
    int64_t port;
    int r;

    r = url_open(url, &u, err);
    if (r < 0)
        return r;
    p = xcalloc(1, sizeof(*p));
    if (part_get(u, CURLUPART_SCHEME, 0, &p->scheme) < 0 || part_get(u, CURLUPART_HOST, 0, &p->host) < 0 ||
        part_get(u, CURLUPART_PORT, CURLU_DEFAULT_PORT, &p->port) < 0 ||
        part_get(u, CURLUPART_PATH, 0, &p->path) < 0 || !str_to_int64(str_from(p->port), &port))
        return refuse(url, "it cannot be taken apart", err);
    if (part_get(u, CURLUPART_QUERY, 0, &p->query) < 0)
        p->query = xstrdup("");
    lower(p->scheme);
    lower(p->host);
    *ret = (struct http_url){ .scheme = str_from(p->scheme),
                              .host = str_from(p->host),
                              .port = (int)port,
                              .path = str_from(p->path),
                              .query = str_from(p->query) };
    ret->memory = TAKE(p);
    return 0;
}

void http_url_done(struct http_url *u)
{
    if (u->memory)
        parts_free(u->memory);
    *u = (struct http_url){ 0 };
}

bool http_url_same_origin(struct str a, struct str b)
{
    CLEANUP(http_url_done) struct http_url x = { 0 }, y = { 0 };

    if (http_url_parse(a, &x, NULL) < 0 || http_url_parse(b, &y, NULL) < 0)
        return false;
    return str_eq(x.scheme, y.scheme) && str_eq(x.host, y.host) && x.port == y.port;
}

int http_url_resolve(struct str base, struct str reference, struct buf *out, struct err **err)
{
    CLEANUP(url_free) CURLU *u = NULL, *checked = NULL;
    CLEANUP(free_ptr) char *text = NULL, *result = NULL;
    CURLUcode code;
    int r;

    r = url_open(base, &u, err);
    if (r < 0)
        return r;
    r = reference.n > 0 ? check_text(reference, err) : 0;
    if (r < 0)
        return r;
    text = str_dup(reference);
    code = reference.n > 0 ? curl.url_set(u, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) : CURLUE_OK;
    if (code == CURLUE_OK)
        code = curl.url_set(u, CURLUPART_FRAGMENT, NULL, 0);
    if (code != CURLUE_OK || part_get(u, CURLUPART_URL, 0, &result) < 0)
        return refuse(reference, code != CURLUE_OK ? curl.url_strerror(code) : "it cannot be resolved", err);
    r = url_open(str_from(result), &checked, err);
    if (r < 0)
        return r;
    buf_adds(out, result);
    return buf_check(out, err);
}

void http_url_redact(struct str url, struct buf *out)
{
    struct str host = authority(url), rest;
    size_t at = str_rfind_char(host, '@'), end = 0;

    escape_controls(str_sub(url, 0, (size_t)(host.p - url.p)), out);
    escape_controls(at == STR_NPOS ? host : str_sub(host, at + 1, host.n), out);
    rest = str_sub(url, (size_t)(host.p - url.p) + host.n, url.n);
    while (end < rest.n && rest.p[end] != '?' && rest.p[end] != '#')
        end++;
    escape_controls(str_sub(rest, 0, end), out);
}
