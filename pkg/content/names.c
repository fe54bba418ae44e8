/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/digest.h"
#include "base/limits.h"
#include "content/content.h"

#define NAME_MAX_PLAIN 200
#define LABEL_MAX 63
#define SHORT_DIGEST 8

static bool is_name_char(char c)
{
    return ascii_is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.';
}

/* A DNS subdomain (RFC 1123) without empty labels. */
static bool is_object_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i + 1] == '.';

        if (!is_name_char(s.p[i]) || (edge && (s.p[i] == '-' || (s.p[i] == '.' && (i == 0 || i + 1 == s.n)))))
            return false;
        if (s.p[i] == '.' && i > 0 && s.p[i - 1] == '.')
            return false;
    }
    return s.n > 0;
}

struct str content_name(struct arena *a, const char *kind, struct str repository, struct str chart,
                        struct str version)
{
    bool index = str_eq(str_from(kind), STR("index"));
    struct str plain = index ? arena_printf(a, "helm-%.*s-%.*s-index", STR_ARG(repository), STR_ARG(chart))
                             : arena_printf(a, "helm-%s-%.*s-%.*s-%.*s", kind, STR_ARG(repository),
                                            STR_ARG(chart), STR_ARG(version));
    char hex[SHA256_HEX];
    char *p;
    size_t n;

    if (plain.n <= NAME_MAX_PLAIN && str_find_char(repository, '-') == STR_NPOS && is_object_name(plain))
        return plain;
    sha256_hex(
        arena_printf(a, "%s\n%.*s\n%.*s\n%.*s", kind, STR_ARG(repository), STR_ARG(chart), STR_ARG(version)),
        hex);
    n = MIN(plain.n, (size_t)NAME_MAX_PLAIN - SHORT_DIGEST - 1);
    p = arena_alloc_bytes(a, n + SHORT_DIGEST + 2);
    for (size_t i = 0; i < n; i++) {
        char c = ascii_lower(plain.p[i]);

        p[i] = is_name_char(c) && c != '.' ? c : '-'; /* a dot beside a dash would make an invalid label */
    }
    p[n++] = '-';
    memcpy(p + n, hex, SHORT_DIGEST);
    return (struct str){ p, n + SHORT_DIGEST };
}

static bool is_label_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

struct str content_label(struct arena *a, struct str text)
{
    bool valid =
        text.n > 0 && text.n <= LABEL_MAX && ascii_is_alnum(text.p[0]) && ascii_is_alnum(text.p[text.n - 1]);
    char hex[SHA256_HEX];
    char *p;
    size_t n = MIN(text.n, (size_t)LABEL_MAX - SHORT_DIGEST - 1);

    for (size_t i = 0; i < text.n && valid; i++)
        valid = is_label_char(text.p[i]);
    if (valid)
        return text;
    sha256_hex(text, hex);
    p = arena_alloc_bytes(a, LABEL_MAX + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = is_label_char(text.p[i]) ? text.p[i] : '_';
    if (n == 0 || !ascii_is_alnum(p[0])) { /* a value starts with a letter or digit */
        memcpy(p, hex, SHORT_DIGEST);
        return (struct str){ p, SHORT_DIGEST };
    }
    p[n++] = '-';
    memcpy(p + n, hex, SHORT_DIGEST);
    return (struct str){ p, n + SHORT_DIGEST };
}
