/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/number.h"
#include "base/utf8.h"
#include "toml/toml_int.h"

static bool is_hex(uint32_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static int fail_quoted(struct toml_parser *p, const char *before, struct str s, const char *after)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    utf8_quote(s, &b);
    return toml_fail(p, "%s%s%s", before, buf_z(&b), after);
}

/* Behind a backslash; `start` is where the string begins. */
static NODISCARD int check_escape(struct toml_parser *p, size_t start, bool multiline)
{
    static const struct {
        char letter;
        int digits;
        const char *count;
    } hex[] = { { 'x', 2, "two" }, { 'u', 4, "four" }, { 'U', 8, "eight" } };
    uint32_t c;
    int r = toml_next(p, &c);

    if (r < 0)
        return r;
    if (multiline && toml_is_newline(c))
        return 0;
    if (!p->at_eof && c < 0x80 && ascii_is_one_of((char)c, "ebtnfr\" \t\\"))
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(hex); i++) {
        if (c != (unsigned char)hex[i].letter)
            continue;
        for (int k = 0; k < hex[i].digits; k++) {
            char before[80];

            r = toml_next(p, &c);
            if (r < 0)
                return r;
            if (is_hex(c))
                continue;
            snprintf(before, sizeof(before), "expected %s hexadecimal digits after '\\%c', but got ",
                     hex[i].count, hex[i].letter);
            return fail_quoted(p, before, str_sub(p->text, start, p->pos), " instead");
        }
        return 0;
    }
    if (p->at_eof)
        return toml_fail_previous(p, "invalid escape in string '\\%c'", 0);
    CLEANUP(buf_done) struct buf rune = BUF_INIT(8);
    buf_add_rune(&rune, c);
    return toml_fail(p, "invalid escape in string '\\%s'", buf_z(&rune));
}

static struct str strip_first_newline(struct str s)
{
    if (str_has_prefix(s, STR("\r\n")))
        return str_sub(s, 2, s.n);
    return str_has_prefix(s, STR("\n")) ? str_sub(s, 1, s.n) : s;
}

/* Behind a backslash: how much white space with a line's end in it follows. */
static size_t escaped_newline(struct str s, size_t i)
{
    size_t from = i;
    bool line = false;

    for (; i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\r' || s.p[i] == '\n'); i++)
        line = line || s.p[i] == '\n';
    return line ? i - from : 0;
}

static NODISCARD int decode_hex(struct toml_parser *p, struct str digits, struct buf *out)
{
    uint64_t rune = 0;

    number_parse_uint(digits, 16, 64, &rune);
    if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff))
        return toml_fail_at(p, p->line, "Escaped character '\\u" STR_FMT "' is not valid UTF-8.",
                            STR_ARG(digits));
    buf_add_rune(out, (uint32_t)rune);
    return 0;
}

static NODISCARD int decode(struct toml_parser *p, struct str s, bool multiline, struct str *ret)
{
    static const char named[] = "btnfre\"\\", to[] = "\b\t\n\f\r\x1b\"\\";
    CLEANUP(buf_done) struct buf out = BUF_INIT(s.n + 1);
    size_t n;

    for (size_t i = 0; i < s.n; i++) {
        const char *at;
        int r;

        if (s.p[i] != '\\') {
            buf_addc(&out, s.p[i]);
            continue;
        }
        i++;
        n = multiline ? escaped_newline(s, i) : 0;
        if (n > 0) {
            i += n - 1;
            continue;
        }
        at = memchr(named, s.p[i], sizeof(named) - 1);
        if (at) {
            buf_addc(&out, to[at - named]);
            continue;
        }
        if (s.p[i] == ' ' || s.p[i] == '\t')
            return toml_fail_at(p, p->line, "invalid escape: '\\%c'", s.p[i]);
        n = s.p[i] == 'x' ? 2 : s.p[i] == 'u' ? 4 : 8;
        r = decode_hex(p, str_sub(s, i + 1, i + 1 + n), &out);
        if (r < 0)
            return r;
        i += n;
    }
    *ret = arena_dup(p->arena, buf_str(&out));
    return 0;
}

static NODISCARD int read_single(struct toml_parser *p, uint32_t quote, struct str *ret)
{
    size_t start = p->pos;
    bool escapes = false;
    uint32_t c;
    struct str raw;
    int r;

    for (;;) {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
        if (p->at_eof)
            return toml_fail(p, quote == '"' ? "unexpected EOF; expected '\"'"
                                             : "unexpected EOF; expected \"'\"");
        if (toml_is_newline(c))
            return toml_fail_previous(p, "strings cannot contain newlines");
        if (c == quote)
            break;
        if (c == '\\' && quote == '"') {
            escapes = true;
            r = check_escape(p, start, false);
            if (r < 0)
                return r;
        }
    }
    raw = str_sub(p->text, start, p->pos - 1);
    if (escapes)
        return decode(p, raw, false, ret);
    *ret = arena_dup(p->arena, raw);
    return 0;
}

/* How many quotes stand from the last read one on. */
static size_t count_quotes(struct toml_parser *p, char quote)
{
    size_t n = 1;

    while (p->pos + n - 1 < p->text.n && p->text.p[p->pos + n - 1] == quote)
        n++;
    return n;
}

static NODISCARD int read_multiline(struct toml_parser *p, uint32_t quote, struct str *ret)
{
    size_t start = p->pos, n;
    uint32_t c;
    struct str raw;
    int r;

    for (;;) {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
        if (p->at_eof)
            return toml_fail(p, quote == '"' ? "unexpected EOF; expected '\"\"\"'"
                                             : "unexpected EOF; expected \"'''\"");
        if (c == '\\' && quote == '"') {
            r = check_escape(p, start, true);
            if (r < 0)
                return r;
        }
        if (c != quote)
            continue;
        n = count_quotes(p, (char)quote);
        if (n > 5)
            return toml_fail(p, quote == '"' ? "unexpected '\"\"\"\"\"\"'" : "unexpected \"''''''\"");
        p->pos += n - 1;
        if (n >= 3)
            break;
    }
    raw = strip_first_newline(str_sub(p->text, start, p->pos - 3));
    if (quote == '"')
        return decode(p, raw, true, ret);
    *ret = arena_dup(p->arena, raw);
    return 0;
}

int toml_read_string(struct toml_parser *p, uint32_t quote, bool key, struct str *ret)
{
    struct str rest = str_sub(p->text, p->pos, p->text.n);

    if (!key && str_has_prefix(rest, quote == '"' ? STR("\"\"") : STR("''"))) {
        p->pos += 2;
        return read_multiline(p, quote, ret);
    }
    return read_single(p, quote, ret);
}
