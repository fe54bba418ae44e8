/* SPDX-License-Identifier: Apache-2.0 */
/* Behaves as github.com/BurntSushi/toml parse.go. */
#include <assert.h>

#include "toml/toml_int.h"

static NODISCARD int read_value(struct toml_parser *p, bool in_array, struct value *ret);

static int fail_rune(struct toml_parser *p, const char *before, uint32_t c, const char *after)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64);

    toml_quote_rune(c, &quoted);
    return toml_fail(p, "%s%s%s", before, buf_z(&quoted), after);
}

/* "'x'", unquoted otherwise, or "end of file". */
static int fail_expected(struct toml_parser *p, const char *what, uint32_t c, const char *after)
{
    CLEANUP(buf_done) struct buf rune = BUF_INIT(8);

    if (p->at_eof)
        return toml_fail(p, "expected %s, but got end of file%s", what, after);
    buf_add_rune(&rune, c);
    return toml_fail(p, "expected %s, but got '%s'%s", what, buf_z(&rune), after);
}

static int check_memory(struct toml_parser *p)
{
    if (!arena_failed(p->arena))
        return 0;
    return err_set(p->err, ERRC_LIMIT, "toml: document needs more than the limit of %zu bytes",
                   arena_limit(p->arena));
}

/* ---- keys ---- */

static bool is_bare(uint32_t c)
{
    return c < 0x80 && (ascii_is_alnum((char)c) || c == '_' || c == '-');
}

static NODISCARD int read_bare(struct toml_parser *p, struct str *ret)
{
    size_t start = p->pos;
    uint32_t c = 0;
    int r;

    do {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
    } while (!p->at_eof && is_bare(c));
    toml_back(p);
    *ret = arena_dup(p->arena, str_sub(p->text, start, p->pos));
    return 0;
}

/* The next part of a key or table name, whose first character is c. */
static NODISCARD int read_part(struct toml_parser *p, uint32_t c, struct toml_key *key)
{
    struct str part = STR_NONE;
    int r;

    if (c == '"' || c == '\'') {
        r = toml_next(p, &c);
        if (r == 0)
            r = toml_read_string(p, c, true, &part);
    } else {
        r = read_bare(p, &part);
    }
    if (r < 0)
        return r;
    if (key->n == TOML_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT, "toml: line %zu: nested deeper than %d", p->line, TOML_DEPTH_MAX);
    *key = toml_key_add(p, key, part);
    return toml_skip_blanks(p);
}

static NODISCARD int peek_behind_blanks(struct toml_parser *p, uint32_t *c)
{
    int r = toml_skip_blanks(p);

    return r < 0 ? r : toml_peek(p, c);
}

/* a.b."c" = : up to behind the equals sign. */
static NODISCARD int read_key(struct toml_parser *p, struct toml_key *key)
{
    uint32_t c = 0;
    int r = peek_behind_blanks(p, &c);

    if (r < 0)
        return r;
    if (c == '=' || c == TOML_EOF)
        return toml_fail(p, "unexpected '=': key name appears blank");
    if (c == '.')
        return toml_fail(p, "unexpected '.': keys cannot start with a '.'");
    p->key_line = p->line;
    for (;;) {
        r = read_part(p, c, key);
        if (r == 0)
            r = toml_next(p, &c);
        if (r < 0)
            return r;
        if (c == '=')
            return 0;
        if (p->at_eof)
            return toml_fail(p, "unexpected EOF; expected key separator '='");
        if (c == '\n')
            return toml_fail_previous(p, "expected '.' or '=', but got '\\n' instead");
        if (c != '.')
            return fail_rune(p, "expected '.' or '=', but got ", c, " instead");
        r = peek_behind_blanks(p, &c);
        if (r < 0)
            return r;
        if (c == '=' || c == TOML_EOF)
            return toml_fail(p, "unexpected '='");
        if (c == '.')
            return toml_fail(p, "unexpected '.'");
    }
}

/* ---- values ---- */

/* Blanks, newlines and comments; then the next character. */
static NODISCARD int next_in_container(struct toml_parser *p, uint32_t *c)
{
    int r;

    for (;;) {
        r = toml_next(p, c);
        if (r < 0)
            return r;
        if (*c == '#') {
            r = toml_skip_comment(p);
            if (r < 0)
                return r;
        } else if (p->at_eof || !(*c == ' ' || *c == '\t' || toml_is_newline(*c))) {
            return 0;
        }
    }
}

static NODISCARD int read_array(struct toml_parser *p, struct value *ret)
{
    struct value_list list = VALUE_LIST_INIT(p->arena);
    struct value v = VALUE_NONE;
    uint32_t c = 0;
    int r;

    toml_mark_array(p, true);
    for (;;) {
        r = next_in_container(p, &c);
        if (r < 0)
            return r;
        if (c == ']')
            break;
        if (c == ',')
            return toml_fail(p, "unexpected comma");
        toml_back(p);
        r = read_value(p, true, &v);
        if (r < 0)
            return r;
        value_list_add(&list, v);
        r = next_in_container(p, &c);
        if (r < 0)
            return r;
        if (c == ']')
            break;
        if (c != ',')
            return fail_expected(p, "a comma (',') or array terminator (']')", c, "");
    }
    *ret = value_list_done(&list);
    return 0;
}

/* Puts the value below the names in front of its key; they were just made tables of the document. */
static NODISCARD int put_inline(struct toml_parser *p, struct value table, const struct toml_key *key,
                                struct value v)
{
    for (size_t i = 0; i + 1 < key->n; i++) {
        struct value next = value_get(table, key->parts[i]);

        if (!value_has(table, key->parts[i])) {
            next = value_new_map(p->arena);
            value_set(table, key->parts[i], next);
        }
        if (next.kind != VALUE_MAP)
            return toml_fail_at(p, p->key_line, "\"" STR_FMT "\" is not a table", STR_ARG(key->parts[i]));
        table = next;
    }
    value_set(table, key->parts[key->n - 1], v);
    return 0;
}

/* key = value, in a table of any kind: the context is the same afterwards. */
static NODISCARD int read_assignment(struct toml_parser *p, struct toml_key *key, struct value *ret)
{
    struct toml_key context = p->context;
    int r = read_key(p, key);

    if (r < 0)
        return r;
    assert(key->n > 0 && key->parts);
    p->current = key->parts[key->n - 1];
    for (size_t i = 0; i + 1 < key->n && r == 0; i++) /* all but the last name */
        r = toml_enter_implicit(p, key->parts[i]);
    if (r == 0)
        r = read_value(p, false, ret);
    if (r == 0)
        r = toml_set(p, p->current, *ret);
    if (r < 0)
        return r;
    toml_mark_array(p, ret->kind == VALUE_LIST);
    p->context = context;
    return check_memory(p);
}

static NODISCARD int read_members(struct toml_parser *p, struct value table)
{
    uint32_t c = 0;
    int r;

    for (;;) {
        struct toml_key key = { 0 };
        struct value v = VALUE_NONE;

        r = next_in_container(p, &c);
        if (r < 0 || c == '}')
            return r;
        if (c == ',')
            return toml_fail(p, "unexpected comma");
        toml_back(p);
        r = read_assignment(p, &key, &v);
        if (r == 0)
            r = put_inline(p, table, &key, v);
        if (r == 0)
            r = next_in_container(p, &c);
        if (r < 0 || c == '}')
            return r;
        if (c != ',')
            return fail_expected(p, "a comma or an inline table terminator '}'", c, " instead");
    }
}

static NODISCARD int read_inline_table(struct toml_parser *p, bool in_array, struct value *ret)
{
    struct toml_key context = p->context, own;
    struct str current = p->current;
    struct value table = value_new_map(p->arena);
    int r;

    own = toml_key_add(p, &p->context, p->current);
    p->context = own;
    p->current = STR("");
    toml_mark_implicit(p, &own);
    r = toml_enter(p, &own, in_array);
    if (r == 0)
        r = read_members(p, table);
    if (r < 0)
        return r;
    p->context = context;
    p->current = current;
    *ret = table;
    return 0;
}

static NODISCARD int read_value(struct toml_parser *p, bool in_array, struct value *ret)
{
    struct str s = STR_NONE;
    uint32_t c = 0;
    int r = toml_skip_blanks(p);

    if (r == 0)
        r = toml_next(p, &c);
    if (r < 0)
        return r;
    if (++p->depth > TOML_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT, "toml: line %zu: nested deeper than %d", p->line, TOML_DEPTH_MAX);
    if (c == '[') {
        r = read_array(p, ret);
    } else if (c == '{') {
        r = read_inline_table(p, in_array, ret);
    } else if (c == '"' || c == '\'') {
        r = toml_read_string(p, c, false, &s);
        if (r == 0)
            *ret = value_from_str(s);
    } else {
        r = toml_read_scalar(p, c, ret);
    }
    p->depth--;
    return r;
}

/* ---- the document ---- */

/* [name] or [[name]]: the first bracket was read. */
static NODISCARD int read_header(struct toml_parser *p)
{
    struct toml_key key = { 0 };
    bool array;
    uint32_t c = 0;
    int r = toml_peek(p, &c);

    if (r < 0)
        return r;
    array = c == '[';
    if (array)
        p->pos++;
    do {
        r = peek_behind_blanks(p, &c);
        if (r < 0)
            return r;
        if (c == ']' || c == TOML_EOF)
            return toml_fail(p, "unexpected end of table name (table names cannot be empty)");
        if (c == '.')
            return toml_fail(p, "unexpected table separator (table names cannot be empty)");
        p->key_line = key.n == 0 ? p->line : p->key_line;
        r = read_part(p, c, &key);
        if (r == 0)
            r = toml_next(p, &c);
        if (r < 0)
            return r;
        if (c != '.' && c != ']')
            return fail_rune(p, "expected '.' or ']' to end table name, but got ", c, " instead");
    } while (c == '.');
    if (array) {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
        if (c != ']')
            return fail_rune(p, "expected end of table array name delimiter ']', but got ", c, " instead");
    }
    return toml_enter(p, &key, array);
}

/* Behind a value or header only a comment may follow on the line. */
static NODISCARD int end_line(struct toml_parser *p)
{
    uint32_t c = 0;
    int r = toml_skip_blanks(p);

    if (r == 0)
        r = toml_next(p, &c);
    if (r < 0 || p->at_eof || toml_is_newline(c))
        return r;
    if (c == '#')
        return toml_skip_comment(p);
    return fail_rune(p, "expected a top-level item to end with a newline, comment, or EOF, but got ", c,
                     " instead");
}

static NODISCARD int read_document(struct toml_parser *p)
{
    uint32_t c = 0;
    int r;

    for (;;) {
        struct toml_key key = { 0 };
        struct value v = VALUE_NONE;

        r = next_in_container(p, &c);
        if (r < 0 || p->at_eof)
            return r;
        if (c == '[') {
            r = read_header(p);
        } else {
            toml_back(p);
            r = read_assignment(p, &key, &v);
            p->current = r < 0 ? p->current : STR("");
        }
        if (r == 0)
            r = end_line(p);
        if (r < 0 || p->at_eof)
            return r;
    }
}

int toml_parse(struct arena *a, struct str text, struct value *ret, struct err **err)
{
    struct toml_parser p = { .arena = a, .line = 1, .implicits = MAP_INIT, .arrays = MAP_INIT, .err = err };
    int r;

    assert(a && ret);
    if (text.n > TOML_TEXT_MAX)
        return err_set(err, ERRC_LIMIT, "TOML text of %zu bytes is over the limit of %zu", text.n,
                       TOML_TEXT_MAX);
    if (str_has_prefix(text, STR("\xff\xfe")) || str_has_prefix(text, STR("\xfe\xff")))
        text = str_sub(text, 2, text.n);
    else
        text = str_trim_prefix(text, STR("\xef\xbb\xbf"));
    if (text.n > 0 && memchr(text.p, 0, MIN(text.n, (size_t)6)))
        return err_set(err, ERRC_PARSE,
                       "toml: line 1: files cannot contain NULL bytes; probably using UTF-16; "
                       "TOML files must be UTF-8");
    p.text = text.n ? text : STR("");
    p.root = value_new_map(a);
    r = read_document(&p);
    if (r == 0)
        r = check_memory(&p);
    map_done(&p.implicits);
    map_done(&p.arrays);
    if (r == 0)
        *ret = toml_finish(a, p.root);
    return r;
}
