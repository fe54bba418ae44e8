/* SPDX-License-Identifier: Apache-2.0 */
#include "release/plan.h"

#include <stdlib.h>

static const char *const kind_names[STEP_MAX_] = {
#define X(code, name, text) [STEP_##code] = name,
    STEP_MAP(X)
#undef X
};

const char *step_kind_name(enum step_kind k)
{
    return kind_names[k];
}

void step_format(const struct step *s, struct buf *out)
{
    buf_adds(out, kind_names[s->kind]);
    if (s->kind == STEP_HOOK || s->kind == STEP_HOOKS_DONE)
        buf_addf(out, " %s", chart_hook_event_name(s->event));
    if (s->kind == STEP_HOOK)
        buf_addf(out, " %.*s", STR_ARG(value_str(value_getz(s->hook, "path"))));
    if (s->objects.n == 0)
        return;
    if (s->kind == STEP_APPLY || s->kind == STEP_DELETE)
        buf_addf(out, " %zu %.*s", s->objects.n, STR_ARG(s->objects.items[0].ref.kind));
    else
        buf_addf(out, " %zu objects", s->objects.n);
}

struct builder {
    struct arena *arena;
    const struct plan_inputs *in;
    struct plan plan;
    size_t cap;
};

static struct step *add(struct builder *b, enum step_kind kind)
{
    if (b->plan.n == b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 16;

        b->plan.steps =
            arena_grow(b->arena, b->plan.steps, b->cap * sizeof(struct step), cap * sizeof(struct step));
        b->cap = cap;
    }
    b->plan.steps[b->plan.n] = (struct step){ .kind = kind };
    return &b->plan.steps[b->plan.n++];
}

static void add_groups(struct builder *b, enum step_kind kind, const struct release_objects *set)
{
    for (size_t i = 0, end; i < set->n; i = end) {
        end = release_objects_group_end(set, i);
        add(b, kind)->objects = (struct release_objects){ set->items + i, end - i };
    }
}

static bool has_event(struct value hook, enum chart_hook_event event)
{
    struct str name = str_from(chart_hook_event_name(event));

    for (struct value_iter it = value_iter(value_getz(hook, "events")); value_next(&it);)
        if (str_eq(value_str(it.v), name))
            return true;
    return false;
}

bool hook_has_delete_policy(struct value hook, const char *policy)
{
    struct value policies = value_getz(hook, "delete_policies");

    if (value_len(policies) == 0)
        return str_eq(str_from(policy), STR("before-hook-creation"));
    for (struct value_iter it = value_iter(policies); value_next(&it);)
        if (str_eq(value_str(it.v), str_from(policy)))
            return true;
    return false;
}

static bool hook_before(struct value a, struct value b)
{
    int64_t i = value_int(value_getz(a, "weight"), 0), j = value_int(value_getz(b, "weight"), 0);

    return i != j ? i < j : str_cmp(value_str(value_getz(a, "name")), value_str(value_getz(b, "name"))) < 0;
}

struct value *plan_hooks(struct arena *a, struct value hooks, enum chart_hook_event event, size_t *ret_n)
{
    struct value *found = ARENA_ARRAY(a, struct value, value_len(hooks));
    size_t n = 0;

    for (struct value_iter it = value_iter(hooks); value_next(&it);) {
        size_t at = n;

        if (!has_event(it.v, event))
            continue;
        for (; at > 0 && hook_before(it.v, found[at - 1]); at--)
            found[at] = found[at - 1];
        found[at] = it.v;
        n++;
    }
    *ret_n = n;
    return found;
}

static void add_hooks(struct builder *b, enum chart_hook_event event)
{
    struct value *hooks;
    struct step *s;
    size_t n;

    if (b->in->disable_hooks || b->in->namespace_terminating || !b->in->record)
        return;
    hooks = plan_hooks(b->arena, record_hooks(b->in->record), event, &n);
    for (size_t i = 0; i < n; i++) {
        s = add(b, STEP_HOOK);
        s->hook = hooks[i];
        s->event = event;
    }
    if (n > 0)
        add(b, STEP_HOOKS_DONE)->event = event;
}

static enum chart_hook_event deploy_event(const struct plan_inputs *in, bool after)
{
    if (in->decision.op == OPERATION_ROLLBACK)
        return after ? CHART_HOOK_POST_ROLLBACK : CHART_HOOK_PRE_ROLLBACK;
    if (in->fresh_install)
        return after ? CHART_HOOK_POST_INSTALL : CHART_HOOK_PRE_INSTALL;
    return after ? CHART_HOOK_POST_UPGRADE : CHART_HOOK_PRE_UPGRADE;
}

static void plan_deploy(struct builder *b)
{
    const struct plan_inputs *in = b->in;

    if (in->create_namespace)
        add(b, STEP_NAMESPACE);
    if (in->decision.abandon)
        add(b, STEP_ABANDON);
    if (!in->decision.resume)
        add(b, STEP_RECORD);
    add_hooks(b, deploy_event(in, false));
    if (in->client_side && in->objects.n > 0)
        add(b, STEP_FIELDS)->objects = in->objects;
    add_groups(b, STEP_APPLY, &in->objects);
    if (in->removed.n > 0)
        add(b, STEP_REMOVE)->objects = in->removed;
    if (in->wait && in->objects.n > 0)
        add(b, STEP_READY)->objects = in->objects;
    add_hooks(b, deploy_event(in, true));
    if (in->n_earlier_deployed > 0)
        add(b, STEP_SUPERSEDE);
    add(b, STEP_DEPLOYED);
    if (in->n_over_limit > 0)
        add(b, STEP_TRIM);
}

static void plan_uninstall(struct builder *b)
{
    add(b, STEP_UNINSTALLING);
    add_hooks(b, CHART_HOOK_PRE_DELETE);
    add_groups(b, STEP_DELETE, &b->in->all);
    if (b->in->all.n > 0)
        add(b, STEP_GONE)->objects = b->in->all;
    add_hooks(b, CHART_HOOK_POST_DELETE);
    add(b, STEP_PURGE);
}

struct plan plan_make(struct arena *a, const struct plan_inputs *in)
{
    struct builder b = { .arena = a, .in = in };

    if (in->crds.n > 0) {
        add(&b, STEP_CRDS)->objects = in->crds;
        return b.plan;
    }
    switch (in->decision.op) {
    case OPERATION_INSTALL:
    case OPERATION_UPGRADE:
    case OPERATION_ROLLBACK:
        plan_deploy(&b);
        break;
    case OPERATION_ADOPT:
        add(&b, STEP_ADOPT);
        break;
    case OPERATION_UNINSTALL:
        plan_uninstall(&b);
        break;
    default:
        break;
    }
    return b.plan;
}
