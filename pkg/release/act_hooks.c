/* SPDX-License-Identifier: Apache-2.0 */
#include "release/act.h"
#include "yaml/yaml.h"

struct hook {
    struct str kind, name, path;
    struct release_object object;
};

/* Hooks are outside the release: they get a namespace, but no owner. */
static int parse_hook(struct release_run *run, struct value hook, struct hook *ret, struct err **err)
{
    struct hook h = { .kind = value_str(value_getz(hook, "kind")),
                      .name = value_str(value_getz(hook, "name")),
                      .path = value_str(value_getz(hook, "path")) };
    struct release_objects objects;
    int r = release_objects_parse(run->as, run->arena, value_str(value_getz(hook, "manifest")), &run->owner,
                                  &objects, err);

    if (r < 0)
        return err_wrap(err, r, "hook %.*s", STR_ARG(h.path));
    if (objects.n != 1)
        return err_set(err, ERRC_INVALID, "hook %.*s: %zu objects in one document", STR_ARG(h.path),
                       objects.n);
    h.object = objects.items[0];
    *ret = h;
    return 0;
}

static int save_phase(struct release_run *run, const struct hook *h, const char *phase, struct err **err)
{
    record_set_hook_run(run->record, h->kind, h->name, h->path, phase);
    record_set_annotation(run->record, RECORD_ANNOTATION_STEP, h->path);
    return act_save_record(run, err);
}

/* Absent is null. */
static int read_hook(struct release_run *run, const struct hook *h, struct value *ret, struct err **err)
{
    *ret = VALUE_NONE;
    return MIN(kube_find(run->as, run->arena, &h->object.ref, ret, err), 0);
}

/* Before the record says Running, the object of an earlier run is gone: so whatever is there afterwards is this run's. */
static int clear_earlier(struct release_run *run, const struct step *s, const struct hook *h,
                         struct err **err)
{
    struct value live;
    int r;

    if (!hook_has_delete_policy(s->hook, "before-hook-creation") ||
        str_eq(h->kind, STR("CustomResourceDefinition")))
        return ACT_DONE;
    r = read_hook(run, h, &live, err);
    if (r < 0 || value_is_null(live))
        return r < 0 ? r : ACT_DONE;
    if (!kube_is_deleting(live))
        r = kube_delete(run->as, &h->object.ref, kube_uid(live), err);
    run->waiting_for =
        arena_printf(run->arena, "hook %.*s of an earlier run is being deleted", STR_ARG(h->path));
    return r < 0 ? r : ACT_WAIT;
}

static int create_hook(struct release_run *run, const struct hook *h, struct err **err)
{
    return kube_apply(run->as, run->arena, h->object.body, STR(RELEASE_FIELD_MANAGER),
                      run->spec->force_conflicts, NULL, err);
}

enum hook_state { HOOK_RUNNING, HOOK_SUCCEEDED, HOOK_FAILED };

/* Helm's hookOnly waiter: Jobs complete, Pods succeed, everything else is done at once. */
static enum hook_state hook_state(struct value live)
{
    struct str kind = value_str(value_getz(live, "kind")),
               phase = value_str(value_path(live, "status.phase"));

    if (str_eq(kind, STR("Job"))) {
        if (kube_condition_is(live, STR("Complete"), "True"))
            return HOOK_SUCCEEDED;
        return kube_condition_is(live, STR("Failed"), "True") ? HOOK_FAILED : HOOK_RUNNING;
    }
    if (str_eq(kind, STR("Pod"))) {
        if (str_eq(phase, STR("Succeeded")))
            return HOOK_SUCCEEDED;
        return str_eq(phase, STR("Failed")) ? HOOK_FAILED : HOOK_RUNNING;
    }
    return HOOK_SUCCEEDED;
}

static int hook_failed(struct release_run *run, const struct step *s, const struct hook *h, struct value live,
                       struct err **err)
{
    struct value job = kube_condition_find(live, STR("Failed"));
    struct str why = value_is_null(job) ? value_str(value_path(live, "status.message"))
                                        : value_str(value_getz(job, "message"));
    int r = save_phase(run, h, "Failed", err);

    if (r < 0)
        return r;
    r = act_hooks_done(run, s->event, true, err);
    if (r < 0)
        return r;
    return err_set(err, ERRC_INVALID, "%s hook %.*s failed: %.*s %.*s: %.*s", chart_hook_event_name(s->event),
                   STR_ARG(h->path), STR_ARG(h->kind), STR_ARG(h->name),
                   STR_ARG(why.n ? why : STR("it did not succeed")));
}

static int watch_hook(struct release_run *run, const struct step *s, const struct hook *h, struct err **err)
{
    struct value live;
    int r = read_hook(run, h, &live, err);

    if (r == 0 && value_is_null(live)) {
        r = create_hook(run, h, err);
        if (r == 0)
            r = read_hook(run, h, &live, err);
    }
    if (r < 0)
        return err_wrap(err, r, "%s hook %.*s", chart_hook_event_name(s->event), STR_ARG(h->path));
    switch (hook_state(live)) {
    case HOOK_SUCCEEDED:
        r = save_phase(run, h, "Succeeded", err);
        return r < 0 ? r : ACT_DONE;
    case HOOK_FAILED:
        return hook_failed(run, s, h, live, err);
    case HOOK_RUNNING:
        break;
    }
    run->waiting_for =
        arena_printf(run->arena, "%s hook %.*s (%.*s %.*s) is running", chart_hook_event_name(s->event),
                     STR_ARG(h->path), STR_ARG(h->kind), STR_ARG(h->name));
    return ACT_WAIT;
}

/* Events of one operation come in this order; those of an uninstall follow those of what was installed. */
static int event_rank(struct str event)
{
    if (str_has_suffix(event, STR("-delete")))
        return str_has_prefix(event, STR("pre-")) ? 3 : 4;
    return str_has_prefix(event, STR("pre-")) ? 1 : str_has_prefix(event, STR("post-")) ? 2 : 0;
}

/* One hook may serve several events, but its record has room for one run: whose that is, an annotation tells. True when
 * this event is over. */
static bool enter_event(struct release_run *run, enum chart_hook_event event)
{
    const char *name = chart_hook_event_name(event);
    struct str at = record_annotation(run->record, RECORD_ANNOTATION_EVENT);

    if (str_eq(at, str_from(name)))
        return false;
    if (event_rank(at) > event_rank(str_from(name)))
        return true;
    record_reset_hooks(run->record, name);
    record_set_annotation(run->record, RECORD_ANNOTATION_EVENT, str_from(name));
    return false;
}

int act_hook(struct release_run *run, const struct step *s, int64_t *ret_wait_ms, struct err **err)
{
    struct record_hook_run before;
    struct hook h;
    int r;

    UNUSED(ret_wait_ms);
    if (enter_event(run, s->event))
        return ACT_DONE;
    r = parse_hook(run, s->hook, &h, err);
    if (r < 0)
        return r;
    before = record_hook_run(run->record, h.kind, h.name, h.path);
    if (str_eq(before.phase, STR("Succeeded")))
        return ACT_DONE;
    if (!str_eq(before.phase, STR("Running"))) {
        r = clear_earlier(run, s, &h, err);
        if (r != ACT_DONE)
            return r;
        r = save_phase(run, &h, "Running", err);
        if (r < 0)
            return r;
    }
    return watch_hook(run, s, &h, err);
}

int act_hooks_done(struct release_run *run, enum chart_hook_event event, bool failed, struct err **err)
{
    size_t n;
    struct value *hooks = plan_hooks(run->arena, record_hooks(run->record), event, &n);
    struct hook h;
    int r;

    /* The phases are those of a later event: its hooks, often the same objects, are not ours to delete. */
    if (event_rank(record_annotation(run->record, RECORD_ANNOTATION_EVENT)) >
        event_rank(str_from(chart_hook_event_name(event))))
        return 0;
    while (n-- > 0) {
        struct str phase = value_str(value_path(hooks[n], "last_run.phase"));
        bool wanted =
            (str_eq(phase, STR("Succeeded")) && hook_has_delete_policy(hooks[n], "hook-succeeded")) ||
            (failed && str_eq(phase, STR("Failed")) && hook_has_delete_policy(hooks[n], "hook-failed"));

        if (!wanted)
            continue;
        r = parse_hook(run, hooks[n], &h, err);
        if (r == 0)
            r = kube_delete(run->as, &h.object.ref, STR_NONE, err);
        if (r < 0)
            return err_wrap(err, r, "hook %.*s", STR_ARG(h.path));
    }
    return 0;
}
