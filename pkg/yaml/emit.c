/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml/emit.h"
#include "base/utf8.h"

/* ---- characters ---- */

/* A line break as the emitter sees it: CR, LF, NEL, LS, PS. The byte behind the end is a NUL or not read. */
static size_t break_width(struct str s, size_t i)
{
    const unsigned char *p = (const unsigned char *)s.p + i;
    size_t left = s.n - i;

    if (*p == '\n' || *p == '\r')
        return 1;
    if (left >= 2 && p[0] == 0xc2 && p[1] == 0x85)
        return 2;
    return left >= 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9) ? 3 : 0;
}

static size_t width(char c)
{
    unsigned char u = (unsigned char)c;

    return u < 0x80 ? 1 : u < 0xe0 ? 2 : u < 0xf0 ? 3 : 4;
}

/* Tabs are not; nor anything beyond U+FFFF. */
static bool is_printable(struct str s, size_t i)
{
    const unsigned char *p = (const unsigned char *)s.p + i;

    if (*p < 0x80)
        return *p == '\n' || (*p >= 0x20 && *p < 0x7f);
    if (*p == 0xc2)
        return p[1] >= 0xa0;
    if (*p == 0xed)
        return p[1] < 0xa0;
    if (*p == 0xef)
        return !(p[1] == 0xbb && p[2] == 0xbf) && !(p[1] == 0xbf && p[2] >= 0xbe);
    return *p > 0xc2 && *p < 0xef;
}

static bool is_blank(struct str s, size_t i)
{
    return s.p[i] == ' ' || s.p[i] == '\t';
}

static bool is_space(struct str s, size_t i)
{
    return i < s.n && s.p[i] == ' ';
}

/* ---- analysis ---- */

struct flags {
    bool indicators, line_breaks, special, tabs;
    bool leading, trailing, trailing_space, break_space, space_break;
};

static void analyze_indicator(struct str s, size_t i, bool after_white, bool before_white, struct flags *f)
{
    if (i == 0) {
        if (ascii_is_one_of(s.p[0], "#,[]{}&*!|>'\"%@`") || (ascii_is_one_of(s.p[0], "?:-") && before_white))
            f->indicators = true;
    } else if ((s.p[i] == ':' && before_white) || (s.p[i] == '#' && after_white)) {
        f->indicators = true;
    }
}

static void analyze_space(struct str s, size_t i, bool previous_break, struct flags *f)
{
    if (i == 0)
        f->leading = true;
    if (i + 1 == s.n)
        f->trailing = f->trailing_space = true;
    if (previous_break)
        f->break_space = true;
}

static void analyze_break(struct str s, size_t i, size_t w, bool previous_space, struct flags *f)
{
    f->line_breaks = true;
    if (i == 0)
        f->leading = true;
    if (i + w == s.n)
        f->trailing = true;
    if (previous_space)
        f->space_break = true;
}

void yml_analyze(struct str s, bool v3, struct yml_analysis *ret)
{
    struct flags f = { .indicators = str_has_prefix(s, STR("---")) || str_has_prefix(s, STR("...")) };
    bool previous_space = false, previous_break = false, after_white = true;
    size_t w;

    for (size_t i = 0; i < s.n; i += w) {
        char c = s.p[i];
        size_t b;

        /* letters and digits decide nothing */
        for (; ascii_is_alnum(c) && i + 1 < s.n; c = s.p[++i])
            previous_space = previous_break = after_white = false;
        w = width(c);
        analyze_indicator(s, i, after_white, i + w >= s.n || is_blank(s, i + w), &f);
        if (v3 && c == '\t')
            f.tabs = true;
        else if (!is_printable(s, i))
            f.special = true;
        b = break_width(s, i);
        if (c == ' ')
            analyze_space(s, i, previous_break, &f);
        else if (b > 0)
            analyze_break(s, i, w, previous_space, &f);
        previous_space = c == ' ';
        previous_break = b > 0;
        after_white = c == ' ' || c == '\t' || b > 0 || c == '\0';
    }
    ret->multiline = f.line_breaks;
    ret->single = !(f.break_space || f.space_break || f.special || f.tabs);
    ret->plain = ret->single && !(f.leading || f.trailing || f.line_breaks || f.indicators);
    ret->block = s.n > 0 && !(f.trailing_space || f.space_break || f.special);
}

/* ---- writing ---- */

static void put(struct yml_emitter *e, char c)
{
    struct buf *out = e->out;

    if (out->n + 1 < out->cap && out->n < out->max && !out->failed) { /* buf_addc() without a call */
        out->p[out->n++] = c;
        out->p[out->n] = '\0';
    } else {
        buf_addc(out, c);
    }
    e->column++;
}

/* One character of several bytes, or more of them; columns count characters. */
static void put_text(struct yml_emitter *e, const char *p, size_t n)
{
    size_t characters = 0;

    for (size_t i = 0; i < n; i++)
        characters += ((unsigned char)p[i] & 0xc0) != 0x80;
    buf_add(e->out, p, n);
    e->column += characters;
}

static void put_break(struct yml_emitter *e)
{
    buf_addc(e->out, '\n');
    e->column = 0;
}

static void write_break(struct yml_emitter *e, struct str s, size_t *i)
{
    size_t w = width(s.p[*i]);

    if (s.p[*i] == '\n')
        put_break(e);
    else
        buf_add(e->out, s.p + *i, w);
    e->column = 0;
    *i += w;
}

void yml_emit_indent(struct yml_emitter *e)
{
    size_t indent = e->indent < 0 ? 0 : (size_t)e->indent;

    if (!e->indention || e->column > indent || (e->column == indent && !e->whitespace))
        put_break(e);
    if (e->column < indent) {
        buf_add_repeat(e->out, ' ', indent - e->column);
        e->column = indent;
    }
    e->whitespace = true;
    e->indention = true;
}

void yml_emit_indicator(struct yml_emitter *e, const char *text, bool need_whitespace, bool is_whitespace,
                        bool is_indention)
{
    size_t n = strlen(text);

    if (need_whitespace && !e->whitespace)
        put(e, ' ');
    for (size_t i = 0; i < n; i++)
        put(e, text[i]);
    e->whitespace = is_whitespace;
    e->indention = e->indention && is_indention;
}

void yml_emit_word(struct yml_emitter *e, struct str s)
{
    if (!e->whitespace)
        put(e, ' ');
    put_text(e, s.p, s.n);
    e->whitespace = false;
    e->indention = false;
}

/* Bytes from i on that neither end a line nor may be folded at. */
static size_t run_length(struct str s, size_t i, char stop)
{
    size_t n = i;

    while (n < s.n && s.p[n] != ' ' && s.p[n] != '\n' && s.p[n] != '\r' && s.p[n] != stop &&
           (unsigned char)s.p[n] != 0xc2 && (unsigned char)s.p[n] != 0xe2)
        n++;
    return n - i;
}

static bool folds(const struct yml_emitter *e, bool allow_breaks, bool spaces)
{
    return allow_breaks && !spaces && !e->v3 && e->column > YML_WIDTH;
}

static void write_plain(struct yml_emitter *e, struct str s, bool allow_breaks)
{
    bool spaces = false;

    if (s.n > 0 && !e->whitespace)
        put(e, ' ');
    for (size_t i = 0; i < s.n;) {
        if (s.p[i] == ' ') {
            if (folds(e, allow_breaks, spaces) && !is_space(s, i + 1))
                yml_emit_indent(e);
            else
                put(e, ' ');
            i++;
            spaces = true;
        } else {
            size_t n = run_length(s, i, ' ');

            n = n ? n : width(s.p[i]);
            put_text(e, s.p + i, n);
            i += n;
            e->indention = false;
            spaces = false;
        }
    }
    e->whitespace = false;
    e->indention = false;
}

static void write_single(struct yml_emitter *e, struct str s, bool allow_breaks)
{
    bool spaces = false, breaks = false;

    yml_emit_indicator(e, "'", true, false, false);
    for (size_t i = 0; i < s.n;) {
        if (s.p[i] == ' ') {
            if (folds(e, allow_breaks, spaces) && i > 0 && i + 1 < s.n && !is_space(s, i + 1))
                yml_emit_indent(e);
            else
                put(e, ' ');
            i++;
            spaces = true;
        } else if (break_width(s, i) > 0) {
            if (!breaks && s.p[i] == '\n')
                put_break(e);
            write_break(e, s, &i);
            e->indention = true;
            breaks = true;
        } else {
            size_t n = run_length(s, i, '\'');

            if (breaks)
                yml_emit_indent(e);
            if (s.p[i] == '\'')
                put(e, '\'');
            n = n ? n : width(s.p[i]);
            put_text(e, s.p + i, n);
            i += n;
            e->indention = false;
            spaces = false;
            breaks = false;
        }
    }
    yml_emit_indicator(e, "'", false, false, false);
}

static void put_escape(struct yml_emitter *e, uint32_t rune)
{
    static const struct {
        uint16_t rune;
        char letter;
    } named[] = { { 0, '0' },     { 7, 'a' },    { 8, 'b' },    { 9, 't' },      { 10, 'n' },
                  { 11, 'v' },    { 12, 'f' },   { 13, 'r' },   { 0x1b, 'e' },   { '"', '"' },
                  { '\\', '\\' }, { 0x85, 'N' }, { 0xa0, '_' }, { 0x2028, 'L' }, { 0x2029, 'P' } };
    size_t from = e->out->n;

    for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
        if (named[i].rune == rune) {
            put(e, '\\');
            put(e, named[i].letter);
            return;
        }
    }
    if (rune <= 0xff)
        buf_addf(e->out, "\\x%02X", rune);
    else if (rune <= 0xffff)
        buf_addf(e->out, "\\u%04X", rune);
    else
        buf_addf(e->out, "\\U%08X", rune);
    e->column += e->out->n - from;
}

static void write_double(struct yml_emitter *e, struct str s, bool allow_breaks)
{
    /* upstream asks whether the text begins with a byte order mark where it means this character */
    bool escape_all = str_has_prefix(s, STR("\xef\xbb\xbf"));
    bool spaces = false;

    yml_emit_indicator(e, "\"", true, false, false);
    for (size_t i = 0; i < s.n;) {
        if (escape_all || !is_printable(s, i) || break_width(s, i) > 0 || s.p[i] == '"' || s.p[i] == '\\') {
            uint32_t rune;

            i += utf8_decode(str_sub(s, i, s.n), &rune);
            put_escape(e, rune);
            spaces = false;
        } else if (s.p[i] == ' ') {
            if (folds(e, allow_breaks, spaces) && i > 0 && i + 1 < s.n) {
                yml_emit_indent(e);
                if (is_space(s, i + 1))
                    put(e, '\\');
            } else {
                put(e, ' ');
            }
            i++;
            spaces = true;
        } else {
            size_t w = width(s.p[i]);

            put_text(e, s.p + i, w);
            i += w;
            spaces = false;
        }
    }
    yml_emit_indicator(e, "\"", false, false, false);
}

static size_t last_character(struct str s, size_t end)
{
    do
        end--;
    while (end > 0 && ((unsigned char)s.p[end] & 0xc0) == 0x80);
    return end;
}

static void write_hints(struct yml_emitter *e, struct str s)
{
    size_t last = last_character(s, s.n);

    if (s.p[0] == ' ' || break_width(s, 0) > 0)
        yml_emit_indicator(e, "2", false, false, false);
    if (break_width(s, last) == 0)
        yml_emit_indicator(e, "-", false, false, false);
    else if (last == 0 || break_width(s, last_character(s, last)) > 0)
        yml_emit_indicator(e, "+", false, false, false);
}

static void write_literal(struct yml_emitter *e, struct str s)
{
    bool breaks = true;

    yml_emit_indicator(e, "|", true, false, false);
    write_hints(e, s);
    put_break(e);
    e->indention = true;
    e->whitespace = true;
    for (size_t i = 0; i < s.n;) {
        if (break_width(s, i) > 0) {
            write_break(e, s, &i);
            e->indention = true;
            breaks = true;
        } else {
            size_t to = i + 1;

            if (breaks)
                yml_emit_indent(e);
            while (to < s.n && break_width(s, to) == 0)
                to++;
            put_text(e, s.p + i, to - i);
            i = to;
            e->indention = false;
            breaks = false;
        }
    }
}

void yml_emit_scalar(struct yml_emitter *e, struct str s, enum yml_style style, const struct yml_analysis *a,
                     bool key)
{
    int indent = e->indent;

    if (key && a->multiline)
        style = YML_DOUBLE;
    if (style == YML_PLAIN && (!a->plain || (s.n == 0 && key)))
        style = YML_SINGLE;
    if (style == YML_SINGLE && !a->single)
        style = YML_DOUBLE;
    if (style == YML_LITERAL && (!a->block || key))
        style = YML_DOUBLE;
    e->indent = indent < 0 ? YML_INDENT : indent + YML_INDENT;
    switch (style) {
    case YML_PLAIN:
        write_plain(e, s, !key);
        break;
    case YML_SINGLE:
        write_single(e, s, !key);
        break;
    case YML_DOUBLE:
        write_double(e, s, !key);
        break;
    case YML_LITERAL:
        write_literal(e, s);
        break;
    }
    e->indent = indent;
}
