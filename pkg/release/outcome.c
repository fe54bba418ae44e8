/* SPDX-License-Identifier: Apache-2.0 */
/* How a look at a Release ends: what is remembered in its record and told in its status. */
#include "release/outcome.h"

#include "base/clock.h"
#include "base/limits.h"
#include "release/report.h"
#include "release/wake.h"

#define LOG_MODULE "release"
#include "base/log.h"

#define HEALTH_POLL_MS 2000
#define HEALTH_WATCHED_MS ((int64_t)60 * 1000) /* events come sooner */
#define CAUSE_MAX ((size_t)1024)               /* of an error, in an annotation */

int outcome_report_waiting(struct release_manager *m, struct observation *o, struct str what,
                           struct err **err)
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

/* Are the objects what their specs say? Asked after an operation until they are, and whenever one of them changes. */
static void check_health(struct release_manager *m, struct observation *o, struct release_memory *mem,
                         struct release_report *rep, struct controller_result *ret)
{
    struct release_run run = release_make_run(o, mem);
    bool watched = mem->watching;
    struct err *err = NULL;
    int r;

    mem->watching = wake_on_objects(m->wake, o->arena, &o->plan.objects);
    r = act_check_ready(&run, &o->plan.objects, &err);

    rep->health.status = r == ACT_DONE ? "True" : "False";
    rep->health.reason = r == ACT_DONE ? STR("Current") : r < 0 ? STR("Failed") : STR("InProgress");
    rep->health.message = r == ACT_DONE ? STR("all objects are current")
                          : r < 0       ? arena_dup(o->arena, str_from(err_message(err)))
                                        : run.waiting_for;
    err_free(err);
    if (r != ACT_DONE) /* a watch that is new has not seen what happened before */
        ret->requeue_after_ms = watched && mem->watching ? HEALTH_WATCHED_MS : HEALTH_POLL_MS;
}

int outcome_finish_deployed(struct release_manager *m, struct observation *o, struct release_memory *mem,
                            struct controller_result *ret, struct err **err)
{
    struct release_report rep = { .ready = "True",
                                  .reason = "Deployed",
                                  .word = "success",
                                  .deployed = true,
                                  .message = success_message(o) };

    if (o->plan.objects.n > 0)
        check_health(m, o, mem, &rep, ret);
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
int outcome_finish_unchanged(struct release_manager *m, struct observation *o, struct release_memory *mem,
                             struct controller_result *ret, struct err **err)
{
    struct value ready = kube_condition_find(o->spec.object, STR("Ready"));
    struct release_report rep = {
        .ready = "True", .reason = "Deployed", .word = "success", .deployed = true
    };
    int r = 0;

    rep.recalled = !is_told(o, ready);
    if (rep.recalled)
        r = release_recall_changes(o, err);
    if (r < 0)
        return r;
    rep.message = rep.recalled ? success_message(o) : value_str(value_getz(ready, "message"));
    if ((rep.recalled || mem->look || !mem->watching ||
         !kube_condition_is(o->spec.object, STR("Healthy"), "True")) &&
        o->n_heads > 0) {
        r = recall_record(o, err);
        if (r < 0)
            return r;
        check_health(m, o, mem, &rep, ret);
    }
    return release_report(m, o, &rep, err);
}

/* Failures that come from outside and pass leave the record as it is: the next look goes on with the attempt. */
static bool ends_attempt(enum errc code)
{
    return code == ERRC_TIMEOUT || code == ERRC_CONFLICT || !errc_retryable(code);
}

bool outcome_mark_failed(struct observation *o, struct release_run *run, const struct err *cause)
{
    static const char *const words[OPERATION_MAX_] = {
        [OPERATION_INSTALL] = "Release", [OPERATION_UPGRADE] = "Upgrade", [OPERATION_ROLLBACK] = "Rollback"
    };
    const char *word = words[o->decision.op];
    bool undo = o->config.atomic && o->decision.op != OPERATION_ROLLBACK;
    struct str why = release_redact(o, str_from(err_message(cause)));
    struct err *err = NULL;
    int r;

    if (!o->record || o->record->resource_version.n == 0 || !record_status_busy(record_status(o->record)) ||
        !word || !ends_attempt(err_code(cause)))
        return false;
    record_set_status(
        o->record, RECORD_FAILED,
        arena_printf(o->arena, "%s \"%.*s\" failed: %.*s", word, STR_ARG(o->spec.release), STR_ARG(why)));
    if (undo)
        record_set_annotation(o->record, RECORD_ANNOTATION_UNDO, str_sub(why, 0, MIN(why.n, CAUSE_MAX)));
    r = act_save_record(run, &err);
    if (r < 0)
        log_warn("failed attempt not recorded", LOG_ERR(err));
    err_free(err);
    return undo && r == 0;
}

/* Deletes what this attempt created, when the Config asks for it. */
void outcome_clean_up(struct observation *o, struct release_run *run)
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

int outcome_report_failure(struct release_manager *m, struct observation *o, const struct err *cause,
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

/* Helm's words for --rollback-on-failure. */
static struct str undone_message(struct observation *o, bool rolled_back)
{
    struct value ready = kube_condition_find(o->spec.object, STR("Ready"));
    struct str cause = o->record ? record_annotation(o->record, RECORD_ANNOTATION_UNDO) : STR("");

    if (cause.n == 0 && (str_eq(value_str(value_getz(ready, "reason")), STR("RolledBack")) ||
                         str_eq(value_str(value_getz(ready, "reason")), STR("InstallUndone"))))
        return value_str(value_getz(ready, "message"));
    return arena_printf(o->arena,
                        "release %.*s failed, and has been %s due to rollback-on-failure being set%s%.*s",
                        STR_ARG(o->spec.release), rolled_back ? "rolled back" : "uninstalled",
                        cause.n ? ": " : "", STR_ARG(cause));
}

int outcome_finish_undone(struct release_manager *m, struct observation *o, struct release_memory *mem,
                          struct controller_result *ret, struct err **err)
{
    bool rolled_back = o->decision.op == OPERATION_ROLLBACK || (o->decision.undone && o->n_heads > 0);
    struct release_report rep = { .ready = "False",
                                  .reason = rolled_back ? "RolledBack" : "InstallUndone",
                                  .message = undone_message(o, rolled_back),
                                  .stalled = true,
                                  .word = "updateFailed",
                                  .deployed = o->decision.op == OPERATION_ROLLBACK };

    if (o->plan.objects.n > 0)
        check_health(m, o, mem, &rep, ret);
    return release_report(m, o, &rep, err);
}
