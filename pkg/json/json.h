/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* json: text to values and back, with Go's rules (encoding/json): sorted keys, the last duplicate wins, bad UTF-8 and
 * lone surrogates become U+FFFD, numbers print as Go prints them. Nothing here is shared between threads. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "value/value.h"

struct json_options {
    bool
        floats; /* every number becomes a float, as in Go's decoding into interface{}; else integers stay exact */
    bool refuse_duplicates; /* PARSE naming the key */
    bool borrow;   /* strings without escapes point into `text`, which must then live as long as the values */
    int depth_max; /* 0: JSON_DEPTH_MAX */
};

/* One document, nothing but white space around it. Values live in `a`. `o` may be NULL. PARSE with Go's words
 * ("invalid character 'x' looking for beginning of value", "unexpected end of JSON input"), LIMIT for depth and when the
 * arena is full. */
NODISCARD int json_parse(struct arena *a, struct str text, const struct json_options *o, struct value *ret,
                         struct err **err);

/* Where the first complete value in a stream ends: 1 and *ret_end, 0 when more bytes are needed, or PARSE. Only the
 * framing is checked. `*state` starts zeroed and remembers how far it looked when more bytes were needed. */
struct json_scan {
    size_t at;
    int depth;
    bool in_string, escaped, started;
};
NODISCARD int json_scan_value(struct json_scan *state, struct str text, size_t *ret_end, struct err **err);

enum json_flag {
    JSON_ESCAPE_HTML = 1, /* < > & as \u003c …, as Go's json.Marshal */
    JSON_INDENT = 2,      /* two blanks a level, as MarshalIndent(v, "", "  ") */
};
/* Bytes print as base64, nil lists and maps as null. NaN and infinities cannot be printed: INVALID with Go's words.
 * LIMIT beyond VALUE_DEPTH_MAX (a map that contains itself). Values of kind object are INVALID: convert them first. */
NODISCARD int json_print(struct value v, unsigned flags, struct buf *out, struct err **err);
void json_print_string(struct str s, unsigned flags, struct buf *out); /* with the quotes */
/* A number as Go's encoding/json prints a float64: 'f' form, 'e' below 1e-6 and from 1e21. */
void json_print_float(double f, struct buf *out);
