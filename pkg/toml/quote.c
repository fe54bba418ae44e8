/* SPDX-License-Identifier: Apache-2.0 */
#include <utf8proc.h>

#include "base/utf8.h"
#include "toml/toml_int.h"

void toml_quote(struct str s, struct buf *out)
{
    static const char named[] = "\"\\\b\t\n\f\r", letters[] = "\"\\btnfr";

    buf_addc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        const char *at = memchr(named, c, sizeof(named) - 1);

        if (at)
            buf_addf(out, "\\%c", letters[at - named]);
        else if (c < 0x20 || c == 0x7f)
            buf_addf(out, "\\u%04x", c);
        else
            buf_addc(out, (char)c);
    }
    buf_addc(out, '"');
}

void toml_quote_key(struct str s, struct buf *out)
{
    bool bare = s.n > 0;

    for (size_t i = 0; i < s.n && bare; i++)
        bare = ascii_is_alnum(s.p[i]) || s.p[i] == '_' || s.p[i] == '-';
    if (bare)
        buf_addstr(out, s);
    else
        toml_quote(s, out);
}

static bool is_print(uint32_t rune)
{
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)rune);

    return rune == ' ' || (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_SO);
}

static void add_quoted_rune(uint32_t rune, char quote, struct buf *out)
{
    static const char named[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
    const char *at = rune > 0 && rune < 0x80 ? memchr(named, (int)rune, sizeof(named) - 1) : NULL;

    if (rune == (unsigned char)quote || rune == '\\')
        buf_addf(out, "\\%c", (int)rune);
    else if (is_print(rune))
        buf_add_rune(out, rune);
    else if (at)
        buf_addf(out, "\\%c", letters[at - named]);
    else if (rune < 0x80)
        buf_addf(out, "\\x%02x", rune);
    else
        buf_addf(out, rune < 0x10000 ? "\\u%04x" : "\\U%08x", rune);
}

void toml_quote_go(struct str s, struct buf *out)
{
    buf_addc(out, '"');
    while (s.n > 0) {
        uint32_t rune;
        size_t width = utf8_decode(s, &rune);

        if (rune == UTF8_INVALID)
            buf_addf(out, "\\x%02x", (unsigned char)s.p[0]);
        else
            add_quoted_rune(rune, '"', out);
        s = str_sub(s, width, s.n);
    }
    buf_addc(out, '"');
}

void toml_quote_go_rune(uint32_t rune, struct buf *out)
{
    buf_addc(out, '\'');
    add_quoted_rune(rune, '\'', out);
    buf_addc(out, '\'');
}
