/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/auth.h"
#include "apiserver/object.h"
#include "apiserver/patch.h"
#include "apiserver/present.h"
#include "apiserver/schema.h"
#include "apiserver/server.h"
#include "base/limits.h"
#include "json/json.h"

/* ---- create -------------------------------------------------------------------------------------------------- */

static int read_object(struct api_request *rq, struct value *ret)
{
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct value raw;

    if (api_body_read(rq, &raw, &strict) < 0 || api_body_object(rq, raw, ret, &strict) < 0)
        return -1;
    return api_strict_check(rq, &strict);
}

int api_create(struct api_request *rq)
{
    struct value obj;

    if (read_object(rq, &obj) < 0 || api_object_create(rq, obj, false, &obj) < 0)
        return -1;
    return api_present(rq, 201, obj);
}

/* ---- update -------------------------------------------------------------------------------------------------- */

static int put_body(struct api_request *rq, void *ctx, struct value live, struct value *ret)
{
    struct value *obj = ctx;

    UNUSED(rq);
    /* null or absent managedFields in a PUT keep what the server has */
    *ret = value_copy_maps(rq->arena, *obj);
    if (value_is_map(api_meta(*ret)) && value_is_null(value_getz(api_meta(*ret), "managedFields")))
        value_setz(api_meta(*ret), "managedFields", value_getz(api_meta(live), "managedFields"));
    return 0;
}

static bool missing(struct api_request *rq)
{
    return !value_is_null(rq->failure) && api_status_code(rq->failure) == 404 &&
           str_eq(value_str(value_path(rq->failure, "details.name")), rq->name);
}

int api_update(struct api_request *rq)
{
    struct value obj;
    const struct api_modify m = { .fn = put_body, .ctx = &obj, .put = true };
    struct value ret;

    if (read_object(rq, &obj) < 0)
        return -1;
    if (api_meta_str(obj, "name").n == 0)
        return api_fail(rq, 400, "BadRequest",
                        "the name of the object (\"\") does not match the name on the URL");
    if (api_object_modify(rq, &m, &ret) == 0)
        return api_present(rq, 200, ret);
    if (!missing(rq) || !(rq->res->flags & API_RES_CREATE_ON_UPDATE) || rq->sub.n > 0)
        return -1;
    rq->failure = VALUE_NONE;
    value_unset(api_meta(obj), STR("resourceVersion"));
    if (api_object_create(rq, obj, false, &ret) < 0)
        return -1;
    return api_present(rq, 201, ret);
}

/* ---- patch --------------------------------------------------------------------------------------------------- */

enum patch_kind { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

static const struct {
    const char *type;
    enum patch_kind kind;
} patch_types[] = {
    { "application/json-patch+json", PATCH_JSON },
    { "application/merge-patch+json", PATCH_MERGE },
    { "application/strategic-merge-patch+json", PATCH_STRATEGIC },
    { "application/apply-patch+yaml", PATCH_APPLY },
};

static int patch_kind_of(struct api_request *rq, enum patch_kind *ret)
{
    struct str rest = rq->content_type, type = STR("");

    str_split(&rest, ';', &type);
    type = str_trim(type);
    for (size_t i = 0; i < ARRAY_SIZE(patch_types); i++)
        if (str_eq(str_from(patch_types[i].type), type) &&
            (rq->res->builtin || patch_types[i].kind != PATCH_STRATEGIC)) {
            *ret = patch_types[i].kind;
            return 0;
        }
    return api_fail(
        rq, 415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, %sapplication/apply-patch+yaml",
        rq->res->builtin ? "application/strategic-merge-patch+json, " : "");
}

struct patch {
    enum patch_kind kind;
    struct value body;
    struct api_notes *strict;
};

static int patch_apply(struct api_request *rq, struct patch *p, struct value live, struct value *ret)
{
    struct api_causes conflicts = API_CAUSES_INIT(rq->arena);
    const struct api_apply_options o = api_apply_options_of(rq);
    struct err *err = NULL;
    int r = api_apply_patch(rq->arena, api_object_type(rq), &o, live, p->body, &conflicts, ret, &err);

    if (r == 0)
        return 0;
    api_fail_err(rq, err);
    if (conflicts.n > 0)
        value_setz(rq->failure, "details", value_new_map(rq->arena));
    if (conflicts.n > 0)
        value_setz(value_getz(rq->failure, "details"), "causes", api_causes_value(&conflicts));
    return -1;
}

static int patch_result(struct api_request *rq, struct patch *p, struct value live, struct value *ret)
{
    struct err *err = NULL;
    int r = 0;

    switch (p->kind) {
    case PATCH_JSON:
        r = api_patch_json(rq->arena, live, p->body, ret, &err);
        break;
    case PATCH_MERGE:
        r = api_patch_merge(rq->arena, live, p->body, ret, &err);
        break;
    case PATCH_STRATEGIC:
        r = api_patch_strategic(rq->arena, api_object_type(rq), live, p->body, ret, &err);
        break;
    case PATCH_APPLY:
        return patch_apply(rq, p, live, ret);
    }
    return r < 0 ? api_fail_err(rq, err) : 0;
}

static int patch_live(struct api_request *rq, void *ctx, struct value live, struct value *ret)
{
    struct patch *p = ctx;
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct value v;

    if (patch_result(rq, p, live, &v) < 0)
        return -1;
    if (!value_is_map(v))
        return api_fail(rq, 422, "Invalid", "the patch does not leave an object");
    if (!str_eq(value_str(value_getz(v, "kind")), rq->res->kind) ||
        !str_eq(value_str(value_getz(v, "apiVersion")), rq->res->api_version))
        return api_fail(rq, 400, "BadRequest", "the patch must not change kind or apiVersion");
    if (api_object_decode(rq, v, ret, &strict) < 0)
        return -1;
    return p->kind == PATCH_APPLY ? 0 : api_strict_check(rq, &strict);
}

static int read_patch(struct api_request *rq, struct patch *p)
{
    static const struct json_options shallow = { .depth_max = API_DEPTH_MAX };
    enum api_schema_format format = p->kind == PATCH_APPLY ? API_SCHEMA_YAML : API_SCHEMA_JSON;
    struct err *err = NULL;
    int r;

    if (rq->body.n == 0)
        return api_fail(rq, 400, "BadRequest", "the body of the patch is empty");
    if (p->kind == PATCH_JSON) /* a list, and what is in it is no object either */
        r = json_parse(rq->arena, rq->body, &shallow, &p->body, &err);
    else
        r = api_schema_read(rq->arena, rq->body, format, &p->body, p->strict, &err);
    if (r < 0)
        return api_fail_err(rq, err);
    return api_strict_check(rq, p->strict);
}

static int check_apply_body(struct api_request *rq, struct value body)
{
    struct str name = api_meta_str(body, "name"), version = value_str(value_getz(body, "apiVersion"));
    struct str kind = value_str(value_getz(body, "kind"));

    if (!str_eq(version, rq->res->api_version))
        return api_fail(rq, 400, "BadRequest",
                        "Incorrect version specified in apply patch. Specified patch version: " STR_FMT
                        ", expected: " STR_FMT,
                        STR_ARG(version), STR_ARG(rq->res->api_version));
    if (!str_eq(kind, rq->res->kind))
        return api_fail(rq, 400, "BadRequest",
                        "invalid object type: " STR_FMT " in version " STR_FMT
                        " cannot be handled as a " STR_FMT,
                        STR_ARG(kind), STR_ARG(version), STR_ARG(rq->res->kind));
    if (name.n > 0 && !str_eq(name, rq->name))
        return api_fail(rq, 400, "BadRequest",
                        "name in URL does not match name in the body of the patch: " STR_FMT " and " STR_FMT,
                        STR_ARG(rq->name), STR_ARG(name));
    return 0;
}

/* An apply to a name that is absent creates it; that needs the right to create, too. */
static int create_by_apply(struct api_request *rq, struct patch *p)
{
    struct value obj, ret;

    rq->failure = VALUE_NONE;
    if (api_meta_str(p->body, "uid").n > 0)
        return api_fail_conflict(rq, rq->res, rq->name,
                                 "uid mismatch: the provided object specified uid " STR_FMT
                                 ", and no existing object was found",
                                 STR_ARG(api_meta_str(p->body, "uid")));
    rq->verb = "create";
    if (api_authorize(rq) < 0)
        return -1;
    if (patch_live(rq, p, VALUE_NONE, &obj) < 0)
        return -1;
    if (api_meta_str(obj, "resourceVersion").n > 0)
        return api_fail_changed(rq, rq->res, rq->name);
    if (api_object_create(rq, obj, true, &ret) < 0)
        return -1;
    return api_present(rq, 201, ret);
}

enum { CREATE_RACES = 5 };

int api_patch(struct api_request *rq)
{
    struct api_notes strict = API_NOTES_INIT(rq->arena);
    struct patch p = { .strict = &strict };
    const struct api_modify m = { .fn = patch_live, .ctx = &p };
    struct api_modify owned = m;
    struct value ret;

    if (patch_kind_of(rq, &p.kind) < 0 || read_patch(rq, &p) < 0)
        return -1;
    owned.owned = p.kind == PATCH_APPLY;
    if (owned.owned && check_apply_body(rq, p.body) < 0)
        return -1;
    for (int i = 0; i < CREATE_RACES; i++) {
        if (api_object_modify(rq, &owned, &ret) == 0)
            return api_present(rq, 200, ret);
        if (!owned.owned || !missing(rq) || rq->sub.n > 0)
            return -1;
        if (create_by_apply(rq, &p) == 0)
            return 0;
        /* Another apply created it in between: now it is there to be patched. */
        if (!str_eq(value_str(value_getz(rq->failure, "reason")), STR("AlreadyExists")))
            return -1;
        rq->failure = VALUE_NONE;
    }
    return api_fail_changed(rq, rq->res, rq->name);
}
