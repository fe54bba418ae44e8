/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/printer_cells.h"
#include "apiserver/printer_pod.h"
#include "base/limits.h"

/* pkg/printers/internalversion: the cells of built-in kinds. */

/* ---- templates and selectors ---- */

static void add_containers(struct printer_row *r, struct value containers)
{
    struct joined names = { BUF_INIT(64 * KIB), 0, SIZE_MAX }, images = { BUF_INIT(64 * KIB), 0, SIZE_MAX };

    for (struct value_iter it = value_iter(containers); value_next(&it);) {
        join(&names, text(it.v, "name"));
        join(&images, text(it.v, "image"));
    }
    add_joined(r, &names, "");
    add_joined(r, &images, "");
}

static void print_labels(struct value labels, struct buf *out)
{
    for (struct value_iter it = value_iter(labels); value_next(&it);)
        buf_addf(out, "%s" STR_FMT "=" STR_FMT, out->n ? "," : "", STR_ARG(it.key), STR_ARG(value_str(it.v)));
}

static void add_labels(struct printer_row *r, struct value labels)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    print_labels(labels, &b);
    add_text(r, buf_str(&b), "<none>");
}

static void print_requirement(struct printer_row *r, struct value e, struct buf *out)
{
    const struct str key = text(e, "key"), op = text(e, "operator");
    const struct value values = value_getz(e, "values");
    struct str *sorted = ARENA_ARRAY(r->a, struct str, value_len(values) + 1);

    if (str_eq(op, STR("DoesNotExist")))
        buf_addc(out, '!');
    buf_addstr(out, key);
    if (str_eq(op, STR("Exists")) || str_eq(op, STR("DoesNotExist")))
        return;
    for (size_t i = 0; i < value_len(values); i++)
        sorted[i] = value_str(value_at(values, i));
    qsort(sorted, value_len(values), sizeof(*sorted), compare_str);
    buf_adds(out, str_eq(op, STR("In")) ? " in (" : " notin (");
    for (size_t i = 0; i < value_len(values); i++)
        buf_addf(out, "%s" STR_FMT, i ? "," : "", STR_ARG(sorted[i]));
    buf_addc(out, ')');
}

struct requirement {
    struct str key, text;
};

static int compare_requirement(const void *a, const void *b)
{
    return str_cmp(((const struct requirement *)a)->key, ((const struct requirement *)b)->key);
}

/* metav1.FormatLabelSelector: all requirements sorted by their keys. */
static void add_selector(struct printer_row *r, struct value selector)
{
    const struct value labels = value_getz(selector, "matchLabels"),
                       more = value_getz(selector, "matchExpressions");
    struct requirement *all = ARENA_ARRAY(r->a, struct requirement, value_len(labels) + value_len(more) + 1);
    struct joined j = { BUF_INIT(64 * KIB), 0, SIZE_MAX };
    size_t n = 0;

    for (struct value_iter it = value_iter(labels); value_next(&it);)
        all[n++] = (struct requirement){ it.key, arena_printf(r->a, STR_FMT "=" STR_FMT, STR_ARG(it.key),
                                                              STR_ARG(value_str(it.v))) };
    for (struct value_iter it = value_iter(more); value_next(&it);) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

        print_requirement(r, it.v, &b);
        all[n++] = (struct requirement){ text(it.v, "key"), arena_dup(r->a, buf_str(&b)) };
    }
    qsort(all, n, sizeof(*all), compare_requirement);
    for (size_t i = 0; i < n; i++)
        join(&j, all[i].text);
    add_joined(r, &j, "<none>");
}

static void add_template(struct printer_row *r)
{
    add_containers(r, at(r->spec, "template.spec.containers"));
}

/* ---- workloads ---- */

static void deployment(struct printer_row *r)
{
    add_name(r);
    printer_addf(r, "%lld/%lld", (long long)number(r->status, "readyReplicas"),
                 (long long)number(r->spec, "replicas"));
    printer_add_int(r, number(r->status, "updatedReplicas"));
    printer_add_int(r, number(r->status, "availableReplicas"));
    add_age(r);
    add_template(r);
    add_selector(r, at(r->spec, "selector"));
}

static void replica_set(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, number(r->spec, "replicas"));
    printer_add_int(r, number(r->status, "replicas"));
    printer_add_int(r, number(r->status, "readyReplicas"));
    add_age(r);
    add_template(r);
    add_selector(r, at(r->spec, "selector"));
}

static void replication_controller(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, number(r->spec, "replicas"));
    printer_add_int(r, number(r->status, "replicas"));
    printer_add_int(r, number(r->status, "readyReplicas"));
    add_age(r);
    add_template(r);
    add_labels(r, at(r->spec, "selector"));
}

static void stateful_set(struct printer_row *r)
{
    add_name(r);
    printer_addf(r, "%lld/%lld", (long long)number(r->status, "readyReplicas"),
                 (long long)number(r->spec, "replicas"));
    add_age(r);
    add_template(r);
}

static void daemon_set(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, number(r->status, "desiredNumberScheduled"));
    printer_add_int(r, number(r->status, "currentNumberScheduled"));
    printer_add_int(r, number(r->status, "numberReady"));
    printer_add_int(r, number(r->status, "updatedNumberScheduled"));
    printer_add_int(r, number(r->status, "numberAvailable"));
    add_labels(r, at(r->spec, "template.spec.nodeSelector"));
    add_age(r);
    add_template(r);
    add_selector(r, at(r->spec, "selector"));
}

static bool has_condition(struct value status, const char *type)
{
    for (struct value_iter it = value_iter(value_getz(status, "conditions")); value_next(&it);)
        if (str_eq(text(it.v, "type"), str_from(type)) && str_eq(text(it.v, "status"), STR("True")))
            return true;
    return false;
}

static const char *job_status(struct printer_row *r)
{
    static const char *const after[] = { "Suspended", "FailureTarget", "SuccessCriteriaMet" };

    if (has_condition(r->status, "Complete"))
        return "Complete";
    if (has_condition(r->status, "Failed"))
        return "Failed";
    if (!value_is_null(at(r->object, "metadata.deletionTimestamp")))
        return "Terminating";
    for (size_t i = 0; i < ARRAY_SIZE(after); i++)
        if (has_condition(r->status, after[i]))
            return after[i];
    return "Running";
}

static void job(struct printer_row *r)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    const struct value completions = at(r->spec, "completions"), start = at(r->status, "startTime");
    const int64_t parallelism = number(r->spec, "parallelism"), succeeded = number(r->status, "succeeded");
    struct wall_time from, to;

    add_name(r);
    printer_add(r, job_status(r));
    if (!value_is_null(completions))
        printer_addf(r, "%lld/%lld", (long long)succeeded, (long long)value_int(completions, 0));
    else if (parallelism > 1)
        printer_addf(r, "%lld/1 of %lld", (long long)succeeded, (long long)parallelism);
    else
        printer_addf(r, "%lld/1", (long long)succeeded);
    if (clock_parse_rfc3339(value_str(start), &from)) {
        if (!clock_parse_rfc3339(text(r->status, "completionTime"), &to))
            to = r->now;
        api_printer_duration(to.s - from.s, &b);
    }
    printer_add_str(r, buf_str(&b));
    add_age(r);
    add_template(r);
    add_selector(r, at(r->spec, "selector"));
}

static void cron_job(struct printer_row *r)
{
    const struct value last = at(r->status, "lastScheduleTime"), suspend = at(r->spec, "suspend");

    add_name(r);
    printer_add_str(r, text(r->spec, "schedule"));
    add_text(r, text(r->spec, "timeZone"), "<none>");
    printer_add(r, value_is_null(suspend) ? "<unset>" : value_bool(suspend) ? "True" : "False");
    printer_add_int(r, (int64_t)value_len(at(r->status, "active")));
    printer_add_str(r, value_is_null(last) ? STR("<none>") : printer_since(r, last));
    add_age(r);
    add_containers(r, at(r->spec, "jobTemplate.spec.template.spec.containers"));
    add_selector(r, at(r->spec, "jobTemplate.spec.selector"));
}

static void pod_template(struct printer_row *r)
{
    add_name(r);
    add_containers(r, at(r->object, "template.spec.containers"));
    add_labels(r, at(r->object, "template.metadata.labels"));
}

static void controller_revision(struct printer_row *r)
{
    const char *name = "<none>";

    add_name(r);
    for (struct value_iter it = value_iter(at(r->object, "metadata.ownerReferences")); value_next(&it);) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
        const struct str kind = text(it.v, "kind"), version = text(it.v, "apiVersion");
        const size_t slash = str_find_char(version, '/');

        if (!value_bool(value_getz(it.v, "controller")))
            continue;
        for (size_t i = 0; i < kind.n; i++)
            buf_addc(&b, ascii_lower(kind.p[i]));
        if (slash != STR_NPOS)
            buf_addf(&b, "." STR_FMT, STR_ARG(str_sub(version, 0, slash)));
        buf_addf(&b, "/" STR_FMT, STR_ARG(text(it.v, "name")));
        name = arena_dupz(r->a, buf_str(&b));
    }
    printer_add(r, name);
    printer_add_int(r, number(r->object, "revision"));
    add_age(r);
}

/* ---- network ---- */

static void join_addresses(struct joined *j, struct value ingress)
{
    for (struct value_iter it = value_iter(ingress); value_next(&it);) {
        const struct str ip = text(it.v, "ip");

        join(j, ip.n ? ip : text(it.v, "hostname"));
    }
}

static void add_external_ip(struct printer_row *r)
{
    const struct str type = text(r->spec, "type");
    struct joined j = { BUF_INIT(64 * KIB), 0, SIZE_MAX };

    if (str_eq(type, STR("ExternalName"))) {
        printer_add_str(r, text(r->spec, "externalName"));
        return;
    }
    if (str_eq(type, STR("LoadBalancer")))
        join_addresses(&j, at(r->status, "loadBalancer.ingress"));
    join_strings(&j, at(r->spec, "externalIPs"));
    add_joined(r, &j, str_eq(type, STR("LoadBalancer")) ? "<pending>" : "<none>");
}

static void service(struct printer_row *r)
{
    const struct value ips = at(r->spec, "clusterIPs");
    struct joined ports = { BUF_INIT(64 * KIB), 0, SIZE_MAX };

    add_name(r);
    printer_add_str(r, text(r->spec, "type"));
    add_text(r, value_len(ips) > 0 ? value_str(value_at(ips, 0)) : STR(""), "<none>");
    add_external_ip(r);
    for (struct value_iter it = value_iter(at(r->spec, "ports")); value_next(&it);) {
        const int64_t node = number(it.v, "nodePort"), port = number(it.v, "port");
        const struct str protocol = text(it.v, "protocol");

        join(&ports, node > 0 ? arena_printf(r->a, "%lld:%lld/" STR_FMT, (long long)port, (long long)node,
                                             STR_ARG(protocol))
                              : arena_printf(r->a, "%lld/" STR_FMT, (long long)port, STR_ARG(protocol)));
    }
    add_joined(r, &ports, "<none>");
    add_age(r);
    add_labels(r, at(r->spec, "selector"));
}

static void ingress(struct printer_row *r)
{
    CLEANUP(buf_done) struct buf hosts = BUF_INIT(64 * KIB);
    struct joined addresses = { BUF_INIT(64 * KIB), 0, SIZE_MAX };
    const struct value rules = at(r->spec, "rules");
    size_t shown = 0;
    bool more = false;

    add_name(r);
    add_text(r, text(r->spec, "ingressClassName"), "<none>");
    for (struct value_iter it = value_iter(rules); value_next(&it);) {
        const struct str host = text(it.v, "host");

        more |= shown == 3;
        if (!more && host.n > 0)
            buf_addf(&hosts, "%s" STR_FMT, shown++ ? "," : "", STR_ARG(host));
    }
    if (more)
        buf_addf(&hosts, " + %zu more...", value_len(rules) - 3);
    add_text(r, buf_str(&hosts), "*");
    join_addresses(&addresses, at(r->status, "loadBalancer.ingress"));
    add_joined(r, &addresses, "");
    printer_add(r, value_len(at(r->spec, "tls")) > 0 ? "80, 443" : "80");
    add_age(r);
}

static void ingress_class(struct printer_row *r)
{
    const struct value p = at(r->spec, "parameters");

    add_name(r);
    printer_add_str(r, text(r->spec, "controller"));
    if (value_is_null(p))
        printer_add(r, "<none>");
    else if (text(p, "apiGroup").n > 0)
        printer_addf(r, STR_FMT "." STR_FMT "/" STR_FMT, STR_ARG(text(p, "kind")),
                     STR_ARG(text(p, "apiGroup")), STR_ARG(text(p, "name")));
    else
        printer_addf(r, STR_FMT "/" STR_FMT, STR_ARG(text(p, "kind")), STR_ARG(text(p, "name")));
    add_age(r);
}

static void network_policy(struct printer_row *r)
{
    add_name(r);
    add_selector(r, at(r->spec, "podSelector"));
    add_age(r);
}

static void endpoints(struct printer_row *r)
{
    struct joined j = { BUF_INIT(64 * KIB), 0, 3 };

    add_name(r);
    for (struct value_iter s = value_iter(at(r->object, "subsets")); value_next(&s);) {
        const struct value addresses = value_getz(s.v, "addresses"), ports = value_getz(s.v, "ports");

        if (value_len(ports) == 0)
            for (struct value_iter a = value_iter(addresses); value_next(&a);)
                join(&j, text(a.v, "ip"));
        for (struct value_iter p = value_iter(ports); value_next(&p);)
            for (struct value_iter a = value_iter(addresses); value_next(&a);) {
                const struct str ip = text(a.v, "ip");
                const bool v6 = str_find_char(ip, ':') != STR_NPOS;

                join(&j, arena_printf(r->a, "%s" STR_FMT "%s:%lld", v6 ? "[" : "", STR_ARG(ip), v6 ? "]" : "",
                                      (long long)number(p.v, "port")));
            }
    }
    add_joined(r, &j, "<none>");
    add_age(r);
}

static void endpoint_slice(struct printer_row *r)
{
    struct joined ports = { BUF_INIT(64 * KIB), 0, 3 }, addresses = { BUF_INIT(64 * KIB), 0, 3 };

    add_name(r);
    printer_add_str(r, text(r->object, "addressType"));
    for (struct value_iter it = value_iter(at(r->object, "ports")); value_next(&it);) {
        const struct value port = value_getz(it.v, "port"), name = value_getz(it.v, "name");

        join(&ports, !value_is_null(port)   ? arena_printf(r->a, "%lld", (long long)value_int(port, 0))
                     : !value_is_null(name) ? value_str(name)
                                            : STR("*"));
    }
    add_joined(r, &ports, "<unset>");
    for (struct value_iter it = value_iter(at(r->object, "endpoints")); value_next(&it);)
        join_strings(&addresses, value_getz(it.v, "addresses"));
    add_joined(r, &addresses, "<unset>");
    add_age(r);
}

/* ---- configuration and identity ---- */

static void config_map(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, (int64_t)(value_len(at(r->object, "data")) + value_len(at(r->object, "binaryData"))));
    add_age(r);
}

static void secret(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->object, "type"));
    printer_add_int(r, (int64_t)value_len(at(r->object, "data")));
    add_age(r);
}

static void service_account(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, (int64_t)value_len(at(r->object, "secrets")));
    add_age(r);
}

static void namespace(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->status, "phase"));
    add_age(r);
}

static void add_subjects(struct printer_row *r, const char *kind)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    for (struct value_iter it = value_iter(at(r->object, "subjects")); value_next(&it);) {
        if (!str_eq(text(it.v, "kind"), str_from(kind)))
            continue;
        buf_adds(&b, b.n ? ", " : "");
        if (strcmp(kind, "ServiceAccount") == 0)
            buf_addf(&b, STR_FMT "/", STR_ARG(text(it.v, "namespace")));
        buf_addstr(&b, text(it.v, "name"));
    }
    printer_add_str(r, buf_str(&b));
}

static void binding(struct printer_row *r)
{
    add_name(r);
    printer_addf(r, STR_FMT "/" STR_FMT, STR_ARG(text(r->object, "roleRef.kind")),
                 STR_ARG(text(r->object, "roleRef.name")));
    add_age(r);
    add_subjects(r, "User");
    add_subjects(r, "Group");
    add_subjects(r, "ServiceAccount");
}

static void event(struct printer_row *r)
{
    CLEANUP(buf_done) struct buf kind = BUF_INIT(KIB), source = BUF_INIT(KIB);
    const bool new_api = value_has(r->object, STR("regarding"));
    const char *object = new_api ? "regarding" : "involvedObject";
    const struct value target = value_get(r->object, str_from(object)), series = at(r->object, "series");
    const struct value first_time = at(r->object, new_api ? "deprecatedFirstTimestamp" : "firstTimestamp");
    const struct value last_time = at(r->object, new_api ? "deprecatedLastTimestamp" : "lastTimestamp");
    const struct value from = at(r->object, new_api ? "deprecatedSource" : "source");
    const struct str first =
        printer_since(r, value_is_null(first_time) ? at(r->object, "eventTime") : first_time);
    int64_t count = number(r->object, new_api ? "deprecatedCount" : "count");
    struct str last = value_is_null(last_time) ? first : printer_since(r, last_time),
               component = text(from, "component");
    struct str host = text(from, "host");

    if (value_is_map(series)) {
        last = printer_since(r, value_getz(series, "lastObservedTime"));
        count = number(series, "count");
    } else if (count == 0) {
        count = 1;
    }
    printer_add_str(r, last);
    printer_add_str(r, text(r->object, "type"));
    printer_add_str(r, text(r->object, "reason"));
    for (size_t i = 0; i < text(target, "kind").n; i++)
        buf_addc(&kind, ascii_lower(text(target, "kind").p[i]));
    if (text(target, "name").n > 0)
        buf_addf(&kind, "/" STR_FMT, STR_ARG(text(target, "name")));
    printer_add_str(r, buf_str(&kind));
    printer_add_str(r, text(target, "fieldPath"));
    if (component.n == 0) {
        component = text(r->object, new_api ? "reportingController" : "reportingComponent");
        host = text(r->object, "reportingInstance");
    }
    buf_addf(&source, STR_FMT "%s" STR_FMT, STR_ARG(component), host.n ? ", " : "", STR_ARG(host));
    printer_add_str(r, buf_str(&source));
    printer_add_str(r, str_trim(text(r->object, new_api ? "note" : "message")));
    printer_add_str(r, first);
    printer_add_int(r, count);
    add_name(r);
}

static void lease(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->spec, "holderIdentity"));
    add_age(r);
}

static const struct {
    const char *kind;
    void (*fn)(struct printer_row *r);
} rows[] = {
    { "APIService", printer_api_service_row },
    { "CSIDriver", printer_csi_driver_row },
    { "CSINode", printer_csi_node_row },
    { "CertificateSigningRequest", printer_signing_request_row },
    { "ClusterRoleBinding", binding },
    { "ConfigMap", config_map },
    { "ControllerRevision", controller_revision },
    { "CronJob", cron_job },
    { "DaemonSet", daemon_set },
    { "Deployment", deployment },
    { "EndpointSlice", endpoint_slice },
    { "Endpoints", endpoints },
    { "Event", event },
    { "FlowSchema", printer_flow_schema_row },
    { "HorizontalPodAutoscaler", printer_autoscaler_row },
    { "IPAddress", printer_ip_address_row },
    { "Ingress", ingress },
    { "IngressClass", ingress_class },
    { "Job", job },
    { "Lease", lease },
    { "MutatingWebhookConfiguration", printer_webhooks_row },
    { "Namespace", namespace },
    { "NetworkPolicy", network_policy },
    { "Node", printer_node_row },
    { "PersistentVolume", printer_volume_row },
    { "PersistentVolumeClaim", printer_claim_row },
    { "Pod", printer_pod_row },
    { "PodDisruptionBudget", printer_disruption_budget_row },
    { "PodTemplate", pod_template },
    { "PriorityClass", printer_priority_class_row },
    { "PriorityLevelConfiguration", printer_priority_level_row },
    { "ReplicaSet", replica_set },
    { "ReplicationController", replication_controller },
    { "ResourceQuota", printer_quota_row },
    { "RoleBinding", binding },
    { "RuntimeClass", printer_runtime_class_row },
    { "Secret", secret },
    { "Service", service },
    { "ServiceAccount", service_account },
    { "ServiceCIDR", printer_service_cidr_row },
    { "StatefulSet", stateful_set },
    { "StorageClass", printer_storage_class_row },
    { "ValidatingAdmissionPolicy", printer_admission_policy_row },
    { "ValidatingAdmissionPolicyBinding", printer_admission_binding_row },
    { "ValidatingWebhookConfiguration", printer_webhooks_row },
    { "VolumeAttachment", printer_attachment_row },
    { "VolumeAttributesClass", printer_attributes_class_row },
};

bool printer_kind_row(struct str group, struct str kind, struct printer_row *r)
{
    UNUSED(group); /* kinds with columns have names of their own; Event is one object in two groups */
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!str_eq(kind, str_from(rows[i].kind)))
            continue;
        rows[i].fn(r);
        return true;
    }
    return false;
}
