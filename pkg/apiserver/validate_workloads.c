/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate_int.h"
#include "base/limits.h"
#include "json/json.h"

/* pkg/apis/{apps,batch,autoscaling,policy}/validation. */

static bool is(struct value v, const char *path, const char *text)
{
    return str_eq(vtext(v, path), str_from(text));
}

static void check_selector(struct check *c, struct value spec, const char *empty_text)
{
    const struct value selector = value_getz(spec, "selector");

    if (!value_is_map(selector)) {
        api_cause_required(c->causes, "spec.selector", "");
    } else {
        vlabel_selector(c, selector, "spec.selector");
        if (value_len(value_getz(selector, "matchLabels")) +
                value_len(value_getz(selector, "matchExpressions")) ==
            0)
            api_cause_invalid(c->causes, "spec.selector", selector, empty_text);
    }
}

static void check_template_labels(struct check *c, struct value spec)
{
    const struct value labels = value_path(spec, "template.metadata.labels"),
                       selector = value_getz(spec, "selector");

    if (value_is_map(selector) && value_len(selector) == 0)
        return;
    if (!value_is_map(selector) || !vselector_matches(selector, labels))
        api_cause_invalid(c->causes, "spec.template.metadata.labels", labels,
                          "`selector` does not match template `labels`");
}

static void check_restart(struct check *c, struct value spec)
{
    static const char *const always[] = { "Always" };
    const struct value restart = value_path(spec, "template.spec.restartPolicy");

    if (!str_eq(value_str(restart), STR("Always")))
        api_cause_not_supported(c->causes, "spec.template.spec.restartPolicy", restart, always, 1);
}

static const char *json_text(struct check *c, struct value v)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    IGNORE_ERROR(json_print(v, JSON_ESCAPE_HTML, &b, NULL));
    return arena_dupz(c->a, buf_str(&b));
}

/* {"Type":"X","RollingUpdate":null} */
static const char *shown_strategy(struct check *c, struct value strategy)
{
    return vpath(c, "{\"Type\":%s,\"RollingUpdate\":%s}", json_text(c, value_getz(strategy, "type")),
                 json_text(c, value_getz(strategy, "rollingUpdate")));
}

/* ---- Deployment ---- */

static bool is_zero(struct value v)
{
    return (v.kind == VALUE_INT && v.i == 0) || str_eq(value_str(v), STR("0%"));
}

static void check_strategy(struct check *c, struct value strategy)
{
    const struct value rolling = value_getz(strategy, "rollingUpdate");

    if (is(strategy, "type", "Recreate")) {
        if (!value_is_null(rolling))
            api_cause_forbidden(c->causes, "spec.strategy.rollingUpdate",
                                "may not be specified when strategy `type` is 'Recreate'");
    } else if (is(strategy, "type", "RollingUpdate")) {
        const size_t before = c->causes->n;

        vpercent_or_int(c, value_getz(rolling, "maxUnavailable"),
                        "spec.strategy.rollingUpdate.maxUnavailable");
        vpercent_or_int(c, value_getz(rolling, "maxSurge"), "spec.strategy.rollingUpdate.maxSurge");
        if (c->causes->n == before && is_zero(value_getz(rolling, "maxUnavailable")) &&
            is_zero(value_getz(rolling, "maxSurge")))
            api_cause_invalid(c->causes, "spec.strategy.rollingUpdate.maxUnavailable",
                              value_getz(rolling, "maxUnavailable"), "may not be 0 when `maxSurge` is 0");
    } else {
        vinvalid_shown(c, "spec.strategy", "FieldValueNotSupported", "Unsupported value",
                       shown_strategy(c, strategy), "supported values: \"Recreate\", \"RollingUpdate\"");
    }
}

static void deployment(struct check *c, struct value obj)
{
    const struct value spec = value_getz(obj, "spec"), deadline = value_getz(spec, "progressDeadlineSeconds");

    vnot_negative(c, value_getz(spec, "replicas"), "spec.replicas");
    check_selector(c, spec, "empty selector is invalid for deployment");
    check_template_labels(c, spec);
    vpod_template(c, value_getz(spec, "template"), "spec.template");
    check_restart(c, spec);
    check_strategy(c, value_getz(spec, "strategy"));
    vnot_negative(c, value_getz(spec, "minReadySeconds"), "spec.minReadySeconds");
    vnot_negative(c, value_getz(spec, "revisionHistoryLimit"), "spec.revisionHistoryLimit");
    vnot_negative(c, deadline, "spec.progressDeadlineSeconds");
    if (!value_is_null(deadline) &&
        value_int(deadline, 0) <= value_int(value_getz(spec, "minReadySeconds"), 0))
        api_cause_invalid(c->causes, "spec.progressDeadlineSeconds", deadline,
                          "must be greater than minReadySeconds");
}

/* ---- StatefulSet, DaemonSet, ReplicaSet ---- */

static void stateful_set(struct check *c, struct value obj)
{
    const struct value spec = value_getz(obj, "spec"), strategy = value_getz(spec, "updateStrategy");

    if (!is(spec, "podManagementPolicy", "OrderedReady") && !is(spec, "podManagementPolicy", "Parallel"))
        api_cause_invalid(c->causes, "spec.podManagementPolicy", value_getz(spec, "podManagementPolicy"),
                          "must be 'OrderedReady' or 'Parallel'");
    if (!is(strategy, "type", "RollingUpdate") && !is(strategy, "type", "OnDelete"))
        vinvalid_shown(c, "spec.updateStrategy", "FieldValueInvalid", "Invalid value",
                       shown_strategy(c, strategy), "must be 'RollingUpdate' or 'OnDelete'");
    vnot_negative(c, value_getz(spec, "replicas"), "spec.replicas");
    vnot_negative(c, value_getz(spec, "minReadySeconds"), "spec.minReadySeconds");
    check_selector(c, spec, "empty selector is invalid for statefulset");
    check_template_labels(c, spec);
    /* its pod is not looked at: mounts may name claim templates */
    vlabels(c, value_path(spec, "template.metadata.labels"), "spec.template.labels");
    check_restart(c, spec);
}

static void daemon_set(struct check *c, struct value obj)
{
    const struct value spec = value_getz(obj, "spec");

    check_selector(c, spec, "empty selector is invalid for daemonset");
    check_template_labels(c, spec);
    vpod_template(c, value_getz(spec, "template"), "spec.template");
    check_restart(c, spec);
}

static void replica_set(struct check *c, struct value obj)
{
    const struct value spec = value_getz(obj, "spec");

    vnot_negative(c, value_getz(spec, "replicas"), "spec.replicas");
    check_selector(c, spec, "empty selector is invalid for deployment");
    check_template_labels(c, spec);
    vpod_template(c, value_getz(spec, "template"), "spec.template");
    check_restart(c, spec);
}

static void pod(struct check *c, struct value obj)
{
    vpod_spec(c, value_getz(obj, "spec"), "spec");
}

/* ---- Job, CronJob ---- */

static void check_job_spec(struct check *c, struct value spec, const char *path)
{
    static const char *const numbers[] = { "parallelism", "completions", "activeDeadlineSeconds",
                                           "backoffLimit", "ttlSecondsAfterFinished" };
    const struct str restart = vtext(spec, "template.spec.restartPolicy");
    const char *restart_path = vpath(c, "%s.template.spec.restartPolicy", path);

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        vnot_negative(c, value_get(spec, str_from(numbers[i])), vpath(c, "%s.%s", path, numbers[i]));
    vpod_template(c, value_getz(spec, "template"), vpath(c, "%s.template", path));
    if (restart.n == 0 || str_eq(restart, STR("Always")))
        api_cause_required(c->causes, restart_path, "valid values: \"OnFailure\", \"Never\"");
}

static void job(struct check *c, struct value obj)
{
    check_job_spec(c, value_getz(obj, "spec"), "spec");
}

/* robfig/cron counts the fields first. */
static void check_schedule(struct check *c, struct value spec)
{
    const struct value v = value_getz(spec, "schedule");
    struct str rest = str_trim(value_str(v)), field;
    CLEANUP(buf_done) struct buf b = BUF_INIT(4096);
    size_t n = 0;

    if (rest.n == 0) {
        api_cause_required(c->causes, "spec.schedule", "");
        return;
    }
    if (str_contains(rest, STR("TZ"))) {
        api_cause_invalid(c->causes, "spec.schedule", v,
                          "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        return;
    }
    if (rest.p[0] == '@')
        return;
    while (str_split(&rest, ' ', &field)) {
        if (field.n == 0)
            continue;
        buf_addf(&b, "%s" STR_FMT, n++ ? " " : "", STR_ARG(field));
    }
    if (n != 5)
        api_cause_invalid(c->causes, "spec.schedule", v,
                          vpath(c, "expected exactly 5 fields, found %zu: [%s]", n, buf_z(&b)));
}

static void cron_job(struct check *c, struct value obj)
{
    static const char *const policies[] = { "Allow", "Forbid", "Replace" };
    const struct value spec = value_getz(obj, "spec");
    const struct str name = vtext(obj, "metadata.name");

    check_schedule(c, spec);
    venum(c, value_getz(spec, "concurrencyPolicy"), policies, ARRAY_SIZE(policies), "spec.concurrencyPolicy");
    check_job_spec(c, value_path(spec, "jobTemplate.spec"), "spec.jobTemplate.spec");
    vnot_negative(c, value_getz(spec, "startingDeadlineSeconds"), "spec.startingDeadlineSeconds");
    vnot_negative(c, value_getz(spec, "successfulJobsHistoryLimit"), "spec.successfulJobsHistoryLimit");
    vnot_negative(c, value_getz(spec, "failedJobsHistoryLimit"), "spec.failedJobsHistoryLimit");
    if (name.n > 52)
        api_cause_invalid(c->causes, "metadata.name", value_from_str(name),
                          "must be no more than 52 characters");
}

/* ---- HorizontalPodAutoscaler, PodDisruptionBudget ---- */

static void autoscaler(struct check *c, struct value obj)
{
    const struct value spec = value_getz(obj, "spec"), low = value_getz(spec, "minReplicas");
    const struct value high = value_getz(spec, "maxReplicas");

    if (!value_is_null(low) && value_int(low, 1) < 1)
        api_cause_invalid(c->causes, "spec.minReplicas", low, "must be greater than or equal to 1");
    if (value_int(high, 0) < 1)
        api_cause_invalid(c->causes, "spec.maxReplicas", high, "must be greater than 0");
    if (!value_is_null(low) && value_int(high, 0) < value_int(low, 0))
        api_cause_invalid(c->causes, "spec.maxReplicas", high,
                          "must be greater than or equal to `minReplicas`");
    if (vtext(spec, "scaleTargetRef.kind").n == 0)
        api_cause_required(c->causes, "spec.scaleTargetRef.kind", "");
    if (vtext(spec, "scaleTargetRef.name").n == 0)
        api_cause_required(c->causes, "spec.scaleTargetRef.name", "");
    if (vtext(spec, "scaleTargetRef.apiVersion").n == 0 &&
        !is(spec, "scaleTargetRef.kind", "ReplicationController"))
        api_cause_invalid(c->causes, "spec.scaleTargetRef.apiVersion", VALUE_STR(""),
                          "apiVersion must specify API group");
    if (!value_is_null(low) && value_int(low, 1) == 0)
        api_cause_forbidden(
            c->causes, "spec.metrics",
            "must specify at least one Object or External metric to support scaling to zero replicas");
}

static void budget(struct check *c, struct value obj)
{
    const struct value spec = value_getz(obj, "spec"), low = value_getz(spec, "minAvailable");
    const struct value high = value_getz(spec, "maxUnavailable");

    if (!value_is_null(low) && !value_is_null(high)) {
        vinvalid_shown(c, "spec", "FieldValueInvalid", "Invalid value",
                       vpath(c,
                             "{\"MinAvailable\":%s,\"Selector\":%s,\"MaxUnavailable\":%s,"
                             "\"UnhealthyPodEvictionPolicy\":%s}",
                             json_text(c, low), json_text(c, value_getz(spec, "selector")),
                             json_text(c, high),
                             json_text(c, value_getz(spec, "unhealthyPodEvictionPolicy"))),
                       "minAvailable and maxUnavailable cannot be both set");
    }
    vpercent_or_int(c, low, "spec.minAvailable");
    vpercent_or_int(c, high, "spec.maxUnavailable");
    vlabel_selector(c, value_getz(spec, "selector"), "spec.selector");
}

static const struct {
    const char *kind;
    void (*fn)(struct check *c, struct value obj);
} kinds[] = {
    { "CronJob", cron_job },
    { "DaemonSet", daemon_set },
    { "Deployment", deployment },
    { "HorizontalPodAutoscaler", autoscaler },
    { "Job", job },
    { "Pod", pod },
    { "PodDisruptionBudget", budget },
    { "ReplicaSet", replica_set },
    { "StatefulSet", stateful_set },
};

void vcheck_workload(struct check *c, const struct api_kind *k, struct value obj)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].kind, k->kind) == 0)
            kinds[i].fn(c, obj);
}

/* ---- updates ---- */

static void immutable(struct check *c, struct value obj, struct value old, const char *path)
{
    const struct value v = value_path(obj, path);

    if (!value_equal(v, value_path(old, path)))
        api_cause_invalid(c->causes, path, v, "field is immutable");
}

static bool same_but(struct value x, struct value y, const char *const *except, size_t n)
{
    const struct value sides[] = { x, y };

    for (size_t s = 0; s < 2; s++)
        for (struct value_iter it = value_iter(sides[s]); value_next(&it);) {
            bool skip = false;

            for (size_t i = 0; i < n; i++)
                skip |= str_eq(it.key, str_from(except[i]));
            if (!skip && !value_equal(it.v, value_get(sides[1 - s], it.key)))
                return false;
        }
    return true;
}

static void update_stateful_set(struct check *c, struct value obj, struct value old)
{
    static const char *const free_fields[] = { "replicas",
                                               "ordinals",
                                               "template",
                                               "updateStrategy",
                                               "revisionHistoryLimit",
                                               "persistentVolumeClaimRetentionPolicy",
                                               "minReadySeconds" };

    if (!same_but(value_getz(obj, "spec"), value_getz(old, "spec"), free_fields, ARRAY_SIZE(free_fields)))
        api_cause_forbidden(
            c->causes, "spec",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
            "'minReadySeconds' are forbidden");
}

static void update_frozen(struct check *c, struct value obj, struct value old)
{
    static const char text[] = "field is immutable when `immutable` is set";

    if (!value_bool(value_getz(old, "immutable")))
        return;
    if (!value_bool(value_getz(obj, "immutable")))
        api_cause_forbidden(c->causes, "immutable", text);
    if (!value_equal(value_getz(obj, "data"), value_getz(old, "data")))
        api_cause_forbidden(c->causes, "data", text);
    if (!value_equal(value_getz(obj, "binaryData"), value_getz(old, "binaryData")))
        api_cause_forbidden(c->causes, "binaryData", text);
}

static void update_binding(struct check *c, struct value obj, struct value old)
{
    const struct value ref = value_getz(obj, "roleRef");
    struct value shown;

    if (value_equal(ref, value_getz(old, "roleRef")))
        return;
    shown = value_new_map(c->a);
    value_setz(shown, "APIGroup", value_getz(ref, "apiGroup"));
    value_setz(shown, "Kind", value_getz(ref, "kind"));
    value_setz(shown, "Name", value_getz(ref, "name"));
    api_cause_invalid(c->causes, "roleRef", shown, "cannot change roleRef");
}

static void update_service(struct check *c, struct value obj, struct value old)
{
    const struct value ips = value_path(obj, "spec.clusterIPs"), before = value_path(old, "spec.clusterIPs");

    if (is(obj, "spec.type", "ExternalName") || value_len(before) == 0 || value_len(ips) == 0)
        return;
    if (!value_equal(value_at(ips, 0), value_at(before, 0)))
        api_cause_invalid(c->causes, "spec.clusterIPs[0]", ips, "may not change once set");
}

static void update_pod(struct check *c, struct value obj, struct value old)
{
    static const char *const free_fields[] = { "containers",
                                               "initContainers",
                                               "activeDeadlineSeconds",
                                               "tolerations",
                                               "terminationGracePeriodSeconds",
                                               "schedulingGates",
                                               "nodeName",
                                               "ephemeralContainers" };

    if (!same_but(value_getz(obj, "spec"), value_getz(old, "spec"), free_fields, ARRAY_SIZE(free_fields)))
        api_cause_forbidden(
            c->causes, "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions "
            "to "
            "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
            "previously negative)");
}

static void update_claim(struct check *c, struct value obj, struct value old)
{
    static const char *const free_fields[] = { "resources", "volumeName", "volumeAttributesClassName",
                                               "storageClassName" };

    if (!same_but(value_getz(obj, "spec"), value_getz(old, "spec"), free_fields, ARRAY_SIZE(free_fields)))
        api_cause_forbidden(
            c->causes, "spec",
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
            "bound claims");
}

static const struct {
    const char *kind, *field;
    void (*fn)(struct check *c, struct value obj, struct value old);
} updates[] = {
    { "ClusterRoleBinding", NULL, update_binding },
    { "ConfigMap", NULL, update_frozen },
    { "DaemonSet", "spec.selector", NULL },
    { "Deployment", "spec.selector", NULL },
    { "Job", "spec.completions", NULL },
    { "Job", "spec.selector", NULL },
    { "Job", "spec.template", NULL },
    { "Job", "spec.completionMode", NULL },
    { "PersistentVolumeClaim", NULL, update_claim },
    { "Pod", NULL, update_pod },
    { "ReplicaSet", "spec.selector", NULL },
    { "RoleBinding", NULL, update_binding },
    { "Secret", "type", NULL },
    { "Secret", NULL, update_frozen },
    { "Service", NULL, update_service },
    { "StatefulSet", NULL, update_stateful_set },
    { "StorageClass", "provisioner", NULL },
};

void vcheck_update(struct check *c, const struct api_kind *k, struct value obj, struct value old)
{
    for (size_t i = 0; i < ARRAY_SIZE(updates); i++) {
        if (strcmp(updates[i].kind, k->kind) != 0)
            continue;
        if (updates[i].fn)
            updates[i].fn(c, obj, old);
        else
            immutable(c, obj, old, updates[i].field);
    }
}
