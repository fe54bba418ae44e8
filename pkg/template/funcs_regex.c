/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex.h"

#include <string.h>

#include "base/utf8.h"
#include "template/funcs.h"
#include "template/unicode.h"

/* A search may look at all of a long text to find one short match, so searches in long texts are paid by the time they
 * took: a budget of 200 million steps is then spent within about a second. */
#define LONG_TEXT ((size_t)4096)
#define NS_PER_STEP 5

/* ---- compiling ---- */

/* strconv.CanBackquote */
static bool can_backquote(struct str s)
{
    while (s.n > 0) {
        uint32_t r;
        size_t n = utf8_decode(s, &r);

        if (r == UTF8_INVALID || (r < ' ' && r != '\t') || r == '`' || r == 0x7F || r == 0xFEFF)
            return false;
        s = str_sub(s, n, s.n);
    }
    return true;
}

/* regexp.Compile; with `must` its panic's text. */
static int compile(const struct tpl_call *c, bool must, struct regex **ret, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(8 * REGEX_PATTERN_MAX);
    struct str pattern = fn_str(c, 0);
    int r = regex_compile(pattern, ret, err);

    if (r == 0 || !must || !err)
        return r;
    if (can_backquote(pattern)) {
        buf_addc(&quoted, '`');
        buf_addstr(&quoted, pattern);
        buf_addc(&quoted, '`');
    } else {
        tpl_print_quoted(pattern, &quoted);
    }
    return err_wrap(err, r, "regexp: Compile(%s)", buf_z(&quoted));
}

struct search {
    struct tpl_call *c;
    struct regex *re;
    struct regex_finder finder;
    struct regex_span *spans;
    size_t n_spans;
};

static void search_done(struct search *s)
{
    regex_finder_done(&s->finder);
    regex_unref(s->re);
}
DEFINE_CLEANUP_VALUE(struct search, search_done)

/* Starts a search for all matches of args[0] in args[1]. */
static int search_init(struct search *s, struct tpl_call *c, bool must, bool groups, struct err **err)
{
    int r = compile(c, must, &s->re, err);

    if (r < 0)
        return r;
    s->c = c;
    s->n_spans = groups ? regex_groups(s->re) + 1 : 1;
    s->spans = ARENA_ARRAY(c->arena, struct regex_span, s->n_spans);
    s->finder = regex_find_all(s->re, fn_str(c, 1));
    return 0;
}

/* 1: found; 0: no more. */
static int search_next(struct search *s, struct err **err)
{
    bool long_text = s->finder.text.n >= LONG_TEXT;
    int64_t start = long_text ? clock_mono_ns() : 0;
    bool found = regex_finder_next(&s->finder, s->spans, s->n_spans);
    size_t steps = 1 + (long_text ? (size_t)(clock_mono_ns() - start) / NS_PER_STEP : 0);
    int r = tpl_spend(s->c->x, steps, err);

    return r < 0 ? r : found;
}

static struct str span_text(const struct search *s, size_t group)
{
    const struct regex_span *span = &s->spans[group];

    return span->from < 0 ? STR("") : str_sub(s->finder.text, (size_t)span->from, (size_t)span->to);
}

/* ---- matching ---- */

static int fn_must_match(FN_ARGS)
{
    CLEANUP(regex_unref) struct regex *re = NULL;
    int r = compile(c, false, &re, err);

    if (r == 0)
        r = fn_pay(c, fn_str(c, 1).n, err);
    return r < 0 ? r : fn_ret_bool(ret, regex_match(re, fn_str(c, 1)));
}

static int fn_match(FN_ARGS)
{
    CLEANUP(regex_unref) struct regex *re = NULL;
    int r;

    if (compile(c, false, &re, NULL) < 0)
        return fn_ret_bool(ret, false);
    r = fn_pay(c, fn_str(c, 1).n, err);
    return r < 0 ? r : fn_ret_bool(ret, regex_match(re, fn_str(c, 1)));
}

static int find(FN_ARGS, bool must)
{
    CLEANUP(search_done) struct search s = { 0 };
    int r = search_init(&s, c, must, false, err);

    if (r == 0)
        r = search_next(&s, err);
    return r < 0 ? r : fn_ret_str(ret, r > 0 ? span_text(&s, 0) : STR(""));
}

static int fn_find(FN_ARGS)
{
    return find(c, ret, err, true);
}

static int fn_must_find(FN_ARGS)
{
    return find(c, ret, err, false);
}

static int add_item(struct tpl_call *c, struct value_list *l, struct str s, struct err **err)
{
    int r = l->n == l->cap ? tpl_reserve(c->x, (l->cap + 8) * sizeof(*l->items), err) : 0;

    if (r == 0)
        value_list_add(l, value_from_str(s));
    return r;
}

static int find_all(FN_ARGS, bool must)
{
    CLEANUP(search_done) struct search s = { 0 };
    struct value_list l = VALUE_LIST_INIT(c->arena);
    int64_t max = fn_int(c, 2);
    int r = search_init(&s, c, must, false, err);

    while (r == 0 && (max < 0 || (int64_t)l.n < max) && (r = search_next(&s, err)) > 0)
        r = add_item(c, &l, span_text(&s, 0), err);
    if (r == 0)
        *ret = l.n > 0 ? fn_string_list(l.items, l.n) : fn_nil_list(VALUE_TYPE_STRING_LIST);
    return r;
}

static int fn_find_all(FN_ARGS)
{
    return find_all(c, ret, err, true);
}

static int fn_must_find_all(FN_ARGS)
{
    return find_all(c, ret, err, false);
}

/* ---- replacing ---- */

/* The name behind a '$': "name", "{name}" or a number. False when it is none and the '$' is text. */
static bool read_name(struct str *rest, struct str *ret_name, int64_t *ret_number)
{
    bool brace = rest->n > 0 && rest->p[0] == '{';
    struct str s = brace ? str_sub(*rest, 1, rest->n) : *rest, name;
    size_t n = 0;
    int64_t number = 0;

    while (n < s.n) {
        uint32_t r;
        size_t width = fn_rune(str_sub(s, n, s.n), &r);

        if (!unicode_is_letter(r) && !unicode_is_digit(r) && r != '_')
            break;
        n += width;
    }
    if (n == 0 || (brace && (n >= s.n || s.p[n] != '}')))
        return false;
    name = str_sub(s, 0, n);
    for (size_t i = 0; i < name.n && number >= 0; i++)
        number = ascii_is_digit(name.p[i]) && number < 100000000 ? number * 10 + name.p[i] - '0' : -1;
    if (name.p[0] == '0' && name.n > 1)
        number = -1;
    *ret_name = name;
    *ret_number = number;
    *rest = str_sub(s, n + (brace ? 1 : 0), s.n);
    return true;
}

static void expand_group(const struct search *s, struct str name, int64_t number, struct buf *out)
{
    if (number >= 0) {
        if ((size_t)number < s->n_spans)
            buf_addstr(out, span_text(s, (size_t)number));
        return;
    }
    for (size_t i = 1; i < s->n_spans; i++) { /* one of several groups of that name took part */
        if (s->spans[i].from >= 0 && str_eq(regex_group_name(s->re, i), name)) {
            buf_addstr(out, span_text(s, i));
            return;
        }
    }
}

static void expand(const struct search *s, struct str template, struct buf *out)
{
    struct str text, name;
    int64_t number;

    while (str_find_char(template, '$') != STR_NPOS) {
        str_split(&template, '$', &text);
        buf_addstr(out, text);
        if (template.n > 0 && template.p[0] == '$') {
            buf_addc(out, '$');
            template = str_sub(template, 1, template.n);
        } else if (read_name(&template, &name, &number)) {
            expand_group(s, name, number, out);
        } else {
            buf_addc(out, '$');
        }
    }
    buf_addstr(out, template);
}

static int replace_all(FN_ARGS, bool must, bool literal)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    CLEANUP(search_done) struct search s = { 0 };
    struct str text = fn_str(c, 1), replacement = fn_str(c, 2);
    size_t done = 0;
    int r = search_init(&s, c, must, !literal, err);

    while (r == 0 && !b.failed && (r = search_next(&s, err)) > 0) {
        buf_addstr(&b, str_sub(text, done, (size_t)s.spans[0].from));
        if (literal)
            buf_addstr(&b, replacement);
        else
            expand(&s, replacement, &b);
        done = (size_t)s.spans[0].to;
        r = 0;
    }
    if (r < 0)
        return r;
    buf_addstr(&b, str_sub(text, done, text.n));
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_replace_all(FN_ARGS)
{
    return replace_all(c, ret, err, true, false);
}

static int fn_must_replace_all(FN_ARGS)
{
    return replace_all(c, ret, err, false, false);
}

static int fn_replace_all_literal(FN_ARGS)
{
    return replace_all(c, ret, err, true, true);
}

static int fn_must_replace_all_literal(FN_ARGS)
{
    return replace_all(c, ret, err, false, true);
}

/* ---- splitting ---- */

static int split(FN_ARGS, bool must)
{
    CLEANUP(search_done) struct search s = { 0 };
    struct value_list l = VALUE_LIST_INIT(c->arena);
    struct str text = fn_str(c, 1);
    int64_t max = fn_int(c, 2), matches = 0;
    size_t from = 0, to = 0;
    int r = search_init(&s, c, must, false, err);

    if (r == 0 && max == 0) {
        *ret = fn_nil_list(VALUE_TYPE_STRING_LIST);
        return 0;
    }
    if (r == 0 && text.n == 0 && fn_str(c, 0).n > 0) {
        r = add_item(c, &l, text, err);
        if (r == 0)
            *ret = fn_string_list(l.items, l.n);
        return r;
    }
    while (r == 0 && (max < 0 || (matches < max && (int64_t)l.n < max - 1)) &&
           (r = search_next(&s, err)) > 0) {
        r = 0;
        matches++;
        to = (size_t)s.spans[0].from;
        if (s.spans[0].to != 0)
            r = add_item(c, &l, str_sub(text, from, to), err);
        from = (size_t)s.spans[0].to;
    }
    if (r == 0 && to != text.n)
        r = add_item(c, &l, str_sub(text, from, text.n), err);
    if (r == 0)
        *ret = fn_string_list(l.items, l.n);
    return r;
}

static int fn_split(FN_ARGS)
{
    return split(c, ret, err, true);
}

static int fn_must_split(FN_ARGS)
{
    return split(c, ret, err, false);
}

static int fn_quote_meta(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    regex_quote(fn_str(c, 0), &b);
    return fn_ret_buf(c, &b, ret, err);
}

static const struct tpl_func funcs[] = {
    { "mustRegexFind", "ss", 's', fn_must_find },
    { "mustRegexFindAll", "ssi", 'S', fn_must_find_all },
    { "mustRegexMatch", "ss", 'b', fn_must_match },
    { "mustRegexReplaceAll", "sss", 's', fn_must_replace_all },
    { "mustRegexReplaceAllLiteral", "sss", 's', fn_must_replace_all_literal },
    { "mustRegexSplit", "ssi", 'S', fn_must_split },
    { "regexFind", "ss", 's', fn_find },
    { "regexFindAll", "ssi", 'S', fn_find_all },
    { "regexMatch", "ss", 'b', fn_match },
    { "regexQuoteMeta", "s", 's', fn_quote_meta },
    { "regexReplaceAll", "sss", 's', fn_replace_all },
    { "regexReplaceAllLiteral", "sss", 's', fn_replace_all_literal },
    { "regexSplit", "ssi", 'S', fn_split },
};

const struct tpl_func_table tpl_funcs_regex = { funcs, ARRAY_SIZE(funcs) };
