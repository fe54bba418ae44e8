/* SPDX-License-Identifier: Apache-2.0 */
/* The status and the event at the end of a reconcile. */
#include "controller/controller.h"

struct controller_report controller_failure(struct value object, const char *reason, const struct err *cause)
{
    bool retry = errc_retryable(err_code(cause));

    return (struct controller_report){ .object = object,
                                       .ready = "False",
                                       .reason = reason,
                                       .message = str_from(err_message(cause)),
                                       .reconciling = retry,
                                       .stalled = !retry };
}

static struct value set_condition(struct arena *a, const struct controller_report *rep, struct value list,
                                  const char *type, const char *status, const char *reason)
{
    struct kube_condition c = { .type = str_from(type),
                                .status = status,
                                .reason = str_from(reason),
                                .message = rep->message,
                                .observed_generation = kube_generation(rep->object) };

    return kube_condition_set(a, list, &c, NULL);
}

/* kstatus wants a condition that is only there when something is not as usual. */
static struct value set_abnormal(struct arena *a, const struct controller_report *rep, struct value list,
                                 const char *type, bool there)
{
    return there ? set_condition(a, rep, list, type, "True", rep->reason)
                 : kube_condition_unset(a, list, str_from(type), NULL);
}

static struct value conditions(struct arena *a, const struct controller_report *rep, struct value list)
{
    struct kube_condition health = rep->health, other = rep->other;

    list = set_condition(a, rep, list, "Ready", rep->ready, rep->reason);
    list = set_abnormal(a, rep, list, "Reconciling", rep->reconciling);
    list = set_abnormal(a, rep, list, "Stalled", rep->stalled);
    health.type = STR("Healthy");
    health.observed_generation = other.observed_generation = kube_generation(rep->object);
    if (health.status)
        list = kube_condition_set(a, list, &health, NULL);
    if (other.status)
        list = kube_condition_set(a, list, &other, NULL);
    else if (other.type.n > 0)
        list = kube_condition_unset(a, list, other.type, NULL);
    return set_condition(a, rep, list, "synced", rep->ready, rep->synced ? rep->synced : rep->reason);
}

static struct value new_status(struct arena *a, const struct controller_report *rep, struct value old)
{
    struct value status = value_is_map(old) ? value_copy_maps(a, old) : value_new_map(a);
    struct str handled = kube_annotation(rep->object, STR(CONTROLLER_RECONCILE_AT));

    for (struct value_iter it = value_iter(rep->fields); value_next(&it);) {
        if (value_is_null(it.v))
            value_unset(status, it.key);
        else
            value_set(status, it.key, it.v);
    }
    value_setz(status, "observedGeneration", value_from_int(kube_generation(rep->object)));
    value_setz(status, "conditions", conditions(a, rep, value_getz(old, "conditions")));
    if (handled.n > 0)
        value_setz(status, "lastHandledReconcileAt", value_from_str(handled));
    return status;
}

static bool differs(struct value before, struct str reason, struct str message)
{
    return !str_eq(value_str(value_getz(before, "reason")), reason) ||
           !str_eq(value_str(value_getz(before, "message")), message);
}

static void tell(struct kube_recorder *recorder, const struct controller_report *rep, const char *status,
                 const char *reason, struct str message)
{
    bool bad = str_eq(str_from(status), STR("False"));

    kube_event(recorder, rep->object, bad ? KUBE_EVENT_WARNING : KUBE_EVENT_NORMAL, reason, "%.*s",
               STR_ARG(message));
}

/* Progress is not told. */
static void tell_news(struct kube_recorder *recorder, struct arena *a, const struct controller_report *rep)
{
    const struct kube_condition *other = &rep->other;
    bool progress = rep->reconciling && str_eq(str_from(rep->ready), STR("Unknown"));

    if (!progress &&
        differs(kube_condition_find(rep->object, STR("Ready")), str_from(rep->reason), rep->message))
        tell(recorder, rep, rep->ready, rep->reason, rep->message);
    if (rep->tell_other && other->status && !str_eq(str_from(other->status), STR("Unknown")) &&
        differs(kube_condition_find(rep->object, other->type), other->reason, other->message))
        tell(recorder, rep, other->status, arena_dupz(a, other->reason), other->message);
}

static int write_report(struct kube *k, struct kube_recorder *recorder, struct arena *a,
                        const struct controller_report *rep, struct err **err)
{
    struct kube_ref ref = kube_ref_of(rep->object);
    struct value old = value_getz(rep->object, "status"), status = new_status(a, rep, old);
    struct value patch = value_new_map(a);
    int r;

    if (value_equal(old, status))
        return 0;
    for (struct value_iter it = value_iter(rep->fields); value_next(&it);)
        if (value_is_null(it.v))
            value_set(status, it.key, it.v); /* in a merge patch it takes the member away */
    value_setz(patch, "status", status);
    r = kube_patch_status(k, a, &ref, patch, NULL, err);
    if (r == -ERRC_NOT_FOUND) {
        err_clear(err);
        return 0;
    }
    if (r < 0)
        return err_wrap(err, r, "status");
    tell_news(recorder, a, rep);
    return 0;
}

int controller_report(struct kube *k, struct kube_recorder *recorder, struct arena *a,
                      const struct controller_report *rep, struct err *cause, struct err **err)
{
    enum errc code = err_code(cause);
    int r = write_report(k, recorder, a, rep, cause ? NULL : err);

    if (!cause)
        return r;
    if (err)
        *err = cause;
    else
        err_free(cause);
    return -(int)code;
}
