/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/token.h"

#include "apiserver/object.h"
#include "apiserver/present.h"
#include "apiserver/schema.h"
#include "apiserver/server.h"
#include "base/limits.h"
#include "base/random.h"

#define ISSUER "https://kubernetes.default.svc"

enum { EXPIRES_DEFAULT_S = 3600, EXPIRES_MIN_S = 600 };
static const int64_t EXPIRES_MAX_S = (int64_t)1 << 32;
static const int64_t SECRET_EXPIRES_S = (int64_t)10 * 365 * 24 * 3600;

static struct value ref_claim(struct api_request *rq, struct str name, struct str uid)
{
    struct value v = value_new_map(rq->arena);

    value_setz(v, "name", value_from_str(name));
    value_setz(v, "uid", value_from_str(uid));
    return v;
}

static struct value base_claims(struct api_request *rq, struct value account, struct value audiences,
                                int64_t seconds)
{
    struct value c = value_new_map(rq->arena), k8s = value_new_map(rq->arena);
    struct str name = api_meta_str(account, "name");
    char id[37];

    random_uuid(id);
    value_setz(k8s, "namespace", value_from_str(rq->ns));
    value_setz(k8s, "serviceaccount", ref_claim(rq, name, api_meta_str(account, "uid")));
    value_setz(c, "aud", audiences);
    value_setz(c, "exp", value_from_int(rq->now.s + seconds));
    value_setz(c, "iat", value_from_int(rq->now.s));
    value_setz(c, "nbf", value_from_int(rq->now.s));
    value_setz(c, "iss", VALUE_STR(ISSUER));
    value_setz(c, "jti", api_str(rq, str_from(id)));
    value_setz(c, "kubernetes.io", k8s);
    value_setz(c, "sub",
               value_from_str(arena_printf(rq->arena, "system:serviceaccount:" STR_FMT ":" STR_FMT,
                                           STR_ARG(rq->ns), STR_ARG(name))));
    return c;
}

static struct value default_audiences(struct api_request *rq)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    value_list_add(&l, VALUE_STR(ISSUER));
    return value_list_done(&l);
}

static int sign(struct api_request *rq, struct value claims, struct str *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
    struct err *err = NULL;

    if (api_keys_sign(rq->server->keys, claims, &b, &err) < 0)
        return api_fail_err(rq, err);
    *ret = arena_dup(rq->arena, buf_str(&b));
    return 0;
}

int api_token_for_secret(struct api_request *rq, struct value account, struct value secret, struct str *ret)
{
    struct value claims = base_claims(rq, account, default_audiences(rq), SECRET_EXPIRES_S);

    value_setz(value_getz(claims, "kubernetes.io"), "secret",
               ref_claim(rq, rq->name, api_meta_str(secret, "uid")));
    return sign(rq, claims, ret);
}

static int read_live(struct api_request *rq, struct str resource, struct str name, struct value *ret)
{
    const struct api_resource *res = api_catalog_find_id(rq->catalog, resource);
    const struct api_key key = { resource, rq->ns, name };
    struct api_row row;

    if (api_store_get(rq->server->store, &key, rq->arena, &row, NULL) < 0)
        return api_fail_not_found(rq, res, name);
    return api_read_stored(rq, res, row.json, ret);
}

static int bind_object(struct api_request *rq, struct value claims, struct value ref)
{
    struct str kind = value_str(value_getz(ref, "kind")), name = value_str(value_getz(ref, "name"));
    struct str uid = value_str(value_getz(ref, "uid"));
    bool pod = str_eq(kind, STR("Pod"));
    struct value obj;

    if (!pod && !str_eq(kind, STR("Secret")))
        return api_fail(rq, 400, "BadRequest",
                        "cannot bind token for serviceaccount to object of type " STR_FMT, STR_ARG(kind));
    if (read_live(rq, pod ? STR("pods") : STR("secrets"), name, &obj) < 0)
        return -1;
    if (uid.n > 0 && !str_eq(uid, api_meta_str(obj, "uid")))
        return api_fail(rq, 409, "Conflict",
                        "the UID in the bound object reference does not match the object");
    value_set(value_getz(claims, "kubernetes.io"), pod ? STR("pod") : STR("secret"),
              ref_claim(rq, name, api_meta_str(obj, "uid")));
    return 0;
}

static int read_request(struct api_request *rq, struct value *ret)
{
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct api_ref type = api_kind_type_named(STR("io.k8s.api.authentication.v1.TokenRequest"));
    struct err *err = NULL;
    struct value raw;

    if (api_body_read(rq, &raw, &strict) < 0)
        return -1;
    if (value_is_null(raw))
        raw = value_new_map(rq->arena);
    if (api_schema_decode_type(rq->arena, type, STR("authentication.k8s.io/v1"), STR("TokenRequest"), raw,
                               ret, &strict, &err) < 0)
        return api_fail_err(rq, err);
    return api_strict_check(rq, &strict);
}

static int check_seconds(struct api_request *rq, int64_t seconds)
{
    struct api_causes c = API_CAUSES_INIT(rq->arena);

    if (seconds < EXPIRES_MIN_S)
        api_cause_invalid(&c, "spec.expirationSeconds", value_from_int(seconds),
                          "may not specify a duration less than 10 minutes");
    if (seconds > EXPIRES_MAX_S)
        api_cause_invalid(&c, "spec.expirationSeconds", value_from_int(seconds),
                          "may not specify a duration larger than 2^32 seconds");
    if (c.n == 0)
        return 0;
    return api_fail_invalid(rq, STR("TokenRequest"), STR("authentication.k8s.io"), STR(""), &c);
}

int api_token_request(struct api_request *rq)
{
    CLEANUP(buf_done) struct buf time = BUF_INIT(64);
    struct value request, account, spec, claims, status;
    struct str token;
    int64_t seconds;

    if (rq->method != API_POST)
        return api_fail_method(rq);
    if (read_request(rq, &request) < 0 || read_live(rq, STR("serviceaccounts"), rq->name, &account) < 0)
        return -1;
    spec = value_getz(request, "spec");
    if (!value_is_map(spec)) {
        spec = value_new_map(rq->arena);
        value_setz(request, "spec", spec);
    }
    if (value_len(value_getz(spec, "audiences")) == 0)
        value_setz(spec, "audiences", default_audiences(rq));
    seconds = value_int(value_getz(spec, "expirationSeconds"), EXPIRES_DEFAULT_S);
    if (check_seconds(rq, seconds) < 0)
        return -1;
    value_setz(spec, "expirationSeconds", value_from_int(seconds));
    claims = base_claims(rq, account, value_getz(spec, "audiences"), seconds);
    if (value_is_map(value_getz(spec, "boundObjectRef")) &&
        bind_object(rq, claims, value_getz(spec, "boundObjectRef")) < 0)
        return -1;
    if (sign(rq, claims, &token) < 0)
        return -1;
    status = value_new_map(rq->arena);
    clock_format_rfc3339((struct wall_time){ rq->now.s + seconds, 0 }, &time);
    value_setz(status, "token", value_from_str(token));
    value_setz(status, "expirationTimestamp", api_str(rq, buf_str(&time)));
    value_setz(request, "kind", VALUE_STR("TokenRequest"));
    value_setz(request, "apiVersion", VALUE_STR("authentication.k8s.io/v1"));
    value_setz(request, "metadata", ref_claim(rq, rq->name, STR("")));
    value_unset(value_getz(request, "metadata"), STR("uid"));
    value_setz(value_getz(request, "metadata"), "namespace", value_from_str(rq->ns));
    value_setz(request, "status", status);
    return api_answer_value(rq, 201, request);
}
