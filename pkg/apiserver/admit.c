/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "apiserver"
#include "apiserver/auth.h"
#include "apiserver/crd.h"
#include "apiserver/object.h"
#include "apiserver/present.h"
#include "apiserver/server.h"
#include "apiserver/services.h"
#include "apiserver/token.h"
#include "base/encode.h"
#include "base/limits.h"
#include "base/log.h"
#include "json/json.h"

/* ---- namespaces ---------------------------------------------------------------------------------------------- */

static int read_object(struct api_request *rq, struct str resource, struct str ns, struct str name,
                       struct value *ret)
{
    const struct api_key key = { resource, ns, name };
    struct api_row row;
    int r = api_store_get(rq->server->store, &key, rq->arena, &row, NULL);

    return r < 0 ? r : json_parse(rq->arena, row.json, NULL, ret, NULL);
}

static int check_namespace(struct api_request *rq)
{
    struct api_causes causes = API_CAUSES_INIT(rq->arena);
    struct value ns;

    if (!rq->res->namespaced)
        return 0;
    if (read_object(rq, STR("namespaces"), STR(""), rq->ns, &ns) < 0) {
        const struct api_resource *res = api_catalog_find_id(rq->catalog, STR("namespaces"));

        return api_fail_not_found(rq, res, rq->ns);
    }
    if (api_meta_str(ns, "deletionTimestamp").n == 0)
        return 0;
    api_cause_add(&causes, "NamespaceTerminating", STR("metadata.namespace"),
                  arena_printf(rq->arena, "namespace " STR_FMT " is being terminated", STR_ARG(rq->ns)));
    api_fail_forbidden(rq, rq->res, rq->name,
                       "unable to create new content in namespace " STR_FMT " because it is being terminated",
                       STR_ARG(rq->ns));
    api_fail_details(rq, rq->name, rq->res->group, rq->res->plural, api_causes_value(&causes));
    return -1;
}

static int admit_namespace(struct api_request *rq, struct value obj, struct value live)
{
    struct value meta = api_meta(obj), labels = value_getz(meta, "labels");

    UNUSED(live);
    if (!value_is_map(labels)) {
        labels = value_new_map(rq->arena);
        value_setz(meta, "labels", labels);
    }
    value_setz(labels, "kubernetes.io/metadata.name", value_from_str(rq->name));
    return 0;
}

/* ---- pods ---------------------------------------------------------------------------------------------------- */

static int set_service_account(struct api_request *rq, struct value spec)
{
    struct str name = value_str(value_getz(spec, "serviceAccountName"));
    struct value account;

    if (name.n == 0) {
        value_setz(spec, "serviceAccountName", VALUE_STR("default"));
        name = STR("default");
    }
    value_setz(spec, "serviceAccount", value_from_str(name));
    if (read_object(rq, STR("serviceaccounts"), rq->ns, name, &account) == 0)
        return 0;
    return api_fail_forbidden(rq, rq->res, rq->name,
                              "error looking up service account " STR_FMT "/" STR_FMT
                              ": serviceaccount \"" STR_FMT "\" not found",
                              STR_ARG(rq->ns), STR_ARG(name), STR_ARG(name));
}

static int set_priority(struct api_request *rq, struct value spec)
{
    struct str name = value_str(value_getz(spec, "priorityClassName"));
    struct value class = VALUE_NONE;

    if (name.n > 0 && read_object(rq, STR("priorityclasses.scheduling.k8s.io"), STR(""), name, &class) < 0)
        return api_fail_forbidden(rq, rq->res, rq->name, "no PriorityClass with name " STR_FMT " was found",
                                  STR_ARG(name));
    value_setz(spec, "priority", name.n > 0 ? value_getz(class, "value") : value_from_int(0));
    if (!value_has(spec, STR("preemptionPolicy")))
        value_setz(spec, "preemptionPolicy",
                   value_has(class, STR("preemptionPolicy")) ? value_getz(class, "preemptionPolicy")
                                                             : VALUE_STR("PreemptLowerPriority"));
    return 0;
}

static bool tolerates(struct value list, struct str key)
{
    for (struct value_iter it = value_iter(list); value_next(&it);) {
        struct str k = value_str(value_getz(it.v, "key")), effect = value_str(value_getz(it.v, "effect"));

        if ((k.n == 0 || str_eq(k, key)) && (effect.n == 0 || str_eq(effect, STR("NoExecute"))))
            return true;
    }
    return false;
}

/* plugin/pkg/admission/defaulttolerationseconds */
static void add_tolerations(struct api_request *rq, struct value spec)
{
    static const char *const keys[] = { "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable" };
    struct value list = value_getz(spec, "tolerations");
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    for (struct value_iter it = value_iter(list); value_next(&it);)
        value_list_add(&l, it.v);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        struct value t;

        if (tolerates(list, str_from(keys[i])))
            continue;
        t = value_new_map(rq->arena);
        value_setz(t, "key", value_from_str(str_from(keys[i])));
        value_setz(t, "operator", VALUE_STR("Exists"));
        value_setz(t, "effect", VALUE_STR("NoExecute"));
        value_setz(t, "tolerationSeconds", value_from_int(300));
        value_list_add(&l, t);
    }
    value_setz(spec, "tolerations", value_list_done(&l));
}

static int admit_pod(struct api_request *rq, struct value obj, struct value live)
{
    struct value spec = value_getz(obj, "spec");

    if (!value_is_null(live) || !value_is_map(spec))
        return 0;
    if (set_service_account(rq, spec) < 0 || set_priority(rq, spec) < 0)
        return -1;
    add_tolerations(rq, spec);
    return 0;
}

/* ---- secrets, volumes, services ------------------------------------------------------------------------------ */

static int set_data(struct api_request *rq, struct value data, const char *key, struct str text)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    base64_encode(BASE64_STD, text, &b);
    value_set(data, str_from(key), api_str(rq, buf_str(&b)));
    return 0;
}

/* The token controller's work: a Secret that names a service account gets a token that does not expire soon. */
static int admit_secret(struct api_request *rq, struct value obj, struct value live)
{
    struct value notes = value_path(obj, "metadata.annotations"), account, data;
    struct str name = value_str(value_getz(notes, "kubernetes.io/service-account.name")), token;

    if (!value_is_null(live) ||
        !str_eq(value_str(value_getz(obj, "type")), STR("kubernetes.io/service-account-token")))
        return 0;
    if (name.n == 0 || read_object(rq, STR("serviceaccounts"), rq->ns, name, &account) < 0)
        return 0;
    value_setz(notes, "kubernetes.io/service-account.uid", value_from_str(api_meta_str(account, "uid")));
    data = value_getz(obj, "data");
    if (!value_is_map(data)) {
        data = value_new_map(rq->arena);
        value_setz(obj, "data", data);
    }
    if (api_token_for_secret(rq, account, obj, &token) < 0)
        return -1;
    set_data(rq, data, "token", token);
    set_data(rq, data, "namespace", rq->ns);
    return set_data(rq, data, "ca.crt", str_from(api_keys_ca(rq->server->keys)));
}

struct default_class {
    struct api_request *rq;
    struct str name;
};

static int on_class(void *ctx, const struct api_row *row, struct err **err)
{
    struct default_class *d = ctx;
    struct value v;
    int r = json_parse(d->rq->arena, arena_dup(d->rq->arena, row->json), NULL, &v, err);

    if (r < 0)
        return r;
    if (str_eq(value_str(value_get(value_path(v, "metadata.annotations"),
                                   STR("storageclass.kubernetes.io/is-default-class"))),
               STR("true")))
        d->name = arena_dup(d->rq->arena, row->key.name);
    return 1;
}

static int admit_claim(struct api_request *rq, struct value obj, struct value live)
{
    const struct api_list q = { .resource = STR("storageclasses.storage.k8s.io") };
    struct default_class d = { rq, STR("") };
    struct value spec = value_getz(obj, "spec");
    struct api_list_end end;

    if (!value_is_null(live) || !value_is_map(spec) || value_has(spec, STR("storageClassName")))
        return 0;
    if (api_store_list(rq->server->store, &q, on_class, &d, &end, NULL) == 0 && d.name.n > 0)
        value_setz(spec, "storageClassName", value_from_str(d.name));
    return 0;
}

/* ---- RBAC: nobody hands out what they do not have -------------------------------------------------------------- */

static bool may(struct api_request *rq, const char *verb, struct str plural, struct str name)
{
    const struct api_attributes a = {
        .verb = str_from(verb), .group = rq->res->group, .resource = plural, .name = name, .ns = rq->ns
    };

    return api_rbac_allows(rq->server, &rq->user, &a);
}

static int admit_role(struct api_request *rq, struct value obj, struct value live)
{
    if (rq->user.admin ||
        (!value_is_null(live) && value_equal(value_getz(obj, "rules"), value_getz(live, "rules"))) ||
        may(rq, "escalate", rq->res->plural, rq->name) ||
        api_rbac_covers(rq, value_getz(obj, "rules"), rq->ns))
        return 0;
    return api_fail_forbidden(rq, rq->res, rq->name,
                              "user \"" STR_FMT
                              "\" (groups=%zu) is attempting to grant RBAC permissions not currently "
                              "held",
                              STR_ARG(rq->user.name), rq->user.n_groups);
}

static int admit_binding(struct api_request *rq, struct value obj, struct value live)
{
    struct value ref = value_getz(obj, "roleRef"), role;
    bool cluster = str_eq(value_str(value_getz(ref, "kind")), STR("ClusterRole"));
    struct str name = value_str(value_getz(ref, "name"));

    if (rq->user.admin ||
        (!value_is_null(live) && value_equal(value_getz(obj, "subjects"), value_getz(live, "subjects"))) ||
        may(rq, "bind", cluster ? STR("clusterroles") : STR("roles"), name))
        return 0;
    if (read_object(rq,
                    cluster ? STR("clusterroles.rbac.authorization.k8s.io")
                            : STR("roles.rbac.authorization.k8s.io"),
                    cluster ? STR("") : rq->ns, name, &role) < 0)
        return api_fail(rq, 404, "NotFound", "%s.rbac.authorization.k8s.io \"" STR_FMT "\" not found",
                        cluster ? "clusterroles" : "roles", STR_ARG(name));
    if (api_rbac_covers(rq, value_getz(role, "rules"), rq->ns))
        return 0;
    return api_fail_forbidden(rq, rq->res, rq->name,
                              "user \"" STR_FMT
                              "\" (groups=%zu) is attempting to grant RBAC permissions not currently "
                              "held",
                              STR_ARG(rq->user.name), rq->user.n_groups);
}

/* ---- all ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *id;
    int (*admit)(struct api_request *rq, struct value obj, struct value live);
} hooks[] = {
    { "namespaces", admit_namespace },
    { "pods", admit_pod },
    { "secrets", admit_secret },
    { "persistentvolumeclaims", admit_claim },
    { "services", api_service_assign },
    { API_CRD_ID, api_crd_admit },
    { "roles.rbac.authorization.k8s.io", admit_role },
    { "clusterroles.rbac.authorization.k8s.io", admit_role },
    { "rolebindings.rbac.authorization.k8s.io", admit_binding },
    { "clusterrolebindings.rbac.authorization.k8s.io", admit_binding },
};

static int run_hook(struct api_request *rq, struct value obj, struct value live)
{
    for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
        if (str_eq(str_from(hooks[i].id), rq->res->id))
            return hooks[i].admit(rq, obj, live);
    return 0;
}

int api_admit_create(struct api_request *rq, struct value obj)
{
    return check_namespace(rq) < 0 ? -1 : run_hook(rq, obj, VALUE_NONE);
}

int api_admit_update(struct api_request *rq, struct value obj, struct value live)
{
    return rq->sub.n > 0 ? 0 : run_hook(rq, obj, live);
}

void api_admit_stored(struct api_request *rq, int op, struct value obj)
{
    struct err *err = NULL;

    if (str_eq(rq->res->id, STR(API_CRD_ID)) && api_server_reload(rq->server, &err) < 0) {
        log_error("custom resource definitions cannot be read", LOG_ERR(err));
        err_free(err);
    }
    if (op == API_OP_DELETE && str_eq(rq->res->id, STR("services")))
        api_service_release(rq, obj);
}
