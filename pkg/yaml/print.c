/* SPDX-License-Identifier: Apache-2.0 */
/* Trees to text: sigs.k8s.io/yaml Marshal (JSON text read by go-yaml v2 and printed by it), and the encoder of go-yaml v3
 * (encode.go). Iterative: depth costs heap, not stack. */
#include <math.h>
#include <stdlib.h>

#include "base/encode.h"
#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "yaml/emit.h"
#include "json/json.h"

/* libyaml: a key and its colon are at most so many characters apart */
#define SIMPLE_KEY_MAX 1024
/* longer keys are written as "? key" */
#define SHORT_KEY_MAX 128

struct level {
    struct value of;
    uint32_t next;
    size_t order; /* where its part of printer.order begins */
    int indent;   /* of what is around it */
};

struct printer {
    struct yml_emitter e;
    struct level *levels;
    size_t depth, cap;
    uint32_t *order; /* of the keys of all open maps */
    size_t n_order, cap_order;
    struct arena *arena; /* text that had to be changed; made when first needed */
    struct err **err;
};

#define BINARY_TAG "!!binary"

/* ---- strings ---- */

static struct arena *scratch(struct printer *p)
{
    if (!p->arena)
        p->arena = arena_new(SIZE_MAX / 2);
    return p->arena;
}

/* A raw next line in a JSON string is folded when it is read back as YAML, with the blanks around it. */
static struct str fold_next_lines(struct printer *p, struct str s)
{
    char *to = arena_alloc_bytes(scratch(p), s.n);
    size_t n = 0, i = 0;

    while (i < s.n) {
        size_t blanks = i, lines = 0;

        for (; i < s.n; lines++) {
            for (blanks = i; blanks < s.n && s.p[blanks] == ' ';)
                blanks++;
            if (!str_has_prefix(str_sub(s, blanks, s.n), STR("\xc2\x85")))
                break;
            i = blanks + 2;
        }
        if (lines == 1)
            to[n++] = ' ';
        for (size_t k = 1; k < lines; k++)
            to[n++] = '\n';
        if (lines > 0)
            i = MAX(i, blanks);
        else
            to[n++] = s.p[i++];
    }
    return (struct str){ to, n };
}

static int fail_characters(struct printer *p)
{
    return err_set(p->err, ERRC_INVALID, "yaml: control characters are not allowed");
}

static struct str replace_invalid(struct printer *p, struct str s)
{
    char *to = arena_alloc_bytes(scratch(p), s.n * 3);
    size_t n = 0, width;
    uint32_t rune;

    for (size_t i = 0; i < s.n; i += width) {
        width = utf8_decode(str_sub(s, i, s.n), &rune);
        memcpy(to + n, rune == UTF8_INVALID ? "\xef\xbf\xbd" : s.p + i, rune == UTF8_INVALID ? 3 : width);
        n += rune == UTF8_INVALID ? 3 : width;
    }
    return (struct str){ to, n };
}

/* What a string is after it was written as JSON and read as YAML: mostly itself, sometimes refused. */
static NODISCARD int pass_through_json(struct printer *p, struct str *s)
{
    bool invalid = false, next_line = false;
    size_t width;

    for (size_t i = 0; i < s->n; i += width) {
        unsigned char c = (unsigned char)s->p[i];
        uint32_t rune = c;

        width = 1;
        if (c < 0x7f)
            continue;
        width = utf8_decode(str_sub(*s, i, s->n), &rune);
        if (rune == UTF8_INVALID)
            invalid = true;
        else if (rune == 0x85)
            next_line = true;
        else if (rune < 0xa0 || rune == 0xfffe || rune == 0xffff)
            return fail_characters(p);
    }
    if (invalid)
        *s = replace_invalid(p, *s);
    if (next_line)
        *s = fold_next_lines(p, *s);
    return 0;
}

/* go-yaml's encodeBase64: lines of 70 when it is longer than one. */
static struct str wrapped_base64(struct printer *p, struct str s)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(2 * s.n + 8);
    struct str text;
    char *to;
    size_t n = 0;

    base64_encode(BASE64_STD, s, &raw);
    text = buf_str(&raw);
    to = arena_alloc_bytes(scratch(p), text.n + text.n / 70 + 1);
    for (size_t i = 0; i < text.n; i += 70) {
        size_t part = MIN(text.n - i, (size_t)70);

        memcpy(to + n, text.p + i, part);
        n += part;
        if (text.n >= 70)
            to[n++] = '\n';
    }
    return (struct str){ to, n };
}

static const bool word_bytes[256] = {
    ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['-'] = true,
    ['_'] = true,         ['.'] = true,         ['/'] = true,
};

/* Begins with a letter that begins no boolean or null, and has nothing that could need quotes. */
static bool is_plain_word(struct str s)
{
    if (s.n == 0 || !ascii_is_alpha(s.p[0]) || (s.n <= 5 && ascii_is_one_of(s.p[0], "yYnNtTfFoO")))
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!word_bytes[(unsigned char)s.p[i]])
            return false;
    return true;
}

static enum yml_style wanted_style(struct str s)
{
    if (memchr(s.p, '\n', s.n))
        return YML_LITERAL;
    return yml_reads_as_string(s) ? YML_PLAIN : YML_DOUBLE;
}

static void print_binary(struct printer *p, struct str s, bool key)
{
    struct yml_analysis a;

    s = wrapped_base64(p, s);
    yml_analyze(s, true, &a);
    yml_emit_word(&p->e, STR(BINARY_TAG));
    yml_emit_scalar(&p->e, s, memchr(s.p, '\n', s.n) ? YML_LITERAL : YML_PLAIN, &a, key);
}

static NODISCARD int print_string(struct printer *p, struct str s)
{
    struct yml_analysis a;
    int r;

    if (is_plain_word(s)) {
        yml_emit_word(&p->e, s);
        return 0;
    }
    if (p->e.v3 && !utf8_valid(s)) {
        print_binary(p, s, false);
        return 0;
    }
    r = p->e.v3 ? 0 : pass_through_json(p, &s);
    if (r < 0)
        return r;
    yml_analyze(s, p->e.v3, &a);
    yml_emit_scalar(&p->e, s, s.n ? wanted_style(s) : YML_DOUBLE, &a, false);
    return 0;
}

/* In JSON text a key can be too long to be one, or be on two lines. */
static NODISCARD int check_json_key(struct printer *p, struct str key)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(8 * key.n + 8);
    bool next_line = str_contains(key, STR("\xc2\x85"));

    if (key.n < SIMPLE_KEY_MAX / 6 && !next_line)
        return 0;
    json_print_string(key, JSON_ESCAPE_HTML, &text);
    if (utf8_count(buf_str(&text)) <= SIMPLE_KEY_MAX && !next_line)
        return 0;
    return err_set(p->err, ERRC_INVALID, "yaml: did not find expected ',' or '}'");
}

/* Writes the key up to its colon; afterwards a value follows. */
static NODISCARD int print_key(struct printer *p, struct str key)
{
    bool binary = p->e.v3 && !utf8_valid(key);
    struct yml_analysis a;
    size_t length;
    int r;

    if (key.n <= SHORT_KEY_MAX && is_plain_word(key)) {
        yml_emit_word(&p->e, key);
        yml_emit_indicator(&p->e, ":", false, false, false);
        return 0;
    }
    r = p->e.v3 ? 0 : check_json_key(p, key);
    if (r == 0 && !p->e.v3)
        r = pass_through_json(p, &key);
    if (r < 0)
        return r;
    length = binary ? wrapped_base64(p, key).n + sizeof(BINARY_TAG) - 1 : key.n;
    yml_analyze(binary ? wrapped_base64(p, key) : key, p->e.v3, &a);
    if (!a.multiline && length <= SHORT_KEY_MAX) {
        if (binary)
            print_binary(p, key, true);
        else
            yml_emit_scalar(&p->e, key, key.n ? wanted_style(key) : YML_DOUBLE, &a, true);
        yml_emit_indicator(&p->e, ":", false, false, false);
        return 0;
    }
    yml_emit_indicator(&p->e, "?", true, false, true);
    if (binary)
        print_binary(p, key, false);
    else
        yml_emit_scalar(&p->e, key, wanted_style(key), &a, false);
    yml_emit_indent(&p->e);
    yml_emit_indicator(&p->e, ":", true, false, true);
    return 0;
}

/* ---- other scalars ---- */

static void print_integer(struct printer *p, struct value v)
{
    char text[24], *end = text + sizeof(text), *at = end;
    uint64_t u = v.kind == VALUE_INT && v.i < 0 ? 0 - (uint64_t)v.i : v.u;

    do
        *--at = (char)('0' + u % 10);
    while (u /= 10);
    if (v.kind == VALUE_INT && v.i < 0)
        *--at = '-';
    yml_emit_word(&p->e, (struct str){ at, (size_t)(end - at) });
}

/* v2 sees the number as JSON wrote it: whole ones are integers up to uint64, with zeros behind the digits that tell the float
 * from its neighbours. False: it is no integer. */
static bool print_whole(struct printer *p, double f, int bits)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);
    uint64_t u;
    int64_t i;

    if (f != trunc(f) || fabs(f) >= 0x1p65)
        return false;
    if (fabs(f) <= (bits == 32 ? 0x1p24 : 0x1p53)) {
        print_integer(p, value_from_int((int64_t)f));
        return true;
    }
    number_format_float(f, 'f', -1, bits, &text);
    if (number_parse_int(buf_str(&text), 10, 64, &i) != NUMBER_OK &&
        number_parse_uint(buf_str(&text), 10, 64, &u) != NUMBER_OK)
        return false;
    yml_emit_word(&p->e, buf_str(&text));
    return true;
}

static NODISCARD int print_float(struct printer *p, struct value v)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(512);
    int bits = v.type == VALUE_TYPE_FLOAT32 ? 32 : 64;

    if (!isfinite(v.f)) {
        if (!p->e.v3)
            return err_set(p->err, ERRC_INVALID, "error marshaling into JSON: json: unsupported value: %s",
                           isnan(v.f) ? "NaN"
                           : v.f > 0  ? "+Inf"
                                      : "-Inf");
        yml_emit_word(&p->e, isnan(v.f) ? STR(".nan") : v.f > 0 ? STR(".inf") : STR("-.inf"));
        return 0;
    }
    if (!p->e.v3) {
        if (print_whole(p, v.f, bits))
            return 0;
        if (bits == 32) { /* JSON has the digits of the float32 */
            number_format_float(v.f, 'g', -1, 32, &text);
            number_parse_float(buf_str(&text), 64, &v.f, NULL);
            buf_clear(&text);
        }
        bits = 64;
    }
    number_format_float(v.f, 'g', -1, bits, &text);
    yml_emit_word(&p->e, buf_str(&text));
    return 0;
}

/* ---- containers ---- */

static NODISCARD int open_level(struct printer *p, struct value v, bool map_value)
{
    struct yml_emitter *e = &p->e;
    struct level l = { .of = v, .order = p->n_order, .indent = e->indent };
    bool list = v.kind == VALUE_LIST;

    if (p->depth >= VALUE_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT,
                       "error marshaling into JSON: json: unsupported value: encountered a cycle via %s",
                       list ? "[]interface {}" : "map[string]interface {}");
    ARRAY_GROW(p->levels, p->cap, p->depth + 1);
    p->levels[p->depth++] = l;
    if (e->indent < 0)
        e->indent = 0;
    else if (e->v3 || !list || !map_value || e->indention) /* v2: lists in maps are not indented */
        e->indent += YML_INDENT;
    if (!list) {
        ARRAY_GROW(p->order, p->cap_order, p->n_order + 2 * v.map->n);
        yml_sort_keys(v, e->v3, p->order + p->n_order, p->order + p->n_order + v.map->n);
        p->n_order += v.map->n;
    }
    return 0;
}

static NODISCARD int print_container(struct printer *p, struct value v, bool map_value)
{
    bool list = v.kind == VALUE_LIST;

    if ((v.flags & VALUE_NIL) && !p->e.v3) {
        yml_emit_word(&p->e, STR("null"));
        return 0;
    }
    if (value_len(v) > 0)
        return open_level(p, v, map_value);
    yml_emit_indicator(&p->e, list ? "[" : "{", true, true, false);
    yml_emit_indicator(&p->e, list ? "]" : "}", false, false, false);
    return 0;
}

/* v2 gets base64 out of JSON, v3 sees a list of numbers. */
static NODISCARD int print_bytes(struct printer *p, struct value v, bool map_value)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(2 * (size_t)v.n + 8);
    struct str s = value_str(v);
    struct value *items;

    if (!p->e.v3) {
        if (v.flags & VALUE_NIL) {
            yml_emit_word(&p->e, STR("null"));
            return 0;
        }
        base64_encode(BASE64_STD, s, &text);
        return print_string(p, buf_str(&text));
    }
    items = ARENA_ARRAY(scratch(p), struct value, s.n);
    for (size_t i = 0; i < s.n; i++)
        items[i] = value_from_int((unsigned char)s.p[i]);
    return print_container(p, value_from_list(items, s.n), map_value);
}

static NODISCARD int print_value(struct printer *p, struct value v, bool map_value)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        yml_emit_word(&p->e, STR("null"));
        return 0;
    case VALUE_BOOL:
        yml_emit_word(&p->e, v.b ? STR("true") : STR("false"));
        return 0;
    case VALUE_INT:
    case VALUE_UINT:
        print_integer(p, v);
        return 0;
    case VALUE_FLOAT:
        return print_float(p, v);
    case VALUE_STRING:
        if (p->e.v3 && v.type == VALUE_TYPE_DATE_TIME)
            yml_emit_word(&p->e, value_str(v));
        else
            return print_string(p, value_str(v));
        return 0;
    case VALUE_BYTES:
        return print_bytes(p, v, map_value);
    case VALUE_LIST:
    case VALUE_MAP:
        return print_container(p, v, map_value);
    case VALUE_OBJECT:
        break;
    }
    return err_set(p->err, ERRC_INVALID, "error marshaling into JSON: json: unsupported type: object");
}

/* The next item of the innermost container, or its end. */
static NODISCARD int print_next(struct printer *p)
{
    struct level *l = &p->levels[p->depth - 1];
    const struct value_entry *entry;
    uint32_t i = l->next++;
    int r;

    if (i == value_len(l->of)) {
        p->e.indent = l->indent;
        p->n_order = l->order;
        p->depth--;
        return 0;
    }
    yml_emit_indent(&p->e);
    if (l->of.kind == VALUE_LIST) {
        yml_emit_indicator(&p->e, "-", true, false, true);
        return print_value(p, l->of.list[i], false);
    }
    entry = value_entry_at(l->of, p->order[l->order + i]);
    r = print_key(p, entry->key);
    return r < 0 ? r : print_value(p, entry->v, true);
}

static NODISCARD int print_document(struct value v, bool v3, struct buf *out, struct err **err)
{
    struct printer p = { .e = { .out = out, .v3 = v3, .indent = -1, .whitespace = true, .indention = true },
                         .err = err };
    size_t from = out->n;
    int r = print_value(&p, v, false);

    while (r == 0 && p.depth > 0 && !out->failed)
        r = print_next(&p);
    if (r == 0) {
        p.e.indent = -1;
        yml_emit_indent(&p.e);
        r = buf_check(out, err);
    }
    free(p.levels);
    free(p.order);
    arena_free(p.arena);
    if (r < 0 && out->p)
        buf_truncate(out, from);
    return r;
}

int yml_print(struct value v, struct buf *out, struct err **err)
{
    return print_document(v, false, out, err);
}

int yml_print_pretty(struct value v, struct buf *out, struct err **err)
{
    return print_document(v, true, out, err);
}
