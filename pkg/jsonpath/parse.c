/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "jsonpath/jsonpath_int.h"

/* A byte makes no more than that: a comma in a union is a text, a parsed list of its own and room for more of both. */
#define NODES_MEMORY_MAX (JSONPATH_TEXT_MAX * 4096)
#define END_OF_TEXT UINT32_MAX

struct parser {
    struct arena *arena;
    struct node_list *root;
    struct str in;
    size_t pos, start; /* start: what take() begins with */
    size_t width;      /* of the rune that next() returned, for back() */
};

static int parse_action(struct arena *a, struct str text, struct node_list *ret, struct err **err);

static struct node *add(struct parser *p, struct node_list *l, enum node_kind kind)
{
    if (l->n == l->cap) {
        const size_t cap = l->cap ? 2 * l->cap : 4;

        l->p = arena_grow(p->arena, l->p, l->cap * sizeof(*l->p), cap * sizeof(*l->p));
        l->cap = cap;
    }
    l->p[l->n] = (struct node){ .kind = kind };
    return &l->p[l->n++];
}

static void add_text(struct parser *p, struct node_list *l, enum node_kind kind, struct str text)
{
    add(p, l, kind)->text = text;
}

static void add_literal(struct parser *p, struct node_list *l, struct value v)
{
    add(p, l, NODE_LITERAL)->literal = v;
}

static struct str rest(const struct parser *p)
{
    return str_sub(p->in, p->pos, p->in.n);
}

static struct str take(struct parser *p)
{
    const struct str s = str_sub(p->in, p->start, p->pos);

    p->start = p->pos;
    return s;
}

static uint32_t next(struct parser *p)
{
    uint32_t r;

    p->width = 0;
    if (p->pos >= p->in.n)
        return END_OF_TEXT;
    p->width = utf8_decode(rest(p), &r);
    p->pos += p->width;
    return r == UTF8_INVALID ? 0xFFFD : r;
}

static void back(struct parser *p)
{
    p->pos -= p->width;
}

static bool is_word(uint32_t r)
{
    return r == '_' || utf8_is_letter(r) || utf8_is_digit(r);
}

static bool is_terminator(uint32_t r)
{
    return r == END_OF_TEXT || (r < 0x80 && ascii_is_one_of((char)r, " \t\r\n.,[]$@{}"));
}

/* Was the byte just read behind a backslash? */
static bool is_escaped(const struct parser *p)
{
    return p->in.p[p->pos - 2] == '\\';
}

static int parse_identifier(struct parser *p, struct node_list *l, struct err **err)
{
    struct str word;

    UNUSED(err);
    while (!is_terminator(next(p)))
        continue;
    back(p);
    word = take(p);
    if (str_eq(word, STR("true")) || str_eq(word, STR("false")))
        add_literal(p, l, value_from_bool(word.p[0] == 't'));
    else
        add_text(p, l, NODE_IDENTIFIER, word);
    return 0;
}

/* The name without its backslashes; they let it have dots and the like in it. */
static struct str field_name(struct parser *p, struct str raw)
{
    char *name;
    size_t n = 0;

    if (str_find_char(raw, '\\') == STR_NPOS)
        return raw;
    name = arena_alloc_bytes(p->arena, raw.n);
    for (size_t i = 0; i < raw.n; i++)
        if (raw.p[i] != '\\')
            name[n++] = raw.p[i];
    return (struct str){ name, n };
}

static int parse_field(struct parser *p, struct node_list *l, struct err **err)
{
    uint32_t r;
    struct str raw;

    UNUSED(err);
    take(p);
    while (!is_terminator(r = next(p)))
        if (r == '\\')
            next(p);
    back(p);
    raw = take(p);
    if (str_eq(raw, STR("*")))
        add(p, l, NODE_WILDCARD);
    else
        add_text(p, l, NODE_FIELD, field_name(p, raw));
    return 0;
}

static int parse_recursive(struct parser *p, struct node_list *l, struct err **err)
{
    uint32_t r;

    if (l->n > 0 && l->p[l->n - 1].kind == NODE_RECURSIVE)
        return err_set(err, ERRC_INVALID, "invalid multiple recursive descent");
    p->pos += strlen("..");
    take(p);
    add(p, l, NODE_RECURSIVE);
    r = next(p);
    back(p);
    return is_word(r) ? parse_field(p, l, err) : 0;
}

static int parse_number(struct parser *p, struct node_list *l, struct err **err)
{
    uint32_t r = next(p);
    struct str s;
    int64_t i;
    double d;
    bool out_of_range = false;

    if (r != '+' && r != '-')
        back(p);
    do
        r = next(p);
    while (r == '.' || utf8_is_digit(r));
    back(p);
    s = take(p);
    if (number_parse_int(s, 10, 64, &i) == NUMBER_OK)
        add_literal(p, l, value_from_int(i));
    else if (number_parse_float(s, 64, &d, &out_of_range) && !out_of_range)
        add_literal(p, l, value_from_float(d));
    else
        return err_set(err, ERRC_INVALID, "cannot parse number " STR_FMT, STR_ARG(s));
    return 0;
}

/* ---- brackets ---- */

static int parse_union(struct parser *p, struct node_list *l, struct str text, struct err **err)
{
    struct node_list lists = { 0 };
    struct str part;

    while (str_split(&text, ',', &part)) {
        const struct str trimmed = str_trim_chars(part, " ");
        int r = parse_action(p->arena, arena_printf(p->arena, "[" STR_FMT "]", STR_ARG(trimmed)),
                             &add(p, &lists, NODE_LIST)->nodes, err);

        if (r < 0)
            return r;
    }
    add(p, l, NODE_UNION)->nodes = lists;
    return 0;
}

/* ['name'] is .name: a dot in it wants its backslash here, too. */
static int parse_key(struct parser *p, struct node_list *l, struct str name, struct err **err)
{
    struct node_list nodes = { 0 };
    int r = parse_action(p->arena, arena_printf(p->arena, "." STR_FMT, STR_ARG(name)), &nodes, err);

    for (size_t i = 0; r == 0 && i < nodes.n; i++)
        *add(p, l, NODE_TEXT) = nodes.p[i];
    return r;
}

/* -?[0-9]* off the front. */
static struct str take_digits(struct str *s)
{
    size_t n = s->n > 0 && s->p[0] == '-';
    struct str digits;

    while (n < s->n && ascii_is_digit(s->p[n]))
        n++;
    digits = str_sub(*s, 0, n);
    *s = str_sub(*s, n, s->n);
    return digits;
}

static int parse_bounds(struct str text, struct bound bounds[3], struct err **err)
{
    struct str in = text, parts[3] = { take_digits(&in) };
    bool is_there[3] = { parts[0].n > 0 };

    for (size_t i = 1; i < 3 && in.n > 0 && in.p[0] == ':'; i++) {
        in = str_sub(in, 1, in.n);
        parts[i] = take_digits(&in);
        is_there[i] = true;
    }
    if (in.n > 0)
        return err_set(err, ERRC_INVALID, "invalid array index " STR_FMT, STR_ARG(text));
    for (size_t i = 0; i < 3; i++) {
        bounds[i].known = parts[i].n > 0;
        if (bounds[i].known && number_parse_int(parts[i], 10, 64, &bounds[i].at) != NUMBER_OK)
            return err_set(err, ERRC_INVALID, "array index " STR_FMT " is not a number", STR_ARG(parts[i]));
    }
    if (!is_there[1]) /* wraps around as Go's int */
        bounds[1] = (struct bound){ (int64_t)((uint64_t)bounds[0].at + 1), .known = true, .derived = true };
    return 0;
}

static int parse_brackets(struct parser *p, struct node_list *l, struct err **err)
{
    struct bound bounds[3] = { 0 };
    struct str text;
    uint32_t c;
    int r;

    do {
        c = next(p);
        if (c == END_OF_TEXT || c == '\n')
            return err_set(err, ERRC_INVALID, "unterminated array");
    } while (c != ']');
    text = take(p);
    text = str_sub(text, 1, text.n - 1);
    if (str_eq(text, STR("*")))
        text = STR(":");
    if (str_find_char(text, ',') != STR_NPOS)
        return parse_union(p, l, text, err);
    if (text.n >= 2 && text.p[0] == '\'' && str_find_char(str_sub(text, 1, text.n), '\'') == text.n - 2)
        return parse_key(p, l, str_sub(text, 1, text.n - 1), err);
    r = parse_bounds(text, bounds, err);
    if (r == 0)
        memcpy(add(p, l, NODE_ARRAY)->bounds, bounds, sizeof(bounds));
    return r;
}

/* To the first ")" that is not within the first quoted text, and the "]" behind it. */
static int scan_filter(struct parser *p, struct str *ret, struct err **err)
{
    uint32_t r, pair = 0;
    bool ended = false;

    take(p);
    do {
        r = next(p);
        if (r == END_OF_TEXT || r == '\n')
            return err_set(err, ERRC_INVALID, "unterminated filter");
        if ((r == '"' || r == '\'') && !pair)
            pair = r;
        else if (r == pair && !is_escaped(p))
            ended = true;
    } while (r != ')' || (pair && !ended));
    if (next(p) != ']')
        return err_set(err, ERRC_INVALID, "unclosed array expect ]");
    *ret = take(p);
    *ret = str_sub(*ret, 0, ret->n - strlen(")]"));
    return 0;
}

static bool is_operator(char c)
{
    return c == '!' || c == '<' || c == '>' || c == '=';
}

/* ^([^!<>=]+)([!<>=]+)(.+?)$ */
static bool split_filter(struct str text, struct str *left, struct str *op, struct str *right)
{
    size_t from = 0, to;

    while (from < text.n && !is_operator(text.p[from]))
        from++;
    to = from;
    while (to < text.n && is_operator(text.p[to]))
        to++;
    to -= to == text.n && to > from + 1; /* something must be on the right */
    *left = str_sub(text, 0, from);
    *op = str_sub(text, from, to);
    *right = str_sub(text, to, text.n);
    return left->n > 0 && op->n > 0 && right->n > 0;
}

static int parse_filter(struct parser *p, struct node_list *l, struct err **err)
{
    struct node filter = { .kind = NODE_FILTER };
    struct str text, left, op, right;
    int r;

    p->pos += strlen("[?(");
    r = scan_filter(p, &text, err);
    if (r < 0)
        return r;
    if (!split_filter(text, &left, &op, &right)) {
        r = parse_action(p->arena, text, &filter.nodes, err);
    } else {
        filter.text = op;
        r = parse_action(p->arena, left, &filter.nodes, err);
        if (r == 0)
            r = parse_action(p->arena, right, &filter.rights, err);
    }
    if (r == 0)
        *add(p, l, NODE_FILTER) = filter;
    return r;
}

/* ---- quoted texts ---- */

static bool unquote(struct arena *a, struct str s, struct str *ret)
{
    const char quote = s.p[0];
    CLEANUP(buf_done) struct buf out = BUF_INIT(3 * s.n); /* a damaged byte becomes U+FFFD */

    s = str_sub(s, 1, s.n - 1);
    if (str_find_char(s, '\\') == STR_NPOS) {
        *ret = s;
        return true;
    }
    if (!utf8_unquote(s, quote, &out))
        return false;
    *ret = arena_dup(a, buf_str(&out));
    return true;
}

static int parse_quoted(struct parser *p, struct node_list *l, struct err **err)
{
    const char quote = p->in.p[p->pos - 1];
    struct str raw, text;
    uint32_t r;

    do {
        r = next(p);
        if (r == END_OF_TEXT || r == '\n')
            return err_set(err, ERRC_INVALID, "unterminated quoted string");
    } while (r != (unsigned char)quote || is_escaped(p));
    raw = take(p);
    if (!unquote(p->arena, raw, &text))
        return err_set(err, ERRC_INVALID, "unquote string " STR_FMT " error invalid syntax", STR_ARG(raw));
    add_text(p, l, NODE_TEXT, text);
    return 0;
}

/* ---- actions and what is around them ---- */

static int refuse_rune(uint32_t r, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    utf8_print_code_point(r, &b);
    return err_set(err, ERRC_INVALID, "unrecognized character in action: %s", buf_z(&b));
}

/* One piece of an action, which is not at its end. */
static int parse_piece(struct parser *p, struct node_list *l, struct err **err)
{
    uint32_t r;

    if (str_has_prefix(rest(p), STR("[?(")))
        return parse_filter(p, l, err);
    if (str_has_prefix(rest(p), STR("..")))
        return parse_recursive(p, l, err);
    r = next(p);
    switch (r) {
    case END_OF_TEXT:
    case '\r':
    case '\n':
        return err_set(err, ERRC_INVALID, "unclosed action");
    case ' ':
    case '@': /* the current object is where every path begins */
    case '$':
        take(p);
        return 0;
    case '[':
        return parse_brackets(p, l, err);
    case '"':
    case '\'':
        return parse_quoted(p, l, err);
    case '.':
        return parse_field(p, l, err);
    default:
        break;
    }
    back(p);
    if (r == '+' || r == '-' || utf8_is_digit(r))
        return parse_number(p, l, err);
    return is_word(r) ? parse_identifier(p, l, err) : refuse_rune(r, err);
}

/* From behind "{" to behind "}". */
static int parse_inside(struct parser *p, struct node_list *l, struct err **err)
{
    while (p->pos >= p->in.n || p->in.p[p->pos] != '}') {
        int r = parse_piece(p, l, err);

        if (r < 0)
            return r;
    }
    p->pos++;
    take(p);
    return 0;
}

static int parse_text(struct parser *p, struct err **err)
{
    for (;;) {
        const size_t brace = str_find_char(rest(p), '{');
        struct node_list nodes = { 0 };
        int r;

        p->pos = brace == STR_NPOS ? p->in.n : p->pos + brace;
        if (p->pos > p->start)
            add_text(p, p->root, NODE_TEXT, take(p));
        if (brace == STR_NPOS)
            return 0;
        p->pos++;
        take(p);
        r = parse_inside(p, &nodes, err);
        if (r < 0)
            return r;
        add(p, p->root, NODE_LIST)->nodes = nodes;
    }
}

/* What stands between braces as a template of its own; what follows a "}" in it is parsed, and dropped. */
static int parse_action(struct arena *a, struct str text, struct node_list *ret, struct err **err)
{
    struct node_list root = { 0 };
    struct parser p = { .arena = a, .root = &root, .in = arena_printf(a, "{" STR_FMT "}", STR_ARG(text)) };
    int r = parse_text(&p, err);

    if (r == 0)
        *ret = root.p[0].nodes;
    return r;
}

int jsonpath_parse(struct str text, struct jsonpath **ret, struct err **err)
{
    CLEANUP(jsonpath_free) struct jsonpath *path = NULL;
    struct parser p;
    int r;

    if (text.n > JSONPATH_TEXT_MAX)
        return err_set(err, ERRC_LIMIT, "jsonpath template of more than %zu bytes", JSONPATH_TEXT_MAX);
    path = xcalloc(1, sizeof(*path));
    path->arena = arena_new(NODES_MEMORY_MAX);
    p = (struct parser){ .arena = path->arena, .root = &path->root, .in = arena_dup(path->arena, text) };
    r = parse_text(&p, err);
    assert(!arena_failed(path->arena));
    if (r < 0)
        return r;
    *ret = TAKE(path);
    return 0;
}

void jsonpath_free(struct jsonpath *p)
{
    if (!p)
        return;
    arena_free(p->arena);
    free_ptr(p);
}
