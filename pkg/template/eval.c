/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines: commands, fields, calls, arguments, as text/template/exec.go evaluates them, including which node an error
 * is reported at.
 *
 * A value of kind null with VALUE_FROM_ELEMENT is Go's nil interface {}; without it, Go's invalid reflect.Value. */
#include <stdlib.h>

#include "template/complex.h"
#include "template/exec.h"
#include "template/number_node.h"
#include "template/print.h"
#include "template/types.h"

/* What a node is called with: Go's args slice (its first element is the node itself; may be absent) and the value the
 * pipeline brings. */
struct given {
    const struct node *const *args;
    uint32_t n;
    const struct value *final; /* NULL: none */
};

static const struct given nothing_given;

static int eval_arg(struct tpl_exec *x, struct value dot, char letter, const struct node *n,
                    struct value *ret);

static struct value without_element(struct value v)
{
    v.flags &= (uint16_t)~VALUE_FROM_ELEMENT;
    return v;
}

/* ---- budgets ---- */

static int out_of_steps(struct tpl_exec *x)
{
    return exec_fail_limit(x, "more than %zu steps", x->steps_max);
}

int exec_step(struct tpl_exec *x)
{
    return ++x->steps > x->steps_max ? out_of_steps(x) : 0;
}

int exec_check_output(struct tpl_exec *x)
{
    return x->out.failed ? exec_fail_limit(x, "more than %zu bytes of output", x->output_max) : 0;
}

static int check_memory(struct tpl_exec *x)
{
    return arena_failed(x->arena) ? exec_fail_limit(x, "more than %zu bytes of memory", arena_limit(x->arena))
                                  : 0;
}

/* ---- variables ---- */

void exec_push_var(struct tpl_exec *x, uint32_t id, struct value v)
{
    ARRAY_GROW(x->vars, x->cap_vars, x->n_vars + 1);
    x->vars[x->n_vars++] = (struct var){ id, v };
}

/* The innermost variable of that name. Go looks at run time too: a declaration may not have been reached. */
static struct var *find_var(struct tpl_exec *x, const struct node *n)
{
    for (size_t i = x->n_vars; i-- > x->first_var;)
        if (x->vars[i].id == n->var)
            return &x->vars[i];
    exec_fail(x, "undefined variable: " STR_FMT, STR_ARG(n->names[0]));
    return NULL;
}

int exec_set_var(struct tpl_exec *x, const struct node *n, struct value v)
{
    struct var *var = find_var(x, n);

    if (!var)
        return -ERRC_TEMPLATE;
    var->v = v;
    return 0;
}

/* ---- arguments of calls ---- */

#define VALUES_CHUNK 1024

struct value *exec_push_values(struct tpl_exec *x, size_t n)
{
    struct values_chunk *c = x->values;

    if (!c || c->cap - c->n < n) {
        if (c && c->above && c->above->cap >= n) {
            c = c->above;
        } else {
            size_t cap = MAX(n, (size_t)VALUES_CHUNK);

            c = xmalloc(sizeof(*c) + cap * sizeof(struct value));
            *c = (struct values_chunk){ .below = x->values, .cap = cap };
            if (x->values) {
                if (x->values->above) { /* too small: replaced */
                    c->above = x->values->above->above;
                    if (c->above)
                        c->above->below = c;
                    free(x->values->above);
                }
                x->values->above = c;
            }
        }
        x->values = c;
        c->n = 0;
    }
    c->n += n;
    return c->v + c->n - n;
}

void exec_pop_values(struct tpl_exec *x, size_t n)
{
    x->values->n -= n;
    if (x->values->n == 0 && x->values->below)
        x->values = x->values->below;
}

/* ---- fields ---- */

struct callee {
    struct str name;
    const char *args;
    char result;
    int (*fn)(struct tpl_call *c, struct value *ret, struct err **err);
    enum node_special special;
    struct value receiver;
};

static int call(struct tpl_exec *x, struct value dot, const struct callee *f, const struct node *node,
                const struct given *g, struct value *ret);

static bool has_arguments(const struct given *g)
{
    return g->n > 1 || g->final;
}

static int object_field(struct tpl_exec *x, struct value receiver, struct str name, const struct given *g,
                        struct value *ret)
{
    const struct tpl_object *o = receiver.object;

    if (o->type->field && o->type->field(o, x->arena, name, ret)) {
        if (has_arguments(g))
            return exec_fail(x, STR_FMT " has arguments but cannot be invoked as function", STR_ARG(name));
        return 0;
    }
    for (size_t i = 0; o->type->unexported && o->type->unexported[i]; i++)
        if (str_eq(name, str_from(o->type->unexported[i])))
            return exec_fail(x, STR_FMT " is an unexported field of struct type %s", STR_ARG(name),
                             type_name(receiver, true));
    return exec_fail(x, "can't evaluate field " STR_FMT " in type %s", STR_ARG(name),
                     type_name(receiver, true));
}

static int map_field(struct tpl_exec *x, struct value map, struct str name, const struct given *g,
                     struct value *ret)
{
    const struct value_entry *e;

    if (has_arguments(g))
        return exec_fail(x, STR_FMT " is not a method but has arguments", STR_ARG(name));
    e = value_find(map, name);
    if (!e && x->env.strict)
        return exec_fail(x, "map has no entry for key \"" STR_FMT "\"", STR_ARG(name));
    *ret = e ? element(map, e->v) : map_zero(map);
    return 0;
}

static int eval_field(struct tpl_exec *x, struct value dot, struct str name, const struct node *node,
                      const struct given *g, struct value receiver, struct value *ret)
{
    const struct tpl_method *m;

    if (receiver.kind == VALUE_NULL) {
        if (receiver.flags & VALUE_FROM_ELEMENT)
            return exec_fail(x, "nil pointer evaluating interface {}." STR_FMT, STR_ARG(name));
        if (x->env.strict)
            return exec_fail(x, "nil data; no entry for key \"" STR_FMT "\"", STR_ARG(name));
        *ret = VALUE_NONE;
        return 0;
    }
    m = receiver.type != VALUE_TYPE_PLAIN || receiver.kind == VALUE_OBJECT ? method_find(receiver, name)
                                                                           : NULL;
    if (m) {
        struct callee f = { name, m->args, m->result, m->fn, SPECIAL_NONE, without_element(receiver) };

        return call(x, dot, &f, node, g, ret);
    }
    if (receiver.kind == VALUE_MAP)
        return map_field(x, receiver, name, g, ret);
    if (receiver.kind == VALUE_OBJECT)
        return object_field(x, receiver, name, g, ret);
    return exec_fail(x, "can't evaluate field " STR_FMT " in type %s", STR_ARG(name),
                     type_name(receiver, true));
}

static int eval_chain(struct tpl_exec *x, struct value dot, struct value receiver, const struct node *node,
                      const struct str *names, size_t n, const struct given *g, struct value *ret)
{
    for (size_t i = 0; i < n; i++) {
        int r = eval_field(x, dot, names[i], node, i + 1 < n ? &nothing_given : g, receiver, &receiver);

        if (r < 0)
            return r;
    }
    *ret = receiver;
    return 0;
}

static int not_a_function(struct tpl_exec *x, const struct node *first, const struct given *g)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    if (!has_arguments(g))
        return 0;
    buf_adds(&b, "can't give argument to non-function ");
    node_print(first, &b);
    return exec_fail_text(x, buf_str(&b));
}

static int eval_field_node(struct tpl_exec *x, struct value dot, const struct node *n, const struct given *g,
                           struct value *ret)
{
    x->node = n;
    return eval_chain(x, dot, dot, n, n->names, n->n, g, ret);
}

static int eval_variable_node(struct tpl_exec *x, struct value dot, const struct node *n,
                              const struct given *g, struct value *ret)
{
    const struct var *var;

    x->node = n;
    var = find_var(x, n);
    if (!var)
        return -ERRC_TEMPLATE;
    if (n->n == 1) {
        *ret = var->v;
        return not_a_function(x, n, g);
    }
    return eval_chain(x, dot, var->v, n, n->names + 1, n->n - 1, g, ret);
}

static int eval_chain_node(struct tpl_exec *x, struct value dot, const struct node *n, const struct given *g,
                           struct value *ret)
{
    struct value of;
    int r;

    x->node = n;
    r = eval_arg(x, dot, 'v', n->of, &of);
    return r < 0 ? r : eval_chain(x, dot, of, n, n->links, n->n, g, ret);
}

/* ---- constants ---- */

/* What a number is where no type is asked for. */
static int ideal_constant(struct tpl_exec *x, const struct node *n, struct value *ret)
{
    const struct number *k = n->number;

    x->node = n;
    if (k->is_complex) {
        *ret = complex_value(x->arena, k->f, k->imaginary);
        return 0;
    }
    if (number_node_reads_as_float(k)) {
        *ret = value_from_float(k->f);
        return 0;
    }
    if (!k->is_int)
        return exec_fail(x, STR_FMT " overflows int", STR_ARG(k->text));
    *ret = (struct value){ .kind = VALUE_INT, .type = VALUE_TYPE_INT, .i = k->i };
    return 0;
}

static int wrong_constant(struct tpl_exec *x, const char *before, const struct node *n, const char *after)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, before);
    node_print(n, &b);
    buf_adds(&b, after);
    return exec_fail_text(x, buf_str(&b));
}

/* A literal for a parameter of type interface {}. */
static int constant_for_any(struct tpl_exec *x, const struct node *n, struct value *ret)
{
    switch (n->kind) {
    case NODE_BOOL:
        *ret = value_from_bool(n->flag);
        return 0;
    case NODE_STRING:
        *ret = value_from_str(n->text);
        return 0;
    default:
        return ideal_constant(x, n, ret);
    }
}

/* A literal for a parameter of the type `letter`. */
static int constant_for(struct tpl_exec *x, char letter, const struct node *n, struct value *ret)
{
    const struct number *k = n->kind == NODE_NUMBER ? n->number : NULL;

    switch (letter) {
    case '*':
    case 'v':
        return constant_for_any(x, n, ret);
    case 'b':
        *ret = value_from_bool(n->flag);
        return n->kind == NODE_BOOL ? 0 : wrong_constant(x, "expected bool; found ", n, "");
    case 's':
        *ret = value_from_str(n->kind == NODE_STRING ? n->text : STR(""));
        return n->kind == NODE_STRING ? 0 : wrong_constant(x, "expected string; found ", n, "");
    case 'i':
    case 'l':
    case 'd':
        *ret = value_from_int(k ? k->i : 0);
        ret->type = letter == 'i'   ? VALUE_TYPE_INT
                    : letter == 'd' ? (uint8_t)TPL_TYPE_DURATION
                                    : VALUE_TYPE_PLAIN;
        return k && k->is_int ? 0 : wrong_constant(x, "expected integer; found ", n, "");
    case 'u':
        *ret = value_from_uint(k ? (uint32_t)k->u : 0);
        ret->type = VALUE_TYPE_UINT32;
        return k && k->is_uint ? 0 : wrong_constant(x, "expected unsigned integer; found ", n, "");
    case 'f':
        *ret = value_from_float(k ? k->f : 0);
        return k && k->is_float ? 0 : wrong_constant(x, "expected float; found ", n, "");
    default: {
        CLEANUP(free_ptr) char *after = xasprintf(" for arg of type %s", param_type_name(letter));

        return wrong_constant(x, "can't handle ", n, after);
    }
    }
}

/* ---- calls ---- */

/* Go's validateType: v as an argument of type `letter`. */
static int validate(struct tpl_exec *x, char letter, struct value v, struct value *ret)
{
    if (letter == 'v') {
        *ret = v;
        return 0;
    }
    if (v.kind == VALUE_NULL && !(v.flags & VALUE_FROM_ELEMENT)) {
        *ret = param_zero(letter);
        return param_is_nillable(letter)
                   ? 0
                   : exec_fail(x, "invalid value; expected %s", param_type_name(letter));
    }
    if (letter == '*' || (v.kind != VALUE_NULL && param_accepts(letter, v))) {
        *ret = param_convert(letter, without_element(v));
        return 0;
    }
    return exec_fail(x, "wrong type for value; expected %s; got %s", param_type_name(letter),
                     v.kind == VALUE_NULL ? "interface {}" : type_name(v, false));
}

static int eval_function(struct tpl_exec *x, struct value dot, const struct node *n, const struct node *cmd,
                         const struct given *g, struct value *ret)
{
    struct callee f = {
        node_ident(n), n->func->args, n->func->result, n->func->fn, (enum node_special)n->special, VALUE_NONE
    };

    x->node = n;
    return call(x, dot, &f, cmd, g, ret);
}

static int eval_arg(struct tpl_exec *x, struct value dot, char letter, const struct node *n,
                    struct value *ret)
{
    struct given self = { &n, 1, NULL };
    struct value v;
    int r;

    x->node = n;
    switch (n->kind) {
    case NODE_DOT:
        return validate(x, letter, dot, ret);
    case NODE_NIL:
        *ret = param_zero(letter);
        return param_is_nillable(letter) ? 0
                                         : exec_fail(x, "cannot assign nil to %s", param_type_name(letter));
    case NODE_FIELD:
        r = eval_field_node(x, dot, n, &self, &v);
        break;
    case NODE_VARIABLE:
        r = eval_variable_node(x, dot, n, &nothing_given, &v);
        break;
    case NODE_PIPE:
        r = exec_eval_pipe(x, dot, n, &v);
        break;
    case NODE_IDENTIFIER:
        r = eval_function(x, dot, n, n, &nothing_given, &v);
        break;
    case NODE_CHAIN:
        r = eval_chain_node(x, dot, n, &nothing_given, &v);
        break;
    default:
        return constant_for(x, letter, n, ret);
    }
    return r < 0 ? r : validate(x, letter, v, ret);
}

/* and, or: the arguments up to the one that decides. */
static int short_circuit(struct tpl_exec *x, struct value dot, bool is_or, const struct given *g,
                         struct value *ret)
{
    *ret = VALUE_NONE;
    for (uint32_t i = 1; i < g->n; i++) {
        int r = eval_arg(x, dot, 'v', g->args[i], ret);

        if (r < 0)
            return r;
        if (tpl_truth(*ret) == is_or)
            return 0;
    }
    if (g->final)
        *ret = *g->final;
    return 0;
}

/* `call` wants a function, and no data is one. */
static int call_of(struct tpl_exec *x, const struct node *node, const struct given *g, struct value v)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);
    struct err *why = NULL;
    int r;

    if (v.kind == VALUE_NULL) {
        buf_adds(&b, "call of nil");
    } else {
        buf_adds(&b, "non-function ");
        if (g->n > 1)
            node_print(g->args[1], &b);
        else if (v.kind == VALUE_STRING)
            buf_addstr(&b, value_str(v));
        else
            buf_addf(&b, "<%s Value>", type_name(v, false));
        buf_addf(&b, " of type %s", type_name(v, false));
    }
    r = err_set(&why, ERRC_TEMPLATE, STR_FMT, STR_ARG(buf_str(&b)));
    x->node = node;
    return exec_fail_call(x, STR("call"), r, why);
}

static struct value returned(char result, struct value v)
{
    if (result == 'v')
        return v;
    if (result == '*')
        v.flags |= VALUE_FROM_ELEMENT;
    else
        v.flags &= (uint16_t)~VALUE_FROM_ELEMENT;
    return v;
}

/* Evaluates the arguments into argv. */
static int eval_args(struct tpl_exec *x, struct value dot, const struct callee *f, size_t n_params,
                     bool variadic, const struct given *g, struct value *argv)
{
    size_t n = g->n > 0 ? g->n - 1 : 0, fixed = variadic ? n_params - 1 : n_params;

    for (size_t i = 0; i < n; i++) {
        int r = eval_arg(x, dot, f->args[MIN(i, fixed)], g->args[i + 1], &argv[i]);

        if (r < 0)
            return r;
    }
    return g->final ? validate(x, f->args[MIN(n, fixed)], *g->final, &argv[n]) : 0;
}

static int invoke(struct tpl_exec *x, const struct callee *f, const struct node *node,
                  const struct value *argv, size_t n, struct value *ret)
{
    struct tpl_call c = { x, x->arena, argv, n, f->receiver };
    struct err *why = NULL;
    struct value v = VALUE_NONE;
    int r = f->fn(&c, &v, &why);

    if (r < 0) {
        x->node = node;
        return exec_fail_call(x, f->name, r, why);
    }
    *ret = returned(f->result, v);
    return check_memory(x);
}

static int call(struct tpl_exec *x, struct value dot, const struct callee *f, const struct node *node,
                const struct given *g, struct value *ret)
{
    size_t n_params = strlen(f->args), n = g->n > 0 ? g->n - 1 : 0, n_in = n + (g->final != NULL);
    bool variadic = n_params > 0 && f->args[n_params - 1] == '+';
    struct value *argv;
    int r = exec_step(x);

    if (r < 0)
        return r;
    n_params -= variadic;
    if (variadic ? n_in < n_params - 1 : n_in != n_params)
        return variadic ? exec_fail(x, "wrong number of args for " STR_FMT ": want at least %zu got %zu",
                                    STR_ARG(f->name), n_params - 1, n)
                        : exec_fail(x, "wrong number of args for " STR_FMT ": want %zu got %zu",
                                    STR_ARG(f->name), n_params, n_in);
    if (f->result == '2')
        return exec_fail(
            x, "invalid function signature for " STR_FMT ": second return value should be error; is int",
            STR_ARG(f->name));
    if (f->result == '3' || f->result == '4')
        return exec_fail(x, "function " STR_FMT " has %c return values; should be 1 or 2", STR_ARG(f->name),
                         f->result);
    if (f->special == SPECIAL_AND || f->special == SPECIAL_OR)
        return short_circuit(x, dot, f->special == SPECIAL_OR, g, ret);
    argv = exec_push_values(x, n_in);
    r = eval_args(x, dot, f, n_params, variadic, g, argv);
    if (r == 0)
        r = f->special == SPECIAL_CALL ? call_of(x, node, g, argv[0]) : invoke(x, f, node, argv, n_in, ret);
    exec_pop_values(x, n_in);
    return r;
}

/* ---- pipelines ---- */

static int eval_command(struct tpl_exec *x, struct value dot, const struct node *cmd,
                        const struct value *final, struct value *ret)
{
    const struct node *first = node_first_word(cmd);
    struct given g = { first == cmd ? &cmd : cmd->items, first == cmd ? 1 : cmd->n, final };
    int r;

    switch (first->kind) {
    case NODE_FIELD:
        return eval_field_node(x, dot, first, &g, ret);
    case NODE_CHAIN:
        return eval_chain_node(x, dot, first, &g, ret);
    case NODE_IDENTIFIER:
        return eval_function(x, dot, first, cmd, &g, ret);
    case NODE_PIPE:
        r = not_a_function(x, first, &g);
        return r < 0 ? r : exec_eval_pipe(x, dot, first, ret);
    case NODE_VARIABLE:
        return eval_variable_node(x, dot, first, &g, ret);
    default:
        break;
    }
    x->node = first;
    r = not_a_function(x, first, &g);
    if (r < 0)
        return r;
    if (first->kind == NODE_DOT) {
        *ret = dot;
        return 0;
    }
    if (first->kind == NODE_NIL)
        return exec_fail(x, "nil is not a command");
    return constant_for_any(x, first, ret);
}

int exec_eval_pipe(struct tpl_exec *x, struct value dot, const struct node *pipe, struct value *ret)
{
    struct value v = VALUE_NONE, before;
    int r;

    x->node = pipe;
    if (stack_is_low(0))
        return exec_fail_limit(x, "more nesting than the stack has room for");
    for (uint32_t i = 0; i < pipe->n; i++) {
        before = v;
        r = eval_command(x, dot, pipe->items[i], i > 0 ? &before : NULL, &v);
        if (r < 0)
            return r;
        v = without_element(v);
    }
    for (uint32_t i = 0; i < pipe->n_decl; i++) {
        if (!pipe->flag) {
            exec_push_var(x, node_decl(pipe)[i]->var, v);
            continue;
        }
        r = exec_set_var(x, node_decl(pipe)[i], v);
        if (r < 0)
            return r;
    }
    *ret = v;
    return 0;
}
