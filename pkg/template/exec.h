/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* exec: one running render. Private to the module.
 *
 * A failed evaluation returns below zero and has recorded a chain of texts, innermost first: what Go's wrapped errors
 * are. Nothing else is unwound. */
#include "base/buf.h"
#include "base/map.h"
#include "template/template.h"
#include "template/tree.h"

struct var {
    uint32_t id;
    struct value v;
};

/* Values of calls in progress; a chunk never moves. */
struct values_chunk {
    struct values_chunk *below, *above;
    size_t n, cap;
    struct value v[];
};

/* A list that append made with room behind it, and how much of that the longest list in it uses. */
struct list_tail {
    struct value *items;
    size_t n, cap;
};
#define LIST_TAILS 16

struct tpl_exec {
    struct tpl_run *run;
    struct tpl_set *set; /* where names are looked up: the run's own set, or the overlay of a tpl call */
    struct tpl_env env;
    struct arena *arena;
    struct buf out; /* of the execution in progress, innermost last */

    const struct tree *tree; /* being executed */
    const struct node *node; /* evaluated last: where Go would say an error is */
    struct var *vars;        /* of all executions in progress */
    size_t n_vars, cap_vars;
    size_t first_var; /* of the current one: "$" */
    struct values_chunk *values;

    size_t steps, steps_max;
    size_t output_max;  /* of the run */
    struct map nesting; /* how often a name is being included */

    struct str *chain; /* texts of the failure, innermost first; each ends where the one before it begins */
    size_t n_chain, cap_chain;
    bool limit; /* a budget is spent */

    unsigned char random[256]; /* not given out yet: the first n_random */
    size_t n_random;

    struct list_tail tails[LIST_TAILS]; /* by address */
};

/* The run: an exec with what it owns. */
struct tpl_run {
    struct tpl_exec x;
    struct tpl_set top; /* on top of the caller's set; tpl texts hang below it */
    size_t output_left; /* bytes of text the run may still make */
    struct tpl_set **overlays;
    size_t n_overlays, cap_overlays;
};

/* Executes a template with `dot` and appends to x->out. */
NODISCARD int exec_tree(struct tpl_exec *x, const struct tree *t, struct value dot);
/* The same into a string of the arena, with every "<no value>" removed if so asked. */
NODISCARD int exec_to_string(struct tpl_exec *x, const struct tree *t, struct value dot, bool drop_no_value,
                             struct str *ret);

/* eval.c: the value of a pipeline; its declarations are on the stack of variables afterwards. */
NODISCARD int exec_eval_pipe(struct tpl_exec *x, struct value dot, const struct node *pipe,
                             struct value *ret);
void exec_push_var(struct tpl_exec *x, uint32_t id, struct value v);
NODISCARD int exec_set_var(struct tpl_exec *x, const struct node *n, struct value v);
/* Room for n values that stays where it is until the matching pop. */
struct value *exec_push_values(struct tpl_exec *x, size_t n);
void exec_pop_values(struct tpl_exec *x, size_t n);
NODISCARD int exec_step(struct tpl_exec *x);         /* counts one step */
NODISCARD int exec_check_output(struct tpl_exec *x); /* did all text fit? */

/* Go's state.errorf(): the current template, node and this text become the innermost error. Returns -TEMPLATE. */
int exec_fail(struct tpl_exec *x, const char *fmt, ...) PRINTF(2, 3);
/* The same with a text that is there already. */
int exec_fail_text(struct tpl_exec *x, struct str text);
/* "error calling NAME: " around what a function reported: its error, or the chain of a nested execution. */
int exec_fail_call(struct tpl_exec *x, struct str name, int r, struct err *why);
/* Adds a text in front of the chain. */
void exec_wrap(struct tpl_exec *x, struct str text);
/* A budget is spent: stops the run whatever the templates do. `what` completes "more than". */
int exec_fail_limit(struct tpl_exec *x, const char *fmt, ...) PRINTF(2, 3);
/* The recorded failure in Helm's words, for the file that was being rendered. */
int exec_report(struct tpl_exec *x, struct str file, struct err **err);

/* Removes every "<no value>" from out->p + from on. */
void exec_drop_no_value(struct buf *out, size_t from);

/* An empty set on top of x->set, owned by the run. */
struct tpl_set *exec_new_overlay(struct tpl_exec *x);
