/* SPDX-License-Identifier: Apache-2.0 */
/* As much of RFC 3986 as identifiers and references of schemas need, and JSON pointers. */
#include "base/encode.h"
#include "schema/schema_int.h"

struct url {
    struct str scheme, authority, path, query;
    bool has_authority, has_query, opaque; /* opaque: "urn:x" */
};

static size_t scheme_length(struct str s)
{
    size_t n = 0;

    if (s.n == 0 || !ascii_is_alpha(s.p[0]))
        return 0;
    while (n < s.n && (ascii_is_alnum(s.p[n]) || ascii_is_one_of(s.p[n], "+-.")))
        n++;
    return n < s.n && s.p[n] == ':' ? n : 0;
}

bool schema_url_is_absolute(struct str url)
{
    return scheme_length(url) > 0;
}

static struct url parse_url(struct str s)
{
    struct url u = { 0 };
    size_t n = scheme_length(s), query;

    if (n > 0) {
        u.scheme = str_sub(s, 0, n);
        s = str_sub(s, n + 1, s.n);
    }
    query = str_find_char(s, '?');
    if (query != STR_NPOS) {
        u.has_query = true;
        u.query = str_sub(s, query + 1, s.n);
        s = str_sub(s, 0, query);
    }
    if (str_has_prefix(s, STR("//"))) {
        size_t end = 2;

        while (end < s.n && s.p[end] != '/')
            end++;
        u.has_authority = true;
        u.authority = str_sub(s, 2, end);
        s = str_sub(s, end, s.n);
    }
    u.path = s;
    u.opaque = u.scheme.n > 0 && !u.has_authority && !str_has_prefix(s, STR("/"));
    return u;
}

/* Removes "." and "..". `path` begins with a slash unless it is empty. */
static struct str clean_path(struct arena *a, struct str path)
{
    char *to = arena_alloc_bytes(a, path.n + 1);
    struct str rest = path, part;
    size_t n = 0;
    bool directory = false;

    if (path.n == 0)
        return path;
    rest = str_sub(path, 1, path.n);
    while (str_split(&rest, '/', &part)) {
        directory = str_eq(part, STR(".")) || str_eq(part, STR(".."));
        if (str_eq(part, STR("..")))
            while (n > 0 && to[--n] != '/')
                ;
        if (directory)
            continue;
        to[n++] = '/';
        if (part.n > 0)
            memcpy(to + n, part.p, part.n);
        n += part.n;
    }
    if (directory || n == 0)
        to[n++] = '/';
    return (struct str){ to, n };
}

static struct str merge_paths(struct arena *a, const struct url *base, struct str path)
{
    size_t slash = str_rfind_char(base->path, '/');
    struct str directory = slash == STR_NPOS ? STR("/") : str_sub(base->path, 0, slash + 1);

    if (str_has_prefix(path, STR("/")))
        return path;
    return arena_printf(a, STR_FMT STR_FMT, STR_ARG(directory), STR_ARG(path));
}

struct str schema_url_join(struct arena *a, struct str base_text, struct str ref)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(HTTP_URL_MAX * 4);
    struct url base = parse_url(base_text), u = parse_url(ref);

    if (ref.n == 0)
        return base_text;
    if (u.scheme.n > 0)
        return arena_dup(a, ref);
    if (base.opaque)
        return base_text;
    if (!u.has_authority) {
        u.authority = base.authority;
        u.has_authority = base.has_authority;
        if (u.path.n == 0) {
            u.path = base.path;
            if (!u.has_query) {
                u.query = base.query;
                u.has_query = base.has_query;
            }
        } else {
            u.path = clean_path(a, merge_paths(a, &base, u.path));
        }
    }
    if (base.scheme.n > 0)
        buf_addf(&out, STR_FMT ":", STR_ARG(base.scheme));
    if (u.has_authority)
        buf_addf(&out, "//" STR_FMT, STR_ARG(u.authority));
    buf_addstr(&out, u.path);
    if (u.has_query)
        buf_addf(&out, "?" STR_FMT, STR_ARG(u.query));
    return arena_dup(a, buf_str(&out));
}

bool schema_split_fragment(struct arena *a, struct str s, struct str *url, struct str *fragment)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(s.n + 1);
    size_t hash = str_find_char(s, '#');

    *url = s;
    *fragment = STR("");
    if (hash == STR_NPOS)
        return true;
    *url = str_sub(s, 0, hash);
    if (!url_unescape(str_sub(s, hash + 1, s.n), &out))
        return false;
    *fragment = arena_dup(a, buf_str(&out));
    return true;
}

void schema_pointer_add(struct str token, struct buf *out)
{
    buf_addc(out, '/');
    if (str_find_char(token, '~') == STR_NPOS && str_find_char(token, '/') == STR_NPOS) {
        buf_addstr(out, token);
        return;
    }
    for (size_t i = 0; i < token.n; i++) {
        if (token.p[i] == '~')
            buf_adds(out, "~0");
        else if (token.p[i] == '/')
            buf_adds(out, "~1");
        else
            buf_addc(out, token.p[i]);
    }
}

void schema_pointer_encode(struct str pointer, struct buf *out)
{
    url_escape(pointer, "/$&+=:@", out);
}

static bool unescape_token(struct str token, struct buf *out)
{
    for (size_t i = 0; i < token.n; i++) {
        char c = token.p[i];

        if (c == '~') {
            i++;
            if (i == token.n || (token.p[i] != '0' && token.p[i] != '1'))
                return false;
            c = token.p[i] == '0' ? '~' : '/';
        }
        buf_addc(out, c);
    }
    return true;
}

int schema_lookup(struct value doc, struct str pointer, struct value *ret)
{
    CLEANUP(buf_done) struct buf name = BUF_INIT(pointer.n + 1);
    struct str rest, token;
    int64_t index;

    *ret = doc;
    if (pointer.n == 0)
        return 0;
    rest = str_sub(pointer, str_has_prefix(pointer, STR("/")), pointer.n);
    while (str_split(&rest, '/', &token)) {
        if (str_find_char(token, '~') != STR_NPOS) {
            buf_clear(&name);
            if (!unescape_token(token, &name))
                return -2;
            token = buf_str(&name);
        }
        if (ret->kind == VALUE_MAP && value_has(*ret, token))
            *ret = value_get(*ret, token);
        else if (ret->kind == VALUE_LIST && str_to_int64(token, &index) && index >= 0 && index < ret->n)
            *ret = value_at(*ret, (size_t)index);
        else
            return -1;
    }
    return 0;
}
