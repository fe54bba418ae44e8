/* SPDX-License-Identifier: Apache-2.0 */
#include "base/encode.h"

#include <string.h>

#include "base/utf8.h"

static const char b64_std[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char b64_url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char b32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

void base64_encode(enum base64_alphabet alphabet, struct str s, struct buf *out)
{
    const char *table = alphabet == BASE64_STD ? b64_std : b64_url;
    const unsigned char *p = (const unsigned char *)s.p;
    char *to = buf_reserve(out, (s.n + 2) / 3 * 4);
    size_t i, n = 0;

    if (!to)
        return;
    for (i = 0; i + 3 <= s.n; i += 3) {
        to[n++] = table[p[i] >> 2];
        to[n++] = table[(p[i] & 3) << 4 | p[i + 1] >> 4];
        to[n++] = table[(p[i + 1] & 15) << 2 | p[i + 2] >> 6];
        to[n++] = table[p[i + 2] & 63];
    }
    if (i < s.n) {
        bool two = i + 2 == s.n;

        to[n++] = table[p[i] >> 2];
        to[n++] = table[(p[i] & 3) << 4 | (two ? p[i + 1] >> 4 : 0)];
        if (two)
            to[n++] = table[(p[i + 1] & 15) << 2];
        if (alphabet != BASE64_RAW_URL) {
            to[n++] = '=';
            if (!two)
                to[n++] = '=';
        }
    }
    buf_commit(out, n);
}

static int value_of(const char *table, size_t n, char c)
{
    const char *p = memchr(table, c, n);

    return p ? (int)(p - table) : -1;
}

static bool is_newline(char c)
{
    return c == '\n' || c == '\r';
}

static size_t skip_newlines(struct str s, size_t at)
{
    while (at < s.n && is_newline(s.p[at]))
        at++;
    return at;
}

/* Adds the whole bytes of `have` characters of `bits` bits each. */
static void add_group(uint64_t acc, size_t have, int bits, struct buf *out)
{
    for (int left = (int)have * bits; left >= 8; left -= 8)
        buf_addc(out, (char)(acc >> (left - 8) & 0xff));
}

/* What follows the first '=' of a group that has `have` characters; `at` is behind it. */
static bool end_base64(struct str s, size_t at, size_t have, size_t *ret_at)
{
    if (have < 2) {
        *ret_at = at - 1;
        return false;
    }
    if (have == 2) {
        at = skip_newlines(s, at);
        if (at == s.n || s.p[at] != '=') {
            *ret_at = at == s.n ? at : at - 1;
            return false;
        }
        at++;
    }
    *ret_at = skip_newlines(s, at);
    return *ret_at == s.n;
}

bool base64_decode(enum base64_alphabet alphabet, struct str s, struct buf *out, size_t *ret_at)
{
    const char *table = alphabet == BASE64_STD ? b64_std : b64_url;
    bool padded = alphabet != BASE64_RAW_URL;
    size_t have = 0, ignored, *at = ret_at ? ret_at : &ignored;
    uint64_t acc = 0;

    for (size_t i = 0; i < s.n; i++) {
        int v = value_of(table, 64, s.p[i]);

        if (v < 0 && is_newline(s.p[i]))
            continue;
        if (v < 0 && s.p[i] == '=' && padded) {
            if (!end_base64(s, i + 1, have, at))
                return false;
            add_group(acc, have, 6, out);
            return true;
        }
        if (v < 0) {
            *at = i;
            return false;
        }
        acc = acc << 6 | (uint64_t)v;
        if (++have == 4) {
            add_group(acc, 4, 6, out);
            acc = have = 0;
        }
    }
    if (have > 0 && (padded || have == 1)) {
        *at = s.n - have; /* where Go takes the unfinished group to start */
        return false;
    }
    add_group(acc, have, 6, out);
    return true;
}

void base32_encode(struct str s, struct buf *out)
{
    for (size_t i = 0; i < s.n; i += 5) {
        size_t have = MIN(s.n - i, (size_t)5), chars = (have * 8 + 4) / 5;
        uint64_t acc = 0;

        for (size_t k = 0; k < 5; k++)
            acc = acc << 8 | (k < have ? (unsigned char)s.p[i + k] : 0);
        for (size_t k = 0; k < 8; k++)
            buf_addc(out, k < chars ? b32[acc >> (35 - 5 * k) & 31] : '=');
    }
}

/* The padding behind the '=' at i - 1 of a group that has `have` characters; at most seven characters are left. */
static bool end_base32(struct str s, size_t i, size_t have, size_t *ret_at)
{
    size_t left = s.n - i;

    if (left + have < 7) {
        *ret_at = s.n;
        return false;
    }
    for (size_t k = 0; k + have < 7; k++) {
        if (left > k && s.p[i + k] != '=') {
            *ret_at = i + k - 1;
            return false;
        }
    }
    *ret_at = i - 1;
    return have != 3 && have != 6;
}

static bool decode_base32(struct str s, struct buf *out, size_t *ret_at)
{
    size_t have = 0;
    uint64_t acc = 0;

    for (size_t i = 0; i < s.n; i++) {
        int v = value_of(b32, 32, s.p[i]);

        if (s.p[i] == '=' && have >= 2 && s.n - i - 1 < 8) {
            if (!end_base32(s, i + 1, have, ret_at))
                return false;
            add_group(acc, have, 5, out);
            return true;
        }
        if (v < 0) {
            *ret_at = i;
            return false;
        }
        acc = acc << 5 | (uint64_t)v;
        if (++have == 8) {
            add_group(acc, 8, 5, out);
            acc = have = 0;
        }
    }
    *ret_at = s.n - have;
    return have == 0;
}

/* Go takes the line breaks out first: its offsets do not count them. */
bool base32_decode(struct str s, struct buf *out, size_t *ret_at)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(s.n);
    size_t ignored;

    for (size_t i = 0; i < s.n; i++)
        if (!is_newline(s.p[i]))
            buf_addc(&text, s.p[i]);
    return decode_base32(buf_str(&text), out, ret_at ? ret_at : &ignored);
}

void hex_encode(struct str s, struct buf *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < s.n; i++) {
        buf_addc(out, digits[(unsigned char)s.p[i] >> 4]);
        buf_addc(out, digits[(unsigned char)s.p[i] & 15]);
    }
}

static int hex_value(char c)
{
    if (ascii_is_digit(c))
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hex_decode(struct str s, struct buf *out)
{
    if (s.n % 2 != 0)
        return false;
    for (size_t i = 0; i < s.n; i += 2) {
        int hi = hex_value(s.p[i]), lo = hex_value(s.p[i + 1]);

        if (hi < 0 || lo < 0)
            return false;
        buf_addc(out, (char)(hi << 4 | lo));
    }
    return true;
}

void url_escape(struct str s, const char *keep, struct buf *out)
{
    size_t from = 0;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (ascii_is_alnum(c) || ascii_is_one_of(c, "-._~") || ascii_is_one_of(c, keep))
            continue;
        buf_add(out, s.p + from, i - from);
        buf_addf(out, "%%%02X", (unsigned char)c);
        from = i + 1;
    }
    buf_add(out, s.p + from, s.n - from);
}

bool url_unescape(struct str s, struct buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '%') {
            buf_addc(out, s.p[i]);
            continue;
        }
        if (i + 2 >= s.n || hex_value(s.p[i + 1]) < 0 || hex_value(s.p[i + 2]) < 0)
            return false;
        buf_addc(out, (char)(hex_value(s.p[i + 1]) << 4 | hex_value(s.p[i + 2])));
        i += 2;
    }
    return true;
}

static bool is_unsafe(uint32_t r)
{
    return r < 0x20 || (r >= 0x7f && r < 0xa0) || r == 0x200e || r == 0x200f ||
           (r >= 0x2028 && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) || r == 0xfeff;
}

void escape_controls(struct str s, struct buf *out)
{
    while (s.n > 0) {
        uint32_t r;
        size_t n = utf8_decode(s, &r);

        if (n == 1 && r == UTF8_INVALID)
            buf_addf(out, "\\x%02x", (unsigned char)s.p[0]);
        else if (r == '\n')
            buf_adds(out, "\\n");
        else if (r == '\t')
            buf_adds(out, "\\t");
        else if (is_unsafe(r))
            buf_addf(out, "\\u%04x", r);
        else
            buf_add(out, s.p, n);
        s = str_sub(s, n, s.n);
    }
}
