/* SPDX-License-Identifier: Apache-2.0 */
/* The values of `format`: format.go of the library, and the parts of Go's standard library behind it. */
#include <stdlib.h>

#include "base/number.h"
#include "base/utf8.h"
#include "schema/schema_int.h"

struct format {
    const char *name;
    bool (*check)(struct str s, struct buf *why);
};

static bool no(struct buf *why, const char *text)
{
    buf_adds(why, text);
    return false;
}

static void add_rune(uint32_t rune, struct buf *out)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(8), quoted = BUF_INIT(32);

    buf_add_rune(&text, rune);
    utf8_quote(buf_str(&text), &quoted);
    buf_addc(out, '\'');
    if (rune == '\'' || rune == '"')
        buf_adds(out, rune == '"' ? "\"" : "\\'");
    else
        buf_add(out, quoted.p + 1, quoted.n - 2);
    buf_addc(out, '\'');
}

static bool bad_rune(struct buf *why, struct str s, size_t i, const char *before, const char *after)
{
    uint32_t rune;

    utf8_decode(str_sub(s, i, s.n), &rune);
    buf_adds(why, before);
    add_rune(rune == UTF8_INVALID ? 0xfffd : rune, why);
    buf_adds(why, after);
    return false;
}

/* ---- pointers, identifiers ---- */

static bool check_json_pointer(struct str s, struct buf *why)
{
    if (s.n > 0 && s.p[0] != '/')
        return no(why, "not starting with /");
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '~' && (i + 1 == s.n || (s.p[i + 1] != '0' && s.p[i + 1] != '1')))
            return no(why, "~ must be followed by 0 or 1");
    return true;
}

static bool check_relative_json_pointer(struct str s, struct buf *why)
{
    size_t n = 0;

    while (n < s.n && ascii_is_digit(s.p[n]))
        n++;
    if (n == 0)
        return no(why, "must start with non-negative integer");
    if (n > 1 && s.p[0] == '0')
        return no(why, "starts with zero");
    s = str_sub(s, n, s.n);
    return str_eq(s, STR("#")) || check_json_pointer(s, why);
}

static size_t count_parts(struct str s, char separator)
{
    size_t n = 1;

    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == separator;
    return n;
}

static bool check_uuid(struct str s, struct buf *why)
{
    static const size_t lengths[] = { 8, 4, 4, 4, 12 };
    struct str part;

    if (count_parts(s, '-') != ARRAY_SIZE(lengths))
        return no(why, "must have 5 elements");
    for (size_t k = 0; k < ARRAY_SIZE(lengths); k++) {
        str_split(&s, '-', &part);
        if (part.n != lengths[k]) {
            buf_addf(why, "element %zu must be %zu characters long", k + 1, lengths[k]);
            return false;
        }
        for (size_t i = 0; i < part.n; i++)
            if (!ascii_is_digit(part.p[i]) &&
                !(ascii_lower(part.p[i]) >= 'a' && ascii_lower(part.p[i]) <= 'f'))
                return bad_rune(why, part, i, "non-hex character ", "");
    }
    return true;
}

/* ---- times ---- */

static bool check_duration_part(struct str s, const char *all, struct buf *why)
{
    const char *units = all;

    while (s.n > 0) {
        size_t n = 0;
        const char *at;

        while (n < s.n && ascii_is_digit(s.p[n]))
            n++;
        if (n == 0)
            return no(why, "missing number");
        if (n == s.n)
            return no(why, "missing unit");
        at = s.p[n] ? strchr(units, s.p[n]) : NULL;
        if (!at) {
            bool known = ascii_is_one_of(s.p[n], all);

            buf_adds(why, known ? "unit " : "invalid unit ");
            add_rune((unsigned char)s.p[n], why);
            buf_adds(why, known ? " out of order" : "");
            return false;
        }
        units = at + 1;
        s = str_sub(s, n + 1, s.n);
    }
    return true;
}

static bool check_duration(struct str s, struct buf *why)
{
    struct str part;

    if (s.n == 0 || s.p[0] != 'P')
        return no(why, "must start with P");
    s = str_sub(s, 1, s.n);
    if (s.n == 0)
        return no(why, "nothing after P");
    if (str_has_suffix(s, STR("W"))) {
        if (s.n == 1)
            return no(why, "no number in week");
        for (size_t i = 0; i + 1 < s.n; i++)
            if (!ascii_is_digit(s.p[i]))
                return no(why, "invalid week");
        return true;
    }
    for (int i = 0; str_split(&s, 'T', &part); i++) {
        if (i > 0 && part.n == 0)
            return no(why, "no time elements");
        if (i > 1)
            return no(why, "more than one T");
        if (!check_duration_part(part, i == 0 ? "YMD" : "HMS", why))
            return false;
    }
    return true;
}

static bool fail_time(struct buf *why, struct str s, struct str rest, const char *wanted)
{
    buf_adds(why, "parsing time ");
    utf8_quote(s, why);
    buf_adds(why, " as \"2006-01-02\": cannot parse ");
    utf8_quote(rest, why);
    buf_addf(why, " as \"%s\"", wanted);
    return false;
}

static bool fail_range(struct buf *why, struct str s, const char *text)
{
    buf_adds(why, "parsing time ");
    utf8_quote(s, why);
    buf_adds(why, text);
    return false;
}

static bool take_digits(struct str *s, size_t n, int *ret)
{
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        if (i >= s->n || !ascii_is_digit(s->p[i]))
            return false;
        *ret = *ret * 10 + (s->p[i] - '0');
    }
    *s = str_sub(*s, n, s->n);
    return true;
}

/* Go's time.Parse("2006-01-02"). */
static bool check_date(struct str s, struct buf *why)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    struct str rest = s;
    int year, month, day;

    if (!take_digits(&rest, 4, &year))
        return fail_time(why, s, rest, "2006");
    if (rest.n == 0 || rest.p[0] != '-')
        return fail_time(why, s, rest, "-");
    rest = str_sub(rest, 1, rest.n);
    if (!take_digits(&rest, 2, &month))
        return fail_time(why, s, rest, "01");
    if (month < 1 || month > 12)
        return fail_range(why, s, ": month out of range");
    if (rest.n == 0 || rest.p[0] != '-')
        return fail_time(why, s, rest, "-");
    rest = str_sub(rest, 1, rest.n);
    if (!take_digits(&rest, 2, &day))
        return fail_time(why, s, rest, "02");
    if (rest.n > 0) {
        fail_range(why, s, ": extra text: ");
        utf8_quote(rest, why);
        return false;
    }
    if (day < 1 ||
        day > lengths[month - 1] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)))
        return fail_range(why, s, ": day out of range");
    return true;
}

/* Two characters as Go's Atoi takes them: a sign and a digit too. */
static bool take_pair(struct str s, int64_t *ret)
{
    return str_to_int64(str_sub(s, 0, 2), ret);
}

static bool check_offset(struct str s, int64_t *h, int64_t *m, struct buf *why)
{
    int64_t zh, zm, t;
    int sign;

    if (s.n != 6)
        return no(why, "offset must be 6 characters long");
    if (s.p[0] != '+' && s.p[0] != '-')
        return no(why, "offset must begin with plus/minus");
    sign = s.p[0] == '+' ? -1 : 1;
    if (s.p[3] != ':')
        return no(why, "missing colon in offset in correct place");
    if (!take_pair(str_sub(s, 1, s.n), &zh) || !take_pair(str_sub(s, 4, s.n), &zm))
        return no(why, "invalid hour/min in offset");
    if (zh < 0 || zm < 0)
        return no(why, "non-positive hour/min in offset");
    if (zh > 23 || zm > 59)
        return no(why, "hour/min in offset out of range");
    t = *h * 60 + *m + sign * (zh * 60 + zm);
    if (t < 0)
        t += 24 * 60;
    *h = t / 60;
    *m = t % 60;
    return true;
}

static bool check_time(struct str s, struct buf *why)
{
    int64_t h, m, sec;

    if (s.n < 9)
        return no(why, "less than 9 characters long");
    if (s.p[2] != ':' || s.p[5] != ':')
        return no(why, "missing colon in correct place");
    if (!take_pair(s, &h) || !take_pair(str_sub(s, 3, s.n), &m) || !take_pair(str_sub(s, 6, s.n), &sec))
        return no(why, "invalid hour/min/sec");
    if (h < 0 || m < 0 || sec < 0)
        return no(why, "non-positive hour/min/sec");
    if (h > 23 || m > 59 || sec > 60)
        return no(why, "hour/min/sec out of range");
    s = str_sub(s, 8, s.n);
    if (s.n > 0 && s.p[0] == '.') {
        size_t n = 1;

        while (n < s.n && ascii_is_digit(s.p[n]))
            n++;
        if (n == 1)
            return no(why, "no digits in second fraction");
        s = str_sub(s, n, s.n);
    }
    if (!str_eq(s, STR("z")) && !str_eq(s, STR("Z")) && !check_offset(s, &h, &m, why))
        return false;
    if (sec >= 60 && (h != 23 || m != 59))
        return no(why, "invalid leap second");
    return true;
}

static bool check_part(bool (*check)(struct str, struct buf *), struct str s, const char *before,
                       struct buf *why)
{
    CLEANUP(buf_done) struct buf inner = BUF_INIT(64 * KIB);

    if (check(s, &inner))
        return true;
    buf_adds(why, before);
    buf_addstr(why, buf_str(&inner));
    return false;
}

static bool check_date_time(struct str s, struct buf *why)
{
    if (s.n < 20)
        return no(why, "less than 20 characters long");
    if (s.p[10] != 't' && s.p[10] != 'T')
        return no(why, "11th character must be t or T");
    return check_part(check_date, str_sub(s, 0, 10), "invalid date element: ", why) &&
           check_part(check_time, str_sub(s, 11, s.n), "invalid time element: ", why);
}

static bool check_period(struct str s, struct buf *why)
{
    size_t slash = str_find_char(s, '/');
    struct str start, end;

    if (slash == STR_NPOS)
        return no(why, "missing slash");
    start = str_sub(s, 0, slash);
    end = str_sub(s, slash + 1, s.n);
    if (str_has_prefix(start, STR("P")))
        return check_part(check_duration, start, "invalid start duration: ", why) &&
               check_part(check_date_time, end, "invalid end date-time: ", why);
    if (!check_part(check_date_time, start, "invalid start date-time: ", why))
        return false;
    if (str_has_prefix(end, STR("P")))
        return check_part(check_duration, end, "invalid end duration: ", why);
    return check_part(check_date_time, end, "invalid end date-time: ", why);
}

/* ---- addresses and names ---- */

static bool check_ipv4(struct str s, struct buf *why)
{
    struct str part;
    int64_t n;

    if (count_parts(s, '.') != 4)
        return no(why, "expected four decimals");
    while (str_split(&s, '.', &part)) {
        if (part.n > 1 && part.p[0] == '0')
            return no(why, "leading zeros");
        if (!str_to_int64(part, &n)) {
            buf_adds(why, "strconv.Atoi: parsing ");
            utf8_quote(part, why);
            buf_adds(why, part.n > 18 ? ": value out of range" : ": invalid syntax");
            return false;
        }
        if (n < 0 || n > 255)
            return no(why, "decimal must be between 0 and 255");
    }
    return true;
}

static bool fail_address(struct buf *why, struct str s, const char *text, struct str at)
{
    buf_adds(why, "ParseAddr(");
    utf8_quote(s, why);
    buf_addf(why, "): %s", text);
    if (at.p) {
        buf_adds(why, " (at ");
        utf8_quote(at, why);
        buf_addc(why, ')');
    }
    return false;
}

static bool is_embedded_ipv4(struct str s)
{
    CLEANUP(buf_done) struct buf why = BUF_INIT(KIB);
    bool digits = true;

    for (size_t i = 0; i < s.n; i++)
        digits = digits && (ascii_is_digit(s.p[i]) || s.p[i] == '.');
    return digits && check_ipv4(s, &why);
}

/* Go's netip.ParseAddr for addresses with a colon. */
static bool check_ipv6(struct str text, struct buf *why)
{
    struct str s = text;
    bool ellipsis = false;
    int groups = 0;

    if (!memchr(s.p ? s.p : "", ':', s.n))
        return no(why, "missing colon");
    if (memchr(s.p, '%', s.n)) {
        if (s.p[s.n - 1] == '%')
            return fail_address(why, text, "zone must be a non-empty string", STR_NONE);
        return no(why, "zone id is not a part of ipv6 address");
    }
    if (str_has_prefix(s, STR("::"))) {
        ellipsis = true;
        s = str_sub(s, 2, s.n);
        if (s.n == 0)
            return true;
    }
    while (groups < 8) {
        size_t n = 0;

        while (n < s.n &&
               (ascii_is_digit(s.p[n]) || (ascii_lower(s.p[n]) >= 'a' && ascii_lower(s.p[n]) <= 'f'))) {
            if (++n > 4)
                return fail_address(why, text, "each group must have 4 or less digits", s);
        }
        if (n == 0)
            return fail_address(why, text, "each colon-separated field must have at least one digit", s);
        if (n < s.n && s.p[n] == '.') {
            if ((!ellipsis && groups != 6) || groups > 6)
                return fail_address(
                    why, text, "embedded IPv4 address must replace the final 2 fields of the address", s);
            if (!is_embedded_ipv4(s))
                return fail_address(why, text, "IPv4 field must have at least one digit", s);
            groups += 2;
            s = STR("");
            break;
        }
        groups++;
        s = str_sub(s, n, s.n);
        if (s.n == 0)
            break;
        if (s.p[0] != ':')
            return fail_address(why, text, "unexpected character, want colon", s);
        if (s.n == 1)
            return fail_address(why, text, "colon must be followed by more characters", s);
        s = str_sub(s, 1, s.n);
        if (s.p[0] == ':') {
            if (ellipsis)
                return fail_address(why, text, "multiple :: in address", s);
            ellipsis = true;
            s = str_sub(s, 1, s.n);
            if (s.n == 0)
                break;
        }
    }
    if (s.n > 0)
        return fail_address(why, text, "trailing garbage after address", s);
    if (groups < 8 && !ellipsis)
        return fail_address(why, text, "address string too short", STR_NONE);
    if (groups == 8 && ellipsis)
        return fail_address(why, text, "the :: must expand to at least one field of zeros", STR_NONE);
    return true;
}

static bool check_hostname(struct str s, struct buf *why)
{
    struct str label;

    s = str_trim_suffix(s, STR("."));
    if (s.n > 253)
        return no(why, "more than 253 characters long");
    if (!s.p)
        s = STR("");
    while (str_split(&s, '.', &label)) {
        if (label.n < 1 || label.n > 63)
            return no(why, "label must be 1 to 63 characters long");
        if (label.p[0] == '-')
            return no(why, "label starts with hyphen");
        if (label.p[label.n - 1] == '-')
            return no(why, "label ends with hyphen");
        for (size_t i = 0; i < label.n; i++)
            if (!ascii_is_alnum(label.p[i]) && label.p[i] != '-')
                return bad_rune(why, label, i, "invalid character ", "");
    }
    return true;
}

static bool check_local_part(struct str s, struct buf *why)
{
    if (s.n > 1 && s.p[0] == '"') {
        struct str inner = str_sub(s, 1, s.n - 1);

        if (memchr(inner.p, '\\', inner.n) || memchr(inner.p, '"', inner.n))
            return no(why, "backslash and quote are not allowed within quoted local part");
        return true;
    }
    if (str_has_prefix(s, STR(".")))
        return no(why, "starts with dot");
    if (str_has_suffix(s, STR(".")))
        return no(why, "ends with dot");
    if (str_contains(s, STR("..")))
        return no(why, "consecutive dots");
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !ascii_is_one_of(s.p[i], ".!#$%&'*+-/=?^_`{|}~"))
            return bad_rune(why, s, i, "invalid character ", "");
    return true;
}

static bool check_email(struct str s, struct buf *why)
{
    size_t at = str_rfind_char(s, '@');
    struct str domain;

    if (s.n > 254)
        return no(why, "more than 255 characters long");
    if (at == STR_NPOS)
        return no(why, "missing @");
    if (at > 64)
        return no(why, "local part more than 64 characters long");
    if (!check_local_part(str_sub(s, 0, at), why))
        return false;
    domain = str_sub(s, at + 1, s.n);
    if (!str_has_prefix(domain, STR("[")) || !str_has_suffix(domain, STR("]")))
        return check_part(check_hostname, domain, "invalid domain: ", why);
    domain = str_sub(domain, 1, domain.n - 1);
    if (str_has_prefix(domain, STR("IPv6:")))
        return check_part(check_ipv6, str_sub(domain, 5, domain.n), "invalid ipv6 address: ", why);
    return check_part(check_ipv4, domain, "invalid ipv4 address: ", why);
}

/* ---- URLs: what Go's url.Parse refuses ---- */

static bool fail_url(struct buf *why, struct str s, const char *text, struct str what, const char *after)
{
    buf_adds(why, "parse ");
    utf8_quote(s, why);
    buf_addf(why, ": %s", text);
    if (what.p)
        utf8_quote(what, why);
    buf_adds(why, after);
    return false;
}

static bool is_hex(char c)
{
    return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}

static bool check_url_escapes(struct buf *why, struct str s, struct str part)
{
    for (size_t i = 0; i < part.n; i++) {
        if (part.p[i] != '%')
            continue;
        if (i + 2 < part.n && is_hex(part.p[i + 1]) && is_hex(part.p[i + 2]))
            continue;
        return fail_url(why, s, "invalid URL escape ", str_sub(part, i, MIN(i + 3, part.n)), "");
    }
    return true;
}

static bool check_port(struct buf *why, struct str s, struct str port)
{
    for (size_t i = 1; i < port.n; i++)
        if (!ascii_is_digit(port.p[i]))
            return fail_url(why, s, "invalid port ", port, " after host");
    return port.n == 0 || port.p[0] == ':' ? true : fail_url(why, s, "invalid port ", port, " after host");
}

static bool check_authority(struct buf *why, struct str s, struct str authority)
{
    size_t at = str_rfind_char(authority, '@'), end;
    struct str host = at == STR_NPOS ? authority : str_sub(authority, at + 1, authority.n);

    if (str_has_prefix(host, STR("["))) {
        end = str_rfind_char(host, ']');
        if (end == STR_NPOS)
            return fail_url(why, s, "missing ']' in host", STR_NONE, "");
        return check_port(why, s, str_sub(host, end + 1, host.n)) &&
               (!memchr(host.p, ':', end) ||
                check_part(check_ipv6, str_sub(host, 1, end), "invalid ipv6 address: ", why));
    }
    end = str_rfind_char(host, ':');
    if (end != STR_NPOS && !check_port(why, s, str_sub(host, end, host.n)))
        return false;
    for (size_t i = 0; i < host.n; i++) {
        struct str escape = str_sub(host, i, MIN(i + 3, host.n));

        if (host.p[i] == '%') { /* of ASCII only the percent sign itself may be escaped */
            if (escape.n < 3 || !is_hex(escape.p[1]) || !is_hex(escape.p[2]) ||
                (escape.p[1] < '8' && !str_eq(escape, STR("%25"))))
                return fail_url(why, s, "invalid URL escape ", escape, "");
            i += 2;
        } else if ((unsigned char)host.p[i] < 0x80 && !ascii_is_alnum(host.p[i]) &&
                   !ascii_is_one_of(host.p[i], "-._~!$&'()*+,;=:[]<>\"")) {
            return fail_url(why, s, "invalid character ", str_sub(host, i, i + 1), " in host name");
        }
    }
    return true;
}

static bool parse_url(struct str s, bool *ret_absolute, struct str *ret_path, struct buf *why)
{
    struct str rest = s;
    size_t n = 0, hash = str_find_char(s, '#'), query;

    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return fail_url(why, s, "net/url: invalid control character in URL", STR_NONE, "");
    if (hash != STR_NPOS) {
        rest = str_sub(s, 0, hash);
        if (!check_url_escapes(why, s, str_sub(s, hash + 1, s.n)))
            return false;
    }
    if (str_has_prefix(rest, STR(":")))
        return fail_url(why, rest, "missing protocol scheme", STR_NONE, "");
    while (n < rest.n && (ascii_is_alpha(rest.p[n]) ||
                          (n > 0 && (ascii_is_digit(rest.p[n]) || ascii_is_one_of(rest.p[n], "+-.")))))
        n++;
    *ret_absolute = n > 0 && n < rest.n && rest.p[n] == ':';
    if (*ret_absolute)
        rest = str_sub(rest, n + 1, rest.n);
    query = str_find_char(rest, '?');
    if (query != STR_NPOS)
        rest = str_sub(rest, 0, query);
    *ret_path = STR("");
    if (!str_has_prefix(rest, STR("/"))) {
        size_t colon = str_find_char(rest, ':'), slash = str_find_char(rest, '/');

        if (*ret_absolute)
            return true; /* opaque */
        if (colon != STR_NPOS && (slash == STR_NPOS || colon < slash))
            return fail_url(why, hash == STR_NPOS ? s : str_sub(s, 0, hash),
                            "first path segment in URL cannot contain colon", STR_NONE, "");
    }
    if (str_has_prefix(rest, STR("//"))) {
        size_t end = 2;

        while (end < rest.n && rest.p[end] != '/')
            end++;
        if (!check_authority(why, s, str_sub(rest, 2, end)))
            return false;
        rest = str_sub(rest, end, rest.n);
    }
    *ret_path = rest;
    return check_url_escapes(why, s, rest);
}

static bool check_uri(struct str s, struct buf *why)
{
    struct str path;
    bool absolute;

    if (!parse_url(s, &absolute, &path, why))
        return false;
    return absolute || no(why, "relative url");
}

static bool check_uri_reference(struct str s, struct buf *why)
{
    struct str path;
    bool absolute;

    if (memchr(s.p ? s.p : "", '\\', s.n))
        return no(why, "contains \\");
    return parse_url(s, &absolute, &path, why);
}

static bool check_uri_template(struct str s, struct buf *why)
{
    struct str path, part;
    bool absolute;

    if (!parse_url(s, &absolute, &path, why))
        return false;
    while (str_split(&path, '/', &part)) {
        bool open = false;

        for (size_t i = 0; i < part.n; i++) {
            if (part.p[i] != '{' && part.p[i] != '}')
                continue;
            if (open == (part.p[i] == '{'))
                return no(why, "nested curly braces");
            open = !open;
        }
        if (open)
            return no(why, "no matching closing brace");
    }
    return true;
}

/* ---- others ---- */

static bool check_identifiers(struct str s, const char *kind, bool numbers, struct buf *why)
{
    struct str id;

    while (str_split(&s, '.', &id)) {
        bool digits = true;

        if (id.n == 0) {
            buf_addf(why, "%s identifier is empty", kind);
            return false;
        }
        for (size_t i = 0; i < id.n; i++) {
            CLEANUP(buf_done) struct buf after = BUF_INIT(64);

            digits = digits && ascii_is_digit(id.p[i]);
            buf_addf(&after, " in %s identifier", kind);
            if (!ascii_is_alnum(id.p[i]) && id.p[i] != '-')
                return bad_rune(why, id, i, "invalid character ", buf_z(&after));
        }
        if (numbers && digits && id.n > 1 && id.p[0] == '0') {
            buf_addf(why, "%s numeric identifier starts with zero", kind);
            return false;
        }
    }
    return true;
}

static bool check_semver(struct str s, struct buf *why)
{
    static const char *const names[] = { "major", "minor", "patch" };
    size_t plus = str_find_char(s, '+'), minus;
    struct str part;

    if (plus != STR_NPOS) {
        if (plus + 1 == s.n)
            return no(why, "build is empty");
        if (!check_identifiers(str_sub(s, plus + 1, s.n), "build", false, why))
            return false;
        s = str_sub(s, 0, plus);
    }
    minus = str_find_char(s, '-');
    if (minus != STR_NPOS) {
        if (!check_identifiers(str_sub(s, minus + 1, s.n), "pre-release", true, why))
            return false;
        s = str_sub(s, 0, minus);
    }
    if (count_parts(s, '.') != 3)
        return no(why, "versionCore must have 3 numbers separated by dot");
    for (size_t k = 0; str_split(&s, '.', &part); k++) {
        const char *bad = part.n == 0                      ? "is empty"
                          : part.n > 1 && part.p[0] == '0' ? "starts with zero"
                                                           : NULL;

        for (size_t i = 0; i < part.n && !bad; i++)
            bad = ascii_is_digit(part.p[i]) ? NULL : "contains non-digit";
        if (bad) {
            buf_addf(why, "%s %s", names[k], bad);
            return false;
        }
    }
    return true;
}

static bool check_regex(struct str s, struct buf *why)
{
    CLEANUP(regex_unref) struct regex *re = NULL;
    CLEANUP(err_free) struct err *err = NULL;

    if (regex_compile(s, &re, &err) == 0)
        return true;
    return no(why, err_message(err));
}

static const struct format formats[] = {
    { "json-pointer", check_json_pointer },
    { "relative-json-pointer", check_relative_json_pointer },
    { "uuid", check_uuid },
    { "duration", check_duration },
    { "period", check_period },
    { "ipv4", check_ipv4 },
    { "ipv6", check_ipv6 },
    { "hostname", check_hostname },
    { "email", check_email },
    { "date", check_date },
    { "time", check_time },
    { "date-time", check_date_time },
    { "uri", check_uri },
    { "iri", check_uri },
    { "uri-reference", check_uri_reference },
    { "iri-reference", check_uri_reference },
    { "uri-template", check_uri_template },
    { "semver", check_semver },
    { "regex", check_regex },
};

const struct format *schema_format_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        if (str_eq(name, str_from(formats[i].name)))
            return &formats[i];
    return NULL;
}

bool schema_format_check(const struct format *f, struct str s, struct buf *why)
{
    return f->check(s, why);
}

struct str schema_format_name(const struct format *f)
{
    return str_from(f->name);
}
