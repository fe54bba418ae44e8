/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/server.h"

/* What /version says: clients warn when it is more than one minor version from theirs, charts compare with it. */
#define GIT_COMMIT "0000000000000000000000000000000000000000"

static int serve_version(struct api_request *rq)
{
    struct str full = str_from(api_kind_tables_version()), rest = str_trim_prefix(full, STR("v")), major,
               minor;
    struct value v = value_new_map(rq->arena);

    str_split(&rest, '.', &major);
    str_split(&rest, '.', &minor);
    value_setz(v, "major", value_from_str(major));
    value_setz(v, "minor", value_from_str(minor));
    value_setz(v, "emulationMajor", value_from_str(major));
    value_setz(v, "emulationMinor", value_from_str(minor));
    value_setz(v, "gitVersion", value_from_str(full));
    value_setz(v, "gitCommit", VALUE_STR(GIT_COMMIT));
    value_setz(v, "gitTreeState", VALUE_STR("clean"));
    value_setz(v, "buildDate", VALUE_STR("1970-01-01T00:00:00Z"));
    value_setz(v, "goVersion", VALUE_STR("none (pintle " PINTLE_VERSION ")"));
    value_setz(v, "compiler", VALUE_STR("gcc"));
    value_setz(v, "platform", VALUE_STR("linux/amd64"));
    return api_answer_value(rq, 200, v);
}

static int serve_check(struct api_request *rq, struct str path)
{
    static const char *const checks[] = { "ping", "store" };
    CLEANUP(buf_done) struct buf b = BUF_INIT(4096);
    struct str rest = str_trim_prefix(path, STR("/")), name;
    struct err *err = NULL;
    int64_t stamp;

    str_split(&rest, '/', &name);
    if (api_store_stamp(rq->server->store, STR("namespaces"), &stamp, &err) < 0)
        return api_fail_err(rq, err);
    if (!api_param_has(rq, "verbose"))
        return api_answer_text(rq, 200, "text/plain; charset=utf-8", STR("ok"));
    for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
        buf_addf(&b, "[+]%s ok\n", checks[i]);
    buf_addf(&b, STR_FMT " check passed\n", STR_ARG(name));
    return api_answer_text(rq, 200, "text/plain; charset=utf-8", buf_str(&b));
}

static int serve_metrics(struct api_request *rq)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(65536);
    struct apiserver *s = rq->server;

    buf_adds(&b, "# HELP apiserver_request_total Answered requests by class of the answer.\n"
                 "# TYPE apiserver_request_total counter\n");
    for (size_t i = 1; i < ARRAY_SIZE(s->requests); i++)
        buf_addf(&b, "apiserver_request_total{code=\"%zuxx\"} %llu\n", i, (unsigned long long)s->requests[i]);
    buf_addf(&b,
             "# HELP apiserver_connections Open connections.\n# TYPE apiserver_connections gauge\n"
             "apiserver_connections %d\n",
             s->connections);
    buf_addf(&b,
             "# HELP apiserver_current_inflight_requests Requests and watches under way.\n"
             "# TYPE apiserver_current_inflight_requests gauge\napiserver_current_inflight_requests %d\n",
             s->active);
    buf_addf(
        &b,
        "# HELP apiserver_resource_version The store's counter.\n# TYPE apiserver_resource_version counter\n"
        "apiserver_resource_version %lld\n",
        (long long)api_store_rv(s->store));
    return api_answer_text(rq, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&b));
}

static int serve_paths(struct api_request *rq)
{
    static const char *const fixed[] = { "/healthz",    "/livez",  "/metrics", "/openapi/v2",
                                         "/openapi/v3", "/readyz", "/version" };
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    struct value v = value_new_map(rq->arena);
    struct str last = STR("");
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);

    value_list_add(&l, VALUE_STR("/api"));
    value_list_add(&l, VALUE_STR("/api/v1"));
    value_list_add(&l, VALUE_STR("/apis"));
    for (size_t i = 0; i < n; i++) {
        if (rows[i].group.n == 0 || str_eq(rows[i].api_version, last))
            continue;
        last = rows[i].api_version;
        value_list_add(&l, value_from_str(arena_printf(rq->arena, "/apis/" STR_FMT, STR_ARG(last))));
    }
    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
        value_list_add(&l, value_from_str(str_from(fixed[i])));
    value_setz(v, "paths", value_list_done(&l));
    return api_answer_value(rq, 200, v);
}

static int serve_openid(struct api_request *rq)
{
    struct value v = value_new_map(rq->arena);
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    value_setz(v, "issuer", VALUE_STR("https://kubernetes.default.svc"));
    value_setz(v, "jwks_uri", value_from_str(arena_printf(rq->arena, "%s/openid/v1/jwks", rq->server->url)));
    value_list_add(&l, VALUE_STR("id_token"));
    value_setz(v, "response_types_supported", value_list_done(&l));
    l = VALUE_LIST_INIT(rq->arena);
    value_list_add(&l, VALUE_STR("public"));
    value_setz(v, "subject_types_supported", value_list_done(&l));
    l = VALUE_LIST_INIT(rq->arena);
    value_list_add(&l, VALUE_STR("ES256"));
    value_setz(v, "id_token_signing_alg_values_supported", value_list_done(&l));
    return api_answer_value(rq, 200, v);
}

static int serve_jwks(struct api_request *rq)
{
    struct err *err = NULL;

    rq->type = "application/jwk-set+json";
    return api_keys_jwks(rq->server->keys, &rq->out, &err) < 0 ? api_fail_err(rq, err) : 0;
}

int api_health_serve(struct api_request *rq, bool *ret_mine)
{
    struct str p = rq->path;

    *ret_mine = true;
    if (str_eq(p, STR("/version")) || str_eq(p, STR("/version/")))
        return serve_version(rq);
    if (str_has_prefix(p, STR("/healthz")) || str_has_prefix(p, STR("/livez")) ||
        str_has_prefix(p, STR("/readyz")))
        return serve_check(rq, p);
    if (str_eq(p, STR("/metrics")))
        return serve_metrics(rq);
    if (str_eq(p, STR("/")) || p.n == 0)
        return serve_paths(rq);
    if (str_eq(p, STR("/.well-known/openid-configuration")))
        return serve_openid(rq);
    if (str_eq(p, STR("/openid/v1/jwks")))
        return serve_jwks(rq);
    *ret_mine = false;
    return 0;
}
