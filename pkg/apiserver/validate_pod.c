/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>

#include "apiserver/quantity.h"
#include "apiserver/validate_int.h"
#include "base/limits.h"
#include "base/map.h"

/* pkg/apis/core/validation: containers, volumes, probes. */

struct names {
    struct check *c;
    struct map volumes; /* names that mounts may use */
    struct map containers;
    struct map host_ports;
};

static bool is(struct value v, const char *path, const char *text)
{
    return str_eq(vtext(v, path), str_from(text));
}

/* ---- ports, probes, hooks ---- */

static void check_port_ref(struct check *c, struct value v, const char *path)
{
    if (value_is_string(v))
        vname(c, RULE_PORT_NAME, value_str(v), path);
    else
        vport(c, v, path);
}

static void check_ports(struct names *n, struct value ports, const char *path)
{
    static const char *const protocols[] = { "SCTP", "TCP", "UDP" };
    CLEANUP(map_done) struct map seen = MAP_INIT;
    struct check *c = n->c;
    size_t i = 0;

    for (struct value_iter it = value_iter(ports); value_next(&it); i++) {
        const char *here = vpath(c, "%s[%zu]", path, i);
        const struct str name = vtext(it.v, "name");
        const struct value port = value_getz(it.v, "containerPort"), host = value_getz(it.v, "hostPort");

        if (name.n > 0) {
            const size_t faults = c->causes->n;

            vname(c, RULE_PORT_NAME, name, vpath(c, "%s.name", here));
            if (faults == c->causes->n && map_put(&seen, name, c))
                api_cause_duplicate(c->causes, vpath(c, "%s.name", here), value_from_str(name));
        }
        if (value_int(port, 0) == 0)
            api_cause_required(c->causes, vpath(c, "%s.containerPort", here), "");
        else
            vport(c, port, vpath(c, "%s.containerPort", here));
        if (value_int(host, 0) != 0)
            vport(c, host, vpath(c, "%s.hostPort", here));
        venum(c, value_getz(it.v, "protocol"), protocols, ARRAY_SIZE(protocols),
              vpath(c, "%s.protocol", here));
        if (value_int(host, 0) != 0) {
            const struct str key =
                arena_printf(c->a, STR_FMT "/" STR_FMT "/%lld", STR_ARG(vtext(it.v, "protocol")),
                             STR_ARG(vtext(it.v, "hostIP")), (long long)value_int(host, 0));

            if (map_put(&n->host_ports, key, c))
                api_cause_duplicate(c->causes, vpath(c, "%s.hostPort", here), value_from_str(key));
        }
    }
}

static void check_handler(struct check *c, struct value h, const char *path)
{
    static const char *const kinds[] = { "exec", "httpGet", "tcpSocket", "grpc", "sleep" };
    static const char *const schemes[] = { "HTTP", "HTTPS" };
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        const struct value v = value_get(h, str_from(kinds[i]));
        const char *here = vpath(c, "%s.%s", path, kinds[i]);

        if (value_is_null(v))
            continue;
        if (n++ > 0) {
            api_cause_forbidden(c->causes, here, "may not specify more than 1 handler type");
            continue;
        }
        if (i == 0 && value_len(value_getz(v, "command")) == 0)
            api_cause_required(c->causes, vpath(c, "%s.command", here), "");
        if (i == 1 && vtext(v, "path").n == 0)
            api_cause_required(c->causes, vpath(c, "%s.path", here), "");
        if (i >= 1 && i <= 3)
            check_port_ref(c, value_getz(v, "port"), vpath(c, "%s.port", here));
        if (i == 1)
            venum(c, value_getz(v, "scheme"), schemes, ARRAY_SIZE(schemes), vpath(c, "%s.scheme", here));
    }
    if (n == 0)
        api_cause_required(c->causes, path, "must specify a handler type");
}

static void check_probe(struct check *c, struct value container, const char *name, const char *path)
{
    static const char *const numbers[] = { "initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                           "successThreshold", "failureThreshold" };
    const struct value probe = value_get(container, str_from(name));
    const char *here = vpath(c, "%s.%s", path, name);

    if (value_is_null(probe))
        return;
    check_handler(c, probe, here);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        vnot_negative(c, value_get(probe, str_from(numbers[i])), vpath(c, "%s.%s", here, numbers[i]));
    if (strcmp(name, "readinessProbe") != 0 && value_int(value_getz(probe, "successThreshold"), 1) != 1)
        api_cause_invalid(c->causes, vpath(c, "%s.successThreshold", here),
                          value_getz(probe, "successThreshold"), "must be 1");
}

/* ---- environment ---- */

static void check_key_ref(struct check *c, struct value ref, const char *path)
{
    if (value_is_null(ref))
        return;
    vname(c, RULE_SUBDOMAIN, vtext(ref, "name"), vpath(c, "%s.name", path));
    if (vtext(ref, "key").n == 0)
        api_cause_required(c->causes, vpath(c, "%s.key", path), "");
    else
        vname(c, RULE_CONFIG_KEY, vtext(ref, "key"), vpath(c, "%s.key", path));
}

static void check_value_from(struct check *c, struct value env, const char *path)
{
    static const char *const sources[] = { "fieldRef", "resourceFieldRef", "configMapKeyRef",
                                           "secretKeyRef" };
    const struct value from = value_getz(env, "valueFrom");
    size_t n = 0;

    if (!value_is_map(from))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
        n += !value_is_null(value_get(from, str_from(sources[i])));
    if (n == 0)
        api_cause_invalid(
            c->causes, path, VALUE_STR(""),
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
    else if (vtext(env, "value").n > 0)
        api_cause_invalid(c->causes, path, VALUE_STR(""), "may not be specified when `value` is not empty");
    else if (n > 1)
        api_cause_invalid(c->causes, path, VALUE_STR(""),
                          "may not have more than one field specified at a time");
    check_key_ref(c, value_getz(from, "configMapKeyRef"), vpath(c, "%s.configMapKeyRef", path));
    check_key_ref(c, value_getz(from, "secretKeyRef"), vpath(c, "%s.secretKeyRef", path));
}

static void check_env(struct check *c, struct value container, const char *path)
{
    size_t i = 0;

    for (struct value_iter it = value_iter(value_getz(container, "env")); value_next(&it); i++) {
        const char *here = vpath(c, "%s.env[%zu]", path, i);
        const struct str name = vtext(it.v, "name");
        bool bad = false;

        for (size_t k = 0; k < name.n; k++)
            bad |= name.p[k] < ' ' || name.p[k] > '~' || name.p[k] == '=';
        if (name.n == 0)
            api_cause_required(c->causes, vpath(c, "%s.name", here), "");
        else if (bad)
            api_cause_invalid(
                c->causes, vpath(c, "%s.name", here), value_from_str(name),
                "a valid environment variable name must consist only of printable ASCII characters other "
                "than '='");
        check_value_from(c, it.v, vpath(c, "%s.valueFrom", here));
    }
    for (struct value_iter it = value_iter(value_getz(container, "envFrom")); value_next(&it);)
        if (!vset(it.v, "configMapRef") && !vset(it.v, "secretRef"))
            api_cause_invalid(c->causes, vpath(c, "%s.envFrom", path), VALUE_STR(""),
                              "must specify one of: `configMapRef` or `secretRef`");
}

/* ---- resources ---- */

static bool is_container_resource(struct str name)
{
    static const char *const standard[] = { "cpu", "memory", "ephemeral-storage" };

    for (size_t i = 0; i < ARRAY_SIZE(standard); i++)
        if (str_eq(name, str_from(standard[i])))
            return true;
    return str_has_prefix(name, STR("hugepages-")) || str_find_char(name, '/') != STR_NPOS;
}

static void check_amounts(struct check *c, struct value amounts, const char *path)
{
    for (struct value_iter it = value_iter(amounts); value_next(&it);) {
        const char *here = vpath(c, "%s[" STR_FMT "]", path, STR_ARG(it.key));
        struct api_quantity q;

        if (!is_container_resource(it.key)) {
            api_cause_invalid(c->causes, here, value_from_str(it.key),
                              "must be a standard resource type or fully qualified");
            api_cause_invalid(c->causes, here, value_from_str(it.key),
                              "must be a standard resource for containers");
        }
        if (api_quantity_parse(value_str(it.v), &q) && q.n < 0)
            api_cause_invalid(c->causes, here, it.v, "must be greater than or equal to 0");
    }
}

static void check_resources(struct check *c, struct value resources, const char *path)
{
    const struct value limits = value_getz(resources, "limits"), requests = value_getz(resources, "requests");

    check_amounts(c, limits, vpath(c, "%s.limits", path));
    check_amounts(c, requests, vpath(c, "%s.requests", path));
    for (struct value_iter it = value_iter(requests); value_next(&it);) {
        const struct str limit = value_str(value_get(limits, it.key));
        struct api_quantity q, max;

        if (limit.n > 0 && api_quantity_parse(value_str(it.v), &q) && api_quantity_parse(limit, &max) &&
            api_quantity_cmp(q, max) > 0)
            api_cause_invalid(c->causes, vpath(c, "%s.requests", path), it.v,
                              vpath(c, "must be less than or equal to " STR_FMT " limit of " STR_FMT,
                                    STR_ARG(it.key), STR_ARG(limit)));
    }
}

/* ---- containers ---- */

static void check_mounts(struct names *n, struct value mounts, const char *path)
{
    CLEANUP(map_done) struct map seen = MAP_INIT;
    struct check *c = n->c;
    size_t i = 0;

    for (struct value_iter it = value_iter(mounts); value_next(&it); i++) {
        const char *here = vpath(c, "%s[%zu]", path, i);
        const struct str name = vtext(it.v, "name"), at = vtext(it.v, "mountPath");

        if (name.n == 0)
            api_cause_required(c->causes, vpath(c, "%s.name", here), "");
        if (!map_has(&n->volumes, name))
            api_cause_not_found(c->causes, vpath(c, "%s.name", here), value_from_str(name));
        if (at.n == 0)
            api_cause_required(c->causes, vpath(c, "%s.mountPath", here), "");
        else if (map_put(&seen, at, c))
            api_cause_invalid(c->causes, vpath(c, "%s.mountPath", here), value_from_str(at),
                              "must be unique");
    }
}

static void check_container(struct names *n, struct value v, const char *path)
{
    static const char *const policies[] = { "Always", "IfNotPresent", "Never" };
    static const char *const message_policies[] = { "File", "FallbackToLogsOnError" };
    struct check *c = n->c;
    const struct str name = vtext(v, "name"), image = vtext(v, "image");

    if (name.n == 0) {
        api_cause_required(c->causes, vpath(c, "%s.name", path), "");
    } else {
        vname(c, RULE_LABEL, name, vpath(c, "%s.name", path));
        if (map_put(&n->containers, name, n))
            api_cause_duplicate(c->causes, vpath(c, "%s.name", path), value_from_str(name));
    }
    if (image.n == 0)
        api_cause_required(c->causes, vpath(c, "%s.image", path), "");
    else if (str_trim(image).n != image.n && strncmp(path, "spec.template.", strlen("spec.template.")) != 0)
        api_cause_invalid(c->causes, vpath(c, "%s.image", path), value_from_str(image),
                          "must not have leading or trailing whitespace");
    for (size_t i = 0; i < 2; i++) {
        const struct value hook =
            value_get(value_getz(v, "lifecycle"), i ? STR("preStop") : STR("postStart"));

        if (!value_is_null(hook))
            check_handler(c, hook, vpath(c, "%s.lifecycle.%s", path, i ? "preStop" : "postStart"));
    }
    check_probe(c, v, "livenessProbe", path);
    check_probe(c, v, "readinessProbe", path);
    check_probe(c, v, "startupProbe", path);
    venum(c, value_getz(v, "terminationMessagePolicy"), message_policies, ARRAY_SIZE(message_policies),
          vpath(c, "%s.terminationMessagePolicy", path));
    check_ports(n, value_getz(v, "ports"), vpath(c, "%s.ports", path));
    check_env(c, v, path);
    check_mounts(n, value_getz(v, "volumeMounts"), vpath(c, "%s.volumeMounts", path));
    venum(c, value_getz(v, "imagePullPolicy"), policies, ARRAY_SIZE(policies),
          vpath(c, "%s.imagePullPolicy", path));
    check_resources(c, value_getz(v, "resources"), vpath(c, "%s.resources", path));
}

/* ---- volumes ---- */

static void check_source(struct check *c, struct value v, const char *path)
{
    static const struct {
        const char *source, *field;
    } needed[] = { { "hostPath", "path" },
                   { "secret", "secretName" },
                   { "configMap", "name" },
                   { "persistentVolumeClaim", "claimName" } };
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
        const struct value s = value_get(v, str_from(needed[i].source));

        if (value_is_null(s))
            continue;
        if (n++ > 0)
            api_cause_forbidden(c->causes, vpath(c, "%s.%s", path, needed[i].source),
                                "may not specify more than 1 volume type");
        else if (value_str(value_get(s, str_from(needed[i].field))).n == 0)
            api_cause_required(c->causes, vpath(c, "%s.%s.%s", path, needed[i].source, needed[i].field), "");
    }
}

static void check_volumes(struct names *n, struct value volumes, const char *path)
{
    struct check *c = n->c;
    size_t i = 0;

    for (struct value_iter it = value_iter(volumes); value_next(&it); i++) {
        const char *here = vpath(c, "%s[%zu]", path, i);
        const struct str name = vtext(it.v, "name");

        check_source(c, it.v, here);
        if (name.n == 0) {
            api_cause_required(c->causes, vpath(c, "%s.name", here), "");
            continue;
        }
        vname(c, RULE_LABEL, name, vpath(c, "%s.name", here));
        if (map_put(&n->volumes, name, n))
            api_cause_duplicate(c->causes, vpath(c, "%s.name", here), value_from_str(name));
    }
}

/* ---- the pod ---- */

static void check_tolerations(struct check *c, struct value list, const char *path)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
    static const char *const operators[] = { "Equal", "Exists" };
    size_t i = 0;

    for (struct value_iter it = value_iter(list); value_next(&it); i++) {
        const char *op = vpath(c, "%s[%zu].operator", path, i);
        const struct value operator= value_getz(it.v, "operator");

        if (vtext(it.v, "key").n > 0)
            vname(c, RULE_QUALIFIED, vtext(it.v, "key"), vpath(c, "%s[%zu].key", path, i));
        else if (!is(it.v, "operator", "Exists"))
            api_cause_invalid(
                c->causes, op, operator,
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
        if (is(it.v, "operator", "Exists") && vtext(it.v, "value").n > 0)
            api_cause_invalid(c->causes, op, value_getz(it.v, "value"),
                              "value must be empty when `operator` is 'Exists'");
        else if (value_str(operator).n > 0)
            venum(c, operator, operators, ARRAY_SIZE(operators), op);
        if (vtext(it.v, "effect").n > 0)
            venum(c, value_getz(it.v, "effect"), effects, ARRAY_SIZE(effects),
                  vpath(c, "%s[%zu].effect", path, i));
    }
}

bool vis_ip(struct str s)
{
    char text[64];
    unsigned char address[16];

    if (s.n >= sizeof(text))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static void check_names_of_pod(struct check *c, struct value spec, const char *path)
{
    size_t i = 0;

    vlabels(c, value_getz(spec, "nodeSelector"), vpath(c, "%s.nodeSelector", path));
    if (vtext(spec, "serviceAccountName").n > 0)
        vname(c, RULE_SUBDOMAIN, vtext(spec, "serviceAccountName"), vpath(c, "%s.serviceAccountName", path));
    if (vtext(spec, "hostname").n > 0)
        vname(c, RULE_LABEL, vtext(spec, "hostname"), vpath(c, "%s.hostname", path));
    if (vtext(spec, "subdomain").n > 0)
        vname(c, RULE_LABEL, vtext(spec, "subdomain"), vpath(c, "%s.subdomain", path));
    check_tolerations(c, value_getz(spec, "tolerations"), vpath(c, "%s.tolerations", path));
    for (struct value_iter it = value_iter(value_getz(spec, "hostAliases")); value_next(&it); i++)
        if (!vis_ip(vtext(it.v, "ip")))
            api_cause_invalid(c->causes, vpath(c, "%s.hostAliases[%zu].ip", path, i), value_getz(it.v, "ip"),
                              "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

void vpod_spec(struct check *c, struct value spec, const char *path)
{
    static const char *const restarts[] = { "Always", "OnFailure", "Never" };
    static const char *const dns[] = { "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None" };
    struct names n = { c, MAP_INIT, MAP_INIT, MAP_INIT };
    const struct value containers = value_getz(spec, "containers"),
                       deadline = value_getz(spec, "activeDeadlineSeconds");
    size_t i = 0;

    check_volumes(&n, value_getz(spec, "volumes"), vpath(c, "%s.volumes", path));
    if (value_len(containers) == 0)
        api_cause_required(c->causes, vpath(c, "%s.containers", path), "");
    for (struct value_iter it = value_iter(containers); value_next(&it); i++)
        check_container(&n, it.v, vpath(c, "%s.containers[%zu]", path, i));
    i = 0;
    for (struct value_iter it = value_iter(value_getz(spec, "initContainers")); value_next(&it); i++)
        check_container(&n, it.v, vpath(c, "%s.initContainers[%zu]", path, i));
    venum(c, value_getz(spec, "restartPolicy"), restarts, ARRAY_SIZE(restarts),
          vpath(c, "%s.restartPolicy", path));
    venum(c, value_getz(spec, "dnsPolicy"), dns, ARRAY_SIZE(dns), vpath(c, "%s.dnsPolicy", path));
    if (is(spec, "dnsPolicy", "None") && !vset(spec, "dnsConfig"))
        api_cause_required(c->causes, vpath(c, "%s.dnsConfig", path),
                           "must provide `dnsConfig` when `dnsPolicy` is None");
    check_names_of_pod(c, spec, path);
    if (!value_is_null(deadline) && value_int(deadline, 1) < 1)
        api_cause_invalid(c->causes, vpath(c, "%s.activeDeadlineSeconds", path), deadline,
                          "must be between 1 and 2147483647, inclusive");
    map_done(&n.volumes);
    map_done(&n.containers);
    map_done(&n.host_ports);
}

void vpod_template(struct check *c, struct value template, const char *path)
{
    vlabels(c, value_path(template, "metadata.labels"), vpath(c, "%s.labels", path));
    vpod_spec(c, value_getz(template, "spec"), vpath(c, "%s.spec", path));
}
