/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/delete.h"
#include "apiserver/object.h"
#include "apiserver/patch.h"
#include "apiserver/present.h"
#include "apiserver/schema.h"
#include "apiserver/server.h"
#include "apiserver/token.h"
#include "base/limits.h"
#include "json/json.h"

/* ---- reading the object behind a subresource ------------------------------------------------------------------- */

static int read_live(struct api_request *rq, struct value *ret)
{
    const struct api_key key = { rq->res->id, rq->ns, rq->name };
    struct api_row row;

    if (api_store_get(rq->server->store, &key, rq->arena, &row, NULL) < 0)
        return api_fail_not_found(rq, rq->res, rq->name);
    return api_read_stored(rq, rq->res, row.json, ret);
}

/* ---- scale --------------------------------------------------------------------------------------------------- */

static const char *scale_path(struct api_request *rq, const char *key, const char *builtin)
{
    struct str path;

    if (rq->res->builtin)
        return builtin;
    path = value_str(value_get(rq->res->scale, str_from(key)));
    return arena_dupz(rq->arena, str_trim_prefix(path, STR(".")));
}

static void add_expression(struct value e, struct buf *out)
{
    struct str key = value_str(value_getz(e, "key")), op = value_str(value_getz(e, "operator"));
    bool first = true;

    if (out->n > 0)
        buf_addc(out, ',');
    if (str_eq(op, STR("DoesNotExist")))
        buf_addc(out, '!');
    buf_addstr(out, key);
    if (!str_eq(op, STR("In")) && !str_eq(op, STR("NotIn")))
        return;
    buf_adds(out, str_eq(op, STR("In")) ? " in (" : " notin (");
    for (struct value_iter it = value_iter(value_getz(e, "values")); value_next(&it); first = false) {
        if (!first)
            buf_addc(out, ',');
        buf_addstr(out, value_str(it.v));
    }
    buf_addc(out, ')');
}

/* A label selector as the text that `kubectl get -l` takes. */
static struct str selector_text(struct api_request *rq, struct value selector)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(1 << 20);
    struct value labels =
        value_has(selector, STR("matchLabels")) || value_has(selector, STR("matchExpressions"))
            ? value_getz(selector, "matchLabels")
            : selector;

    for (struct value_iter it = value_iter(labels); value_next(&it);) {
        if (b.n > 0)
            buf_addc(&b, ',');
        buf_addstr(&b, it.key);
        buf_addc(&b, '=');
        buf_addstr(&b, value_str(it.v));
    }
    for (struct value_iter it = value_iter(value_getz(selector, "matchExpressions")); value_next(&it);)
        add_expression(it.v, &b);
    return arena_dup(rq->arena, buf_str(&b));
}

static struct value make_scale(struct api_request *rq, struct value obj)
{
    static const char *const copied[] = { "name", "namespace", "uid", "resourceVersion",
                                          "creationTimestamp" };
    struct value v = value_new_map(rq->arena), meta = value_new_map(rq->arena),
                 status = value_new_map(rq->arena);
    struct value spec = value_new_map(rq->arena),
                 n = value_path(obj, scale_path(rq, "specReplicasPath", "spec.replicas"));
    struct str selector;

    for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
        if (value_has(api_meta(obj), str_from(copied[i])))
            value_set(meta, str_from(copied[i]), value_get(api_meta(obj), str_from(copied[i])));
    if (value_int(n, 0) != 0)
        value_setz(spec, "replicas", n);
    n = value_path(obj, scale_path(rq, "statusReplicasPath", "status.replicas"));
    value_setz(status, "replicas", value_from_int(value_int(n, 0)));
    selector = rq->res->builtin ? selector_text(rq, value_path(obj, "spec.selector"))
                                : value_str(value_path(obj, scale_path(rq, "labelSelectorPath", "")));
    if (selector.n > 0)
        value_setz(status, "selector", value_from_str(selector));
    value_setz(v, "kind", VALUE_STR("Scale"));
    value_setz(v, "apiVersion", VALUE_STR("autoscaling/v1"));
    value_setz(v, "metadata", meta);
    value_setz(v, "spec", spec);
    value_setz(v, "status", status);
    return v;
}

struct scaling {
    struct value body; /* the Scale of a PUT, or the patch */
    bool patch;
};

static int patched_scale(struct api_request *rq, struct value patch, struct value scale, struct value *ret)
{
    struct err *err = NULL;
    int r;

    if (str_has_prefix(rq->content_type, STR("application/json-patch+json")))
        r = api_patch_json(rq->arena, scale, patch, ret, &err);
    else
        r = api_patch_merge(rq->arena, scale, patch, ret, &err);
    return r < 0 ? api_fail_err(rq, err) : 0;
}

static int set_replicas(struct api_request *rq, void *ctx, struct value live, struct value *ret)
{
    struct api_ref type = api_kind_type_named(STR("io.k8s.api.autoscaling.v1.Scale"));
    struct scaling *s = ctx;
    struct value scale = s->body, obj, replicas;
    struct api_causes causes = API_CAUSES_INIT(rq->arena);
    struct err *err = NULL;

    if (s->patch && patched_scale(rq, s->body, make_scale(rq, live), &scale) < 0)
        return -1;
    if (api_schema_decode_type(rq->arena, type, STR("autoscaling/v1"), STR("Scale"), scale, &scale, NULL,
                               &err) < 0)
        return api_fail_err(rq, err);
    if (api_meta_str(scale, "resourceVersion").n > 0 &&
        !str_eq(api_meta_str(scale, "resourceVersion"), api_meta_str(live, "resourceVersion")))
        return api_fail_changed(rq, rq->res, rq->name);
    replicas = value_path(scale, "spec.replicas");
    if (value_int(replicas, 0) < 0) {
        api_cause_invalid(&causes, "spec.replicas", replicas, "must be greater than or equal to 0");
        return api_fail_invalid(rq, STR("Scale"), STR("autoscaling"), rq->name, &causes);
    }
    obj = value_copy_maps(rq->arena, live);
    value_set_path(obj, scale_path(rq, "specReplicasPath", "spec.replicas"),
                   value_from_int(value_int(replicas, 0)));
    *ret = obj;
    return 0;
}

static int scale(struct api_request *rq)
{
    static const struct json_options shallow = { .depth_max = API_DEPTH_MAX };
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct scaling s = { .patch = rq->method == API_PATCH };
    const struct api_modify m = { .fn = set_replicas, .ctx = &s };
    struct err *err = NULL;
    struct value obj;

    if (!rq->res->has_scale)
        return api_fail_path(rq);
    if (rq->method == API_GET)
        return read_live(rq, &obj) < 0 ? -1 : api_answer_value(rq, 200, make_scale(rq, obj));
    if (rq->method != API_PUT && rq->method != API_PATCH)
        return api_fail_method(rq);
    if (s.patch) {
        if (json_parse(rq->arena, rq->body, &shallow, &s.body, &err) < 0)
            return api_fail_err(rq, err);
    } else if (api_body_read(rq, &s.body, &strict) < 0) {
        return -1;
    }
    if (api_object_modify(rq, &m, &obj) < 0)
        return -1;
    return api_answer_value(rq, 200, make_scale(rq, obj));
}

/* ---- namespaces/finalize ------------------------------------------------------------------------------------- */

static int set_finalizers(struct api_request *rq, void *ctx, struct value live, struct value *ret)
{
    struct value *body = ctx, obj = value_copy_maps(rq->arena, live),
                 finalizers = value_path(*body, "spec.finalizers");

    if (value_len(finalizers) > 0)
        value_set_path(obj, "spec.finalizers", finalizers);
    else if (value_is_map(value_getz(obj, "spec")))
        value_unset(value_getz(obj, "spec"), STR("finalizers"));
    *ret = obj;
    return 0;
}

static int finalize(struct api_request *rq)
{
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct value body, obj;
    const struct api_modify m = { .fn = set_finalizers, .ctx = &body, .raw_spec = true };

    if (rq->method != API_PUT)
        return api_fail_method(rq);
    if (api_body_read(rq, &body, &strict) < 0 || api_object_modify(rq, &m, &obj) < 0)
        return -1;
    return api_present(rq, 200, obj);
}

/* ---- pods ---------------------------------------------------------------------------------------------------- */

static struct value scheduled_condition(struct api_request *rq)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);
    struct value c = value_new_map(rq->arena);

    clock_format_rfc3339(rq->now, &b);
    value_setz(c, "type", VALUE_STR("PodScheduled"));
    value_setz(c, "status", VALUE_STR("True"));
    value_setz(c, "lastProbeTime", VALUE_NONE);
    value_setz(c, "lastTransitionTime", api_str(rq, buf_str(&b)));
    return c;
}

static int bind_pod(struct api_request *rq, void *ctx, struct value live, struct value *ret)
{
    struct value *body = ctx, obj = value_copy_maps(rq->arena, live);
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    if (value_len(value_path(live, "spec.nodeName")) > 0)
        return api_fail_conflict(rq, rq->res, rq->name,
                                 "pod " STR_FMT " is already assigned to node \"" STR_FMT "\"",
                                 STR_ARG(rq->name), STR_ARG(value_str(value_path(live, "spec.nodeName"))));
    value_set_path(obj, "spec.nodeName", value_path(*body, "target.name"));
    for (struct value_iter it = value_iter(value_path(live, "status.conditions")); value_next(&it);)
        if (!str_eq(value_str(value_getz(it.v, "type")), STR("PodScheduled")))
            value_list_add(&l, it.v);
    value_list_add(&l, scheduled_condition(rq));
    value_set_path(obj, "status.conditions", value_list_done(&l));
    *ret = obj;
    return 0;
}

static int binding(struct api_request *rq)
{
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct value body, obj;
    const struct api_modify m = { .fn = bind_pod, .ctx = &body, .raw_spec = true };

    if (rq->method != API_POST)
        return api_fail_method(rq);
    if (api_body_read(rq, &body, &strict) < 0)
        return -1;
    if (value_len(value_path(body, "target.name")) == 0)
        return api_fail(rq, 422, "Invalid", "target.name: Required value");
    if (api_object_modify(rq, &m, &obj) < 0)
        return -1;
    if (api_answer_success(rq, VALUE_NONE) < 0)
        return -1;
    rq->code = 201;
    return 0;
}

static int evict(struct api_request *rq)
{
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct api_delete_options o = { .uid = STR(""), .rv = STR("") };
    struct value body, options, obj;
    bool gone;

    if (rq->method != API_POST)
        return api_fail_method(rq);
    if (api_body_read(rq, &body, &strict) < 0)
        return -1;
    options = value_getz(body, "deleteOptions");
    if (value_has(options, STR("gracePeriodSeconds"))) {
        o.has_grace = true;
        o.grace_s = value_int(value_getz(options, "gracePeriodSeconds"), 0);
    }
    o.uid = value_str(value_path(options, "preconditions.uid"));
    if (api_object_delete(rq, &o, &obj, &gone) < 0 || api_answer_success(rq, VALUE_NONE) < 0)
        return -1;
    rq->code = 201;
    return 0;
}

static bool has_container(struct value pod, struct str name)
{
    static const char *const lists[] = { "spec.containers", "spec.initContainers",
                                         "spec.ephemeralContainers" };

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        for (struct value_iter it = value_iter(value_path(pod, lists[i])); value_next(&it);)
            if (str_eq(value_str(value_getz(it.v, "name")), name))
                return true;
    return false;
}

static struct str container_names(struct api_request *rq, struct value pod)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(1 << 16);

    for (struct value_iter it = value_iter(value_path(pod, "spec.containers")); value_next(&it);) {
        if (b.n > 0)
            buf_addc(&b, ' ');
        buf_addstr(&b, value_str(value_getz(it.v, "name")));
    }
    return arena_dup(rq->arena, buf_str(&b));
}

/* Nothing runs here, so nothing was ever printed: the log of a started container is empty. */
static int pod_log(struct api_request *rq)
{
    struct str name = api_param(rq, "container");
    struct value pod;

    if (rq->method != API_GET)
        return api_fail_method(rq);
    if (read_live(rq, &pod) < 0)
        return -1;
    if (name.n == 0) {
        if (value_len(value_path(pod, "spec.containers")) > 1)
            return api_fail(rq, 400, "BadRequest",
                            "a container name must be specified for pod " STR_FMT ", choose one of: [" STR_FMT
                            "]",
                            STR_ARG(rq->name), STR_ARG(container_names(rq, pod)));
        name = container_names(rq, pod);
    }
    if (!has_container(pod, name))
        return api_fail(rq, 400, "BadRequest", "container " STR_FMT " is not valid for pod " STR_FMT,
                        STR_ARG(name), STR_ARG(rq->name));
    if (str_eq(value_str(value_path(pod, "status.phase")), STR("Pending")))
        return api_fail(rq, 400, "BadRequest",
                        "container \"" STR_FMT "\" in pod \"" STR_FMT
                        "\" is waiting to start: ContainerCreating",
                        STR_ARG(name), STR_ARG(rq->name));
    return api_answer_text(rq, 200, "text/plain", STR(""));
}

static int no_node(struct api_request *rq)
{
    return api_fail(rq, 501, "NotImplemented",
                    "\"" STR_FMT "\" needs a node that runs the pod, and there is none here",
                    STR_ARG(rq->sub));
}

/* Of the object's own kind: the whole object is read and written under another name. */
static int same_object(struct api_request *rq)
{
    switch (rq->method) {
    case API_GET:
        return api_get(rq);
    case API_PUT:
        return api_update(rq);
    case API_PATCH:
        return api_patch(rq);
    default:
        return api_fail_method(rq);
    }
}

/* ---- all ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *id, *sub; /* id "": every resource */
    int (*fn)(struct api_request *rq);
} subresources[] = {
    { "", "scale", scale },
    { "namespaces", "finalize", finalize },
    { "pods", "binding", binding },
    { "pods", "eviction", evict },
    { "pods", "log", pod_log },
    { "pods", "attach", no_node },
    { "pods", "exec", no_node },
    { "pods", "portforward", no_node },
    { "", "proxy", no_node },
    { "pods", "ephemeralcontainers", same_object },
    { "pods", "resize", same_object },
    { "serviceaccounts", "token", api_token_request },
    { "certificatesigningrequests.certificates.k8s.io", "approval", same_object },
};

int api_subresource(struct api_request *rq)
{
    for (size_t i = 0; i < ARRAY_SIZE(subresources); i++) {
        bool any = subresources[i].id[0] == 0;

        if (!str_eq(str_from(subresources[i].sub), rq->sub) ||
            (!any && !str_eq(str_from(subresources[i].id), rq->res->id)))
            continue;
        if (rq->res->builtin && !api_kind_subresource(rq->res->builtin, rq->sub))
            break;
        return subresources[i].fn(rq);
    }
    return api_fail_path(rq);
}
