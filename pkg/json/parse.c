/* SPDX-License-Identifier: Apache-2.0 */
/* Behaves as Go's encoding/json (scanner.go, decode.go). Iterative: depth costs heap, not stack. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "json/json_int.h"

struct frame {
    size_t first; /* in parser.values */
    bool map;
};

struct parser {
    const char *p, *end;
    struct arena *arena;
    struct json_options o;
    struct value *values; /* of all open containers; in maps a key before each value */
    size_t n_values, cap_values;
    struct frame *frames;
    size_t depth, cap_frames;
    struct str out_of_range; /* the first number no float64 can hold: syntax errors anywhere go first */
    struct err **err;
};

enum step { STEP_VALUE, STEP_AFTER, STEP_DONE }; /* what is expected next */

int json_fail_char(struct err **err, char c, const char *where)
{
    unsigned char u = (unsigned char)c;

    if (c == '\'')
        return err_set(err, ERRC_PARSE, "invalid character '\\'' %s", where);
    if (c == '\\')
        return err_set(err, ERRC_PARSE, "invalid character '\\\\' %s", where);
    if (u >= 0x20 && u < 0x7f)
        return err_set(err, ERRC_PARSE, "invalid character '%c' %s", c, where);
    if (u >= '\a' && u <= '\r')
        return err_set(err, ERRC_PARSE, "invalid character '\\%c' %s", "abtnvfr"[u - '\a'], where);
    if (u < 0x80)
        return err_set(err, ERRC_PARSE, "invalid character '\\x%02x' %s", u, where);
    if (u < 0xa1 || u == 0xad)
        return err_set(err, ERRC_PARSE, "invalid character '\\u%04x' %s", u, where);
    return err_set(err, ERRC_PARSE, "invalid character '%c%c' %s", 0xc0 | u >> 6, 0x80 | (u & 0x3f), where);
}

/* The same inside a token: there Go takes the end for a blank. */
static int fail_inside(struct parser *j, const char *p, const char *where)
{
    return json_fail_char(j->err, p < j->end ? *p : ' ', where);
}

static int fail_end(struct parser *j)
{
    return err_set(j->err, ERRC_PARSE, JSON_TEXT_ENDED);
}

/* The byte at p, or the end of the text, is not what had to come. */
static int fail_here(struct parser *j, const char *p, const char *where)
{
    return p < j->end ? json_fail_char(j->err, *p, where) : fail_end(j);
}

static int fail_memory(struct parser *j)
{
    return err_set(j->err, ERRC_LIMIT, "JSON needs more than the limit of %zu bytes", arena_limit(j->arena));
}

static inline void skip_space(struct parser *j)
{
    while (j->p < j->end && json_is_space(*j->p))
        j->p++;
}

static NODISCARD int grow_values(struct parser *j)
{
    if (!arena_fits(j->arena, (j->n_values + 1) * sizeof(*j->values)))
        return fail_memory(j);
    ARRAY_GROW(j->values, j->cap_values, j->n_values + 1);
    assert(j->values);
    return 0;
}

static inline NODISCARD int push(struct parser *j, struct value v)
{
    if (j->n_values == j->cap_values) {
        int r = grow_values(j);

        if (r < 0)
            return r;
    }
    assert(j->values);
    j->values[j->n_values++] = v;
    return 0;
}

/* ---- strings ---- */

static int hex4(const char *p)
{
    int v = 0;

    for (int i = 0; i < 4; i++) {
        char c = ascii_lower(p[i]);

        v = v * 16 + (ascii_is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return v;
}

static bool is_hex(char c)
{
    return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}

/* p is behind a backslash. */
static int check_escape(struct parser *j, const char *p)
{
    if (p == j->end || !ascii_is_one_of(*p, "bfnrtu\\/\""))
        return fail_inside(j, p, "in string escape code");
    if (*p != 'u')
        return 0;
    for (int i = 1; i <= 4; i++)
        if (p + i >= j->end || !is_hex(p[i]))
            return fail_inside(j, p + i, "in \\u hexadecimal character escape");
    return 0;
}

static char *put_rune(char *to, uint32_t r)
{
    if (r < 0x80) {
        *to++ = (char)r;
    } else if (r < 0x800) {
        *to++ = (char)(0xc0 | r >> 6);
        *to++ = (char)(0x80 | (r & 0x3f));
    } else if (r < 0x10000) {
        *to++ = (char)(0xe0 | r >> 12);
        *to++ = (char)(0x80 | (r >> 6 & 0x3f));
        *to++ = (char)(0x80 | (r & 0x3f));
    } else {
        *to++ = (char)(0xf0 | r >> 18);
        *to++ = (char)(0x80 | (r >> 12 & 0x3f));
        *to++ = (char)(0x80 | (r >> 6 & 0x3f));
        *to++ = (char)(0x80 | (r & 0x3f));
    }
    return to;
}

/* *p is behind "\u"; it moves behind the escape, or behind both of a surrogate pair. */
static uint32_t decode_unicode_escape(const char **p, const char *end)
{
    int high = hex4(*p), low;

    *p += 4;
    if (high < 0xd800 || high > 0xdfff)
        return (uint32_t)high;
    if (high < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        low = hex4(*p + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *p += 6;
            return 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
        }
    }
    return 0xfffd;
}

/* The text between checked quotes, with escapes and invalid UTF-8 replaced. */
static struct str decode_string(struct arena *a, struct str raw, size_t n_max)
{
    static const char from[] = "bfnrt", to_char[] = "\b\f\n\r\t";
    char *start = arena_alloc_bytes(a, n_max), *to = start;
    const char *p = raw.p, *end = raw.p + raw.n;

    while (p < end) {
        if (*p == '\\') {
            const char *named = memchr(from, p[1], sizeof(from) - 1);
            char c = p[1];

            p += 2;
            if (c == 'u')
                to = put_rune(to, decode_unicode_escape(&p, end));
            else
                *to++ = named ? to_char[named - from] : c;
        } else if ((signed char)*p >= 0) {
            *to++ = *p++;
        } else {
            uint32_t rune;

            p += utf8_decode((struct str){ p, (size_t)(end - p) }, &rune);
            to = put_rune(to, rune == UTF8_INVALID ? 0xfffd : rune);
        }
    }
    return (struct str){ start, (size_t)(to - start) };
}

/* j->p is behind the opening quote and moves behind the closing one. */
static NODISCARD int read_string(struct parser *j, struct str *ret)
{
    const char *start = j->p, *p = start;
    size_t extra = 0; /* bytes that replacement characters need beyond the text */
    bool verbatim = true;

    for (;;) {
        p = json_find_special(p, j->end);
        if (p == j->end)
            return fail_end(j);
        if (*p == '"')
            break;
        if (*p == '\\') {
            int r = check_escape(j, p + 1);

            if (r < 0)
                return r;
            verbatim = false;
            p += 2;
        } else if ((signed char)*p >= 0) {
            return json_fail_char(j->err, *p, "in string literal");
        } else {
            uint32_t rune;

            p += utf8_decode((struct str){ p, (size_t)(j->end - p) }, &rune);
            if (rune == UTF8_INVALID) {
                verbatim = false;
                extra += 2;
            }
        }
    }
    *ret = (struct str){ start, (size_t)(p - start) };
    j->p = p + 1;
    if (!verbatim)
        *ret = decode_string(j->arena, *ret, ret->n + extra);
    return 0;
}

/* ---- numbers ---- */

static const double powers_of_ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

struct digits {
    uint64_t mantissa; /* of the first 18 digits */
    int n;             /* digits that count: without leading zeros */
    int fraction;
    int exponent;
    bool integer, negative;
};

static const char *read_digits(const char *p, const char *end, struct digits *d)
{
    for (; p < end && ascii_is_digit(*p); p++) {
        if (d->n < 18)
            d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
        if (d->n > 0 || *p != '0')
            d->n = MIN(d->n + 1, 1000);
    }
    return p;
}

static NODISCARD int scan_exponent(struct parser *j, const char **p, struct digits *d)
{
    const char *q = *p + 1;
    bool negative = q < j->end && *q == '-';

    if (q < j->end && (*q == '+' || *q == '-'))
        q++;
    if (q == j->end || !ascii_is_digit(*q))
        return fail_inside(j, q, "in exponent of numeric literal");
    for (; q < j->end && ascii_is_digit(*q); q++)
        d->exponent = MIN(d->exponent * 10 + (*q - '0'), 100000);
    if (negative)
        d->exponent = -d->exponent;
    d->integer = false;
    *p = q;
    return 0;
}

/* Checks the grammar and collects what the fast paths need; *p moves behind the number. */
static NODISCARD int scan_number(struct parser *j, const char **p, struct digits *d)
{
    const char *q = *p, *dot;

    *d = (struct digits){ .integer = true, .negative = *q == '-' };
    if (d->negative)
        q++;
    if (q == j->end || !ascii_is_digit(*q))
        return fail_inside(j, q, "in numeric literal");
    q = *q == '0' ? q + 1 : read_digits(q, j->end, d);
    if (q < j->end && *q == '.') {
        dot = q;
        q = read_digits(q + 1, j->end, d);
        if (q == dot + 1)
            return fail_inside(j, q, "after decimal point in numeric literal");
        d->fraction = (int)MIN(q - dot - 1, 100000);
        d->integer = false;
    }
    *p = q;
    return q < j->end && (*q == 'e' || *q == 'E') ? scan_exponent(j, p, d) : 0;
}

static struct value exact_integer(struct str text, const struct digits *d)
{
    int64_t i;
    uint64_t u;
    double f;

    if (d->n <= 18)
        return value_from_int(d->negative ? -(int64_t)d->mantissa : (int64_t)d->mantissa);
    if (str_to_int64(text, &i))
        return value_from_int(i);
    if (!d->negative && str_to_uint64(text, &u))
        return value_from_uint(u);
    number_parse_float(text, 64, &f, NULL);
    return value_from_float(f);
}

static NODISCARD int read_number(struct parser *j)
{
    const char *start = j->p;
    struct digits d;
    struct str text;
    bool range = false;
    double f;
    int r, e;

    r = scan_number(j, &j->p, &d);
    if (r < 0)
        return r;
    text = (struct str){ start, (size_t)(j->p - start) };
    e = d.exponent - d.fraction;
    if (d.integer && !j->o.floats && d.n <= 20)
        return push(j, exact_integer(text, &d));
    /* both are exact in a double, so the one operation rounds correctly */
    if (d.n <= 18 && d.mantissa <= (1ULL << 53) && e >= -22 && e <= 22) {
        f = (double)d.mantissa;
        f = e < 0 ? f / powers_of_ten[-e] : f * powers_of_ten[e];
        return push(j, value_from_float(d.negative ? -f : f));
    }
    number_parse_float(text, 64, &f, &range);
    if (range && !j->out_of_range.p)
        j->out_of_range = text;
    return push(j, value_from_float(f));
}

/* ---- structure ---- */

static NODISCARD int read_literal(struct parser *j, const char *word, struct value v)
{
    for (const char *w = word; *w; w++, j->p++) {
        CLEANUP(buf_done) struct buf where = BUF_INIT(64);

        if (j->p < j->end && *j->p == *w)
            continue;
        buf_addf(&where, "in literal %s (expecting '%c')", word, *w);
        return fail_inside(j, j->p, buf_z(&where));
    }
    return push(j, v);
}

static NODISCARD int read_key(struct parser *j)
{
    struct str key;
    int r;

    skip_space(j);
    if (j->p == j->end || *j->p != '"')
        return fail_here(j, j->p, "looking for beginning of object key string");
    j->p++;
    r = read_string(j, &key);
    if (r < 0)
        return r;
    skip_space(j);
    if (j->p == j->end || *j->p != ':')
        return fail_here(j, j->p, "after object key");
    j->p++;
    return push(j, value_from_str(key));
}

/* `items` are key, value, key, value; `map` is what became of them after sorting, with fewer entries. */
static int fail_duplicate(struct parser *j, const struct value *items, size_t n, struct value map)
{
    CLEANUP(free_ptr) bool *seen = xcalloc(map.map->n, sizeof(*seen));

    for (size_t i = 0; i < n; i += 2) {
        size_t at = (size_t)(value_find(map, value_str(items[i])) - map.map->e);

        if (seen[at])
            return err_set(j->err, ERRC_PARSE, "json: duplicate field \"" STR_FMT "\"",
                           STR_ARG(value_str(items[i])));
        seen[at] = true;
    }
    return 0;
}

/* Small maps are sorted while they are filled. */
#define INSERTION_MAX 24

static void insert_entry(struct value_map *m, struct str key, struct value v)
{
    uint32_t i = m->n++;

    for (; i > 0 && m->n <= INSERTION_MAX && str_cmp(key, m->e[i - 1].key) < 0; i--)
        m->e[i] = m->e[i - 1];
    m->e[i] = (struct value_entry){ key, v };
}

static NODISCARD int make_map(struct parser *j, const struct value *items, size_t n, struct value *ret)
{
    struct value map = value_new_map_sized(j->arena, n / 2);

    for (size_t i = 0; i < n; i += 2)
        insert_entry(map.map, (struct str){ items[i].s, items[i].n }, items[i + 1]);
    value_sort(map);
    *ret = map;
    return j->o.refuse_duplicates && map.map->n < n / 2 ? fail_duplicate(j, items, n, map) : 0;
}

static NODISCARD int close_container(struct parser *j)
{
    struct value *items, v;
    struct frame f;
    size_t n;
    int r = 0;

    assert(j->depth > 0 && j->frames);
    f = j->frames[--j->depth];
    n = j->n_values - f.first;
    items = j->values ? j->values + f.first : NULL; /* NULL: nothing was in any container yet */
    if (!arena_fits(j->arena, 2 * n * sizeof(*items) + sizeof(struct value_map)))
        return fail_memory(j);
    if (f.map) {
        r = make_map(j, items, n, &v);
    } else {
        struct value *list = ARENA_ARRAY(j->arena, struct value, n);

        for (size_t i = 0; i < n; i++)
            list[i] = items[i];
        v = value_from_list(list, n);
    }
    j->n_values = f.first;
    j->p++;
    return r < 0 ? r : push(j, v);
}

static NODISCARD int open_container(struct parser *j, bool map, enum step *next)
{
    int r;

    if (j->depth >= (size_t)j->o.depth_max)
        return err_set(j->err, ERRC_LIMIT, "exceeded max depth");
    ARRAY_GROW(j->frames, j->cap_frames, j->depth + 1);
    j->frames[j->depth++] = (struct frame){ j->n_values, map };
    j->p++;
    skip_space(j);
    if (j->p < j->end && *j->p == (map ? '}' : ']')) {
        r = close_container(j);
        *next = STEP_AFTER;
    } else {
        r = map ? read_key(j) : 0;
        *next = STEP_VALUE;
    }
    return r;
}

static NODISCARD int begin_value(struct parser *j, enum step *next)
{
    struct str s;
    int r;

    skip_space(j);
    *next = STEP_AFTER;
    if (j->p == j->end)
        return fail_end(j);
    switch (*j->p) {
    case '{':
        return open_container(j, true, next);
    case '[':
        return open_container(j, false, next);
    case '"':
        j->p++;
        r = read_string(j, &s);
        return r < 0 ? r : push(j, value_from_str(s));
    case 't':
        return read_literal(j, "true", value_from_bool(true));
    case 'f':
        return read_literal(j, "false", value_from_bool(false));
    case 'n':
        return read_literal(j, "null", VALUE_NONE);
    default:
        if (*j->p == '-' || ascii_is_digit(*j->p))
            return read_number(j);
        return json_fail_char(j->err, *j->p, "looking for beginning of value");
    }
}

/* A value is complete: a comma, the end of its container, or the end of the text. */
static NODISCARD int after_value(struct parser *j, enum step *next)
{
    bool map;

    skip_space(j);
    if (j->depth == 0) {
        *next = STEP_DONE;
        return j->p == j->end ? 0 : json_fail_char(j->err, *j->p, "after top-level value");
    }
    map = j->frames[j->depth - 1].map;
    *next = STEP_AFTER;
    if (j->p < j->end && *j->p == ',') {
        j->p++;
        *next = STEP_VALUE;
        return map ? read_key(j) : 0;
    }
    if (j->p < j->end && *j->p == (map ? '}' : ']'))
        return close_container(j);
    return fail_here(j, j->p, map ? "after object key:value pair" : "after array element");
}

static NODISCARD int parse(struct parser *j, struct value *ret)
{
    enum step next = STEP_VALUE;
    int r = 0;

    while (r == 0 && next != STEP_DONE)
        r = next == STEP_VALUE ? begin_value(j, &next) : after_value(j, &next);
    if (r < 0)
        return r;
    if (j->out_of_range.p)
        return err_set(j->err, ERRC_PARSE,
                       "json: cannot unmarshal number " STR_FMT " into Go value of type float64",
                       STR_ARG(j->out_of_range));
    if (arena_failed(j->arena))
        return fail_memory(j);
    assert(j->values);
    *ret = j->values[0];
    return 0;
}

int json_parse(struct arena *a, struct str text, const struct json_options *o, struct value *ret,
               struct err **err)
{
    struct parser j = { .p = text.n ? text.p : "", .arena = a, .err = err };
    int r;

    assert(a && ret);
    j.end = j.p + text.n;
    if (o)
        j.o = *o;
    if (j.o.depth_max <= 0)
        j.o.depth_max = JSON_DEPTH_MAX;
    if (text.n > JSON_TEXT_MAX)
        return err_set(err, ERRC_LIMIT, "JSON text of %zu bytes is over the limit of %zu", text.n,
                       JSON_TEXT_MAX);
    if (!j.o.borrow && text.n > 0) { /* one copy for all strings: they point into it */
        if (!arena_fits(a, text.n))
            return fail_memory(&j);
        j.p = arena_dup(a, text).p;
        j.end = j.p + text.n;
    }
    r = parse(&j, ret);
    free(j.values);
    free(j.frames);
    return r;
}
