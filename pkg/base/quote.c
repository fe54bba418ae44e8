/* SPDX-License-Identifier: Apache-2.0 */
#include <utf8proc.h>

#include "base/utf8.h"

#define RUNE_ERROR 0xFFFDu
#define RUNE_MAX 0x10FFFFu

bool utf8_is_print(uint32_t rune)
{
    if (rune < 0x7f)
        return rune >= 0x20;
    if (rune > RUNE_MAX)
        return false;
    switch (utf8proc_category((utf8proc_int32_t)rune)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
        return false;
    default:
        return true;
    }
}

bool utf8_is_space(uint32_t rune)
{
    if (rune < 0x80)
        return ascii_is_space((char)rune);
    return rune == 0x85 || rune == 0xa0 || rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) ||
           rune == 0x2028 || rune == 0x2029 || rune == 0x202f || rune == 0x205f || rune == 0x3000;
}

bool utf8_is_letter(uint32_t rune)
{
    if (rune > RUNE_MAX)
        return false;
    switch (utf8proc_category((utf8proc_int32_t)rune)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return true;
    default:
        return false;
    }
}

bool utf8_is_digit(uint32_t rune)
{
    return rune <= RUNE_MAX && utf8proc_category((utf8proc_int32_t)rune) == UTF8PROC_CATEGORY_ND;
}

static bool valid_rune(uint32_t r)
{
    return r <= RUNE_MAX && (r < 0xD800 || r > 0xDFFF);
}

static void quote_rune(uint32_t r, struct buf *out)
{
    static const char letters[] = "abtnvfr"; /* from 0x07 */

    if (r == '"' || r == '\\')
        buf_addf(out, "\\%c", (char)r);
    else if (utf8_is_print(r))
        buf_add_rune(out, r);
    else if (r >= 0x07 && r <= 0x0d)
        buf_addf(out, "\\%c", letters[r - 0x07]);
    else if (r < 0x20 || r == 0x7f)
        buf_addf(out, "\\x%02x", r);
    else if (r < 0x10000)
        buf_addf(out, "\\u%04x", r);
    else
        buf_addf(out, "\\U%08x", r);
}

void utf8_quote(struct str s, struct buf *out)
{
    buf_addc(out, '"');
    for (size_t i = 0; i < s.n;) {
        uint32_t r;
        size_t width = utf8_decode(str_sub(s, i, s.n), &r);

        if (r == UTF8_INVALID)
            buf_addf(out, "\\x%02x", (unsigned char)s.p[i]);
        else
            quote_rune(r, out);
        i += width;
    }
    buf_addc(out, '"');
}

void utf8_print_code_point(uint32_t r, struct buf *out)
{
    buf_addf(out, "U+%04X", (unsigned)r);
    if (valid_rune(r) && utf8_is_print(r)) {
        buf_adds(out, " '");
        buf_add_rune(out, r);
        buf_addc(out, '\'');
    }
}

static int hex_value(char c)
{
    if (ascii_is_digit(c))
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool unquote_hex(struct str *s, size_t digits, uint32_t *ret)
{
    uint32_t r = 0;

    if (s->n < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int v = hex_value(s->p[i]);

        if (v < 0)
            return false;
        r = r << 4 | (uint32_t)v;
    }
    *s = str_sub(*s, digits, s->n);
    *ret = r;
    return true;
}

static bool unquote_octal(struct str *s, char first, uint32_t *ret)
{
    uint32_t r = (uint32_t)(first - '0');

    if (s->n < 2)
        return false;
    for (size_t i = 0; i < 2; i++) {
        if (s->p[i] < '0' || s->p[i] > '7')
            return false;
        r = r << 3 | (uint32_t)(s->p[i] - '0');
    }
    *s = str_sub(*s, 2, s->n);
    *ret = r;
    return r <= 255;
}

/* What follows a backslash. */
static bool unquote_escape(struct str *s, char quote, uint32_t *ret, bool *ret_multibyte)
{
    static const char names[] = "abtnvfr";
    const char *name;
    char c;

    if (s->n == 0)
        return false;
    c = s->p[0];
    *s = str_sub(*s, 1, s->n);
    name = c ? strchr(names, c) : NULL;
    if (name) {
        *ret = (uint32_t)(name - names) + 7;
        return true;
    }
    switch (c) {
    case 'x':
        return unquote_hex(s, 2, ret);
    case 'u':
    case 'U':
        *ret_multibyte = true;
        return unquote_hex(s, c == 'u' ? 4 : 8, ret) && valid_rune(*ret);
    case '\\':
        *ret = '\\';
        return true;
    case '\'':
    case '"':
        *ret = (unsigned char)c;
        return c == quote;
    default:
        return c >= '0' && c <= '7' && unquote_octal(s, c, ret);
    }
}

bool utf8_unquote_char(struct str *s, char quote, uint32_t *ret, bool *ret_multibyte)
{
    char c;

    *ret_multibyte = false;
    if (s->n == 0)
        return false;
    c = s->p[0];
    if (c == quote && (quote == '\'' || quote == '"'))
        return false;
    if (c == '\\') {
        *s = str_sub(*s, 1, s->n);
        return unquote_escape(s, quote, ret, ret_multibyte);
    }
    *ret_multibyte = (unsigned char)c >= 0x80;
    *s = str_sub(*s, utf8_decode(*s, ret), s->n);
    if (*ret == UTF8_INVALID)
        *ret = RUNE_ERROR;
    return true;
}

bool utf8_unquote(struct str s, char quote, struct buf *out)
{
    while (s.n > 0) {
        uint32_t r;
        bool multibyte;

        if (!utf8_unquote_char(&s, quote, &r, &multibyte))
            return false;
        if (r < 0x80 || !multibyte)
            buf_addc(out, (char)r);
        else
            buf_add_rune(out, r);
    }
    return true;
}
