/* SPDX-License-Identifier: Apache-2.0 */
#include <utf8proc.h>

#include "base/utf8.h"

bool utf8_is_print(uint32_t rune)
{
    if (rune < 0x7f)
        return rune >= 0x20;
    if (rune > 0x10ffff)
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
