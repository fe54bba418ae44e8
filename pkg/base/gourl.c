/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gourl.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/utf8.h"

enum part { PART_PATH = 1, PART_HOST = 2, PART_ZONE = 4, PART_USER = 8, PART_FRAGMENT = 16 };

/* Which parts may hold a punctuation character unescaped; letters, digits and -_.~ stand in all of them. */
static bool stays(unsigned char c, enum part part)
{
    static const struct {
        const char *chars;
        unsigned parts;
    } rules[] = {
        { "-_.~", PART_PATH | PART_HOST | PART_ZONE | PART_USER | PART_FRAGMENT },
        { "$&+=:;,", PART_PATH | PART_HOST | PART_ZONE | PART_FRAGMENT },
        { "$&+=;,", PART_USER },
        { "/@", PART_PATH | PART_FRAGMENT },
        { "?", PART_FRAGMENT },
        { "!()*", PART_HOST | PART_ZONE | PART_FRAGMENT },
        { "'[]<>\"", PART_HOST | PART_ZONE },
    };

    if (ascii_is_alnum((char)c))
        return true;
    for (size_t i = 0; c != '\0' && i < ARRAY_SIZE(rules); i++)
        if ((rules[i].parts & part) && ascii_is_one_of(c, rules[i].chars))
            return true;
    return false;
}

static int hex(char c)
{
    if (ascii_is_digit(c))
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int fail_quoted(struct err **err, const char *before, struct str s, const char *behind)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(4096);

    utf8_quote(s, &quoted);
    return err_set(err, ERRC_PARSE, "%s%s%s", before, buf_z(&quoted), behind);
}

static int bad_escape(struct str s, struct err **err)
{
    return fail_quoted(err, "invalid URL escape ", str_sub(s, 0, MIN(s.n, 3)), "");
}

static int check_escape(struct str s, enum part part, struct err **err)
{
    int high = s.n > 2 ? hex(s.p[1]) : -1, low = s.n > 2 ? hex(s.p[2]) : -1;
    bool percent = s.n > 2 && s.p[1] == '2' && s.p[2] == '5';
    unsigned char v;

    if (high < 0 || low < 0)
        return bad_escape(s, err);
    v = (unsigned char)(high << 4 | low);
    if (part == PART_HOST && high < 8 && !percent)
        return bad_escape(s, err);
    if (part == PART_ZONE && !percent && v != ' ' && !stays(v, PART_HOST))
        return bad_escape(s, err);
    return 0;
}

static int unescape(struct arena *a, struct str s, enum part part, struct str *ret, struct err **err)
{
    char *p = arena_alloc_bytes(a, s.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '%') {
            int r = check_escape(str_sub(s, i, s.n), part, err);

            if (r < 0)
                return r;
            p[n++] = (char)(hex(s.p[i + 1]) << 4 | hex(s.p[i + 2]));
            i += 2;
            continue;
        }
        if ((part == PART_HOST || part == PART_ZONE) && (unsigned char)s.p[i] < 0x80 &&
            !stays((unsigned char)s.p[i], part))
            return fail_quoted(err, "invalid character ", str_sub(s, i, i + 1), " in host name");
        p[n++] = s.p[i];
    }
    *ret = (struct str){ p, n };
    return 0;
}

static void escape(struct str s, enum part part, struct buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        if (stays((unsigned char)s.p[i], part))
            buf_addc(out, s.p[i]);
        else
            buf_addf(out, "%%%02X", (unsigned char)s.p[i]);
    }
}

/* ---- reading ---- */

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7F)
            return true;
    return false;
}

static int split_scheme(struct arena *a, struct str *rest, struct str *ret, struct err **err)
{
    struct str s = *rest;
    char *lower;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == ':' && i == 0)
            return err_set(err, ERRC_PARSE, "missing protocol scheme");
        if (c == ':') {
            lower = arena_alloc_bytes(a, i);
            for (size_t k = 0; k < i; k++)
                lower[k] = ascii_lower(s.p[k]);
            *ret = (struct str){ lower, i };
            *rest = str_sub(s, i + 1, s.n);
            return 0;
        }
        if (!ascii_is_alpha(c) && (i == 0 || (!ascii_is_digit(c) && c != '+' && c != '-' && c != '.')))
            break;
    }
    *ret = STR("");
    return 0;
}

static bool is_optional_port(struct str s)
{
    if (s.n > 0 && s.p[0] != ':')
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return true;
}

static int check_port(struct str port, struct err **err)
{
    return is_optional_port(port) ? 0 : fail_quoted(err, "invalid port ", port, " after host");
}

static bool is_ipv6(struct arena *a, struct str s)
{
    struct in6_addr address;
    struct str plain;

    str_split(&s, '%', &plain);
    return inet_pton(AF_INET6, arena_dupz(a, plain), &address) == 1 && (!s.p || s.n > 0);
}

/* "[::1%25eth0]:80" */
static int read_ip_literal(struct arena *a, struct str host, struct str *ret, struct err **err)
{
    size_t close = str_rfind_char(host, ']'), zone_at;
    struct str name, port, zone = STR("");
    int r;

    if (close == STR_NPOS)
        return err_set(err, ERRC_PARSE, "missing ']' in host");
    port = str_sub(host, close + 1, host.n);
    name = str_sub(host, 1, close);
    r = check_port(port, err);
    zone_at = str_find(name, STR("%25"));
    if (r == 0 && zone_at != STR_NPOS)
        r = unescape(a, str_sub(name, zone_at, name.n), PART_ZONE, &zone, err);
    if (r == 0)
        r = unescape(a, zone_at == STR_NPOS ? name : str_sub(name, 0, zone_at), PART_HOST, &name, err);
    if (r < 0)
        return r;
    name = arena_printf(a, STR_FMT STR_FMT, STR_ARG(name), STR_ARG(zone));
    if (!is_ipv6(a, name)) {
        struct in_addr v4;

        if (inet_pton(AF_INET, arena_dupz(a, name), &v4) == 1)
            return err_set(err, ERRC_PARSE, "invalid IP-literal");
        return fail_quoted(err, "invalid host: ParseAddr(", name, "): unable to parse IP");
    }
    *ret = arena_printf(a, "[" STR_FMT "]" STR_FMT, STR_ARG(name), STR_ARG(port));
    return 0;
}

static int read_host(struct arena *a, struct str scheme, struct str host, struct str *ret, struct err **err)
{
    size_t open = str_rfind_char(host, '['), colon = str_find_char(host, ':');
    bool strict = str_eq(scheme, STR("http")) || str_eq(scheme, STR("https"));
    int r;

    if (open != STR_NPOS && open > 0)
        return err_set(err, ERRC_PARSE, "invalid IP-literal");
    if (open == 0)
        return read_ip_literal(a, host, ret, err);
    if (colon != STR_NPOS) {
        if (!strict)
            colon = str_rfind_char(host, ':');
        r = check_port(str_sub(host, colon, host.n), err);
        if (r < 0)
            return r;
    }
    return unescape(a, host, PART_HOST, ret, err);
}

static bool is_userinfo(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !ascii_is_one_of(s.p[i], "-._:~!$&'()*+,;=%@"))
            return false;
    return true;
}

static int read_authority(struct arena *a, struct str s, struct gourl *u, struct err **err)
{
    size_t at = str_rfind_char(s, '@');
    struct str user, password;
    int r = read_host(a, u->scheme, at == STR_NPOS ? s : str_sub(s, at + 1, s.n), &u->host, err);

    if (r < 0 || at == STR_NPOS)
        return r;
    password = str_sub(s, 0, at);
    if (!is_userinfo(password))
        return err_set(err, ERRC_PARSE, "net/url: invalid userinfo");
    u->has_user = true;
    u->has_password = str_split(&password, ':', &user) && password.p;
    r = unescape(a, user, PART_USER, &u->user, err);
    if (r == 0 && u->has_password)
        r = unescape(a, password, PART_USER, &u->password, err);
    return r;
}

/* The unescaped form, and the written one where escaping it again would differ. */
static int read_escaped(struct arena *a, struct str s, enum part part, struct str *ret, struct str *ret_raw,
                        struct err **err)
{
    CLEANUP(buf_done) struct buf again = BUF_INIT(SIZE_MAX / 4);
    int r = unescape(a, s, part, ret, err);

    if (r < 0)
        return r;
    escape(*ret, part, &again);
    *ret_raw = str_eq(buf_str(&again), s) ? STR("") : s;
    return 0;
}

static int read_hierarchy(struct arena *a, struct str rest, struct gourl *u, struct err **err)
{
    struct str segment, tail = rest;
    int r;

    if (!str_has_prefix(rest, STR("/"))) {
        if (u->scheme.n > 0) {
            u->opaque = rest;
            return 0;
        }
        str_split(&tail, '/', &segment);
        if (str_contains(segment, STR(":")))
            return err_set(err, ERRC_PARSE, "first path segment in URL cannot contain colon");
    }
    if (str_has_prefix(rest, STR("//")) && (u->scheme.n > 0 || !str_has_prefix(rest, STR("///")))) {
        struct str authority = str_sub(rest, 2, rest.n);
        size_t slash = str_find_char(authority, '/');

        rest = slash == STR_NPOS ? STR("") : str_sub(authority, slash, authority.n);
        authority.n = slash == STR_NPOS ? authority.n : slash;
        r = read_authority(a, authority, u, err);
        if (r < 0)
            return r;
    } else if (u->scheme.n > 0 && str_has_prefix(rest, STR("/"))) {
        u->omit_host = true;
    }
    return read_escaped(a, rest, PART_PATH, &u->path, &u->raw_path, err);
}

static int read_url(struct arena *a, struct str s, struct gourl *u, struct err **err)
{
    struct str rest = s, head;
    int r;

    if (has_control(s))
        return err_set(err, ERRC_PARSE, "net/url: invalid control character in URL");
    if (str_eq(s, STR("*"))) {
        u->path = s;
        return 0;
    }
    r = split_scheme(a, &rest, &u->scheme, err);
    if (r < 0)
        return r;
    if (str_find_char(rest, '?') == rest.n - 1 && rest.n > 0) {
        u->force_query = true;
        rest.n--;
    } else {
        head = rest;
        str_split(&rest, '?', &head);
        u->query = rest.p ? rest : STR("");
        rest = head;
    }
    return read_hierarchy(a, rest, u, err);
}

static int wrap_parse(struct str text, int r, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * 1024);

    utf8_quote(text, &quoted);
    return err_wrap(err, r, "parse %s", buf_z(&quoted));
}

int gourl_parse(struct arena *a, struct str text, struct gourl *ret, struct err **err)
{
    struct gourl u = { 0 };
    struct str fragment = text, s;
    int r;

    str_split(&fragment, '#', &s);
    r = read_url(a, s, &u, err);
    if (r < 0)
        return wrap_parse(s, r, err);
    if (fragment.n > 0) {
        r = read_escaped(a, fragment, PART_FRAGMENT, &u.fragment, &u.raw_fragment, err);
        if (r < 0)
            return wrap_parse(text, r, err);
    }
    *ret = u;
    return 0;
}

int gourl_parse_request(struct arena *a, struct str text, struct gourl *ret, struct err **err)
{
    struct gourl u = { 0 };
    int r;

    if (text.n == 0)
        return wrap_parse(text, err_set(err, ERRC_PARSE, "empty url"), err);
    r = read_url(a, text, &u, err);
    if (r == 0 && u.scheme.n == 0 && text.p[0] != '/' && !str_eq(text, STR("*")))
        r = err_set(err, ERRC_PARSE, "invalid URI for request");
    if (r < 0)
        return wrap_parse(text, r, err);
    *ret = u;
    return 0;
}

struct str gourl_hostname(const struct gourl *u)
{
    struct str host = u->host;
    size_t colon = str_rfind_char(host, ':');

    if (colon != STR_NPOS && is_optional_port(str_sub(host, colon, host.n)))
        host.n = colon;
    if (host.n > 1 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_sub(host, 1, host.n - 1);
    return host;
}

/* ---- writing ---- */

void gourl_format_user(const struct gourl *u, struct buf *out)
{
    escape(u->user, PART_USER, out);
    if (u->has_password) {
        buf_addc(out, ':');
        escape(u->password, PART_USER, out);
    }
}

static bool is_valid_raw(struct str s, enum part part)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_one_of(s.p[i], "!$&'()*+,;=:@[]%") && !stays((unsigned char)s.p[i], part))
            return false;
    return s.n > 0;
}

static void format_path(const struct gourl *u, struct buf *out)
{
    CLEANUP(buf_done) struct buf path = BUF_INIT(out->max);
    struct str segment, rest;

    if (is_valid_raw(u->raw_path, PART_PATH))
        buf_addstr(&path, u->raw_path);
    else if (str_eq(u->path, STR("*")))
        buf_addc(&path, '*');
    else
        escape(u->path, PART_PATH, &path);
    rest = buf_str(&path);
    if (rest.n > 0 && rest.p[0] != '/' && u->host.n > 0)
        buf_addc(out, '/');
    if (out->n == 0) {
        str_split(&rest, '/', &segment);
        if (str_contains(segment, STR(":")))
            buf_adds(out, "./");
    }
    buf_addstr(out, buf_str(&path));
}

static void format_authority(const struct gourl *u, struct buf *out)
{
    if (u->scheme.n == 0 && u->host.n == 0 && !u->has_user)
        return;
    if (u->omit_host && u->host.n == 0 && !u->has_user)
        return;
    if (u->host.n > 0 || u->path.n > 0 || u->has_user)
        buf_adds(out, "//");
    if (u->has_user) {
        gourl_format_user(u, out);
        buf_addc(out, '@');
    }
    escape(u->host, PART_HOST, out);
}

void gourl_format(const struct gourl *u, struct buf *out)
{
    if (u->scheme.n > 0) {
        buf_addstr(out, u->scheme);
        buf_addc(out, ':');
    }
    if (u->opaque.n > 0) {
        buf_addstr(out, u->opaque);
    } else {
        format_authority(u, out);
        format_path(u, out);
    }
    if (u->force_query || u->query.n > 0) {
        buf_addc(out, '?');
        buf_addstr(out, u->query);
    }
    if (u->fragment.n > 0) {
        buf_addc(out, '#');
        if (is_valid_raw(u->raw_fragment, PART_FRAGMENT))
            buf_addstr(out, u->raw_fragment);
        else
            escape(u->fragment, PART_FRAGMENT, out);
    }
}
