/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Private to json: scanning many bytes at a time. */
#include "json/json.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The first byte in [p, end) that is a quote, a backslash, a control character or not ASCII; else `end`. */
static inline const char *json_find_special(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');

    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* signed comparison: bytes from 0x80 are negative, so below a blank like control characters */
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, backslash)),
                                   _mm_cmplt_epi8(x, blank));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);

        if (mask)
            return p + __builtin_ctz(mask);
    }
#endif
    for (; p < end; p++)
        if (*p == '"' || *p == '\\' || (signed char)*p < ' ')
            return p;
    return end;
}

/* "invalid character 'x' " + where, in the words of Go's encoding/json. */
int json_fail_char(struct err **err, char c, const char *where);
#define JSON_TEXT_ENDED "unexpected end of JSON input"
