/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/convert.h"

#include "base/buf.h"
#include "base/clock.h"
#include "json/json.h"

/* ---- events: core/v1 is stored; events.k8s.io/v1 has other names for the same fields --------------------------- */

static const struct {
    const char *core, *events;
} event_names[] = {
    { "involvedObject", "regarding" },
    { "message", "note" },
    { "source", "deprecatedSource" },
    { "firstTimestamp", "deprecatedFirstTimestamp" },
    { "lastTimestamp", "deprecatedLastTimestamp" },
    { "count", "deprecatedCount" },
    { "reportingComponent", "reportingController" },
};

static void rename_key(struct value map, const char *from, const char *to)
{
    struct value v = value_get(map, str_from(from));

    if (!value_has(map, str_from(from)))
        return;
    value_unset(map, str_from(from));
    value_set(map, str_from(to), v);
}

static void convert_event(struct value v, bool to_core)
{
    for (size_t i = 0; i < ARRAY_SIZE(event_names); i++)
        rename_key(v, to_core ? event_names[i].events : event_names[i].core,
                   to_core ? event_names[i].core : event_names[i].events);
}

/* ---- HorizontalPodAutoscaler: v2 is stored; v1 knows the CPU target only ---------------------------------------- */

#define METRICS_ANNOTATION "autoscaling.alpha.kubernetes.io/metrics"

static bool is_cpu_target(struct value metric)
{
    struct value r = value_getz(metric, "resource");

    return str_eq(value_str(value_getz(metric, "type")), STR("Resource")) &&
           str_eq(value_str(value_getz(r, "name")), STR("cpu")) &&
           value_has(value_getz(r, "target"), STR("averageUtilization"));
}

static void hpa_metrics_to_v1(struct arena *a, struct value v, struct value spec)
{
    struct value_list others = VALUE_LIST_INIT(a);
    CLEANUP(buf_done) struct buf b = BUF_INIT(1 << 20);
    struct value metrics = value_getz(spec, "metrics");

    for (struct value_iter it = value_iter(metrics); value_next(&it);) {
        if (is_cpu_target(it.v) && !value_has(spec, STR("targetCPUUtilizationPercentage")))
            value_setz(spec, "targetCPUUtilizationPercentage",
                       value_path(it.v, "resource.target.averageUtilization"));
        else
            value_list_add(&others, it.v);
    }
    value_unset(spec, STR("metrics"));
    if (others.n > 0 && json_print(value_list_done(&others), 0, &b, NULL) == 0) {
        if (!value_is_map(value_path(v, "metadata.annotations")))
            value_set_path(v, "metadata.annotations", value_new_map(a));
        value_set(value_path(v, "metadata.annotations"), STR(METRICS_ANNOTATION),
                  value_from_str(arena_dup(a, buf_str(&b))));
    }
}

static struct value cpu_metric(struct arena *a, struct value percent)
{
    struct value m = value_new_map(a);

    value_setz(m, "type", VALUE_STR("Resource"));
    value_set_path(m, "resource.name", VALUE_STR("cpu"));
    value_set_path(m, "resource.target.type", VALUE_STR("Utilization"));
    value_set_path(m, "resource.target.averageUtilization", percent);
    return m;
}

static void hpa_metrics_to_v2(struct arena *a, struct value v, struct value spec)
{
    struct value_list metrics = VALUE_LIST_INIT(a);
    struct value notes = value_path(v, "metadata.annotations"), others = VALUE_NONE;
    struct str text = value_str(value_get(notes, STR(METRICS_ANNOTATION)));
    struct value percent = value_getz(spec, "targetCPUUtilizationPercentage");

    if (!value_is_null(percent))
        value_list_add(&metrics, cpu_metric(a, percent));
    if (text.n > 0 && json_parse(a, text, NULL, &others, NULL) == 0)
        for (struct value_iter it = value_iter(others); value_next(&it);)
            value_list_add(&metrics, it.v);
    if (text.n > 0)
        value_unset(notes, STR(METRICS_ANNOTATION));
    value_unset(spec, STR("targetCPUUtilizationPercentage"));
    if (metrics.n > 0)
        value_setz(spec, "metrics", value_list_done(&metrics));
}

static void convert_hpa(struct arena *a, struct value v, bool to_v2)
{
    struct value spec = value_getz(v, "spec"), status = value_getz(v, "status");

    if (value_is_map(spec)) {
        if (to_v2)
            hpa_metrics_to_v2(a, v, spec);
        else
            hpa_metrics_to_v1(a, v, spec);
    }
    if (!to_v2 && value_is_map(status)) {
        value_unset(status, STR("currentMetrics"));
        value_unset(status, STR("conditions"));
    }
    if (to_v2 && value_is_map(status))
        value_unset(status, STR("currentCPUUtilizationPercentage"));
}

/* ---- all ----------------------------------------------------------------------------------------------------- */

static void convert_builtin(struct arena *a, const struct api_resource *res, struct value v, bool to_stored)
{
    if (str_eq(res->id, STR("events")))
        convert_event(v, to_stored);
    else if (str_eq(res->plural, STR("horizontalpodautoscalers")))
        convert_hpa(a, v, to_stored);
}

int api_convert_from_stored(struct arena *a, const struct api_resource *res, struct value v,
                            struct value *ret, struct err **err)
{
    bool same = str_eq(res->api_version, value_str(value_getz(v, "apiVersion")));

    if (!same)
        value_setz(v, "apiVersion", value_from_str(res->api_version));
    if (!res->builtin)
        return api_schema_decode_custom(a, res->schema, v, ret, NULL, err);
    if (!same)
        convert_builtin(a, res, v, false);
    *ret = v;
    return 0;
}

struct value api_convert_to_stored(struct arena *a, const struct api_resource *res, struct value v)
{
    struct value copy;

    if (str_eq(res->api_version, res->stored_version))
        return v;
    copy = value_copy(a, v, NULL);
    value_setz(copy, "apiVersion", value_from_str(res->stored_version));
    if (res->builtin)
        convert_builtin(a, res, copy, true);
    return copy;
}
