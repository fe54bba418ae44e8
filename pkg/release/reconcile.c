/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/limits.h"
#include "release/manager.h"
#include "release/outcome.h"
#include "release/report.h"
#include "release/wake.h"

#define LOG_MODULE "release"
#include "base/log.h"

#define RECHECK_MS ((int64_t)10 * 60 * 1000) /* what inputs alone can cure is tried again after so long */
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

/* ---- running ----------------------------------------------------------------------------------------------------- */

struct release_run release_make_run(struct observation *o, struct release_memory *mem)
{
    int64_t timeout_ms = o->spec.timeout_ms ? o->spec.timeout_ms : o->config.timeout_ms;
    struct release_progress *p = &mem->progress;

    if (p->revision != o->decision.revision || p->op != o->decision.op ||
        !str_eq(str_from(p->inputs), str_from(o->inputs)) || o->decision.retry) {
        bool crds = p->done_bits & 1U << STEP_CRDS && str_eq(str_from(p->inputs), str_from(o->inputs));

        *p = (struct release_progress){ .revision = o->decision.revision,
                                        .op = o->decision.op,
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
        .timeout_ms = timeout_ms ? timeout_ms : RELEASE_TIMEOUT_DEFAULT_MS,
        .before = &o->before,
        .waiting_for = STR("the API server"),
    };
}

/* ---- one look ------------------------------------------------------------------------------------------------------ */

/* Before anything is undone the status says so: once the records are gone, nothing else would keep the same inputs from being
 * tried again. */
static int announce_undo(struct release_manager *m, struct observation *o, struct err **err)
{
    struct str told = value_str(value_path(o->spec.object, "status.undoneInputs"));

    if (!o->decision.undo || str_eq(told, str_from(o->inputs)))
        return 0;
    return outcome_report_waiting(m, o, STR("the failed attempt is undone"), err);
}

static int run_plan(struct release_manager *m, struct observation *o, struct release_run *run,
                    struct controller_result *ret, bool *again, struct err **err)
{
    struct plan plan = plan_make(o->arena, &o->plan);
    struct err *cause = NULL;
    int64_t wait_ms = 0;
    bool undo;
    int r;

    log_info("operation", LOG_Z("operation", operation_name(o->decision.op)),
             LOG_INT("revision", o->decision.revision), LOG_Z("because", o->decision.because),
             LOG_INT("steps", plan.n));
    o->stage = RELEASE_STAGE_ACT;
    r = act_run(run, &plan, &wait_ms, &cause);
    if (r == ACT_WAIT) {
        ret->requeue_after_ms = wait_ms;
        return outcome_report_waiting(m, o, run->waiting_for, err);
    }
    if (r == ACT_DONE)
        return ACT_DONE;
    undo = outcome_mark_failed(o, run, cause);
    outcome_clean_up(o, run);
    if (undo) {
        IGNORE_ERROR(outcome_report_failure(m, o, cause, NULL));
        err_free(cause);
        *again = true;
        return 0;
    }
    *err = cause;
    return r;
}

static int act(struct release_manager *m, struct observation *o, struct release_memory *mem,
               struct controller_result *ret, bool *again, struct err **err)
{
    struct release_run run = release_make_run(o, mem);
    int r = announce_undo(m, o, err);

    if (r == 0)
        r = run_plan(m, o, &run, ret, again, err);
    if (r != ACT_DONE)
        return r;
    if (o->decision.undo)
        return outcome_finish_undone(m, o, mem, ret, err);
    *again = o->plan.crds.n > 0 || (o->decision.op == OPERATION_UNINSTALL && !o->spec.deleting);
    if (*again)
        return 0;
    if (o->decision.op == OPERATION_UNINSTALL)
        return set_finalizer(m, o->arena, o->spec.object, false, err);
    return outcome_finish_deployed(m, o, mem, ret, err);
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
        if (o->spec.suspend)
            return release_report(m, o, &suspended, err);
        return o->decision.undone ? outcome_finish_undone(m, o, mem, ret, err)
                                  : outcome_finish_unchanged(m, o, mem, ret, err);
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
        if (round > 0) { /* its status is another one now */
            r = read_release(m, call, &object, &cause);
            if (r <= 0)
                break;
        }
        o.spec.object = object;
        r = release_observe(m, call->arena, object, &o, &cause);
        if (r == 0)
            r = look(m, &o, mem, ret, &again, &cause);
        if (r < 0)
            IGNORE_ERROR(outcome_report_failure(m, &o, cause, NULL));
    }
    if (r < 0)
        *err = TAKE(cause);
    return r;
}

/* What nobody watches is noticed within this time. */
static int64_t interval_ms(struct value object)
{
    int64_t ms = 0;

    if (!release_timeout_parse(value_path(object, "spec.interval"), &ms) || ms == 0)
        return RELEASE_INTERVAL_DEFAULT_MS;
    return MAX(ms, (int64_t)RELEASE_INTERVAL_MIN_MS);
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
    mem->look = atomic_exchange(&mem->disturbed, false);
    if (known && !mem->look && is_settled(mem, print, &again_ms)) {
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
    wake_on_records(m->wake, call->arena);
    wake_on_values(m->wake, call->arena, call->key.ns, value_path(object, "spec.valuesFrom"));
    r = reconcile_object(m, call, object, mem, ret, err);
    if (r < 0) {
        ret->requeue_after_ms = retry_after(call, *err);
        mem->retry_at_ms = clock_mono_ms() + ret->requeue_after_ms;
        memcpy(mem->failed_inputs, print, sizeof(print));
    } else if (ret->requeue_after_ms == 0) {
        memcpy(mem->settled, print, sizeof(print));
        ret->requeue_after_ms = interval_ms(object);
        mem->settled_until_ms = clock_mono_ms() + ret->requeue_after_ms;
    }
    return r;
}
