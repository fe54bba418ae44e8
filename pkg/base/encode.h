/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* encode: bytes as text and back: base64 and base32 (RFC 4648), hex, URL escapes, shell-safe printing. */
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum base64_alphabet { BASE64_STD, BASE64_URL, BASE64_RAW_URL /* no padding */ };
void base64_encode(enum base64_alphabet alphabet, struct str s, struct buf *out);
/* Appends the decoded bytes. As Go's encoding/base64: CR and LF are skipped, padding is required (except RAW_URL).
 * On bad input returns false and sets *ret_at (may be NULL) to the offset Go's CorruptInputError names. */
bool base64_decode(enum base64_alphabet alphabet, struct str s, struct buf *out, size_t *ret_at);

void base32_encode(struct str s, struct buf *out);
bool base32_decode(struct str s, struct buf *out, size_t *ret_at);

void hex_encode(struct str s, struct buf *out); /* lower case */
bool hex_decode(struct str s, struct buf *out);

/* Percent-escapes all but unreserved characters (RFC 3986 2.3), and those in `keep`. */
void url_escape(struct str s, const char *keep, struct buf *out);
bool url_unescape(struct str s, struct buf *out); /* false at a malformed escape; '+' stays */

/* For logs and terminals: control characters, DEL, C1 and bidi marks and invalid UTF-8 come out as \xNN / \uNNNN. */
void escape_controls(struct str s, struct buf *out);
