/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/printer_pod.h"

#include "base/limits.h"

struct pod {
    struct printer_row *r;
    struct str reason;
    int64_t restarts, side_restarts; /* side: of init containers that keep running */
    struct value last, side_last;    /* when one last ended */
    size_t ready, total;
    bool initializing;
};

static struct str text(struct value v, const char *path)
{
    return value_str(value_path(v, path));
}

static void later(struct value *last, struct value container)
{
    const struct value ended = value_path(container, "lastState.terminated.finishedAt");

    if (value_is_string(ended) &&
        (!value_is_string(*last) || str_cmp(value_str(*last), value_str(ended)) < 0))
        *last = ended;
}

static bool keeps_running(struct value spec, struct str name)
{
    for (struct value_iter it = value_iter(value_getz(spec, "initContainers")); value_next(&it);)
        if (str_eq(text(it.v, "name"), name))
            return str_eq(text(it.v, "restartPolicy"), STR("Always"));
    return false;
}

static struct str ended_reason(struct pod *p, struct value terminated, const char *prefix)
{
    const int64_t sig = value_int(value_getz(terminated, "signal"), 0);
    const struct str reason = text(terminated, "reason");

    if (reason.n > 0)
        return arena_printf(p->r->a, "%s" STR_FMT, prefix, STR_ARG(reason));
    return sig != 0 ? arena_printf(p->r->a, "%sSignal:%lld", prefix, (long long)sig)
                    : arena_printf(p->r->a, "%sExitCode:%lld", prefix,
                                   (long long)value_int(value_getz(terminated, "exitCode"), 0));
}

/* True when the pod waits for this one. */
static bool look_at_init(struct pod *p, struct value c, size_t i, size_t n)
{
    const struct value ended = value_path(c, "state.terminated");
    const struct str waiting = text(c, "state.waiting.reason");
    const bool side = keeps_running(p->r->spec, text(c, "name"));

    p->restarts += value_int(value_getz(c, "restartCount"), 0);
    later(&p->last, c);
    if (side) {
        p->side_restarts += value_int(value_getz(c, "restartCount"), 0);
        later(&p->side_last, c);
    }
    if (value_is_map(ended) && value_int(value_getz(ended, "exitCode"), 0) == 0)
        return false;
    if (side && value_bool(value_getz(c, "started"))) {
        p->ready += value_bool(value_getz(c, "ready"));
        return false;
    }
    if (value_is_map(ended))
        p->reason = ended_reason(p, ended, "Init:");
    else if (waiting.n > 0 && !str_eq(waiting, STR("PodInitializing")))
        p->reason = arena_printf(p->r->a, "Init:" STR_FMT, STR_ARG(waiting));
    else
        p->reason = arena_printf(p->r->a, "Init:%zu/%zu", i, n);
    return true;
}

static bool has_true(struct value status, const char *type)
{
    for (struct value_iter it = value_iter(value_getz(status, "conditions")); value_next(&it);)
        if (str_eq(text(it.v, "type"), str_from(type)) && str_eq(text(it.v, "status"), STR("True")))
            return true;
    return false;
}

static void look_at_containers(struct pod *p)
{
    const struct value statuses = value_getz(p->r->status, "containerStatuses");
    bool running = false;

    p->restarts = p->side_restarts;
    p->last = p->side_last;
    for (size_t i = value_len(statuses); i-- > 0;) {
        const struct value c = value_at(statuses, i), ended = value_path(c, "state.terminated");
        const struct str waiting = text(c, "state.waiting.reason");

        p->restarts += value_int(value_getz(c, "restartCount"), 0);
        later(&p->last, c);
        if (waiting.n > 0) {
            p->reason = waiting;
        } else if (value_is_map(ended)) {
            p->reason = ended_reason(p, ended, "");
        } else if (value_bool(value_getz(c, "ready")) && value_is_map(value_path(c, "state.running"))) {
            running = true;
            p->ready++;
        }
    }
    if (str_eq(p->reason, STR("Completed")) && running)
        p->reason = has_true(p->r->status, "Ready") ? STR("Running") : STR("NotReady");
}

static void look_at_deletion(struct pod *p, struct str phase)
{
    if (value_is_null(value_path(p->r->object, "metadata.deletionTimestamp")))
        return;
    if (str_eq(text(p->r->status, "reason"), STR("NodeLost")))
        p->reason = STR("Unknown");
    else if (!str_eq(phase, STR("Succeeded")) && !str_eq(phase, STR("Failed")))
        p->reason = STR("Terminating");
}

static void add_gates(struct printer_row *r)
{
    const struct value gates = value_getz(r->spec, "readinessGates");
    size_t open = 0;

    for (size_t i = 0; i < value_len(gates); i++)
        open += has_true(r->status, arena_dupz(r->a, text(value_at(gates, i), "conditionType")));
    if (value_len(gates) == 0)
        printer_add(r, "<none>");
    else
        printer_addf(r, "%zu/%zu", open, value_len(gates));
}

static void add_or_none(struct printer_row *r, struct str s)
{
    printer_add_str(r, s.n > 0 ? s : STR("<none>"));
}

/* kubectl greys finished pods by these. */
static void set_conditions(struct printer_row *r, struct str phase)
{
    struct value_list l = VALUE_LIST_INIT(r->a);
    const bool succeeded = str_eq(phase, STR("Succeeded"));
    struct value m;

    if (!succeeded && !str_eq(phase, STR("Failed")))
        return;
    m = value_new_map(r->a);
    value_setz(m, "type", VALUE_STR("Completed"));
    value_setz(m, "status", VALUE_STR("True"));
    value_setz(m, "reason", value_from_str(phase));
    value_setz(m, "message",
               succeeded ? VALUE_STR("The pod has completed successfully.") : VALUE_STR("The pod failed."));
    value_list_add(&l, m);
    r->conditions = value_list_done(&l);
}

void printer_pod_row(struct printer_row *r)
{
    const struct str phase = text(r->status, "phase"), why = text(r->status, "reason");
    const struct value inits = value_getz(r->spec, "initContainers"), ips = value_getz(r->status, "podIPs");
    const struct value init_statuses = value_getz(r->status, "initContainerStatuses");
    struct pod p = { .r = r,
                     .reason = why.n ? why : phase,
                     .total = value_len(value_getz(r->spec, "containers")) };

    for (struct value_iter it = value_iter(value_getz(r->status, "conditions")); value_next(&it);)
        if (str_eq(text(it.v, "type"), STR("PodScheduled")) &&
            str_eq(text(it.v, "reason"), STR("SchedulingGated")))
            p.reason = STR("SchedulingGated");
    for (struct value_iter it = value_iter(inits); value_next(&it);)
        p.total += str_eq(text(it.v, "restartPolicy"), STR("Always"));
    for (size_t i = 0; i < value_len(init_statuses) && !p.initializing; i++)
        p.initializing = look_at_init(&p, value_at(init_statuses, i), i, value_len(inits));
    if (!p.initializing || has_true(r->status, "Initialized"))
        look_at_containers(&p);
    look_at_deletion(&p, phase);
    set_conditions(r, phase);
    printer_add_str(r, text(r->object, "metadata.name"));
    printer_addf(r, "%zu/%zu", p.ready, p.total);
    printer_add_str(r, p.reason);
    if (p.restarts != 0 && value_is_string(p.last))
        printer_addf(r, "%lld (" STR_FMT " ago)", (long long)p.restarts, STR_ARG(printer_since(r, p.last)));
    else
        printer_addf(r, "%lld", (long long)p.restarts);
    printer_add_since(r, value_path(r->object, "metadata.creationTimestamp"));
    add_or_none(r, value_len(ips) > 0 ? text(value_at(ips, 0), "ip") : STR(""));
    add_or_none(r, text(r->spec, "nodeName"));
    add_or_none(r, text(r->status, "nominatedNodeName"));
    add_gates(r);
}
