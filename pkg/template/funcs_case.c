/* SPDX-License-Identifier: Apache-2.0 */
/* Words of mixed case cut apart and put together, as huandu/xstrings 1.5.0 does it. */
#include "template/funcs.h"
#include "template/unicode.h"

#define RUNE_ERROR 0xFFFD

enum word { WORD_NONE, WORD_NUMBER, WORD_UPPER, WORD_ALPHA, WORD_CONNECTOR, WORD_PUNCT, WORD_OTHER };

static bool is_connector(uint32_t r)
{
    return r == '-' || r == '_' || unicode_is_space(r);
}

/* Letters but Chinese ones, within upstream's bounds. */
static bool is_alphabet(uint32_t r)
{
    bool cjk = (r >= 0x3400 && r <= 0x4D85) || (r >= 0x4E00 && r <= 0x9FCC) || (r >= 0x20000 && r <= 0x2B81D);

    return unicode_is_letter(r) && !cjk;
}

/* Skips what is not UTF-8; *size counts that too. Without a valid rune left it is `prev` again. */
static uint32_t next_valid(struct str s, uint32_t prev, size_t *size)
{
    *size = 0;
    while (s.n > 0) {
        uint32_t r;
        size_t n = fn_rune(s, &r);

        *size += n;
        if (r != RUNE_ERROR)
            return r;
        s = str_sub(s, n, s.n);
    }
    return prev;
}

static bool is_lower_run(uint32_t r)
{
    return is_alphabet(r) && !unicode_is_upper(r);
}

static bool is_other_run(uint32_t r)
{
    return !is_connector(r) && !is_alphabet(r) && !unicode_is_number(r) && !unicode_is_punct(r);
}

/* How many bytes from `at` on are runes that `belongs` takes; *last is the first that is not (or the last at the end). */
static size_t run_length(struct str s, size_t at, uint32_t *last, bool (*belongs)(uint32_t r))
{
    size_t end = at;

    while (end < s.n) {
        size_t size;

        *last = next_valid(str_sub(s, end, s.n), *last, &size);
        if (!belongs(*last))
            break;
        end += size;
    }
    return end - at;
}

/* A word of capitals ("HTTP" of "HTTPStatus") or a capital with what follows ("Status"). */
static size_t upper_word(struct str s, size_t first, uint32_t r)
{
    size_t at = first, size, last_size;

    if (at >= s.n)
        return at;
    r = next_valid(str_sub(s, at, s.n), r, &size);
    if (!unicode_is_upper(r))
        return is_alphabet(r) ? at + size + run_length(s, at + size, &r, is_lower_run) : at;
    last_size = size;
    at += size;
    while (at < s.n) {
        r = next_valid(str_sub(s, at, s.n), r, &size);
        if (!unicode_is_upper(r))
            break;
        last_size = size;
        at += size;
    }
    if (at < s.n && is_alphabet(r))
        at -= last_size; /* the last capital starts the next word */
    return at;
}

static enum word next_word(struct str *rest, struct str *ret_word)
{
    struct str s = *rest;
    enum word kind = WORD_OTHER;
    size_t size, end;
    uint32_t r;

    if (s.n == 0) {
        *ret_word = s;
        return WORD_NONE;
    }
    r = next_valid(s, RUNE_ERROR, &size);
    end = size;
    if (r == RUNE_ERROR) {
        kind = WORD_NONE;
    } else if (is_connector(r)) {
        kind = WORD_CONNECTOR;
        end += run_length(s, end, &r, is_connector);
    } else if (unicode_is_punct(r)) {
        kind = WORD_PUNCT;
        end += run_length(s, end, &r, unicode_is_punct);
    } else if (unicode_is_upper(r)) {
        kind = WORD_UPPER;
        end = upper_word(s, end, r);
    } else if (is_alphabet(r)) {
        kind = WORD_ALPHA;
        end += run_length(s, end, &r, is_lower_run);
    } else if (unicode_is_number(r)) {
        kind = WORD_NUMBER;
        end += run_length(s, end, &r, unicode_is_number);
    } else {
        end += run_length(s, end, &r, is_other_run);
    }
    *ret_word = str_sub(s, 0, end);
    *rest = str_sub(s, end, s.n);
    return kind;
}

static void add_word(struct buf *out, enum word kind, struct str word, char connector)
{
    if (kind != WORD_UPPER && kind != WORD_CONNECTOR) {
        buf_addstr(out, word);
        return;
    }
    while (word.n > 0) {
        uint32_t r;
        size_t n = fn_rune(word, &r);

        if (is_connector(r))
            buf_addc(out, connector);
        else
            buf_add_rune(out, unicode_is_upper(r) ? unicode_to_lower(r) : r);
        word = str_sub(word, n, word.n);
    }
}

struct splitter {
    struct str rest, word;
    enum word kind;
    char connector;
    struct buf *out;
};

static void advance(struct splitter *sp)
{
    sp->kind = next_word(&sp->rest, &sp->word);
}

static void add_alnum_words(struct splitter *sp)
{
    while (sp->kind == WORD_ALPHA || sp->kind == WORD_NUMBER) {
        add_word(sp->out, sp->kind, sp->word, sp->connector);
        advance(sp);
    }
}

static bool joins(enum word kind)
{
    return kind == WORD_CONNECTOR || kind == WORD_PUNCT;
}

/* The word before was neither a number nor a connector nor punctuation, and a number follows: "Bld4Floor3rd" keeps 4
 * with what is before it and 3 with what is behind. */
static void split_number(struct splitter *sp)
{
    struct str number = sp->word;

    if (sp->rest.n == 0)
        return;
    advance(sp);
    if (sp->kind != WORD_ALPHA) {
        add_word(sp->out, WORD_NUMBER, number, sp->connector);
        if (!joins(sp->kind))
            buf_addc(sp->out, sp->connector);
        return;
    }
    buf_addc(sp->out, sp->connector);
    add_word(sp->out, WORD_NUMBER, number, sp->connector);
    add_alnum_words(sp);
    if (sp->kind != WORD_NONE && !joins(sp->kind))
        buf_addc(sp->out, sp->connector);
}

void fn_split_case(struct str s, char connector, struct buf *out)
{
    struct splitter sp = { .rest = s, .connector = connector, .out = out };

    if (s.n == 0)
        return;
    advance(&sp);
    while (sp.rest.n > 0) {
        enum word before = sp.kind;
        struct str last = sp.word;

        if (before != WORD_CONNECTOR)
            add_word(out, before, last, connector);
        advance(&sp);
        if (before == WORD_NUMBER) {
            add_alnum_words(&sp);
            if (sp.kind != WORD_NONE && !joins(sp.kind))
                buf_addc(out, connector);
        } else if (before == WORD_CONNECTOR) {
            add_word(out, before, last, connector);
        } else if (before != WORD_PUNCT) {
            if (sp.kind == WORD_NUMBER)
                split_number(&sp);
            else if (!joins(sp.kind))
                buf_addc(out, connector);
        }
    }
    add_word(out, sp.kind, sp.word, connector);
}

void fn_pascal_case(struct str s, struct buf *out)
{
    bool first_upper = false;
    uint32_t r = 0, before;
    size_t n = 0;

    while (s.n > 0) { /* leading connectors stay */
        n = fn_rune(s, &r);
        s = str_sub(s, n, s.n);
        if (!is_connector(r)) {
            first_upper = unicode_is_upper(r);
            r = unicode_to_upper(r);
            break;
        }
        buf_add_rune(out, r);
    }
    if (s.n == 0) {
        if (n > 0)
            buf_add_rune(out, r);
        return;
    }
    while (s.n > 0) {
        before = r;
        n = fn_rune(s, &r);
        s = str_sub(s, n, s.n);
        if (is_connector(r) && is_connector(before)) {
            buf_add_rune(out, before);
            continue;
        }
        if (is_connector(before)) {
            first_upper = unicode_is_upper(r);
            r = unicode_to_upper(r);
            continue;
        }
        if (first_upper && unicode_is_upper(r))
            r = unicode_to_lower(r);
        else
            first_upper = false;
        buf_add_rune(out, before);
    }
    buf_add_rune(out, r);
}
