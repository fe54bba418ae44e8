/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate_int.h"
#include "base/limits.h"
#include "base/map.h"

/* pkg/apis/{core,networking,rbac,storage,scheduling,coordination}/validation: objects without pods. */

#define DATA_MAX ((size_t)1048576) /* of a ConfigMap or Secret */

static bool is(struct value v, const char *path, const char *text)
{
    return str_eq(vtext(v, path), str_from(text));
}

/* ---- ConfigMap, Secret ---- */

static void config_map(struct check *c, struct value obj)
{
    const struct value data = value_getz(obj, "data"), binary = value_getz(obj, "binaryData");
    size_t total = 0;

    for (struct value_iter it = value_iter(data); value_next(&it);) {
        vname(c, RULE_CONFIG_KEY, it.key, vpath(c, "data[" STR_FMT "]", STR_ARG(it.key)));
        if (value_has(binary, it.key))
            api_cause_invalid(c->causes, vpath(c, "data[" STR_FMT "]", STR_ARG(it.key)),
                              value_from_str(it.key), "duplicate of key present in binaryData");
        total += value_str(it.v).n;
    }
    for (struct value_iter it = value_iter(binary); value_next(&it);) {
        vname(c, RULE_CONFIG_KEY, it.key, vpath(c, "binaryData[" STR_FMT "]", STR_ARG(it.key)));
        total += value_str(it.v).n / 4 * 3;
    }
    if (total > DATA_MAX)
        api_cause_too_long(c->causes, "[]", DATA_MAX);
}

static void need_data(struct check *c, struct value obj, const char *key)
{
    if (!value_has(value_getz(obj, "data"), str_from(key)))
        api_cause_required(c->causes, vpath(c, "data[%s]", key), "");
}

static void secret(struct check *c, struct value obj)
{
    static const struct {
        const char *type, *key;
    } needed[] = { { "kubernetes.io/dockercfg", ".dockercfg" },
                   { "kubernetes.io/dockerconfigjson", ".dockerconfigjson" },
                   { "kubernetes.io/ssh-auth", "ssh-privatekey" },
                   { "kubernetes.io/tls", "tls.crt" },
                   { "kubernetes.io/tls", "tls.key" } };
    const struct value data = value_getz(obj, "data");
    size_t total = 0;

    for (struct value_iter it = value_iter(data); value_next(&it);) {
        vname(c, RULE_CONFIG_KEY, it.key, vpath(c, "data[" STR_FMT "]", STR_ARG(it.key)));
        total += value_str(it.v).n / 4 * 3;
    }
    if (total > DATA_MAX)
        api_cause_too_long(c->causes, "data", DATA_MAX);
    for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
        if (is(obj, "type", needed[i].type))
            need_data(c, obj, needed[i].key);
    if (is(obj, "type", "kubernetes.io/basic-auth") && !value_has(data, STR("username")) &&
        !value_has(data, STR("password"))) {
        need_data(c, obj, "username");
        need_data(c, obj, "password");
    }
    if (is(obj, "type", "kubernetes.io/service-account-token") &&
        value_str(value_getz(value_path(obj, "metadata.annotations"), "kubernetes.io/service-account.name"))
                .n == 0)
        api_cause_required(c->causes, "metadata.annotations[kubernetes.io/service-account.name]", "");
}

/* ---- Service ---- */

static void check_service_port(struct check *c, struct value p, bool many, struct map *names,
                               const char *here)
{
    static const char *const protocols[] = { "SCTP", "TCP", "UDP" };
    const struct str name = vtext(p, "name");
    const struct value target = value_getz(p, "targetPort");

    if (many && name.n == 0) {
        api_cause_required(c->causes, vpath(c, "%s.name", here), "");
    } else if (name.n > 0) {
        vname(c, RULE_LABEL, name, vpath(c, "%s.name", here));
        if (map_put(names, name, c))
            api_cause_duplicate(c->causes, vpath(c, "%s.name", here), value_from_str(name));
    }
    vport(c, value_getz(p, "port"), vpath(c, "%s.port", here));
    venum(c, value_getz(p, "protocol"), protocols, ARRAY_SIZE(protocols), vpath(c, "%s.protocol", here));
    if (value_is_string(target))
        vname(c, RULE_PORT_NAME, value_str(target), vpath(c, "%s.targetPort", here));
    else
        vport(c, target, vpath(c, "%s.targetPort", here));
}

static void check_duplicate_ports(struct check *c, struct value ports)
{
    CLEANUP(map_done) struct map seen = MAP_INIT;
    size_t i = 0;

    for (struct value_iter it = value_iter(ports); value_next(&it); i++) {
        const int64_t port = value_int(value_getz(it.v, "port"), 0);
        const struct str key =
            arena_printf(c->a, STR_FMT "/%lld", STR_ARG(vtext(it.v, "protocol")), (long long)port);
        CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

        if (!map_put(&seen, key, c))
            continue;
        buf_addf(&b,
                 "Duplicate value: {\"Name\":\"\",\"Protocol\":\"" STR_FMT
                 "\",\"AppProtocol\":null,\"Port\":%lld,\"TargetPort\":0,\"NodePort\":0}",
                 STR_ARG(vtext(it.v, "protocol")), (long long)port);
        api_cause_add(c->causes, "FieldValueDuplicate", str_from(vpath(c, "spec.ports[%zu]", i)),
                      buf_str(&b));
    }
}

static void check_addresses(struct check *c, struct value spec)
{
    static const char ip_text[] = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    static const char *const policies[] = { "Cluster", "Local" };
    const struct value ip = value_getz(spec, "clusterIP"), external = value_getz(spec, "externalIPs");
    const struct value traffic = value_getz(spec, "externalTrafficPolicy");
    const bool outside = is(spec, "type", "NodePort") || is(spec, "type", "LoadBalancer");

    if (value_str(ip).n > 0 && !is(spec, "clusterIP", "None") && !vis_ip(value_str(ip)))
        api_cause_invalid(c->causes, "spec.clusterIPs[0]", ip, ip_text);
    if (is(spec, "clusterIP", "None") && outside)
        api_cause_invalid(
            c->causes, "spec.clusterIPs[0]", ip,
            vpath(c, "may not be set to 'None' for " STR_FMT " services", STR_ARG(vtext(spec, "type"))));
    for (size_t i = 0; i < value_len(external); i++)
        if (!vis_ip(value_str(value_at(external, i))))
            api_cause_invalid(c->causes, vpath(c, "spec.externalIPs[%zu]", i), value_at(external, i),
                              ip_text);
    if (value_is_null(traffic))
        return;
    if (!outside && value_len(external) == 0)
        api_cause_invalid(c->causes, "spec.externalTrafficPolicy", traffic,
                          "may only be set for externally-accessible services");
    else
        venum(c, traffic, policies, 2, "spec.externalTrafficPolicy");
}

static void service(struct check *c, struct value obj)
{
    static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort" };
    static const char *const affinities[] = { "ClientIP", "None" };
    CLEANUP(map_done) struct map names = MAP_INIT;
    const struct value spec = value_getz(obj, "spec"), ports = value_getz(spec, "ports");
    const bool external = is(spec, "type", "ExternalName"), headless = is(spec, "clusterIP", "None");
    size_t i = 0;

    if (value_len(ports) == 0 && !headless && !external)
        api_cause_required(c->causes, "spec.ports", "");
    if (external) {
        const struct str name = str_trim_suffix(vtext(spec, "externalName"), STR("."));

        if (name.n > 0)
            vname(c, RULE_SUBDOMAIN, name, "spec.externalName");
        else
            api_cause_required(c->causes, "spec.externalName", "");
    }
    for (struct value_iter it = value_iter(ports); value_next(&it); i++)
        check_service_port(c, it.v, ports.n > 1, &names, vpath(c, "spec.ports[%zu]", i));
    vlabels(c, value_getz(spec, "selector"), "spec.selector");
    venum(c, value_getz(spec, "sessionAffinity"), affinities, ARRAY_SIZE(affinities), "spec.sessionAffinity");
    venum(c, value_getz(spec, "type"), types, ARRAY_SIZE(types), "spec.type");
    if (is(spec, "type", "ClusterIP"))
        for (i = 0; i < value_len(ports); i++)
            if (value_int(value_getz(value_at(ports, i), "nodePort"), 0) != 0)
                api_cause_forbidden(c->causes, vpath(c, "spec.ports[%zu].nodePort", i),
                                    "may not be used when `type` is 'ClusterIP'");
    check_duplicate_ports(c, ports);
    check_addresses(c, spec);
}

/* ---- Ingress ---- */

static void check_backend(struct check *c, struct value backend, const char *path)
{
    const struct value s = value_getz(backend, "service"), number = value_path(s, "port.number");
    const struct str name = vtext(s, "port.name");

    if (!value_is_map(s)) {
        if (!vset(backend, "resource"))
            api_cause_invalid(c->causes, path, VALUE_STR(""), "resource or service backend is required");
        return;
    }
    if (vtext(s, "name").n == 0)
        api_cause_required(c->causes, vpath(c, "%s.service.name", path), "");
    else
        vname(c, RULE_LABEL_1035, vtext(s, "name"), vpath(c, "%s.service.name", path));
    if (name.n == 0 && value_int(number, 0) == 0)
        api_cause_required(c->causes, path, "port name or number is required");
    else if (name.n > 0 && value_int(number, 0) != 0)
        api_cause_invalid(c->causes, path, VALUE_STR(""), "cannot set both port name & port number");
}

static void check_ingress_path(struct check *c, struct value p, const char *here)
{
    static const char *const types[] = { "Exact", "ImplementationSpecific", "Prefix" };
    static const char *const refused[] = { "//", "/./", "/../", "%2f", "%2F" };
    const struct value path = value_getz(p, "path");
    const struct str text = value_str(path);
    const char *path_path = vpath(c, "%s.path", here);

    if (!vset(p, "pathType")) {
        api_cause_required(c->causes, vpath(c, "%s.pathType", here), "pathType must be specified");
    } else if (is(p, "pathType", "ImplementationSpecific")) {
        if (text.n > 0 && text.p[0] != '/')
            api_cause_invalid(c->causes, path_path, path, "must be an absolute path");
    } else if (is(p, "pathType", "Prefix") || is(p, "pathType", "Exact")) {
        if (text.n == 0 || text.p[0] != '/')
            api_cause_invalid(c->causes, path_path, path, "must be an absolute path");
        for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
            if (str_contains(text, str_from(refused[i])))
                api_cause_invalid(c->causes, path_path, path, vpath(c, "must not contain '%s'", refused[i]));
    } else {
        api_cause_not_supported(c->causes, vpath(c, "%s.pathType", here), value_getz(p, "pathType"), types,
                                3);
    }
    check_backend(c, value_getz(p, "backend"), vpath(c, "%s.backend", here));
}

static void ingress(struct check *c, struct value obj)
{
    const struct value spec = value_getz(obj, "spec"), rules = value_getz(spec, "rules");
    size_t i = 0;

    if (value_len(rules) == 0 && !vset(spec, "defaultBackend"))
        api_cause_invalid(c->causes, "spec", VALUE_NONE,
                          "either `defaultBackend` or `rules` must be specified");
    if (vset(spec, "defaultBackend"))
        check_backend(c, value_getz(spec, "defaultBackend"), "spec.defaultBackend");
    for (struct value_iter it = value_iter(rules); value_next(&it); i++) {
        const struct str host = str_trim_prefix(vtext(it.v, "host"), STR("*."));
        const struct value paths = value_path(it.v, "http.paths");

        if (host.n > 0 && vis_ip(host))
            api_cause_invalid(c->causes, vpath(c, "spec.rules[%zu].host", i), value_from_str(host),
                              "must be a DNS name, not an IP address");
        else if (host.n > 0)
            vname(c, RULE_SUBDOMAIN, host, vpath(c, "spec.rules[%zu].host", i));
        if (vset(it.v, "http") && value_len(paths) == 0)
            api_cause_required(c->causes, vpath(c, "spec.rules[%zu].http.paths", i), "");
        for (size_t j = 0; j < value_len(paths); j++)
            check_ingress_path(c, value_at(paths, j), vpath(c, "spec.rules[%zu].http.paths[%zu]", i, j));
    }
}

/* ---- RBAC ---- */

static void check_rule(struct check *c, struct value rule, bool namespaced, const char *here)
{
    const struct value urls = value_getz(rule, "nonResourceURLs"), groups = value_getz(rule, "apiGroups");
    const struct value resources = value_getz(rule, "resources");

    if (value_len(value_getz(rule, "verbs")) == 0)
        api_cause_required(c->causes, vpath(c, "%s.verbs", here), "verbs must contain at least one value");
    if (value_len(urls) > 0) {
        if (namespaced)
            api_cause_invalid(c->causes, vpath(c, "%s.nonResourceURLs", here), urls,
                              "namespaced rules cannot apply to non-resource URLs");
        if (value_len(groups) > 0 || value_len(resources) > 0 ||
            value_len(value_getz(rule, "resourceNames")) > 0)
            api_cause_invalid(c->causes, vpath(c, "%s.nonResourceURLs", here), urls,
                              "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (value_len(groups) == 0)
        api_cause_required(c->causes, vpath(c, "%s.apiGroups", here),
                           "resource rules must supply at least one api group");
    if (value_len(resources) == 0)
        api_cause_required(c->causes, vpath(c, "%s.resources", here),
                           "resource rules must supply at least one resource");
}

static void check_rules(struct check *c, struct value obj, bool namespaced)
{
    size_t i = 0;

    for (struct value_iter it = value_iter(value_getz(obj, "rules")); value_next(&it); i++)
        check_rule(c, it.v, namespaced, vpath(c, "rules[%zu]", i));
}

static void role(struct check *c, struct value obj)
{
    check_rules(c, obj, true);
}

static void cluster_role(struct check *c, struct value obj)
{
    check_rules(c, obj, false);
}

static void check_subject(struct check *c, struct value s, bool namespaced, const char *here)
{
    static const char *const kinds[] = { "ServiceAccount", "User", "Group" };
    const struct str name = vtext(s, "name");

    if (name.n == 0)
        api_cause_required(c->causes, vpath(c, "%s.name", here), "");
    if (!is(s, "kind", "ServiceAccount")) {
        venum(c, value_getz(s, "kind"), kinds, ARRAY_SIZE(kinds), vpath(c, "%s.kind", here));
        return;
    }
    if (name.n > 0)
        vname(c, RULE_SUBDOMAIN, name, vpath(c, "%s.name", here));
    if (!namespaced && vtext(s, "namespace").n == 0)
        api_cause_required(c->causes, vpath(c, "%s.namespace", here), "");
}

static void check_binding(struct check *c, struct value obj, bool namespaced)
{
    static const char *const group[] = { "rbac.authorization.k8s.io" };
    static const char *const kinds[] = { "Role", "ClusterRole" };
    const struct value ref = value_getz(obj, "roleRef");
    const struct str name = vtext(ref, "name");
    size_t i = 0;

    venum(c, value_getz(ref, "apiGroup"), group, 1, "roleRef.apiGroup");
    venum(c, value_getz(ref, "kind"), namespaced ? kinds : kinds + 1, namespaced ? 2 : 1, "roleRef.kind");
    if (name.n == 0)
        api_cause_required(c->causes, "roleRef.name", "");
    else
        vname(c, RULE_PATH_SEGMENT, name, "roleRef.name");
    for (struct value_iter it = value_iter(value_getz(obj, "subjects")); value_next(&it); i++)
        check_subject(c, it.v, namespaced, vpath(c, "subjects[%zu]", i));
}

static void role_binding(struct check *c, struct value obj)
{
    check_binding(c, obj, true);
}

static void cluster_role_binding(struct check *c, struct value obj)
{
    check_binding(c, obj, false);
}

/* ---- storage and others ---- */

static void claim(struct check *c, struct value obj)
{
    static const char *const modes[] = { "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                         "ReadWriteOncePod" };
    static const char *const volume_modes[] = { "Block", "Filesystem" };
    const struct value spec = value_getz(obj, "spec");

    if (value_len(value_getz(spec, "accessModes")) == 0)
        api_cause_required(c->causes, "spec.accessModes", "at least 1 access mode is required");
    for (struct value_iter it = value_iter(value_getz(spec, "accessModes")); value_next(&it);)
        venum(c, it.v, modes, ARRAY_SIZE(modes), "spec.accessModes");
    if (vtext(spec, "resources.requests.storage").n == 0)
        api_cause_required(c->causes, "spec.resources[storage]", "");
    else if (is(spec, "resources.requests.storage", "0"))
        api_cause_invalid(c->causes, "spec.resources[storage]", VALUE_STR("0"), "must be greater than zero");
    if (vtext(spec, "storageClassName").n > 0)
        vname(c, RULE_SUBDOMAIN, vtext(spec, "storageClassName"), "spec.storageClassName");
    if (vset(spec, "volumeMode"))
        venum(c, value_getz(spec, "volumeMode"), volume_modes, 2, "spec.volumeMode");
}

static void storage_class(struct check *c, struct value obj)
{
    static const char *const policies[] = { "Delete", "Retain" };
    static const char *const modes[] = { "Immediate", "WaitForFirstConsumer" };

    if (vtext(obj, "provisioner").n == 0)
        api_cause_required(c->causes, "provisioner", "");
    venum(c, value_getz(obj, "reclaimPolicy"), policies, 2, "reclaimPolicy");
    venum(c, value_getz(obj, "volumeBindingMode"), modes, 2, "volumeBindingMode");
}

static void check_policy_rules(struct check *c, struct value rules, const char *peers, const char *path)
{
    size_t i = 0;

    for (struct value_iter it = value_iter(rules); value_next(&it); i++) {
        const struct value ports = value_getz(it.v, "ports"), from = value_get(it.v, str_from(peers));

        for (size_t j = 0; j < value_len(ports); j++) {
            const struct value port = value_getz(value_at(ports, j), "port");

            if (!value_is_null(port) && !value_is_string(port))
                vport(c, port, vpath(c, "%s[%zu].ports[%zu].port", path, i, j));
        }
        for (size_t j = 0; j < value_len(from); j++)
            if (value_len(value_at(from, j)) == 0)
                api_cause_required(c->causes, vpath(c, "%s[%zu].%s[%zu]", path, i, peers, j),
                                   "must specify a peer");
    }
}

static void network_policy(struct check *c, struct value obj)
{
    static const char *const types[] = { "Ingress", "Egress" };
    size_t i = 0;

    vlabel_selector(c, value_path(obj, "spec.podSelector"), "spec.podSelector");
    check_policy_rules(c, value_path(obj, "spec.ingress"), "from", "spec.ingress");
    check_policy_rules(c, value_path(obj, "spec.egress"), "to", "spec.egress");
    for (struct value_iter it = value_iter(value_path(obj, "spec.policyTypes")); value_next(&it); i++)
        venum(c, it.v, types, 2, vpath(c, "spec.policyTypes[%zu]", i));
}

static void lease(struct check *c, struct value obj)
{
    const struct value seconds = value_path(obj, "spec.leaseDurationSeconds");

    if (!value_is_null(seconds) && value_int(seconds, 0) <= 0)
        api_cause_invalid(c->causes, "spec.leaseDurationSeconds", seconds, "must be greater than 0");
    vnot_negative(c, value_path(obj, "spec.leaseTransitions"), "spec.leaseTransitions");
}

static void priority_class(struct check *c, struct value obj)
{
    if (value_int(value_getz(obj, "value"), 0) > 1000000000 &&
        !str_has_prefix(vtext(obj, "metadata.name"), STR("system-")))
        api_cause_forbidden(c->causes, "value",
                            "maximum allowed value of a user defined priority is 1000000000");
}

static const struct {
    const char *kind;
    void (*fn)(struct check *c, struct value obj);
} kinds[] = {
    { "ClusterRole", cluster_role },
    { "ClusterRoleBinding", cluster_role_binding },
    { "ConfigMap", config_map },
    { "Ingress", ingress },
    { "Lease", lease },
    { "NetworkPolicy", network_policy },
    { "PersistentVolumeClaim", claim },
    { "PriorityClass", priority_class },
    { "Role", role },
    { "RoleBinding", role_binding },
    { "Secret", secret },
    { "Service", service },
    { "StorageClass", storage_class },
};

void vcheck_core(struct check *c, const struct api_kind *k, struct value obj)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].kind, k->kind) == 0)
            kinds[i].fn(c, obj);
}
