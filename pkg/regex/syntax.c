/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/syntax.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "regex/syntax_int.h"

/* Go's parser counts the height of its tree; a pair of parentheses adds at least one. */
#define NESTING_MAX 1000

struct scan {
    struct regex_source *s;
    struct str in;
    size_t at;
    int groups, depth;
};

static char peek(const struct scan *sc, size_t ahead)
{
    return sc->at + ahead < sc->in.n ? sc->in.p[sc->at + ahead] : '\0';
}

static void copy(struct scan *sc, size_t n)
{
    n = MIN(n, sc->in.n - sc->at);
    buf_add(&sc->s->out, sc->in.p + sc->at, n);
    sc->at += n;
}

static void refuse(struct scan *sc, const char *problem, size_t from, size_t to)
{
    sc->s->problem = problem;
    sc->s->problem_at = from;
    sc->s->problem_to = MIN(to, sc->in.n);
    sc->s->out_before = sc->s->out.n;
    sc->at = sc->in.n;
}

/* \Q...\E is copied; libre2 reads it as Go does. */
static void scan_quoted(struct scan *sc)
{
    struct str rest = str_sub(sc->in, sc->at, sc->in.n);
    size_t end = str_find(rest, STR("\\E"));

    copy(sc, end == STR_NPOS ? rest.n : end + 2);
}

static void add_class(struct scan *sc, const char *name, bool negated, bool in_brackets)
{
    static const struct {
        const char *name, *inside, *inside_negated;
    } composed[] = {
        { "Ascii", "\\x00-\\x7f", "\\x{80}-\\x{10ffff}" },
        { "LC", "\\p{Lu}\\p{Ll}\\p{Lt}", NULL },
        { "Assigned", "\\pL\\pM\\pN\\pP\\pS\\pZ\\pC", NULL },
    };
    struct buf *out = &sc->s->out;

    if (strcmp(name, "Cn") == 0) {
        name = "Assigned";
        negated = !negated;
    }
    for (size_t i = 0; i < ARRAY_SIZE(composed); i++) {
        if (strcmp(name, composed[i].name) != 0)
            continue;
        if (!in_brackets)
            buf_addf(out, "[%s%s]", negated ? "^" : "", composed[i].inside);
        else if (!negated)
            buf_adds(out, composed[i].inside);
        else if (composed[i].inside_negated)
            buf_adds(out, composed[i].inside_negated);
        else
            buf_addf(out, "\\P{%s}", name); /* libre2 has no word for it and says so */
        return;
    }
    buf_addf(out, "\\%c{%s}", negated ? 'P' : 'p', name);
}

/* \pL \p{Greek} \P{^Lu}: Go knows more spellings than this libre2. */
static void scan_class_name(struct scan *sc, bool in_brackets)
{
    size_t from = sc->at, name_at = from + 2, name_to, to;
    bool negated = sc->in.p[from + 1] == 'P';
    const char *name;

    if (name_at < sc->in.n && sc->in.p[name_at] == '{') {
        size_t end = str_find_char(str_sub(sc->in, from, sc->in.n), '}');

        if (end == STR_NPOS) {
            refuse(sc, "invalid character class range", from, sc->in.n);
            return;
        }
        name_at++;
        name_to = from + end;
        to = name_to + 1;
    } else {
        uint32_t rune;

        to = name_to =
            name_at + (name_at < sc->in.n ? utf8_decode(str_sub(sc->in, name_at, sc->in.n), &rune) : 0);
    }
    if (name_at < name_to && sc->in.p[name_at] == '^') {
        negated = !negated;
        name_at++;
    }
    name = regex_class_name(str_sub(sc->in, name_at, name_to));
    if (!name) {
        refuse(sc, "invalid character class range", from, to);
        return;
    }
    add_class(sc, name, negated, in_brackets);
    sc->at = to;
}

static void scan_escape(struct scan *sc, bool in_brackets)
{
    char c = peek(sc, 1);

    if (c == 'Q' && !in_brackets)
        scan_quoted(sc);
    else if (c == 'p' || c == 'P')
        scan_class_name(sc, in_brackets);
    else if (c == 'C')
        refuse(sc, "invalid escape sequence", sc->at, sc->at + 2);
    else
        copy(sc, 2);
}

static void scan_brackets(struct scan *sc)
{
    size_t from = sc->at;

    copy(sc, 1);
    if (peek(sc, 0) == '^')
        copy(sc, 1);
    if (peek(sc, 0) == ']')
        copy(sc, 1);
    while (sc->at < sc->in.n && peek(sc, 0) != ']') {
        struct str rest = str_sub(sc->in, sc->at, sc->in.n);
        size_t end =
            str_has_prefix(rest, STR("[:")) ? str_find(str_sub(rest, 2, rest.n), STR(":]")) : STR_NPOS;

        if (end != STR_NPOS)
            copy(sc, end + 4);
        else if (rest.p[0] == '\\')
            scan_escape(sc, true);
        else
            copy(sc, 1);
    }
    if (sc->at < sc->in.n)
        copy(sc, 1);
    else if (!sc->s->problem)
        refuse(sc, "missing closing ]", from, sc->in.n);
}

static bool name_is_valid(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] != '_' && !ascii_is_alnum(name.p[i]))
            return false;
    return name.n > 0;
}

/* (?P<name> and (?<name>: the name is kept here, as it may come twice; libre2 sees another one. */
static void scan_named_group(struct scan *sc, size_t prefix)
{
    struct regex_source *s = sc->s;
    struct str rest = str_sub(sc->in, sc->at, sc->in.n), name;
    size_t end = str_find_char(rest, '>');

    if (end == STR_NPOS) {
        refuse(sc, "invalid named capture", sc->at, sc->in.n);
        return;
    }
    name = str_sub(rest, prefix, end);
    if (!name_is_valid(name)) {
        refuse(sc, "invalid named capture", sc->at, sc->at + end + 1);
        return;
    }
    ARRAY_GROW(s->names, s->cap_names, s->n_names + 1);
    s->names[s->n_names++] = (struct regex_name){ name, ++sc->groups };
    buf_addf(&s->out, "(?P<g%d>", sc->groups);
    sc->at += end + 1;
}

static void scan_open(struct scan *sc)
{
    struct str rest = str_sub(sc->in, sc->at, sc->in.n);

    if (++sc->depth > NESTING_MAX) {
        refuse(sc, "expression nests too deeply", 0, sc->in.n);
    } else if (rest.n > 4 && str_has_prefix(rest, STR("(?P<"))) {
        scan_named_group(sc, 4);
    } else if (rest.n > 3 && str_has_prefix(rest, STR("(?<"))) {
        scan_named_group(sc, 3);
    } else if (peek(sc, 1) == '?') {
        copy(sc, 2);
    } else {
        sc->groups++;
        copy(sc, 1);
    }
}

/* Where the first byte stands that is not UTF-8; in.n without one. */
static size_t valid_bytes(struct str in)
{
    size_t at = 0;

    while (at < in.n) {
        uint32_t rune;
        size_t n = utf8_decode(str_sub(in, at, in.n), &rune);

        if (rune == UTF8_INVALID)
            break;
        at += n;
    }
    return at;
}

void regex_source_read(struct regex_source *s, struct str pattern)
{
    size_t valid = valid_bytes(pattern);
    struct scan sc = { .s = s, .in = str_sub(pattern, 0, valid) };

    *s = (struct regex_source){ .out = BUF_INIT(REGEX_PATTERN_MAX * 16) };
    while (sc.at < sc.in.n) {
        char c = sc.in.p[sc.at];

        if (c == '\\')
            scan_escape(&sc, false);
        else if (c == '[')
            scan_brackets(&sc);
        else if (c == '(')
            scan_open(&sc);
        else
            copy(&sc, 1);
        if (c == ')')
            sc.depth--;
    }
    if (valid < pattern.n && (!s->problem || s->problem_to == valid)) {
        s->problem = "invalid UTF-8";
        s->problem_at = valid;
        s->problem_to = pattern.n;
        s->out_before = s->out.n;
    }
}

void regex_source_done(struct regex_source *s)
{
    buf_done(&s->out);
    free(s->names);
}
