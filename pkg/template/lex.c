/* SPDX-License-Identifier: Apache-2.0 */
#include "template/lex.h"

#include "template/func.h"
#include "template/quote.h"
#include "template/unicode.h"

#define END_OF_TEXT UINT32_MAX
#define TRIM_MARKER 2 /* bytes of "- " or " -" */

/* What to do next; DONE: l->item is the token. */
enum step { DONE, IN_TEXT, LEFT_DELIM, COMMENT, RIGHT_DELIM, INSIDE_ACTION };

static const struct {
    struct str word;
    enum tok_kind kind;
} keywords[] = {
    { { "block", 5 }, TOK_BLOCK },
    { { "break", 5 }, TOK_BREAK },
    { { "continue", 8 }, TOK_CONTINUE },
    { { "define", 6 }, TOK_DEFINE },
    { { "else", 4 }, TOK_ELSE },
    { { "end", 3 }, TOK_END },
    { { "if", 2 }, TOK_IF },
    { { "nil", 3 }, TOK_NIL },
    { { "range", 5 }, TOK_RANGE },
    { { "template", 8 }, TOK_TEMPLATE },
    { { "with", 4 }, TOK_WITH },
    { { "true", 4 }, TOK_BOOL },
    { { "false", 5 }, TOK_BOOL },
};
#define KEYWORD_MAX 8 /* bytes of the longest */

/* What an ASCII byte can be. */
enum { ALNUM = 1, SPACE = 2, TERMINATOR = 4 /* but '}', of which two are needed */ };
static const uint8_t classes[0x80] = {
    ['0' ... '9'] = ALNUM,       ['A' ... 'Z'] = ALNUM,
    ['a' ... 'z'] = ALNUM,       ['_'] = ALNUM,
    [' '] = SPACE | TERMINATOR,  ['\t'] = SPACE | TERMINATOR,
    ['\r'] = SPACE | TERMINATOR, ['\n'] = SPACE | TERMINATOR,
    ['.'] = TERMINATOR,          [','] = TERMINATOR,
    ['|'] = TERMINATOR,          [':'] = TERMINATOR,
    ['('] = TERMINATOR,          [')'] = TERMINATOR,
};

void lex_init(struct lex *l, struct arena *a, struct str text)
{
    *l = (struct lex){ .arena = a, .in = text, .line = 1, .start_line = 1 };
}

static struct str rest(const struct lex *l, size_t at)
{
    return at <= l->in.n ? str_sub(l->in, at, l->in.n) : STR("");
}

static uint32_t next(struct lex *l)
{
    uint32_t r;

    if (l->pos >= l->in.n)
        return END_OF_TEXT;
    l->pos += go_decode_rune(rest(l, l->pos), &r);
    if (r == '\n')
        l->line++;
    return r;
}

static uint32_t peek(const struct lex *l)
{
    uint32_t r;

    if (l->pos >= l->in.n)
        return END_OF_TEXT;
    if ((unsigned char)l->in.p[l->pos] < 0x80)
        return (unsigned char)l->in.p[l->pos];
    go_decode_rune(rest(l, l->pos), &r);
    return r;
}

static uint32_t count_lines(struct str s)
{
    uint32_t n = 0;

    for (const char *p = s.p, *end = s.p + s.n; s.n > 0 && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

static enum step emit(struct lex *l, enum tok_kind kind)
{
    l->item = (struct tok){ kind, (uint32_t)l->start, l->start_line, str_sub(l->in, l->start, l->pos) };
    l->start = l->pos;
    l->start_line = l->line;
    return DONE;
}

/* Skips what lies between start and pos and was not read with next(). */
static void ignore(struct lex *l)
{
    l->line += count_lines(str_sub(l->in, l->start, l->pos));
    l->start = l->pos;
    l->start_line = l->line;
}

static enum step fail(struct lex *l, struct str text)
{
    l->item = (struct tok){ TOK_ERROR, (uint32_t)l->start, l->start_line, text };
    l->start = l->pos = 0;
    l->in.n = 0;
    return DONE;
}

static enum step fail_rune(struct lex *l, const char *what, uint32_t r)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(256);

    buf_addf(&b, "%s ", what);
    go_print_code_point(r, &b);
    return fail(l, arena_dup(l->arena, buf_str(&b)));
}

static enum step fail_number(struct lex *l)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, "bad number syntax: ");
    tpl_print_quoted(str_sub(l->in, l->start, l->pos), &b);
    return fail(l, arena_dup(l->arena, buf_str(&b)));
}

static bool is_space(uint32_t r)
{
    return r < 0x80 && (classes[r] & SPACE);
}

static bool is_alnum(uint32_t r)
{
    if (r < 0x80)
        return classes[r] & ALNUM;
    return r != END_OF_TEXT && (unicode_is_letter(r) || unicode_is_digit(r));
}

static bool has_left_trim(struct str s)
{
    return s.n >= 2 && s.p[0] == '-' && is_space((unsigned char)s.p[1]);
}

static bool has_right_trim(struct str s)
{
    return s.n >= 2 && is_space((unsigned char)s.p[0]) && s.p[1] == '-';
}

/* At "}}" or " -}}"? */
static bool at_right_delim(const struct lex *l, bool *ret_trim)
{
    const char *p = l->in.p + l->pos;
    size_t n = l->in.n - l->pos;

    *ret_trim = n >= 4 && p[1] == '-' && p[2] == '}' && p[3] == '}' && is_space((unsigned char)p[0]);
    return *ret_trim || (n >= 2 && p[0] == '}' && p[1] == '}');
}

static size_t spaces_at_end(struct str s)
{
    size_t n = 0;

    while (n < s.n && is_space((unsigned char)s.p[s.n - 1 - n]))
        n++;
    return n;
}

static size_t spaces_at_start(struct str s)
{
    size_t n = 0;

    while (n < s.n && is_space((unsigned char)s.p[n]))
        n++;
    return n;
}

static enum step lex_text(struct lex *l)
{
    size_t at = str_find(rest(l, l->pos), STR("{{")), trim = 0;
    bool has_text;

    if (at == STR_NPOS) {
        l->pos = l->in.n;
        l->line += count_lines(str_sub(l->in, l->start, l->pos));
        return emit(l, l->pos > l->start ? TOK_TEXT : TOK_EOF);
    }
    if (at == 0)
        return LEFT_DELIM;
    l->pos += at;
    if (has_left_trim(rest(l, l->pos + 2)))
        trim = spaces_at_end(str_sub(l->in, l->start, l->pos));
    l->pos -= trim;
    l->line += count_lines(str_sub(l->in, l->start, l->pos));
    has_text = l->pos > l->start;
    emit(l, TOK_TEXT);
    l->pos += trim;
    ignore(l);
    return has_text ? DONE : LEFT_DELIM;
}

static enum step lex_left_delim(struct lex *l)
{
    size_t marker;

    l->pos += 2;
    marker = has_left_trim(rest(l, l->pos)) ? TRIM_MARKER : 0;
    if (str_has_prefix(rest(l, l->pos + marker), STR("/*"))) {
        l->pos += marker;
        ignore(l);
        return COMMENT;
    }
    emit(l, TOK_LEFT_DELIM);
    l->inside_action = true;
    l->pos += marker;
    ignore(l);
    l->paren_depth = 0;
    return DONE;
}

static enum step lex_comment(struct lex *l)
{
    size_t at = str_find(rest(l, l->pos + 2), STR("*/"));
    bool trim;

    if (at == STR_NPOS)
        return fail(l, STR("unclosed comment"));
    l->pos += at + 4;
    if (!at_right_delim(l, &trim))
        return fail(l, STR("comment ends before closing delimiter"));
    l->pos += trim ? TRIM_MARKER + 2 : 2;
    if (trim)
        l->pos += spaces_at_start(rest(l, l->pos));
    ignore(l);
    return IN_TEXT;
}

static enum step lex_right_delim(struct lex *l)
{
    bool trim;

    at_right_delim(l, &trim);
    if (trim) {
        l->pos += TRIM_MARKER;
        ignore(l);
    }
    l->pos += 2;
    emit(l, TOK_RIGHT_DELIM);
    if (trim) {
        l->pos += spaces_at_start(rest(l, l->pos));
        ignore(l);
    }
    l->inside_action = false;
    return DONE;
}

/* A run of blanks; the last one may belong to " -}}". */
static enum step lex_space(struct lex *l)
{
    size_t n = spaces_at_start(rest(l, l->pos));
    struct str last;

    if (n > 1 || l->in.p[l->pos] == '\n')
        l->line += count_lines(str_sub(l->in, l->pos, l->pos + n));
    l->pos += n;
    last = rest(l, l->pos - 1);
    if (has_right_trim(last) && str_has_prefix(str_sub(last, TRIM_MARKER, last.n), STR("}}"))) {
        l->pos--;
        if (last.p[0] == '\n')
            l->line--;
        if (n == 1)
            return RIGHT_DELIM;
    }
    return emit(l, TOK_SPACE);
}

/* May an identifier, field or variable end here? */
static bool at_terminator(const struct lex *l)
{
    uint32_t r = peek(l);

    return (r < 0x80 && (classes[r] & TERMINATOR)) || r == END_OF_TEXT ||
           (r == '}' && l->pos + 1 < l->in.n && l->in.p[l->pos + 1] == '}');
}

static void skip_alnum(struct lex *l)
{
    for (;;) {
        while (l->pos < l->in.n && (unsigned char)l->in.p[l->pos] < 0x80 &&
               (classes[(unsigned char)l->in.p[l->pos]] & ALNUM))
            l->pos++;
        if (l->pos == l->in.n || (unsigned char)l->in.p[l->pos] < 0x80 || !is_alnum(peek(l)))
            return;
        next(l);
    }
}

static enum step lex_identifier(struct lex *l)
{
    struct str word;

    skip_alnum(l);
    word = str_sub(l->in, l->start, l->pos);
    if (!at_terminator(l))
        return fail_rune(l, "bad character", peek(l));
    for (size_t i = 0; i < ARRAY_SIZE(keywords) && word.n <= KEYWORD_MAX; i++)
        if (word.p[0] == keywords[i].word.p[0] && str_eq(word, keywords[i].word))
            return emit(l, keywords[i].kind);
    return emit(l, TOK_IDENTIFIER);
}

/* Behind '.' or '$'. */
static enum step lex_field_or_variable(struct lex *l, enum tok_kind kind)
{
    if (at_terminator(l))
        return emit(l, kind == TOK_VARIABLE ? TOK_VARIABLE : TOK_DOT);
    skip_alnum(l);
    if (!at_terminator(l))
        return fail_rune(l, "bad character", peek(l));
    return emit(l, kind);
}

static bool accept(struct lex *l, const char *set)
{
    uint32_t r = peek(l);

    if (r >= 0x80 || r == 0 || !strchr(set, (int)r))
        return false;
    l->pos++; /* no set has a line break */
    return true;
}

static void accept_run(struct lex *l, const char *set)
{
    while (accept(l, set))
        ;
}

static bool scan_number(struct lex *l)
{
    static const char decimal[] = "0123456789_", hex[] = "0123456789abcdefABCDEF_";
    const char *digits = decimal;

    accept(l, "+-");
    if (accept(l, "0")) {
        if (accept(l, "xX"))
            digits = hex;
        else if (accept(l, "oO"))
            digits = "01234567_";
        else if (accept(l, "bB"))
            digits = "01_";
    }
    accept_run(l, digits);
    if (accept(l, "."))
        accept_run(l, digits);
    if ((digits == decimal && accept(l, "eE")) || (digits == hex && accept(l, "pP"))) {
        accept(l, "+-");
        accept_run(l, decimal);
    }
    accept(l, "i");
    if (!is_alnum(peek(l)))
        return true;
    next(l);
    return false;
}

static enum step lex_number(struct lex *l)
{
    uint32_t sign;

    if (!scan_number(l))
        return fail_number(l);
    sign = peek(l);
    if (sign != '+' && sign != '-')
        return emit(l, TOK_NUMBER);
    if (!scan_number(l) || l->in.p[l->pos - 1] != 'i')
        return fail_number(l);
    return emit(l, TOK_COMPLEX);
}

/* Up to the closing `quote`, which has no line break before it. */
static enum step lex_quoted(struct lex *l, uint32_t quote, enum tok_kind kind, struct str unterminated)
{
    for (;;) {
        uint32_t r;

        while (l->pos < l->in.n && (unsigned char)l->in.p[l->pos] < 0x80 &&
               (classes[(unsigned char)l->in.p[l->pos]] & ALNUM))
            l->pos++;
        r = next(l);
        if (r == '\\') {
            r = next(l);
            if (r != END_OF_TEXT && r != '\n')
                continue;
        }
        if (r == END_OF_TEXT || r == '\n')
            return fail(l, unterminated);
        if (r == quote)
            return emit(l, kind);
    }
}

static enum step lex_raw_string(struct lex *l)
{
    size_t at = str_find_char(rest(l, l->pos), '`');

    if (at == STR_NPOS)
        return fail(l, STR("unterminated raw quoted string"));
    l->line += count_lines(str_sub(l->in, l->pos, l->pos + at));
    l->pos += at + 1;
    return emit(l, TOK_RAW_STRING);
}

static enum step lex_paren(struct lex *l, uint32_t r)
{
    if (r == '(') {
        l->paren_depth++;
        return emit(l, TOK_LEFT_PAREN);
    }
    if (--l->paren_depth < 0)
        return fail(l, STR("unexpected right paren"));
    return emit(l, TOK_RIGHT_PAREN);
}

static enum step lex_symbol(struct lex *l, uint32_t r)
{
    switch (r) {
    case END_OF_TEXT:
        return fail(l, STR("unclosed action"));
    case '=':
        return emit(l, TOK_ASSIGN);
    case ':':
        return next(l) == '=' ? emit(l, TOK_DECLARE) : fail(l, STR("expected :="));
    case '|':
        return emit(l, TOK_PIPE);
    case '"':
        return lex_quoted(l, '"', TOK_STRING, STR("unterminated quoted string"));
    case '\'':
        return lex_quoted(l, '\'', TOK_CHAR_CONSTANT, STR("unterminated character constant"));
    case '`':
        return lex_raw_string(l);
    case '$':
        return lex_field_or_variable(l, TOK_VARIABLE);
    case '(':
    case ')':
        return lex_paren(l, r);
    default:
        return r > ' ' && r < 0x7F ? emit(l, TOK_CHAR) : fail_rune(l, "unrecognized character in action:", r);
    }
}

static enum step lex_inside_action(struct lex *l)
{
    bool trim;
    uint32_t r;

    if (at_right_delim(l, &trim))
        return l->paren_depth == 0 ? RIGHT_DELIM : fail(l, STR("unclosed left paren"));
    r = peek(l);
    if (is_space(r))
        return lex_space(l);
    if (r == '.' && l->pos + 1 < l->in.n && !ascii_is_digit(l->in.p[l->pos + 1])) {
        next(l);
        return lex_field_or_variable(l, TOK_FIELD);
    }
    if (r == '.' || r == '+' || r == '-' || (r >= '0' && r <= '9'))
        return lex_number(l);
    if (is_alnum(r))
        return lex_identifier(l);
    next(l);
    return lex_symbol(l, r);
}

struct tok lex_next(struct lex *l)
{
    enum step step = l->inside_action ? INSIDE_ACTION : IN_TEXT;

    while (step != DONE) {
        switch (step) {
        case IN_TEXT:
            step = lex_text(l);
            break;
        case LEFT_DELIM:
            step = lex_left_delim(l);
            break;
        case COMMENT:
            step = lex_comment(l);
            break;
        case RIGHT_DELIM:
            step = lex_right_delim(l);
            break;
        case INSIDE_ACTION:
            step = lex_inside_action(l);
            break;
        case DONE:
            break;
        }
    }
    return l->item;
}
