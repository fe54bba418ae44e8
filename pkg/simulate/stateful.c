/* SPDX-License-Identifier: Apache-2.0 */
/* StatefulSets and DaemonSets where no kube-controller-manager looks after them. A DaemonSet behaves as on one node. */
#include "simulate/simulate_int.h"

static struct str revision_of(struct sim_call *k)
{
    return arena_printf(k->a, STR_FMT "-" STR_FMT, STR_ARG(k->ref.name),
                        STR_ARG(simulate_hash(k->a, value_path(k->object, "spec.template"))));
}

/* ---- StatefulSet -------------------------------------------------------------------------------------------------- */

/* Each claim template becomes a volume of the same name. */
static struct value volumes_of(struct sim_call *k, struct value spec, struct str pod_name)
{
    struct value_iter old = value_iter(value_getz(spec, "volumes"));
    struct value_iter templates = value_iter(value_path(k->object, "spec.volumeClaimTemplates"));
    struct value_list list = VALUE_LIST_INIT(k->a);

    while (value_next(&old))
        value_list_add(&list, old.v);
    while (value_next(&templates)) {
        struct str name = value_str(value_path(templates.v, "metadata.name"));
        struct value v = value_new_map(k->a);

        value_setz(v, "name", value_from_str(name));
        value_set_path(
            v, "persistentVolumeClaim.claimName",
            value_from_str(arena_printf(k->a, STR_FMT "-" STR_FMT, STR_ARG(name), STR_ARG(pod_name))));
        value_list_add(&list, v);
    }
    return value_list_done(&list);
}

static void adjust_stateful(struct sim_call *k, struct value pod)
{
    struct value labels = value_path(pod, "metadata.labels"), spec = value_getz(pod, "spec");
    struct str name = kube_name(pod);

    value_setz(labels, "statefulset.kubernetes.io/pod-name", value_from_str(name));
    value_setz(labels, "apps.kubernetes.io/pod-index",
               value_from_str(str_sub(name, k->ref.name.n + 1, name.n)));
    value_setz(labels, "controller-revision-hash", value_from_str(revision_of(k)));
    value_setz(spec, "volumes", volumes_of(k, spec, name));
    value_setz(spec, "hostname", value_from_str(name));
    value_setz(spec, "subdomain", value_path(k->object, "spec.serviceName"));
}

static struct str *stateful_names(struct sim_call *k, int64_t replicas, size_t *ret_n)
{
    int64_t start = value_int(value_path(k->object, "spec.ordinals.start"), 0);
    size_t n = (size_t)MIN(MAX(replicas, (int64_t)0), (int64_t)SIMULATE_PODS_MAX);
    struct str *names = ARENA_ARRAY(k->a, struct str, n + 1);

    for (size_t i = 0; i < n; i++)
        names[i] = arena_printf(k->a, STR_FMT "-%lld", STR_ARG(k->ref.name), (long long)(start + (int64_t)i));
    *ret_n = n;
    return names;
}

/* "data-web-0" for each claim template: never deleted by anybody, as the real ones. */
static int make_claims(struct sim_call *k, struct str pod_name, struct err **err)
{
    struct value_iter it = value_iter(value_path(k->object, "spec.volumeClaimTemplates"));

    while (value_next(&it)) {
        struct str template = value_str(value_path(it.v, "metadata.name"));
        struct value claim = value_new_map(k->a), labels = value_path(k->object, "spec.selector.matchLabels");
        int r;

        value_setz(claim, "apiVersion", VALUE_STR("v1"));
        value_setz(claim, "kind", VALUE_STR("PersistentVolumeClaim"));
        value_set_path(
            claim, "metadata.name",
            value_from_str(arena_printf(k->a, STR_FMT "-" STR_FMT, STR_ARG(template), STR_ARG(pod_name))));
        value_set_path(claim, "metadata.namespace", value_from_str(k->ref.ns));
        value_set_path(claim, "metadata.labels",
                       value_merge_patch(k->a, value_path(it.v, "metadata.labels"), labels));
        value_setz(claim, "spec", value_getz(it.v, "spec"));
        r = simulate_create(k, claim, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool exists(const struct sim_pods *pods, struct str name)
{
    for (size_t i = 0; i < pods->n; i++)
        if (str_eq(pods->v[i].name, name))
            return true;
    return false;
}

int simulate_statefulset(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    int64_t wanted = value_int(value_path(k->object, "spec.replicas"), 1), made, ready;
    struct str revision = revision_of(k), *names;
    struct sim_pods pods = simulate_pods_of(k);
    struct value v = value_new_map(k->a);
    size_t n;
    int r = 0;

    UNUSED(ret);
    if (kube_is_deleting(k->object))
        return 0;
    names = stateful_names(k, wanted, &n);
    for (size_t i = 0; i < n && r >= 0; i++)
        if (!exists(&pods, names[i]))
            r = make_claims(k, names[i], err);
    if (r >= 0)
        r = simulate_pods_keep(k, &pods, names, n, revision, adjust_stateful, err);
    if (r < 0)
        return r;
    made = (int64_t)(pods.n - pods.in[SIM_POD_GOING]);
    ready = (int64_t)pods.in[SIM_POD_READY];
    if (wanted > (int64_t)n && ready == (int64_t)n)
        made = ready = wanted;
    value_setz(v, "replicas", value_from_int(made));
    value_setz(v, "readyReplicas", value_from_int(ready));
    value_setz(v, "availableReplicas", value_from_int(ready));
    value_setz(v, "currentReplicas", value_from_int(made));
    value_setz(v, "updatedReplicas", value_from_int(made));
    value_setz(v, "currentRevision", value_from_str(revision));
    value_setz(v, "updateRevision", value_from_str(revision));
    value_setz(v, "collisionCount", value_from_int(0));
    value_setz(v, "observedGeneration", value_from_int(kube_generation(k->object)));
    return simulate_report(k, v, err);
}

/* ---- DaemonSet ---------------------------------------------------------------------------------------------------- */

static void adjust_daemon(struct sim_call *k, struct value pod)
{
    value_setz(value_path(pod, "metadata.labels"), "controller-revision-hash",
               value_from_str(revision_of(k)));
}

int simulate_daemonset(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    static const char *const all[] = { "desiredNumberScheduled", "currentNumberScheduled",
                                       "updatedNumberScheduled" };
    struct sim_pods pods = simulate_pods_of(k);
    struct value v = value_new_map(k->a), ready;
    struct str *names;
    size_t n;
    int r;

    UNUSED(ret);
    if (kube_is_deleting(k->object))
        return 0;
    names = simulate_pod_names(k, 1, &n);
    /* The name follows from the template too: the new Pod need not wait until the old one is gone. */
    names[0] = simulate_child_name(k->a, k->ref.name, revision_of(k), 0);
    r = simulate_pods_keep(k, &pods, names, n, revision_of(k), adjust_daemon, err);
    if (r < 0)
        return r;
    ready = value_from_int((int64_t)MIN(pods.in[SIM_POD_READY], (size_t)1));
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        value_set(v, str_from(all[i]), value_from_int(1));
    value_setz(v, "numberMisscheduled", value_from_int(0));
    value_setz(v, "numberReady", ready);
    value_setz(v, "numberAvailable", ready);
    value_setz(v, "numberUnavailable", value_from_int(1 - ready.i));
    value_setz(v, "observedGeneration", value_from_int(kube_generation(k->object)));
    return simulate_report(k, v, err);
}
