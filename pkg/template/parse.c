/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of text/template/parse/parse.go, with its error texts. A failed function returns NULL and has set
 * p->failed; the caller only passes it on. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "template/lex.h"
#include "template/number_node.h"
#include "template/quote.h"
#include "template/template.h"
#include "template/tree.h"

#define PARENS_MAX 10000 /* as Go */

/* What a file's definitions share. */
struct file {
    struct tpl_set *set;
    struct arena *arena;
    struct lex lex;
    const struct source *source;
    struct map trees; /* by name: struct tree */
    struct str error;
    bool failed;
    /* Children of unfinished nodes. */
    const struct node **stack;
    size_t n_stack, cap_stack;
};

/* One definition being parsed; Go's parse.Tree. */
struct parser {
    struct file *file;
    struct tok tok[3];
    int peeked;
    uint32_t action_line;
    int parens, ranges;
    struct map var_ids; /* name -> number + 1 */
    uint32_t *vars;     /* those in scope, innermost last */
    size_t n_vars, cap_vars;
    uint32_t *in_scope; /* by number: how often it is in vars */
    size_t n_ids, cap_ids;
};

static const struct node *pipeline(struct parser *p, const char *context, enum tok_kind end);
static const struct node *item_list(struct parser *p, const struct node **ret_end);
static const struct node *text_or_action(struct parser *p);

/* ---- tokens ---- */

static struct tok next(struct parser *p)
{
    if (p->peeked > 0)
        p->peeked--;
    else
        p->tok[0] = lex_next(&p->file->lex);
    return p->tok[p->peeked];
}

static void backup(struct parser *p)
{
    p->peeked++;
}

static struct tok peek(struct parser *p)
{
    if (p->peeked == 0) {
        p->peeked = 1;
        p->tok[0] = lex_next(&p->file->lex);
    }
    return p->tok[p->peeked - 1];
}

static struct tok next_non_space(struct parser *p)
{
    struct tok t = next(p);

    while (t.kind == TOK_SPACE)
        t = next(p);
    return t;
}

static struct tok peek_non_space(struct parser *p)
{
    struct tok t = next_non_space(p);

    backup(p);
    return t;
}

/* ---- errors ---- */

static void *fail(struct parser *p, const struct buf *text)
{
    struct file *f = p->file;

    if (!f->failed) {
        f->failed = true;
        f->error = arena_printf(f->arena, "template: " STR_FMT ":%u: " STR_FMT, STR_ARG(f->source->name),
                                p->tok[0].line, STR_ARG(buf_str(text)));
    }
    return NULL;
}

static void *fail_text(struct parser *p, const char *fmt, ...) PRINTF(2, 3);
static void *fail_text(struct parser *p, const char *fmt, ...)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);
    va_list args;
    char *text;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    buf_adds(&b, text);
    free(text);
    return fail(p, &b);
}

/* `before`"name"`after` */
static void *fail_quoted(struct parser *p, const char *before, struct str name, const char *after)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, before);
    tpl_print_quoted(name, &b);
    buf_adds(&b, after);
    return fail(p, &b);
}

static void print_token(struct tok t, struct buf *out)
{
    if (t.kind == TOK_EOF) {
        buf_adds(out, "EOF");
    } else if (t.kind == TOK_ERROR) {
        buf_addstr(out, t.text);
    } else if (t.kind > TOK_KEYWORD_) {
        buf_addf(out, "<" STR_FMT ">", STR_ARG(t.text));
    } else if (t.text.n > 10) {
        tpl_print_quoted(go_truncate(t.text, 10), out);
        buf_adds(out, "...");
    } else {
        tpl_print_quoted(t.text, out);
    }
}

static void *unexpected(struct parser *p, struct tok t, const char *context)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    if (t.kind != TOK_ERROR)
        buf_adds(&b, "unexpected ");
    print_token(t, &b);
    if (t.kind != TOK_ERROR) {
        buf_addf(&b, " in %s", context);
    } else if (p->action_line != 0 && p->action_line != t.line) {
        if (!str_has_suffix(t.text, STR(" action")))
            buf_adds(&b, " in action");
        buf_addf(&b, " started at " STR_FMT ":%u", STR_ARG(p->file->source->name), p->action_line);
    }
    return fail(p, &b);
}

static void *unexpected_node(struct parser *p, const char *before, const struct node *n, const char *context)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, before);
    node_print(n, &b);
    if (context)
        buf_addf(&b, " in %s", context);
    return fail(p, &b);
}

static bool expect(struct parser *p, enum tok_kind kind, const char *context, struct tok *ret)
{
    *ret = next_non_space(p);
    if (ret->kind != kind)
        unexpected(p, *ret, context);
    return !p->file->failed;
}

/* ---- nodes ---- */

static struct node *node_new(struct parser *p, enum node_kind kind, uint32_t pos)
{
    struct node *n = ARENA_NEW(p->file->arena, struct node);

    n->kind = (uint8_t)kind;
    n->pos = pos;
    return n;
}

static void push(struct parser *p, const struct node *n)
{
    struct file *f = p->file;

    ARRAY_GROW(f->stack, f->cap_stack, f->n_stack + 1);
    f->stack[f->n_stack++] = n;
}

/* The children pushed since `base` become n's. */
static void set_items(struct parser *p, struct node *n, size_t base)
{
    struct file *f = p->file;
    size_t count = f->n_stack - base;
    const struct node **items = ARENA_ARRAY(f->arena, const struct node *, count);

    if (count > 0)
        memcpy(items, f->stack + base, count * sizeof(*items));
    n->items = items;
    n->n = (uint32_t)count;
    f->n_stack = base;
}

/* ---- variables ---- */

static uint32_t var_id(struct parser *p, struct str name)
{
    uintptr_t known = (uintptr_t)map_get(&p->var_ids, name);

    if (known > 0)
        return (uint32_t)known - 1;
    ARRAY_GROW(p->in_scope, p->cap_ids, p->n_ids + 1);
    p->in_scope[p->n_ids] = 0;
    map_put(&p->var_ids, name, (void *)(uintptr_t)(p->n_ids + 1));
    return (uint32_t)p->n_ids++;
}

static void declare(struct parser *p, uint32_t id)
{
    ARRAY_GROW(p->vars, p->cap_vars, p->n_vars + 1);
    p->vars[p->n_vars++] = id;
    p->in_scope[id]++;
}

static void pop_vars(struct parser *p, size_t n)
{
    while (p->n_vars > n)
        p->in_scope[p->vars[--p->n_vars]]--;
}

static struct node *variable_new(struct parser *p, struct tok t)
{
    struct node *n = node_new(p, NODE_VARIABLE, t.pos);
    struct str *names = ARENA_ARRAY(p->file->arena, struct str, 1);

    names[0] = t.text;
    n->names = names;
    n->n = 1;
    n->var = var_id(p, t.text);
    return n;
}

static const struct node *use_variable(struct parser *p, struct tok t)
{
    struct node *n = variable_new(p, t);

    return p->in_scope[n->var] > 0 ? n : fail_quoted(p, "undefined variable ", t.text, "");
}

/* ---- terms ---- */

static const struct node *identifier(struct parser *p, struct tok t)
{
    const struct tpl_func *func = func_find(t.text);
    struct node *n;

    if (!func)
        return fail_quoted(p, "function ", t.text, " not defined");
    n = node_new(p, NODE_IDENTIFIER, t.pos);
    n->ident = t.text;
    n->func = func;
    if (strcmp(func->name, "and") == 0)
        n->special = SPECIAL_AND;
    else if (strcmp(func->name, "or") == 0)
        n->special = SPECIAL_OR;
    else if (strcmp(func->name, "call") == 0)
        n->special = SPECIAL_CALL;
    return n;
}

static const struct node *field_new(struct parser *p, struct tok t)
{
    struct node *n = node_new(p, NODE_FIELD, t.pos);
    struct str *names = ARENA_ARRAY(p->file->arena, struct str, 1);

    names[0] = str_sub(t.text, 1, t.text.n);
    n->names = names;
    n->n = 1;
    return n;
}

static const struct node *number(struct parser *p, struct tok t)
{
    CLEANUP(buf_done) struct buf why = BUF_INIT(SIZE_MAX / 4);
    struct node *n = node_new(p, NODE_NUMBER, t.pos);

    n->number =
        number_node_parse(p->file->arena, t.text, t.kind == TOK_CHAR_CONSTANT, t.kind == TOK_COMPLEX, &why);
    return n->number ? n : fail(p, &why);
}

static const struct node *string(struct parser *p, struct tok t)
{
    struct node *n = node_new(p, NODE_STRING, t.pos);

    if (!go_unquote(p->file->arena, t.text, &n->text))
        return fail_text(p, "invalid syntax");
    n->quoted = t.text;
    return n;
}

static const struct node *parenthesized(struct parser *p)
{
    const struct node *n;

    if (p->parens >= PARENS_MAX || stack_is_low(0))
        return fail_text(p, "max expression depth exceeded");
    p->parens++;
    n = pipeline(p, "parenthesized pipeline", TOK_RIGHT_PAREN);
    p->parens--;
    return n;
}

static const struct node *constant(struct parser *p, struct tok t, enum node_kind kind)
{
    struct node *n = node_new(p, kind, t.pos);

    n->flag = kind == NODE_BOOL && str_eq(t.text, STR("true"));
    return n;
}

/* NULL without a failure: the next token starts no term. */
static const struct node *term(struct parser *p)
{
    struct tok t = next_non_space(p);

    switch (t.kind) {
    case TOK_IDENTIFIER:
        return identifier(p, t);
    case TOK_DOT:
        return constant(p, t, NODE_DOT);
    case TOK_NIL:
        return constant(p, t, NODE_NIL);
    case TOK_BOOL:
        return constant(p, t, NODE_BOOL);
    case TOK_VARIABLE:
        return use_variable(p, t);
    case TOK_FIELD:
        return field_new(p, t);
    case TOK_CHAR_CONSTANT:
    case TOK_COMPLEX:
    case TOK_NUMBER:
        return number(p, t);
    case TOK_LEFT_PAREN:
        return parenthesized(p);
    case TOK_STRING:
    case TOK_RAW_STRING:
        return string(p, t);
    default:
        backup(p);
        return NULL;
    }
}

/* `n` followed by fields. A field or variable takes the names itself, at the position of the second token. */
static const struct node *chain(struct parser *p, const struct node *of)
{
    struct arena *a = p->file->arena;
    bool joins = of->kind == NODE_FIELD || of->kind == NODE_VARIABLE;
    struct node *n = node_new(p, joins ? of->kind : NODE_CHAIN, peek(p).pos);
    size_t cap = 8, count = joins ? of->n : 0;
    struct str *names = ARENA_ARRAY(a, struct str, cap);

    if (count > 0)
        memcpy(names, of->names, count * sizeof(*names));
    while (peek(p).kind == TOK_FIELD) {
        struct tok t = next(p);

        if (count == cap) {
            names = arena_grow(a, names, cap * sizeof(*names), 2 * cap * sizeof(*names));
            cap *= 2;
        }
        names[count++] = str_sub(t.text, 1, t.text.n);
    }
    n->names = names;
    n->n = (uint32_t)count;
    n->var = of->kind == NODE_VARIABLE ? of->var : 0;
    n->of = joins ? NULL : of;
    return n;
}

static const struct node *operand(struct parser *p)
{
    const struct node *n = term(p);

    if (!n || peek(p).kind != TOK_FIELD)
        return n;
    switch (n->kind) {
    case NODE_BOOL:
    case NODE_STRING:
    case NODE_NUMBER:
    case NODE_NIL:
    case NODE_DOT: {
        CLEANUP(buf_done) struct buf text = BUF_INIT(SIZE_MAX / 4);

        while (peek(p).kind == TOK_FIELD)
            next(p);
        node_print(n, &text);
        return fail_quoted(p, "unexpected . after term ", buf_str(&text), "");
    }
    default:
        return chain(p, n);
    }
}

/* ---- pipelines ---- */

static const struct node *command(struct parser *p)
{
    struct node *cmd = node_new(p, NODE_COMMAND, peek_non_space(p).pos);
    size_t base = p->file->n_stack;

    for (;;) {
        const struct node *n;
        struct tok t;

        peek_non_space(p);
        n = operand(p);
        if (p->file->failed)
            return NULL;
        if (n)
            push(p, n);
        t = next(p);
        if (t.kind == TOK_SPACE)
            continue;
        if (t.kind == TOK_RIGHT_DELIM || t.kind == TOK_RIGHT_PAREN)
            backup(p);
        else if (t.kind != TOK_PIPE)
            return unexpected(p, t, "operand");
        break;
    }
    set_items(p, cmd, base);
    return cmd->n > 0 ? cmd : fail_text(p, "empty command");
}

/* "$x, $y :=" in front of a pipeline. Up to two variables go to decl; returns how many, or -1. */
static int declarations(struct parser *p, const char *context, const struct node *decl[2], bool *ret_assigns)
{
    for (int n = 0;;) {
        struct tok v = peek_non_space(p), behind, t;

        if (v.kind != TOK_VARIABLE)
            return n;
        next(p);
        behind = peek(p);
        t = peek_non_space(p);
        if (t.kind == TOK_ASSIGN || t.kind == TOK_DECLARE ||
            (t.kind == TOK_CHAR && str_eq(t.text, STR(",")))) {
            struct node *node = variable_new(p, v);

            next_non_space(p);
            declare(p, node->var);
            if (n < 2)
                decl[n] = node;
            n++;
            if (t.kind != TOK_CHAR) {
                *ret_assigns = t.kind == TOK_ASSIGN;
                return n;
            }
            if (strcmp(context, "range") == 0 && n < 2) {
                enum tok_kind follows = peek_non_space(p).kind;

                if (follows == TOK_VARIABLE || follows == TOK_RIGHT_DELIM || follows == TOK_RIGHT_PAREN)
                    continue;
                fail_text(p, "range can only initialize variables");
            } else {
                fail_text(p, "too many declarations in %s", context);
            }
            return -1;
        }
        if (behind.kind == TOK_SPACE) { /* an argument: push back the variable and the blank */
            p->tok[1] = behind;
            p->tok[2] = v;
            p->peeked = 3;
        } else {
            p->tok[1] = v;
            p->peeked = 2;
        }
        return n;
    }
}

static const struct node *check_pipeline(struct parser *p, const struct node *pipe, const char *context)
{
    if (pipe->n == 0)
        return fail_text(p, "missing value for %s", context);
    for (uint32_t i = 1; i < pipe->n; i++) {
        switch (pipe->items[i]->items[0]->kind) {
        case NODE_BOOL:
        case NODE_DOT:
        case NODE_NIL:
        case NODE_NUMBER:
        case NODE_STRING:
            return fail_text(p, "non executable command in pipeline stage %u", i + 1);
        default:
            break;
        }
    }
    return pipe;
}

static bool starts_command(enum tok_kind kind)
{
    switch (kind) {
    case TOK_BOOL:
    case TOK_CHAR_CONSTANT:
    case TOK_COMPLEX:
    case TOK_DOT:
    case TOK_FIELD:
    case TOK_IDENTIFIER:
    case TOK_NUMBER:
    case TOK_NIL:
    case TOK_RAW_STRING:
    case TOK_STRING:
    case TOK_VARIABLE:
    case TOK_LEFT_PAREN:
        return true;
    default:
        return false;
    }
}

static const struct node *pipeline(struct parser *p, const char *context, enum tok_kind end)
{
    struct node *pipe = node_new(p, NODE_PIPE, peek_non_space(p).pos);
    const struct node *decl[2] = { NULL, NULL }, **kept;
    size_t base = p->file->n_stack;
    int n = declarations(p, context, decl, &pipe->flag);

    if (n < 0)
        return NULL;
    if (n > 0) {
        kept = ARENA_ARRAY(p->file->arena, const struct node *, 2);
        memcpy(kept, decl, sizeof(decl));
        pipe->decl = kept;
        pipe->n_decl = (uint8_t)MIN(n, 2);
    }
    for (;;) {
        struct tok t = next_non_space(p);
        const struct node *cmd;

        if (t.kind == end)
            break;
        if (!starts_command(t.kind))
            return unexpected(p, t, context);
        backup(p);
        cmd = command(p);
        if (!cmd)
            return NULL;
        push(p, cmd);
    }
    set_items(p, pipe, base);
    return check_pipeline(p, pipe, context);
}

/* ---- definitions ---- */

static bool is_empty(const struct node *n)
{
    if (n->kind == NODE_TEXT) {
        struct str s = n->text;

        while (s.n > 0) {
            uint32_t r;
            size_t w = go_decode_rune(s, &r);

            if (!(r < 0x80 ? ascii_is_space((char)r)
                           : r == 0x85 || r == 0xA0 || r == 0x1680 || (r >= 0x2000 && r <= 0x200A) ||
                                 r == 0x2028 || r == 0x2029 || r == 0x202F || r == 0x205F || r == 0x3000))
                return false;
            s = str_sub(s, w, s.n);
        }
        return true;
    }
    if (n->kind != NODE_LIST)
        return false;
    for (uint32_t i = 0; i < n->n; i++)
        if (!is_empty(n->items[i]))
            return false;
    return true;
}

/* Keeps a finished definition; an empty one gives way. */
static void add_tree(struct parser *p, struct str name, const struct node *root)
{
    struct file *f = p->file;
    const struct tree *old = map_get(&f->trees, name);
    struct tree *t;

    if (old && !old->empty) {
        if (!is_empty(root))
            fail_quoted(p, "template: multiple definition of template ", name, "");
        return;
    }
    t = ARENA_NEW(f->arena, struct tree);
    *t = (struct tree){ name, f->source, root, is_empty(root) };
    map_put(&f->trees, name, t);
}

static void parser_init(struct parser *p, struct file *f)
{
    *p = (struct parser){ .file = f };
    declare(p, var_id(p, STR("$")));
}

static void parser_done(struct parser *p)
{
    map_done(&p->var_ids);
    free(p->vars);
    free(p->in_scope);
}
DEFINE_CLEANUP_VALUE(struct parser, parser_done)

/* The body up to {{end}} becomes the template `name`; `unquoted` NULL: the name comes first. */
static void definition(struct file *f, const struct str *known, const char *context)
{
    CLEANUP(parser_done) struct parser p;
    const struct node *root, *end = NULL;
    struct str name = known ? *known : STR("");
    struct tok t;

    parser_init(&p, f);
    if (!known) {
        t = next_non_space(&p);
        if (t.kind != TOK_STRING && t.kind != TOK_RAW_STRING) {
            unexpected(&p, t, context);
            return;
        }
        if (!go_unquote(f->arena, t.text, &name)) {
            fail_text(&p, "invalid syntax");
            return;
        }
        if (!expect(&p, TOK_RIGHT_DELIM, context, &t))
            return;
    }
    root = item_list(&p, &end);
    if (!root)
        return;
    if (end->kind != NODE_END)
        unexpected_node(&p, "unexpected ", end, context);
    else
        add_tree(&p, name, root);
}

/* ---- actions ---- */

static const struct node *loop_control(struct parser *p, struct tok word)
{
    const char *text = word.kind == TOK_BREAK ? "{{break}}" : "{{continue}}";
    struct tok t = next_non_space(p);

    if (t.kind != TOK_RIGHT_DELIM)
        return unexpected(p, t, text);
    if (p->ranges == 0)
        return fail_text(p, "%s outside {{range}}", text);
    return node_new(p, word.kind == TOK_BREAK ? NODE_BREAK : NODE_CONTINUE, word.pos);
}

static const struct node *control(struct parser *p, enum node_kind kind);

/* Behind {{else}} of a control structure: NULL after a failure. */
static const struct node *else_list(struct parser *p, enum node_kind kind, const struct node *mark)
{
    enum tok_kind again = kind == NODE_IF ? TOK_IF : TOK_WITH;
    const struct node *end = NULL, *list;
    struct node *one;
    size_t base = p->file->n_stack;

    if (kind == NODE_RANGE || peek(p).kind != again) {
        list = item_list(p, &end);
        if (list && end->kind != NODE_END)
            return unexpected_node(p, "expected end; found ", end, NULL);
        return list;
    }
    next(p); /* "else if" is an else with one if, which share an end */
    one = node_new(p, NODE_LIST, mark->pos);
    list = control(p, kind);
    if (!list)
        return NULL;
    push(p, list);
    set_items(p, one, base);
    return one;
}

static const struct node *control(struct parser *p, enum node_kind kind)
{
    static const char *const names[] = { [NODE_IF] = "if", [NODE_RANGE] = "range", [NODE_WITH] = "with" };
    struct node *n = node_new(p, kind, 0);
    const struct node *end = NULL;
    size_t vars = p->n_vars;

    if (stack_is_low(0))
        return fail_text(p, "max expression depth exceeded");
    n->pipe = pipeline(p, names[kind], TOK_RIGHT_DELIM);
    if (!n->pipe)
        return NULL;
    n->pos = n->pipe->pos;
    p->ranges += kind == NODE_RANGE;
    n->list = item_list(p, &end);
    p->ranges -= kind == NODE_RANGE;
    if (!n->list)
        return NULL;
    if (end->kind == NODE_ELSE) {
        n->other = else_list(p, kind, end);
        if (!n->other)
            return NULL;
    }
    pop_vars(p, vars);
    return n;
}

static const struct node *else_mark(struct parser *p)
{
    struct tok t = peek_non_space(p);

    if (t.kind != TOK_IF && t.kind != TOK_WITH && !expect(p, TOK_RIGHT_DELIM, "else", &t))
        return NULL;
    return node_new(p, NODE_ELSE, t.pos);
}

static const struct node *template_action(struct parser *p, bool block)
{
    const char *context = block ? "block clause" : "template clause";
    struct tok t = next_non_space(p);
    struct node *n = node_new(p, NODE_TEMPLATE, t.pos);

    if (t.kind != TOK_STRING && t.kind != TOK_RAW_STRING)
        return unexpected(p, t, context);
    if (!go_unquote(p->file->arena, t.text, &n->called))
        return fail_text(p, "invalid syntax");
    if (!block && next_non_space(p).kind == TOK_RIGHT_DELIM)
        return n;
    if (!block)
        backup(p);
    n->with = pipeline(p, context, TOK_RIGHT_DELIM);
    if (!n->with)
        return NULL;
    if (block)
        definition(p->file, &n->called, context);
    return p->file->failed ? NULL : n;
}

static const struct node *action(struct parser *p)
{
    struct tok t = next_non_space(p);
    struct node *n;

    switch (t.kind) {
    case TOK_BLOCK:
    case TOK_TEMPLATE:
        return template_action(p, t.kind == TOK_BLOCK);
    case TOK_BREAK:
    case TOK_CONTINUE:
        return loop_control(p, t);
    case TOK_ELSE:
        return else_mark(p);
    case TOK_END:
        return expect(p, TOK_RIGHT_DELIM, "end", &t) ? node_new(p, NODE_END, t.pos) : NULL;
    case TOK_IF:
        return control(p, NODE_IF);
    case TOK_RANGE:
        return control(p, NODE_RANGE);
    case TOK_WITH:
        return control(p, NODE_WITH);
    default:
        backup(p);
        n = node_new(p, NODE_ACTION, peek(p).pos);
        n->pipe = pipeline(p, "command", TOK_RIGHT_DELIM);
        return n->pipe ? n : NULL;
    }
}

static const struct node *text_or_action(struct parser *p)
{
    struct tok t = next_non_space(p);
    const struct node *n;
    struct node *text;

    switch (t.kind) {
    case TOK_TEXT:
        text = node_new(p, NODE_TEXT, t.pos);
        text->text = t.text;
        return text;
    case TOK_LEFT_DELIM:
        p->action_line = t.line;
        n = action(p);
        p->action_line = 0;
        return n;
    default:
        return unexpected(p, t, "input");
    }
}

/* Up to {{end}} or {{else}}, which goes to *ret_end. */
static const struct node *item_list(struct parser *p, const struct node **ret_end)
{
    struct node *list = node_new(p, NODE_LIST, peek_non_space(p).pos);
    size_t base = p->file->n_stack;

    while (peek_non_space(p).kind != TOK_EOF) {
        const struct node *n = text_or_action(p);

        if (!n)
            return NULL;
        if (n->kind == NODE_END || n->kind == NODE_ELSE) {
            set_items(p, list, base);
            *ret_end = n;
            return list;
        }
        push(p, n);
    }
    return fail_text(p, "unexpected EOF");
}

/* ---- files ---- */

/* One item of the top level; a definition is no item. */
static bool top_item(struct parser *p)
{
    const struct node *n;

    if (peek(p).kind == TOK_LEFT_DELIM) {
        struct tok delim = next(p);

        if (next_non_space(p).kind == TOK_DEFINE) {
            definition(p->file, NULL, "define clause");
            return !p->file->failed;
        }
        p->tok[1] = delim;
        p->peeked = 2;
    }
    n = text_or_action(p);
    if (!n)
        return false;
    if (n->kind == NODE_END || n->kind == NODE_ELSE) {
        unexpected_node(p, "unexpected ", n, NULL);
        return false;
    }
    push(p, n);
    return true;
}

static void parse_file(struct file *f)
{
    CLEANUP(parser_done) struct parser p;
    struct node *root;

    parser_init(&p, f);
    root = node_new(&p, NODE_LIST, peek(&p).pos);
    while (peek(&p).kind != TOK_EOF)
        if (!top_item(&p))
            return;
    set_items(&p, root, 0);
    add_tree(&p, f->source->name, root);
}

/* An empty definition does not replace one that is there already. The text of a tpl call always takes its name: Helm
 * parses it into a clone whose root template has no tree. */
static void merge(struct tpl_set *s, struct file *f)
{
    struct str name;
    void *value;

    for (size_t i = 0; map_next(&f->trees, &i, &name, &value);) {
        struct tree *t = value;

        if (t->empty && !(s->below && str_eq(name, TPL_ROOT_NAME)) && tpl_set_find(s, name))
            continue;
        map_put(&s->trees, name, t);
    }
}

int tpl_parse(struct tpl_set *s, struct str name, struct str text, struct err **err)
{
    struct source *source = ARENA_NEW(s->arena, struct source);
    struct file f = { .set = s, .arena = s->arena, .source = source };
    int r = 0;

    *source = (struct source){ arena_dup(s->arena, name), arena_dup(s->arena, text) };
    lex_init(&f.lex, s->arena, source->text);
    parse_file(&f);
    if (f.failed)
        r = err_set(err, ERRC_TEMPLATE, STR_FMT, STR_ARG(f.error));
    else if (arena_failed(s->arena))
        r = err_set(err, ERRC_LIMIT, "templates need more than %zu bytes of memory", arena_limit(s->arena));
    else
        merge(s, &f);
    map_done(&f.trees);
    free(f.stack);
    return r;
}

/* Helm keeps the second and the last of the pieces between ": ". */
static int helm_parse_error(struct str name, struct err *why, struct err **err)
{
    struct str text = str_from(err_message(why)), rest, where;
    size_t first = str_find(text, STR(": ")), at, last;

    if (err_code(why) != ERRC_TEMPLATE)
        return err_set(err, err_code(why), STR_FMT ": " STR_FMT, STR_ARG(name), STR_ARG(text));
    if (first == STR_NPOS)
        return err_set(err, ERRC_TEMPLATE, "parse error in (" STR_FMT "): " STR_FMT, STR_ARG(name),
                       STR_ARG(text));
    rest = str_sub(text, first + 2, text.n);
    at = str_find(rest, STR(": "));
    where = at == STR_NPOS ? rest : str_sub(rest, 0, at);
    for (last = 0; (at = str_find(str_sub(rest, last, rest.n), STR(": "))) != STR_NPOS; last += at + 2)
        ;
    return err_set(err, ERRC_TEMPLATE, "parse error at (" STR_FMT "): " STR_FMT, STR_ARG(where),
                   STR_ARG(str_sub(rest, last, rest.n)));
}

int tpl_set_add(struct tpl_set *s, struct str name, struct str text, struct err **err)
{
    CLEANUP(err_free) struct err *why = NULL;

    assert(!s->below);
    if (text.n > UINT32_MAX / 2)
        return err_set(err, ERRC_LIMIT, STR_FMT ": template too large", STR_ARG(name));
    if (tpl_parse(s, name, text, &why) == 0)
        return 0;
    return helm_parse_error(name, why, err);
}
