/* SPDX-License-Identifier: Apache-2.0 */
#include "release/act.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"

#define LOG_MODULE "release"
#include "base/log.h"

static int wrap_object(struct err **err, int r, const struct kube_ref *ref)
{
    CLEANUP(buf_done) struct buf name = BUF_INIT(KIB);

    kube_ref_format(ref, &name);
    return err_wrap(err, r, "%s", buf_z(&name));
}

int act_save_record(struct release_run *run, struct err **err)
{
    struct record *rec = run->record;
    struct value secret, stored;
    int r = record_encode(rec, run->arena, &secret, err);

    if (r < 0)
        return r;
    if (rec->resource_version.n > 0)
        r = kube_update(run->as, run->arena, secret, &stored, err);
    else
        r = kube_create(run->as, run->arena, secret, &stored, err);
    if (r < 0)
        return err_wrap(err, r, "release record of revision %lld", (long long)record_revision(rec));
    rec->resource_version = arena_dup(rec->arena, kube_resource_version(stored));
    return 0;
}

/* Sends one request per object and turns the first failure into the error. */
static int do_all(struct release_run *run, struct kube_request *rq, size_t n, struct kube_result *results,
                  struct err **err)
{
    int r = kube_do_all(run->as, run->arena, rq, n, 0, results);

    if (r >= 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (results[i].r >= 0)
            continue;
        r = results[i].r;
        if (err)
            *err = TAKE(results[i].err);
        return wrap_object(err, r, &rq[i].ref);
    }
    return r;
}

static struct kube_request apply_request(const struct release_run *run, const struct release_object *o)
{
    return (struct kube_request){
        .verb = KUBE_APPLY,
        .ref = o->ref,
        .object = release_object_owned(run->arena, o->body, &run->owner),
        .field_manager = STR(RELEASE_FIELD_MANAGER),
        .force = run->spec->force_conflicts,
        .field_validation = run->config->disable_validation ? STR("Ignore") : STR("Strict"),
    };
}

static bool any_deleting(struct release_run *run, const struct kube_request *rq,
                         const struct kube_result *results, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!kube_is_deleting(results[i].object))
            continue;
        run->waiting_for = arena_printf(run->arena, "%.*s %.*s is still being deleted",
                                        STR_ARG(rq[i].ref.kind), STR_ARG(rq[i].ref.name));
        return true;
    }
    return false;
}

/* Config.flags.force: what cannot be changed is deleted and made anew. True when something was deleted. */
static bool replace_refused(struct release_run *run, const struct kube_request *rq,
                            struct kube_result *results, size_t n)
{
    bool any = false;

    for (size_t i = 0; run->config->force && i < n; i++) {
        if (results[i].r != -ERRC_INVALID)
            continue;
        if (kube_delete(run->as, &rq[i].ref, STR_NONE, NULL) == 0) {
            run->waiting_for = arena_printf(run->arena, "%.*s %.*s is being replaced",
                                            STR_ARG(rq[i].ref.kind), STR_ARG(rq[i].ref.name));
            any = true;
        }
    }
    return any;
}

static int act_apply(struct release_run *run, const struct release_objects *set, struct err **err)
{
    struct kube_request *rq = ARENA_ARRAY(run->arena, struct kube_request, set->n);
    struct kube_result *results = ARENA_ARRAY(run->arena, struct kube_result, set->n);
    int r;

    for (size_t i = 0; i < set->n; i++)
        rq[i] = apply_request(run, &set->items[i]);
    r = do_all(run, rq, set->n, results, err);
    if (r < 0 && replace_refused(run, rq, results, set->n)) {
        err_clear(err);
        r = ACT_WAIT;
    } else if (r == 0) {
        r = any_deleting(run, rq, results, set->n) ? ACT_WAIT : ACT_DONE;
    }
    kube_results_done(results, set->n);
    return r;
}

int act_read_live(struct release_run *run, const struct release_objects *set, bool metadata_only,
                  struct value *ret, struct err **err)
{
    struct kube_request *rq = ARENA_ARRAY(run->arena, struct kube_request, set->n);
    struct kube_result *results = ARENA_ARRAY(run->arena, struct kube_result, set->n);
    int r = 0;

    for (size_t i = 0; i < set->n; i++)
        rq[i] = (struct kube_request){ .verb = KUBE_GET,
                                       .ref = set->items[i].ref,
                                       .metadata_only = metadata_only };
    IGNORE_ERROR(kube_do_all(run->as, run->arena, rq, set->n, 0, results));
    for (size_t i = 0; i < set->n; i++) {
        ret[i] = results[i].r < 0 ? VALUE_NONE : results[i].object;
        if (r < 0 || results[i].r >= 0 || results[i].r == -ERRC_NOT_FOUND)
            continue;
        r = results[i].r;
        if (err)
            *err = TAKE(results[i].err);
        wrap_object(err, r, &rq[i].ref);
    }
    kube_results_done(results, set->n);
    return r;
}

/* May this live object be deleted as a part of the release? Not when it is gone, kept, or someone else's by now. */
static bool may_delete(const struct release_run *run, struct value live, struct value stored)
{
    return !value_is_null(live) && !release_object_is_kept(live) && !release_object_is_kept(stored) &&
           release_owner_matches(live, &run->owner);
}

static int act_delete(struct release_run *run, const struct release_objects *set, struct err **err)
{
    struct value *live = ARENA_ARRAY(run->arena, struct value, set->n);
    struct kube_request *rq = ARENA_ARRAY(run->arena, struct kube_request, set->n);
    struct kube_result *results = ARENA_ARRAY(run->arena, struct kube_result, set->n);
    size_t n = 0;
    int r = act_read_live(run, set, true, live, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < set->n; i++) {
        if (!may_delete(run, live[i], set->items[i].body) || kube_is_deleting(live[i]))
            continue;
        rq[n++] = (struct kube_request){ .verb = KUBE_DELETE,
                                         .ref = set->items[i].ref,
                                         .propagation = KUBE_BACKGROUND,
                                         .uid = kube_uid(live[i]) };
    }
    if (n == 0)
        return ACT_DONE;
    IGNORE_ERROR(kube_do_all(run->as, run->arena, rq, n, 0, results));
    for (size_t i = 0; i < n && r == 0; i++) {
        if (results[i].r >= 0 || results[i].r == -ERRC_NOT_FOUND || results[i].r == -ERRC_CONFLICT)
            continue; /* gone, or another object of that name by now */
        r = results[i].r;
        if (err)
            *err = TAKE(results[i].err);
        wrap_object(err, r, &rq[i].ref);
    }
    kube_results_done(results, n);
    return r < 0 ? r : ACT_DONE;
}

static int act_gone(struct release_run *run, const struct release_objects *set, struct err **err)
{
    struct value *live = ARENA_ARRAY(run->arena, struct value, set->n);
    CLEANUP(buf_done) struct buf name = BUF_INIT(KIB);
    int r = act_read_live(run, set, true, live, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < set->n; i++) {
        if (!may_delete(run, live[i], set->items[i].body))
            continue;
        kube_ref_format(&set->items[i].ref, &name);
        run->waiting_for =
            arena_printf(run->arena, "%s is still there%s", buf_z(&name),
                         value_len(value_path(live[i], "metadata.finalizers")) ? " (it has finalizers)" : "");
        return ACT_WAIT;
    }
    return ACT_DONE;
}

int act_check_ready(struct release_run *run, const struct release_objects *set, struct err **err)
{
    struct kube_status_options o = { .wait_for_jobs = run->config->wait_for_jobs };
    struct value *live = ARENA_ARRAY(run->arena, struct value, set->n);
    size_t waiting = 0;
    int r = act_read_live(run, set, false, live, err);

    for (size_t i = 0; i < set->n && r == 0; i++) {
        struct str message = STR("");
        enum kube_status s = kube_status(run->arena, live[i], &o, &message);
        const struct kube_ref *ref = &set->items[i].ref;

        if (s == KUBE_STATUS_CURRENT)
            continue;
        if (s == KUBE_STATUS_FAILED)
            return err_set(err, ERRC_INVALID, "%.*s %.*s has failed: %.*s", STR_ARG(ref->kind),
                           STR_ARG(ref->name), STR_ARG(message));
        if (waiting++ == 0)
            run->waiting_for = arena_printf(run->arena, "%.*s %.*s is not ready: %s%s%.*s",
                                            STR_ARG(ref->kind), STR_ARG(ref->name), kube_status_name(s),
                                            message.n ? ", " : "", STR_ARG(message));
    }
    if (waiting > 1)
        run->waiting_for =
            arena_printf(run->arena, "%.*s (and %zu more)", STR_ARG(run->waiting_for), waiting - 1);
    return r < 0 ? r : waiting ? ACT_WAIT : ACT_DONE;
}

/* CRDs are no part of the release: they are created when they are absent, as they are, and left alone afterwards. */
static int create_crds(struct release_run *run, const struct release_objects *set, struct err **err)
{
    struct kube_request *rq = ARENA_ARRAY(run->arena, struct kube_request, set->n);
    struct kube_result *results = ARENA_ARRAY(run->arena, struct kube_result, set->n);
    int r = 0;

    for (size_t i = 0; i < set->n; i++)
        rq[i] = (struct kube_request){ .verb = KUBE_CREATE,
                                       .ref = set->items[i].ref,
                                       .object = set->items[i].body,
                                       .field_manager = STR(RELEASE_FIELD_MANAGER) };
    IGNORE_ERROR(kube_do_all(run->as, run->arena, rq, set->n, 0, results));
    for (size_t i = 0; i < set->n && r == 0; i++) {
        if (results[i].r >= 0 || results[i].r == -ERRC_EXISTS)
            continue;
        r = results[i].r;
        if (err)
            *err = TAKE(results[i].err);
        wrap_object(err, r, &rq[i].ref);
    }
    kube_results_done(results, set->n);
    return r < 0 ? r : ACT_DONE;
}

static int act_crds(struct release_run *run, const struct release_objects *set, struct err **err)
{
    int r = ACT_DONE;

    if (!(run->progress->done_bits & 1U << STEP_CRDS))
        r = create_crds(run, set, err);
    if (r == ACT_DONE) {
        run->progress->done_bits |= 1U << STEP_CRDS;
        r = act_check_ready(run, set, err);
    }
    if (r == ACT_DONE)
        kube_discovery_forget(run->as);
    return r;
}

static int act_namespace(struct release_run *run, struct err **err)
{
    struct value ns = value_new_map(run->arena), labels = value_new_map(run->arena);
    int r;

    value_setz(ns, "apiVersion", VALUE_STR("v1"));
    value_setz(ns, "kind", VALUE_STR("Namespace"));
    value_set_path(ns, "metadata.name", value_from_str(run->spec->target_ns));
    value_setz(labels, "name", value_from_str(run->spec->target_ns));
    value_set_path(ns, "metadata.labels", labels);
    r = kube_create(run->as, run->arena, ns, NULL, err);
    if (r == -ERRC_EXISTS) {
        err_clear(err);
        r = 0;
    }
    return r < 0 ? err_wrap(err, r, "Namespace %.*s", STR_ARG(run->spec->target_ns)) : ACT_DONE;
}

static struct kube_ref record_ref(const struct release_run *run, struct str secret_name)
{
    return KUBE_REF("v1", "Secret", run->owner.ns, secret_name);
}

/* Rewrites the status of another stored revision. */
static int restate(struct release_run *run, struct str secret_name, enum record_status status,
                   struct str description, struct err **err)
{
    struct kube_ref ref = record_ref(run, secret_name);
    CLEANUP(record_free) struct record *other = NULL;
    struct value secret;
    int r = kube_get(run->as, run->arena, &ref, &secret, err);

    if (r == 0)
        r = record_decode(secret, &other, err);
    if (r < 0)
        return r;
    record_set_status(other, status, description);
    r = record_encode(other, run->arena, &secret, err);
    if (r == 0)
        r = kube_update(run->as, run->arena, secret, NULL, err);
    return r < 0 ? err_wrap(err, r, "release record %.*s", STR_ARG(secret_name)) : 0;
}

static int act_abandon(struct release_run *run, struct err **err)
{
    const struct record_head *last = &run->heads[run->n_heads - 1];
    int r = restate(run, last->secret_name, RECORD_FAILED, STR("Interrupted and superseded by other inputs"),
                    err);

    return r < 0 ? r : ACT_DONE;
}

static int act_supersede(struct release_run *run, struct err **err)
{
    for (size_t i = 0; i < run->n_heads; i++) {
        const struct record_head *h = &run->heads[i];
        int r;

        if (h->status != RECORD_DEPLOYED || h->revision >= record_revision(run->record))
            continue;
        r = restate(run, h->secret_name, RECORD_SUPERSEDED, STR_NONE, err);
        if (r < 0)
            return r;
    }
    return ACT_DONE;
}

static int act_record(struct release_run *run, struct err **err)
{
    int r = act_save_record(run, err);

    return r < 0 ? r : ACT_DONE;
}

static int act_deployed(struct release_run *run, struct err **err)
{
    enum record_status status = record_status(run->record);
    struct str text = status == RECORD_PENDING_ROLLBACK  ? STR_NONE /* it says what it goes back to */
                      : run->config->description.n       ? run->config->description
                      : status == RECORD_PENDING_INSTALL ? STR("Install complete")
                                                         : STR("Upgrade complete");
    int r;

    record_set_status(run->record, RECORD_DEPLOYED, text);
    record_set_annotation(run->record, RECORD_ANNOTATION_STEP, STR("deployed"));
    r = act_save_record(run, err);
    return r < 0 ? r : ACT_DONE;
}

/* Deletes the oldest records over the limit; the deployed one and the current one stay. */
static int act_trim(struct release_run *run, struct err **err)
{
    size_t have = run->n_heads, max = (size_t)run->spec->max_history;
    int64_t current = record_revision(run->record);
    int r;

    have += run->n_heads == 0 || run->heads[run->n_heads - 1].revision < current;
    for (size_t i = 0; i < run->n_heads && have > max; i++) {
        struct kube_ref ref = record_ref(run, run->heads[i].secret_name);

        if (run->heads[i].revision >= current)
            break;
        r = kube_delete(run->as, &ref, STR_NONE, err);
        if (r < 0)
            return wrap_object(err, r, &ref);
        have--;
    }
    return ACT_DONE;
}

static int act_uninstalling(struct release_run *run, struct err **err)
{
    int r;

    if (record_status(run->record) == RECORD_UNINSTALLING)
        return ACT_DONE;
    record_set_status(run->record, RECORD_UNINSTALLING, STR("Deletion in progress (or silently failed)"));
    record_set_annotation(run->record, RECORD_ANNOTATION_OWNER, run->spec->uid);
    record_set_annotation(run->record, RECORD_ANNOTATION_STEP, STR("uninstalling"));
    r = act_save_record(run, err);
    return r < 0 ? r : ACT_DONE;
}

/* The newest record goes last: as long as it is there, the next process knows what it was about. */
static int act_purge(struct release_run *run, struct err **err)
{
    for (size_t i = 0; i < run->n_heads; i++) {
        struct kube_ref ref = record_ref(run, run->heads[i].secret_name);
        int r = kube_delete(run->as, &ref, STR_NONE, err);

        if (r < 0)
            return wrap_object(err, r, &ref);
    }
    return ACT_DONE;
}

static int act_hooks_cleared(struct release_run *run, enum chart_hook_event event, struct err **err)
{
    int r = act_hooks_done(run, event, false, err);

    return r < 0 ? r : ACT_DONE;
}

static int act_step(struct release_run *run, const struct step *s, int64_t *wait_ms, struct err **err)
{
    switch (s->kind) {
    case STEP_CRDS:
        return act_crds(run, &s->objects, err);
    case STEP_NAMESPACE:
        return act_namespace(run, err);
    case STEP_ABANDON:
        return act_abandon(run, err);
    case STEP_RECORD:
    case STEP_ADOPT:
        return act_record(run, err);
    case STEP_HOOK:
        return act_hook(run, s, wait_ms, err);
    case STEP_HOOKS_DONE:
        return act_hooks_cleared(run, s->event, err);
    case STEP_FIELDS:
        return act_fields(run, &s->objects, err);
    case STEP_APPLY:
        return act_apply(run, &s->objects, err);
    case STEP_REMOVE:
    case STEP_DELETE:
        return act_delete(run, &s->objects, err);
    case STEP_READY:
        return act_check_ready(run, &s->objects, err);
    case STEP_SUPERSEDE:
        return act_supersede(run, err);
    case STEP_DEPLOYED:
        return act_deployed(run, err);
    case STEP_TRIM:
        return act_trim(run, err);
    case STEP_UNINSTALLING:
        return act_uninstalling(run, err);
    case STEP_GONE:
        return act_gone(run, &s->objects, err);
    case STEP_PURGE:
        return act_purge(run, err);
    case STEP_MAX_:
        break;
    }
    abort();
}

/* Steps that are remembered as done in this process: repeating them would only cost calls. */
static bool is_remembered(enum step_kind k)
{
    return k == STEP_APPLY || k == STEP_REMOVE || k == STEP_DELETE || k == STEP_NAMESPACE;
}

/* Each step may wait so long, as with helm's --timeout; a new process waits anew. */
static int timed_out(const struct release_run *run, struct str step, struct err **err)
{
    struct release_progress *p = run->progress;
    uint64_t id = str_hash(step);

    if (p->waiting_step != id)
        p->waiting_since_ms = clock_mono_ms();
    p->waiting_step = id;
    if (clock_mono_ms() - p->waiting_since_ms < run->timeout_ms)
        return 0;
    return err_set(err, ERRC_TIMEOUT, "timed out waiting: %.*s", STR_ARG(run->waiting_for));
}

int act_run(struct release_run *run, const struct plan *plan, int64_t *ret_wait_ms, struct err **err)
{
    unsigned *done = &run->progress->done_bits;

    for (size_t i = 0; i < plan->n; i++) {
        const struct step *s = &plan->steps[i];
        bool last_of_kind = i + 1 == plan->n || plan->steps[i + 1].kind != s->kind;
        CLEANUP(buf_done) struct buf name = BUF_INIT(KIB);
        int64_t wait_ms = ACT_POLL_MS;
        int r;

        if (is_remembered(s->kind) && (*done & 1U << s->kind))
            continue;
        step_format(s, &name);
        log_debug("step", LOG_STR("step", buf_str(&name)), LOG_STR("release", run->owner.release));
        r = act_step(run, s, &wait_ms, err);
        if (r == ACT_WAIT)
            r = timed_out(run, buf_str(&name), err);
        if (r < 0)
            return err_wrap(err, r, "%s", step_kind_name(s->kind));
        if (r == ACT_WAIT) {
            *ret_wait_ms = wait_ms;
            return ACT_WAIT;
        }
        if (last_of_kind)
            *done |= 1U << s->kind;
    }
    return ACT_DONE;
}
