/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars of the quick reader; the rules are those of libyaml's scanner.c for the same style. */
#include <math.h>

#include "base/utf8.h"
#include "yaml/quick.h"

/* ---- bytes ---- */

bool quick_all_printable(struct str text)
{
    const unsigned char *p = (const unsigned char *)text.p, *end = p + text.n;

    while (p < end) {
        uint32_t rune;
        size_t width;

        for (; end - p >= 16; p += 16) {
            unsigned char odd = 0;

            for (int i = 0; i < 16; i++)
                odd |= (p[i] >= 0x7f) | ((p[i] < 0x20) & (p[i] != '\n') & (p[i] != '\t'));
            if (odd)
                break;
        }
        if (p == end)
            break;
        if (*p < 0x80) {
            if (*p == 0x7f || (*p < 0x20 && *p != '\n' && *p != '\t'))
                return false;
            p++;
            continue;
        }
        width = utf8_decode((struct str){ (const char *)p, (size_t)(end - p) }, &rune);
        if (rune == UTF8_INVALID || rune < 0xa0 || rune == 0x2028 || rune == 0x2029 || rune == 0xfeff ||
            rune == 0xfffe || rune == 0xffff)
            return false;
        p += width;
    }
    return true;
}

static const char *line_end(const struct quick *q, const char *p)
{
    const char *newline = memchr(p, '\n', (size_t)(q->end - p));

    return newline ? newline : q->end;
}

static char *text_room(struct quick *q, size_t n)
{
    return q->dropping ? NULL : arena_alloc_bytes(q->arena, n + 1);
}

static struct str keep(struct quick *q, struct str s)
{
    if (q->dropping)
        return STR("");
    return q->borrow ? s : arena_dup(q->arena, s);
}

/* ---- quoted ---- */

/* UTF-8, no surrogate. */
static void put_rune(char **to, uint32_t rune)
{
    if (rune < 0x80) {
        *(*to)++ = (char)rune;
        return;
    }
    if (rune < 0x800) {
        *(*to)++ = (char)(0xc0 | (rune >> 6));
    } else {
        if (rune < 0x10000) {
            *(*to)++ = (char)(0xe0 | (rune >> 12));
        } else {
            *(*to)++ = (char)(0xf0 | (rune >> 18));
            *(*to)++ = (char)(0x80 | ((rune >> 12) & 0x3f));
        }
        *(*to)++ = (char)(0x80 | ((rune >> 6) & 0x3f));
    }
    *(*to)++ = (char)(0x80 | (rune & 0x3f));
}

static bool unescape_unicode(const char **p, const char *end, int digits, char **to)
{
    uint32_t rune = 0;

    if (end - *p < digits)
        return false;
    for (int i = 0; i < digits; i++) {
        char c = ascii_lower((*p)[i]);

        if (!ascii_is_digit(c) && (c < 'a' || c > 'f'))
            return false;
        rune = rune * 16 + (uint32_t)(ascii_is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    if (rune == 0 || (rune >= 0xd800 && rune < 0xe000) || rune > 0x10ffff)
        return false;
    *p += digits;
    if (*to)
        put_rune(to, rune);
    return true;
}

/* p behind a backslash. */
static bool unescape(const char **p, const char *end, char **to)
{
    static const char plain[256] = {
        ['"'] = '"', ['\\'] = '\\', ['n'] = '\n', ['t'] = '\t', ['r'] = '\r', [' '] = ' '
    };
    char c;

    if (*p == end)
        return false;
    c = *(*p)++;
    if (c == 'u' || c == 'U')
        return unescape_unicode(p, end, c == 'u' ? 4 : 8, to);
    c = plain[(unsigned char)c];
    if (c && *to)
        *(*to)++ = c;
    return c;
}

/* The closing quotation mark, or NULL. */
static const char *quoted_end(const char *p, const char *end, char quote)
{
    for (;; p++) {
        while (p < end && *p != quote && *p != '\\')
            p++;
        if (p >= end)
            return NULL;
        if (*p == '\\')
            p += quote == '"';
        else if (quote == '"' || p + 1 == end || p[1] != quote)
            return p;
        else
            p++;
    }
}

/* Blanks and line breaks: on one line as they are, else one break is a space and more of them one less. Behind an escaped
 * break (`joined`) all of them count. False when a line starts at the margin, where markers of documents could stand. */
static bool fold_quoted(const char **p, const char *end, bool joined, char **to)
{
    const char *from = *p, *line = NULL;
    size_t breaks = 0;

    for (; *p < end && (**p == ' ' || **p == '\t' || **p == '\n'); ++*p) {
        if (**p != '\n')
            continue;
        breaks++;
        line = *p + 1;
    }
    if (line == *p || (joined && !line && *p == from))
        return false;
    if (breaks == 0 && !joined) {
        if (*to)
            *to = (char *)memcpy(*to, from, (size_t)(*p - from)) + (*p - from);
        return true;
    }
    if (!*to)
        return true;
    if (breaks == 1 && !joined)
        *(*to)++ = ' ';
    for (size_t i = joined ? 0 : 1; i < breaks; i++)
        *(*to)++ = '\n';
    return true;
}

/* What stands between the quotation marks. `to` has room for it, or is NULL. */
static bool unquote(const char *p, const char *end, char quote, char **to)
{
    while (p < end) {
        if (*p == ' ' || *p == '\t' || *p == '\n') {
            if (!fold_quoted(&p, end, false, to))
                return false;
            continue;
        }
        if (*p == '\\' && quote == '"') {
            if (p[1] == '\n') {
                p += 2;
                if (!fold_quoted(&p, end, true, to))
                    return false;
                continue;
            }
            p++;
            if (!unescape(&p, end, to))
                return false;
            continue;
        }
        p += *p == quote;
        if (*to)
            *(*to)++ = *p;
        p++;
    }
    return true;
}

bool quick_quoted(struct quick *q, bool lines, struct str *ret)
{
    char quote = *q->p, *start, *to;
    const char *from = q->p + 1, *end = quoted_end(from, q->end, quote), *line;
    size_t n = end ? (size_t)(end - from) : 0;

    if (!end)
        return false;
    line = memrchr(from, '\n', n);
    if (line && !lines)
        return false;
    q->p = end + 1;
    if (!line && !memchr(from, quote == '"' ? '\\' : '\'', n)) {
        *ret = keep(q, (struct str){ from, n });
        return true;
    }
    if (line)
        q->line = line + 1;
    start = to = text_room(q, n);
    if (!unquote(from, end, quote, &to))
        return false;
    *ret = start ? (struct str){ start, (size_t)(to - start) } : STR("");
    return true;
}

/* ---- plain ---- */

bool quick_starts_plain(const struct quick *q)
{
    static const bool never[256] = {
        ['?'] = true, [':'] = true, [','] = true, ['['] = true, [']'] = true, ['{'] = true,
        ['}'] = true, ['#'] = true, ['&'] = true, ['*'] = true, ['!'] = true, ['|'] = true,
        ['>'] = true, ['"'] = true, ['%'] = true, ['@'] = true, ['`'] = true, ['\''] = true,
    };

    if (*q->p == '-')
        return q->p + 1 < q->end && q->p[1] != ' ' && q->p[1] != '\n' && q->p[1] != '\t';
    return !never[(unsigned char)*q->p];
}

/* The part of a line that belongs to a plain scalar. *ret_comment: one ends it. */
static bool plain_line(const char *p, const char *end, struct str *ret, bool *ret_comment)
{
    static const bool stop[256] = { [':'] = true, ['#'] = true, ['\t'] = true };
    const char *from = p;

    *ret_comment = false;
    for (; p < end; p++) {
        if (!stop[(unsigned char)*p])
            continue;
        if (*p == '\t' || (*p == ':' && (p + 1 == end || p[1] == ' ' || p[1] == '\t')))
            return false;
        if (*p == '#' && p > from && p[-1] == ' ') {
            *ret_comment = true;
            break;
        }
    }
    while (p > from && p[-1] == ' ')
        p--;
    *ret = (struct str){ from, (size_t)(p - from) };
    return true;
}

/* The next line of a plain scalar that started above. 1: *ret; 0: there is none; -1: no opinion. */
static int plain_next_line(struct quick *q, const char **at, long indent, struct str *ret, size_t *ret_breaks,
                           bool *ret_comment)
{
    const char *p = *at;

    for (*ret_breaks = 0; p < q->end;) {
        const char *line = ++p;

        ++*ret_breaks;
        p = quick_skip_blanks(p, q->end);
        if (p == q->end || *p == '\n')
            continue;
        if (*p == '\t')
            return -1;
        if (p - line <= indent || *p == '#')
            return 0;
        *at = line_end(q, p);
        q->line = line;
        return plain_line(p, *at, ret, ret_comment) ? 1 : -1;
    }
    return 0;
}

/* Copies a scalar of several lines: one line break becomes a space, more of them one less. */
static bool fold_plain(struct quick *q, struct str first, const char *end, long indent, struct str *ret)
{
    char *text = NULL;
    size_t n = 0, cap = 0, breaks = 0;
    struct str line = first;
    bool comment = false;
    int more = 1;

    for (; more > 0; more = comment ? 0 : plain_next_line(q, &end, indent, &line, &breaks, &comment)) {
        size_t need = n + breaks + line.n;

        q->p = end;
        if (q->dropping)
            continue;
        if (need > cap) {
            text = arena_grow(q->arena, text, cap, MAX(need, 2 * cap));
            cap = MAX(need, 2 * cap);
        }
        if (breaks == 1)
            text[n++] = ' ';
        for (; breaks > 1; breaks--)
            text[n++] = '\n';
        memcpy(text + n, line.p, line.n);
        n += line.n;
    }
    *ret = text ? (struct str){ text, n } : STR("");
    return more == 0;
}

bool quick_plain(struct quick *q, long indent, struct str *ret)
{
    const char *end = line_end(q, q->p), *next = end, *line = q->line;
    struct str first, second;
    size_t breaks;
    bool comment, ignored;
    int more;

    if (!plain_line(q->p, end, &first, &comment))
        return false;
    more = comment ? 0 : plain_next_line(q, &next, indent, &second, &breaks, &ignored);
    if (more < 0)
        return false;
    if (more > 0)
        return fold_plain(q, first, end, indent, ret);
    q->line = line;
    q->p = end;
    *ret = first; /* most are numbers and words: who needs the text keeps it */
    return true;
}

bool quick_flow_plain(struct quick *q, struct str *ret)
{
    const char *p = q->p;

    if (!ascii_is_alnum(*p) && *p != '_' && *p != '/' && *p != '.' &&
        !(*p == '-' && p + 1 < q->end && ascii_is_alnum(p[1])))
        return false;
    while (p < q->end && (ascii_is_alnum(*p) || ascii_is_one_of(*p, "_./-+$*=@")))
        p++;
    *ret = (struct str){ q->p, (size_t)(p - q->p) };
    q->p = p;
    return true;
}

bool quick_resolve(struct quick *q, struct str text, struct value *ret)
{
    struct value v;

    if (q->dropping && (text.n > 5 || (ascii_is_alnum(text.p[0])))) /* no way to say infinity */
        return true;
    yml_resolve_tag(text, true, &v);
    if (v.kind == VALUE_FLOAT && !isfinite(v.f))
        return false;
    if (v.kind == VALUE_STRING)
        v.s = keep(q, text).p;
    *ret = v;
    return true;
}

bool quick_plain_key(struct quick *q, struct str text, struct str *ret)
{
    struct value v;

    if (text.n > QUICK_KEY_MAX || str_eq(text, STR("<<")))
        return false;
    if (q->dropping && ascii_is_alpha(text.p[0])) { /* a word; not a number, some of which are no keys */
        *ret = STR("");
        return true;
    }
    yml_resolve_tag(text, true, &v);
    if (v.kind == VALUE_STRING) {
        *ret = keep(q, text);
        return true;
    }
    return yml_key_text(q->arena, v, ret);
}

/* ---- block scalars ---- */

struct block {
    bool literal;
    char chomp;  /* '-', '+' or 0 */
    long indent; /* of its text; 0: not known yet */
    const char *p;
    char *to;      /* NULL: dropped */
    size_t breaks; /* line breaks after the last line of text and its own */
    bool leading_break, leading_blank;
};

static bool block_header(struct quick *q, struct block *b, long indent)
{
    const char *p = q->p;

    b->literal = *p++ == '|';
    for (; p < q->end && *p != ' ' && *p != '\n'; p++) {
        if ((*p == '-' || *p == '+') && !b->chomp)
            b->chomp = *p;
        else if (*p >= '1' && *p <= '9' && b->indent == 0)
            b->indent = indent + (*p - '0');
        else
            return false;
    }
    q->p = p;
    if (!quick_end_of_line(q))
        return false;
    b->p = q->p < q->end ? q->p + 1 : q->p;
    return true;
}

/* The column of the first line with text, at least `indent` + 1. */
static bool block_find_indent(const struct quick *q, struct block *b, long indent)
{
    long widest = 0;
    const char *p = b->p;

    for (;;) {
        long column;
        const char *line = p;

        p = quick_skip_blanks(p, q->end);
        column = p - line;
        if (p < q->end && *p == '\t')
            return false;
        if (p == q->end || *p != '\n') {
            if (p < q->end && widest > column && column > indent)
                return false;
            b->indent = MAX(MAX(widest, column), indent + 1);
            return true;
        }
        widest = MAX(widest, column);
        p++;
    }
}

static void put(struct block *b, char c, size_t n)
{
    if (!b->to)
        return;
    memset(b->to, c, n);
    b->to += n;
}

/* One line of text, [p, end) without its indentation. */
static void block_line(struct block *b, const char *p, const char *end, bool has_break)
{
    bool blank = *p == ' ' || *p == '\t';

    if (!b->literal && b->leading_break && !b->leading_blank && !blank) {
        if (b->breaks == 0)
            put(b, ' ', 1);
    } else if (b->leading_break) {
        put(b, '\n', 1);
    }
    put(b, '\n', b->breaks);
    b->breaks = 0;
    b->leading_blank = blank;
    b->leading_break = has_break;
    if (b->to) {
        memcpy(b->to, p, (size_t)(end - p));
        b->to += end - p;
    }
}

/* All lines of it; b->p to the first line that is not. */
static bool block_lines(struct quick *q, struct block *b)
{
    while (b->p < q->end) {
        const char *p = b->p, *end;

        while (p < q->end && p - b->p < b->indent && *p == ' ')
            p++;
        if (p == q->end)
            break;
        if (*p == '\n') {
            b->breaks++;
            b->p = p + 1;
            continue;
        }
        if (p - b->p < b->indent)
            return *p != '\t';
        end = line_end(q, p);
        block_line(b, p, end, end < q->end);
        b->p = end < q->end ? end + 1 : end;
    }
    return true;
}

bool quick_block(struct quick *q, long indent, struct str *ret)
{
    struct block b = { 0 }, measure;
    char *start = NULL;

    if (!block_header(q, &b, indent) || (b.indent == 0 && !block_find_indent(q, &b, indent)))
        return false;
    if (!q->dropping) {
        measure = b;
        if (!block_lines(q, &measure))
            return false;
        start = b.to = text_room(q, (size_t)(measure.p - b.p) + 1);
    }
    if (!block_lines(q, &b))
        return false;
    if (b.chomp != '-' && b.leading_break)
        put(&b, '\n', 1);
    if (b.chomp == '+')
        put(&b, '\n', b.breaks);
    *ret = start ? (struct str){ start, (size_t)(b.to - start) } : STR("");
    q->p = q->line = b.p;
    return true;
}
