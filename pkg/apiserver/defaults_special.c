/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/defaults_int.h"

static bool is(struct value v, const char *name, const char *text)
{
    return str_eq(value_str(value_get(v, str_from(name))), str_from(text));
}

static bool is_set(struct value v, const char *name)
{
    return !value_is_null(value_get(v, str_from(name)));
}

#define DEFAULT(name, json) default_json(a, v, STR(name), (json))

/* ---- core ---- */

/* "always" for images without tag or with ":latest". A digest counts as no tag. */
static void default_container(struct arena *a, struct value v)
{
    const struct str image = value_str(value_getz(v, "image"));
    const size_t at = str_find_char(image, '@');
    const struct str name = str_basename(at == STR_NPOS ? image : str_sub(image, 0, at));
    const size_t colon = str_find_char(name, ':');
    const struct str tag = colon == STR_NPOS ? STR("") : str_sub(name, colon + 1, name.n);
    const bool latest = str_eq(tag, STR("latest")) || (tag.n == 0 && at == STR_NPOS);

    DEFAULT("imagePullPolicy", latest ? "\"Always\"" : "\"IfNotPresent\"");
}

static void default_host_ports(struct value containers)
{
    for (struct value_iter c = value_iter(containers); value_next(&c);)
        for (struct value_iter p = value_iter(value_getz(c.v, "ports")); value_next(&p);)
            if (value_int(value_getz(p.v, "hostPort"), 0) == 0)
                value_setz(p.v, "hostPort", value_getz(p.v, "containerPort"));
}

/* Both names of the account are always the same. */
static void default_pod_spec(struct arena *a, struct value v)
{
    const struct value account = value_getz(v, "serviceAccountName"), old = value_getz(v, "serviceAccount");

    UNUSED(a);
    if (value_str(account).n > 0)
        value_setz(v, "serviceAccount", account);
    else if (value_str(old).n > 0)
        value_setz(v, "serviceAccountName", old);
}

/* A volume without a source is an empty directory. */
static void default_volume(struct arena *a, struct value v)
{
    for (struct value_iter it = value_iter(v); value_next(&it);)
        if (!str_eq(it.key, STR("name")) && !value_is_null(it.v))
            return;
    value_setz(v, "emptyDir", value_new_map(a));
}

static void default_service_port(struct arena *a, struct value v)
{
    const struct value target = value_getz(v, "targetPort");

    UNUSED(a);
    if (value_is_null(target) || (target.kind == VALUE_INT && target.i == 0) ||
        (value_is_string(target) && target.n == 0))
        value_setz(v, "targetPort", value_getz(v, "port"));
}

static void default_service(struct arena *a, struct value v)
{
    const bool external = is(v, "type", "NodePort") || is(v, "type", "LoadBalancer");

    if (is(v, "sessionAffinity", "None"))
        value_unset(v, STR("sessionAffinityConfig"));
    if (is(v, "sessionAffinity", "ClientIP")) {
        DEFAULT("sessionAffinityConfig", "{\"clientIP\":{\"timeoutSeconds\":10800}}");
        default_json(a, value_getz(v, "sessionAffinityConfig"), STR("clientIP"),
                     "{\"timeoutSeconds\":10800}");
        default_json(a, value_path(v, "sessionAffinityConfig.clientIP"), STR("timeoutSeconds"), "10800");
    }
    if (external)
        DEFAULT("externalTrafficPolicy", "\"Cluster\"");
    if (external || is(v, "type", "ClusterIP"))
        DEFAULT("internalTrafficPolicy", "\"Cluster\"");
    if (is(v, "type", "LoadBalancer"))
        DEFAULT("allocateLoadBalancerNodePorts", "true");
}

/* "default" stands for the limit, "defaultRequest" for what is asked: each falls back on the next stricter one. */
static void fall_back(struct arena *a, struct value v, const char *name, const char *source)
{
    struct value to = value_get(v, str_from(name)), from = value_get(v, str_from(source));

    if (value_len(from) == 0)
        return;
    if (!value_is_map(to)) {
        to = value_new_map(a);
        value_set(v, str_from(name), to);
    }
    for (struct value_iter it = value_iter(from); value_next(&it);)
        if (!value_has(to, it.key))
            value_set(to, it.key, it.v);
}

static void default_limit_range(struct arena *a, struct value v)
{
    if (!is(v, "type", "Container"))
        return;
    fall_back(a, v, "default", "max");
    fall_back(a, v, "defaultRequest", "default");
    fall_back(a, v, "defaultRequest", "min");
}

/* ---- workloads ---- */

static void default_rolling(struct arena *a, struct value v)
{
    if (is(v, "type", "RollingUpdate"))
        DEFAULT("rollingUpdate", "{}");
}

/* Only a strategy that the server chose gets a partition; one that the client named keeps what it says. */
static void default_stateful_set_strategy(struct arena *a, struct value v)
{
    if (!is_set(v, "type"))
        DEFAULT("rollingUpdate", "{}");
}

static void default_job(struct arena *a, struct value v)
{
    if (!is_set(v, "completions") && !is_set(v, "parallelism"))
        DEFAULT("completions", "1");
    DEFAULT("parallelism", "1");
    if (!is_set(v, "backoffLimitPerIndex"))
        DEFAULT("backoffLimit", "6");
    else
        DEFAULT("backoffLimit", "2147483647");
    DEFAULT("completionMode", "\"NonIndexed\"");
    DEFAULT("suspend", "false");
    DEFAULT("podReplacementPolicy", is_set(v, "podFailurePolicy") ? "\"Failed\"" : "\"TerminatingOrFailed\"");
    DEFAULT("manualSelector", "false");
}

static void default_claim_template_parent(struct arena *a, struct value v)
{
    for (struct value_iter it = value_iter(value_getz(v, "volumeClaimTemplates")); value_next(&it);) {
        default_json(a, it.v, STR("apiVersion"), "\"v1\"");
        default_json(a, it.v, STR("kind"), "\"PersistentVolumeClaim\"");
    }
}

/* ---- others ---- */

static void default_subject(struct arena *a, struct value v)
{
    if (is(v, "kind", "User") || is(v, "kind", "Group"))
        DEFAULT("apiGroup", "\"rbac.authorization.k8s.io\"");
}

static void default_network_policy(struct arena *a, struct value v)
{
    if (value_len(value_getz(v, "policyTypes")) == 0)
        value_unset(v, STR("policyTypes"));
    DEFAULT("policyTypes",
            value_len(value_getz(v, "egress")) > 0 ? "[\"Ingress\",\"Egress\"]" : "[\"Ingress\"]");
}

static void default_hpa_rules(struct arena *a, struct value v, const char *name, const char *rules)
{
    const struct value behavior = value_getz(v, "behavior");
    struct value own = value_get(behavior, str_from(name));

    if (!value_is_map(behavior))
        return;
    if (!value_is_map(own)) {
        default_json(a, behavior, str_from(name), rules);
        return;
    }
    if (strcmp(name, "scaleUp") == 0)
        default_json(a, own, STR("stabilizationWindowSeconds"), "0");
    default_json(a, own, STR("selectPolicy"), "\"Max\"");
    default_json(a, own, STR("policies"),
                 strcmp(name, "scaleUp") == 0
                     ? "[{\"type\":\"Pods\",\"value\":4,\"periodSeconds\":15},{\"type\":\"Percent\","
                       "\"value\":100,\"periodSeconds\":15}]"
                     : "[{\"type\":\"Percent\",\"value\":100,\"periodSeconds\":15}]");
}

static void default_hpa(struct arena *a, struct value v)
{
    if (value_len(value_getz(v, "metrics")) == 0)
        value_unset(v, STR("metrics"));
    default_hpa_rules(a, v, "scaleUp",
                      "{\"stabilizationWindowSeconds\":0,\"selectPolicy\":\"Max\",\"policies\":[{\"type\":"
                      "\"Pods\",\"value\":4,"
                      "\"periodSeconds\":15},{\"type\":\"Percent\",\"value\":100,\"periodSeconds\":15}]}");
    default_hpa_rules(a, v, "scaleDown",
                      "{\"selectPolicy\":\"Max\",\"policies\":[{\"type\":\"Percent\",\"value\":100,"
                      "\"periodSeconds\":15}]}");
}

static const struct special {
    const char *type;
    void (*fn)(struct arena *a, struct value v);
    bool after;
} specials[] = {
    { "api.apps.v1.DaemonSetUpdateStrategy", default_rolling, true },
    { "api.apps.v1.DeploymentStrategy", default_rolling, true },
    { "api.apps.v1.StatefulSetSpec", default_claim_template_parent, false },
    { "api.apps.v1.StatefulSetUpdateStrategy", default_stateful_set_strategy, false },
    { "api.autoscaling.v2.HorizontalPodAutoscalerSpec", default_hpa, false },
    { "api.core.v1.Container", default_container, false },
    { "api.core.v1.EphemeralContainer", default_container, false },
    { "api.core.v1.LimitRangeItem", default_limit_range, false },
    { "api.core.v1.PodSpec", default_pod_spec, false },
    { "api.core.v1.ServicePort", default_service_port, false },
    { "api.core.v1.ServiceSpec", default_service, true },
    { "api.core.v1.Volume", default_volume, false },
    { "api.networking.v1.NetworkPolicySpec", default_network_policy, false },
    { "api.rbac.v1.Subject", default_subject, false },
};

static void run(struct arena *a, struct str type, struct value v, bool after)
{
    for (size_t i = 0; i < ARRAY_SIZE(specials); i++)
        if (specials[i].after == after && str_eq(str_from(specials[i].type), type))
            specials[i].fn(a, v);
}

void default_special(struct arena *a, struct str type, struct value v)
{
    run(a, type, v, false);
}

void default_special_after(struct arena *a, struct str type, struct value v)
{
    run(a, type, v, true);
}

/* ---- whole objects ---- */

static struct value member(struct arena *a, struct value v, const char *name)
{
    struct value m = value_get(v, str_from(name));

    if (value_is_map(m))
        return m;
    m = value_new_map(a);
    value_set(v, str_from(name), m);
    return m;
}

/* Without requests a container asks for its limits. */
static void default_requests(struct arena *a, struct value containers)
{
    for (struct value_iter c = value_iter(containers); value_next(&c);) {
        const struct value resources = value_getz(c.v, "resources"), limits = value_getz(resources, "limits");

        for (struct value_iter it = value_iter(limits); value_next(&it);) {
            const struct value requests = member(a, resources, "requests");

            if (!value_has(requests, it.key))
                value_set(requests, it.key, it.v);
        }
    }
}

static void default_pod(struct arena *a, struct value obj)
{
    const struct value spec = value_getz(obj, "spec");

    default_requests(a, value_getz(spec, "containers"));
    default_requests(a, value_getz(spec, "initContainers"));
    if (value_bool(value_getz(spec, "hostNetwork"))) {
        default_host_ports(value_getz(spec, "containers"));
        default_host_ports(value_getz(spec, "initContainers"));
    }
    default_json(a, spec, STR("enableServiceLinks"), "true");
}

static void default_namespace(struct arena *a, struct value obj)
{
    const struct value meta = member(a, obj, "metadata"), name = value_getz(meta, "name");

    if (value_str(name).n > 0)
        value_setz(member(a, meta, "labels"), "kubernetes.io/metadata.name", name);
}

/* The template's labels select, and label, when the client left that out. */
static void default_controller(struct arena *a, struct value obj)
{
    const struct value labels = value_path(obj, "spec.template.metadata.labels"),
                       spec = value_getz(obj, "spec");

    if (value_len(labels) == 0)
        return;
    if (value_len(value_getz(spec, "selector")) == 0)
        value_setz(spec, "selector", value_copy_maps(a, labels));
    if (value_len(value_path(obj, "metadata.labels")) == 0)
        value_setz(member(a, obj, "metadata"), "labels", value_copy_maps(a, labels));
}

/* A Job is labelled as its pods are. It is one map, as in Go: what the strategy adds to the template shows up here. */
static void default_job_labels(struct arena *a, struct value obj)
{
    const struct value labels = value_path(obj, "spec.template.metadata.labels");

    if (value_len(labels) > 0 && value_len(value_path(obj, "metadata.labels")) == 0)
        value_setz(member(a, obj, "metadata"), "labels", labels);
}

static void default_whole_job(struct arena *a, struct value obj)
{
    if (value_is_map(value_getz(obj, "spec")))
        default_job(a, value_getz(obj, "spec"));
    default_job_labels(a, obj);
}

static void default_binding(struct arena *a, struct value obj)
{
    UNUSED(a);
    for (struct value_iter it = value_iter(value_getz(obj, "subjects")); value_next(&it);)
        if (is(it.v, "kind", "ServiceAccount") && value_str(value_getz(it.v, "apiGroup")).n == 0)
            value_unset(it.v, STR("apiGroup"));
}

static const struct {
    const char *kind;
    void (*fn)(struct arena *a, struct value obj);
} kinds[] = {
    { "ClusterRoleBinding", default_binding },
    { "Job", default_whole_job },
    { "Namespace", default_namespace },
    { "Pod", default_pod },
    { "ReplicationController", default_controller },
    { "RoleBinding", default_binding },
};

void default_kind(struct arena *a, const struct api_kind *k, struct value obj)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].kind, k->kind) == 0)
            kinds[i].fn(a, obj);
}
