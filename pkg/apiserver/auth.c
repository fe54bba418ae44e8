/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/auth.h"

#include "apiserver/server.h"
#include "base/encode.h"
#include "base/limits.h"
#include "json/json.h"

#define ISSUER "https://kubernetes.default.svc"

enum { IMPERSONATE_GROUPS_MAX = 64 };

struct api_impersonate {
    struct str user, uid;
    struct str groups[IMPERSONATE_GROUPS_MAX];
    size_t n_groups;
    struct value extra; /* map of lists */
};

/* ---- tokens -------------------------------------------------------------------------------------------------- */

static struct str *copy_groups(struct arena *a, const struct str *from, size_t n)
{
    struct str *to = ARENA_ARRAY(a, struct str, n);

    for (size_t i = 0; i < n; i++)
        to[i] = arena_dup(a, from[i]);
    return to;
}

static void be_admin(struct api_user *u)
{
    static const struct str groups[] = { { "system:masters", 14 }, { "system:authenticated", 20 } };

    *u = (struct api_user){
        .name = STR("admin"), .groups = groups, .n_groups = ARRAY_SIZE(groups), .admin = true
    };
}

static void be_anonymous(struct api_user *u)
{
    static const struct str groups[] = { { "system:unauthenticated", 22 } };

    *u = (struct api_user){ .name = STR("system:anonymous"),
                            .groups = groups,
                            .n_groups = ARRAY_SIZE(groups) };
}

static void api_user_of_account(struct arena *a, struct str ns, struct str name, struct str uid,
                                struct api_user *ret)
{
    struct str *groups = ARENA_ARRAY(a, struct str, 3);

    groups[0] = STR("system:serviceaccounts");
    groups[1] = arena_printf(a, "system:serviceaccounts:" STR_FMT, STR_ARG(ns));
    groups[2] = STR("system:authenticated");
    *ret = (struct api_user){ .name = arena_printf(a, "system:serviceaccount:" STR_FMT ":" STR_FMT,
                                                   STR_ARG(ns), STR_ARG(name)),
                              .uid = uid,
                              .groups = groups,
                              .n_groups = 3 };
}

/* The object that the token is bound to must still be the same. */
static bool object_alive(struct api_request *rq, struct str resource, struct str ns, struct value ref)
{
    const struct api_key key = { resource, ns, value_str(value_getz(ref, "name")) };
    struct api_row row;
    struct value obj;

    return api_store_get(rq->server->store, &key, rq->arena, &row, NULL) == 0 &&
           json_parse(rq->arena, row.json, NULL, &obj, NULL) == 0 &&
           str_eq(api_meta_str(obj, "uid"), value_str(value_getz(ref, "uid")));
}

int api_authenticate_token(struct api_request *rq, struct str token, struct api_user *ret,
                           struct value *ret_audiences)
{
    struct value claims, k8s, account;
    struct str ns;

    *ret_audiences = VALUE_NONE;
    if (api_keys_token_is(rq->server->keys, token)) {
        be_admin(ret);
        return 0;
    }
    if (api_keys_verify(rq->server->keys, token, rq->arena, &claims, NULL) < 0)
        return -1;
    if (value_int(value_getz(claims, "exp"), 0) <= rq->now.s ||
        value_int(value_getz(claims, "nbf"), 0) > rq->now.s)
        return -1;
    k8s = value_getz(claims, "kubernetes.io");
    account = value_getz(k8s, "serviceaccount");
    ns = value_str(value_getz(k8s, "namespace"));
    if (!object_alive(rq, STR("serviceaccounts"), ns, account))
        return -1;
    if (value_has(k8s, STR("pod")) && !object_alive(rq, STR("pods"), ns, value_getz(k8s, "pod")))
        return -1;
    if (value_has(k8s, STR("secret")) && !object_alive(rq, STR("secrets"), ns, value_getz(k8s, "secret")))
        return -1;
    api_user_of_account(rq->arena, ns, value_str(value_getz(account, "name")),
                        value_str(value_getz(account, "uid")), ret);
    *ret_audiences = value_getz(claims, "aud");
    return 0;
}

static bool has_audience(struct value audiences)
{
    if (value_is_null(audiences))
        return true;
    for (struct value_iter it = value_iter(audiences); value_next(&it);)
        if (str_eq(value_str(it.v), STR(ISSUER)))
            return true;
    return false;
}

int api_authenticate(struct api_request *rq, struct str authorization)
{
    struct str head, token = authorization;
    struct value audiences;

    if (authorization.n == 0) {
        be_anonymous(&rq->user);
        return 0;
    }
    str_split(&token, ' ', &head);
    token = str_trim(token);
    if (!str_ieq(head, STR("Bearer")) || token.n == 0 ||
        api_authenticate_token(rq, token, &rq->user, &audiences) < 0 || !has_audience(audiences))
        return api_fail(rq, 401, "Unauthorized", "Unauthorized");
    return 0;
}

/* ---- impersonation ------------------------------------------------------------------------------------------- */

static struct api_impersonate *wanted(struct api_request *rq)
{
    if (!rq->as) {
        rq->as = ARENA_NEW(rq->arena, struct api_impersonate);
        rq->as->extra = value_new_map(rq->arena);
    }
    return rq->as;
}

static void add_extra(struct api_request *rq, struct str key, struct str v)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    struct value extra = wanted(rq)->extra;
    struct str name;

    if (!url_unescape(key, &b))
        return;
    for (size_t i = 0; i < b.n; i++)
        b.p[i] = ascii_lower(b.p[i]);
    name = arena_dup(rq->arena, buf_str(&b));
    for (struct value_iter it = value_iter(value_get(extra, name)); value_next(&it);)
        value_list_add(&l, it.v);
    value_list_add(&l, api_str(rq, v));
    value_set(extra, name, value_list_done(&l));
}

void api_request_impersonation_header(struct api_request *rq, struct str name, struct str v)
{
    static const char prefix[] = "impersonate-";
    struct str rest;

    if (name.n < sizeof(prefix) || !str_ieq(str_sub(name, 0, sizeof(prefix) - 1), STR("impersonate-")))
        return;
    rest = str_sub(name, sizeof(prefix) - 1, name.n);
    if (str_ieq(rest, STR("user")))
        wanted(rq)->user = arena_dup(rq->arena, v);
    else if (str_ieq(rest, STR("uid")))
        wanted(rq)->uid = arena_dup(rq->arena, v);
    else if (str_ieq(rest, STR("group")) && wanted(rq)->n_groups < IMPERSONATE_GROUPS_MAX)
        rq->as->groups[rq->as->n_groups++] = arena_dup(rq->arena, v);
    else if (rest.n > 6 && str_ieq(str_sub(rest, 0, 6), STR("extra-")))
        add_extra(rq, str_sub(rest, 6, rest.n), v);
}

static int may_impersonate(struct api_request *rq, struct str group, struct str resource, struct str sub,
                           struct str ns, struct str name)
{
    const struct api_attributes a = {
        .verb = STR("impersonate"), .group = group, .resource = resource, .sub = sub, .name = name, .ns = ns
    };
    struct api_resource res = { .plural = resource, .group = group };

    if (api_rbac_allows(rq->server, &rq->user, &a))
        return 0;
    api_fail_forbidden(rq, &res, name,
                       "User \"" STR_FMT "\" cannot impersonate resource \"" STR_FMT
                       "\" in API group \"" STR_FMT "\"%s" STR_FMT "%s",
                       STR_ARG(rq->user.name), STR_ARG(resource), STR_ARG(group),
                       ns.n > 0 ? " in the namespace \"" : " at the cluster scope", STR_ARG(ns),
                       ns.n > 0 ? "\"" : "");
    return -1;
}

static bool split_account(struct str user, struct str *ns, struct str *name)
{
    struct str rest;

    if (!str_has_prefix(user, STR("system:serviceaccount:")))
        return false;
    rest = str_trim_prefix(user, STR("system:serviceaccount:"));
    return str_split(&rest, ':', ns) && ns->n > 0 && rest.n > 0 && (*name = rest, true);
}

static int check_impersonation(struct api_request *rq)
{
    struct api_impersonate *as = rq->as;
    struct str ns, name;
    int r;

    if (split_account(as->user, &ns, &name))
        r = may_impersonate(rq, STR(""), STR("serviceaccounts"), STR(""), ns, name);
    else
        r = may_impersonate(rq, STR(""), STR("users"), STR(""), STR(""), as->user);
    for (size_t i = 0; r == 0 && i < as->n_groups; i++)
        r = may_impersonate(rq, STR(""), STR("groups"), STR(""), STR(""), as->groups[i]);
    if (r == 0 && as->uid.n > 0)
        r = may_impersonate(rq, STR("authentication.k8s.io"), STR("uids"), STR(""), STR(""), as->uid);
    for (struct value_iter it = value_iter(as->extra); r == 0 && value_next(&it);)
        for (struct value_iter v = value_iter(it.v); r == 0 && value_next(&v);)
            r = may_impersonate(rq, STR("authentication.k8s.io"), STR("userextras"), it.key, STR(""),
                                value_str(v.v));
    return r;
}

static bool user_in(const struct str *groups, size_t n, struct str group)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(groups[i], group))
            return true;
    return false;
}

/* The groups every identity has are added as the real server does (filters/impersonation.go). */
static void take_identity(struct api_request *rq)
{
    struct api_impersonate *as = rq->as;
    struct str *groups = ARENA_ARRAY(rq->arena, struct str, as->n_groups + 3), ns, name;
    size_t n = as->n_groups;
    struct api_user account = { 0 };

    for (size_t i = 0; i < as->n_groups; i++)
        groups[i] = as->groups[i];
    if (as->n_groups == 0 && split_account(as->user, &ns, &name)) {
        api_user_of_account(rq->arena, ns, name, STR(""), &account);
        for (size_t i = 0; i < account.n_groups; i++)
            groups[n++] = account.groups[i];
    }
    if (!user_in(groups, n, STR("system:authenticated")) &&
        !user_in(groups, n, STR("system:unauthenticated")))
        groups[n++] = str_eq(as->user, STR("system:anonymous")) ? STR("system:unauthenticated")
                                                                : STR("system:authenticated");
    rq->user = (struct api_user){ .name = as->user,
                                  .uid = as->uid,
                                  .groups = copy_groups(rq->arena, groups, n),
                                  .n_groups = n,
                                  .extra = value_len(as->extra) > 0 ? as->extra : VALUE_NONE,
                                  .admin = user_in(groups, n, STR("system:masters")) };
}

int api_impersonate(struct api_request *rq)
{
    if (!rq->as)
        return 0;
    if (rq->as->user.n == 0)
        return api_fail(rq, 500, "InternalError",
                        "Internal error occurred: requested impersonation without impersonating a user");
    if (check_impersonation(rq) < 0)
        return -1;
    take_identity(rq);
    return 0;
}

/* ---- authorization ------------------------------------------------------------------------------------------- */

int api_authorize(struct api_request *rq)
{
    const struct api_attributes a = { .verb = str_from(rq->verb),
                                      .group = rq->res->group,
                                      .resource = rq->res->plural,
                                      .sub = rq->sub,
                                      .name = rq->name,
                                      .ns = rq->ns };
    const char *slash = rq->sub.n > 0 ? "/" : "";

    if (rq->user.admin || api_rbac_allows(rq->server, &rq->user, &a))
        return 0;
    if (rq->ns.n > 0)
        return api_fail_forbidden(rq, rq->res, rq->name,
                                  "User \"" STR_FMT "\" cannot %s resource \"" STR_FMT "%s" STR_FMT
                                  "\" in API group \"" STR_FMT "\" in the namespace \"" STR_FMT "\"",
                                  STR_ARG(rq->user.name), rq->verb, STR_ARG(rq->res->plural), slash,
                                  STR_ARG(rq->sub), STR_ARG(rq->res->group), STR_ARG(rq->ns));
    return api_fail_forbidden(rq, rq->res, rq->name,
                              "User \"" STR_FMT "\" cannot %s resource \"" STR_FMT "%s" STR_FMT
                              "\" in API group \"" STR_FMT "\" at the cluster scope",
                              STR_ARG(rq->user.name), rq->verb, STR_ARG(rq->res->plural), slash,
                              STR_ARG(rq->sub), STR_ARG(rq->res->group));
}

static const char *path_verb(enum api_method m)
{
    static const char *const verbs[] = {
        [API_GET] = "get",     [API_HEAD] = "head",     [API_POST] = "post",  [API_PUT] = "put",
        [API_PATCH] = "patch", [API_DELETE] = "delete", [API_OTHER] = "other"
    };

    return verbs[m];
}

int api_authorize_path(struct api_request *rq)
{
    const struct api_attributes a = { .verb = str_from(path_verb(rq->method)), .path = rq->path };

    if (rq->user.admin || api_rbac_allows(rq->server, &rq->user, &a))
        return 0;
    api_fail(rq, 403, "Forbidden", "forbidden: User \"" STR_FMT "\" cannot %s path \"" STR_FMT "\"",
             STR_ARG(rq->user.name), path_verb(rq->method), STR_ARG(rq->path));
    value_setz(rq->failure, "details", value_new_map(rq->arena));
    return -1;
}
