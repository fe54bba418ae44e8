/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "template/parse.h"
#include "template/quote.h"

/* ---- errors ---- */

void *parse_fail(struct parser *p, const struct buf *text)
{
    struct file *f = p->file;

    if (!f->failed) {
        f->failed = true;
        f->error = arena_printf(f->arena, "template: " STR_FMT ":%u: " STR_FMT, STR_ARG(f->source->name),
                                lex_line(&f->lex, lex_last_seen(&f->lex).pos), STR_ARG(buf_str(text)));
    }
    return NULL;
}

void *parse_fail_text(struct parser *p, const char *fmt, ...)
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
    return parse_fail(p, &b);
}

/* `before`"name"`after` */
void *parse_fail_quoted(struct parser *p, const char *before, struct str name, const char *after)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, before);
    tpl_print_quoted(name, &b);
    buf_adds(&b, after);
    return parse_fail(p, &b);
}

static void print_token(struct tok t, struct str text, struct buf *out)
{
    if (t.kind == TOK_EOF) {
        buf_adds(out, "EOF");
    } else if (t.kind == TOK_ERROR) {
        buf_addstr(out, text);
    } else if (t.kind > TOK_KEYWORD_) {
        buf_addf(out, "<" STR_FMT ">", STR_ARG(text));
    } else if (text.n > 10) {
        tpl_print_quoted(go_truncate(text, 10), out);
        buf_adds(out, "...");
    } else {
        tpl_print_quoted(text, out);
    }
}

void *parse_unexpected(struct parser *p, struct tok t, const char *context)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);
    const struct lex *l = &p->file->lex;
    struct str text = lex_text(l, t);

    if (t.kind != TOK_ERROR)
        buf_adds(&b, "unexpected ");
    print_token(t, text, &b);
    if (t.kind != TOK_ERROR) {
        buf_addf(&b, " in %s", context);
    } else if (p->in_action && lex_line(l, p->action_pos) != lex_line(l, t.pos)) {
        if (!str_has_suffix(text, STR(" action")))
            buf_adds(&b, " in action");
        buf_addf(&b, " started at " STR_FMT ":%u", STR_ARG(p->file->source->name),
                 lex_line(l, p->action_pos));
    }
    return parse_fail(p, &b);
}

void *parse_unexpected_node(struct parser *p, const char *before, const struct node *n, const char *context)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, before);
    node_print(n, &b);
    if (context)
        buf_addf(&b, " in %s", context);
    return parse_fail(p, &b);
}

bool parse_expect(struct parser *p, enum tok_kind kind, const char *context, struct tok *ret)
{
    *ret = parse_next_non_space(p);
    if (ret->kind != kind)
        parse_unexpected(p, *ret, context);
    return !p->file->failed;
}

/* ---- nodes ---- */

#define SIZE_BEHIND(member) (offsetof(struct node, member) + sizeof(((struct node *)NULL)->member))

/* How much of a node its kind uses, without what stands behind; 0: the head. */
static const uint8_t node_sizes[] = {
    [NODE_TEXT] = SIZE_BEHIND(text),     [NODE_IF] = SIZE_BEHIND(other),
    [NODE_RANGE] = SIZE_BEHIND(other),   [NODE_WITH] = SIZE_BEHIND(other),
    [NODE_TEMPLATE] = SIZE_BEHIND(with), [NODE_CHAIN] = SIZE_BEHIND(of),
    [NODE_NUMBER] = SIZE_BEHIND(number), [NODE_IDENTIFIER] = SIZE_BEHIND(ident),
    [NODE_STRING] = SIZE_BEHIND(quoted), [NODE_ELSE] = 0,
};

static struct node *node_new(struct parser *p, enum node_kind kind, uint32_t pos, size_t behind)
{
    size_t size = MAX(node_sizes[kind], offsetof(struct node, items));
    struct node *n = arena_alloc_words(p->file->arena, size + behind);

    memset(n, 0, size);
    n->kind = (uint8_t)kind;
    n->pos = pos;
    return n;
}

struct node *parse_node_new(struct parser *p, enum node_kind kind, uint32_t pos)
{
    return node_new(p, kind, pos, 0);
}

void parse_push(struct parser *p, const struct node *n)
{
    struct file *f = p->file;

    ARRAY_GROW(f->stack, f->cap_stack, f->n_stack + 1);
    f->stack[f->n_stack++] = n;
}

struct node *parse_parent_new(struct parser *p, enum node_kind kind, uint32_t pos, size_t base)
{
    struct file *f = p->file;
    size_t count = f->n_stack - base, bytes = count * sizeof(*f->stack);
    struct node *n = node_new(p, kind, pos, bytes);

    if (count > 0)
        memcpy(n->items, f->stack + base, bytes);
    n->n = (uint32_t)count;
    f->n_stack = base;
    return n;
}

void parse_name(struct parser *p, struct str name)
{
    struct file *f = p->file;

    ARRAY_GROW(f->names, f->cap_names, f->n_names + 1);
    f->names[f->n_names++] = name;
}

struct node *parse_named_new(struct parser *p, enum node_kind kind, uint32_t pos)
{
    struct file *f = p->file;
    size_t bytes = f->n_names * sizeof(*f->names);
    struct node *n = node_new(p, kind, pos, bytes);

    memcpy(kind == NODE_CHAIN ? n->links : n->names, f->names, bytes);
    n->n = (uint32_t)f->n_names;
    f->n_names = 0;
    return n;
}

/* ---- variables ---- */

uint32_t parse_var_id(struct parser *p, struct str name)
{
    struct variables *v = &p->variables;
    uintptr_t id;

    if (str_eq(name, STR("$")))
        return 0;
    id = (uintptr_t)map_get(&v->ids, name);
    if (id > 0)
        return (uint32_t)id;
    id = v->n_ids + 1;
    ARRAY_GROW(v->in_scope, v->cap_ids, id + 1);
    v->in_scope[id] = 0;
    map_put(&v->ids, name, (void *)id);
    v->n_ids++;
    return (uint32_t)id;
}

void parse_declare(struct parser *p, uint32_t id)
{
    struct variables *v = &p->variables;

    if (id == 0)
        return;
    ARRAY_GROW(v->scoped, v->cap_scoped, v->n_scoped + 1);
    v->scoped[v->n_scoped++] = id;
    v->in_scope[id]++;
}

void parse_pop_vars(struct parser *p, size_t n)
{
    struct variables *v = &p->variables;

    while (v->n_scoped > n)
        v->in_scope[v->scoped[--v->n_scoped]]--;
}
