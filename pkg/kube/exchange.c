/* SPDX-License-Identifier: Apache-2.0 */
/* One request on its way: path, query, body, headers, repetitions, the answer. */
#include "base/clock.h"
#include "base/random.h"
#include "kube/kube_int.h"
#include "json/json.h"

#define ATTEMPTS_MAX 10
#define RECONNECT_MS 1000
#define METADATA "g=meta.k8s.io;v=v1,application/json"

static const char *const verbs[] = {
    [KUBE_GET] = "get",     [KUBE_LIST] = "list",   [KUBE_CREATE] = "create", [KUBE_UPDATE] = "update",
    [KUBE_PATCH] = "patch", [KUBE_APPLY] = "apply", [KUBE_DELETE] = "delete",
};
static const char *const methods[] = {
    [KUBE_GET] = "GET",     [KUBE_LIST] = "GET",    [KUBE_CREATE] = "POST",   [KUBE_UPDATE] = "PUT",
    [KUBE_PATCH] = "PATCH", [KUBE_APPLY] = "PATCH", [KUBE_DELETE] = "DELETE",
};
static const char *const patch_types[] = {
    [KUBE_PATCH_MERGE] = "application/merge-patch+json",
    [KUBE_PATCH_JSON] = "application/json-patch+json",
    [KUBE_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
};

static bool is_write(enum kube_verb verb)
{
    return verb != KUBE_GET && verb != KUBE_LIST;
}

static bool carries_object(enum kube_verb verb)
{
    return verb == KUBE_CREATE || verb == KUBE_UPDATE || verb == KUBE_APPLY;
}

/* ---- what is asked ------------------------------------------------------------------------------------------------ */

static struct kube_ref complete_ref(const struct kube_request *rq)
{
    struct kube_ref ref = rq->ref, of;

    if (!carries_object(rq->verb))
        return ref;
    of = kube_ref_of(rq->object);
    ref.api_version = ref.api_version.n ? ref.api_version : of.api_version;
    ref.kind = ref.kind.n ? ref.kind : of.kind;
    ref.ns = ref.ns.n ? ref.ns : of.ns;
    ref.name = ref.name.n ? ref.name : of.name;
    return ref;
}

static void add_selectors(struct kube_exchange_state *x)
{
    const struct kube_request *rq = x->rq;

    query_add(&x->url, "labelSelector", rq->label_selector);
    query_add(&x->url, "fieldSelector", rq->field_selector);
    if (x->watch_s > 0) {
        query_add(&x->url, "watch", STR("true"));
        query_add(&x->url, "allowWatchBookmarks", STR("true"));
        query_add_int(&x->url, "timeoutSeconds", x->watch_s);
        query_add(&x->url, "resourceVersion", rq->resource_version);
        return;
    }
    query_add_int(&x->url, "limit", rq->limit > 0 ? rq->limit : KUBE_LIST_PAGE);
    query_add(&x->url, "continue", rq->continue_token);
    if (rq->continue_token.n == 0)
        query_add(&x->url, "resourceVersion", rq->resource_version);
}

static void add_query(struct kube_exchange_state *x)
{
    const struct kube_request *rq = x->rq;

    if (rq->verb == KUBE_LIST)
        add_selectors(x);
    if (rq->verb == KUBE_GET)
        query_add(&x->url, "resourceVersion", rq->resource_version);
    if (is_write(rq->verb) && rq->verb != KUBE_DELETE) {
        query_add(&x->url, "fieldManager", rq->field_manager);
        query_add(&x->url, "fieldValidation", rq->field_validation);
        if (rq->dry_run)
            query_add(&x->url, "dryRun", STR("All"));
    }
    if (rq->verb == KUBE_APPLY && rq->force)
        query_add(&x->url, "force", STR("true"));
}

static int delete_body(const struct kube_request *rq, struct buf *out, struct err **err)
{
    static const char *const policies[] = { NULL, "Background", "Foreground", "Orphan" };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct value v = value_new_map(a), pre = value_new_map(a);
    struct value dry = VALUE_STR("All");

    value_setz(v, "apiVersion", VALUE_STR("v1"));
    value_setz(v, "kind", VALUE_STR("DeleteOptions"));
    if (rq->propagation != KUBE_PROPAGATION_DEFAULT)
        value_setz(v, "propagationPolicy", value_from_str(str_from(policies[rq->propagation])));
    if (rq->has_grace)
        value_setz(v, "gracePeriodSeconds", value_from_int(rq->grace_s));
    if (rq->uid.n > 0)
        value_setz(pre, "uid", value_from_str(rq->uid));
    if (rq->resource_version.n > 0)
        value_setz(pre, "resourceVersion", value_from_str(rq->resource_version));
    if (value_len(pre) > 0)
        value_setz(v, "preconditions", pre);
    if (rq->dry_run)
        value_setz(v, "dryRun", value_from_list(&dry, 1));
    return json_print(v, 0, out, err);
}

static int build_body(struct kube_exchange_state *x, struct err **err)
{
    const struct kube_request *rq = x->rq;

    if (!is_write(rq->verb))
        return 0;
    if (rq->verb == KUBE_DELETE)
        return delete_body(rq, &x->body, err);
    if (rq->body.p)
        buf_addstr(&x->body, rq->body);
    else
        IGNORE_ERROR(json_print(rq->object, 0, &x->body, NULL));
    if (buf_check(&x->body, NULL) < 0)
        return err_set(err, ERRC_LIMIT, "the object is larger than %zu bytes", KUBE_OBJECT_MAX);
    return x->body.n > 0 ? 0 : err_set(err, ERRC_INVALID, "the object cannot be printed");
}

void exchange_describe(const struct kube_exchange_state *x, struct buf *out)
{
    if (!x->rq) {
        buf_adds(out, "get ");
        http_url_redact(str_sub(buf_str(&x->url), strlen(x->k->conn->base), x->url.n), out);
        return;
    }
    buf_addf(out, "%s ", x->verb);
    kube_ref_format(&x->ref, out);
    if (x->rq->subresource.n > 0)
        buf_addf(out, " " STR_FMT, STR_ARG(x->rq->subresource));
}

static int check_request(const struct kube_exchange_state *x, struct err **err)
{
    const struct kube_request *rq = x->rq;
    bool named = rq->verb != KUBE_LIST && rq->verb != KUBE_CREATE;

    if (x->ref.api_version.n == 0 || x->ref.kind.n == 0)
        return err_set(err, ERRC_INVALID, "apiVersion or kind is missing");
    if (named && x->ref.name.n == 0)
        return err_set(err, ERRC_INVALID, "the name is missing");
    if (rq->verb == KUBE_APPLY && rq->field_manager.n == 0)
        return err_set(err, ERRC_INVALID, "the field manager is missing");
    return 0;
}

static int build(struct kube_exchange_state *x, struct err **err)
{
    const struct kube_request *rq = x->rq;
    struct kube_ref path_ref = x->ref;
    int r = check_request(x, err);

    if (r == 0)
        r = kube_kind_find(x->k, x->ref.api_version, x->ref.kind, &x->kind, err);
    if (r < 0)
        return r;
    if (x->kind->namespaced && x->ref.ns.n == 0 && rq->verb != KUBE_LIST)
        return err_set(err, ERRC_INVALID, "the namespace is missing");
    if (!x->kind->namespaced)
        x->ref.ns = path_ref.ns = STR_NONE;
    if (rq->verb == KUBE_CREATE && rq->subresource.n == 0)
        path_ref.name = STR_NONE;
    buf_adds(&x->url, x->k->conn->base);
    r = path_build(x->kind, &path_ref, rq->subresource, &x->url, err);
    if (r == 0)
        r = build_body(x, err);
    if (r < 0)
        return r;
    add_query(x);
    return buf_check(&x->url, err);
}

static void begin(struct kube_exchange_state *x, struct kube *k, int64_t deadline_ms)
{
    *x = (struct kube_exchange_state){ .k = k,
                                       .url = BUF_INIT(HTTP_URL_MAX),
                                       .body = BUF_INIT(KUBE_OBJECT_MAX),
                                       .until_ms = clock_mono_ms() +
                                                   (deadline_ms > 0 ? deadline_ms : KUBE_DEADLINE_MS) };
}

int exchange_init(struct kube_exchange_state *x, struct kube *k, const struct kube_request *rq,
                  struct err **err)
{
    return exchange_init_watch(x, k, rq, 0, err);
}

int exchange_init_watch(struct kube_exchange_state *x, struct kube *k, const struct kube_request *rq,
                        int watch_s, struct err **err)
{
    CLEANUP(buf_done) struct buf what = BUF_INIT(4 * KIB);
    int r;

    begin(x, k, rq->deadline_ms);
    x->rq = rq;
    x->watch_s = watch_s;
    x->verb = watch_s > 0 ? "watch" : verbs[rq->verb];
    x->ref = complete_ref(rq);
    r = build(x, err);
    if (r == 0)
        return 0;
    exchange_describe(x, &what);
    return err_wrap(err, r, "%s", buf_z(&what));
}

int exchange_init_raw(struct kube_exchange_state *x, struct kube *k, const char *path, const char *accept,
                      struct err **err)
{
    begin(x, k, 0);
    x->verb = "raw";
    buf_addf(&x->url, "%s%s", k->conn->base, path);
    x->headers[0] = (struct http_header){ STR("Accept"), str_from(accept ? accept : "application/json") };
    x->n_headers = 1;
    return buf_check(&x->url, err);
}

void exchange_done(struct kube_exchange_state *x)
{
    buf_done(&x->url);
    buf_done(&x->body);
    kube_secrets_unref(x->secrets);
    x->secrets = NULL;
}

/* ---- one attempt -------------------------------------------------------------------------------------------------- */

static void add_header(struct kube_exchange_state *x, struct str name, struct str value)
{
    if (x->n_headers < KUBE_HEADERS_MAX)
        x->headers[x->n_headers++] = (struct http_header){ name, value };
}

static struct str accept_type(const struct kube_request *rq, bool watch)
{
    if (rq->metadata_only && watch)
        return STR("application/json;as=PartialObjectMetadata;" METADATA);
    if (rq->metadata_only && rq->verb == KUBE_LIST)
        return STR("application/json;as=PartialObjectMetadataList;" METADATA);
    if (rq->metadata_only && rq->verb == KUBE_GET)
        return STR("application/json;as=PartialObjectMetadata;" METADATA);
    return STR("application/json");
}

static struct str body_type(const struct kube_request *rq)
{
    if (rq->verb == KUBE_APPLY)
        return STR("application/apply-patch+yaml");
    return rq->verb == KUBE_PATCH ? str_from(patch_types[rq->patch]) : STR("application/json");
}

static void add_headers(struct kube_exchange_state *x)
{
    x->n_headers = x->rq ? 0 : 1; /* a raw path brings its Accept */
    if (x->rq) {
        add_header(x, STR("Accept"), accept_type(x->rq, x->watch_s > 0));
        if (is_write(x->rq->verb))
            add_header(x, STR("Content-Type"), body_type(x->rq));
    }
    if (x->k->as.n > 0)
        add_header(x, STR("Impersonate-User"), x->k->as);
    for (size_t i = 0; i < x->k->n_groups; i++)
        add_header(x, STR("Impersonate-Group"), x->k->groups[i]);
}

static void set_identity(struct kube_exchange_state *x)
{
    struct kube_conn *c = x->k->conn;
    const struct kube_config *f = c->config;

    x->credentials = (struct http_credentials){ 0 };
    if (c->secure)
        x->credentials = (struct http_credentials){ .origin = str_from(c->base),
                                                    .user = x->secrets->token.n ? STR_NONE : f->user,
                                                    .password = f->password,
                                                    .bearer = x->secrets->token,
                                                    .cert_pem = x->secrets->cert_pem,
                                                    .key_pem = x->secrets->key_pem };
    x->tls = (struct http_tls){ .ca_pem = x->secrets->ca_pem,
                                .server_name = f->server_name.n ? f->server_name.p : NULL,
                                .insecure = f->insecure };
}

static int check_fence(const struct kube_exchange_state *x, struct err **err)
{
    int64_t fence = atomic_load(&x->k->conn->fence_ms);
    CLEANUP(buf_done) struct buf what = BUF_INIT(4 * KIB);

    if (fence == 0 || !x->rq || !is_write(x->rq->verb) || clock_mono_ms() < fence)
        return 0;
    exchange_describe(x, &what);
    return err_set(err, ERRC_CANCELLED, "%s: this process is not the leader any more", buf_z(&what));
}

int exchange_arm(struct kube_exchange_state *x, struct err **err)
{
    struct kube_conn *c = x->k->conn;
    int r = check_fence(x, err);

    if (r < 0)
        return r;
    if (!x->secrets) {
        r = kube_secrets_get(c, NULL, &x->secrets, err);
        if (r < 0)
            return r;
    }
    set_identity(x);
    add_headers(x);
    x->attempts++;
    x->http =
        (struct http_request){ .method = x->rq ? methods[x->rq->verb] : "GET",
                               .url = buf_str(&x->url),
                               .headers = x->headers,
                               .n_headers = x->n_headers,
                               .body = x->body.n > 0 ? buf_str(&x->body) : STR_NONE,
                               .credentials = &x->credentials,
                               .tls = &x->tls,
                               .proxy = c->config->has_proxy ? c->config->proxy.p : NULL,
                               .deadline_ms = MAX(x->until_ms - clock_mono_ms(), (int64_t)1),
                               .body_max = KUBE_ANSWER_MAX,
                               .redirects = -1,
                               .any_status = true,
                               .compressed = c->config->compress &&
                                             (!x->rq || (x->rq->verb == KUBE_LIST && x->watch_s == 0)) };
    return 0;
}

void exchange_observe(const struct kube_exchange_state *x, int code, int64_t took_ms)
{
    struct kube_conn *c = x->k->conn;
    size_t base = strlen(c->base);
    struct kube_exchange e = { .verb = x->verb,
                               .resource = x->kind ? x->kind->plural : STR(""),
                               .path = str_sub(buf_str(&x->url), base, x->url.n),
                               .identity = x->k->as,
                               .code = code,
                               .took_ms = took_ms };

    pthread_mutex_lock(&c->observers_lock);
    for (size_t i = 0; i < KUBE_OBSERVERS_MAX; i++) {
        if (c->observers[i].fn)
            c->observers[i].fn(c->observers[i].ctx, &e);
    }
    pthread_mutex_unlock(&c->observers_lock);
}

/* ---- again? ------------------------------------------------------------------------------------------------------- */

static bool refresh_after_401(struct kube_exchange_state *x)
{
    struct kube_secrets *s = NULL;
    bool newer;

    if (x->refreshed || kube_secrets_get(x->k->conn, x->secrets, &s, NULL) < 0)
        return false;
    x->refreshed = true;
    newer = s != x->secrets;
    kube_secrets_unref(x->secrets);
    x->secrets = s;
    return newer;
}

/* The pause before the next attempt, or -1: there is none. */
static int64_t pause_ms(const struct kube_exchange_state *x, int r, const struct http_response *res)
{
    bool reads = !x->rq || !is_write(x->rq->verb);

    if (r < 0)
        return reads && r == -ERRC_UNAVAILABLE ? RECONNECT_MS / 2 + (int64_t)random_below(RECONNECT_MS) : -1;
    if (res->status != 429 && res->status < 500)
        return -1;
    return res->retry_after_ms > 0 ? res->retry_after_ms : -1;
}

int exchange_again(struct kube_exchange_state *x, int r, const struct http_response *res, const struct err *e)
{
    int64_t pause, left = x->until_ms - clock_mono_ms();

    UNUSED(e);
    if (x->attempts >= ATTEMPTS_MAX || x->once || (x->rq && x->rq->no_retry))
        return 0;
    if (r >= 0 && res->status == 401)
        return refresh_after_401(x); /* nothing was done: it may be sent again */
    pause = pause_ms(x, r, res);
    if (pause < 0 || pause >= left)
        return 0;
    return kube_conn_sleep(x->k->conn, pause);
}

/* ---- the answer --------------------------------------------------------------------------------------------------- */

int exchange_decode(const struct kube_exchange_state *x, struct arena *a, const struct http_response *res,
                    struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf what = BUF_INIT(4 * KIB);
    bool is_secret = str_eq(x->ref.kind, STR("Secret"));
    struct value v;
    int r = 0;

    if (res->status < 200 || res->status > 299)
        r = kube_status_error(res->status, res->body, res->retry_after_ms, is_secret, err);
    else if (res->body.n == 0)
        r = err_set(err, ERRC_UNAVAILABLE, "the answer is empty");
    else if (json_parse(a, res->body, NULL, &v, NULL) < 0 || !value_is_map(v))
        r = err_set(err, ERRC_UNAVAILABLE, "the answer is no JSON object");
    if (r < 0) {
        exchange_describe(x, &what);
        return err_wrap(err, r, "%s", buf_z(&what));
    }
    if (ret)
        *ret = v;
    return 0;
}

int exchange_run(struct kube_exchange_state *x, struct http_response *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf what = BUF_INIT(4 * KIB);
    int r, again;

    do {
        CLEANUP(err_free) struct err *e = NULL;
        int64_t start = clock_mono_ms();

        r = exchange_arm(x, err);
        if (r < 0)
            return r;
        r = http_do(x->k->conn->http, &x->http, ret, &e);
        exchange_observe(x, r < 0 ? 0 : ret->status, clock_mono_ms() - start);
        again = exchange_again(x, r, ret, e);
        if (again && r >= 0)
            http_response_done(ret);
        if (!again && r < 0 && err)
            *err = TAKE(e);
    } while (again);
    if (r < 0 && x->rq) {
        exchange_describe(x, &what);
        return err_wrap(err, r, "%s", buf_z(&what));
    }
    return r;
}
