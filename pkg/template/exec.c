/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the nodes of a template as text/template/exec.go does. */
#include "template/exec.h"

#include "base/limits.h"
#include "template/print.h"
#include "template/types.h"

/* Room that the check for runaway recursion of `template` leaves to the other checks. */
#define TEMPLATE_STACK_MARGIN ((size_t)128 * KIB)
#define GO_TEMPLATE_DEPTH_MAX 100000 /* what Go's error text says */

enum walked { WALK_ON, WALK_BREAK, WALK_CONTINUE };

static int walk_list(struct tpl_exec *x, struct value dot, const struct node *list);

static int walk_action(struct tpl_exec *x, struct value dot, const struct node *n)
{
    struct value v;
    int r = exec_eval_pipe(x, dot, n, &v);

    if (r < 0 || n->n_decl > 0)
        return r;
    x->node = n;
    if (v.kind == VALUE_STRING)
        buf_addstr(&x->out, value_str(v));
    else
        print_action(v, &x->out);
    return exec_check_output(x);
}

static int walk_if_or_with(struct tpl_exec *x, struct value dot, const struct node *n)
{
    size_t mark = x->n_vars;
    struct value v;
    int r = exec_eval_pipe(x, dot, n->pipe, &v);

    if (r == 0 && tpl_truth(v))
        r = walk_list(x, n->kind == NODE_WITH ? v : dot, n->list);
    else if (r == 0 && n->other)
        r = walk_list(x, dot, n->other);
    if (r >= 0)
        x->n_vars = mark;
    return r;
}

/* One round of a range; returns WALK_BREAK to leave it. */
static int walk_round(struct tpl_exec *x, const struct node *n, struct value index, struct value item)
{
    const struct node *pipe = n->pipe;
    size_t mark = x->n_vars;
    int r = exec_step(x);

    if (r == 0 && pipe->n_decl > 0 && pipe->flag)
        r = exec_set_var(x, node_decl(pipe)[0], pipe->n_decl > 1 ? index : item);
    else if (r == 0 && pipe->n_decl > 0)
        x->vars[mark - 1].v = item;
    if (r == 0 && pipe->n_decl > 1) {
        if (pipe->flag)
            r = exec_set_var(x, node_decl(pipe)[1], item);
        else
            x->vars[mark - 2].v = index;
    }
    if (r == 0)
        r = walk_list(x, item, n->list);
    if (r >= 0)
        x->n_vars = mark;
    return r == WALK_CONTINUE ? WALK_ON : r;
}

static int range_list(struct tpl_exec *x, const struct node *n, struct value list)
{
    int r = WALK_ON;

    for (uint32_t i = 0; i < list.n && r == WALK_ON; i++) {
        struct value index = { .kind = VALUE_INT, .type = VALUE_TYPE_INT, .i = i };
        struct value item = list.kind == VALUE_LIST ? element(list, list.list[i])
                                                    : (struct value){ .kind = VALUE_UINT,
                                                                      .type = VALUE_TYPE_UINT8,
                                                                      .u = (unsigned char)list.s[i] };

        r = walk_round(x, n, index, item);
    }
    return r;
}

/* Go sorts a copy of keys and values first: what the body does to the map does not change the rounds. */
static int range_map(struct tpl_exec *x, const struct node *n, struct value map)
{
    size_t count = map.map->n, cells = 2 * count;
    struct value *copy = exec_push_values(x, cells);
    int r = WALK_ON;

    _Static_assert(sizeof(struct value_entry) == 2 * sizeof(struct value), "an entry takes two cells");
    memcpy(copy, map.map->e, count * sizeof(struct value_entry));
    for (size_t i = 0; i < count && r == WALK_ON; i++) {
        struct value_entry e;

        memcpy(&e, copy + 2 * i, sizeof(e));
        r = walk_round(x, n, value_from_str(e.key), element(map, e.v));
    }
    if (cells > 0)
        exec_pop_values(x, cells);
    return r;
}

static int range_number(struct tpl_exec *x, const struct node *n, struct value v)
{
    struct value item = v;
    int r = WALK_ON;

    if (n->pipe->n_decl > 1) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(256);

        tpl_print_value(v, &b);
        return exec_fail(x, "can't use " STR_FMT " to iterate over more than one variable",
                         STR_ARG(buf_str(&b)));
    }
    for (item.u = 0; (v.kind == VALUE_INT ? item.i < v.i : item.u < v.u) && r == WALK_ON; item.u++)
        r = walk_round(x, n, VALUE_NONE, item);
    return r;
}

static int cannot_range(struct tpl_exec *x, struct value v)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, "range can't iterate over ");
    print_action(param_convert('*', v), &b); /* without the pointer */
    return exec_fail_text(x, buf_str(&b));
}

/* Sets *ret_any when there was at least one round to walk. */
static int range_over(struct tpl_exec *x, const struct node *n, struct value v, bool *ret_any)
{
    switch (v.kind) {
    case VALUE_INT:
        *ret_any = v.i > 0;
        return range_number(x, n, v);
    case VALUE_UINT:
        *ret_any = v.u > 0;
        return range_number(x, n, v);
    case VALUE_LIST:
    case VALUE_BYTES:
        *ret_any = v.n > 0;
        return range_list(x, n, v);
    case VALUE_MAP:
        *ret_any = v.map->n > 0;
        return v.map->n > 0 ? range_map(x, n, v) : WALK_ON;
    case VALUE_NULL:
        return WALK_ON;
    default:
        return cannot_range(x, v);
    }
}

static int walk_range(struct tpl_exec *x, struct value dot, const struct node *n)
{
    size_t mark = x->n_vars;
    bool any = false;
    struct value v;
    int r = exec_eval_pipe(x, dot, n->pipe, &v);

    if (r == 0)
        r = range_over(x, n, v, &any);
    if (r == WALK_ON && !any && n->other)
        r = walk_list(x, dot, n->other);
    if (r == WALK_BREAK) /* of a round, or of the else: that belongs to an outer range, but ends here */
        r = WALK_ON;
    if (r >= 0)
        x->n_vars = mark;
    return r;
}

static int walk_template(struct tpl_exec *x, struct value dot, const struct node *n)
{
    const struct tree *t = tpl_set_find(x->set, n->called);
    struct value with = VALUE_NONE;
    int r;

    x->node = n;
    if (!t) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

        buf_adds(&b, "template ");
        tpl_print_quoted(n->called, &b);
        buf_adds(&b, " not defined");
        return exec_fail_text(x, buf_str(&b));
    }
    if (stack_is_low(TEMPLATE_STACK_MARGIN))
        return exec_fail(x, "exceeded maximum template depth (%d)", GO_TEMPLATE_DEPTH_MAX);
    r = n->with ? exec_eval_pipe(x, dot, n->with, &with) : 0;
    return r < 0 ? r : exec_tree(x, t, with);
}

static int walk(struct tpl_exec *x, struct value dot, const struct node *n)
{
    switch (n->kind) {
    case NODE_TEXT:
        buf_addstr(&x->out, n->text);
        return exec_check_output(x);
    case NODE_PIPE:
        return walk_action(x, dot, n);
    case NODE_IF:
    case NODE_WITH:
        return walk_if_or_with(x, dot, n);
    case NODE_RANGE:
        return walk_range(x, dot, n);
    case NODE_TEMPLATE:
        return walk_template(x, dot, n);
    case NODE_BREAK:
        return WALK_BREAK;
    case NODE_CONTINUE:
        return WALK_CONTINUE;
    default:
        return 0;
    }
}

static int walk_list(struct tpl_exec *x, struct value dot, const struct node *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        int r = exec_step(x);

        if (r == 0)
            r = walk(x, dot, list->items[i]);
        if (r != 0)
            return r;
    }
    return 0;
}

int exec_tree(struct tpl_exec *x, const struct tree *t, struct value dot)
{
    const struct tree *tree = x->tree;
    const struct node *node = x->node;
    size_t first = x->first_var, mark = x->n_vars;
    int r;

    x->tree = t;
    x->node = NULL;
    x->first_var = mark;
    exec_push_var(x, 0, dot);
    r = walk_list(x, dot, t->root);
    x->n_vars = mark;
    x->first_var = first;
    x->tree = tree;
    x->node = node;
    return r < 0 ? r : 0;
}

int exec_to_string(struct tpl_exec *x, const struct tree *t, struct value dot, bool drop_no_value,
                   struct str *ret)
{
    size_t mark = x->out.n;
    int r = exec_tree(x, t, dot);

    if (r < 0)
        return r;
    if (drop_no_value)
        exec_drop_no_value(&x->out, mark);
    if (!arena_fits(x->arena, x->out.n - mark))
        return exec_fail_limit(x, "more than %zu bytes of memory", arena_limit(x->arena));
    *ret = arena_dup(x->arena, str_sub(buf_str(&x->out), mark, x->out.n));
    buf_truncate(&x->out, mark);
    return 0;
}
