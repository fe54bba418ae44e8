/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/defaults.h"

#include "apiserver/defaults_int.h"
#include "base/limits.h"
#include "json/json.h"

/* What pkg/apis/<group>/<version>/defaults.go does with plain assignments. Sorted by type (a test checks it); the type
 * is the OpenAPI id without its first part. */
static const struct row {
    const char *type, *field, *json;
} rows[] = {
    { "api.admissionregistration.v1.MatchResources", "matchPolicy", "\"Equivalent\"" },
    { "api.admissionregistration.v1.MatchResources", "namespaceSelector", "{}" },
    { "api.admissionregistration.v1.MatchResources", "objectSelector", "{}" },
    { "api.admissionregistration.v1.MutatingWebhook", "failurePolicy", "\"Fail\"" },
    { "api.admissionregistration.v1.MutatingWebhook", "matchPolicy", "\"Equivalent\"" },
    { "api.admissionregistration.v1.MutatingWebhook", "namespaceSelector", "{}" },
    { "api.admissionregistration.v1.MutatingWebhook", "objectSelector", "{}" },
    { "api.admissionregistration.v1.MutatingWebhook", "reinvocationPolicy", "\"Never\"" },
    { "api.admissionregistration.v1.MutatingWebhook", "timeoutSeconds", "10" },
    { "api.admissionregistration.v1.NamedRuleWithOperations", "scope", "\"*\"" },
    { "api.admissionregistration.v1.ParamRef", "parameterNotFoundAction", "\"Deny\"" },
    { "api.admissionregistration.v1.RuleWithOperations", "scope", "\"*\"" },
    { "api.admissionregistration.v1.ServiceReference", "port", "443" },
    { "api.admissionregistration.v1.ValidatingAdmissionPolicySpec", "failurePolicy", "\"Fail\"" },
    { "api.admissionregistration.v1.ValidatingWebhook", "failurePolicy", "\"Fail\"" },
    { "api.admissionregistration.v1.ValidatingWebhook", "matchPolicy", "\"Equivalent\"" },
    { "api.admissionregistration.v1.ValidatingWebhook", "namespaceSelector", "{}" },
    { "api.admissionregistration.v1.ValidatingWebhook", "objectSelector", "{}" },
    { "api.admissionregistration.v1.ValidatingWebhook", "timeoutSeconds", "10" },
    { "api.apps.v1.DaemonSetSpec", "revisionHistoryLimit", "10" },
    { "api.apps.v1.DaemonSetUpdateStrategy", "type", "\"RollingUpdate\"" },
    { "api.apps.v1.DeploymentSpec", "progressDeadlineSeconds", "600" },
    { "api.apps.v1.DeploymentSpec", "replicas", "1" },
    { "api.apps.v1.DeploymentSpec", "revisionHistoryLimit", "10" },
    { "api.apps.v1.DeploymentStrategy", "type", "\"RollingUpdate\"" },
    { "api.apps.v1.ReplicaSetSpec", "replicas", "1" },
    { "api.apps.v1.RollingUpdateDaemonSet", "maxSurge", "0" },
    { "api.apps.v1.RollingUpdateDaemonSet", "maxUnavailable", "1" },
    { "api.apps.v1.RollingUpdateDeployment", "maxSurge", "\"25%\"" },
    { "api.apps.v1.RollingUpdateDeployment", "maxUnavailable", "\"25%\"" },
    { "api.apps.v1.RollingUpdateStatefulSetStrategy", "partition", "0" },
    { "api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted", "\"Retain\"" },
    { "api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenScaled", "\"Retain\"" },
    { "api.apps.v1.StatefulSetSpec", "persistentVolumeClaimRetentionPolicy",
      "{\"whenDeleted\":\"Retain\",\"whenScaled\":\"Retain\"}" },
    { "api.apps.v1.StatefulSetSpec", "podManagementPolicy", "\"OrderedReady\"" },
    { "api.apps.v1.StatefulSetSpec", "replicas", "1" },
    { "api.apps.v1.StatefulSetSpec", "revisionHistoryLimit", "10" },
    { "api.apps.v1.StatefulSetUpdateStrategy", "type", "\"RollingUpdate\"" },
    { "api.authentication.v1.TokenRequestSpec", "expirationSeconds", "3600" },
    { "api.autoscaling.v1.HorizontalPodAutoscalerSpec", "minReplicas", "1" },
    { "api.autoscaling.v2.HorizontalPodAutoscalerSpec", "metrics",
      "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\","
      "\"averageUtilization\":"
      "80}}}]" },
    { "api.autoscaling.v2.HorizontalPodAutoscalerSpec", "minReplicas", "1" },
    { "api.batch.v1.CronJobSpec", "concurrencyPolicy", "\"Allow\"" },
    { "api.batch.v1.CronJobSpec", "failedJobsHistoryLimit", "1" },
    { "api.batch.v1.CronJobSpec", "successfulJobsHistoryLimit", "3" },
    { "api.batch.v1.CronJobSpec", "suspend", "false" },
    { "api.batch.v1.PodFailurePolicyOnPodConditionsPattern", "status", "\"True\"" },
    { "api.core.v1.AzureDiskVolumeSource", "cachingMode", "\"ReadWrite\"" },
    { "api.core.v1.AzureDiskVolumeSource", "fsType", "\"ext4\"" },
    { "api.core.v1.AzureDiskVolumeSource", "kind", "\"Shared\"" },
    { "api.core.v1.AzureDiskVolumeSource", "readOnly", "false" },
    { "api.core.v1.ConfigMapVolumeSource", "defaultMode", "420" },
    { "api.core.v1.Container", "terminationMessagePath", "\"/dev/termination-log\"" },
    { "api.core.v1.Container", "terminationMessagePolicy", "\"File\"" },
    { "api.core.v1.ContainerPort", "protocol", "\"TCP\"" },
    { "api.core.v1.DownwardAPIVolumeSource", "defaultMode", "420" },
    { "api.core.v1.EndpointPort", "protocol", "\"TCP\"" },
    { "api.core.v1.EphemeralContainer", "terminationMessagePath", "\"/dev/termination-log\"" },
    { "api.core.v1.EphemeralContainer", "terminationMessagePolicy", "\"File\"" },
    { "api.core.v1.FileKeySelector", "optional", "false" },
    { "api.core.v1.GRPCAction", "service", "\"\"" },
    { "api.core.v1.HTTPGetAction", "path", "\"/\"" },
    { "api.core.v1.HTTPGetAction", "scheme", "\"HTTP\"" },
    { "api.core.v1.HostPathVolumeSource", "type", "\"\"" },
    { "api.core.v1.ISCSIPersistentVolumeSource", "iscsiInterface", "\"default\"" },
    { "api.core.v1.ISCSIVolumeSource", "iscsiInterface", "\"default\"" },
    { "api.core.v1.NamespaceStatus", "phase", "\"Active\"" },
    { "api.core.v1.ObjectFieldSelector", "apiVersion", "\"v1\"" },
    { "api.core.v1.PersistentVolumeClaimSpec", "volumeMode", "\"Filesystem\"" },
    { "api.core.v1.PersistentVolumeClaimStatus", "phase", "\"Pending\"" },
    { "api.core.v1.PersistentVolumeSpec", "persistentVolumeReclaimPolicy", "\"Retain\"" },
    { "api.core.v1.PersistentVolumeSpec", "volumeMode", "\"Filesystem\"" },
    { "api.core.v1.PersistentVolumeStatus", "phase", "\"Pending\"" },
    { "api.core.v1.PodSpec", "dnsPolicy", "\"ClusterFirst\"" },
    { "api.core.v1.PodSpec", "restartPolicy", "\"Always\"" },
    { "api.core.v1.PodSpec", "schedulerName", "\"default-scheduler\"" },
    { "api.core.v1.PodSpec", "securityContext", "{}" },
    { "api.core.v1.PodSpec", "terminationGracePeriodSeconds", "30" },
    { "api.core.v1.Probe", "failureThreshold", "3" },
    { "api.core.v1.Probe", "periodSeconds", "10" },
    { "api.core.v1.Probe", "successThreshold", "1" },
    { "api.core.v1.Probe", "timeoutSeconds", "1" },
    { "api.core.v1.ProjectedVolumeSource", "defaultMode", "420" },
    { "api.core.v1.RBDPersistentVolumeSource", "keyring", "\"/etc/ceph/keyring\"" },
    { "api.core.v1.RBDPersistentVolumeSource", "pool", "\"rbd\"" },
    { "api.core.v1.RBDPersistentVolumeSource", "user", "\"admin\"" },
    { "api.core.v1.RBDVolumeSource", "keyring", "\"/etc/ceph/keyring\"" },
    { "api.core.v1.RBDVolumeSource", "pool", "\"rbd\"" },
    { "api.core.v1.RBDVolumeSource", "user", "\"admin\"" },
    { "api.core.v1.ReplicationControllerSpec", "replicas", "1" },
    { "api.core.v1.ScaleIOPersistentVolumeSource", "fsType", "\"xfs\"" },
    { "api.core.v1.ScaleIOPersistentVolumeSource", "storageMode", "\"ThinProvisioned\"" },
    { "api.core.v1.ScaleIOVolumeSource", "fsType", "\"xfs\"" },
    { "api.core.v1.ScaleIOVolumeSource", "storageMode", "\"ThinProvisioned\"" },
    { "api.core.v1.Secret", "type", "\"Opaque\"" },
    { "api.core.v1.SecretVolumeSource", "defaultMode", "420" },
    { "api.core.v1.ServiceAccountTokenProjection", "expirationSeconds", "3600" },
    { "api.core.v1.ServicePort", "protocol", "\"TCP\"" },
    { "api.core.v1.ServiceSpec", "sessionAffinity", "\"None\"" },
    { "api.core.v1.ServiceSpec", "type", "\"ClusterIP\"" },
    { "api.discovery.v1.EndpointPort", "name", "\"\"" },
    { "api.discovery.v1.EndpointPort", "protocol", "\"TCP\"" },
    { "api.flowcontrol.v1.ExemptPriorityLevelConfiguration", "lendablePercent", "0" },
    { "api.flowcontrol.v1.ExemptPriorityLevelConfiguration", "nominalConcurrencyShares", "0" },
    { "api.flowcontrol.v1.FlowSchemaSpec", "matchingPrecedence", "1000" },
    { "api.flowcontrol.v1.LimitedPriorityLevelConfiguration", "lendablePercent", "0" },
    { "api.flowcontrol.v1.LimitedPriorityLevelConfiguration", "nominalConcurrencyShares", "30" },
    { "api.flowcontrol.v1.QueuingConfiguration", "handSize", "8" },
    { "api.flowcontrol.v1.QueuingConfiguration", "queueLengthLimit", "50" },
    { "api.flowcontrol.v1.QueuingConfiguration", "queues", "64" },
    { "api.networking.v1.NetworkPolicyPort", "protocol", "\"TCP\"" },
    { "api.rbac.v1.RoleRef", "apiGroup", "\"rbac.authorization.k8s.io\"" },
    { "api.scheduling.v1.PriorityClass", "preemptionPolicy", "\"PreemptLowerPriority\"" },
    { "api.storage.v1.CSIDriverSpec", "attachRequired", "true" },
    { "api.storage.v1.CSIDriverSpec", "fsGroupPolicy", "\"ReadWriteOnceWithFSType\"" },
    { "api.storage.v1.CSIDriverSpec", "podInfoOnMount", "false" },
    { "api.storage.v1.CSIDriverSpec", "requiresRepublish", "false" },
    { "api.storage.v1.CSIDriverSpec", "seLinuxMount", "false" },
    { "api.storage.v1.CSIDriverSpec", "storageCapacity", "false" },
    { "api.storage.v1.CSIDriverSpec", "volumeLifecycleModes", "[\"Persistent\"]" },
    { "api.storage.v1.StorageClass", "reclaimPolicy", "\"Delete\"" },
    { "api.storage.v1.StorageClass", "volumeBindingMode", "\"Immediate\"" },
    { "apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference", "port", "443" },
    { "kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference", "port", "443" },
};

static size_t first_row(struct str type)
{
    size_t low = 0, high = ARRAY_SIZE(rows);

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (str_cmp(str_from(rows[middle].type), type) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool api_default_rows_sorted(void)
{
    for (size_t i = 1; i < ARRAY_SIZE(rows); i++) {
        const int order = strcmp(rows[i - 1].type, rows[i].type);

        if (order > 0 || (order == 0 && strcmp(rows[i - 1].field, rows[i].field) >= 0))
            return false;
    }
    return true;
}

void default_json(struct arena *a, struct value map, struct str name, const char *json)
{
    const struct value before = value_get(map, name);
    struct value v = VALUE_NONE;

    if (!value_is_null(before) && !(value_is_string(before) && before.n == 0))
        return;
    IGNORE_ERROR(json_parse(a, str_from(json), NULL, &v, NULL));
    value_set(map, name, v);
}

/* A number that is no pointer in Go is unset when it is 0. */
static void drop_zero(struct api_ref t, struct value v, struct str name)
{
    const struct api_field *f = api_ref_field(t, name);
    const struct value n = value_get(v, name);

    if (f && !(f->flags & API_FIELD_POINTER) && n.kind == VALUE_INT && n.i == 0)
        value_unset(v, name);
}

static void default_struct(struct arena *a, struct api_ref t, struct value v)
{
    const struct str type =
        str_trim_prefix(str_from(api_types_text(t.of, api_ref_type(t)->name)), STR("io.k8s."));

    /* first what looks at what the client said, then the plain ones */
    default_special(a, type, v);
    for (size_t i = first_row(type); i < ARRAY_SIZE(rows) && str_eq(str_from(rows[i].type), type); i++) {
        drop_zero(t, v, str_from(rows[i].field));
        default_json(a, v, str_from(rows[i].field), rows[i].json);
    }
    default_special_after(a, type, v);
}

static void walk(struct arena *a, struct api_ref t, struct value v, int depth)
{
    const enum api_type_kind kind = api_ref_kind(t);

    if (depth > API_SCHEMA_DEPTH_MAX)
        return;
    if (kind == API_TYPE_STRUCT && value_is_map(v))
        default_struct(a, t, v);
    if (kind == API_TYPE_STRUCT ||
        (kind == API_TYPE_MAP && api_ref_kind(api_ref_items(t)) == API_TYPE_STRUCT)) {
        for (struct value_iter it = value_iter(v); value_is_map(v) && value_next(&it);)
            if (value_is_map(it.v) || value_is_list(it.v))
                walk(a, api_ref_member(t, it.key, NULL), it.v, depth + 1);
    }
    if (kind == API_TYPE_LIST && api_ref_kind(api_ref_items(t)) == API_TYPE_STRUCT && value_is_list(v))
        for (uint32_t i = 0; i < v.n; i++)
            walk(a, api_ref_items(t), value_at(v, i), depth + 1);
}

void api_default_object(struct arena *a, const struct api_kind *k, struct value obj)
{
    default_kind(a, k, obj);
    walk(a, api_kind_ref(k), obj, 0);
}
