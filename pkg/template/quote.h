/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* quote: Go's quoted strings and character constants, both ways (strconv.Quote, Unquote). Private to the module. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#define GO_RUNE_ERROR 0xFFFDu
#define GO_RUNE_MAX 0x10FFFFu

/* One rune as Go decodes it: an invalid byte is U+FFFD of width 1. s.n > 0. */
size_t go_decode_rune(struct str s, uint32_t *ret);

/* Appends `s` between `quote` characters; with `ascii` everything above U+007F is escaped. */
void go_quote(struct str s, char quote, bool ascii, struct buf *out);
void go_quote_rune(uint32_t r, bool ascii, struct buf *out); /* strconv.QuoteRune */
bool go_can_backquote(struct str s);
/* At most n runes of s. */
struct str go_truncate(struct str s, size_t n);

/* The text between the quotes of "…" or `…`; false where Go says "invalid syntax". Lives in `a` or borrows from s. */
bool go_unquote(struct arena *a, struct str s, struct str *ret);
