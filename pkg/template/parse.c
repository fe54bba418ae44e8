/* SPDX-License-Identifier: Apache-2.0 */
/* Actions, definitions, files. */
#include "template/parse.h"

#include <assert.h>
#include <stdlib.h>

#include "template/quote.h"
#include "template/template.h"

#define SPARE_MAX 64 /* variables of a definition whose tables are kept */

static const struct node *item_list(struct parser *p, const struct node **ret_end);
static const struct node *text_or_action(struct parser *p);

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
    bool is_main = str_eq(name, f->source->name);
    const struct tree *old = is_main ? f->main : map_get(&f->trees, name);
    struct tree *t;

    if (old && !old->empty) {
        if (!is_empty(root))
            parse_fail_quoted(p, "template: multiple definition of template ", name, "");
        return;
    }
    t = ARENA_NEW(f->arena, struct tree);
    *t = (struct tree){ name, f->source, root, is_empty(root) };
    if (is_main)
        f->main = t;
    else
        map_put(&f->trees, name, t);
}

static void variables_done(struct variables *v)
{
    map_done(&v->ids);
    free(v->scoped);
    free(v->in_scope);
}

/* Nearly every definition has a few: their tables go from one to the next. */
static void parser_init(struct parser *p, struct file *f)
{
    *p = (struct parser){ .file = f, .variables = f->spare };
    f->spare = (struct variables){ .ids = MAP_INIT_BORROWING };
}

static void parser_done(struct parser *p)
{
    struct variables *v = &p->variables;

    if (v->n_ids > SPARE_MAX) {
        variables_done(v);
        return;
    }
    map_clear(&v->ids);
    v->n_scoped = v->n_ids = 0;
    variables_done(&p->file->spare);
    p->file->spare = *v;
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
        t = parse_next_non_space(&p);
        if (t.kind != TOK_STRING && t.kind != TOK_RAW_STRING) {
            parse_unexpected(&p, t, context);
            return;
        }
        if (!go_unquote(f->arena, parse_text(&p, t), &name)) {
            parse_fail_text(&p, "invalid syntax");
            return;
        }
        if (!parse_expect(&p, TOK_RIGHT_DELIM, context, &t))
            return;
    }
    root = item_list(&p, &end);
    if (!root)
        return;
    if (end->kind != NODE_END)
        parse_unexpected_node(&p, "unexpected ", end, context);
    else
        add_tree(&p, name, root);
}

/* ---- actions ---- */

static const struct node *loop_control(struct parser *p, struct tok word)
{
    const char *text = word.kind == TOK_BREAK ? "{{break}}" : "{{continue}}";
    struct tok t = parse_next_non_space(p);

    if (t.kind != TOK_RIGHT_DELIM)
        return parse_unexpected(p, t, text);
    if (p->ranges == 0)
        return parse_fail_text(p, "%s outside {{range}}", text);
    return parse_node_new(p, word.kind == TOK_BREAK ? NODE_BREAK : NODE_CONTINUE, word.pos);
}

static const struct node *control(struct parser *p, enum node_kind kind);

/* Behind {{else}} of a control structure: NULL after a failure. */
static const struct node *else_list(struct parser *p, enum node_kind kind, const struct node *mark)
{
    enum tok_kind again = kind == NODE_IF ? TOK_IF : TOK_WITH;
    const struct node *end = NULL, *list;
    size_t base = p->file->n_stack;

    if (kind == NODE_RANGE || parse_peek(p).kind != again) {
        list = item_list(p, &end);
        if (list && end->kind != NODE_END)
            return parse_unexpected_node(p, "expected end; found ", end, NULL);
        return list;
    }
    parse_next(p); /* "else if" is an else with one if, which share an end */
    list = control(p, kind);
    if (!list)
        return NULL;
    parse_push(p, list);
    return parse_parent_new(p, NODE_LIST, mark->pos, base);
}

static const struct node *control(struct parser *p, enum node_kind kind)
{
    static const char *const names[] = { [NODE_IF] = "if", [NODE_RANGE] = "range", [NODE_WITH] = "with" };
    struct node *n = parse_node_new(p, kind, 0);
    const struct node *end = NULL;
    size_t vars = p->variables.n_scoped;

    if (stack_is_low(0))
        return parse_fail_text(p, "max expression depth exceeded");
    n->pipe = parse_pipeline(p, names[kind], TOK_RIGHT_DELIM);
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
    parse_pop_vars(p, vars);
    return n;
}

static const struct node *else_mark(struct parser *p)
{
    struct tok t = parse_peek_non_space(p);

    if (t.kind != TOK_IF && t.kind != TOK_WITH && !parse_expect(p, TOK_RIGHT_DELIM, "else", &t))
        return NULL;
    return parse_node_new(p, NODE_ELSE, t.pos);
}

static const struct node *template_action(struct parser *p, bool block)
{
    const char *context = block ? "block clause" : "template clause";
    struct tok t = parse_next_non_space(p);
    struct node *n = parse_node_new(p, NODE_TEMPLATE, t.pos);

    if (t.kind != TOK_STRING && t.kind != TOK_RAW_STRING)
        return parse_unexpected(p, t, context);
    if (!go_unquote(p->file->arena, parse_text(p, t), &n->called))
        return parse_fail_text(p, "invalid syntax");
    if (!block && parse_next_non_space(p).kind == TOK_RIGHT_DELIM)
        return n;
    if (!block)
        parse_backup(p);
    n->with = parse_pipeline(p, context, TOK_RIGHT_DELIM);
    if (!n->with)
        return NULL;
    if (block)
        definition(p->file, &n->called, context);
    return p->file->failed ? NULL : n;
}

static const struct node *action(struct parser *p)
{
    struct tok t = parse_next_non_space(p);

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
        return parse_expect(p, TOK_RIGHT_DELIM, "end", &t) ? parse_node_new(p, NODE_END, t.pos) : NULL;
    case TOK_IF:
        return control(p, NODE_IF);
    case TOK_RANGE:
        return control(p, NODE_RANGE);
    case TOK_WITH:
        return control(p, NODE_WITH);
    default:
        parse_backup(p);
        return parse_pipeline(p, "command", TOK_RIGHT_DELIM);
    }
}

static const struct node *text_or_action(struct parser *p)
{
    struct tok t = parse_next_non_space(p);
    const struct node *n;
    struct node *text;

    switch (t.kind) {
    case TOK_TEXT:
        text = parse_node_new(p, NODE_TEXT, t.pos);
        text->text = parse_text(p, t);
        return text;
    case TOK_LEFT_DELIM:
        p->in_action = true;
        p->action_pos = t.pos;
        n = action(p);
        p->in_action = false;
        return n;
    default:
        return parse_unexpected(p, t, "input");
    }
}

/* Up to {{end}} or {{else}}, which goes to *ret_end. */
static const struct node *item_list(struct parser *p, const struct node **ret_end)
{
    uint32_t pos = parse_peek_non_space(p).pos;
    size_t base = p->file->n_stack;

    while (parse_peek_non_space(p).kind != TOK_EOF) {
        const struct node *n = text_or_action(p);

        if (!n)
            return NULL;
        if (n->kind == NODE_END || n->kind == NODE_ELSE) {
            *ret_end = n;
            return parse_parent_new(p, NODE_LIST, pos, base);
        }
        parse_push(p, n);
    }
    return parse_fail_text(p, "unexpected EOF");
}

/* ---- files ---- */

/* One item of the top level; a definition is no item. */
static bool top_item(struct parser *p)
{
    const struct node *n;

    if (parse_peek(p).kind == TOK_LEFT_DELIM) {
        struct lex *l = &p->file->lex;
        bool spaced;

        parse_next(p);
        spaced = parse_peek(p).kind == TOK_SPACE;
        if (parse_next_non_space(p).kind == TOK_DEFINE) {
            definition(p->file, NULL, "define clause");
            return !p->file->failed;
        }
        lex_back(l, spaced ? 3 : 2);
    }
    n = text_or_action(p);
    if (!n)
        return false;
    if (n->kind == NODE_END || n->kind == NODE_ELSE) {
        parse_unexpected_node(p, "unexpected ", n, NULL);
        return false;
    }
    parse_push(p, n);
    return true;
}

static void parse_file(struct file *f)
{
    CLEANUP(parser_done) struct parser p;
    uint32_t pos;

    parser_init(&p, f);
    pos = parse_peek(&p).pos;
    while (parse_peek(&p).kind != TOK_EOF)
        if (!top_item(&p))
            return;
    add_tree(&p, f->source->name, parse_parent_new(&p, NODE_LIST, pos, 0));
}

struct tpl_file {
    const struct tree **trees; /* the file's own first, when it has one */
    size_t n;
};

static struct tpl_file *file_done(struct file *f)
{
    struct tpl_file *file = ARENA_NEW(f->arena, struct tpl_file);
    void *t;

    file->trees = ARENA_ARRAY(f->arena, const struct tree *, map_n(&f->trees) + 1);
    if (f->main)
        file->trees[file->n++] = f->main;
    for (size_t i = 0; map_next(&f->trees, &i, NULL, &t);)
        file->trees[file->n++] = t;
    return file;
}

static NODISCARD int parse_source(struct arena *a, const struct source *source, struct tpl_file **ret,
                                  struct err **err)
{
    struct file f = {
        .arena = a, .source = source, .trees = MAP_INIT_BORROWING, .spare.ids = MAP_INIT_BORROWING
    };
    int r = 0;

    lex_init(&f.lex, a, source->text);
    parse_file(&f);
    if (f.failed)
        r = err_set(err, ERRC_TEMPLATE, STR_FMT, STR_ARG(f.error));
    else if (arena_failed(a))
        r = err_set(err, ERRC_LIMIT, "templates need more than %zu bytes of memory", arena_limit(a));
    else
        *ret = file_done(&f);
    map_done(&f.trees);
    variables_done(&f.spare);
    free(f.stack);
    free(f.names);
    return r;
}

static struct source *source_new(struct arena *a, struct str name, struct str text)
{
    struct source *source = ARENA_NEW(a, struct source);

    *source = (struct source){ .name = name, .text = text };
    return source;
}

/* An empty definition does not replace one that is there already. The text of a tpl call always takes its name: Helm
 * parses it into a clone whose root template has no tree. */
void tpl_set_add_file(struct tpl_set *s, const struct tpl_file *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct tree *t = f->trees[i];

        if (s->below && str_eq(t->name, TPL_ROOT_NAME))
            s->root = t;
        else if (!t->empty || !tpl_set_find(s, t->name))
            map_put(&s->trees, t->name, (void *)(uintptr_t)t);
    }
}

int tpl_parse_overlay(struct tpl_set *s, struct str text, struct err **err)
{
    struct tpl_file *f;
    int r = parse_source(s->arena, source_new(s->arena, TPL_ROOT_NAME, text), &f, err);

    if (r == 0)
        tpl_set_add_file(s, f);
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

int tpl_file_parse(struct arena *a, struct str name, struct str text, struct tpl_file **ret, struct err **err)
{
    CLEANUP(err_free) struct err *why = NULL;

    if (text.n > UINT32_MAX / 2)
        return err_set(err, ERRC_LIMIT, STR_FMT ": template too large", STR_ARG(name));
    if (parse_source(a, source_new(a, arena_dup(a, name), text), ret, &why) == 0)
        return 0;
    return helm_parse_error(name, why, err);
}

struct tpl_file *tpl_file_again(struct arena *a, const struct tpl_file *f, struct str name)
{
    struct tpl_file *again = ARENA_NEW(a, struct tpl_file);
    const struct source *old = f->n > 0 ? f->trees[0]->source : NULL, *source;

    if (!old)
        return again;
    source = source_new(a, arena_dup(a, name), old->text);
    again->trees = ARENA_ARRAY(a, const struct tree *, f->n);
    for (; again->n < f->n; again->n++) {
        struct tree *t = ARENA_NEW(a, struct tree);

        *t = *f->trees[again->n];
        t->source = source;
        if (str_eq(t->name, old->name))
            t->name = source->name;
        again->trees[again->n] = t;
    }
    return again;
}

static int add_sprig(struct tpl_set *s, struct str name, struct str text, struct err **err)
{
    struct source *source = source_new(s->arena, arena_dup(s->arena, name), text);
    struct tpl_file *f;
    int r;

    source->sprig = true;
    r = parse_source(s->arena, source, &f, err);
    if (r == 0)
        tpl_set_add_file(s, f);
    return r;
}

int tpl_set_add(struct tpl_set *s, struct str name, struct str text, struct err **err)
{
    struct tpl_file *f;
    int r;

    assert(!s->below);
    if (s->sprig)
        return add_sprig(s, name, text, err);
    r = tpl_file_parse(s->arena, name, text, &f, err);
    if (r == 0)
        tpl_set_add_file(s, f);
    return r;
}
