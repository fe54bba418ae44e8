/* SPDX-License-Identifier: Apache-2.0 */
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

void toml_quote_rune(uint32_t rune, struct buf *out)
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
