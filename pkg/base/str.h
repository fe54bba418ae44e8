/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* str: a borrowed view of bytes, passed by value. Not NUL-terminated; the bytes belong to somebody else. */
#include <string.h>

#include "base/base.h"

struct str {
    const char *p; /* may be NULL when n is 0 */
    size_t n;
};

#define STR(lit) ((struct str){ ("" lit), sizeof(lit) - 1 })
#define STR_NONE ((struct str){ NULL, 0 })
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)MIN((s).n, (size_t)INT32_MAX), ((s).n ? (s).p : "")

static inline struct str str_from(const char *z) /* z may be NULL: the empty view */
{
    return (struct str){ z, z ? strlen(z) : 0 };
}

static inline struct str str_sub(struct str s, size_t from, size_t to) /* from <= to <= s.n */
{
    return (struct str){ s.p + from, to - from };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || (a.p[0] == b.p[0] && memcmp(a.p, b.p, a.n) == 0));
}

static inline int str_cmp(struct str a, struct str b) /* bytewise, as strcmp() */
{
    size_t n = MIN(a.n, b.n);
    int c = n ? (unsigned char)a.p[0] - (unsigned char)b.p[0] : 0;

    if (c == 0 && n > 1)
        c = memcmp(a.p, b.p, n);
    if (c != 0)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

bool str_ieq(struct str a, struct str b); /* ASCII letters fold */
bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);
bool str_contains(struct str s, struct str part);
#define STR_NPOS SIZE_MAX
size_t str_find(struct str s, struct str part);             /* first offset or STR_NPOS */
size_t str_find_char(struct str s, char c);                 /* first offset or STR_NPOS */
size_t str_rfind_char(struct str s, char c);                /* last offset or STR_NPOS */
struct str str_trim(struct str s);                          /* ASCII white space off both ends */
struct str str_trim_chars(struct str s, const char *chars); /* these bytes off both ends */
struct str str_trim_prefix(struct str s, struct str prefix);
struct str str_trim_suffix(struct str s, struct str suffix);

/* Splits at the first `sep`: *head gets what is before it, the rest stays in *s. Without `sep` *head gets all,
 * *s becomes empty with p NULL. Returns false when *s had p NULL on entry: so a loop sees each piece once. */
bool str_split(struct str *s, char sep, struct str *head);

/* Path helpers on '/' separated names; nothing is resolved. */
struct str str_basename(struct str path);
struct str str_dirname(struct str path); /* "" when there is no slash */

uint64_t str_hash(struct str s); /* keyed with a per-process random seed: not stable between runs */

char *str_dup(struct str s) NODISCARD; /* NUL-terminated copy; owned */

/* Decimal integers, whole string, optional sign; false when it is not one or does not fit. */
bool str_to_int64(struct str s, int64_t *ret);
bool str_to_uint64(struct str s, uint64_t *ret);

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}
static inline char ascii_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}
static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool ascii_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool ascii_is_alnum(char c)
{
    return ascii_is_digit(c) || ascii_is_alpha(c);
}
static inline bool ascii_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}
/* Is c in `set`? NUL never is: what comes from outside may hold it. */
static inline bool ascii_is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}
