/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/utf8.h"
#include "template/funcs.h"
#include "template/unicode.h"

/* ---- case ---- */

static int map_runes(FN_ARGS, uint32_t (*map)(uint32_t r))
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str s = fn_str(c, 0);

    while (s.n > 0) {
        uint32_t r;
        size_t n = fn_rune(s, &r);

        buf_add_rune(&b, map(r));
        s = str_sub(s, n, s.n);
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_upper(FN_ARGS)
{
    return map_runes(c, ret, err, unicode_to_upper);
}

static int fn_lower(FN_ARGS)
{
    return map_runes(c, ret, err, unicode_to_lower);
}

/* strings.Title's notion of what stands between words. */
static bool is_title_separator(uint32_t r)
{
    if (r < 0x80)
        return !ascii_is_alnum((char)r) && r != '_';
    return !unicode_is_letter(r) && !unicode_is_digit(r) && unicode_is_space(r);
}

static int fn_title(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str s = fn_str(c, 0);
    uint32_t before = ' ';

    while (s.n > 0) {
        uint32_t r;
        size_t n = fn_rune(s, &r);

        buf_add_rune(&b, is_title_separator(before) ? unicode_to_title(r) : r);
        before = r;
        s = str_sub(s, n, s.n);
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_untitle(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str s = fn_str(c, 0);
    bool starts_word = true;

    while (s.n > 0) {
        uint32_t r;
        size_t n = fn_rune(s, &r);

        if (unicode_is_space(r)) {
            starts_word = true;
        } else if (starts_word) {
            r = unicode_to_lower(r);
            starts_word = false;
        }
        buf_add_rune(&b, r);
        s = str_sub(s, n, s.n);
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_swapcase(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str s = fn_str(c, 0);
    bool after_space = true;

    while (s.n > 0) {
        uint32_t r;
        size_t n = fn_rune(s, &r);

        if (unicode_is_upper(r) || unicode_is_title(r)) {
            r = unicode_to_lower(r);
            after_space = false;
        } else if (unicode_is_lower(r)) {
            r = after_space ? unicode_to_title(r) : unicode_to_upper(r);
            after_space = false;
        } else {
            after_space = unicode_is_space(r);
        }
        buf_add_rune(&b, r);
        s = str_sub(s, n, s.n);
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_snakecase(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    fn_split_case(fn_str(c, 0), '_', &b);
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_kebabcase(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    fn_split_case(fn_str(c, 0), '-', &b);
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_camelcase(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    fn_pascal_case(fn_str(c, 0), &b);
    return fn_ret_buf(c, &b, ret, err);
}

/* ---- cutting ---- */

/* goutils.AbbreviateFull; what it reports as an error sprig drops: "". */
static int abbreviate(FN_ARGS, struct str s, int64_t offset, int64_t width)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    int64_t n = (int64_t)s.n;
    bool marked = false;

    for (;;) { /* twice at most: in front, then behind */
        if (n == 0 || width < 4)
            break;
        if (n <= width) {
            buf_addstr(&b, s);
            break;
        }
        offset = MIN(offset, n);
        if (n - offset < width - 3)
            offset = n - (width - 3);
        if (offset <= 4) {
            buf_add(&b, s.p, (size_t)(width - 3));
            buf_adds(&b, "...");
            break;
        }
        if (width < 7 || marked)
            break;
        buf_adds(&b, "...");
        if (offset + width - 3 >= n) {
            buf_add(&b, s.p + n - (width - 3), (size_t)(width - 3));
            break;
        }
        s = str_sub(s, (size_t)offset, s.n);
        n = (int64_t)s.n;
        width -= 3;
        offset = 0;
        marked = true;
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_abbrev(FN_ARGS)
{
    if (fn_int(c, 0) < 4)
        return fn_ret_str(ret, fn_str(c, 1));
    return abbreviate(c, ret, err, fn_str(c, 1), 0, fn_int(c, 0));
}

static int fn_abbrevboth(FN_ARGS)
{
    int64_t left = fn_int(c, 0), right = fn_int(c, 1);

    if (right < 4 || (left > 0 && right < 7))
        return fn_ret_str(ret, fn_str(c, 2));
    return abbreviate(c, ret, err, fn_str(c, 2), left, right);
}

/* Every byte counts as a rune of its own upstream, so what is not ASCII comes out changed. */
static int fn_initials(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str s = fn_str(c, 0);
    bool after_gap = true;

    for (size_t i = 0; i < s.n; i++) {
        unsigned char byte = (unsigned char)s.p[i];

        if (unicode_is_space(byte)) {
            after_gap = true;
        } else if (after_gap) {
            buf_add_rune(&b, byte);
            after_gap = false;
        }
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_nospace(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str s = fn_str(c, 0);
    size_t kept = 0;

    for (size_t i = 0; i < s.n; i++) {
        unsigned char byte = (unsigned char)s.p[i];

        if (!unicode_is_space(byte)) {
            buf_add_rune(&b, byte);
            kept++;
        }
    }
    return kept == s.n ? fn_ret_str(ret, s) : fn_ret_buf(c, &b, ret, err);
}

static int fn_trunc(FN_ARGS)
{
    struct str s = fn_str(c, 1);
    int64_t n = fn_int(c, 0), len = (int64_t)s.n;

    if (n < 0 && n > -len)
        s = str_sub(s, (size_t)(len + n), s.n);
    else if (n >= 0 && len > n)
        s.n = (size_t)n;
    return fn_ret_str(ret, s);
}

#define OUT_OF_RANGE "runtime error: slice bounds out of range "

static int fn_substr(FN_ARGS)
{
    long long from = fn_int(c, 0), to = fn_int(c, 1);
    struct str s = fn_str(c, 2);

    if (from < 0) {
        if (to < 0)
            return err_set(err, ERRC_TEMPLATE, OUT_OF_RANGE "[:%lld]", to);
        if (to > (long long)s.n)
            return err_set(err, ERRC_TEMPLATE, OUT_OF_RANGE "[:%lld] with length %zu", to, s.n);
        from = 0;
    } else if (to < 0 || to > (long long)s.n) {
        to = (long long)s.n;
    }
    if (from > to)
        return err_set(err, ERRC_TEMPLATE, OUT_OF_RANGE "[%lld:%lld]", from, to);
    return fn_ret_str(ret, str_sub(s, (size_t)from, (size_t)to));
}

static int fn_trim_spaces(FN_ARGS)
{
    return fn_ret_str(ret, fn_trim_space(fn_str(c, 0)));
}

static int fn_trim_all(FN_ARGS)
{
    int r = fn_pay(c, fn_str(c, 0).n * 8, err);

    return r < 0 ? r : fn_ret_str(ret, fn_trim(fn_str(c, 1), fn_str(c, 0)));
}

static int fn_trim_prefix(FN_ARGS)
{
    return fn_ret_str(ret, str_trim_prefix(fn_str(c, 1), fn_str(c, 0)));
}

static int fn_trim_suffix(FN_ARGS)
{
    return fn_ret_str(ret, str_trim_suffix(fn_str(c, 1), fn_str(c, 0)));
}

/* goutils.WrapCustom */
static int wrap(FN_ARGS, int64_t width, struct str separator, struct str s, bool cut_words)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    int r = fn_pay(c, s.n, err);

    if (r < 0)
        return r;
    width = MAX(width, 1);
    while ((int64_t)s.n > width && !b.failed) {
        size_t line, skip = 1;

        if (s.p[0] == ' ') {
            s = str_sub(s, 1, s.n);
            continue;
        }
        line = str_rfind_char(str_sub(s, 0, (size_t)width + 1), ' ');
        if (line == STR_NPOS && cut_words) {
            line = (size_t)width;
            skip = 0;
        } else if (line == STR_NPOS) {
            line = str_find_char(str_sub(s, (size_t)width, s.n), ' ');
            if (line == STR_NPOS)
                break;
            line += (size_t)width;
        }
        buf_add(&b, s.p, line);
        buf_addstr(&b, separator);
        s = str_sub(s, line + skip, s.n);
    }
    buf_addstr(&b, s);
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_wrap(FN_ARGS)
{
    return wrap(c, ret, err, fn_int(c, 0), STR("\n"), fn_str(c, 1), false);
}

static int fn_wrap_with(FN_ARGS)
{
    struct str separator = fn_str(c, 1);

    return wrap(c, ret, err, fn_int(c, 0), separator.n > 0 ? separator : STR("\n"), fn_str(c, 2), true);
}

/* ---- growing ---- */

static int fn_repeat(FN_ARGS)
{
    int64_t count = fn_int(c, 0);
    struct str s = fn_str(c, 1);
    size_t total;
    char *p = NULL;
    int r;

    if (count < 0)
        return err_set(err, ERRC_TEMPLATE, "strings: negative Repeat count");
    if (count > 1 && (__builtin_mul_overflow(s.n, (size_t)count, &total) || total > INT64_MAX))
        return err_set(err, ERRC_TEMPLATE, "strings: Repeat output length overflow");
    if (count == 0 || s.n == 0)
        return fn_ret_str(ret, STR(""));
    total = s.n * (size_t)count;
    r = fn_text(c, total, &p, err);
    if (r < 0)
        return r;
    memcpy(p, s.p, s.n);
    for (size_t done = s.n; done < total; done += MIN(done, total - done))
        memcpy(p + done, p, MIN(done, total - done));
    return fn_ret_str(ret, (struct str){ p, total });
}

static int indent(FN_ARGS, const char *before)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    int64_t width = fn_int(c, 0);
    struct str s = fn_str(c, 1), line;

    if (width < 0)
        return err_set(err, ERRC_TEMPLATE, "strings: negative Repeat count");
    buf_adds(&b, before);
    if (s.n == 0) {
        buf_add_repeat(&b, ' ', (size_t)width);
        return fn_ret_buf(c, &b, ret, err);
    }
    for (bool first = true; str_split(&s, '\n', &line) && !b.failed; first = false) {
        if (!first)
            buf_addc(&b, '\n');
        buf_add_repeat(&b, ' ', (size_t)width);
        buf_addstr(&b, line);
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_indent(FN_ARGS)
{
    return indent(c, ret, err, "");
}

static int fn_nindent(FN_ARGS)
{
    return indent(c, ret, err, "\n");
}

/* strings.ReplaceAll: an empty `old` stands before every rune and at the end. */
static int fn_replace(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str old = fn_str(c, 0), new = fn_str(c, 1), s = fn_str(c, 2);
    size_t at;

    if (str_eq(old, new))
        return fn_ret_str(ret, s);
    while (old.n == 0 && s.n > 0 && !b.failed) {
        uint32_t r;
        size_t n = fn_rune(s, &r);

        buf_addstr(&b, new);
        buf_add(&b, s.p, n);
        s = str_sub(s, n, s.n);
    }
    if (old.n == 0)
        buf_addstr(&b, new);
    while (old.n > 0 && (at = str_find(s, old)) != STR_NPOS && !b.failed) {
        buf_add(&b, s.p, at);
        buf_addstr(&b, new);
        s = str_sub(s, at + old.n, s.n);
    }
    buf_addstr(&b, s);
    return fn_ret_buf(c, &b, ret, err);
}

/* ---- texts of values ---- */

static int fn_quote(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    for (size_t i = 0; i < c->n; i++) {
        struct str s;
        int r;

        if (fn_is_nil(c->args[i]))
            continue;
        r = fn_strval(c, c->args[i], &s, err);
        if (r < 0)
            return r;
        if (b.n > 0)
            buf_addc(&b, ' ');
        tpl_print_quoted(s, &b);
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_squote(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    for (size_t i = 0; i < c->n; i++) {
        if (fn_is_nil(c->args[i]))
            continue;
        if (b.n > 0)
            buf_addc(&b, ' ');
        buf_addc(&b, '\'');
        tpl_print_value(c->args[i], &b);
        buf_addc(&b, '\'');
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_cat(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    bool first = true;

    for (size_t i = 0; i < c->n; i++) {
        if (fn_is_nil(c->args[i]))
            continue;
        if (!first)
            buf_addc(&b, ' ');
        first = false;
        tpl_print_value(c->args[i], &b);
    }
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_to_string(FN_ARGS)
{
    struct str s;
    int r = fn_strval(c, c->args[0], &s, err);

    return r < 0 ? r : fn_ret_str(ret, s);
}

static int fn_to_strings(FN_ARGS)
{
    return fn_strslice(c, c->args[0], ret, err);
}

static int fn_plural(FN_ARGS)
{
    return fn_ret_str(ret, fn_str(c, fn_int(c, 2) == 1 ? 0 : 1));
}

static int fn_hello(FN_ARGS)
{
    return fn_ret_str(ret, STR("Hello!"));
}

/* ---- tests ---- */

static int fn_contains(FN_ARGS)
{
    return fn_ret_bool(ret, str_contains(fn_str(c, 1), fn_str(c, 0)));
}

static int fn_has_prefix(FN_ARGS)
{
    return fn_ret_bool(ret, str_has_prefix(fn_str(c, 1), fn_str(c, 0)));
}

static int fn_has_suffix(FN_ARGS)
{
    return fn_ret_bool(ret, str_has_suffix(fn_str(c, 1), fn_str(c, 0)));
}

/* ---- splitting and joining ---- */

static size_t count_pieces(struct str s, struct str separator)
{
    size_t n = 1, at;

    if (separator.n == 0)
        return utf8_count(s);
    while ((at = str_find(s, separator)) != STR_NPOS) {
        s = str_sub(s, at + separator.n, s.n);
        n++;
    }
    return n;
}

/* strings.SplitN: at most `max` pieces (below 0: all), the last one unsplit; without a separator rune by rune. */
static int split_text(struct tpl_call *c, struct str s, struct str separator, int64_t max, struct value **ret,
                      size_t *ret_n, struct err **err)
{
    size_t want = count_pieces(s, separator), n = 0;
    struct value *items = NULL;
    int r;

    if (max >= 0 && (size_t)max < want)
        want = (size_t)max;
    r = fn_values(c, want, &items, err);
    if (r < 0)
        return r;
    while (n + 1 < want) {
        uint32_t rune;
        size_t at = separator.n == 0 ? fn_rune(s, &rune) : str_find(s, separator);

        items[n++] = value_from_str(str_sub(s, 0, at));
        s = str_sub(s, at + separator.n, s.n);
    }
    if (want > 0)
        items[n++] = value_from_str(s);
    *ret = items;
    *ret_n = n;
    return 0;
}

static int fn_split_list(FN_ARGS)
{
    struct value *items;
    size_t n;
    int r = split_text(c, fn_str(c, 1), fn_str(c, 0), -1, &items, &n, err);

    if (r == 0)
        *ret = fn_string_list(items, n);
    return r;
}

static int split_map(FN_ARGS, int64_t max, struct str s)
{
    struct value *items, map;
    size_t n;
    int r = split_text(c, s, fn_str(c, 0), max, &items, &n, err);

    if (r < 0)
        return r;
    r = tpl_reserve(c->x, n * 64, err);
    if (r < 0)
        return r;
    map = value_new_map_sized(c->arena, n);
    for (size_t i = 0; i < n; i++)
        value_append(map, arena_printf(c->arena, "_%zu", i), items[i]);
    value_sort(map);
    map.type = VALUE_TYPE_STRING_MAP;
    *ret = map;
    return 0;
}

static int fn_split(FN_ARGS)
{
    return split_map(c, ret, err, -1, fn_str(c, 1));
}

static int fn_splitn(FN_ARGS)
{
    return split_map(c, ret, err, fn_int(c, 1), fn_str(c, 2));
}

static int fn_join(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct value list;
    int r = fn_strslice(c, c->args[1], &list, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < list.n && !b.failed; i++) {
        if (i > 0)
            buf_addstr(&b, fn_str(c, 0));
        buf_addstr(&b, value_str(list.list[i]));
    }
    return fn_ret_buf(c, &b, ret, err);
}

/* ---- random ---- */

#define STEPS_PER_RANDOM 16

static int random_text(FN_ARGS, const char *alphabet)
{
    int64_t n = fn_int(c, 0);
    uint32_t letters = (uint32_t)strlen(alphabet);
    char *p = NULL;
    int r;

    if (n <= 0)
        return fn_ret_str(ret, STR(""));
    r = fn_text(c, (size_t)n, &p, err);
    if (r == 0)
        r = tpl_spend(c->x, (size_t)n * STEPS_PER_RANDOM, err);
    for (int64_t i = 0; r == 0 && i < n; i++)
        p[i] = alphabet[fn_random_below(c, letters)];
    return r < 0 ? r : fn_ret_str(ret, (struct str){ p, (size_t)n });
}

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define ASCII_PUNCTUATION " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

static int fn_rand_alpha(FN_ARGS)
{
    return random_text(c, ret, err, LETTERS);
}

static int fn_rand_alpha_num(FN_ARGS)
{
    return random_text(c, ret, err, LETTERS DIGITS);
}

static int fn_rand_ascii(FN_ARGS)
{
    return random_text(c, ret, err, LETTERS DIGITS ASCII_PUNCTUATION);
}

static int fn_rand_numeric(FN_ARGS)
{
    return random_text(c, ret, err, DIGITS);
}

static int fn_shuffle(FN_ARGS)
{
    struct str s = fn_str(c, 0);
    size_t n = utf8_count(s), at = 0;
    CLEANUP(buf_done) struct buf b = FN_BUF;
    uint32_t *runes;
    int r = tpl_spend(c->x, n * STEPS_PER_RANDOM, err);

    if (r == 0)
        r = tpl_reserve(c->x, (n + 1) * sizeof(*runes), err);
    if (r < 0)
        return r;
    runes = ARENA_ARRAY(c->arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        at += fn_rune(str_sub(s, at, s.n), &runes[i]);
    for (size_t i = n; i > 1; i--) {
        size_t k = fn_random_below(c, (uint32_t)i);
        uint32_t rune = runes[i - 1];

        runes[i - 1] = runes[k];
        runes[k] = rune;
    }
    for (size_t i = 0; i < n; i++)
        buf_add_rune(&b, runes[i]);
    return fn_ret_buf(c, &b, ret, err);
}

static const struct tpl_func funcs[] = {
    { "abbrev", "is", 's', fn_abbrev },
    { "abbrevboth", "iis", 's', fn_abbrevboth },
    { "camelcase", "s", 's', fn_camelcase },
    { "cat", "*+", 's', fn_cat },
    { "contains", "ss", 'b', fn_contains },
    { "hasPrefix", "ss", 'b', fn_has_prefix },
    { "hasSuffix", "ss", 'b', fn_has_suffix },
    { "hello", "", 's', fn_hello },
    { "indent", "is", 's', fn_indent },
    { "initials", "s", 's', fn_initials },
    { "join", "s*", 's', fn_join },
    { "kebabcase", "s", 's', fn_kebabcase },
    { "lower", "s", 's', fn_lower },
    { "nindent", "is", 's', fn_nindent },
    { "nospace", "s", 's', fn_nospace },
    { "plural", "ssi", 's', fn_plural },
    { "quote", "*+", 's', fn_quote },
    { "randAlpha", "i", 's', fn_rand_alpha },
    { "randAlphaNum", "i", 's', fn_rand_alpha_num },
    { "randAscii", "i", 's', fn_rand_ascii },
    { "randNumeric", "i", 's', fn_rand_numeric },
    { "repeat", "is", 's', fn_repeat },
    { "replace", "sss", 's', fn_replace },
    { "shuffle", "s", 's', fn_shuffle },
    { "snakecase", "s", 's', fn_snakecase },
    { "split", "ss", 'D', fn_split },
    { "splitList", "ss", 'S', fn_split_list },
    { "splitn", "sis", 'D', fn_splitn },
    { "squote", "*+", 's', fn_squote },
    { "substr", "iis", 's', fn_substr },
    { "swapcase", "s", 's', fn_swapcase },
    { "title", "s", 's', fn_title },
    { "toString", "*", 's', fn_to_string },
    { "toStrings", "*", 'S', fn_to_strings },
    { "trim", "s", 's', fn_trim_spaces },
    { "trimAll", "ss", 's', fn_trim_all },
    { "trimPrefix", "ss", 's', fn_trim_prefix },
    { "trimSuffix", "ss", 's', fn_trim_suffix },
    { "trimall", "ss", 's', fn_trim_all },
    { "trunc", "is", 's', fn_trunc },
    { "untitle", "s", 's', fn_untitle },
    { "upper", "s", 's', fn_upper },
    { "wrap", "is", 's', fn_wrap },
    { "wrapWith", "iss", 's', fn_wrap_with },
};

const struct tpl_func_table tpl_funcs_string = { funcs, ARRAY_SIZE(funcs) };
