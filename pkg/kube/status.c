/* SPDX-License-Identifier: Apache-2.0 */
/* Readiness with the rules and messages of github.com/fluxcd/cli-utils v1.2 pkg/kstatus/status (core.go, generic.go),
 * which Helm 4 uses, and for Jobs Helm's own reader when jobs are waited for. */
#include "kube/kube_int.h"

#define SCHEDULE_WINDOW_S 15

struct judge {
    struct arena *a;
    struct value object, conditions;
    struct kube_status_options o;
    struct str message;
};

const char *kube_status_name(enum kube_status s)
{
    static const char *const names[] = {
        [KUBE_STATUS_CURRENT] = "Current",    [KUBE_STATUS_IN_PROGRESS] = "InProgress",
        [KUBE_STATUS_FAILED] = "Failed",      [KUBE_STATUS_TERMINATING] = "Terminating",
        [KUBE_STATUS_NOT_FOUND] = "NotFound", [KUBE_STATUS_UNKNOWN] = "Unknown",
    };

    return names[s];
}

static enum kube_status say(struct judge *j, enum kube_status s, const char *fmt, ...) PRINTF(3, 4);

static enum kube_status say(struct judge *j, enum kube_status s, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    j->message = arena_dup(j->a, str_from(text));
    return s;
}

static enum kube_status say_str(struct judge *j, enum kube_status s, struct str text)
{
    j->message = arena_dup(j->a, text);
    return s;
}

static int64_t num(const struct judge *j, const char *path, int64_t otherwise)
{
    return value_int(value_path(j->object, path), otherwise);
}

static struct str text(const struct judge *j, const char *path)
{
    return value_str(value_path(j->object, path));
}

static bool condition(const struct judge *j, const char *type, const char *status, struct value *ret)
{
    struct value c = kube_condition_find(j->conditions, str_from(type));

    if (!str_eq(value_str(value_getz(c, "status")), str_from(status)))
        return false;
    if (ret)
        *ret = c;
    return true;
}

static enum kube_status always_ready(struct judge *j)
{
    return say(j, KUBE_STATUS_CURRENT, "Resource is always ready");
}

/* A row of "have of want" checks, the first that is short decides. */
struct shortage {
    const char *label;
    int64_t have, want;
};

static bool too_few(struct judge *j, const struct shortage *rows, size_t n, enum kube_status *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].want > rows[i].have) {
            *ret = say(j, KUBE_STATUS_IN_PROGRESS, "%s: %lld/%lld", rows[i].label, (long long)rows[i].have,
                       (long long)rows[i].want);
            return true;
        }
    }
    return false;
}

static enum kube_status extra_pods(struct judge *j, int64_t n)
{
    return say(j, KUBE_STATUS_IN_PROGRESS, "Pending termination: %lld", (long long)n);
}

static enum kube_status statefulset_rollout(struct judge *j, int64_t want)
{
    int64_t partition = num(j, "spec.updateStrategy.rollingUpdate.partition", -1);
    int64_t updated = num(j, "status.updatedReplicas", 0);
    const struct shortage current[] = { { "current", num(j, "status.currentReplicas", 0), want } };
    enum kube_status s;

    if (partition != -1) {
        const struct shortage part[] = { { "updated", updated, want - partition } };

        if (too_few(j, part, 1, &s))
            return s;
        return say(j, KUBE_STATUS_CURRENT, "Partition rollout complete. updated: %lld", (long long)updated);
    }
    if (too_few(j, current, 1, &s))
        return s;
    if (!str_eq(text(j, "status.currentRevision"), text(j, "status.updateRevision")))
        return say(j, KUBE_STATUS_IN_PROGRESS, "Waiting for updated revision to match current");
    return say(j, KUBE_STATUS_CURRENT, "All replicas scheduled as expected. Replicas: %lld",
               (long long)num(j, "status.replicas", 0));
}

static enum kube_status statefulset(struct judge *j)
{
    int64_t want = num(j, "spec.replicas", 1), have = num(j, "status.replicas", 0);
    const struct shortage rows[] = { { "Replicas", have, want },
                                     { "Ready", num(j, "status.readyReplicas", 0), want } };
    enum kube_status s;

    if (str_eq(text(j, "spec.updateStrategy.type"), STR("OnDelete")))
        return say(j, KUBE_STATUS_CURRENT, "StatefulSet is using the ondelete update strategy");
    if (too_few(j, rows, ARRAY_SIZE(rows), &s))
        return s;
    if (have > want)
        return extra_pods(j, have - want);
    return statefulset_rollout(j, want);
}

static enum kube_status deployment_replicas(struct judge *j)
{
    int64_t want = num(j, "spec.replicas", 1), have = num(j, "status.replicas", 0);
    int64_t updated = num(j, "status.updatedReplicas", 0);
    const struct shortage first[] = { { "Replicas", have, want }, { "Updated", updated, want } };
    const struct shortage then[] = { { "Available", num(j, "status.availableReplicas", 0), updated },
                                     { "Ready", num(j, "status.readyReplicas", 0), want } };
    enum kube_status s;

    if (too_few(j, first, ARRAY_SIZE(first), &s))
        return s;
    if (have > want)
        return extra_pods(j, have - want);
    return too_few(j, then, ARRAY_SIZE(then), &s) ? s : KUBE_STATUS_CURRENT;
}

static enum kube_status deployment(struct judge *j)
{
    /* Without a deadline the controller sets no Progressing condition. */
    bool progressing = num(j, "spec.progressDeadlineSeconds", INT32_MAX) == INT32_MAX;
    struct value c = kube_condition_find(j->conditions, STR("Progressing"));
    struct str reason = value_str(value_getz(c, "reason"));
    enum kube_status s;

    if (str_eq(reason, STR("ProgressDeadlineExceeded")))
        return say(j, KUBE_STATUS_FAILED, "Progress deadline exceeded");
    if (condition(j, "Progressing", "True", NULL) && str_eq(reason, STR("NewReplicaSetAvailable")))
        progressing = true;
    s = deployment_replicas(j);
    if (s != KUBE_STATUS_CURRENT)
        return s;
    if (!progressing)
        return say(j, KUBE_STATUS_IN_PROGRESS, "ReplicaSet not Available");
    if (!condition(j, "Available", "True", NULL))
        return say(j, KUBE_STATUS_IN_PROGRESS, "Deployment not Available");
    return say(j, KUBE_STATUS_CURRENT, "Deployment is available. Replicas: %lld",
               (long long)num(j, "status.replicas", 0));
}

static enum kube_status replicaset(struct judge *j)
{
    int64_t want = num(j, "spec.replicas", 1), have = num(j, "status.replicas", 0);
    const struct shortage rows[] = { { "Labelled", num(j, "status.fullyLabeledReplicas", 0), want },
                                     { "Available", num(j, "status.availableReplicas", 0), want },
                                     { "Ready", num(j, "status.readyReplicas", 0), want } };
    enum kube_status s;

    if (condition(j, "ReplicaFailure", "True", NULL))
        return say(j, KUBE_STATUS_IN_PROGRESS, "Replica Failure condition. Check Pods");
    if (too_few(j, rows, ARRAY_SIZE(rows), &s))
        return s;
    if (have > want)
        return extra_pods(j, have - want);
    return say(j, KUBE_STATUS_CURRENT, "ReplicaSet is available. Replicas: %lld", (long long)have);
}

static enum kube_status daemonset(struct judge *j)
{
    int64_t want = num(j, "status.desiredNumberScheduled", -1);
    const struct shortage rows[] = { { "Current", num(j, "status.currentNumberScheduled", 0), want },
                                     { "Updated", num(j, "status.updatedNumberScheduled", 0), want },
                                     { "Available", num(j, "status.numberAvailable", 0), want },
                                     { "Ready", num(j, "status.numberReady", 0), want } };
    enum kube_status s;

    if (value_is_null(value_path(j->object, "metadata.generation")))
        return say(j, KUBE_STATUS_IN_PROGRESS, "DaemonSet metadata.generation not found");
    if (value_is_null(value_path(j->object, "status.observedGeneration")))
        return say(j, KUBE_STATUS_IN_PROGRESS, "DaemonSet status.observedGeneration not found");
    if (want == -1)
        return say(j, KUBE_STATUS_IN_PROGRESS, "Missing .status.desiredNumberScheduled");
    if (too_few(j, rows, ARRAY_SIZE(rows), &s))
        return s;
    return say(j, KUBE_STATUS_CURRENT, "All replicas scheduled as expected. Replicas: %lld", (long long)want);
}

static enum kube_status claim(struct judge *j)
{
    struct value phase = value_path(j->object, "status.phase");

    if (str_eq(value_str(phase), STR("Bound")))
        return say(j, KUBE_STATUS_CURRENT, "PVC is Bound");
    return say(j, KUBE_STATUS_IN_PROGRESS, "PVC is not Bound. phase: " STR_FMT,
               STR_ARG(value_is_string(phase) ? value_str(phase) : STR("unknown")));
}

static bool crash_looping(struct judge *j, struct buf *names)
{
    struct value_iter it = value_iter(value_path(j->object, "status.containerStatuses"));

    while (value_next(&it)) {
        if (!str_eq(value_str(value_path(it.v, "state.waiting.reason")), STR("CrashLoopBackOff")))
            continue;
        if (names->n > 0)
            buf_addc(names, ',');
        buf_addstr(names, value_str(value_getz(it.v, "name")));
    }
    return names->n > 0;
}

static enum kube_status pod_running(struct judge *j)
{
    CLEANUP(buf_done) struct buf names = BUF_INIT(64 * KIB);

    if (condition(j, "Ready", "True", NULL))
        return say(j, KUBE_STATUS_CURRENT, "Pod is Ready");
    if (crash_looping(j, &names))
        return say(j, KUBE_STATUS_FAILED, "Containers in CrashLoop state: %s", buf_z(&names));
    return say(j, KUBE_STATUS_IN_PROGRESS, "Pod is running but is not Ready");
}

static enum kube_status pod_pending(struct judge *j)
{
    struct wall_time created = { 0 }, now = j->o.now.s ? j->o.now : clock_wall();
    struct value c;

    if (!condition(j, "PodScheduled", "False", &c) ||
        !str_eq(value_str(value_getz(c, "reason")), STR("Unschedulable")))
        return say(j, KUBE_STATUS_IN_PROGRESS, "Pod is in the Pending phase");
    if (clock_parse_rfc3339(text(j, "metadata.creationTimestamp"), &created) &&
        now.s - SCHEDULE_WINDOW_S < created.s)
        return say(j, KUBE_STATUS_IN_PROGRESS, "Pod has not been scheduled");
    return say(j, KUBE_STATUS_FAILED, "Pod could not be scheduled");
}

static enum kube_status pod(struct judge *j)
{
    struct str phase = text(j, "status.phase");

    if (str_eq(phase, STR("Succeeded")))
        return say(j, KUBE_STATUS_CURRENT, "Pod has completed successfully");
    if (str_eq(phase, STR("Failed")))
        return say(j, KUBE_STATUS_CURRENT, "Pod has completed, but not successfully");
    if (str_eq(phase, STR("Running")))
        return pod_running(j);
    if (str_eq(phase, STR("Pending")))
        return pod_pending(j);
    if (phase.n == 0)
        return say(j, KUBE_STATUS_IN_PROGRESS, "Pod phase not available");
    return say(j, KUBE_STATUS_UNKNOWN, "unknown phase " STR_FMT, STR_ARG(phase));
}

static enum kube_status disruption_budget(struct judge *j)
{
    return say(j, KUBE_STATUS_CURRENT, "AllowedDisruptions has been computed.");
}

static enum kube_status job(struct judge *j)
{
    long long succeeded = num(j, "status.succeeded", 0), failed = num(j, "status.failed", 0);
    long long active = num(j, "status.active", 0);
    long long completions = num(j, "spec.completions", num(j, "spec.parallelism", 1));

    if (condition(j, "Complete", "True", NULL))
        return say(j, KUBE_STATUS_CURRENT, "Job Completed. succeeded: %lld/%lld", succeeded, completions);
    if (condition(j, "Failed", "True", NULL))
        return say(j, KUBE_STATUS_FAILED, "Job Failed. failed: %lld/%lld", failed, completions);
    if (j->o.wait_for_jobs)
        return say(j, KUBE_STATUS_IN_PROGRESS, "Job in progress");
    if (text(j, "status.startTime").n == 0)
        return say(j, KUBE_STATUS_IN_PROGRESS, "Job not started");
    return say(j, KUBE_STATUS_CURRENT, "Job in progress. success:%lld, active: %lld, failed: %lld", succeeded,
               active, failed);
}

static enum kube_status service(struct judge *j)
{
    if (str_eq(text(j, "spec.type"), STR("LoadBalancer")) && text(j, "spec.clusterIP").n == 0)
        return say(j, KUBE_STATUS_IN_PROGRESS, "ClusterIP not set. Service type: LoadBalancer");
    return say(j, KUBE_STATUS_CURRENT, "Service is ready");
}

static enum kube_status crd(struct judge *j)
{
    struct value_iter it = value_iter(j->conditions);

    while (value_next(&it)) {
        struct str type = value_str(value_getz(it.v, "type")), status = value_str(value_getz(it.v, "status"));
        bool no = str_eq(status, STR("False")), established = str_eq(type, STR("Established"));
        bool installing = str_eq(value_str(value_getz(it.v, "reason")), STR("Installing"));

        if (no && (str_eq(type, STR("NamesAccepted")) || (established && !installing)))
            return say_str(j, KUBE_STATUS_FAILED, value_str(value_getz(it.v, "message")));
        if (established && str_eq(status, STR("True")))
            return say(j, KUBE_STATUS_CURRENT, "CRD is established");
    }
    return say(j, KUBE_STATUS_IN_PROGRESS, "Install in progress");
}

static const struct {
    const char *group, *kind;
    enum kube_status (*judge)(struct judge *j);
} kinds[] = {
    { "", "Service", service },
    { "", "Pod", pod },
    { "", "Secret", always_ready },
    { "", "PersistentVolumeClaim", claim },
    { "", "ConfigMap", always_ready },
    { "apps", "StatefulSet", statefulset },
    { "apps", "DaemonSet", daemonset },
    { "extensions", "DaemonSet", daemonset },
    { "apps", "Deployment", deployment },
    { "extensions", "Deployment", deployment },
    { "apps", "ReplicaSet", replicaset },
    { "extensions", "ReplicaSet", replicaset },
    { "policy", "PodDisruptionBudget", disruption_budget },
    { "batch", "CronJob", always_ready },
    { "batch", "Job", job },
    { "apiextensions.k8s.io", "CustomResourceDefinition", crd },
};

/* What decides for every kind; false: nothing does. */
static bool generic(struct judge *j, enum kube_status *ret)
{
    struct value generation = value_path(j->object, "metadata.generation");
    struct value observed = value_path(j->object, "status.observedGeneration");
    struct value_iter it = value_iter(j->conditions);

    if (kube_is_deleting(j->object)) {
        *ret = say(j, KUBE_STATUS_TERMINATING, "Resource scheduled for deletion");
        return true;
    }
    if (!value_is_null(generation) && !value_is_null(observed) && !value_equal(generation, observed)) {
        *ret = say(j, KUBE_STATUS_IN_PROGRESS,
                   STR_FMT " generation is %lld, but latest observed generation is %lld",
                   STR_ARG(kube_ref_of(j->object).kind), (long long)value_int(generation, 0),
                   (long long)value_int(observed, 0));
        return true;
    }
    while (value_next(&it)) {
        struct str type = value_str(value_getz(it.v, "type"));
        bool stalled = str_eq(type, STR("Stalled"));

        if (!str_eq(value_str(value_getz(it.v, "status")), STR("True")) ||
            (!stalled && !str_eq(type, STR("Reconciling"))))
            continue;
        *ret = say_str(j, stalled ? KUBE_STATUS_FAILED : KUBE_STATUS_IN_PROGRESS,
                       value_str(value_getz(it.v, "message")));
        return true;
    }
    return false;
}

static enum kube_status by_ready_condition(struct judge *j)
{
    struct value c = kube_condition_find(j->conditions, STR("Ready"));
    struct str status = value_str(value_getz(c, "status"));

    if (str_eq(status, STR("True")))
        return say(j, KUBE_STATUS_CURRENT, "Resource is Ready");
    if (str_eq(status, STR("False")) || str_eq(status, STR("Unknown")))
        return say_str(j, KUBE_STATUS_IN_PROGRESS, value_str(value_getz(c, "message")));
    return say(j, KUBE_STATUS_CURRENT, "Resource is current");
}

static enum kube_status judge_kind(struct judge *j)
{
    struct kube_ref ref = kube_ref_of(j->object);
    size_t slash = str_find_char(ref.api_version, '/');
    struct str group = slash == STR_NPOS ? STR("") : str_sub(ref.api_version, 0, slash);

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (str_eq(ref.kind, str_from(kinds[i].kind)) && str_eq(group, str_from(kinds[i].group)))
            return kinds[i].judge(j);
    }
    return by_ready_condition(j);
}

enum kube_status kube_status(struct arena *a, struct value object, const struct kube_status_options *o,
                             struct str *ret_message)
{
    struct judge j = { .a = a, .object = object, .message = STR("") };
    enum kube_status s;

    if (o)
        j.o = *o;
    j.conditions = value_path(object, "status.conditions");
    if (!value_is_list(j.conditions))
        j.conditions = VALUE_NONE;
    if (value_is_null(object))
        s = say(&j, KUBE_STATUS_NOT_FOUND, "Resource not found");
    else if (!value_is_map(object))
        s = say(&j, KUBE_STATUS_UNKNOWN, "not an object");
    else if (!generic(&j, &s))
        s = judge_kind(&j);
    if (ret_message)
        *ret_message = j.message;
    return s;
}
