/* SPDX-License-Identifier: Apache-2.0 */
/* Characters and errors: github.com/BurntSushi/toml lex.go, error.go. */
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "toml/toml_int.h"

PRINTF(3, 0)
static int fail(struct toml_parser *p, size_t line, const char *fmt, va_list args)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(64 * KIB);
    char text[1024];

    vsnprintf(text, sizeof(text), fmt, args);
    for (size_t i = 0; i < p->context.n; i++) {
        if (i > 0)
            buf_addc(&key, '.');
        toml_quote_key(p->context.parts[i], &key);
    }
    if (p->current.n > 0) {
        if (p->context.n > 0)
            buf_addc(&key, '.');
        buf_addstr(&key, p->current);
    }
    if (key.n == 0)
        return err_set(p->err, ERRC_PARSE, "toml: line %zu: %s", line, text);
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(256 * KIB);
    utf8_quote(buf_str(&key), &quoted);
    return err_set(p->err, ERRC_PARSE, "toml: line %zu (last key %s): %s", line, buf_z(&quoted), text);
}

int toml_fail_at(struct toml_parser *p, size_t line, const char *fmt, ...)
{
    va_list args;
    int r;

    va_start(args, fmt);
    r = fail(p, line, fmt, args);
    va_end(args);
    return r;
}

int toml_fail(struct toml_parser *p, const char *fmt, ...)
{
    size_t line = p->line;
    va_list args;
    int r;

    if (p->at_eof && p->pos > 0 && p->text.p[p->pos - 1] == '\n')
        line--;
    va_start(args, fmt);
    r = fail(p, line, fmt, args);
    va_end(args);
    return r;
}

int toml_fail_previous(struct toml_parser *p, const char *fmt, ...)
{
    va_list args;
    int r;

    va_start(args, fmt);
    r = fail(p, p->line - 1, fmt, args);
    va_end(args);
    return r;
}

bool toml_is_newline(uint32_t rune)
{
    return rune == '\n' || rune == '\r';
}

static bool is_control(struct toml_parser *p, uint32_t rune)
{
    if (rune == '\r')
        return p->pos + 1 >= p->text.n || p->text.p[p->pos + 1] != '\n';
    return (rune < 0x20 && rune != '\t' && rune != '\n') || rune == 0x7f;
}

int toml_next(struct toml_parser *p, uint32_t *ret)
{
    size_t width;

    p->previous = p->pos;
    if (p->pos >= p->text.n) {
        p->at_eof = true;
        *ret = TOML_EOF;
        return 0;
    }
    width = utf8_decode(str_sub(p->text, p->pos, p->text.n), ret);
    if (*ret == UTF8_INVALID)
        return toml_fail_at(p, p->line, "invalid UTF-8 byte: 0x%02x", (unsigned char)p->text.p[p->pos]);
    if (is_control(p, *ret))
        return toml_fail_at(p, p->line, "TOML files cannot contain control characters: '0x%02x'", *ret);
    p->line += *ret == '\n';
    p->pos += width;
    return 0;
}

void toml_back(struct toml_parser *p)
{
    if (p->at_eof) {
        p->at_eof = false;
        return;
    }
    p->pos = p->previous;
    p->line -= p->text.p[p->pos] == '\n';
}

int toml_peek(struct toml_parser *p, uint32_t *ret)
{
    int r = toml_next(p, ret);

    if (r == 0)
        toml_back(p);
    return r;
}

int toml_skip_blanks(struct toml_parser *p)
{
    uint32_t c;
    int r;

    do {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
    } while (c == ' ' || c == '\t');
    toml_back(p);
    return 0;
}

/* Up to the end of the line. */
int toml_skip_comment(struct toml_parser *p)
{
    uint32_t c;
    int r;

    do {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
    } while (!toml_is_newline(c) && !p->at_eof);
    toml_back(p);
    return 0;
}
