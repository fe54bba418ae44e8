/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>

#include "apiserver/schema_int.h"
#include "base/clock.h"
#include "base/encode.h"
#include "base/limits.h"
#include "regex/regex.h"

/* OpenAPI formats as kube-openapi's strfmt checks them. */

static bool matches(const char *pattern, struct str text)
{
    CLEANUP(regex_unref) struct regex *re = NULL;

    return regex_compile(str_from(pattern), &re, NULL) >= 0 && regex_match(re, text);
}

static bool is_date_time(struct str s)
{
    struct wall_time t;

    return clock_parse_rfc3339(s, &t);
}

static bool is_date(struct str s)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    struct wall_time t;

    buf_addf(&b, STR_FMT "T00:00:00Z", STR_ARG(s));
    return s.n == 10 && clock_parse_rfc3339(buf_str(&b), &t);
}

static bool is_duration(struct str s)
{
    int64_t ns;

    return clock_parse_duration(s, &ns) || matches("^\\d+\\s*(ns|nanosecond|us|µs|microsecond|ms|millisecond|"
                                                   "s|sec|second|m|min|minute|h|hr|hour|d|day|w|"
                                                   "week|wk)s?$",
                                                   s);
}

static bool parse_ip(int family, struct str s)
{
    char text[64];
    unsigned char address[16];

    if (s.n >= sizeof(text))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return inet_pton(family, text, address) == 1;
}

static bool is_ipv4(struct str s)
{
    return parse_ip(AF_INET, s);
}

static bool is_ipv6(struct str s)
{
    return parse_ip(AF_INET6, s);
}

static bool is_ip(struct str s)
{
    return is_ipv4(s) || is_ipv6(s);
}

static bool is_cidr(struct str s)
{
    const size_t slash = str_find_char(s, '/');
    int64_t bits;
    struct str address;

    if (slash == STR_NPOS || !str_to_int64(str_sub(s, slash + 1, s.n), &bits))
        return false;
    address = str_sub(s, 0, slash);
    return bits >= 0 && ((is_ipv4(address) && bits <= 32) || (is_ipv6(address) && bits <= 128));
}

static bool is_byte(struct str s)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KUBE_OBJECT_MAX);

    return base64_decode(BASE64_STD, s, &b, NULL);
}

static bool is_uri(struct str s)
{
    return matches("^(/|[a-zA-Z][a-zA-Z0-9+.-]*:)[^\\x00-\\x20\\x7f]*$", s);
}

static bool is_hostname(struct str s)
{
    return s.n <= 255 &&
           matches("^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}]"
                   "(([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}"
                   "([a-zA-Z\\p{L}]){2,63})$",
                   s);
}

static bool is_email(struct str s)
{
    return matches("^[^\\s@<>()\\[\\],;:\"\\\\]+@[^\\s@<>()\\[\\],;:\"\\\\]+$", s);
}

static bool is_uuid(struct str s)
{
    return matches("(?i)^[0-9A-F]{8}-?[0-9A-F]{4}-?[0-9A-F]{4}-?[0-9A-F]{4}-?[0-9A-F]{12}$", s);
}

static bool is_mac(struct str s)
{
    return matches("^([0-9a-fA-F]{2}[:-]){5}([0-9a-fA-F]{2}[:-]){0,2}[0-9a-fA-F]{2}$", s);
}

static bool is_hex_color(struct str s)
{
    return matches("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", s);
}

static const struct {
    const char *name;
    bool (*ok)(struct str s);
} formats[] = {
    { "byte", is_byte },
    { "cidr", is_cidr },
    { "date", is_date },
    { "date-time", is_date_time },
    { "datetime", is_date_time },
    { "duration", is_duration },
    { "email", is_email },
    { "hexcolor", is_hex_color },
    { "hostname", is_hostname },
    { "ip", is_ip },
    { "ipv4", is_ipv4 },
    { "ipv6", is_ipv6 },
    { "mac", is_mac },
    { "uri", is_uri },
    { "uuid", is_uuid },
};

bool schema_format_ok(struct str format, struct str text)
{
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        if (str_eq(format, str_from(formats[i].name)))
            return formats[i].ok(text);
    return true;
}
