/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/server.h"
#include "base/encode.h"
#include "base/limits.h"
#include "json/json.h"

static const struct str masters[] = { { "system:masters", 14 }, { "system:authenticated", 20 } };

void api_request_init(struct api_request *rq, struct apiserver *s)
{
    *rq = (struct api_request){
        .server = s,
        .arena = arena_new(API_REQUEST_MEMORY_MAX),
        .catalog = api_server_catalog(s),
        .now = clock_wall(),
        .user = { .name = STR("system:apiserver"),
                  .groups = masters,
                  .n_groups = ARRAY_SIZE(masters),
                  .admin = true },
        .content_type = STR(""),
        .accept = STR(""),
        .user_agent = STR(""),
        .if_none_match = STR(""),
        .manager = STR("pintle"),
        .validation = API_VALIDATE_WARN,
        .form_version = STR("v1"),
        .out = BUF_INIT(API_ANSWER_MAX),
        .code = 200,
        .type = "application/json",
    };
    rq->warnings = API_NOTES_INIT(rq->arena);
}

void api_request_done(struct api_request *rq)
{
    if (!rq->arena)
        return;
    if (rq->stream)
        api_stream_free(rq->stream);
    buf_done(&rq->out);
    arena_free(rq->arena);
    api_catalog_unref(rq->catalog);
    rq->arena = NULL;
}

bool api_request_aim(struct api_request *rq, struct str id, struct str ns, struct str name)
{
    rq->res = api_catalog_find_id(rq->catalog, id);
    rq->ns = arena_dup(rq->arena, ns);
    rq->name = arena_dup(rq->arena, name);
    rq->sub = STR("");
    return rq->res != NULL;
}

/* ---- query --------------------------------------------------------------------------------------------------- */

bool api_unescape(struct api_request *rq, struct str in, bool plus, struct str *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(in.n + 1);
    char *copy;

    if (str_find_char(in, '%') == STR_NPOS && (!plus || str_find_char(in, '+') == STR_NPOS)) {
        *ret = in;
        return true;
    }
    copy = arena_alloc_bytes(rq->arena, in.n + 1);
    for (size_t i = 0; i < in.n; i++)
        copy[i] = plus && in.p[i] == '+' ? ' ' : in.p[i];
    if (!url_unescape((struct str){ copy, in.n }, &b))
        return false;
    *ret = arena_dup(rq->arena, buf_str(&b));
    return true;
}

int api_request_parse_query(struct api_request *rq, struct str query)
{
    struct str part, name;

    if (query.n == 0)
        return 0;
    rq->params = ARENA_ARRAY(rq->arena, struct api_param, API_PARAMS_MAX);
    while (str_split(&query, '&', &part)) {
        struct api_param *p = &rq->params[rq->n_params];

        if (part.n == 0)
            continue;
        if (rq->n_params == API_PARAMS_MAX)
            return api_fail(rq, 400, "BadRequest", "more than %zu query parameters", API_PARAMS_MAX);
        str_split(&part, '=', &name);
        if (!api_unescape(rq, name, true, &p->name) || !api_unescape(rq, part, true, &p->value))
            return api_fail(rq, 400, "BadRequest", "invalid URL escape in the query");
        rq->n_params++;
    }
    return 0;
}

static const struct api_param *find_param(const struct api_request *rq, const char *name)
{
    for (size_t i = 0; i < rq->n_params; i++)
        if (str_eq(rq->params[i].name, str_from(name)))
            return &rq->params[i];
    return NULL;
}

struct str api_param(const struct api_request *rq, const char *name)
{
    const struct api_param *p = find_param(rq, name);

    return p ? p->value : STR("");
}

bool api_param_has(const struct api_request *rq, const char *name)
{
    return find_param(rq, name) != NULL;
}

bool api_param_bool(const struct api_request *rq, const char *name)
{
    struct str v = api_param(rq, name);

    /* apimachinery's conversion: anything but "", "0" and "false" is true */
    return v.n > 0 && !str_eq(v, STR("0")) && !str_ieq(v, STR("false"));
}

/* ---- answers ------------------------------------------------------------------------------------------------- */

void api_answer_header(struct api_request *rq, const char *name, struct str value)
{
    if (rq->n_headers < API_HEADERS_MAX)
        rq->headers[rq->n_headers++] = (struct api_header){ name, arena_dup(rq->arena, value) };
}

int api_answer_value(struct api_request *rq, int code, struct value v)
{
    struct err *err = NULL;
    unsigned flags = JSON_ESCAPE_HTML | (api_param_bool(rq, "pretty") ? JSON_INDENT : 0);

    rq->code = code;
    rq->type = "application/json";
    buf_clear(&rq->out);
    if (json_print(v, flags, &rq->out, &err) < 0)
        return api_fail_err(rq, err);
    buf_addc(&rq->out, '\n');
    return 0;
}

int api_answer_text(struct api_request *rq, int code, const char *type, struct str text)
{
    rq->code = code;
    rq->type = type;
    buf_clear(&rq->out);
    buf_addstr(&rq->out, text);
    return 0;
}

static struct value new_status(struct api_request *rq, const char *status)
{
    struct value v = value_new_map(rq->arena);

    value_setz(v, "kind", VALUE_STR("Status"));
    value_setz(v, "apiVersion", VALUE_STR("v1"));
    value_setz(v, "metadata", value_new_map(rq->arena));
    value_setz(v, "status", value_from_str(str_from(status)));
    return v;
}

int api_answer_success(struct api_request *rq, struct value details)
{
    struct value v = new_status(rq, "Success");

    if (!value_is_null(details))
        value_setz(v, "details", details);
    return api_answer_value(rq, 200, v);
}

/* ---- failures ------------------------------------------------------------------------------------------------ */

static int fail_with(struct api_request *rq, int code, const char *reason, struct str message)
{
    struct value v = new_status(rq, "Failure");

    value_setz(v, "message", value_from_str(message));
    if (*reason)
        value_setz(v, "reason", value_from_str(arena_dup(rq->arena, str_from(reason))));
    value_setz(v, "code", value_from_int(code));
    rq->failure = v;
    return -1;
}

static struct str format_args(struct api_request *rq, const char *fmt, va_list args) PRINTF(2, 0);

static struct str format_args(struct api_request *rq, const char *fmt, va_list args)
{
    char *text = NULL;
    struct str s;

    if (vasprintf(&text, fmt, args) < 0)
        abort();
    s = arena_dup(rq->arena, str_from(text));
    free(text);
    return s;
}

int api_fail(struct api_request *rq, int code, const char *reason, const char *fmt, ...)
{
    va_list args;
    struct str text;

    va_start(args, fmt);
    text = format_args(rq, fmt, args);
    va_end(args);
    return fail_with(rq, code, reason, text);
}

struct value api_str(struct api_request *rq, struct str s)
{
    return value_from_str(arena_dup(rq->arena, s));
}

void api_fail_details(struct api_request *rq, struct str name, struct str group, struct str kind,
                      struct value causes)
{
    struct value d = value_new_map(rq->arena);

    if (name.n > 0)
        value_setz(d, "name", api_str(rq, name));
    if (group.n > 0)
        value_setz(d, "group", api_str(rq, group));
    if (kind.n > 0)
        value_setz(d, "kind", api_str(rq, kind));
    if (value_len(causes) > 0)
        value_setz(d, "causes", causes);
    value_setz(rq->failure, "details", d);
}

/* What kube-apiserver makes of each code when nothing more precise is known. */
static const struct {
    enum errc code;
    int http;
    const char *reason;
} from_errc[] = {
    { ERRC_INVALID, 400, "BadRequest" },          { ERRC_PARSE, 400, "BadRequest" },
    { ERRC_NOT_FOUND, 404, "NotFound" },          { ERRC_EXISTS, 409, "AlreadyExists" },
    { ERRC_CONFLICT, 409, "Conflict" },           { ERRC_FORBIDDEN, 403, "Forbidden" },
    { ERRC_UNAUTHORIZED, 401, "Unauthorized" },   { ERRC_GONE, 410, "Expired" },
    { ERRC_LIMIT, 413, "RequestEntityTooLarge" }, { ERRC_TIMEOUT, 504, "Timeout" },
    { ERRC_UNSUPPORTED, 400, "BadRequest" },
};

int api_fail_err(struct api_request *rq, struct err *err)
{
    int code = err_http_status(err);
    struct str message = arena_dup(rq->arena, str_from(err_message(err)));
    const char *reason = arena_dupz(rq->arena, err_http_reason(err));
    enum errc c = err_code(err);

    err_free(err);
    if (code > 0)
        return fail_with(rq, code, reason, message);
    for (size_t i = 0; i < ARRAY_SIZE(from_errc); i++)
        if (from_errc[i].code == c)
            return fail_with(rq, from_errc[i].http, from_errc[i].reason, message);
    return fail_with(rq, 500, "InternalError",
                     arena_printf(rq->arena, "Internal error occurred: " STR_FMT, STR_ARG(message)));
}

/* "deployments.apps", "pods" */
static struct str resource_name(struct api_request *rq, const struct api_resource *res)
{
    if (res->group.n == 0)
        return res->plural;
    return arena_printf(rq->arena, STR_FMT "." STR_FMT, STR_ARG(res->plural), STR_ARG(res->group));
}

int api_fail_not_found(struct api_request *rq, const struct api_resource *res, struct str name)
{
    struct str r = resource_name(rq, res);

    api_fail(rq, 404, "NotFound", STR_FMT " \"" STR_FMT "\" not found", STR_ARG(r), STR_ARG(name));
    api_fail_details(rq, name, res->group, res->plural, VALUE_NONE);
    return -1;
}

int api_fail_path(struct api_request *rq)
{
    api_fail(rq, 404, "NotFound", "the server could not find the requested resource");
    value_setz(rq->failure, "details", value_new_map(rq->arena));
    return -1;
}

int api_fail_exists(struct api_request *rq, const struct api_resource *res, struct str name)
{
    struct str r = resource_name(rq, res);

    api_fail(rq, 409, "AlreadyExists", STR_FMT " \"" STR_FMT "\" already exists", STR_ARG(r), STR_ARG(name));
    api_fail_details(rq, name, res->group, res->plural, VALUE_NONE);
    return -1;
}

int api_fail_conflict(struct api_request *rq, const struct api_resource *res, struct str name,
                      const char *fmt, ...)
{
    struct str r = resource_name(rq, res), text;
    va_list args;

    va_start(args, fmt);
    text = format_args(rq, fmt, args);
    va_end(args);
    api_fail(rq, 409, "Conflict", "Operation cannot be fulfilled on " STR_FMT " \"" STR_FMT "\": " STR_FMT,
             STR_ARG(r), STR_ARG(name), STR_ARG(text));
    api_fail_details(rq, name, res->group, res->plural, VALUE_NONE);
    return -1;
}

int api_fail_changed(struct api_request *rq, const struct api_resource *res, struct str name)
{
    return api_fail_conflict(
        rq, res, name,
        "the object has been modified; please apply your changes to the latest version and try "
        "again");
}

int api_fail_invalid(struct api_request *rq, struct str kind, struct str group, struct str name,
                     const struct api_causes *causes)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(API_OBJECT_MAX);

    api_causes_format(causes, kind, group, name, &b);
    api_fail(rq, 422, "Invalid", "%s", buf_z(&b));
    api_fail_details(rq, name, group, kind, api_causes_value(causes));
    return -1;
}

int api_fail_forbidden(struct api_request *rq, const struct api_resource *res, struct str name,
                       const char *fmt, ...)
{
    struct str r = resource_name(rq, res), text;
    va_list args;

    va_start(args, fmt);
    text = format_args(rq, fmt, args);
    va_end(args);
    if (name.n > 0)
        api_fail(rq, 403, "Forbidden", STR_FMT " \"" STR_FMT "\" is forbidden: " STR_FMT, STR_ARG(r),
                 STR_ARG(name), STR_ARG(text));
    else
        api_fail(rq, 403, "Forbidden", STR_FMT " is forbidden: " STR_FMT, STR_ARG(r), STR_ARG(text));
    api_fail_details(rq, name, res->group, res->plural, VALUE_NONE);
    return -1;
}

int api_fail_method(struct api_request *rq)
{
    api_fail(rq, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
    value_setz(rq->failure, "details", value_new_map(rq->arena));
    return -1;
}

int api_fail_expired(struct api_request *rq, const char *fmt, ...)
{
    struct str text;
    va_list args;

    va_start(args, fmt);
    text = format_args(rq, fmt, args);
    va_end(args);
    return fail_with(rq, 410, "Expired", text);
}

struct value api_status_of(struct api_request *rq)
{
    return rq->failure;
}

int api_status_code(struct value status)
{
    return (int)value_int(value_getz(status, "code"), 500);
}

struct value api_meta(struct value obj)
{
    return value_getz(obj, "metadata");
}

struct str api_meta_str(struct value obj, const char *key)
{
    return value_str(value_get(api_meta(obj), str_from(key)));
}
