/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/gotext.h"
#include "apiserver/printer_cells.h"

/* pkg/printers/internalversion: storage, scaling, quotas, admission, nodes. */

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

void printer_volume_row(struct printer_row *r)
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

void printer_claim_row(struct printer_row *r)
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

void printer_storage_class_row(struct printer_row *r)
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

void printer_autoscaler_row(struct printer_row *r)
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

void printer_disruption_budget_row(struct printer_row *r)
{
    add_name(r);
    add_int_or_string(r, at(r->spec, "minAvailable"));
    add_int_or_string(r, at(r->spec, "maxUnavailable"));
    printer_add_int(r, number(r->status, "disruptionsAllowed"));
    add_age(r);
}

void printer_quota_row(struct printer_row *r)
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

void printer_priority_class_row(struct printer_row *r)
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

void printer_node_row(struct printer_row *r)
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

void printer_webhooks_row(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, (int64_t)value_len(at(r->object, "webhooks")));
    add_age(r);
}

void printer_admission_policy_row(struct printer_row *r)
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

void printer_admission_binding_row(struct printer_row *r)
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

void printer_api_service_row(struct printer_row *r)
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

void printer_runtime_class_row(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->object, "handler"));
    add_age(r);
}

void printer_flow_schema_row(struct printer_row *r)
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

void printer_priority_level_row(struct printer_row *r)
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

void printer_csi_driver_row(struct printer_row *r)
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

void printer_csi_node_row(struct printer_row *r)
{
    add_name(r);
    printer_add_int(r, (int64_t)value_len(at(r->spec, "drivers")));
    add_age(r);
}

void printer_attachment_row(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->spec, "attacher"));
    printer_add_str(r, text(r->spec, "source.persistentVolumeName"));
    printer_add_str(r, text(r->spec, "nodeName"));
    printer_add_value(r, value_from_bool(value_bool(at(r->status, "attached"))));
    add_age(r);
}

void printer_attributes_class_row(struct printer_row *r)
{
    add_name(r);
    printer_add_str(r, text(r->object, "driverName"));
    add_age(r);
}

void printer_signing_request_row(struct printer_row *r)
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

void printer_ip_address_row(struct printer_row *r)
{
    const struct value p = at(r->spec, "parentRef");

    add_name(r);
    printer_addf(r, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(text(p, "resource")),
                 STR_ARG(text(p, "namespace")), STR_ARG(text(p, "name")));
}

void printer_service_cidr_row(struct printer_row *r)
{
    struct joined j = { BUF_INIT(KIB), 0, SIZE_MAX };

    add_name(r);
    join_strings(&j, at(r->spec, "cidrs"));
    add_joined(r, &j, "");
    add_age(r);
}
