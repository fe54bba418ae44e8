/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "apiserver/gotext.h"
#include "apiserver/printer_int.h"
#include "apiserver/printer_pod.h"
#include "base/limits.h"

/* pkg/printers/internalversion: the cells of built-in kinds. */

static struct value at(struct value v, const char *path)
{
    return value_path(v, path);
}

static struct str text(struct value v, const char *path)
{
    return value_str(value_path(v, path));
}

static int64_t number(struct value v, const char *path)
{
    return value_int(value_path(v, path), 0);
}

static void add_name(struct printer_row *r)
{
    printer_add_str(r, text(r->object, "metadata.name"));
}

static void add_age(struct printer_row *r)
{
    printer_add_since(r, at(r->object, "metadata.creationTimestamp"));
}

static void add_text(struct printer_row *r, struct str s, const char *otherwise)
{
    printer_add_str(r, s.n > 0 ? s : str_from(otherwise));
}

/* "a,b,c + 2 more..." */
struct joined {
    struct buf b;
    size_t n, max;
};

static void join(struct joined *j, struct str s)
{
    if (j->n++ < j->max)
        buf_addf(&j->b, "%s" STR_FMT, j->b.n ? "," : "", STR_ARG(s));
}

static void add_joined(struct printer_row *r, struct joined *j, const char *otherwise)
{
    if (j->n > j->max)
        buf_addf(&j->b, " + %zu more...", j->n - j->max);
    add_text(r, buf_str(&j->b), otherwise);
    buf_done(&j->b);
}

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

static int compare_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
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

static void join_strings(struct joined *j, struct value list)
{
    for (struct value_iter it = value_iter(list); value_next(&it);)
        join(j, value_str(it.v));
}

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

/* ---- storage ---- */

static void add_modes(struct printer_row *r, struct value modes)
{
    static const struct {
        const char *mode, *shown;
    } rows[] = { { "ReadWriteOnce", "RWO" },
                 { "ReadOnlyMany", "ROX" },
                 { "ReadWriteMany", "RWX" },
                 { "ReadWriteOncePod", "RWOP" } };
    struct joined j = { BUF_INIT(KIB), 0, SIZE_MAX };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (size_t k = 0; k < value_len(modes); k++)
            if (str_eq(value_str(value_at(modes, k)), str_from(rows[i].mode))) {
                join(&j, str_from(rows[i].shown));
                break;
            }
    add_joined(r, &j, "");
}

static struct str class_of(struct printer_row *r)
{
    const struct str old = value_str(
        value_getz(at(r->object, "metadata.annotations"), "volume.beta.kubernetes.io/storage-class"));

    return old.n > 0 ? old : text(r->spec, "storageClassName");
}

static void add_phase(struct printer_row *r)
{
    const bool ending = !value_is_null(at(r->object, "metadata.deletionTimestamp"));

    printer_add_str(r, ending ? STR("Terminating") : text(r->status, "phase"));
}

static void volume(struct printer_row *r)
{
    const struct value claim = at(r->spec, "claimRef");

    add_name(r);
    add_text(r, text(r->spec, "capacity.storage"), "0");
    add_modes(r, at(r->spec, "accessModes"));
    printer_add_str(r, text(r->spec, "persistentVolumeReclaimPolicy"));
    add_phase(r);
    if (value_is_null(claim))
        printer_add(r, "");
    else
        printer_addf(r, STR_FMT "/" STR_FMT, STR_ARG(text(claim, "namespace")), STR_ARG(text(claim, "name")));
    printer_add_str(r, class_of(r));
    add_text(r, text(r->spec, "volumeAttributesClassName"), "<unset>");
    printer_add_str(r, text(r->status, "reason"));
    add_age(r);
    add_text(r, text(r->spec, "volumeMode"), "<unset>");
}

static void claim(struct printer_row *r)
{
    const bool bound = text(r->spec, "volumeName").n > 0;

    add_name(r);
    add_phase(r);
    printer_add_str(r, text(r->spec, "volumeName"));
    add_text(r, bound ? text(r->status, "capacity.storage") : STR(""), bound ? "0" : "");
    add_modes(r, bound ? at(r->status, "accessModes") : VALUE_NONE);
    printer_add_str(r, class_of(r));
    add_text(r, text(r->spec, "volumeAttributesClassName"), "<unset>");
    add_age(r);
    add_text(r, text(r->spec, "volumeMode"), "<unset>");
}

static void storage_class(struct printer_row *r)
{
    static const char key[] = "storageclass.kubernetes.io/is-default-class";
    const struct value annotations = at(r->object, "metadata.annotations");
    const bool is_default = str_eq(value_str(value_get(annotations, str_from(key))), STR("true"));

    printer_addf(r, STR_FMT "%s", STR_ARG(text(r->object, "metadata.name")), is_default ? " (default)" : "");
    printer_add_str(r, text(r->object, "provisioner"));
    add_text(r, text(r->object, "reclaimPolicy"), "Delete");
    add_text(r, text(r->object, "volumeBindingMode"), "Immediate");
    printer_add_value(r, value_from_bool(value_bool(at(r->object, "allowVolumeExpansion"))));
    add_age(r);
}

/* ---- scaling, quotas ---- */

static struct str amount(struct value v)
{
    return value_str(v);
}

static void join_metric(struct printer_row *r, struct joined *j, struct value spec, struct value status)
{
    static const struct {
        const char *type, *field;
        bool named;
    } kinds[] = { { "External", "external", false },
                  { "Pods", "pods", false },
                  { "Object", "object", false },
                  { "Resource", "resource", true },
                  { "ContainerResource", "containerResource", true } };

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        const struct value m = value_get(spec, str_from(kinds[i].field)),
                           now = value_getz(value_get(status, str_from(kinds[i].field)), "current");
        const struct value target = value_getz(m, "target");
        struct str have = STR("<unknown>"), want;
        const char *suffix = "";

        if (!str_eq(text(spec, "type"), str_from(kinds[i].type)))
            continue;
        if (!value_is_null(value_getz(target, "averageValue"))) {
            want = amount(value_getz(target, "averageValue"));
            have = amount(value_getz(now, "averageValue")).n ? amount(value_getz(now, "averageValue")) : have;
            suffix = kinds[i].named || i == 1 ? "" : " (avg)";
        } else if (kinds[i].named) {
            const struct value u = value_getz(target, "averageUtilization"),
                               cu = value_getz(now, "averageUtilization");

            want =
                value_is_null(u) ? STR("<auto>") : arena_printf(r->a, "%lld%%", (long long)value_int(u, 0));
            have = value_is_null(cu) ? have : arena_printf(r->a, "%lld%%", (long long)value_int(cu, 0));
        } else {
            want = amount(value_getz(target, "value"));
            have = amount(value_getz(now, "value")).n ? amount(value_getz(now, "value")) : have;
        }
        if (j->n++ >= j->max)
            return;
        buf_addf(&j->b, "%s" STR_FMT "%s" STR_FMT "/" STR_FMT "%s", j->b.n ? ", " : "",
                 STR_ARG(text(m, "name")), kinds[i].named ? ": " : "", STR_ARG(have), STR_ARG(want), suffix);
        return;
    }
    join(j, STR("<unknown type>"));
}

static void autoscaler(struct printer_row *r)
{
    const struct value metrics = at(r->spec, "metrics"), current = at(r->status, "currentMetrics");
    const struct value low = at(r->spec, "minReplicas"), cpu = at(r->spec, "targetCPUUtilizationPercentage");
    struct joined j = { BUF_INIT(64 * KIB), 0, 2 };

    add_name(r);
    printer_addf(r, STR_FMT "/" STR_FMT, STR_ARG(text(r->spec, "scaleTargetRef.kind")),
                 STR_ARG(text(r->spec, "scaleTargetRef.name")));
    for (size_t i = 0; i < value_len(metrics); i++)
        join_metric(r, &j, value_at(metrics, i), i < value_len(current) ? value_at(current, i) : VALUE_NONE);
    if (!value_is_null(cpu)) { /* autoscaling/v1 */
        const struct value have = at(r->status, "currentCPUUtilizationPercentage");

        join(&j, value_is_null(have)
                     ? arena_printf(r->a, "cpu: <unknown>/%lld%%", (long long)value_int(cpu, 0))
                     : arena_printf(r->a, "cpu: %lld%%/%lld%%", (long long)value_int(have, 0),
                                    (long long)value_int(cpu, 0)));
    }
    add_joined(r, &j, "<none>");
    if (value_is_null(low))
        printer_add(r, "<unset>");
    else
        printer_addf(r, "%lld", (long long)value_int(low, 0));
    printer_add_int(r, number(r->spec, "maxReplicas"));
    printer_add_int(r, number(r->status, "currentReplicas"));
    add_age(r);
}

static void add_int_or_string(struct printer_row *r, struct value v)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    if (value_is_null(v))
        buf_adds(&b, "N/A");
    else
        api_go_print(v, &b);
    printer_add_str(r, buf_str(&b));
}

static void disruption_budget(struct printer_row *r)
{
    add_name(r);
    add_int_or_string(r, at(r->spec, "minAvailable"));
    add_int_or_string(r, at(r->spec, "maxUnavailable"));
    printer_add_int(r, number(r->status, "disruptionsAllowed"));
    add_age(r);
}

static void quota(struct printer_row *r)
{
    CLEANUP(buf_done) struct buf requests = BUF_INIT(64 * KIB), limits = BUF_INIT(64 * KIB);

    add_name(r);
    for (struct value_iter it = value_iter(at(r->status, "hard")); value_next(&it);) {
        struct buf *b = str_has_prefix(it.key, STR("limits.")) ? &limits : &requests;
        const struct str used = value_str(value_get(at(r->status, "used"), it.key));

        buf_addf(b, "%s" STR_FMT ": " STR_FMT "/" STR_FMT, b->n ? ", " : "", STR_ARG(it.key),
                 STR_ARG(used.n ? used : STR("0")), STR_ARG(value_str(it.v)));
    }
    printer_add_str(r, buf_str(&requests));
    printer_add_str(r, buf_str(&limits));
    add_age(r);
}

static void priority_class(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, number(r->object, "value"));
    printer_add_value(r, value_from_bool(value_bool(at(r->object, "globalDefault"))));
    add_age(r);
    printer_add_str(r, text(r->object, "preemptionPolicy"));
}

/* ---- the cluster ---- */

static void add_roles(struct printer_row *r)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    const struct value labels = at(r->object, "metadata.labels");
    struct str *roles = ARENA_ARRAY(r->a, struct str, value_len(labels) + 1);
    struct joined j = { BUF_INIT(64 * KIB), 0, SIZE_MAX };
    size_t n = 0;

    for (struct value_iter it = value_iter(labels); value_next(&it);) {
        if (str_has_prefix(it.key, str_from(prefix)) && it.key.n > strlen(prefix))
            roles[n++] = str_sub(it.key, strlen(prefix), it.key.n);
        else if (str_eq(it.key, STR("kubernetes.io/role")) && value_str(it.v).n > 0)
            roles[n++] = value_str(it.v);
    }
    qsort(roles, n, sizeof(*roles), compare_str);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(roles[i - 1], roles[i]))
            join(&j, roles[i]);
    add_joined(r, &j, "<none>");
}

static void add_address(struct printer_row *r, const char *type)
{
    for (struct value_iter it = value_iter(at(r->status, "addresses")); value_next(&it);)
        if (str_eq(text(it.v, "type"), str_from(type))) {
            printer_add_str(r, text(it.v, "address"));
            return;
        }
    printer_add(r, "<none>");
}

static void node(struct printer_row *r)
{
    const char *status = "Unknown";

    for (struct value_iter it = value_iter(at(r->status, "conditions")); value_next(&it);)
        if (str_eq(text(it.v, "type"), STR("Ready")))
            status = str_eq(text(it.v, "status"), STR("True")) ? "Ready" : "NotReady";
    add_name(r);
    printer_addf(r, "%s%s", status, value_bool(at(r->spec, "unschedulable")) ? ",SchedulingDisabled" : "");
    add_roles(r);
    add_age(r);
    printer_add_str(r, text(r->status, "nodeInfo.kubeletVersion"));
    add_address(r, "InternalIP");
    add_address(r, "ExternalIP");
    add_text(r, text(r->status, "nodeInfo.osImage"), "<unknown>");
    add_text(r, text(r->status, "nodeInfo.kernelVersion"), "<unknown>");
    add_text(r, text(r->status, "nodeInfo.containerRuntimeVersion"), "<unknown>");
}

static void webhooks(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, (int64_t)value_len(at(r->object, "webhooks")));
    add_age(r);
}

static void admission_policy(struct printer_row *r)
{
    const struct value p = at(r->spec, "paramKind");

    add_name(r);
    printer_add_int(r, (int64_t)value_len(at(r->spec, "validations")));
    if (value_is_null(p))
        printer_add(r, "<unset>");
    else
        printer_addf(r, STR_FMT "/" STR_FMT, STR_ARG(text(p, "apiVersion")), STR_ARG(text(p, "kind")));
    add_age(r);
}

static void admission_binding(struct printer_row *r)
{
    const struct value p = at(r->spec, "paramRef");

    add_name(r);
    printer_add_str(r, text(r->spec, "policyName"));
    if (value_is_null(p))
        printer_add(r, "<unset>");
    else if (text(p, "namespace").n > 0)
        printer_addf(r, STR_FMT "/" STR_FMT, STR_ARG(text(p, "namespace")), STR_ARG(text(p, "name")));
    else
        add_text(r, text(p, "name"), "*");
    add_age(r);
}

static void api_service(struct printer_row *r)
{
    const struct value s = at(r->spec, "service");
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    add_name(r);
    if (value_is_null(s))
        printer_add(r, "Local");
    else
        printer_addf(r, STR_FMT "/" STR_FMT, STR_ARG(text(s, "namespace")), STR_ARG(text(s, "name")));
    for (struct value_iter it = value_iter(at(r->status, "conditions")); value_next(&it);) {
        if (!str_eq(text(it.v, "type"), STR("Available")))
            continue;
        buf_addstr(&b, text(it.v, "status"));
        if (!str_eq(text(it.v, "status"), STR("True")))
            buf_addf(&b, " (" STR_FMT ")", STR_ARG(text(it.v, "reason")));
    }
    add_text(r, buf_str(&b), "Unknown");
    add_age(r);
}

static void runtime_class(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->object, "handler"));
    add_age(r);
}

static void flow_schema(struct printer_row *r)
{
    const char *missing = "?";

    add_name(r);
    printer_add_str(r, text(r->spec, "priorityLevelConfiguration.name"));
    printer_add_int(r, number(r->spec, "matchingPrecedence"));
    add_text(r, text(r->spec, "distinguisherMethod.type"), "<none>");
    add_age(r);
    for (struct value_iter it = value_iter(at(r->status, "conditions")); value_next(&it);)
        if (str_eq(text(it.v, "type"), STR("Dangling")))
            missing = arena_dupz(r->a, text(it.v, "status"));
    printer_add(r, missing);
}

static void add_number_or(struct printer_row *r, struct value v, const char *otherwise)
{
    if (value_is_null(v))
        printer_add(r, otherwise);
    else
        printer_add_int(r, value_int(v, 0));
}

static void priority_level(struct printer_row *r)
{
    const struct value limited = at(r->spec, "limited"), queuing = at(limited, "limitResponse.queuing");

    add_name(r);
    printer_add_str(r, text(r->spec, "type"));
    add_number_or(r, at(limited, "nominalConcurrencyShares"), "<none>");
    add_number_or(r, at(queuing, "queues"), "<none>");
    add_number_or(r, at(queuing, "handSize"), "<none>");
    add_number_or(r, at(queuing, "queueLengthLimit"), "<none>");
    add_age(r);
}

static void csi_driver(struct printer_row *r)
{
    static const char *const flags[] = { "attachRequired", "podInfoOnMount", "storageCapacity" };
    struct joined audiences = { BUF_INIT(64 * KIB), 0, SIZE_MAX }, modes = { BUF_INIT(KIB), 0, SIZE_MAX };

    add_name(r);
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        printer_add_value(r, value_from_bool(i == 0 && value_is_null(at(r->spec, flags[i]))
                                                 ? true
                                                 : value_bool(at(r->spec, flags[i]))));
    for (struct value_iter it = value_iter(at(r->spec, "tokenRequests")); value_next(&it);)
        join(&audiences, text(it.v, "audience"));
    add_joined(r, &audiences, "<unset>");
    printer_add_value(r, value_from_bool(value_bool(at(r->spec, "requiresRepublish"))));
    join_strings(&modes, at(r->spec, "volumeLifecycleModes"));
    add_joined(r, &modes, "<none>");
    add_age(r);
}

static void csi_node(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, (int64_t)value_len(at(r->spec, "drivers")));
    add_age(r);
}

static void attachment(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->spec, "attacher"));
    printer_add_str(r, text(r->spec, "source.persistentVolumeName"));
    printer_add_str(r, text(r->spec, "nodeName"));
    printer_add_value(r, value_from_bool(value_bool(at(r->status, "attached"))));
    add_age(r);
}

static void attributes_class(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->object, "driverName"));
    add_age(r);
}

static void signing_request(struct printer_row *r)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    const struct value seconds = at(r->spec, "expirationSeconds");
    bool approved = false, denied = false, failed = false;

    add_name(r);
    add_age(r);
    printer_add_str(r, text(r->spec, "signerName"));
    printer_add_str(r, text(r->spec, "username"));
    if (!value_is_null(seconds))
        api_printer_duration(value_int(seconds, 0), &b);
    add_text(r, buf_str(&b), "<none>");
    for (struct value_iter it = value_iter(at(r->status, "conditions")); value_next(&it);) {
        approved |= str_eq(text(it.v, "type"), STR("Approved"));
        denied |= str_eq(text(it.v, "type"), STR("Denied"));
        failed |= str_eq(text(it.v, "type"), STR("Failed"));
    }
    printer_addf(r, "%s%s%s",
                 denied     ? "Denied"
                 : approved ? "Approved"
                            : "Pending",
                 failed ? ",Failed" : "", text(r->status, "certificate").n > 0 ? ",Issued" : "");
}

static void ip_address(struct printer_row *r)
{
    const struct value p = at(r->spec, "parentRef");

    add_name(r);
    printer_addf(r, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(text(p, "resource")),
                 STR_ARG(text(p, "namespace")), STR_ARG(text(p, "name")));
}

static void service_cidr(struct printer_row *r)
{
    struct joined j = { BUF_INIT(KIB), 0, SIZE_MAX };

    add_name(r);
    join_strings(&j, at(r->spec, "cidrs"));
    add_joined(r, &j, "");
    add_age(r);
}

static const struct {
    const char *kind;
    void (*fn)(struct printer_row *r);
} rows[] = {
    { "APIService", api_service },
    { "CSIDriver", csi_driver },
    { "CSINode", csi_node },
    { "CertificateSigningRequest", signing_request },
    { "ClusterRoleBinding", binding },
    { "ConfigMap", config_map },
    { "ControllerRevision", controller_revision },
    { "CronJob", cron_job },
    { "DaemonSet", daemon_set },
    { "Deployment", deployment },
    { "EndpointSlice", endpoint_slice },
    { "Endpoints", endpoints },
    { "Event", event },
    { "FlowSchema", flow_schema },
    { "HorizontalPodAutoscaler", autoscaler },
    { "IPAddress", ip_address },
    { "Ingress", ingress },
    { "IngressClass", ingress_class },
    { "Job", job },
    { "Lease", lease },
    { "MutatingWebhookConfiguration", webhooks },
    { "Namespace", namespace },
    { "NetworkPolicy", network_policy },
    { "Node", node },
    { "PersistentVolume", volume },
    { "PersistentVolumeClaim", claim },
    { "Pod", printer_pod_row },
    { "PodDisruptionBudget", disruption_budget },
    { "PodTemplate", pod_template },
    { "PriorityClass", priority_class },
    { "PriorityLevelConfiguration", priority_level },
    { "ReplicaSet", replica_set },
    { "ReplicationController", replication_controller },
    { "ResourceQuota", quota },
    { "RoleBinding", binding },
    { "RuntimeClass", runtime_class },
    { "Secret", secret },
    { "Service", service },
    { "ServiceAccount", service_account },
    { "ServiceCIDR", service_cidr },
    { "StatefulSet", stateful_set },
    { "StorageClass", storage_class },
    { "ValidatingAdmissionPolicy", admission_policy },
    { "ValidatingAdmissionPolicyBinding", admission_binding },
    { "ValidatingWebhookConfiguration", webhooks },
    { "VolumeAttachment", attachment },
    { "VolumeAttributesClass", attributes_class },
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
