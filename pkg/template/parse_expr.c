/* SPDX-License-Identifier: Apache-2.0 */
/* Terms, operands, commands, pipelines. */
#include "base/limits.h"
#include "template/number_node.h"
#include "template/parse.h"
#include "template/quote.h"

/* ---- terms ---- */

static const struct node *identifier(struct parser *p, struct tok t)
{
    struct str name = parse_text(p, t);
    const struct tpl_func *func = p->file->source->sprig ? func_find_sprig(name) : func_find(name);
    struct node *n;

    if (!func)
        return parse_fail_quoted(p, "function ", name, " not defined");
    n = parse_node_new(p, NODE_IDENTIFIER, t.pos);
    n->ident = name.p;
    n->n = (uint32_t)name.n;
    n->func = func;
    if (str_eq(name, STR("and")))
        n->special = SPECIAL_AND;
    else if (str_eq(name, STR("or")))
        n->special = SPECIAL_OR;
    else if (str_eq(name, STR("call")))
        n->special = SPECIAL_CALL;
    return n;
}

/* Adds the names of the fields that follow; returns the position of the first. */
static uint32_t add_fields(struct parser *p)
{
    uint32_t pos = parse_peek(p).pos;

    while (parse_peek(p).kind == TOK_FIELD) {
        struct tok t = parse_next(p);

        parse_name(p, str_sub(parse_text(p, t), 1, t.n));
    }
    return pos;
}

static bool is_field(struct tok t)
{
    return t.kind == TOK_FIELD;
}

/* ".A.B" is one node, at the position of ".B". */
static const struct node *field(struct parser *p, struct tok t)
{
    uint32_t pos = t.pos;

    parse_name(p, str_sub(parse_text(p, t), 1, t.n));
    if (is_field(parse_peek(p)))
        pos = add_fields(p);
    return parse_named_new(p, NODE_FIELD, pos);
}

/* Of the names that were added. */
static struct node *variable_new(struct parser *p, uint32_t id, uint32_t pos)
{
    struct node *n = parse_named_new(p, NODE_VARIABLE, pos);

    n->var = id;
    return n;
}

/* "$x.A" is one node, at the position of ".A". */
static const struct node *variable(struct parser *p, struct tok t)
{
    struct str name = parse_text(p, t);
    uint32_t pos = t.pos, id = parse_var_id(p, name);

    if (id > 0 && p->variables.in_scope[id] == 0)
        return parse_fail_quoted(p, "undefined variable ", name, "");
    parse_name(p, name);
    if (is_field(parse_peek(p)))
        pos = add_fields(p);
    return variable_new(p, id, pos);
}

static const struct node *number(struct parser *p, struct tok t)
{
    CLEANUP(buf_done) struct buf why = BUF_INIT(SIZE_MAX / 4);
    struct node *n = parse_node_new(p, NODE_NUMBER, t.pos);

    n->number = number_node_parse(p->file->arena, parse_text(p, t), t.kind == TOK_CHAR_CONSTANT,
                                  t.kind == TOK_COMPLEX, &why);
    return n->number ? n : parse_fail(p, &why);
}

static const struct node *string(struct parser *p, struct tok t)
{
    struct node *n = parse_node_new(p, NODE_STRING, t.pos);

    if (!go_unquote(p->file->arena, parse_text(p, t), &n->text))
        return parse_fail_text(p, "invalid syntax");
    n->quoted = parse_text(p, t).p;
    n->n = t.n;
    return n;
}

static const struct node *parenthesized(struct parser *p)
{
    const struct node *n;

    if (p->parens >= TEMPLATE_NODES_DEPTH_MAX || stack_is_low(0))
        return parse_fail_text(p, "max expression depth exceeded");
    p->parens++;
    n = parse_pipeline(p, "parenthesized pipeline", TOK_RIGHT_PAREN);
    p->parens--;
    return n;
}

static const struct node *constant(struct parser *p, struct tok t, enum node_kind kind)
{
    struct node *n = parse_node_new(p, kind, t.pos);

    n->flag = kind == NODE_BOOL && str_eq(parse_text(p, t), STR("true"));
    return n;
}

/* NULL without a failure: the next token starts no term. */
static const struct node *term(struct parser *p)
{
    struct tok t = parse_next_non_space(p);

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
        return variable(p, t);
    case TOK_FIELD:
        return field(p, t);
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
        parse_backup(p);
        return NULL;
    }
}

static const struct node *chain(struct parser *p, const struct node *of)
{
    uint32_t pos = add_fields(p);
    struct node *n = parse_named_new(p, NODE_CHAIN, pos);

    n->of = of;
    return n;
}

static const struct node *operand(struct parser *p)
{
    const struct node *n = term(p);

    if (!n || !is_field(parse_peek(p)))
        return n;
    switch (n->kind) {
    case NODE_BOOL:
    case NODE_STRING:
    case NODE_NUMBER:
    case NODE_NIL:
    case NODE_DOT: {
        CLEANUP(buf_done) struct buf text = BUF_INIT(SIZE_MAX / 4);

        while (is_field(parse_peek(p)))
            parse_next(p);
        node_print(n, &text);
        return parse_fail_quoted(p, "unexpected . after term ", buf_str(&text), "");
    }
    default:
        return chain(p, n);
    }
}

/* ---- pipelines ---- */

static const struct node *command(struct parser *p)
{
    struct file *f = p->file;
    uint32_t pos = parse_peek_non_space(p).pos;
    size_t base = f->n_stack;

    for (;;) {
        const struct node *n = operand(p);
        struct tok t;

        if (p->file->failed)
            return NULL;
        if (n)
            parse_push(p, n);
        t = parse_next(p);
        if (t.kind == TOK_SPACE)
            continue;
        if (t.kind == TOK_RIGHT_DELIM || t.kind == TOK_RIGHT_PAREN)
            parse_backup(p);
        else if (t.kind != TOK_PIPE)
            return parse_unexpected(p, t, "operand");
        break;
    }
    if (f->n_stack == base)
        return parse_fail_text(p, "empty command");
    return f->n_stack == base + 1 ? f->stack[--f->n_stack] : parse_parent_new(p, NODE_COMMAND, pos, base);
}

/* "$x, $y :=" in front of a pipeline. Up to two variables go to decl; returns how many, or -1. */
static int declarations(struct parser *p, const char *context, const struct node *decl[2], bool *ret_assigns)
{
    for (int n = 0;;) {
        struct tok v = parse_peek_non_space(p), behind, t;

        if (v.kind != TOK_VARIABLE)
            return n;
        parse_next(p);
        behind = parse_peek(p);
        t = parse_peek_non_space(p);
        if (t.kind == TOK_ASSIGN || t.kind == TOK_DECLARE ||
            (t.kind == TOK_CHAR && str_eq(parse_text(p, t), STR(",")))) {
            struct str name = parse_text(p, v);
            struct node *node;

            parse_name(p, name);
            node = variable_new(p, parse_var_id(p, name), v.pos);
            parse_next_non_space(p);
            parse_declare(p, node->var);
            if (n < 2)
                decl[n] = node;
            n++;
            if (t.kind != TOK_CHAR) {
                *ret_assigns = t.kind == TOK_ASSIGN;
                return n;
            }
            if (strcmp(context, "range") == 0 && n < 2) {
                enum tok_kind follows = parse_peek_non_space(p).kind;

                if (follows == TOK_VARIABLE || follows == TOK_RIGHT_DELIM || follows == TOK_RIGHT_PAREN)
                    continue;
                parse_fail_text(p, "range can only initialize variables");
            } else {
                parse_fail_text(p, "too many declarations in %s", context);
            }
            return -1;
        }
        lex_back(&p->file->lex, behind.kind == TOK_SPACE ? 2 : 1); /* an argument */
        return n;
    }
}

static const struct node *check_pipeline(struct parser *p, const struct node *pipe, const char *context)
{
    if (pipe->n == 0)
        return parse_fail_text(p, "missing value for %s", context);
    for (uint32_t i = 1; i < pipe->n; i++) {
        switch (node_first_word(pipe->items[i])->kind) {
        case NODE_BOOL:
        case NODE_DOT:
        case NODE_NIL:
        case NODE_NUMBER:
        case NODE_STRING:
            return parse_fail_text(p, "non executable command in pipeline stage %u", i + 1);
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

const struct node *parse_pipeline(struct parser *p, const char *context, enum tok_kind end)
{
    uint32_t pos = parse_peek_non_space(p).pos;
    const struct node *decl[2] = { NULL, NULL };
    bool assigns = false;
    size_t base = p->file->n_stack;
    int n = declarations(p, context, decl, &assigns), n_decl = MIN(n, 2);
    struct node *pipe;

    if (n < 0)
        return NULL;
    for (;;) {
        struct tok t = parse_next_non_space(p);
        const struct node *cmd;

        if (t.kind == end)
            break;
        if (!starts_command(t.kind))
            return parse_unexpected(p, t, context);
        parse_backup(p);
        cmd = command(p);
        if (!cmd)
            return NULL;
        parse_push(p, cmd);
    }
    for (int i = 0; i < n_decl; i++)
        parse_push(p, decl[i]);
    pipe = parse_parent_new(p, NODE_PIPE, pos, base);
    pipe->n -= (uint32_t)n_decl;
    pipe->n_decl = (uint8_t)n_decl;
    pipe->flag = assigns;
    return check_pipeline(p, pipe, context);
}
