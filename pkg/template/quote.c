/* SPDX-License-Identifier: Apache-2.0 */
#include "template/quote.h"

#include "base/utf8.h"
#include "template/func.h"
#include "template/unicode.h"

static const char hex_digits[] = "0123456789abcdef";

size_t go_decode_rune(struct str s, uint32_t *ret)
{
    size_t n;

    if ((unsigned char)s.p[0] < 0x80) {
        *ret = (unsigned char)s.p[0];
        return 1;
    }
    n = utf8_decode(s, ret);
    if (*ret == UTF8_INVALID)
        *ret = GO_RUNE_ERROR;
    return n;
}

static void add_hex(uint32_t r, int digits, struct buf *out)
{
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
        buf_addc(out, hex_digits[(r >> shift) & 0xF]);
}

static void add_escaped(uint32_t r, struct buf *out)
{
    static const char names[] = "abtnvfr"; /* U+0007 to U+000D */

    if (r >= 7 && r <= 13) {
        buf_addc(out, '\\');
        buf_addc(out, names[r - 7]);
    } else if (r < ' ' || r == 0x7F) {
        buf_adds(out, "\\x");
        add_hex(r, 2, out);
    } else if (r < 0x10000) {
        buf_adds(out, "\\u");
        add_hex(r, 4, out);
    } else {
        buf_adds(out, "\\U");
        add_hex(r, 8, out);
    }
}

static void add_quoted_rune(uint32_t r, char quote, bool ascii, struct buf *out)
{
    if (r == (unsigned char)quote || r == '\\') {
        buf_addc(out, '\\');
        buf_addc(out, (char)r);
    } else if (r < 0x80 ? r >= ' ' && r != 0x7F : !ascii && unicode_is_print(r)) {
        buf_add_rune(out, r);
    } else {
        add_escaped(r, out);
    }
}

void go_quote(struct str s, char quote, bool ascii, struct buf *out)
{
    buf_addc(out, quote);
    while (s.n > 0) {
        uint32_t r;
        size_t n = go_decode_rune(s, &r);

        if (n == 1 && r == GO_RUNE_ERROR) {
            buf_adds(out, "\\x");
            add_hex((unsigned char)s.p[0], 2, out);
        } else {
            add_quoted_rune(r, quote, ascii, out);
        }
        s = str_sub(s, n, s.n);
    }
    buf_addc(out, quote);
}

static bool valid_rune(uint32_t r)
{
    return r <= GO_RUNE_MAX && (r < 0xD800 || r > 0xDFFF);
}

void go_quote_rune(uint32_t r, bool ascii, struct buf *out)
{
    buf_addc(out, '\'');
    add_quoted_rune(valid_rune(r) ? r : GO_RUNE_ERROR, '\'', ascii, out);
    buf_addc(out, '\'');
}

bool go_can_backquote(struct str s)
{
    while (s.n > 0) {
        uint32_t r;
        size_t n = go_decode_rune(s, &r);

        if (n > 1 ? r == 0xFEFF : r == GO_RUNE_ERROR || (r < ' ' && r != '\t') || r == '`' || r == 0x7F)
            return false;
        s = str_sub(s, n, s.n);
    }
    return true;
}

struct str go_truncate(struct str s, size_t n)
{
    struct str rest = s;

    while (rest.n > 0 && n-- > 0) {
        uint32_t r;

        rest = str_sub(rest, go_decode_rune(rest, &r), rest.n);
    }
    return str_sub(s, 0, s.n - rest.n);
}

void tpl_print_quoted(struct str s, struct buf *out)
{
    go_quote(s, '"', false, out);
}

/* Go drops carriage returns from raw strings. */
static struct str raw_text(struct arena *a, struct str s)
{
    char *p;
    size_t n = 0;

    if (str_find_char(s, '\r') == STR_NPOS)
        return s;
    p = arena_alloc_bytes(a, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '\r')
            p[n++] = s.p[i];
    return (struct str){ p, n };
}

/* Nearly all strings are. */
static bool is_plain_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80 || s.p[i] == '\\' || s.p[i] == '"' || s.p[i] == '\n')
            return false;
    return true;
}

bool go_unquote(struct arena *a, struct str s, struct str *ret)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(SIZE_MAX / 4);
    struct str in;

    if (s.n < 2 || s.p[0] != s.p[s.n - 1])
        return false;
    in = str_sub(s, 1, s.n - 1);
    if (s.p[0] == '`') {
        *ret = raw_text(a, in);
        return str_find_char(in, '`') == STR_NPOS;
    }
    if (is_plain_ascii(in)) {
        *ret = in;
        return true;
    }
    if (str_find_char(in, '\n') != STR_NPOS)
        return false;
    if (!utf8_unquote(in, '"', &out))
        return false;
    *ret = arena_dup(a, buf_str(&out));
    return true;
}
