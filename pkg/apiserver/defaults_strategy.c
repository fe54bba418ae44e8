/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/defaults_int.h"
#include "apiserver/quantity.h"
#include "apiserver/schema.h"
#include "base/clock.h"
#include "base/encode.h"
#include "base/limits.h"

/* What the kinds' strategies (pkg/registry) do before an object is stored. */

static struct value member(struct arena *a, struct value v, const char *name)
{
    struct value m = value_get(v, str_from(name));

    if (value_is_map(m))
        return m;
    m = value_new_map(a);
    value_set(v, str_from(name), m);
    return m;
}

static bool is_kind(const struct api_kind *k, const char *kind)
{
    return strcmp(k->kind, kind) == 0;
}

/* Kinds whose metadata.generation counts changes. */
static bool has_generation(const struct api_kind *k)
{
    static const char *const kinds[] = {
        "CronJob",
        "CustomResourceDefinition",
        "DaemonSet",
        "Deployment",
        "EndpointSlice",
        "FlowSchema",
        "Ingress",
        "IngressClass",
        "Job",
        "MutatingWebhookConfiguration",
        "NetworkPolicy",
        "Pod",
        "PodDisruptionBudget",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "PodTemplate",
    };

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (is_kind(k, kinds[i]))
            return true;
    return false;
}

/* The status of a new object: empty, but with the members that Go always prints. */
static void reset_status(struct arena *a, const struct api_kind *k, struct value obj)
{
    const struct api_field *f = api_ref_field(api_kind_ref(k), STR("status"));

    if (!f || !api_kind_subresource(k, STR("status")))
        return;
    value_setz(obj, "status", api_schema_zero(a, api_ref_of_field(api_kind_ref(k), f)));
}

/* ---- Secret ---- */

static void fold_string_data(struct arena *a, struct value obj)
{
    const struct value plain = value_getz(obj, "stringData");

    for (struct value_iter it = value_iter(plain); value_next(&it);) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(2 * KUBE_OBJECT_MAX);

        base64_encode(BASE64_STD, value_str(it.v), &b);
        value_set(member(a, obj, "data"), it.key, value_from_str(arena_dup(a, buf_str(&b))));
    }
    value_unset(obj, STR("stringData"));
}

/* ---- Pod ---- */

struct qos {
    bool any, all_limited, equal;
};

static bool is_positive(struct value v)
{
    struct api_quantity q;

    return api_quantity_parse(value_str(v), &q) && q.n > 0;
}

static void look_at_resources(struct value resources, struct qos *q)
{
    static const char *const names[] = { "cpu", "memory" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct str name = str_from(names[i]);
        const struct value limit = value_get(value_getz(resources, "limits"), name);
        const struct value request = value_get(value_getz(resources, "requests"), name);

        q->any |= is_positive(limit) || is_positive(request);
        q->all_limited &= is_positive(limit);
        q->equal &= value_is_null(request) || value_equal(limit, request);
    }
}

static const char *qos_class(struct value spec)
{
    struct qos q = { false, true, true };

    for (struct value_iter it = value_iter(value_getz(spec, "containers")); value_next(&it);)
        look_at_resources(value_getz(it.v, "resources"), &q);
    for (struct value_iter it = value_iter(value_getz(spec, "initContainers")); value_next(&it);)
        look_at_resources(value_getz(it.v, "resources"), &q);
    return !q.any ? "BestEffort" : q.all_limited && q.equal ? "Guaranteed" : "Burstable";
}

/* The strategy, and the admission plugins Priority and DefaultTolerationSeconds. */
static void create_pod(struct arena *a, struct value obj)
{
    static const char *const taints[] = { "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable" };
    const struct value spec = value_getz(obj, "spec"), status = member(a, obj, "status");
    struct value_list l = VALUE_LIST_INIT(a);

    value_setz(status, "phase", VALUE_STR("Pending"));
    value_setz(status, "qosClass", value_from_str(str_from(qos_class(spec))));
    default_json(a, spec, STR("preemptionPolicy"), "\"PreemptLowerPriority\"");
    default_json(a, spec, STR("priority"), "0");
    for (struct value_iter it = value_iter(value_getz(spec, "tolerations")); value_next(&it);)
        value_list_add(&l, it.v);
    for (size_t i = 0; i < ARRAY_SIZE(taints); i++) {
        bool tolerated = false;

        for (size_t j = 0; j < l.n; j++) {
            const struct str key = value_str(value_getz(l.items[j], "key")),
                             effect = value_str(value_getz(l.items[j], "effect"));

            tolerated |= (key.n == 0 || str_eq(key, str_from(taints[i]))) &&
                         (effect.n == 0 || str_eq(effect, STR("NoExecute")));
        }
        if (!tolerated) {
            struct value t = value_new_map(a);

            value_setz(t, "effect", VALUE_STR("NoExecute"));
            value_setz(t, "key", value_from_str(str_from(taints[i])));
            value_setz(t, "operator", VALUE_STR("Exists"));
            value_setz(t, "tolerationSeconds", value_from_int(300));
            value_list_add(&l, t);
        }
    }
    value_setz(spec, "tolerations", value_list_done(&l));
}

/* ---- Job ---- */

static void create_job(struct arena *a, struct value obj)
{
    const struct value spec = value_getz(obj, "spec"), uid = value_path(obj, "metadata.uid");
    const struct value name = value_path(obj, "metadata.name");
    struct value labels, selector;

    if (value_bool(value_getz(spec, "manualSelector")))
        return;
    labels = member(a, member(a, member(a, spec, "template"), "metadata"), "labels");
    value_setz(labels, "batch.kubernetes.io/controller-uid", uid);
    value_setz(labels, "batch.kubernetes.io/job-name", name);
    value_setz(labels, "controller-uid", uid);
    value_setz(labels, "job-name", name);
    if (value_len(value_path(obj, "metadata.labels")) == 0)
        value_setz(member(a, obj, "metadata"), "labels", labels);
    selector = member(a, spec, "selector");
    value_setz(member(a, selector, "matchLabels"), "batch.kubernetes.io/controller-uid", uid);
}

/* ---- Service ---- */

static void create_service(struct arena *a, struct value obj)
{
    const struct value spec = value_getz(obj, "spec");

    if (str_eq(value_str(value_getz(spec, "type")), STR("ExternalName")))
        return;
    default_json(a, spec, STR("ipFamilyPolicy"), "\"SingleStack\"");
    if (value_len(value_getz(spec, "ipFamilies")) == 0)
        value_unset(spec, STR("ipFamilies"));
    default_json(a, spec, STR("ipFamilies"), "[\"IPv4\"]");
}

/* ---- DaemonSet: how often its template changed, in an annotation since apps/v1 has no field for it ---- */

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static void set_template_generation(struct arena *a, struct value obj, int64_t n)
{
    value_setz(member(a, member(a, obj, "metadata"), "annotations"), TEMPLATE_GENERATION,
               value_from_str(arena_printf(a, "%lld", (long long)n)));
}

static void create_daemon_set(struct arena *a, struct value obj)
{
    set_template_generation(a, obj, 1);
}

static void update_daemon_set(struct arena *a, struct value obj, struct value old)
{
    int64_t n = 0;

    IGNORE_ERROR(
        str_to_int64(value_str(value_getz(value_path(old, "metadata.annotations"), TEMPLATE_GENERATION)), &n)
            ? 0
            : -1);
    n += !value_equal(value_path(obj, "spec.template"), value_path(old, "spec.template"));
    if (n > 0)
        set_template_generation(a, obj, n);
}

/* ---- others ---- */

static void create_namespace(struct arena *a, struct value obj)
{
    const struct value spec = member(a, obj, "spec");

    value_setz(member(a, obj, "status"), "phase", VALUE_STR("Active"));
    for (struct value_iter it = value_iter(value_getz(spec, "finalizers")); value_next(&it);)
        if (str_eq(value_str(it.v), STR("kubernetes")))
            return;
    value_unset(spec, STR("finalizers"));
    default_json(a, spec, STR("finalizers"), "[\"kubernetes\"]");
}

static void create_volume(struct arena *a, struct value obj)
{
    CLEANUP(buf_done) struct buf now = BUF_INIT(64);

    clock_format_rfc3339(clock_wall(), &now);
    value_setz(member(a, obj, "status"), "phase", VALUE_STR("Pending"));
    value_setz(member(a, obj, "status"), "lastPhaseTransitionTime",
               value_from_str(arena_dup(a, buf_str(&now))));
}

static void create_claim(struct arena *a, struct value obj)
{
    value_setz(member(a, obj, "status"), "phase", VALUE_STR("Pending"));
}

static const struct {
    const char *kind;
    void (*fn)(struct arena *a, struct value obj);
} creates[] = {
    { "DaemonSet", create_daemon_set },
    { "Job", create_job },
    { "Namespace", create_namespace },
    { "PersistentVolume", create_volume },
    { "PersistentVolumeClaim", create_claim },
    { "Pod", create_pod },
    { "Secret", fold_string_data },
    { "Service", create_service },
};

void api_default_create(struct arena *a, const struct api_kind *k, struct value obj)
{
    reset_status(a, k, obj);
    for (size_t i = 0; i < ARRAY_SIZE(creates); i++)
        if (is_kind(k, creates[i].kind))
            creates[i].fn(a, obj);
    if (has_generation(k))
        value_setz(member(a, obj, "metadata"), "generation", value_from_int(1));
    else if (value_is_map(value_getz(obj, "metadata")))
        value_unset(value_getz(obj, "metadata"), STR("generation"));
}

/* ---- updates ---- */

static void keep(struct value obj, struct value old, const char *name)
{
    const struct str key = str_from(name);

    if (value_has(old, key))
        value_set(obj, key, value_get(old, key));
    else
        value_unset(obj, key);
}

/* Is what counts for the generation the same? Everything but metadata and status. */
static bool same_spec(struct value x, struct value y)
{
    const struct value sides[] = { x, y };

    for (size_t i = 0; i < 2; i++)
        for (struct value_iter it = value_iter(sides[i]); value_next(&it);)
            if (!str_eq(it.key, STR("metadata")) && !str_eq(it.key, STR("status")) &&
                !value_equal(it.v, value_get(sides[1 - i], it.key)))
                return false;
    return true;
}

/* A client that does not know what the server filled in does not lose it. */
static void update_service(struct arena *a, struct value obj, struct value old)
{
    static const char *const kept[] = { "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy",
                                        "healthCheckNodePort" };
    const struct value spec = value_getz(obj, "spec"), before = value_getz(old, "spec");
    const bool external = str_eq(value_str(value_getz(spec, "type")), STR("ExternalName"));

    UNUSED(a);
    if (external)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        const struct str name = str_from(kept[i]);
        const struct value v = value_get(spec, name);

        if ((value_is_null(v) || value_len(v) == 0) && value_has(before, name))
            value_set(spec, name, value_get(before, name));
    }
    if (str_eq(value_str(value_getz(spec, "type")), STR("ClusterIP")))
        return;
    for (struct value_iter it = value_iter(value_getz(spec, "ports")); value_next(&it);)
        for (struct value_iter o = value_iter(value_getz(before, "ports")); value_next(&o);)
            if (value_is_null(value_getz(it.v, "nodePort")) && !value_is_null(value_getz(o.v, "nodePort")) &&
                value_equal(value_getz(it.v, "port"), value_getz(o.v, "port")) &&
                value_equal(value_getz(it.v, "protocol"), value_getz(o.v, "protocol")))
                value_setz(it.v, "nodePort", value_getz(o.v, "nodePort"));
}

void api_default_update(struct arena *a, const struct api_kind *k, struct value obj, struct value old)
{
    const struct value before = value_path(old, "metadata.generation");
    const struct value meta = member(a, obj, "metadata");

    if (api_kind_subresource(k, STR("status")))
        keep(obj, old, "status");
    if (is_kind(k, "Secret"))
        fold_string_data(a, obj);
    if (is_kind(k, "Service"))
        update_service(a, obj, old);
    if (is_kind(k, "DaemonSet"))
        update_daemon_set(a, obj, old);
    if (is_kind(k, "Namespace"))
        keep(obj, old, "spec");
    keep(meta, value_getz(old, "metadata"), "generation");
    if (has_generation(k) && !same_spec(obj, old))
        value_setz(meta, "generation", value_from_int(value_int(before, 0) + 1));
}

/* Metadata comes with the request, but for what the kind's status strategy takes from the old object. */
static const struct {
    const char *kind, *field;
} status_keeps[] = { { "Deployment", "labels" },
                     { "Pod", "deletionTimestamp" },
                     { "Pod", "ownerReferences" } };

void api_default_status_update(struct arena *a, const struct api_kind *k, struct value obj, struct value old)
{
    const struct value meta = member(a, obj, "metadata"), before = value_getz(old, "metadata");
    const struct value status = value_getz(obj, "status");
    const bool has_status = value_has(obj, STR("status"));

    for (size_t i = 0; i < ARRAY_SIZE(status_keeps); i++)
        if (is_kind(k, status_keeps[i].kind))
            keep(meta, before, status_keeps[i].field);
    keep(meta, before, "generation");
    for (size_t i = value_len(obj); i-- > 0;)
        value_unset(obj, value_entry_at(obj, i)->key);
    for (struct value_iter it = value_iter(old); value_next(&it);)
        value_set(obj, it.key, it.v);
    value_setz(obj, "metadata", meta);
    if (has_status)
        value_setz(obj, "status", status);
    else
        value_unset(obj, STR("status"));
}
