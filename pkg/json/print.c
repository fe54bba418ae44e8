/* SPDX-License-Identifier: Apache-2.0 */
/* Behaves as Go's json.Marshal and MarshalIndent (encode.go, indent.go). Iterative: depth costs heap, not stack. */
#include <math.h>
#include <stdlib.h>

#include "base/encode.h"
#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "json/json_int.h"

struct level {
    struct value of;
    uint32_t next;
};

struct printer {
    struct buf *out;
    unsigned flags;
    struct level *levels;
    size_t depth, cap;
    struct err **err;
};

/* ---- strings ---- */

static bool is_html(char c)
{
    return c == '<' || c == '>' || c == '&';
}

/* The first byte that cannot be copied as it is. */
static const char *find_unsafe(const char *p, const char *end, bool html)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');
    const __m128i lt = _mm_set1_epi8('<'), gt = _mm_set1_epi8('>'), amp = _mm_set1_epi8('&');

    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, backslash)),
                                   _mm_cmplt_epi8(x, blank));
        unsigned mask;

        if (html)
            hit = _mm_or_si128(hit, _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, lt), _mm_cmpeq_epi8(x, gt)),
                                                 _mm_cmpeq_epi8(x, amp)));
        mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask)
            return p + __builtin_ctz(mask);
    }
#endif
    for (; p < end; p++)
        if (*p == '"' || *p == '\\' || (signed char)*p < ' ' || (html && is_html(*p)))
            return p;
    return end;
}

static void add_escape(struct buf *out, char c)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = memchr(named, c, sizeof(named) - 1);

    if (at) {
        buf_addc(out, '\\');
        buf_addc(out, letters[at - named]);
    } else {
        buf_addf(out, "\\u%04x", (unsigned char)c);
    }
}

/* buf_addc() without a call where there is room. */
static inline void put(struct buf *out, char c)
{
    if (out->n + 1 < out->cap && out->n < out->max && !out->failed) {
        out->p[out->n++] = c;
        out->p[out->n] = '\0';
    } else {
        buf_addc(out, c);
    }
}

/* A string with nothing to escape in one piece. */
static bool put_plain(struct str s, bool html, struct buf *out)
{
    char *to;

    if (s.n > 0 && find_unsafe(s.p, s.p + s.n, html) != s.p + s.n)
        return false;
    to = buf_reserve(out, s.n + 2);
    if (!to)
        return true; /* it does not fit: the buffer knows */
    to[0] = '"';
    if (s.n > 0)
        memcpy(to + 1, s.p, s.n);
    to[s.n + 1] = '"';
    buf_commit(out, s.n + 2);
    return true;
}

void json_print_string(struct str s, unsigned flags, struct buf *out)
{
    const char *p = s.p, *end = s.p + s.n, *q;

    if (put_plain(s, flags & JSON_ESCAPE_HTML, out))
        return;
    put(out, '"');
    while (p < end) {
        uint32_t rune;
        size_t width;

        q = find_unsafe(p, end, flags & JSON_ESCAPE_HTML);
        buf_add(out, p, (size_t)(q - p));
        p = q;
        if (p == end)
            break;
        if ((signed char)*p >= 0) {
            add_escape(out, *p++);
            continue;
        }
        width = utf8_decode((struct str){ p, (size_t)(end - p) }, &rune);
        if (rune == UTF8_INVALID)
            buf_adds(out, "\\ufffd");
        else if (rune == 0x2028 || rune == 0x2029)
            buf_addf(out, "\\u%04x", rune);
        else
            buf_add(out, p, width);
        p += width;
    }
    put(out, '"');
}

/* ---- numbers ---- */

static void print_uint(uint64_t u, bool negative, struct buf *out)
{
    char text[24];
    char *p = text + sizeof(text);

    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (negative)
        *--p = '-';
    buf_add(out, p, (size_t)(text + sizeof(text) - p));
}

static void print_float(double f, int bits, struct buf *out)
{
    double abs = fabs(f);
    size_t from = out->n;

    if (abs < 1e15 && f == trunc(f) && !(f == 0 && signbit(f))) {
        print_uint((uint64_t)abs, f < 0, out);
        return;
    }
    if (abs != 0 && (bits == 32 ? (float)abs < 1e-6F || (float)abs >= 1e21F : abs < 1e-6 || abs >= 1e21)) {
        number_format_float(f, 'e', -1, bits, out);
        /* e-09 becomes e-9 */
        if (out->n - from >= 4 && out->p[out->n - 4] == 'e' && out->p[out->n - 3] == '-' &&
            out->p[out->n - 2] == '0') {
            out->p[out->n - 2] = out->p[out->n - 1];
            buf_truncate(out, out->n - 1);
        }
        return;
    }
    number_format_float(f, 'f', -1, bits, out);
}

void json_print_float(double f, struct buf *out)
{
    print_float(f, 64, out);
}

/* ---- values ---- */

static void newline(struct printer *p)
{
    if (!(p->flags & JSON_INDENT))
        return;
    put(p->out, '\n');
    buf_add_repeat(p->out, ' ', 2 * p->depth);
}

static NODISCARD int open_level(struct printer *p, struct value v)
{
    bool map = v.kind == VALUE_MAP;

    if (v.flags & VALUE_NIL) {
        buf_adds(p->out, "null");
        return 0;
    }
    if (value_len(v) == 0) {
        buf_adds(p->out, map ? "{}" : "[]");
        return 0;
    }
    if (p->depth >= VALUE_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT, "json: unsupported value: encountered a cycle via %s",
                       map ? "map[string]interface {}" : "[]interface {}");
    ARRAY_GROW(p->levels, p->cap, p->depth + 1);
    p->levels[p->depth++] = (struct level){ v, 0 };
    put(p->out, map ? '{' : '[');
    return 0;
}

static NODISCARD int print_number(struct printer *p, struct value v)
{
    if (isfinite(v.f)) {
        print_float(v.f, v.type == VALUE_TYPE_FLOAT32 ? 32 : 64, p->out);
        return 0;
    }
    return err_set(p->err, ERRC_INVALID, "json: unsupported value: %s",
                   isnan(v.f) ? "NaN"
                   : v.f > 0  ? "+Inf"
                              : "-Inf");
}

static void print_bytes(struct printer *p, struct value v)
{
    if (v.flags & VALUE_NIL) {
        buf_adds(p->out, "null");
        return;
    }
    put(p->out, '"');
    base64_encode(BASE64_STD, value_str(v), p->out);
    put(p->out, '"');
}

/* A scalar is printed; a container is opened, its items follow. */
static NODISCARD int print_value(struct printer *p, struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        buf_adds(p->out, "null");
        return 0;
    case VALUE_BOOL:
        buf_adds(p->out, v.b ? "true" : "false");
        return 0;
    case VALUE_INT:
        print_uint(v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i, v.i < 0, p->out);
        return 0;
    case VALUE_UINT:
        print_uint(v.u, false, p->out);
        return 0;
    case VALUE_FLOAT:
        return print_number(p, v);
    case VALUE_STRING:
        json_print_string(value_str(v), p->flags, p->out);
        return 0;
    case VALUE_BYTES:
        print_bytes(p, v);
        return 0;
    case VALUE_LIST:
    case VALUE_MAP:
        return open_level(p, v);
    case VALUE_OBJECT:
        break;
    }
    return err_set(p->err, ERRC_INVALID, "json: unsupported type: object");
}

/* The next item of the innermost container, or its end. */
static NODISCARD int print_next(struct printer *p)
{
    struct level *l = &p->levels[p->depth - 1];
    const struct value_entry *e;
    uint32_t i = l->next;

    if (i == value_len(l->of)) {
        p->depth--;
        newline(p);
        put(p->out, l->of.kind == VALUE_MAP ? '}' : ']');
        return 0;
    }
    if (i > 0)
        put(p->out, ',');
    l->next++;
    newline(p);
    if (l->of.kind == VALUE_LIST)
        return print_value(p, l->of.list[i]);
    e = value_entry_at(l->of, i);
    json_print_string(e->key, p->flags, p->out);
    put(p->out, ':');
    if (p->flags & JSON_INDENT)
        put(p->out, ' ');
    return print_value(p, e->v);
}

int json_print(struct value v, unsigned flags, struct buf *out, struct err **err)
{
    struct printer p = { .out = out, .flags = flags, .err = err };
    size_t from = out->n;
    int r = print_value(&p, v);

    while (r == 0 && p.depth > 0 && !out->failed)
        r = print_next(&p);
    free(p.levels);
    if (r == 0)
        r = buf_check(out, err);
    if (r < 0 && out->p)
        buf_truncate(out, from);
    return r;
}
