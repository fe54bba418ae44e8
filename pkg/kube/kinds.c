/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds whose resource every server names alike: known without a request. Sorted (a test checks it). */
#include "kube/kube_int.h"

#define KIND(group, version, api_version, kind, plural, namespaced)                    \
    {                                                                                  \
        STR(api_version), STR(group), STR(version), STR(kind), STR(plural), namespaced \
    }
#define CORE(kind, plural, namespaced) KIND("", "v1", "v1", kind, plural, namespaced)
#define V1(group, kind, plural, namespaced) KIND(group, "v1", group "/v1", kind, plural, namespaced)

const struct kube_kind kube_builtin_kinds[] = {
    V1("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
       false),
    V1("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
       false),
    V1("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false),
    V1("apiregistration.k8s.io", "APIService", "apiservices", false),
    V1("apps", "ControllerRevision", "controllerrevisions", true),
    V1("apps", "DaemonSet", "daemonsets", true),
    V1("apps", "Deployment", "deployments", true),
    V1("apps", "ReplicaSet", "replicasets", true),
    V1("apps", "StatefulSet", "statefulsets", true),
    V1("authentication.k8s.io", "TokenReview", "tokenreviews", false),
    V1("authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews", false),
    V1("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", false),
    V1("autoscaling", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
    V1("batch", "CronJob", "cronjobs", true),
    V1("batch", "Job", "jobs", true),
    V1("coordination.k8s.io", "Lease", "leases", true),
    V1("networking.k8s.io", "Ingress", "ingresses", true),
    V1("networking.k8s.io", "IngressClass", "ingressclasses", false),
    V1("networking.k8s.io", "NetworkPolicy", "networkpolicies", true),
    V1("policy", "PodDisruptionBudget", "poddisruptionbudgets", true),
    V1("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", false),
    V1("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", false),
    V1("rbac.authorization.k8s.io", "Role", "roles", true),
    V1("rbac.authorization.k8s.io", "RoleBinding", "rolebindings", true),
    V1("scheduling.k8s.io", "PriorityClass", "priorityclasses", false),
    V1("storage.k8s.io", "StorageClass", "storageclasses", false),
    CORE("ConfigMap", "configmaps", true),
    CORE("Endpoints", "endpoints", true),
    CORE("Event", "events", true),
    CORE("LimitRange", "limitranges", true),
    CORE("Namespace", "namespaces", false),
    CORE("Node", "nodes", false),
    CORE("PersistentVolume", "persistentvolumes", false),
    CORE("PersistentVolumeClaim", "persistentvolumeclaims", true),
    CORE("Pod", "pods", true),
    CORE("ReplicationController", "replicationcontrollers", true),
    CORE("ResourceQuota", "resourcequotas", true),
    CORE("Secret", "secrets", true),
    CORE("Service", "services", true),
    CORE("ServiceAccount", "serviceaccounts", true),
};
const size_t kube_n_builtin_kinds = ARRAY_SIZE(kube_builtin_kinds);

int kube_kind_cmp(struct str api_version, struct str kind, const struct kube_kind *k)
{
    int c = str_cmp(api_version, k->api_version);

    return c != 0 ? c : str_cmp(kind, k->kind);
}

const struct kube_kind *kube_builtin_kind(struct str api_version, struct str kind)
{
    size_t low = 0, high = ARRAY_SIZE(kube_builtin_kinds);

    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = kube_kind_cmp(api_version, kind, &kube_builtin_kinds[mid]);

        if (c == 0)
            return &kube_builtin_kinds[mid];
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}
