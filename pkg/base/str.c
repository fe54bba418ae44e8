/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <pthread.h>
#include <stdlib.h>

bool str_ieq(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (ascii_lower(a.p[i]) != ascii_lower(b.p[i]))
            return false;
    return true;
}

bool str_has_prefix(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_has_suffix(struct str s, struct str suffix)
{
    return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + (s.n - suffix.n), suffix.p, suffix.n) == 0);
}

bool str_contains(struct str s, struct str part)
{
    return str_find(s, part) != STR_NPOS;
}

/* Two bytes, such as "{{": memchr() passes over the rest much faster than memmem() does. */
static size_t find_pair(struct str s, const char *pair)
{
    const char *p = s.p, *end = s.p + s.n;

    while ((p = memchr(p, pair[0], (size_t)(end - p))) && p + 1 < end) {
        if (p[1] == pair[1])
            return (size_t)(p - s.p);
        p++;
    }
    return STR_NPOS;
}

size_t str_find(struct str s, struct str part)
{
    const char *p;

    if (part.n == 0)
        return 0;
    if (s.n < part.n)
        return STR_NPOS;
    if (part.n == 2)
        return find_pair(s, part.p);
    p = memmem(s.p, s.n, part.p, part.n);
    return p ? (size_t)(p - s.p) : STR_NPOS;
}

size_t str_find_char(struct str s, char c)
{
    const char *p = s.n ? memchr(s.p, c, s.n) : NULL;

    return p ? (size_t)(p - s.p) : STR_NPOS;
}

size_t str_rfind_char(struct str s, char c)
{
    const char *p = s.n ? memrchr(s.p, c, s.n) : NULL;

    return p ? (size_t)(p - s.p) : STR_NPOS;
}

struct str str_trim(struct str s)
{
    while (s.n > 0 && ascii_is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && ascii_is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

struct str str_trim_chars(struct str s, const char *chars)
{
    while (s.n > 0 && ascii_is_one_of(s.p[0], chars)) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && ascii_is_one_of(s.p[s.n - 1], chars))
        s.n--;
    return s;
}

struct str str_trim_prefix(struct str s, struct str prefix)
{
    return str_has_prefix(s, prefix) ? str_sub(s, prefix.n, s.n) : s;
}

struct str str_trim_suffix(struct str s, struct str suffix)
{
    return str_has_suffix(s, suffix) ? str_sub(s, 0, s.n - suffix.n) : s;
}

bool str_split(struct str *s, char sep, struct str *head)
{
    size_t i;

    if (!s->p)
        return false;
    i = str_find_char(*s, sep);
    if (i == STR_NPOS) {
        *head = *s;
        *s = STR_NONE;
    } else {
        *head = str_sub(*s, 0, i);
        *s = str_sub(*s, i + 1, s->n);
    }
    return true;
}

struct str str_basename(struct str path)
{
    size_t i = str_rfind_char(path, '/');

    return i == STR_NPOS ? path : str_sub(path, i + 1, path.n);
}

struct str str_dirname(struct str path)
{
    size_t i = str_rfind_char(path, '/');

    return i == STR_NPOS ? STR("") : str_sub(path, 0, i);
}

/* SipHash-1-3 with a random key, so that nobody outside can choose colliding names.
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF". */
static uint64_t hash_key[2];
static pthread_once_t hash_once = PTHREAD_ONCE_INIT;

static void hash_init(void)
{
    arc4random_buf(hash_key, sizeof(hash_key));
}

static inline uint64_t rotl(uint64_t x, int b)
{
    return (x << b) | (x >> (64 - b));
}

#define SIPROUND(v0, v1, v2, v3)               \
    do {                                       \
        v0 += v1, v1 = rotl(v1, 13), v1 ^= v0; \
        v0 = rotl(v0, 32);                     \
        v2 += v3, v3 = rotl(v3, 16), v3 ^= v2; \
        v0 += v3, v3 = rotl(v3, 21), v3 ^= v0; \
        v2 += v1, v1 = rotl(v1, 17), v1 ^= v2; \
        v2 = rotl(v2, 32);                     \
    } while (0)

uint64_t str_hash(struct str s)
{
    uint64_t v0, v1, v2, v3, m, last = (uint64_t)s.n << 56;
    size_t i;

    pthread_once(&hash_once, hash_init);
    v0 = hash_key[0] ^ 0x736f6d6570736575u;
    v1 = hash_key[1] ^ 0x646f72616e646f6du;
    v2 = hash_key[0] ^ 0x6c7967656e657261u;
    v3 = hash_key[1] ^ 0x7465646279746573u;
    for (i = 0; i + 8 <= s.n; i += 8) {
        memcpy(&m, s.p + i, 8);
        v3 ^= m;
        SIPROUND(v0, v1, v2, v3);
        v0 ^= m;
    }
    for (size_t k = 0; i + k < s.n; k++)
        last |= (uint64_t)(unsigned char)s.p[i + k] << (8 * k);
    v3 ^= last;
    SIPROUND(v0, v1, v2, v3);
    v0 ^= last;
    v2 ^= 0xff;
    SIPROUND(v0, v1, v2, v3);
    SIPROUND(v0, v1, v2, v3);
    SIPROUND(v0, v1, v2, v3);
    return v0 ^ v1 ^ v2 ^ v3;
}

char *str_dup(struct str s)
{
    return xstrndup(s.p, s.n);
}

bool str_to_uint64(struct str s, uint64_t *ret)
{
    uint64_t v = 0;

    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!ascii_is_digit(s.p[i]) || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return false;
    }
    *ret = v;
    return true;
}

bool str_to_int64(struct str s, int64_t *ret)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    uint64_t v;

    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_sub(s, 1, s.n);
    if (!str_to_uint64(s, &v) || v > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}
