/* SPDX-License-Identifier: Apache-2.0 */
/* A Pod as its kubelet would report it. Nothing sets spec.nodeName: on a server with kube-controller-manager Pods of
 * nodes that do not exist are collected. */
#include "base/digest.h"
#include "simulate/simulate_int.h"

#define CRASH_PAUSE_MS 5000

enum fate {
    RUNS,    /* for ever */
    ENDS,    /* well */
    CRASHES, /* again and again */
    FAILS,   /* once */
};

static enum fate fate_of(struct value pod, struct str failure)
{
    struct str policy = value_str(value_path(pod, "spec.restartPolicy"));
    bool runs = policy.n == 0 || str_eq(policy, STR("Always"));

    if (failure.n > 0)
        return runs ? CRASHES : FAILS;
    return runs ? RUNS : ENDS;
}

/* One member "state": {kind: {key: value, …}}. */
static struct value state(struct arena *a, const char *kind, struct value content)
{
    struct value v = value_new_map(a);

    value_set(v, str_from(kind), content);
    return v;
}

static struct value terminated(struct sim_call *k, int exit_code, const char *reason, struct str message)
{
    struct value t = value_new_map(k->a), now = simulate_now(k->a);

    value_setz(t, "exitCode", value_from_int(exit_code));
    value_setz(t, "reason", value_from_str(str_from(reason)));
    if (message.n > 0)
        value_setz(t, "message", value_from_str(message));
    value_setz(t, "startedAt", now);
    value_setz(t, "finishedAt", now);
    return state(k->a, "terminated", t);
}

static struct value container_state(struct sim_call *k, enum fate fate, struct str failure)
{
    struct value v = value_new_map(k->a);

    switch (fate) {
    case RUNS:
        value_setz(v, "startedAt", simulate_now(k->a));
        return state(k->a, "running", v);
    case ENDS:
        return terminated(k, 0, "Completed", STR_NONE);
    case FAILS:
        return terminated(k, 1, "Error", failure);
    case CRASHES:
        break;
    }
    value_setz(v, "reason", VALUE_STR("CrashLoopBackOff"));
    value_setz(v, "message", value_from_str(failure));
    return state(k->a, "waiting", v);
}

static struct value container_status(struct sim_call *k, struct value container, enum fate fate,
                                     struct str failure)
{
    struct value v = value_new_map(k->a);
    struct str name = value_str(value_getz(container, "name")),
               image = value_str(value_getz(container, "image"));

    value_setz(v, "name", value_from_str(name));
    value_setz(v, "image", value_from_str(image));
    value_setz(v, "imageID", value_from_str(arena_printf(k->a, "simulated://" STR_FMT, STR_ARG(image))));
    value_setz(v, "containerID",
               value_from_str(arena_printf(k->a, "simulated://" STR_FMT "/" STR_FMT,
                                           STR_ARG(kube_uid(k->object)), STR_ARG(name))));
    value_setz(v, "ready", value_from_bool(fate == RUNS));
    value_setz(v, "started", value_from_bool(fate == RUNS));
    value_setz(v, "restartCount", value_from_int(fate == CRASHES ? 5 : 0));
    value_setz(v, "state", container_state(k, fate, failure));
    return v;
}

static struct value container_statuses(struct sim_call *k, const char *member, enum fate fate,
                                       struct str failure)
{
    struct value_list list = VALUE_LIST_INIT(k->a);
    struct value_iter it = value_iter(value_get(value_getz(k->object, "spec"), str_from(member)));
    bool init = member[0] == 'i';

    while (value_next(&it)) {
        bool sidecar = init && str_eq(value_str(value_getz(it.v, "restartPolicy")), STR("Always"));

        value_list_add(&list, container_status(k, it.v, init && !sidecar ? ENDS : fate, failure));
    }
    return value_list_done(&list);
}

static struct value pod_conditions(struct sim_call *k, enum fate fate, struct str failure)
{
    struct value list = value_path(k->object, "status.conditions");
    const char *reason = fate == ENDS ? "PodCompleted" : fate == RUNS ? "" : "ContainersNotReady";
    bool ready = fate == RUNS;

    list = simulate_conditions(k, list, "PodScheduled", true, "", STR_NONE);
    list = simulate_conditions(k, list, "Initialized", true, fate == ENDS ? reason : "", STR_NONE);
    list = simulate_conditions(k, list, "ContainersReady", ready, reason, failure);
    return simulate_conditions(k, list, "Ready", ready, reason, failure);
}

/* An address of the carrier-grade NAT range that follows from the uid. */
static struct str address(struct sim_call *k)
{
    unsigned char d[DIGEST_BYTES_MAX];

    digest_raw(DIGEST_SHA256, kube_uid(k->object), d);
    return arena_printf(k->a, "100.%d.%d.%d", 64 + d[0] % 64, d[1], 1 + d[2] % 254);
}

static struct value pod_status(struct sim_call *k, enum fate fate, struct str failure)
{
    static const char *const phases[] = {
        [RUNS] = "Running", [ENDS] = "Succeeded", [CRASHES] = "Running", [FAILS] = "Failed"
    };
    struct value v = value_new_map(k->a), ip = value_new_map(k->a);
    struct value_list ips = VALUE_LIST_INIT(k->a);

    value_setz(v, "phase", value_from_str(str_from(phases[fate])));
    value_setz(v, "conditions", pod_conditions(k, fate, failure));
    value_setz(v, "containerStatuses", container_statuses(k, "containers", fate, failure));
    if (value_len(value_path(k->object, "spec.initContainers")) > 0)
        value_setz(v, "initContainerStatuses", container_statuses(k, "initContainers", fate, failure));
    if (!value_has(value_getz(k->object, "status"), STR("startTime")))
        value_setz(v, "startTime", simulate_now(k->a));
    if (!value_has(value_getz(k->object, "status"), STR("podIP"))) {
        value_setz(ip, "ip", value_from_str(address(k)));
        value_list_add(&ips, ip);
        value_setz(v, "podIP", value_getz(ip, "ip"));
        value_setz(v, "podIPs", value_list_done(&ips));
    }
    return v;
}

static bool is_over(struct value pod)
{
    struct str phase = value_str(value_path(pod, "status.phase"));

    return str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed"));
}

/* Is the Pod as it is to be? Then nothing is written: container states hold times. */
static bool is_settled(struct value pod, enum fate fate)
{
    struct str phase = value_str(value_path(pod, "status.phase"));
    bool ready = kube_condition_is(pod, STR("Ready"), "True");
    bool crashes = kube_condition_is(pod, STR("Ready"), "False") && str_eq(phase, STR("Running"));

    return (fate == RUNS && ready) || (fate == CRASHES && crashes);
}

/* As a kubelet whose containers have ended. */
static int finish_deletion(struct sim_call *k, struct err **err)
{
    struct kube_request rq = {
        .verb = KUBE_DELETE, .ref = k->ref, .has_grace = true, .uid = kube_uid(k->object)
    };

    if (value_len(value_path(k->object, "metadata.finalizers")) > 0)
        return 0;
    return simulate_do(k, rq, ERRC_NOT_FOUND, err);
}

/* The workload whose annotations count: a ReplicaSet only copies those of its Deployment, and keeps what was removed. */
static int find_owner(struct sim_call *k, struct value *ret, struct err **err)
{
    struct value of = simulate_controller_of(k->object), found = VALUE_NONE;

    for (int depth = 0; depth < 2 && !value_is_null(of); depth++) {
        struct kube_ref ref = { value_str(value_getz(of, "apiVersion")), value_str(value_getz(of, "kind")),
                                k->ref.ns, value_str(value_getz(of, "name")) };
        int r = simulate_get(k, &ref, &found, err);

        if (r < 0)
            return r;
        if (r > 0)
            *ret = found;
        of = r > 0 && str_eq(ref.kind, STR(WATCH_REPLICASETS)) ? simulate_controller_of(found) : VALUE_NONE;
    }
    return 0;
}

int simulate_pod(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    struct value owner = VALUE_NONE;
    struct str failure;
    enum fate fate;
    int r;

    if (kube_is_deleting(k->object))
        return finish_deletion(k, err);
    if (is_over(k->object))
        return 0;
    r = find_owner(k, &owner, err);
    if (r < 0)
        return r;
    failure = simulate_failure(k->object, owner);
    fate = fate_of(k->object, failure);
    if (!is_settled(k->object, fate)) {
        ret->requeue_after_ms = simulate_due_ms(k, owner);
        if (ret->requeue_after_ms > 0)
            return 0;
        r = simulate_report(k, pod_status(k, fate, failure), err);
    }
    if (fate == CRASHES) /* the annotation may go: the next start is good then */
        ret->requeue_after_ms = CRASH_PAUSE_MS;
    return r;
}
