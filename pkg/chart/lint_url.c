/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>

#include "base/gourl.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "chart/lint_int.h"
#include "regex/regex.h"

/* What the library that Helm asks (asaskevich/govalidator) accepts as e-mail addresses and URLs. */

static bool matches(const char *pattern, struct str s)
{
    CLEANUP(regex_unref) struct regex *re = NULL;

    return regex_compile(str_from(pattern), &re, NULL) >= 0 && regex_match(re, s);
}

#define WIDE "\\x{00A0}-\\x{D7FF}\\x{F900}-\\x{FDCF}\\x{FDF0}-\\x{FFEF}"
#define ATOM "[a-zA-Z0-9!#$%&'*+\\-/=?^_`{|}~" WIDE "]+"
#define FOLD "(?:(?:[ \\t]*\\r\\n)?[ \\t]+)?"
/* Upstream's parentheses make every character of a quoted part begin with a quote. */
#define QUOTED                                                                           \
    "(?:\"" FOLD "(?:[\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f!\\x23-\\x5b\\x5d-\\x7e" WIDE \
    "]|\\([\\x01-\\x09\\x0b-\\x7f]))*" FOLD "\""
#define LETTER "[a-zA-Z" WIDE "]"
#define ALNUM "[a-zA-Z0-9" WIDE "]"

bool lint_is_email(struct str s)
{
    return matches("^(?:" ATOM "(?:\\." ATOM ")*|" QUOTED ")@"
                   "(?:(?:" ALNUM "|" ALNUM "[a-zA-Z0-9\\-._~" WIDE "]*" ALNUM ")\\.)+"
                   "(?:" LETTER "|" LETTER "[a-zA-Z0-9\\-_~" WIDE "]*" LETTER ")\\.?$",
                   s);
}

#define AN "[a-zA-Z0-9]"
#define NAME "[a-zA-Z0-9\\x{00a1}-\\x{ffff}]"
#define IPV4                                               \
    "(?:[1-9]\\d?|1\\d\\d|2[01]\\d|22[0-3]|24\\d|25[0-5])" \
    "(?:\\.(?:\\d{1,2}|1\\d\\d|2[0-4]\\d|25[0-5])){2}"     \
    "\\.(?:[0-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-5])"
#define HOST                                                                                          \
    "(?:" AN "[a-zA-Z0-9_-]*" AN "(?:[-.]" AN "+)*|www\\.|" AN "+(?:[-_.]?" AN ")*" AN "\\." AN "+)?" \
    "(?:" NAME "+-?-?)*" NAME "+(?:\\.[a-zA-Z\\x{00a1}-\\x{ffff}]+)?"
#define BEFORE_HOST "^(?:(?:ftp|tcp|udp|wss?|https?)://)?(?:\\S+@)?"
#define BEHIND_HOST "\\.?(?::\\d{1,5})?(?:[/?#]\\S*)?$"

/* "[::1]": the pattern only finds the brackets. */
static bool is_ipv6_literal(struct str s)
{
    size_t from = str_find_char(s, '['), to = str_find_char(s, ']');
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];

    if (from == STR_NPOS || to == STR_NPOS || to < from || to - from > sizeof(text) - 1)
        return false;
    memcpy(text, s.p + from + 1, to - from - 1);
    text[to - from - 1] = '\0';
    return inet_pton(AF_INET6, text, &address) == 1;
}

static bool has_url_parts(struct str s)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct str with_scheme = s;
    struct gourl u;

    if (str_contains(s, STR(":")) && !str_contains(s, STR("://")))
        with_scheme = arena_printf(a, "http://" STR_FMT, STR_ARG(s));
    if (gourl_parse(a, with_scheme, &u, NULL) < 0 || str_has_prefix(u.host, STR(".")))
        return false;
    return u.host.n > 0 || u.path.n == 0 || str_contains(u.path, STR("."));
}

bool lint_is_url(struct str s)
{
    if (s.n <= 3 || utf8_count(s) >= 2083 || s.p[0] == '.' || !has_url_parts(s))
        return false;
    if (matches(BEFORE_HOST "(?:" IPV4 "|" HOST ")" BEHIND_HOST, s))
        return true;
    return matches(BEFORE_HOST "\\[[0-9a-fA-F:.]+\\]" BEHIND_HOST, s) && is_ipv6_literal(s);
}

bool lint_is_request_url(struct str s)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct gourl u;

    return gourl_parse_request(a, s, &u, NULL) >= 0 && u.scheme.n > 0;
}
