/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* auth: who asks (admin token, service-account tokens, impersonation) and what they may do (RBAC). */
#include "apiserver/request.h"

struct api_attributes {
    struct str verb;
    struct str group, resource, sub, name, ns;
    struct str path; /* not empty: a path that is no resource */
};

/* Sets rq->user from the Authorization header's value: anonymous without one; 401 for a bad one. */
int api_authenticate(struct api_request *rq, struct str authorization);
/* Whose token is it? 0 and *ret, or -1 without a failure in the request. */
int api_authenticate_token(struct api_request *rq, struct str token, struct api_user *ret,
                           struct value *ret_audiences);
/* Applies impersonation headers; 403 when they are not allowed. */
int api_impersonate(struct api_request *rq);

/* RBAC, system:masters first. Compiled roles and bindings are kept until one changes. */
struct api_rbac *api_rbac_new(void);
void api_rbac_free(struct api_rbac *r);
bool api_rbac_allows(struct apiserver *s, const struct api_user *user, const struct api_attributes *what);
/* Rules of the user in a namespace, as SelfSubjectRulesReview lists them. */
void api_rbac_rules(struct api_request *rq, const struct api_user *user, struct str ns,
                    struct value *ret_resource, struct value *ret_other);
/* May rq->user hand out these rules (a list)? Adds what is missing to `missing`. */
bool api_rbac_covers(struct api_request *rq, struct value rules, struct str ns);

/* 403 in Kubernetes' words unless the user may do what the request asks for. */
int api_authorize(struct api_request *rq);
int api_authorize_path(struct api_request *rq);
