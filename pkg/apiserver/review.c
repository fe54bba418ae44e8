/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/auth.h"
#include "apiserver/object.h"
#include "apiserver/server.h"
#include "base/limits.h"

/* ---- users as values ------------------------------------------------------------------------------------------- */

static struct value user_value(struct api_request *rq, const struct api_user *u)
{
    struct value v = value_new_map(rq->arena);
    struct value_list groups = VALUE_LIST_INIT(rq->arena);

    for (size_t i = 0; i < u->n_groups; i++)
        value_list_add(&groups, value_from_str(u->groups[i]));
    value_setz(v, "username", value_from_str(u->name));
    if (u->uid.n > 0)
        value_setz(v, "uid", value_from_str(u->uid));
    value_setz(v, "groups", value_list_done(&groups));
    if (value_len(u->extra) > 0)
        value_setz(v, "extra", u->extra);
    return v;
}

static struct api_user user_from(struct api_request *rq, struct value spec)
{
    struct value groups = value_getz(spec, "groups");
    struct str *names = ARENA_ARRAY(rq->arena, struct str, value_len(groups) + 1);
    struct api_user u = { .name = value_str(value_getz(spec, "user")), .groups = names };

    for (struct value_iter it = value_iter(groups); value_next(&it);) {
        names[u.n_groups++] = value_str(it.v);
        u.admin |= str_eq(value_str(it.v), STR("system:masters"));
    }
    return u;
}

/* ---- access reviews -------------------------------------------------------------------------------------------- */

static struct api_attributes attributes_from(struct value spec)
{
    struct value r = value_getz(spec, "resourceAttributes"), o = value_getz(spec, "nonResourceAttributes");

    if (value_is_map(o))
        return (struct api_attributes){ .verb = value_str(value_getz(o, "verb")),
                                        .path = value_str(value_getz(o, "path")) };
    return (struct api_attributes){ .verb = value_str(value_getz(r, "verb")),
                                    .group = value_str(value_getz(r, "group")),
                                    .resource = value_str(value_getz(r, "resource")),
                                    .sub = value_str(value_getz(r, "subresource")),
                                    .name = value_str(value_getz(r, "name")),
                                    .ns = value_str(value_getz(r, "namespace")) };
}

static void access_review(struct api_request *rq, struct value obj, const struct api_user *user)
{
    const struct api_attributes a = attributes_from(value_getz(obj, "spec"));
    struct value status = value_new_map(rq->arena);

    value_setz(status, "allowed", value_from_bool(api_rbac_allows(rq->server, user, &a)));
    value_setz(obj, "status", status);
}

static int self_access(struct api_request *rq, struct value obj)
{
    access_review(rq, obj, &rq->user);
    return 0;
}

static int subject_access(struct api_request *rq, struct value obj)
{
    struct value spec = value_getz(obj, "spec");
    struct api_user u = user_from(rq, spec);
    struct api_causes causes = API_CAUSES_INIT(rq->arena);

    if (u.name.n == 0 && u.n_groups == 0) {
        api_cause_required(&causes, "spec.user", "at least one of user or group must be specified");
        return api_fail_invalid(rq, rq->res->kind, rq->res->group, STR(""), &causes);
    }
    if (rq->res->namespaced && !str_eq(value_str(value_path(spec, "resourceAttributes.namespace")), rq->ns))
        return api_fail(rq, 400, "BadRequest",
                        "spec.resourceAttributes.namespace must match namespace: " STR_FMT, STR_ARG(rq->ns));
    access_review(rq, obj, &u);
    return 0;
}

static int self_rules(struct api_request *rq, struct value obj)
{
    struct value status = value_new_map(rq->arena), resource, other;

    api_rbac_rules(rq, &rq->user, value_str(value_path(obj, "spec.namespace")), &resource, &other);
    value_setz(status, "resourceRules", resource);
    value_setz(status, "nonResourceRules", other);
    value_setz(status, "incomplete", value_from_bool(false));
    value_setz(obj, "status", status);
    return 0;
}

static int self_subject(struct api_request *rq, struct value obj)
{
    struct value status = value_new_map(rq->arena);

    value_setz(status, "userInfo", user_value(rq, &rq->user));
    value_setz(obj, "status", status);
    return 0;
}

static bool audience_fits(struct value wanted, struct value has, struct value_list *both)
{
    if (value_len(wanted) == 0 || value_is_null(has)) {
        for (struct value_iter it = value_iter(wanted); value_next(&it);)
            value_list_add(both, it.v);
        return true;
    }
    for (struct value_iter w = value_iter(wanted); value_next(&w);)
        for (struct value_iter h = value_iter(has); value_next(&h);)
            if (value_equal(w.v, h.v))
                value_list_add(both, w.v);
    return both->n > 0;
}

static int token_review(struct api_request *rq, struct value obj)
{
    struct value spec = value_getz(obj, "spec"), status = value_new_map(rq->arena), audiences;
    struct value_list both = VALUE_LIST_INIT(rq->arena);
    struct api_user u;

    if (value_len(value_getz(spec, "token")) == 0)
        return api_fail(rq, 400, "BadRequest", "token is required for TokenReview in authentication");
    if (api_authenticate_token(rq, value_str(value_getz(spec, "token")), &u, &audiences) == 0 &&
        audience_fits(value_getz(spec, "audiences"), audiences, &both)) {
        value_setz(status, "authenticated", value_from_bool(true));
        value_setz(status, "user", user_value(rq, &u));
        if (both.n > 0)
            value_setz(status, "audiences", value_list_done(&both));
    } else {
        value_setz(status, "user", value_new_map(rq->arena));
        value_setz(status, "error", VALUE_STR("invalid bearer token"));
    }
    value_setz(obj, "status", status);
    return 0;
}

static const struct {
    const char *kind;
    int (*fn)(struct api_request *rq, struct value obj);
} reviews[] = {
    { "SelfSubjectAccessReview", self_access },     { "SubjectAccessReview", subject_access },
    { "LocalSubjectAccessReview", subject_access }, { "SelfSubjectRulesReview", self_rules },
    { "SelfSubjectReview", self_subject },          { "TokenReview", token_review },
};

int api_review(struct api_request *rq)
{
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct value raw, obj;

    if (rq->method != API_POST)
        return api_fail_method(rq);
    if (api_body_read(rq, &raw, &strict) < 0 || api_body_object(rq, raw, &obj, &strict) < 0 ||
        api_strict_check(rq, &strict) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(reviews); i++)
        if (str_eq(str_from(reviews[i].kind), rq->res->kind))
            return reviews[i].fn(rq, obj) < 0 ? -1 : api_answer_value(rq, 201, obj);
    return api_fail(rq, 501, "NotImplemented", STR_FMT " is not served", STR_ARG(rq->res->kind));
}
