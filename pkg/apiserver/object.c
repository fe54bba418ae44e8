/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/object.h"

#include "apiserver/defaults.h"
#include "apiserver/present.h"
#include "apiserver/proto.h"
#include "apiserver/schema.h"
#include "apiserver/server.h"
#include "apiserver/validate.h"
#include "base/limits.h"
#include "base/random.h"
#include "json/json.h"

enum { NAME_TRIES = 8, RANDOM_NAME_CHARS = 5, NAME_BASE_MAX = 58, MODIFY_TRIES = 50 };

/* ---- bodies -------------------------------------------------------------------------------------------------- */

static struct str media_type(struct str content_type)
{
    struct str rest = content_type, type = STR("");

    str_split(&rest, ';', &type);
    return str_trim(type);
}

int api_body_read(struct api_request *rq, struct value *ret, struct api_notes *strict)
{
    struct str type = media_type(rq->content_type);
    struct err *err = NULL;
    int r;

    *ret = VALUE_NONE;
    if (rq->body.n == 0)
        return 0;
    if (type.n == 0 || str_eq(type, STR("application/json")))
        r = api_schema_read(rq->arena, rq->body, API_SCHEMA_JSON, ret, strict, &err);
    else if (str_eq(type, STR("application/yaml")))
        r = api_schema_read(rq->arena, rq->body, API_SCHEMA_YAML, ret, strict, &err);
    else if (str_eq(type, STR(API_PROTO_CONTENT_TYPE)))
        r = api_proto_decode(rq->arena, rq->body, ret, &err);
    else
        return api_fail(rq, 415, "UnsupportedMediaType",
                        "the body of the request was in an unknown format - accepted media types include: "
                        "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    return r < 0 ? api_fail_err(rq, err) : 0;
}

static int check_kind(struct api_request *rq, struct value raw)
{
    struct str kind = value_str(value_getz(raw, "kind")), version = value_str(value_getz(raw, "apiVersion"));

    if (!value_is_map(raw))
        return api_fail(rq, 400, "BadRequest", "the body of the request is not an object");
    if (kind.n == 0 && !rq->res->builtin)
        return api_fail(rq, 400, "BadRequest", "Object 'Kind' is missing in the body of the request");
    if (kind.n > 0 && !str_eq(kind, rq->res->kind))
        return api_fail(rq, 400, "BadRequest",
                        STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT, STR_ARG(kind),
                        STR_ARG(rq->res->version), STR_ARG(rq->res->kind));
    if (version.n > 0 && !str_eq(version, rq->res->api_version))
        return api_fail(rq, 400, "BadRequest",
                        "the API version in the data (" STR_FMT
                        ") does not match the expected API version (" STR_FMT ")",
                        STR_ARG(version), STR_ARG(rq->res->api_version));
    return 0;
}

/* The managed fields are as deep as the object, some levels further down. */
static bool is_too_deep(struct value obj)
{
    bool deeper = false;

    for (struct value_iter it = value_iter(obj); !deeper && value_next(&it);)
        deeper = value_is_deeper(it.v, API_DEPTH_MAX - 1 + (str_eq(it.key, STR("metadata")) ? 16 : 0));
    return deeper;
}

int api_object_decode(struct api_request *rq, struct value raw, struct value *ret, struct api_notes *strict)
{
    struct err *err = NULL;
    struct value obj;
    int r;

    if (is_too_deep(raw)) /* YAML may be, and what patches have made */
        return api_fail(rq, 400, "BadRequest", "the object is nested deeper than %d levels", API_DEPTH_MAX);
    if (rq->res->builtin)
        r = api_schema_decode(rq->arena, rq->res->builtin, raw, &obj, strict, &err);
    else
        r = api_schema_decode_custom(rq->arena, rq->res->schema, raw, &obj, strict, &err);
    if (r < 0)
        return api_fail_err(rq, err);
    value_setz(obj, "apiVersion", value_from_str(rq->res->api_version));
    value_setz(obj, "kind", value_from_str(rq->res->kind));
    if (!value_is_map(api_meta(obj)))
        value_setz(obj, "metadata", value_new_map(rq->arena));
    if (rq->res->builtin)
        api_default_object(rq->arena, rq->res->builtin, obj);
    *ret = obj;
    return 0;
}

int api_body_object(struct api_request *rq, struct value raw, struct value *ret, struct api_notes *strict)
{
    return check_kind(rq, raw) < 0 ? -1 : api_object_decode(rq, raw, ret, strict);
}

int api_strict_check(struct api_request *rq, const struct api_notes *strict)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(API_OBJECT_MAX);

    if (strict->n == 0 || rq->validation == API_VALIDATE_IGNORE)
        return 0;
    if (rq->validation == API_VALIDATE_WARN) {
        for (size_t i = 0; i < strict->n; i++)
            api_notes_add(&rq->warnings, STR_FMT, STR_ARG(strict->items[i]));
        return 0;
    }
    api_schema_strict_message(strict, &b);
    return api_fail(rq, 400, "BadRequest",
                    STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": %s",
                    STR_ARG(rq->res->kind), STR_ARG(rq->res->version), STR_ARG(rq->res->kind), buf_z(&b));
}

/* ---- ownership and validation -------------------------------------------------------------------------------- */

struct api_ref api_object_type(const struct api_request *rq)
{
    return rq->res->builtin ? api_kind_ref(rq->res->builtin) : api_schema_root(rq->res->schema);
}

struct api_apply_options api_apply_options_of(struct api_request *rq)
{
    return (struct api_apply_options){ .manager = rq->manager,
                                       .api_version = rq->res->api_version,
                                       .subresource = rq->sub,
                                       .force = api_param_bool(rq, "force"),
                                       .has_status = rq->res->has_status,
                                       .custom = !rq->res->builtin,
                                       .now = rq->now };
}

static int api_object_own(struct api_request *rq, struct value live, struct value obj, struct value *ret)
{
    const struct api_apply_options o = api_apply_options_of(rq);
    struct err *err = NULL;

    if (api_apply_update(rq->arena, api_object_type(rq), &o, live, obj, ret, &err) < 0)
        return api_fail_err(rq, err);
    return 0;
}

static enum api_name_rule name_rule(const struct api_resource *res)
{
    if (str_eq(res->group, STR("rbac.authorization.k8s.io")))
        return API_NAME_PATH_SEGMENT;
    if (str_eq(res->id, STR("namespaces")))
        return API_NAME_LABEL;
    return str_eq(res->id, STR("services")) ? API_NAME_LABEL_1035 : API_NAME_SUBDOMAIN;
}

/* The number that the scale subresource reads must be one (customresource/validator.go). */
static void check_scale(struct api_request *rq, struct value obj, struct api_causes *causes)
{
    struct str path = value_str(value_getz(rq->res->scale, "specReplicasPath"));
    struct value n = value_path(obj, arena_dupz(rq->arena, str_trim_prefix(path, STR("."))));
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB * 64);
    const char *type = value_is_string(n) ? "string" : n.kind == VALUE_BOOL ? "bool" : "float64";

    if (value_is_null(n) || n.kind == VALUE_INT || n.kind == VALUE_UINT)
        return;
    buf_addf(&b, STR_FMT " accessor error: ", STR_ARG(path));
    if (value_is_string(n))
        buf_addstr(&b, value_str(n));
    else if (json_print(n, 0, &b, NULL) < 0)
        return;
    buf_addf(&b, " is of the type %s, expected int64", type);
    api_cause_invalid(causes, arena_dupz(rq->arena, path), value_from_int(0), buf_z(&b));
}

static int api_object_validate(struct api_request *rq, struct value obj, struct value old)
{
    struct api_causes causes = API_CAUSES_INIT(rq->arena);
    const struct api_kind *k = rq->res->builtin;

    api_validate_metadata(obj, old, rq->res->namespaced, name_rule(rq->res), &causes);
    if (!k) {
        api_schema_validate(rq->res->schema, obj, old, &causes);
        if (rq->res->has_scale)
            check_scale(rq, obj, &causes);
    } else if (value_is_null(old))
        api_validate_create(k, obj, &causes);
    else
        api_validate_update(k, obj, old, &causes);
    if (causes.n == 0)
        return 0;
    return api_fail_invalid(rq, rq->res->kind, rq->res->group, api_meta_str(obj, "name"), &causes);
}

/* ---- storing ------------------------------------------------------------------------------------------------- */

int api_object_store(struct api_request *rq, int op, int64_t expect, struct value obj, struct err **err)
{
    struct api_write w = { .op = (enum api_op)op,
                           .key = { rq->res->id, rq->ns, rq->name },
                           .expect = expect,
                           .object = api_to_stored(rq, rq->res, obj) };
    int r;

    if (rq->dry_run)
        return 0;
    r = api_store_write(rq->server->store, &w, err);
    if (r < 0)
        return r;
    if (w.object.map != obj.map)
        value_set_path(obj, "metadata.resourceVersion",
                       value_from_str(api_meta_str(w.object, "resourceVersion")));
    api_admit_stored(rq, op, obj);
    return 0;
}

/* ---- create -------------------------------------------------------------------------------------------------- */

static struct value time_value(struct api_request *rq)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    clock_format_rfc3339(rq->now, &b);
    return api_str(rq, buf_str(&b));
}

static int place(struct api_request *rq, struct value meta)
{
    struct str ns = value_str(value_getz(meta, "namespace"));

    if (!rq->res->namespaced) {
        value_unset(meta, STR("namespace"));
        return 0;
    }
    if (ns.n > 0 && !str_eq(ns, rq->ns))
        return api_fail(
            rq, 400, "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request");
    value_setz(meta, "namespace", value_from_str(rq->ns));
    return 0;
}

static struct str random_name(struct api_request *rq, struct str base)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    char tail[RANDOM_NAME_CHARS];

    for (size_t i = 0; i < RANDOM_NAME_CHARS; i++)
        tail[i] = letters[random_below(sizeof(letters) - 1)];
    base = str_sub(base, 0, MIN(base.n, (size_t)NAME_BASE_MAX));
    return arena_printf(rq->arena, STR_FMT STR_FMT, STR_ARG(base), RANDOM_NAME_CHARS, tail);
}

/* What only the server may say is taken out and said again. */
static int new_metadata(struct api_request *rq, struct value obj)
{
    static const char *const owned[] = {
        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid",
        "generation"
    };
    struct value meta = api_meta(obj);
    char uid[37];

    if (api_meta_str(obj, "resourceVersion").n > 0)
        return api_fail(rq, 400, "BadRequest", "resourceVersion should not be set on objects to be created");
    value_unset(meta, STR("resourceVersion"));
    for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
        value_unset(meta, str_from(owned[i]));
    if (place(rq, meta) < 0)
        return -1;
    random_uuid(uid);
    value_setz(meta, "uid", api_str(rq, str_from(uid)));
    value_setz(meta, "creationTimestamp", time_value(rq));
    return 0;
}

static void default_new(struct api_request *rq, struct value obj)
{
    if (rq->res->builtin) {
        api_default_create(rq->arena, rq->res->builtin, obj);
        return;
    }
    if (rq->res->has_status)
        value_unset(obj, STR("status"));
    value_setz(api_meta(obj), "generation", value_from_int(1));
}

static int fail_create(struct api_request *rq, struct err *err)
{
    const struct api_key key = { rq->res->id, rq->ns, rq->name };
    struct value live;
    struct api_row row;

    if (err_code(err) != ERRC_EXISTS)
        return api_fail_err(rq, err);
    err_free(err);
    api_fail_exists(rq, rq->res, rq->name);
    if (api_store_get(rq->server->store, &key, rq->arena, &row, NULL) == 0) {
        struct value failure = rq->failure;

        if (api_read_stored(rq, rq->res, row.json, &live) == 0 &&
            api_meta_str(live, "deletionTimestamp").n > 0)
            value_setz(failure, "message",
                       value_from_str(arena_printf(rq->arena, "object is being deleted: " STR_FMT,
                                                   STR_ARG(value_str(value_getz(failure, "message"))))));
        rq->failure = failure;
    }
    return -1;
}

/* On a dry run nothing is stored, but a name that is taken is still an error. */
static int check_free(struct api_request *rq, struct err **err)
{
    const struct api_key key = { rq->res->id, rq->ns, rq->name };
    struct api_row row;
    int r = api_store_get(rq->server->store, &key, rq->arena, &row, NULL);

    if (r == 0)
        return err_set(err, ERRC_EXISTS, "already exists");
    return r == -ERRC_NOT_FOUND ? 0 : err_set(err, (enum errc) - r, "cannot read the store");
}

static int store_new(struct api_request *rq, struct value obj)
{
    struct err *err = NULL;
    int r = rq->dry_run ? check_free(rq, &err) : 0;

    if (r == 0)
        r = api_object_store(rq, API_OP_CREATE, 0, obj, &err);
    return r < 0 ? fail_create(rq, err) : 0;
}

static int create_named(struct api_request *rq, struct value obj, bool owned, struct value *ret)
{
    value_setz(api_meta(obj), "name", value_from_str(rq->name));
    if (api_admit_create(rq, obj) < 0)
        return -1;
    if (!owned && api_object_own(rq, VALUE_NONE, obj, &obj) < 0)
        return -1;
    if (api_object_validate(rq, obj, VALUE_NONE) < 0 || store_new(rq, obj) < 0)
        return -1;
    *ret = obj;
    return 0;
}

int api_object_create(struct api_request *rq, struct value obj, bool owned, struct value *ret)
{
    struct str base, name;

    obj = value_copy_maps(rq->arena, obj);
    if (new_metadata(rq, obj) < 0)
        return -1;
    name = api_meta_str(obj, "name");
    base = api_meta_str(obj, "generateName");
    if (rq->name.n > 0 && name.n > 0 && !str_eq(name, rq->name))
        return api_fail(rq, 400, "BadRequest",
                        "the name of the object (" STR_FMT ") does not match the name on the URL (" STR_FMT
                        ")",
                        STR_ARG(name), STR_ARG(rq->name));
    default_new(rq, obj);
    if (name.n > 0 || rq->name.n > 0) {
        rq->name = rq->name.n > 0 ? rq->name : name;
        return create_named(rq, obj, owned, ret);
    }
    if (base.n == 0)
        return api_object_validate(rq, obj, VALUE_NONE) < 0
                   ? -1
                   : api_fail(rq, 422, "Invalid", "name is required");
    for (int i = 0; i < NAME_TRIES; i++) {
        struct value one = value_copy_maps(rq->arena, obj);

        rq->name = random_name(rq, base);
        if (create_named(rq, one, owned, ret) == 0)
            return 0;
        if (api_status_code(rq->failure) != 409 || i + 1 == NAME_TRIES)
            return -1;
        rq->failure = VALUE_NONE;
    }
    return -1;
}

/* ---- update -------------------------------------------------------------------------------------------------- */

static void keep_from(struct value to, struct value from, const char *key)
{
    struct str k = str_from(key);

    if (value_has(from, k))
        value_set(to, k, value_get(from, k));
    else
        value_unset(to, k);
}

static int check_names(struct api_request *rq, struct value meta)
{
    struct str name = value_str(value_getz(meta, "name")), ns = value_str(value_getz(meta, "namespace"));

    if (name.n > 0 && !str_eq(name, rq->name))
        return api_fail(rq, 400, "BadRequest",
                        "the name of the object (" STR_FMT ") does not match the name on the URL (" STR_FMT
                        ")",
                        STR_ARG(name), STR_ARG(rq->name));
    if (ns.n > 0 && rq->res->namespaced && !str_eq(ns, rq->ns))
        return api_fail(rq, 400, "BadRequest",
                        "the namespace of the object (" STR_FMT
                        ") does not match the namespace on the request (" STR_FMT ")",
                        STR_ARG(ns), STR_ARG(rq->ns));
    return 0;
}

static int check_identity(struct api_request *rq, const struct api_modify *m, struct value meta,
                          struct value live)
{
    struct str uid = value_str(value_getz(meta, "uid")), rv = value_str(value_getz(meta, "resourceVersion"));
    struct api_causes causes = API_CAUSES_INIT(rq->arena);

    if (uid.n > 0 && !str_eq(uid, api_meta_str(live, "uid")))
        return api_fail_conflict(rq, rq->res, rq->name,
                                 "Precondition failed: UID in precondition: " STR_FMT
                                 ", UID in object meta: " STR_FMT,
                                 STR_ARG(uid), STR_ARG(api_meta_str(live, "uid")));
    if (rv.n > 0 && !str_eq(rv, api_meta_str(live, "resourceVersion")))
        return api_fail_changed(rq, rq->res, rq->name);
    if (rv.n > 0 || !m->put || !(rq->res->flags & API_RES_NO_UNCONDITIONAL))
        return 0;
    api_cause_invalid(&causes, "metadata.resourceVersion",
                      rq->res->builtin ? VALUE_STR("") : value_from_int(0),
                      "must be specified for an update");
    return api_fail_invalid(rq, rq->res->kind, rq->res->group, rq->name, &causes);
}

static int keep_identity(struct api_request *rq, const struct api_modify *m, struct value obj,
                         struct value live)
{
    static const char *const kept[] = { "name",
                                        "namespace",
                                        "uid",
                                        "creationTimestamp",
                                        "deletionTimestamp",
                                        "deletionGracePeriodSeconds",
                                        "resourceVersion",
                                        "generation",
                                        "selfLink" };
    struct value meta = api_meta(obj);

    if (!value_is_map(meta)) {
        meta = value_new_map(rq->arena);
        value_setz(obj, "metadata", meta);
    }
    if (check_names(rq, meta) < 0 || check_identity(rq, m, meta, live) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        keep_from(meta, api_meta(live), kept[i]);
    return 0;
}

/* Does anything but metadata (and, with its own endpoint, status) differ? */
static bool spec_differs(struct api_request *rq, struct value obj, struct value live)
{
    struct value a = value_copy_maps(rq->arena, obj), b = value_copy_maps(rq->arena, live);

    value_unset(a, STR("metadata"));
    value_unset(b, STR("metadata"));
    if (rq->res->has_status) {
        value_unset(a, STR("status"));
        value_unset(b, STR("status"));
    }
    return !value_equal(a, b);
}

static void next_generation(struct value obj, struct value live)
{
    int64_t g = value_int(value_getz(api_meta(live), "generation"), 0);

    value_setz(api_meta(obj), "generation", value_from_int(g + 1));
}

/* Of a custom kind's status endpoint only the status counts. */
static struct value only_status(struct api_request *rq, struct value obj, struct value live)
{
    struct value v = value_copy_maps(rq->arena, live);

    keep_from(v, obj, "status");
    keep_from(api_meta(v), api_meta(obj), "managedFields");
    return v;
}

static struct value default_changed(struct api_request *rq, const struct api_modify *m, struct value obj,
                                    struct value live)
{
    bool status = str_eq(rq->sub, STR("status"));

    if (m->raw_spec)
        return obj;
    if (rq->res->builtin) {
        if (status)
            api_default_status_update(rq->arena, rq->res->builtin, obj, live);
        else
            api_default_update(rq->arena, rq->res->builtin, obj, live);
        return obj;
    }
    if (status)
        return only_status(rq, obj, live);
    if (rq->res->has_status)
        keep_from(obj, live, "status");
    if (spec_differs(rq, obj, live))
        next_generation(obj, live);
    return obj;
}

static bool finished(const struct api_request *rq, struct value obj)
{
    bool ns = str_eq(rq->res->id, STR("namespaces"));

    return api_meta_str(obj, "deletionTimestamp").n > 0 &&
           value_len(value_getz(api_meta(obj), "finalizers")) == 0 &&
           value_int(value_getz(api_meta(obj), "deletionGracePeriodSeconds"), 0) == 0 &&
           (!ns || value_len(value_path(obj, "spec.finalizers")) == 0);
}

/* 1: stored, or nothing to store; 0: another write came first. */
static int store_changed(struct api_request *rq, int64_t rv, struct value obj, struct value live,
                         struct value *ret)
{
    struct err *err = NULL;
    int op = finished(rq, obj) ? API_OP_DELETE : API_OP_UPDATE;

    if (op == API_OP_UPDATE && api_apply_same(live, obj)) {
        *ret = live;
        return 1;
    }
    if (api_object_store(rq, op, rv, obj, &err) == 0) {
        *ret = obj;
        return 1;
    }
    if (err_code(err) != ERRC_CONFLICT)
        return api_fail_err(rq, err);
    err_free(err);
    return 0;
}

static int modify_once(struct api_request *rq, const struct api_modify *m, struct value *ret)
{
    const struct api_key key = { rq->res->id, rq->ns, rq->name };
    struct value live, obj;
    struct err *err = NULL;
    struct api_row row;

    if (api_store_get(rq->server->store, &key, rq->arena, &row, &err) < 0) {
        if (err_code(err) != ERRC_NOT_FOUND)
            return api_fail_err(rq, err);
        err_free(err);
        return api_fail_not_found(rq, rq->res, rq->name);
    }
    if (api_read_stored(rq, rq->res, row.json, &live) < 0 || m->fn(rq, m->ctx, live, &obj) < 0)
        return -1;
    obj = value_copy_maps(rq->arena, obj);
    if (keep_identity(rq, m, obj, live) < 0)
        return -1;
    obj = default_changed(rq, m, obj, live);
    if (api_admit_update(rq, obj, live) < 0)
        return -1;
    if (!m->owned && api_object_own(rq, live, obj, &obj) < 0)
        return -1;
    if (api_object_validate(rq, obj, live) < 0)
        return -1;
    return store_changed(rq, row.rv, obj, live, ret);
}

int api_object_modify(struct api_request *rq, const struct api_modify *m, struct value *ret)
{
    for (int i = 0; i < MODIFY_TRIES; i++) {
        int r = modify_once(rq, m, ret);

        if (r != 0)
            return r < 0 ? r : 0;
    }
    return api_fail_changed(rq, rq->res, rq->name);
}
