/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* utf8: decoding with Go's rules (unicode/utf8): one invalid byte is one error of width 1. */
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

#define UTF8_INVALID UINT32_MAX /* what utf8_decode() yields for a byte that starts no valid sequence */

/* The first rune of s (s.n > 0): sets *ret and returns its width in bytes, 1 to 4. */
size_t utf8_decode(struct str s, uint32_t *ret);
bool utf8_valid(struct str s);
size_t utf8_count(struct str s); /* runes; each invalid byte counts as one */

bool utf8_is_print(
    uint32_t rune); /* Go's strconv.IsPrint: letters, marks, numbers, punctuation, symbols, U+0020 */
bool utf8_is_space(uint32_t rune);  /* Go's unicode.IsSpace */
bool utf8_is_letter(uint32_t rune); /* Go's unicode.IsLetter */
bool utf8_is_digit(uint32_t rune);  /* Go's unicode.IsDigit: decimal digits of any script */
/* Go's strings.ToLower: rune by rune; invalid bytes become U+FFFD. */
void utf8_lower(struct str s, struct buf *out);
/* Go's strconv.Quote: in double quotes, what is not printable escaped, invalid bytes as \xNN. */
void utf8_quote(struct str s, struct buf *out);
/* %#U of a rune: "U+0078 'x'", without the character when it is not printable. */
void utf8_print_code_point(uint32_t rune, struct buf *out);
/* One character of a quoted text (Go's strconv.UnquoteChar) off the front of *s; an invalid byte is U+FFFD. False where Go
 * says "invalid syntax". */
bool utf8_unquote_char(struct str *s, char quote, uint32_t *ret, bool *ret_multibyte);
/* ... all of them, appended to `out`; at most three bytes for each of s. */
bool utf8_unquote(struct str s, char quote, struct buf *out);
