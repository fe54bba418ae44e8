/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/limits.h"
#include "template/exec.h"

static size_t or_default(size_t n, size_t otherwise)
{
    return n > 0 ? n : otherwise;
}

struct tpl_run *tpl_run_new(const struct tpl_set *s, const struct tpl_env *env)
{
    struct tpl_run *r = xcalloc(1, sizeof(*r));
    struct tpl_exec *x = &r->x;

    if (env)
        x->env = *env;
    x->run = r;
    x->arena = arena_new(or_default(x->env.memory_max, TEMPLATE_MEMORY_MAX));
    x->steps_max = or_default(x->env.steps_max, TEMPLATE_STEPS_MAX);
    x->output_max = r->output_left = or_default(x->env.output_max, TEMPLATE_OUTPUT_MAX);
    r->top.below = s;
    r->top.arena = x->arena;
    x->set = &r->top;
    return r;
}

struct tpl_set *exec_new_overlay(struct tpl_exec *x)
{
    struct tpl_run *r = x->run;
    struct tpl_set *s = ARENA_NEW(x->arena, struct tpl_set);

    s->below = x->set;
    s->arena = x->arena;
    ARRAY_GROW(r->overlays, r->cap_overlays, r->n_overlays + 1);
    r->overlays[r->n_overlays++] = s;
    return s;
}

static void values_free(struct values_chunk *c)
{
    while (c && c->below)
        c = c->below;
    for (struct values_chunk *above; c; c = above) {
        above = c->above;
        free(c);
    }
}

void tpl_run_free(struct tpl_run *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_overlays; i++) {
        map_done(&r->overlays[i]->trees);
        map_done(&r->overlays[i]->texts);
    }
    free(r->overlays);
    map_done(&r->top.trees);
    map_done(&r->top.texts);
    map_done(&r->x.nesting);
    free(r->x.vars);
    free(r->x.chain);
    values_free(r->x.values);
    arena_free(r->x.arena);
    free(r);
}

struct arena *tpl_run_arena(struct tpl_run *r)
{
    return r->x.arena;
}

size_t tpl_run_steps(const struct tpl_run *r)
{
    return r->x.steps;
}

size_t tpl_run_peak_bytes(const struct tpl_run *r)
{
    return arena_peak(r->x.arena);
}

/* Whatever a failed execution has left behind. */
static void reset(struct tpl_run *r)
{
    struct tpl_exec *x = &r->x;

    x->set = &r->top;
    x->tree = NULL;
    x->node = NULL;
    x->n_vars = x->first_var = 0;
    x->n_chain = 0;
    x->limit = false;
    while (x->values && x->values->below)
        x->values = x->values->below;
    if (x->values)
        x->values->n = 0;
}

static NODISCARD int execute(struct tpl_run *r, struct str name, struct value dot, struct err **err)
{
    const struct tree *t = tpl_set_find(&r->top, name);
    size_t mark = r->x.out.n;

    if (!t)
        return err_set(err, ERRC_TEMPLATE,
                       "template: no template \"" STR_FMT "\" associated with template \"gotpl\"",
                       STR_ARG(name));
    if (exec_tree(&r->x, t, dot) < 0)
        return exec_report(&r->x, name, err);
    if (!r->top.below->sprig)
        exec_drop_no_value(&r->x.out, mark);
    return 0;
}

/* The text is written where it belongs: `out` is the execution's for as long as that takes. */
int tpl_render(struct tpl_run *r, struct str name, struct value dot, struct buf *out, struct err **err)
{
    struct tpl_exec *x = &r->x;
    size_t mark = out->n, max = out->max;
    int res;

    reset(r);
    x->out = *out;
    x->out.max = mark + r->output_left;
    res = execute(r, name, dot, err);
    *out = x->out;
    out->max = max;
    x->out = BUF_INIT(0);
    out->failed = out->n > max;
    if (res == 0)
        res = buf_check(out, err);
    if (res < 0) {
        out->failed = false;
        buf_truncate(out, mark);
        return res;
    }
    r->output_left -= out->n - mark;
    return 0;
}
