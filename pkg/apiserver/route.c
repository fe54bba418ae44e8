/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "apiserver"
#include <stdlib.h>

#include "apiserver/apply.h"
#include "apiserver/auth.h"
#include "apiserver/present.h"
#include "apiserver/server.h"
#include "base/limits.h"
#include "base/log.h"

enum { SEGMENTS_MAX = 16 };

/* ---- the path ------------------------------------------------------------------------------------------------ */

struct path {
    struct str parts[SEGMENTS_MAX];
    size_t n;
};

static int split_path(struct api_request *rq, struct path *p)
{
    struct str rest = rq->path, part;

    *p = (struct path){ .n = 0 };
    while (str_split(&rest, '/', &part)) {
        if (part.n == 0)
            continue;
        if (p->n == SEGMENTS_MAX || !api_unescape(rq, part, false, &p->parts[p->n]))
            return api_fail_path(rq);
        part = p->parts[p->n++];
        if (str_eq(part, STR(".")) || str_eq(part, STR("..")) || str_find_char(part, '/') != STR_NPOS ||
            memchr(part.p, 0, part.n))
            return api_fail(rq, 400, "BadRequest", "invalid path segment");
    }
    return 0;
}

struct target {
    struct str group, version, resource, ns, name, sub;
};

/* endpoints/request/requestinfo.go */
static bool parse_target(const struct path *p, struct target *t)
{
    size_t i;

    *t = (struct target){ .group = STR("") };
    if (p->n >= 3 && str_eq(p->parts[0], STR("api"))) {
        t->version = p->parts[1];
        i = 2;
    } else if (p->n >= 4 && str_eq(p->parts[0], STR("apis"))) {
        t->group = p->parts[1];
        t->version = p->parts[2];
        i = 3;
    } else {
        return false;
    }
    if (str_eq(p->parts[i], STR("namespaces")) && p->n >= i + 3 && !str_eq(p->parts[i + 2], STR("status")) &&
        !str_eq(p->parts[i + 2], STR("finalize"))) {
        t->ns = p->parts[i + 1];
        i += 2;
    }
    t->resource = p->parts[i];
    if (p->n > i + 1)
        t->name = p->parts[i + 1];
    if (p->n > i + 2)
        t->sub = p->parts[i + 2];
    return p->n <= i + 3 || str_eq(t->sub, STR("proxy"));
}

static const char *verb_of(const struct api_request *rq)
{
    bool named = rq->name.n > 0;

    switch (rq->method) {
    case API_GET:
    case API_HEAD:
        if (named)
            return "get";
        return api_param_bool(rq, "watch") ? "watch" : "list";
    case API_POST:
        return "create";
    case API_PUT:
        return "update";
    case API_PATCH:
        return "patch";
    case API_DELETE:
        return named ? "delete" : "deletecollection";
    default:
        return "";
    }
}

static uint16_t verb_bit(const char *verb)
{
    static const struct {
        const char *name;
        uint16_t bit;
    } bits[] = {
        { "create", API_VERB_CREATE },
        { "delete", API_VERB_DELETE },
        { "deletecollection", API_VERB_DELETECOLLECTION },
        { "get", API_VERB_GET },
        { "list", API_VERB_LIST },
        { "patch", API_VERB_PATCH },
        { "update", API_VERB_UPDATE },
        { "watch", API_VERB_WATCH },
    };

    for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
        if (strcmp(bits[i].name, verb) == 0)
            return bits[i].bit;
    return 0;
}

/* ---- options of writes --------------------------------------------------------------------------------------- */

static const char *options_kind(const char *verb)
{
    if (strcmp(verb, "create") == 0)
        return "CreateOptions";
    if (strcmp(verb, "update") == 0)
        return "UpdateOptions";
    return strcmp(verb, "patch") == 0 ? "PatchOptions" : "DeleteOptions";
}

static void parse_dry_run(struct api_request *rq, struct api_causes *c)
{
    static const char *const supported[] = { "All" };

    for (size_t i = 0; i < rq->n_params; i++) {
        if (!str_eq(rq->params[i].name, STR("dryRun")) || rq->params[i].value.n == 0)
            continue;
        if (str_eq(rq->params[i].value, STR("All")))
            rq->dry_run = true;
        else
            api_cause_not_supported(c, "dryRun", value_from_str(rq->params[i].value), supported, 1);
    }
}

static void parse_validation(struct api_request *rq, struct api_causes *c)
{
    static const char *const supported[] = { "Ignore", "Strict", "Warn" };
    struct str s = api_param(rq, "fieldValidation");

    if (s.n == 0 || str_eq(s, STR("Warn")))
        rq->validation = API_VALIDATE_WARN;
    else if (str_eq(s, STR("Ignore")))
        rq->validation = API_VALIDATE_IGNORE;
    else if (str_eq(s, STR("Strict")))
        rq->validation = API_VALIDATE_STRICT;
    else
        api_cause_not_supported(c, "fieldValidation", value_from_str(s), supported, ARRAY_SIZE(supported));
}

static bool is_apply(const struct api_request *rq)
{
    return rq->method == API_PATCH && str_has_prefix(rq->content_type, STR("application/apply-patch+yaml"));
}

static int parse_write_options(struct api_request *rq)
{
    struct api_causes causes = API_CAUSES_INIT(rq->arena);
    struct str manager = api_param(rq, "fieldManager"), agent = rq->user_agent, name = STR("");

    parse_dry_run(rq, &causes);
    if (rq->method != API_DELETE) {
        parse_validation(rq, &causes);
        api_apply_check_manager(manager, is_apply(rq), &causes);
        if (rq->method == API_PATCH && !is_apply(rq) && api_param_has(rq, "force"))
            api_cause_forbidden(&causes, "force", "may not be specified for non-apply patch");
    }
    if (causes.n > 0)
        return api_fail_invalid(rq, str_from(options_kind(rq->verb)), STR("meta.k8s.io"), STR(""), &causes);
    if (manager.n == 0) {
        str_split(&agent, '/', &name);
        manager = str_sub(name, 0, MIN(name.n, (size_t)API_APPLY_MANAGER_MAX));
    }
    rq->manager = manager.n > 0 ? manager : STR("unknown");
    return 0;
}

/* ---- dispatch ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *verb;
    int (*fn)(struct api_request *rq);
} verbs[] = {
    { "get", api_get },       { "list", api_list },
    { "watch", api_watch },   { "create", api_create },
    { "update", api_update }, { "patch", api_patch },
    { "delete", api_delete }, { "deletecollection", api_delete_collection },
};

static int run_verb(struct api_request *rq)
{
    if (rq->res->flags & API_RES_VIRTUAL)
        return api_review(rq);
    if (rq->sub.n > 0 && !str_eq(rq->sub, STR("status")))
        return api_subresource(rq);
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        if (strcmp(verbs[i].verb, rq->verb) == 0)
            return verbs[i].fn(rq);
    return api_fail_method(rq);
}

/* Is the method one that this path has at all? */
static int check_method(struct api_request *rq)
{
    if (rq->sub.n > 0) {
        if (str_eq(rq->sub, STR("status")) && !(rq->res->has_status))
            return api_fail_path(rq);
        if (str_eq(rq->sub, STR("status")) && (rq->method == API_POST || rq->method == API_DELETE))
            return api_fail_method(rq);
        return 0;
    }
    if ((rq->method == API_POST) == (rq->name.n > 0) && rq->method == API_POST)
        return api_fail_method(rq);
    if ((rq->method == API_PUT || rq->method == API_PATCH) && rq->name.n == 0)
        return api_fail_method(rq);
    /* Writes to "all namespaces" do not exist. */
    if (rq->res->namespaced && rq->ns.n == 0 && rq->method != API_GET && rq->method != API_HEAD &&
        !str_eq(rq->res->group, STR("authorization.k8s.io")))
        return api_fail_method(rq);
    if (!(rq->res->verbs & verb_bit(rq->verb)))
        return api_fail_method(rq);
    return 0;
}

static bool scope_fits(const struct api_request *rq)
{
    if (!rq->res->namespaced)
        return rq->ns.n == 0;
    return rq->ns.n > 0 || rq->name.n == 0;
}

/* Groups that nobody serves end in the plain answer of the last handler, the server's own in a Status. */
static int no_such_resource(struct api_request *rq, struct str group)
{
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);

    for (size_t i = 0; i < n; i++)
        if (rows[i].builtin && str_eq(rows[i].group, group))
            return api_fail_path(rq);
    return api_answer_text(rq, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
}

static int resource_request(struct api_request *rq, const struct target *t)
{
    struct api_resource unknown = { .group = t->group, .version = t->version, .plural = t->resource };

    rq->ns = t->ns;
    rq->name = t->name;
    rq->sub = t->sub;
    rq->res = api_catalog_find(rq->catalog, t->group, t->version, t->resource);
    rq->verb = verb_of(rq);
    if (!rq->res) {
        int r;

        rq->res = &unknown;
        r = api_authorize(rq);
        rq->res = NULL;
        return r < 0 ? r : no_such_resource(rq, t->group);
    }
    if (api_authorize(rq) < 0)
        return -1;
    if (!scope_fits(rq))
        return api_fail_path(rq);
    if (check_method(rq) < 0 || api_negotiate(rq) < 0)
        return -1;
    if (rq->res->deprecated)
        api_notes_add(&rq->warnings, STR_FMT, STR_ARG(rq->res->deprecation_warning));
    if (rq->method != API_GET && rq->method != API_HEAD && parse_write_options(rq) < 0)
        return -1;
    return run_verb(rq);
}

static int api_route(struct api_request *rq)
{
    static int (*const others[])(struct api_request * rq, bool *ret_mine) = { api_health_serve,
                                                                              api_discovery_serve,
                                                                              api_openapi_serve };
    struct target t;
    struct path p;

    if (split_path(rq, &p) < 0)
        return -1;
    if (parse_target(&p, &t))
        return resource_request(rq, &t);
    if (api_authorize_path(rq) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        bool mine = false;
        int r = others[i](rq, &mine);

        if (mine)
            return r;
    }
    if (p.n > 1 && str_eq(p.parts[0], STR("apis")))
        return no_such_resource(rq, p.parts[1]);
    return api_answer_text(rq, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
}

/* A failure may meet a half-written answer: it starts over. */
static void answer_failure(struct api_request *rq)
{
    struct value status = api_status_of(rq);
    int code = api_status_code(status);

    if (rq->stream) {
        api_stream_free(rq->stream);
        rq->stream = NULL;
    }
    buf_done(&rq->out);
    rq->out = BUF_INIT(API_ANSWER_MAX);
    if (api_answer_value(rq, code, status) < 0)
        api_answer_text(rq, 500, "text/plain; charset=utf-8", STR("the error cannot be printed\n"));
}

void api_request_serve(struct api_request *rq, struct str authorization)
{
    if (api_request_parse_query(rq, rq->query) < 0 || api_authenticate(rq, authorization) < 0 ||
        api_impersonate(rq) < 0 || api_route(rq) < 0)
        answer_failure(rq);
}
