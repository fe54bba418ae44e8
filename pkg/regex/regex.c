/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "regex/program.h"
#include "regex/syntax.h"

/* What libre2 may use for one expression: its program and, while it matches, its automata. Charts' patterns need a few
 * hundred KiB; one that needs more gets it, but is not kept. */
#define MEMORY_USUAL ((size_t)2 << 20)
#define MEMORY_MAX ((size_t)64 << 20)
#define CACHE_SLOTS 64
#define SPECIAL "\\.+*?()|[]{}^$" /* what is not text in a pattern */

struct group_name {
    char *name;
    int group;
};

struct regex {
    atomic_uint refs;
    struct program *program; /* NULL: the pattern is the text to find */
    char *pattern;
    size_t pattern_n;
    struct group_name *names;
    size_t n_names;
    bool may_split_runes; /* see find_at_rune() */
};

/* The expressions used last, by hash of their pattern; a newer one takes the place of an older one. */
static struct {
    pthread_mutex_t lock;
    struct regex *slots[CACHE_SLOTS];
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const messages[RE2_ERROR_MAX_] = {
    [RE2_INTERNAL] = "regexp/syntax: internal error",
    [RE2_BAD_ESCAPE] = "invalid escape sequence",
    [RE2_BAD_CHAR_CLASS] = "invalid character class",
    [RE2_BAD_CHAR_RANGE] = "invalid character class range",
    [RE2_MISSING_BRACKET] = "missing closing ]",
    [RE2_MISSING_PAREN] = "missing closing )",
    [RE2_UNEXPECTED_PAREN] = "unexpected )",
    [RE2_TRAILING_BACKSLASH] = "trailing backslash at end of expression",
    [RE2_REPEAT_ARGUMENT] = "missing argument to repetition operator",
    [RE2_REPEAT_SIZE] = "invalid repeat count",
    [RE2_REPEAT_OP] = "invalid nested repetition operator",
    [RE2_BAD_PERL_OP] = "invalid or unsupported Perl syntax",
    [RE2_BAD_UTF8] = "invalid UTF-8",
    [RE2_BAD_NAMED_CAPTURE] = "invalid named capture",
    [RE2_TOO_LARGE] = "expression too large",
};

static int fail(const char *message, struct str piece, struct err **err)
{
    return err_set(err, ERRC_PARSE, "error parsing regexp: %s: `" STR_FMT "`", message, STR_ARG(piece));
}

/* libre2 names another piece than Go for some errors. */
static int fail_re2(enum re2_error code, struct str arg, struct str pattern, struct err **err)
{
    if (code == RE2_MISSING_PAREN || code == RE2_UNEXPECTED_PAREN)
        arg = pattern;
    if (code == RE2_TOO_LARGE)
        return err_set(err, ERRC_LIMIT, "error parsing regexp: expression too large");
    if (code == RE2_TRAILING_BACKSLASH)
        arg = STR("");
    return fail(messages[code], arg, err);
}

/* What the part of a pattern in front of a problem is bound to lack. */
static bool is_unfinished(enum re2_error code)
{
    return code == RE2_MISSING_PAREN || code == RE2_MISSING_BRACKET || code == RE2_TRAILING_BACKSLASH ||
           code == RE2_TOO_LARGE;
}

static int fail_source(const struct regex_source *s, struct str pattern, struct err **err)
{
    CLEANUP(free_ptr) char *arg = NULL;
    size_t arg_n = 0;
    enum re2_error code;
    struct program *before =
        regex_program_new(str_sub(buf_str(&s->out), 0, s->out_before), MEMORY_USUAL, &code, &arg, &arg_n);

    if (before)
        regex_program_free(before);
    else if (!is_unfinished(code))
        return fail_re2(code, (struct str){ arg, arg_n }, pattern, err);
    return fail(s->problem, str_sub(pattern, s->problem_at, s->problem_to), err);
}

static struct regex *regex_new(struct str pattern, struct program *program, const struct regex_source *s)
{
    struct regex *re = xcalloc(1, sizeof(*re));

    atomic_init(&re->refs, 1);
    re->program = program;
    re->pattern = str_dup(pattern);
    re->pattern_n = pattern.n;
    re->names = xcalloc(s->n_names, sizeof(*re->names));
    re->n_names = s->n_names;
    re->may_split_runes = str_contains(pattern, STR("\\B"));
    for (size_t i = 0; i < s->n_names; i++)
        re->names[i] = (struct group_name){ str_dup(s->names[i].name), s->names[i].group };
    return re;
}

static bool is_special(char c)
{
    return c == '\0' || (unsigned char)c >= 0x80 || ascii_is_one_of(c, SPECIAL);
}

static bool is_plain_text(struct str pattern)
{
    for (size_t i = 0; i < pattern.n; i++)
        if (is_special(pattern.p[i]))
            return false;
    return pattern.n > 0;
}

/* *ret_large: it took more memory than usual. */
static int compile(struct str pattern, struct regex **ret, bool *ret_large, struct err **err)
{
    static const size_t budgets[] = { MEMORY_USUAL, MEMORY_MAX };
    CLEANUP(regex_source_done) struct regex_source s = { 0 };
    enum re2_error code = RE2_OK;
    CLEANUP(free_ptr) char *arg = NULL;
    size_t arg_n = 0;

    if (pattern.n > REGEX_PATTERN_MAX)
        return fail_re2(RE2_TOO_LARGE, STR_NONE, pattern, err);
    if (is_plain_text(pattern)) {
        *ret = regex_new(pattern, NULL, &s);
        return 0;
    }
    regex_source_read(&s, pattern);
    if (s.problem)
        return fail_source(&s, pattern, err);
    for (size_t i = 0; i < ARRAY_SIZE(budgets); i++) {
        struct program *program;

        free(arg);
        arg = NULL;
        program = regex_program_new(buf_str(&s.out), budgets[i], &code, &arg, &arg_n);
        if (program) {
            *ret = regex_new(pattern, program, &s);
            *ret_large = i > 0;
            return 0;
        }
        if (code != RE2_TOO_LARGE)
            break;
    }
    return fail_re2(code, (struct str){ arg, arg_n }, pattern, err);
}

static struct regex *regex_ref(struct regex *re)
{
    atomic_fetch_add_explicit(&re->refs, 1, memory_order_relaxed);
    return re;
}

static void cache_put(size_t slot, struct regex *re)
{
    struct regex *old;

    pthread_mutex_lock(&cache.lock);
    old = cache.slots[slot];
    cache.slots[slot] = regex_ref(re);
    pthread_mutex_unlock(&cache.lock);
    regex_unref(old);
}

int regex_compile(struct str pattern, struct regex **ret, struct err **err)
{
    size_t slot = str_hash(pattern) % CACHE_SLOTS;
    struct regex *re = NULL;
    bool large = false;
    int r;

    pthread_mutex_lock(&cache.lock);
    if (cache.slots[slot] &&
        str_eq(pattern, (struct str){ cache.slots[slot]->pattern, cache.slots[slot]->pattern_n }))
        re = regex_ref(cache.slots[slot]);
    pthread_mutex_unlock(&cache.lock);
    if (!re) {
        r = compile(pattern, &re, &large, err);
        if (r < 0)
            return r;
        if (!large)
            cache_put(slot, re);
    }
    *ret = re;
    return 0;
}

struct regex *regex_unref(struct regex *re)
{
    if (!re || atomic_fetch_sub_explicit(&re->refs, 1, memory_order_acq_rel) != 1)
        return NULL;
    if (re->program)
        regex_program_free(re->program);
    for (size_t i = 0; i < re->n_names; i++)
        free(re->names[i].name);
    free(re->names);
    free(re->pattern);
    free(re);
    return NULL;
}

size_t regex_groups(const struct regex *re)
{
    return re->program ? regex_program_groups(re->program) : 0;
}

int regex_group_number(const struct regex *re, struct str name)
{
    for (size_t i = 0; i < re->n_names; i++)
        if (str_eq(name, str_from(re->names[i].name)))
            return re->names[i].group;
    return -1;
}

struct str regex_group_name(const struct regex *re, size_t group)
{
    for (size_t i = 0; i < re->n_names; i++)
        if ((size_t)re->names[i].group == group)
            return str_from(re->names[i].name);
    return STR("");
}

/* ---- texts with bytes that are not UTF-8 ---- */

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define REPLACEMENT_GROWTH 2       /* bytes that it is longer than the byte it stands for */

struct regex_text {
    struct buf fixed;
    size_t *bad; /* offsets in the original, ascending */
    size_t n_bad, cap_bad;
};

static struct regex_text *text_new(struct str text)
{
    struct regex_text *t;

    if (utf8_valid(text))
        return NULL;
    t = xcalloc(1, sizeof(*t));
    t->fixed = BUF_INIT(SIZE_MAX / 2);
    for (size_t at = 0; at < text.n;) {
        uint32_t rune;
        size_t n = utf8_decode(str_sub(text, at, text.n), &rune);

        if (rune == UTF8_INVALID) {
            ARRAY_GROW(t->bad, t->cap_bad, t->n_bad + 1);
            t->bad[t->n_bad++] = at;
            buf_adds(&t->fixed, REPLACEMENT);
        } else {
            buf_add(&t->fixed, text.p + at, n);
        }
        at += n;
    }
    return t;
}

static void text_free(struct regex_text *t)
{
    if (!t)
        return;
    buf_done(&t->fixed);
    free(t->bad);
    free(t);
}

/* How many replaced bytes stand before an offset: of the original, or (fixed) of the text with replacements. */
static size_t bad_before(const struct regex_text *t, size_t at, bool fixed)
{
    size_t low = 0, high = t->n_bad;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        size_t where = t->bad[mid] + (fixed ? mid * REPLACEMENT_GROWTH : 0);

        if (where < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool find_plain_text(const struct regex *re, struct str text, size_t at, struct regex_span *spans,
                            size_t n)
{
    struct str wanted = { re->pattern, re->pattern_n };
    size_t found = str_find(str_sub(text, at, text.n), wanted);

    if (found == STR_NPOS)
        return false;
    for (size_t i = 0; i < n; i++)
        spans[i] = (struct regex_span){ -1, -1 };
    if (n > 0)
        spans[0] = (struct regex_span){ (ptrdiff_t)(at + found), (ptrdiff_t)(at + found + wanted.n) };
    return true;
}

/* libre2 works on bytes: \B also matches inside of a rune, where Go never looks. */
static bool find_at_rune(const struct regex *re, struct str text, size_t at, struct regex_span *spans,
                         size_t n)
{
    while (regex_program_find(re->program, text, at, spans, n)) {
        if (!re->may_split_runes || (size_t)spans[0].from >= text.n ||
            ((unsigned char)text.p[spans[0].from] & 0xC0) != 0x80)
            return true;
        at = (size_t)spans[0].from + 1;
    }
    return false;
}

static bool find(const struct regex *re, struct str text, const struct regex_text *t, size_t at,
                 struct regex_span *spans, size_t n)
{
    if (!re->program)
        return find_plain_text(re, text, at, spans, n);
    if (!t)
        return find_at_rune(re, text, at, spans, n);
    at += bad_before(t, at, false) * REPLACEMENT_GROWTH;
    if (!find_at_rune(re, buf_str(&t->fixed), at, spans, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t *const ends[] = { &spans[i].from, &spans[i].to };

        for (size_t k = 0; k < ARRAY_SIZE(ends); k++)
            if (*ends[k] >= 0)
                *ends[k] -= (ptrdiff_t)(bad_before(t, (size_t)*ends[k], true) * REPLACEMENT_GROWTH);
    }
    return true;
}

/* ---- matching ---- */

static bool regex_find(const struct regex *re, struct str text, size_t at, struct regex_span *spans, size_t n)
{
    struct regex_text *t = text_new(text);
    bool found;

    assert(at <= text.n);
    found = find(re, text, t, at, spans, n);
    text_free(t);
    return found;
}

bool regex_match(const struct regex *re, struct str text)
{
    struct regex_span whole;

    return regex_find(re, text, 0, &whole, re->may_split_runes ? 1 : 0);
}

struct regex_finder regex_find_all(const struct regex *re, struct str text)
{
    return (struct regex_finder){ .re = re, .text = text, .fixed = text_new(text), .last_end = -1 };
}

bool regex_finder_next(struct regex_finder *f, struct regex_span *spans, size_t n)
{
    assert(n > 0);
    while (f->at <= f->text.n) {
        bool counts = true;

        if (!find(f->re, f->text, f->fixed, f->at, spans, n)) {
            f->at = f->text.n + 1;
            return false;
        }
        if (spans[0].to == (ptrdiff_t)f->at) { /* empty, right here: step over one rune */
            struct str rest = str_sub(f->text, f->at, f->text.n);
            uint32_t rune;

            counts = spans[0].from != f->last_end;
            f->at += rest.n > 0 ? utf8_decode(rest, &rune) : 1;
        } else {
            f->at = (size_t)spans[0].to;
        }
        f->last_end = spans[0].to;
        if (counts)
            return true;
    }
    return false;
}

void regex_finder_done(struct regex_finder *f)
{
    text_free(f->fixed);
    f->fixed = NULL;
}

void regex_quote(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        if (ascii_is_one_of(text.p[i], SPECIAL))
            buf_addc(out, '\\');
        buf_addc(out, text.p[i]);
    }
}
