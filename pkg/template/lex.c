/* SPDX-License-Identifier: Apache-2.0 */
#include "template/lex.h"
#include "base/utf8.h"

#include "template/func.h"
#include "template/quote.h"
#include "template/unicode.h"

#define TRIM_MARKER 2     /* bytes of "- " or " -" */
#define TOKENS_PER_STEP 2 /* at most: text and the delimiter behind it */

/* What a byte is inside an action. */
enum {
    ALNUM = 1, /* ASCII only */
    SPACE = 2,
    TERMINATOR = 4, /* an identifier may end before it; so it may before "}}" */
    DIGIT = 8,
    SIGN = 16,     /* '+' and '-' start numbers, as digits do */
    IN_STRING = 32 /* neither ends a quoted string nor escapes what follows */
};
#define PLAIN IN_STRING
static const uint8_t classes[256] = {
    [0x00 ... 0x08] = PLAIN,
    ['\t'] = PLAIN | SPACE | TERMINATOR,
    ['\n'] = SPACE | TERMINATOR,
    [0x0B ... 0x0C] = PLAIN,
    ['\r'] = PLAIN | SPACE | TERMINATOR,
    [0x0E ... 0x1F] = PLAIN,
    [' '] = PLAIN | SPACE | TERMINATOR,
    ['!'] = PLAIN,
    ['#' ... '&'] = PLAIN,
    ['('] = PLAIN | TERMINATOR,
    [')'] = PLAIN | TERMINATOR,
    ['*'] = PLAIN,
    ['+'] = PLAIN | SIGN,
    [','] = PLAIN | TERMINATOR,
    ['-'] = PLAIN | SIGN,
    ['.'] = PLAIN | TERMINATOR,
    ['/'] = PLAIN,
    ['0' ... '9'] = PLAIN | ALNUM | DIGIT,
    [':'] = PLAIN | TERMINATOR,
    [';' ... '@'] = PLAIN,
    ['A' ... 'Z'] = PLAIN | ALNUM,
    ['['] = PLAIN,
    [']' ... '^'] = PLAIN,
    ['_'] = PLAIN | ALNUM,
    ['`'] = PLAIN,
    ['a' ... 'z'] = PLAIN | ALNUM,
    ['{'] = PLAIN,
    ['|'] = PLAIN | TERMINATOR,
    ['}' ... 0xFF] = PLAIN,
};

static const struct keyword {
    struct str word;
    enum tok_kind kind;
} keywords[] = {
    { { "block", 5 }, TOK_BLOCK },       { { "break", 5 }, TOK_BREAK },
    { { "continue", 8 }, TOK_CONTINUE }, { { "define", 6 }, TOK_DEFINE },
    { { "else", 4 }, TOK_ELSE },         { { "end", 3 }, TOK_END },
    { { "false", 5 }, TOK_BOOL },        { { "if", 2 }, TOK_IF },
    { { "nil", 3 }, TOK_NIL },           { { "range", 5 }, TOK_RANGE },
    { { "template", 8 }, TOK_TEMPLATE }, { { "true", 4 }, TOK_BOOL },
    { { "with", 4 }, TOK_WITH },
};
/* By their first letter: how many, and which is the first. */
static const struct {
    uint8_t n, first;
} keywords_from[256] = {
    ['b'] = { 2, 0 }, ['c'] = { 1, 2 }, ['d'] = { 1, 3 }, ['e'] = { 2, 4 },  ['f'] = { 1, 6 },
    ['i'] = { 1, 7 }, ['n'] = { 1, 8 }, ['r'] = { 1, 9 }, ['t'] = { 2, 10 }, ['w'] = { 1, 12 },
};

void lex_init(struct lex *l, struct arena *a, struct str text)
{
    l->arena = a;
    l->in = text;
    l->at = text.p;
    l->end = text.n > 0 ? text.p + text.n : text.p;
    l->error = STR_NONE;
    l->paren_depth = 0;
    l->inside_action = l->ended = false;
    l->n = l->next = l->seen = 0;
}

uint32_t lex_line(const struct lex *l, uint32_t pos)
{
    const char *p = l->in.p, *end = l->in.n > 0 ? p + MIN(pos, l->in.n) : p;
    uint32_t line = 1;

    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        line++;
    return line;
}

/* ---- pieces ---- */

static uint8_t class_of(char c)
{
    return classes[(unsigned char)c];
}

static bool class_at(const struct lex *l, const char *p, uint8_t class)
{
    return p < l->end && (class_of(*p) & class);
}

static size_t left(const struct lex *l, const char *p)
{
    return (size_t)(l->end - p);
}

/* The bytes from l->at up to `end` are a token. */
static void emit(struct lex *l, enum tok_kind kind, const char *end)
{
    l->toks[l->n++] = (struct tok){ kind, (uint32_t)(l->at - l->in.p), (uint32_t)(end - l->at) };
    l->at = end;
}

/* The token at l->at is wrong, and the last one. */
static void fail(struct lex *l, struct str text)
{
    l->error = text;
    emit(l, TOK_ERROR, l->at);
    l->ended = true;
}

static void fail_rune(struct lex *l, const char *what, const char *p)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(256);
    uint32_t r;

    go_decode_rune((struct str){ p, left(l, p) }, &r);
    buf_addf(&b, "%s ", what);
    utf8_print_code_point(r, &b);
    fail(l, arena_dup(l->arena, buf_str(&b)));
}

static void fail_number(struct lex *l, const char *end)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, "bad number syntax: ");
    tpl_print_quoted((struct str){ l->at, (size_t)(end - l->at) }, &b);
    fail(l, arena_dup(l->arena, buf_str(&b)));
}

/* The letter or digit at p: where it ends. NULL: it is neither. */
static const char *skip_wide_alnum(const struct lex *l, const char *p)
{
    uint32_t r;
    size_t n;

    if (p == l->end || (unsigned char)*p < 0x80)
        return NULL;
    n = go_decode_rune((struct str){ p, left(l, p) }, &r);
    return unicode_is_letter(r) || unicode_is_digit(r) ? p + n : NULL;
}

static const char *skip_alnum(const struct lex *l, const char *p)
{
    for (;;) {
        const char *wide;

        while (class_at(l, p, ALNUM))
            p++;
        wide = skip_wide_alnum(l, p);
        if (!wide)
            return p;
        p = wide;
    }
}

static const char *skip_spaces(const struct lex *l, const char *p)
{
    while (class_at(l, p, SPACE))
        p++;
    return p;
}

static bool has_left_trim(const struct lex *l, const char *p)
{
    return left(l, p) >= 2 && p[0] == '-' && (class_of(p[1]) & SPACE);
}

static bool at_double_brace(const struct lex *l, const char *p)
{
    return left(l, p) >= 2 && p[0] == '}' && p[1] == '}';
}

/* At " -}}"? */
static bool has_right_trim(const struct lex *l, const char *p)
{
    return left(l, p) >= 4 && (class_of(p[0]) & SPACE) && p[1] == '-' && p[2] == '}' && p[3] == '}';
}

/* May an identifier, field or variable end here? */
static bool at_terminator(const struct lex *l, const char *p)
{
    return p == l->end || (class_of(*p) & TERMINATOR) || at_double_brace(l, p);
}

/* ---- outside actions ---- */

static const char *find_left_delim(const struct lex *l, const char *p)
{
    while (left(l, p) >= 2 && (p = memchr(p, '{', left(l, p) - 1))) {
        if (p[1] == '{')
            return p;
        p++;
    }
    return NULL;
}

static const char *find_comment_end(const struct lex *l, const char *p)
{
    while (left(l, p) >= 2 && (p = memchr(p, '*', left(l, p) - 1))) {
        p++;
        if (*p == '/')
            return p + 1;
    }
    return NULL;
}

/* Behind the delimiter and its trim marker, at the comment's start. */
static void lex_comment(struct lex *l)
{
    const char *end = find_comment_end(l, l->at + 2);

    if (!end) {
        fail(l, STR("unclosed comment"));
        return;
    }
    if (at_double_brace(l, end))
        l->at = end + 2;
    else if (has_right_trim(l, end))
        l->at = skip_spaces(l, end + TRIM_MARKER + 2);
    else
        fail(l, STR("comment ends before closing delimiter"));
}

static void lex_left_delim(struct lex *l)
{
    const char *behind = l->at + 2;

    if (has_left_trim(l, behind))
        behind += TRIM_MARKER;
    if (left(l, behind) >= 2 && behind[0] == '/' && behind[1] == '*') {
        l->at = behind;
        lex_comment(l);
        return;
    }
    emit(l, TOK_LEFT_DELIM, l->at + 2);
    l->at = behind;
    l->inside_action = true;
    l->paren_depth = 0;
}

static void lex_outside(struct lex *l)
{
    const char *delim = find_left_delim(l, l->at), *end = delim ? delim : l->end;

    if (delim && has_left_trim(l, delim + 2))
        while (end > l->at && (class_of(end[-1]) & SPACE))
            end--;
    if (end > l->at)
        emit(l, TOK_TEXT, end);
    if (delim) {
        l->at = delim;
        lex_left_delim(l);
    } else {
        emit(l, TOK_EOF, l->at);
        l->ended = true;
    }
}

/* ---- inside actions ---- */

/* At "}}", or at the " -}}" that trims. */
static void lex_right_delim(struct lex *l, bool trims)
{
    if (l->paren_depth != 0) {
        fail(l, STR("unclosed left paren"));
        return;
    }
    if (trims)
        l->at += TRIM_MARKER;
    emit(l, TOK_RIGHT_DELIM, l->at + 2);
    if (trims)
        l->at = skip_spaces(l, l->at);
    l->inside_action = false;
}

/* A run of blanks; the last one may belong to " -}}". */
static void lex_space(struct lex *l)
{
    const char *end = skip_spaces(l, l->at);

    if (!has_right_trim(l, end - 1))
        emit(l, TOK_SPACE, end);
    else if (end - 1 > l->at)
        emit(l, TOK_SPACE, end - 1);
    else
        lex_right_delim(l, true);
}

static void lex_word(struct lex *l)
{
    const char *end = skip_alnum(l, l->at);
    struct str word = { l->at, (size_t)(end - l->at) };
    const struct keyword *k = keywords + keywords_from[(unsigned char)word.p[0]].first;
    enum tok_kind kind = TOK_IDENTIFIER;

    if (!at_terminator(l, end)) {
        fail_rune(l, "bad character", end);
        return;
    }
    for (int n = keywords_from[(unsigned char)word.p[0]].n; n > 0; n--, k++)
        if (str_eq(word, k->word))
            kind = k->kind;
    emit(l, kind, end);
}

/* At '.' or '$'. */
static void lex_field_or_variable(struct lex *l, enum tok_kind kind)
{
    const char *end = l->at + 1;

    if (at_terminator(l, end)) {
        emit(l, kind == TOK_VARIABLE ? TOK_VARIABLE : TOK_DOT, end);
        return;
    }
    end = skip_alnum(l, end);
    if (at_terminator(l, end))
        emit(l, kind, end);
    else
        fail_rune(l, "bad character", end);
}

static bool accept(const struct lex *l, const char **p, const char *set)
{
    if (*p == l->end || !ascii_is_one_of(**p, set))
        return false;
    ++*p;
    return true;
}

static void accept_run(const struct lex *l, const char **p, const char *set)
{
    while (accept(l, p, set))
        ;
}

/* Leaves *p behind the number, or behind the letter or digit that makes it none. */
static bool scan_number(const struct lex *l, const char **p)
{
    static const char decimal[] = "0123456789_", hex[] = "0123456789abcdefABCDEF_";
    const char *digits = decimal, *wide;

    accept(l, p, "+-");
    if (accept(l, p, "0")) {
        if (accept(l, p, "xX"))
            digits = hex;
        else if (accept(l, p, "oO"))
            digits = "01234567_";
        else if (accept(l, p, "bB"))
            digits = "01_";
    }
    accept_run(l, p, digits);
    if (accept(l, p, "."))
        accept_run(l, p, digits);
    if ((digits == decimal && accept(l, p, "eE")) || (digits == hex && accept(l, p, "pP"))) {
        accept(l, p, "+-");
        accept_run(l, p, decimal);
    }
    accept(l, p, "i");
    wide = skip_wide_alnum(l, *p);
    if (!wide && !class_at(l, *p, ALNUM))
        return true;
    *p = wide ? wide : *p + 1;
    return false;
}

static void lex_number(struct lex *l)
{
    const char *end = l->at;

    if (!scan_number(l, &end))
        fail_number(l, end);
    else if (!class_at(l, end, SIGN))
        emit(l, TOK_NUMBER, end);
    else if (scan_number(l, &end) && end[-1] == 'i')
        emit(l, TOK_COMPLEX, end);
    else
        fail_number(l, end);
}

/* Up to the closing quote, which has no line break before it. */
static void lex_quoted(struct lex *l, enum tok_kind kind, struct str unterminated)
{
    const char *p = l->at + 1;

    for (;; p++) {
        while (class_at(l, p, IN_STRING))
            p++;
        if (p < l->end && *p == '\\')
            p++;
        else if (p < l->end && *p == *l->at)
            break;
        if (p == l->end || *p == '\n') {
            fail(l, unterminated);
            return;
        }
    }
    emit(l, kind, p + 1);
}

static void lex_raw_string(struct lex *l)
{
    const char *end = memchr(l->at + 1, '`', left(l, l->at + 1));

    if (end)
        emit(l, TOK_RAW_STRING, end + 1);
    else
        fail(l, STR("unterminated raw quoted string"));
}

static void lex_symbol(struct lex *l)
{
    const char *p = l->at;

    switch (*p) {
    case '=':
        emit(l, TOK_ASSIGN, p + 1);
        break;
    case ':':
        if (left(l, p) >= 2 && p[1] == '=')
            emit(l, TOK_DECLARE, p + 2);
        else
            fail(l, STR("expected :="));
        break;
    case '|':
        emit(l, TOK_PIPE, p + 1);
        break;
    case '"':
        lex_quoted(l, TOK_STRING, STR("unterminated quoted string"));
        break;
    case '\'':
        lex_quoted(l, TOK_CHAR_CONSTANT, STR("unterminated character constant"));
        break;
    case '`':
        lex_raw_string(l);
        break;
    case '$':
        lex_field_or_variable(l, TOK_VARIABLE);
        break;
    case '(':
        l->paren_depth++;
        emit(l, TOK_LEFT_PAREN, p + 1);
        break;
    case ')':
        if (--l->paren_depth >= 0)
            emit(l, TOK_RIGHT_PAREN, p + 1);
        else
            fail(l, STR("unexpected right paren"));
        break;
    default:
        if (*p > ' ' && *p < 0x7F)
            emit(l, TOK_CHAR, p + 1);
        else
            fail_rune(l, "unrecognized character in action:", p);
    }
}

static void lex_inside(struct lex *l)
{
    const char *p = l->at;
    uint8_t class;

    if (p == l->end) {
        fail(l, STR("unclosed action"));
        return;
    }
    class = class_of(*p);
    if (class & SPACE)
        lex_space(l);
    else if (*p == '.' && left(l, p) > 1 && !(class_of(p[1]) & DIGIT))
        lex_field_or_variable(l, TOK_FIELD);
    else if (*p == '.' || (class & (DIGIT | SIGN)))
        lex_number(l);
    else if ((class & ALNUM) || skip_wide_alnum(l, p))
        lex_word(l);
    else if (at_double_brace(l, p))
        lex_right_delim(l, false);
    else
        lex_symbol(l);
}

void lex_fill(struct lex *l)
{
    uint32_t kept = MIN(l->n, (uint32_t)LEX_BACK);

    memmove(l->toks, l->toks + l->n - kept, kept * sizeof(*l->toks));
    l->n = l->next = l->seen = kept;
    if (l->ended)
        emit(l, TOK_EOF, l->at);
    while (!l->ended && l->n + TOKENS_PER_STEP <= LEX_ROOM) {
        if (l->inside_action)
            lex_inside(l);
        else
            lex_outside(l);
    }
}
