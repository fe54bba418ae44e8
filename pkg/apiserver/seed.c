/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "apiserver"
#include "apiserver/seed.h"

#include "apiserver/object.h"
#include "base/limits.h"
#include "base/log.h"
#include "json/json.h"

#define RBAC(plural) plural ".rbac.authorization.k8s.io"
#define BOOTSTRAP                                                     \
    "\"labels\":{\"kubernetes.io/bootstrapping\":\"rbac-defaults\"}," \
    "\"annotations\":{\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"}"
#define GROUP_BINDING(role, group)                                                                         \
    "{\"metadata\":{" BOOTSTRAP                                                                            \
    "},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\","                  \
    "\"name\":\"" role "\"},\"subjects\":[{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Group\"," \
    "\"name\":\"" group "\"}]}"
#define AGGREGATES(to)                                                                           \
    "\"labels\":{\"kubernetes.io/bootstrapping\":\"rbac-defaults\",\"rbac.authorization.k8s.io/" \
    "aggregate-to-" to                                                                           \
    "\":\"true\"},\"annotations\":{\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"}"
#define AGGREGATE_OF(to)                                                                              \
    "{\"metadata\":{" BOOTSTRAP "},\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{" \
    "\"rbac.authorization.k8s.io/aggregate-to-" to "\":\"true\"}}]},\"rules\":[]}"

#define WORKLOADS                                                                                            \
    "{\"apiGroups\":[\"apps\"],\"resources\":[\"controllerrevisions\",\"daemonsets\",\"daemonsets/status\"," \
    "\"deployments\",\"deployments/scale\",\"deployments/status\",\"replicasets\",\"replicasets/scale\","    \
    "\"replicasets/status\",\"statefulsets\",\"statefulsets/scale\",\"statefulsets/status\"],\"verbs\":"
#define CORE                                                                                              \
    "{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\",\"endpoints\",\"events\",\"limitranges\","       \
    "\"persistentvolumeclaims\",\"persistentvolumeclaims/status\",\"pods\",\"pods/log\",\"pods/status\"," \
    "\"replicationcontrollers\",\"replicationcontrollers/scale\",\"replicationcontrollers/status\","      \
    "\"resourcequotas\",\"resourcequotas/status\",\"serviceaccounts\",\"services\",\"services/status\","  \
    "\"bindings\",\"namespaces\",\"namespaces/status\"],\"verbs\":"
#define OTHERS                                                                                          \
    "{\"apiGroups\":[\"autoscaling\",\"batch\",\"networking.k8s.io\",\"policy\",\"discovery.k8s.io\"]," \
    "\"resources\":[\"*\"],\"verbs\":"
#define READ "[\"get\",\"list\",\"watch\"]}"
#define CHANGE "[\"create\",\"delete\",\"deletecollection\",\"patch\",\"update\"]}"
#define ALL_VERBS \
    "[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"update\",\"watch\"]}"

/* In this order: what comes later needs what comes before. */
static const struct {
    const char *id, *ns, *name, *json;
} objects[] = {
    { "namespaces", "", "default", "{}" },
    { "namespaces", "", "kube-system", "{}" },
    { "namespaces", "", "kube-public", "{}" },
    { "namespaces", "", "kube-node-lease", "{}" },
    { "services", "default", "kubernetes",
      "{\"metadata\":{\"labels\":{\"component\":\"apiserver\",\"provider\":\"kubernetes\"}},\"spec\":{"
      "\"clusterIP\":"
      "\"10.96.0.1\",\"type\":\"ClusterIP\",\"ports\":[{\"name\":\"https\",\"port\":443,\"protocol\":\"TCP\","
      "\"targetPort\":6443}]}}" },
    { "priorityclasses.scheduling.k8s.io", "", "system-node-critical",
      "{\"value\":2000001000,\"description\":\"Used for system critical pods that must not be moved from "
      "their current "
      "node.\"}" },
    { "priorityclasses.scheduling.k8s.io", "", "system-cluster-critical",
      "{\"value\":2000000000,\"description\":\"Used for system critical pods that must run in the cluster, "
      "but can be "
      "moved to another node if necessary.\"}" },
    { RBAC("clusterroles"), "", "cluster-admin",
      "{\"metadata\":{" BOOTSTRAP
      "},\"rules\":[{\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"verbs\":[\"*\"]},"
      "{\"nonResourceURLs\":[\"*\"],\"verbs\":[\"*\"]}]}" },
    { RBAC("clusterroles"), "", "system:discovery",
      "{\"metadata\":{" BOOTSTRAP
      "},\"rules\":[{\"nonResourceURLs\":[\"/api\",\"/api/*\",\"/apis\",\"/apis/*\","
      "\"/healthz\",\"/livez\",\"/openapi\",\"/openapi/*\",\"/readyz\",\"/version\",\"/version/\"],\"verbs\":"
      "[\"get\"]}]}" },
    { RBAC("clusterroles"), "", "system:public-info-viewer",
      "{\"metadata\":{" BOOTSTRAP
      "},\"rules\":[{\"nonResourceURLs\":[\"/healthz\",\"/livez\",\"/readyz\",\"/version\","
      "\"/version/\"],\"verbs\":[\"get\"]}]}" },
    { RBAC("clusterroles"), "", "system:basic-user",
      "{\"metadata\":{" BOOTSTRAP "},\"rules\":[{\"apiGroups\":[\"authorization.k8s.io\"],\"resources\":["
      "\"selfsubjectaccessreviews\",\"selfsubjectrulesreviews\"],\"verbs\":[\"create\"]},{\"apiGroups\":["
      "\"authentication.k8s.io\"],\"resources\":[\"selfsubjectreviews\"],\"verbs\":[\"create\"]}]}" },
    { RBAC("clusterroles"), "", "system:service-account-issuer-discovery",
      "{\"metadata\":{" BOOTSTRAP "},\"rules\":[{\"nonResourceURLs\":[\"/.well-known/openid-configuration\","
      "\"/.well-known/openid-configuration/\",\"/openid/v1/jwks\",\"/openid/v1/jwks/"
      "\"],\"verbs\":[\"get\"]}]}" },
    { RBAC("clusterroles"), "", "system:aggregate-to-view",
      "{\"metadata\":{" AGGREGATES("view") "},\"rules\":[" CORE READ "," WORKLOADS READ "," OTHERS READ
                                           "]}" },
    { RBAC("clusterroles"), "", "system:aggregate-to-edit",
      "{\"metadata\":{" AGGREGATES(
          "edit") "},\"rules\":[" CORE CHANGE "," WORKLOADS CHANGE "," OTHERS CHANGE
                  ",{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"verbs\":" ALL_VERBS
                  ",{\"apiGroups\":[\"\"],\"resources\":[\"pods/attach\",\"pods/exec\",\"pods/"
                  "portforward\",\"pods/proxy\","
                  "\"services/proxy\"],\"verbs\":" ALL_VERBS
                  ",{\"apiGroups\":[\"\"],\"resources\":[\"pods/eviction\",\"serviceaccounts/"
                  "token\"],\"verbs\":[\"create\"]},"
                  "{\"apiGroups\":[\"\"],\"resources\":[\"serviceaccounts\"],\"verbs\":[\"impersonate\"]},{"
                  "\"apiGroups\":["
                  "\"coordination.k8s.io\"],\"resources\":[\"leases\"],\"verbs\":" ALL_VERBS "]}" },
    { RBAC("clusterroles"), "", "system:aggregate-to-admin",
      "{\"metadata\":{" AGGREGATES("admin") "},\"rules\":[{\"apiGroups\":[\"rbac.authorization.k8s.io\"],"
                                            "\"resources\":[\"roles\",\"rolebindings\"],\"verbs\":" ALL_VERBS
                                            ",{\"apiGroups\":[\"authorization.k8s.io\"],\"resources\":["
                                            "\"localsubjectaccessreviews\"],\"verbs\":[\"create\"]}]"
                                            "}" },
    { RBAC("clusterroles"), "", "view",
      "{\"metadata\":{\"labels\":{\"kubernetes.io/bootstrapping\":\"rbac-defaults\","
      "\"rbac.authorization.k8s.io/aggregate-to-edit\":\"true\"},\"annotations\":{"
      "\"rbac.authorization.kubernetes.io/"
      "autoupdate\":\"true\"}},\"aggregationRule\":{\"clusterRoleSelectors\":[{"
      "\"matchLabels\":{\"rbac.authorization.k8s.io/aggregate-to-view\":\"true\"}}]},\"rules\":[]}" },
    { RBAC("clusterroles"), "", "edit",
      "{\"metadata\":{\"labels\":{\"kubernetes.io/bootstrapping\":\"rbac-defaults\","
      "\"rbac.authorization.k8s.io/aggregate-to-admin\":\"true\"},\"annotations\":{"
      "\"rbac.authorization.kubernetes.io/"
      "autoupdate\":\"true\"}},\"aggregationRule\":{\"clusterRoleSelectors\":[{"
      "\"matchLabels\":{\"rbac.authorization.k8s.io/aggregate-to-edit\":\"true\"}}]},\"rules\":[]}" },
    { RBAC("clusterroles"), "", "admin", AGGREGATE_OF("admin") },
    { RBAC("clusterrolebindings"), "", "cluster-admin", GROUP_BINDING("cluster-admin", "system:masters") },
    { RBAC("clusterrolebindings"), "", "system:discovery",
      GROUP_BINDING("system:discovery", "system:authenticated") },
    { RBAC("clusterrolebindings"), "", "system:basic-user",
      GROUP_BINDING("system:basic-user", "system:authenticated") },
    { RBAC("clusterrolebindings"), "", "system:service-account-issuer-discovery",
      GROUP_BINDING("system:service-account-issuer-discovery", "system:serviceaccounts") },
    { RBAC("clusterrolebindings"), "", "system:public-info-viewer",
      "{\"metadata\":{" BOOTSTRAP
      "},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\","
      "\"name\":\"system:public-info-viewer\"},\"subjects\":[{\"apiGroup\":\"rbac.authorization.k8s.io\","
      "\"kind\":"
      "\"Group\",\"name\":\"system:authenticated\"},{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":"
      "\"Group\","
      "\"name\":\"system:unauthenticated\"}]}" },
};

static bool there(struct api_request *rq)
{
    const struct api_key key = { rq->res->id, rq->ns, rq->name };
    struct api_row row;

    return api_store_get(rq->server->store, &key, rq->arena, &row, NULL) == 0;
}

/* Creates the object that rq aims at, unless it is there or comes to be there in the meantime. */
static int ensure(struct api_request *rq, struct value raw)
{
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct value obj;

    if (there(rq))
        return 0;
    if (api_object_decode(rq, raw, &obj, &strict) < 0 || api_object_create(rq, obj, false, &obj) < 0)
        return api_status_code(rq->failure) == 409 ? 0 : -1;
    return 0;
}

static int seed_one(struct apiserver *s, const char *id, const char *ns, const char *name, const char *json,
                    struct err **err)
{
    CLEANUP(api_request_done) struct api_request rq = { 0 };
    struct value raw;
    int r;

    api_request_init(&rq, s);
    rq.manager = STR("kube-apiserver");
    rq.verb = "create";
    if (!api_request_aim(&rq, str_from(id), str_from(ns), str_from(name)))
        return err_set(err, ERRC_INTERNAL, "%s is not served", id);
    if (there(&rq))
        return 0;
    r = json_parse(rq.arena, str_from(json), NULL, &raw, err);
    if (r < 0)
        return r;
    if (ensure(&rq, raw) < 0)
        return err_set(err, ERRC_INTERNAL, "%s %s: " STR_FMT, id, name,
                       STR_ARG(value_str(value_getz(rq.failure, "message"))));
    return 0;
}

static void seed_in(struct apiserver *s, const char *id, struct str ns, const char *name, const char *key,
                    struct str text)
{
    CLEANUP(api_request_done) struct api_request rq = { 0 };
    struct value raw, data, notes;

    api_request_init(&rq, s);
    rq.manager = STR("kube-controller-manager");
    rq.verb = "create";
    if (!api_request_aim(&rq, str_from(id), ns, str_from(name)) || there(&rq))
        return;
    raw = value_new_map(rq.arena);
    if (key) {
        data = value_new_map(rq.arena);
        value_set(data, str_from(key), value_from_str(text));
        value_setz(raw, "data", data);
        notes = value_new_map(rq.arena);
        value_setz(
            notes, "kubernetes.io/description",
            VALUE_STR(
                "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
                "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
                "guaranteed across distributions of Kubernetes clusters."));
        value_set_path(raw, "metadata", value_new_map(rq.arena));
        value_setz(value_getz(raw, "metadata"), "annotations", notes);
    }
    if (ensure(&rq, raw) < 0 && api_status_code(rq.failure) != 403 && api_status_code(rq.failure) != 404)
        log_warn("namespace is not complete", LOG_STR("namespace", ns), LOG_Z("object", name),
                 LOG_STR("message", value_str(value_getz(rq.failure, "message"))));
}

void api_seed_namespace(struct apiserver *s, struct str ns)
{
    seed_in(s, "serviceaccounts", ns, "default", NULL, STR(""));
    seed_in(s, "configmaps", ns, "kube-root-ca.crt", "ca.crt", str_from(api_keys_ca(s->keys)));
}

int api_seed(struct apiserver *s, struct err **err)
{
    for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
        int r = seed_one(s, objects[i].id, objects[i].ns, objects[i].name, objects[i].json, err);

        if (r < 0)
            return r;
        if (strcmp(objects[i].id, "namespaces") == 0)
            api_seed_namespace(s, str_from(objects[i].name));
    }
    return 0;
}
