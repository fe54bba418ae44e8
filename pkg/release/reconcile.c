/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/limits.h"
#include "release/manager.h"
#include "release/report.h"

#define LOG_MODULE "release"
#include "base/log.h"

#define RECHECK_MS \
    ((int64_t)10 * 60 * 1000) /* records that other tools changed are noticed within this time */
#define HEALTH_POLL_MS 2000
#define ROUNDS_MAX 8 /* observe again at once after CRDs appeared or a revision was given up */

/* ---- nothing to do, known without asking ------------------------------------------------------------------------- */

static void add_object(struct controller *c, const char *watch, struct controller_key key, struct arena *a,
                       struct buf *text)
{
    struct controller_object o;

    if (controller_find(c, watch, key, a, &o))
        buf_addf(text, "%s %.*s %.*s;", watch, STR_ARG(o.name), STR_ARG(o.resource_version));
    else
        buf_addf(text, "%s %.*s -;", watch, STR_ARG(key.name));
}

/* Digest of what the informers know of everything that this Release depends on: no request is made. False when it is not
 * known yet, or depends on something that nobody watches (valuesFrom). */
static bool fingerprint(const struct controller_call *call, char out[SHA256_HEX])
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    struct controller_object self, *objects;
    struct str chart;
    size_t n;

    if (!controller_find(call->controller, "releases", call->key, call->arena, &self) ||
        value_is_null(self.kept) || value_bool(value_getz(self.kept, "unwatched")))
        return false;
    buf_addf(&text, "%lld %.*s;", (long long)self.generation,
             STR_ARG(value_str(value_getz(self.kept, "wish"))));
    add_object(call->controller, "configs",
               (struct controller_key){ call->key.ns, value_str(value_getz(self.kept, "config")) },
               call->arena, &text);
    chart = value_str(value_getz(self.kept, "chart"));
    objects = controller_list(call->controller, "release-content", chart, call->arena, &n);
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%.*s %.*s;", STR_ARG(objects[i].name), STR_ARG(objects[i].resource_version));
    if (value_bool(value_getz(self.kept, "values"))) { /* refs reach any Values of the namespace */
        objects =
            controller_list(call->controller, "values",
                            arena_printf(call->arena, "ns:%.*s", STR_ARG(call->key.ns)), call->arena, &n);
        for (size_t i = 0; i < n; i++)
            buf_addf(&text, "%.*s %.*s;", STR_ARG(objects[i].name), STR_ARG(objects[i].resource_version));
    }
    sha256_hex(buf_str(&text), out);
    return true;
}

static bool is_settled(const struct release_memory *mem, const char *print, int64_t *ret_again_ms)
{
    int64_t now = clock_mono_ms();

    *ret_again_ms = mem->settled_until_ms - now;
    return mem->settled[0] && str_eq(str_from(mem->settled), str_from(print)) && *ret_again_ms > 0;
}

/* ---- finalizer --------------------------------------------------------------------------------------------------- */

static int set_finalizer(struct release_manager *m, struct arena *a, struct value object, bool wanted,
                         struct err **err)
{
    struct kube_ref ref = kube_ref_of(object);
    struct value_list list = VALUE_LIST_INIT(a);
    struct value patch = value_new_map(a);
    int r;

    if (kube_has_finalizer(object, STR(RELEASE_FINALIZER)) == wanted)
        return 0;
    for (struct value_iter it = value_iter(value_path(object, "metadata.finalizers")); value_next(&it);)
        if (!str_eq(value_str(it.v), STR(RELEASE_FINALIZER)))
            value_list_add(&list, it.v);
    if (wanted)
        value_list_add(&list, VALUE_STR(RELEASE_FINALIZER));
    value_set_path(patch, "metadata.finalizers", value_list_done(&list));
    value_set_path(patch, "metadata.resourceVersion", value_from_str(kube_resource_version(object)));
    r = kube_merge_patch(m->kube, a, &ref, patch, NULL, err);
    if (r == -ERRC_NOT_FOUND) {
        err_clear(err);
        return 0;
    }
    return r < 0 ? err_wrap(err, r, "finalizer") : 0;
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

static int64_t attempt_deadline(const struct observation *o)
{
    struct wall_time started = clock_wall();
    int64_t timeout_ms = o->spec.timeout_ms ? o->spec.timeout_ms : o->config.timeout_ms;

    if (o->record && o->decision.resume)
        clock_parse_rfc3339(record_annotation(o->record, RECORD_ANNOTATION_STARTED), &started);
    return started.s + (timeout_ms ? timeout_ms : RELEASE_TIMEOUT_DEFAULT_MS) / 1000;
}

static struct release_run make_run(struct observation *o, struct release_memory *mem)
{
    struct release_progress *p = &mem->progress;

    if (p->revision != o->decision.revision || !str_eq(str_from(p->inputs), str_from(o->inputs)) ||
        o->decision.retry) {
        bool crds = p->done_bits & 1U << STEP_CRDS && str_eq(str_from(p->inputs), str_from(o->inputs));

        *p = (struct release_progress){ .revision = o->decision.revision,
                                        .done_bits = crds ? 1U << STEP_CRDS : 0 };
        memcpy(p->inputs, o->inputs, sizeof(p->inputs));
    }
    return (struct release_run){
        .as = o->as,
        .arena = o->arena,
        .spec = &o->spec,
        .config = &o->config,
        .owner = o->owner,
        .record = o->record,
        .inputs = str_from(o->inputs),
        .heads = o->heads,
        .n_heads = o->n_heads,
        .progress = p,
        .deadline = attempt_deadline(o),
        .before = &o->before,
        .waiting_for = STR("the API server"),
    };
}

static int report_waiting(struct release_manager *m, struct observation *o, struct str what, struct err **err)
{
    bool removing = o->decision.op == OPERATION_UNINSTALL;
    struct release_report rep = { .ready = "Unknown",
                                  .reason = removing ? "Uninstalling" : "Progressing",
                                  .message = arena_printf(o->arena, "%s of revision %lld: %.*s",
                                                          operation_name(o->decision.op),
                                                          (long long)o->decision.revision, STR_ARG(what)),
                                  .reconciling = true,
                                  .word = "initResource",
                                  .deployed = !removing };

    return release_report(m, o, &rep, err);
}

static struct str success_message(struct observation *o)
{
    struct str paths = release_changed_paths(o);
    /* NONE: the process that did it could not say so. */
    bool first = o->decision.op == OPERATION_INSTALL ||
                 (o->decision.op == OPERATION_NONE && o->decision.revision == 1);
    bool adopted = o->decision.op == OPERATION_ADOPT, upgraded = !first && !adopted;

    return arena_printf(o->arena, "%.*s %.*s %s as %.*s/%.*s revision %lld%s%.*s", STR_ARG(o->spec.chart),
                        STR_ARG(o->stored.version),
                        first     ? "installed"
                        : adopted ? "adopted as it is"
                                  : "upgraded",
                        STR_ARG(o->spec.target_ns), STR_ARG(o->spec.release), (long long)o->decision.revision,
                        upgraded && paths.n ? "; values changed: " : "", STR_ARG(upgraded ? paths : STR("")));
}

/* Are the objects what their specs say? Asked after an operation, until they are. */
static int check_health(struct observation *o, struct release_run *run, struct release_report *rep)
{
    struct err *err = NULL;
    int r = act_check_ready(run, &o->plan.objects, &err);

    rep->health.status = r == ACT_DONE ? "True" : "False";
    rep->health.reason = r == ACT_DONE ? STR("Current") : r < 0 ? STR("Failed") : STR("InProgress");
    rep->health.message = r == ACT_DONE ? STR("all objects are current")
                          : r < 0       ? arena_dup(o->arena, str_from(err_message(err)))
                                        : run->waiting_for;
    err_free(err);
    return r == ACT_DONE;
}

static int finish_deployed(struct release_manager *m, struct observation *o, struct release_run *run,
                           struct controller_result *ret, struct err **err)
{
    struct release_report rep = { .ready = "True",
                                  .reason = "Deployed",
                                  .word = "success",
                                  .deployed = true,
                                  .message = success_message(o) };

    if (o->plan.objects.n > 0 && !check_health(o, run, &rep))
        ret->requeue_after_ms = HEALTH_POLL_MS;
    return release_report(m, o, &rep, err);
}

/* Does the status speak of what is deployed? Not when the process that deployed it could not report. */
static bool is_told(const struct observation *o, struct value ready)
{
    struct value status = value_getz(o->spec.object, "status");

    return str_eq(value_str(value_getz(ready, "reason")), STR("Deployed")) &&
           value_int(value_getz(status, "revision"), 0) == o->decision.revision &&
           str_eq(value_str(value_getz(status, "inputsDigest")), str_from(o->inputs));
}

/* The newest record and its objects. */
static int recall_record(struct observation *o, struct err **err)
{
    struct kube_ref ref = KUBE_REF("v1", "Secret", o->spec.target_ns, o->heads[o->n_heads - 1].secret_name);
    struct value secret;
    int r = kube_get(o->as, o->arena, &ref, &secret, err);

    if (r == 0)
        r = record_decode(secret, &o->last, err);
    if (r < 0)
        return r;
    o->record = o->last;
    return release_objects_parse_known(o->as, o->arena, record_manifest(o->last), &o->owner, &o->plan.objects,
                                       err);
}

/* A release that is deployed with these inputs. Its health is looked at as long as it was not seen to be well. */
static int finish_unchanged(struct release_manager *m, struct observation *o, struct release_memory *mem,
                            struct controller_result *ret, struct err **err)
{
    struct value ready = kube_condition_find(o->spec.object, STR("Ready"));
    struct release_report rep = {
        .ready = "True", .reason = "Deployed", .word = "success", .deployed = true
    };
    struct release_run run;
    int r = 0;

    rep.recalled = !is_told(o, ready);
    if (rep.recalled)
        r = release_recall_changes(o, err);
    if (r < 0)
        return r;
    rep.message = rep.recalled ? success_message(o) : value_str(value_getz(ready, "message"));
    if ((rep.recalled || !kube_condition_is(o->spec.object, STR("Healthy"), "True")) && o->n_heads > 0) {
        r = recall_record(o, err);
        if (r < 0)
            return r;
        run = make_run(o, mem);
        if (!check_health(o, &run, &rep))
            ret->requeue_after_ms = HEALTH_POLL_MS;
    }
    return release_report(m, o, &rep, err);
}

/* Failures that come from outside and pass leave the record as it is: the next look goes on with the attempt. */
static bool ends_attempt(enum errc code)
{
    return code == ERRC_TIMEOUT || code == ERRC_CONFLICT || !errc_retryable(code);
}

static void mark_failed(struct observation *o, struct release_run *run, const struct err *cause)
{
    struct err *err = NULL;
    struct str text;

    if (!o->record || o->record->resource_version.n == 0 || !record_status_busy(record_status(o->record)) ||
        o->decision.op == OPERATION_UNINSTALL || !ends_attempt(err_code(cause)))
        return;
    text = arena_printf(o->arena, "%s \"%.*s\" failed: %s",
                        o->decision.op == OPERATION_INSTALL ? "Release" : "Upgrade", STR_ARG(o->spec.release),
                        err_message(cause));
    record_set_status(o->record, RECORD_FAILED, release_redact(o, text));
    if (act_save_record(run, &err) < 0)
        log_warn("failed attempt not recorded", LOG_ERR(err));
    err_free(err);
}

/* Deletes what this attempt created, when the Config asks for it. */
static void clean_up(struct observation *o, struct release_run *run)
{
    struct release_objects created = release_objects_removed(o->arena, &o->plan.objects, &o->before);
    struct plan plan = { .n = 1 };
    struct step step = { .kind = STEP_REMOVE, .objects = created };
    struct err *err = NULL;
    int64_t wait_ms;

    if (!o->config.cleanup_on_fail || o->decision.op != OPERATION_UPGRADE || created.n == 0)
        return;
    plan.steps = &step;
    run->progress->done_bits = 0;
    if (act_run(run, &plan, &wait_ms, &err) < 0)
        log_warn("clean-up after a failure is not complete", LOG_ERR(err));
    err_free(err);
    run->progress->done_bits = 0;
}

static int report_failure(struct release_manager *m, struct observation *o, const struct err *cause,
                          struct err **err)
{
    bool retry = errc_retryable(err_code(cause));
    struct release_report rep = { .ready = "False",
                                  .reason = release_reason(o->stage, cause),
                                  .message = str_from(err_message(cause)),
                                  .reconciling = retry,
                                  .stalled = !retry,
                                  .word = o->stage == RELEASE_STAGE_ACT ? "updateFailed" : "initError" };

    if (o->spec.object.kind != VALUE_MAP)
        return 0;
    return release_report(m, o, &rep, err);
}

/* ---- one look ------------------------------------------------------------------------------------------------------ */

static int act(struct release_manager *m, struct observation *o, struct release_memory *mem,
               struct controller_result *ret, bool *again, struct err **err)
{
    struct plan plan = plan_make(o->arena, &o->plan);
    struct release_run run = make_run(o, mem);
    int64_t wait_ms = 0;
    int r;

    log_info("operation", LOG_Z("operation", operation_name(o->decision.op)),
             LOG_INT("revision", o->decision.revision), LOG_Z("because", o->decision.because),
             LOG_INT("steps", plan.n));
    o->stage = RELEASE_STAGE_ACT;
    r = act_run(&run, &plan, &wait_ms, err);
    if (r < 0) {
        mark_failed(o, &run, err ? *err : NULL);
        clean_up(o, &run);
        return r;
    }
    if (r == ACT_WAIT) {
        ret->requeue_after_ms = wait_ms;
        return report_waiting(m, o, run.waiting_for, err);
    }
    *again = o->plan.crds.n > 0 || (o->decision.op == OPERATION_UNINSTALL && !o->spec.deleting);
    if (*again)
        return 0;
    if (o->decision.op == OPERATION_UNINSTALL)
        return set_finalizer(m, o->arena, o->spec.object, false, err);
    return finish_deployed(m, o, &run, ret, err);
}

static int report_dry_run(struct release_manager *m, struct observation *o, struct err **err)
{
    struct plan plan = plan_make(o->arena, &o->plan);
    struct release_report rep = { .ready = "False", .reason = "DryRun", .word = "initResource" };

    rep.message =
        arena_printf(o->arena, "would %s revision %lld in %zu steps: %zu objects to apply, %zu to delete",
                     operation_name(o->decision.op), (long long)o->decision.revision, plan.n,
                     o->plan.objects.n, o->plan.removed.n);
    return release_report(m, o, &rep, err);
}

static int look(struct release_manager *m, struct observation *o, struct release_memory *mem,
                struct controller_result *ret, bool *again, struct err **err)
{
    struct release_report suspended = { .ready = "Unknown",
                                        .reason = "Suspended",
                                        .word = "initResource",
                                        .message = STR("reconciliation is suspended") };
    struct release_report other = { .ready = "Unknown",
                                    .reason = "OperationInProgress",
                                    .word = "initResource",
                                    .message =
                                        STR("another tool's operation on this release is in progress") };

    switch (o->decision.op) {
    case OPERATION_NONE:
        return o->spec.suspend ? release_report(m, o, &suspended, err)
                               : finish_unchanged(m, o, mem, ret, err);
    case OPERATION_WAIT:
        ret->requeue_after_ms = MIN(o->decision.wait_ms, (int64_t)30000);
        return release_report(m, o, &other, err);
    case OPERATION_FORGET:
        return set_finalizer(m, o->arena, o->spec.object, false, err);
    default:
        return o->config.dry_run && !o->spec.deleting ? report_dry_run(m, o, err)
                                                      : act(m, o, mem, ret, again, err);
    }
}

static int read_release(struct release_manager *m, const struct controller_call *call, struct value *ret,
                        struct err **err)
{
    struct kube_ref ref = KUBE_REF(RELEASE_API_VERSION, "Release", call->key.ns, call->key.name);
    int r = kube_find(m->kube, call->arena, &ref, ret, err);

    if (r == 0)
        manager_forget(m, call->key);
    return r;
}

static bool must_wait_for_retry(struct release_memory *mem, const char *print, struct controller_result *ret)
{
    int64_t left = mem->retry_at_ms - clock_mono_ms();

    if (!mem->failed_inputs[0] || !str_eq(str_from(mem->failed_inputs), str_from(print)) || left <= 0)
        return false;
    ret->requeue_after_ms = left;
    return true;
}

/* 0.25 s, doubling to 5 minutes, or to one for what others may mend unseen: rights, accounts, objects in the way, a kind
 * whose definition is missing. What lies in the inputs waits for them to change, and is tried every 10 minutes. */
static int64_t retry_after(const struct controller_call *call, const struct err *err)
{
    enum errc code = err_code(err);
    bool unseen =
        code == ERRC_FORBIDDEN || code == ERRC_NOT_FOUND || code == ERRC_EXISTS || kube_err_is_no_match(err);

    if (!errc_retryable(code) && !unseen)
        return RECHECK_MS;
    return MIN((int64_t)250 << MIN(call->failures, 11U), (int64_t)(unseen ? 60000 : 300000));
}

static int reconcile_object(struct release_manager *m, const struct controller_call *call,
                            struct value object, struct release_memory *mem, struct controller_result *ret,
                            struct err **err)
{
    CLEANUP(err_free) struct err *cause = NULL;
    bool again = true;
    int r = 0;

    for (int round = 0; again && r == 0 && round < ROUNDS_MAX; round++) {
        CLEANUP(observation_done) struct observation o = { 0 };

        again = false;
        o.spec.object = object;
        r = release_observe(m, call->arena, object, &o, &cause);
        if (r == 0)
            r = look(m, &o, mem, ret, &again, &cause);
        if (r < 0)
            IGNORE_ERROR(report_failure(m, &o, cause, NULL));
    }
    if (r < 0)
        *err = TAKE(cause);
    return r;
}

int release_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                      struct err **err)
{
    struct release_manager *m = ctx;
    struct release_memory *mem = manager_memory(m, call->key);
    char print[SHA256_HEX] = "";
    struct value object;
    int64_t again_ms;
    bool known;
    int r;

    known = fingerprint(call, print);
    if (known && is_settled(mem, print, &again_ms)) {
        ret->requeue_after_ms = again_ms;
        return 0;
    }
    if (known && must_wait_for_retry(mem, print, ret))
        return 0;
    r = read_release(m, call, &object, err);
    if (r <= 0)
        return r;
    mem->settled[0] = mem->failed_inputs[0] = '\0';
    if (!kube_is_deleting(object)) {
        r = set_finalizer(m, call->arena, object, true, err);
        if (r < 0)
            return r;
    }
    r = reconcile_object(m, call, object, mem, ret, err);
    if (r < 0) {
        ret->requeue_after_ms = retry_after(call, *err);
        mem->retry_at_ms = clock_mono_ms() + ret->requeue_after_ms;
        memcpy(mem->failed_inputs, print, sizeof(print));
    } else if (ret->requeue_after_ms == 0) {
        memcpy(mem->settled, print, sizeof(print));
        ret->requeue_after_ms = RECHECK_MS;
        mem->settled_until_ms = clock_mono_ms() + RECHECK_MS;
    }
    return r;
}
