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
    const struct tpl_func *func = func_find(name);
    struct node *n;

    if (!func)
        return parse_fail_quoted(p, "function ", name, " not defined");
    n = parse_node_new(p, NODE_IDENTIFIER, t.pos);
    n->ident = name;
    n->func = func;
    if (str_eq(name, STR("and")))
        n->special = SPECIAL_AND;
    else if (str_eq(name, STR("or")))
        n->special = SPECIAL_OR;
    else if (str_eq(name, STR("call")))
        n->special = SPECIAL_CALL;
    return n;
}

static const struct node *field_new(struct parser *p, struct tok t)
{
    struct node *n = parse_node_new(p, NODE_FIELD, t.pos);

    n->name = str_sub(parse_text(p, t), 1, t.n);
    n->names = &n->name;
    n->n = 1;
    return n;
}

static const struct node *number(struct parser *p, struct tok t)
{
    CLEANUP(buf_done) struct buf why = BUF_INIT(SIZE_MAX / 4);
    struct node *n = parse_node_new(p, NODE_NUMBER, t.pos);

    n->number =
        number_node_parse(p->file->arena, parse_text(p, t), t.kind == TOK_CHAR_CONSTANT, t.kind == TOK_COMPLEX, &why);
    return n->number ? n : parse_fail(p, &why);
}

static const struct node *string(struct parser *p, struct tok t)
{
    struct node *n = parse_node_new(p, NODE_STRING, t.pos);

    n->quoted = parse_text(p, t);
    if (!go_unquote(p->file->arena, n->quoted, &n->text))
        return parse_fail_text(p, "invalid syntax");
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
        return parse_use_variable(p, t);
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
        parse_backup(p);
        return NULL;
    }
}

static void add_name(struct file *f, struct str name)
{
    ARRAY_GROW(f->names, f->cap_names, f->n_names + 1);
    f->names[f->n_names++] = name;
}

/* `n` followed by fields. A field or variable takes the names itself, at the position of the second token. */
static const struct node *chain(struct parser *p, struct node *of)
{
    struct file *f = p->file;
    bool joins = of->kind == NODE_FIELD || of->kind == NODE_VARIABLE;
    uint32_t pos = parse_peek(p).pos;
    struct node *n = joins ? of : parse_node_new(p, NODE_CHAIN, pos);
    struct str *names;

    f->n_names = 0;
    if (joins)
        add_name(f, of->names[0]);
    while (parse_peek(p).kind == TOK_FIELD) {
        struct tok t = parse_next(p);

        add_name(f, str_sub(parse_text(p, t), 1, t.n));
    }
    names = ARENA_ARRAY(f->arena, struct str, f->n_names);
    memcpy(names, f->names, f->n_names * sizeof(*names));
    n->pos = pos;
    n->names = names;
    n->n = (uint32_t)f->n_names;
    if (!joins)
        n->of = of;
    return n;
}

static const struct node *operand(struct parser *p)
{
    const struct node *n = term(p);

    if (!n || parse_peek(p).kind != TOK_FIELD)
        return n;
    switch (n->kind) {
    case NODE_BOOL:
    case NODE_STRING:
    case NODE_NUMBER:
    case NODE_NIL:
    case NODE_DOT: {
        CLEANUP(buf_done) struct buf text = BUF_INIT(SIZE_MAX / 4);

        while (parse_peek(p).kind == TOK_FIELD)
            parse_next(p);
        node_print(n, &text);
        return parse_fail_quoted(p, "unexpected . after term ", buf_str(&text), "");
    }
    default:
        return chain(p, (struct node *)(uintptr_t)n); /* just made by term(), nobody else has it */
    }
}

/* ---- pipelines ---- */

static const struct node *command(struct parser *p)
{
    struct node *cmd = parse_node_new(p, NODE_COMMAND, parse_peek_non_space(p).pos);
    size_t base = p->file->n_stack;

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
    parse_set_items(p, cmd, base);
    return cmd->n > 0 ? cmd : parse_fail_text(p, "empty command");
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
            struct node *node = parse_variable_new(p, v);

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
        switch (pipe->items[i]->items[0]->kind) {
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
    struct node *pipe = parse_node_new(p, NODE_PIPE, parse_peek_non_space(p).pos);
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
    parse_set_items(p, pipe, base);
    return check_pipeline(p, pipe, context);
}
