/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/registry.h"

struct url {
    struct str scheme, host; /* host with its port */
    struct str path, query;  /* query without '?' */
};

static bool split(struct str s, struct url *ret)
{
    size_t at = str_find(s, STR("://"));

    if (at == STR_NPOS)
        return false;
    ret->scheme = str_sub(s, 0, at);
    s = str_sub(s, at + 3, s.n);
    at = str_find_char(s, '#');
    if (at != STR_NPOS)
        s = str_sub(s, 0, at);
    at = str_find_char(s, '?');
    ret->query = at == STR_NPOS ? STR("") : str_sub(s, at + 1, s.n);
    s = at == STR_NPOS ? s : str_sub(s, 0, at);
    at = str_find_char(s, '/');
    ret->host = at == STR_NPOS ? s : str_sub(s, 0, at);
    ret->path = at == STR_NPOS ? STR("") : str_sub(s, at, s.n);
    return true;
}

/* RFC 3986 5.2.4, on an absolute path. */
static struct str clean_path(struct arena *a, struct str path)
{
    char *out = arena_alloc_bytes(a, path.n + 1);
    struct str rest = path, part;
    bool slash = str_has_suffix(path, STR("/"));
    size_t n = 0;

    while (str_split(&rest, '/', &part)) {
        slash = slash || (!rest.p && (str_eq(part, STR(".")) || str_eq(part, STR(".."))));
        if (part.n == 0 || str_eq(part, STR(".")))
            continue;
        if (str_eq(part, STR(".."))) {
            while (n > 0 && out[--n] != '/')
                ;
            continue;
        }
        out[n++] = '/';
        memcpy(out + n, part.p, part.n);
        n += part.n;
    }
    if (slash)
        out[n++] = '/';
    return (struct str){ out, n };
}

struct str registry_resolve_url(struct arena *a, struct str repository_url, struct str chart_url)
{
    struct url base, full;
    struct str path, query = STR("");
    size_t at;

    if (split(chart_url, &full) || !split(repository_url, &base))
        return chart_url;
    at = str_find_char(chart_url, '?');
    if (at != STR_NPOS) {
        query = str_sub(chart_url, at + 1, chart_url.n);
        chart_url = str_sub(chart_url, 0, at);
    }
    if (str_has_prefix(chart_url, STR("/")))
        path = chart_url;
    else
        path =
            arena_printf(a, "%.*s/%.*s", STR_ARG(str_trim_suffix(base.path, STR("/"))), STR_ARG(chart_url));
    if (query.n == 0)
        query = base.query; /* Helm keeps a repository's query: signed URLs need it */
    return arena_printf(a, "%.*s://%.*s%.*s%s%.*s", STR_ARG(base.scheme), STR_ARG(base.host),
                        STR_ARG(clean_path(a, path)), query.n ? "?" : "", STR_ARG(query));
}

static struct str lower(struct arena *a, struct str s)
{
    char *p = arena_alloc_bytes(a, s.n + 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = ascii_lower(s.p[i]);
    return (struct str){ p, s.n };
}

struct str registry_normalize_url(struct arena *a, struct str url)
{
    struct url u;
    struct str scheme, host;

    if (!split(str_trim(url), &u))
        return str_trim_suffix(str_trim(url), STR("/"));
    scheme = lower(a, u.scheme);
    host = lower(a, u.host);
    if (str_eq(scheme, STR("https")))
        host = str_trim_suffix(host, STR(":443"));
    else if (str_eq(scheme, STR("http")))
        host = str_trim_suffix(host, STR(":80"));
    while (str_has_suffix(u.path, STR("/")))
        u.path = str_sub(u.path, 0, u.path.n - 1);
    return arena_printf(a, "%.*s://%.*s%.*s%s%.*s", STR_ARG(scheme), STR_ARG(host), STR_ARG(u.path),
                        u.query.n ? "?" : "", STR_ARG(u.query));
}
