/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs where no kube-controller-manager looks after them: completions many Pods, all at once; the first that fails
 * fails the Job (what backoffLimit allows would fail in the same way). */
#include "simulate/simulate_int.h"

static void add_labels(struct sim_call *k, struct value pod)
{
    struct value v = value_path(pod, "metadata.labels"), uid = value_from_str(kube_uid(k->object));
    struct value name = value_from_str(k->ref.name);

    value_setz(v, "batch.kubernetes.io/controller-uid", uid);
    value_setz(v, "batch.kubernetes.io/job-name", name);
    value_setz(v, "controller-uid", uid);
    value_setz(v, "job-name", name);
}

static void finish(struct sim_call *k, struct value status, bool good, struct str why)
{
    static const struct {
        const char *before, *after, *reason;
    } ends[] = {
        { "FailureTarget", "Failed", "BackoffLimitExceeded" },
        { "SuccessCriteriaMet", "Complete", "CompletionsReached" },
    };
    struct value list = value_path(k->object, "status.conditions");

    list = simulate_conditions(k, list, ends[good].before, true, ends[good].reason, why);
    list = simulate_conditions(k, list, ends[good].after, true, ends[good].reason, why);
    value_setz(status, "conditions", list);
    if (good)
        value_setz(status, "completionTime", simulate_now(k->a));
}

static bool is_over(struct value job)
{
    return kube_condition_is(job, STR("Complete"), "True") || kube_condition_is(job, STR("Failed"), "True");
}

int simulate_job(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    int64_t parallel = value_int(value_path(k->object, "spec.parallelism"), 1);
    int64_t wanted = value_int(value_path(k->object, "spec.completions"), MAX(parallel, (int64_t)1));
    struct sim_pods pods = simulate_pods_of(k);
    size_t failed = pods.in[SIM_POD_FAILED], succeeded = pods.in[SIM_POD_SUCCEEDED], n;
    struct value v = value_new_map(k->a);
    struct str *names;
    int r;

    UNUSED(ret);
    if (kube_is_deleting(k->object) || is_over(k->object) ||
        value_bool(value_path(k->object, "spec.suspend")))
        return 0;
    names = simulate_pod_names(k, wanted, &n);
    r = simulate_pods_keep(k, &pods, names, n, STR_NONE, add_labels, err);
    if (r < 0)
        return r;
    if (!value_has(value_getz(k->object, "status"), STR("startTime")))
        value_setz(v, "startTime", simulate_now(k->a));
    value_setz(v, "uncountedTerminatedPods", value_new_map(k->a));
    value_setz(v, "ready", value_from_int((int64_t)pods.in[SIM_POD_READY]));
    value_setz(v, "succeeded", value_from_int((int64_t)succeeded));
    value_setz(v, "failed", value_from_int((int64_t)failed));
    value_setz(v, "active", value_from_int((int64_t)(n - MIN(succeeded + failed, n))));
    if (failed > 0) {
        value_setz(v, "active", value_from_int(0));
        finish(k, v, false, STR("Job has reached the specified backoff limit"));
    } else if (succeeded >= n) {
        if (wanted > (int64_t)n)
            value_setz(v, "succeeded", value_from_int(wanted));
        finish(k, v, true, STR("Reached expected number of succeeded pods"));
    }
    return simulate_report(k, v, err);
}
