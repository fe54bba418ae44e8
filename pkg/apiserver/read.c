/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/listing.h"
#include "apiserver/present.h"
#include "apiserver/server.h"
#include "base/encode.h"
#include "base/limits.h"
#include "json/json.h"

int api_get(struct api_request *rq)
{
    const struct api_key key = { rq->res->id, rq->ns, rq->name };
    struct str rv = api_param(rq, "resourceVersion");
    struct err *err = NULL;
    struct api_row row;
    int64_t n;

    if (rv.n > 0 && str_to_int64(rv, &n) && api_wait_for_rv(rq, n) < 0)
        return -1;
    if (api_store_get(rq->server->store, &key, rq->arena, &row, &err) < 0) {
        if (err_code(err) != ERRC_NOT_FOUND)
            return api_fail_err(rq, err);
        err_free(err);
        return api_fail_not_found(rq, rq->res, rq->name);
    }
    return api_present_text(rq, 200, row.json);
}

/* ---- continue tokens ----------------------------------------------------------------------------------------- */

static struct str make_token(struct api_request *rq, int64_t rv, const struct api_key *last)
{
    CLEANUP(buf_done) struct buf json = BUF_INIT(8 * KIB);
    CLEANUP(buf_done) struct buf token = BUF_INIT(16 * KIB);

    buf_addf(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%lld,\"start\":\"", (long long)rv);
    if (last->ns.n > 0)
        buf_addf(&json, STR_FMT "/", STR_ARG(last->ns));
    buf_addf(&json, STR_FMT "\\u0000\"}", STR_ARG(last->name));
    base64_encode(BASE64_RAW_URL, buf_str(&json), &token);
    return arena_dup(rq->arena, buf_str(&token));
}

static int read_token(struct api_request *rq, struct str token, struct api_list *q)
{
    CLEANUP(buf_done) struct buf json = BUF_INIT(16 * KIB);
    struct value v = VALUE_NONE;
    struct str start, ns = STR("");
    size_t slash;

    if (!base64_decode(BASE64_RAW_URL, token, &json, NULL) ||
        json_parse(rq->arena, arena_dup(rq->arena, buf_str(&json)), NULL, &v, NULL) < 0 ||
        !str_eq(value_str(value_getz(v, "v")), STR("meta.k8s.io/v1")) ||
        value_len(value_getz(v, "start")) == 0)
        return api_fail(rq, 400, "BadRequest", "continue key is not valid: token is malformed");
    start = str_trim_suffix(value_str(value_getz(v, "start")), (struct str){ "", 1 });
    slash = str_find_char(start, '/');
    if (slash != STR_NPOS) {
        ns = str_sub(start, 0, slash);
        start = str_sub(start, slash + 1, start.n);
    }
    q->continued = true;
    q->after = (struct api_key){ q->resource, ns, start };
    q->at = value_int(value_getz(v, "rv"), 0);
    if (q->at < 0)
        q->at = 0; /* go on with the present state */
    return 0;
}

/* ---- lists --------------------------------------------------------------------------------------------------- */

struct lister {
    struct api_presenter p;
    struct api_request *rq;
    const struct api_selector *selector;
    struct api_key last;
    struct buf last_ns, last_name;
};

static int object_matches(struct lister *l, const struct api_row *row, struct err **err)
{
    const struct json_options o = { .borrow = true };
    struct arena_mark m = arena_mark(l->rq->arena);
    struct value v = VALUE_NONE;
    bool fits;
    int r = l->selector->needs_object ? json_parse(l->rq->arena, row->json, &o, &v, err) : 0;

    if (r < 0)
        return r;
    fits = api_selector_fields(l->selector, &row->key, v);
    arena_rewind(l->rq->arena, m);
    return fits;
}

static int on_row(void *ctx, const struct api_row *row, struct err **err)
{
    struct lister *l = ctx;
    int r;

    if (!api_selector_labels(l->selector, row->labels))
        return 0;
    r = object_matches(l, row, err);
    if (r <= 0)
        return r;
    r = api_present_list_item(&l->p, row->json, &l->rq->out, err);
    if (r < 0)
        return r;
    buf_clear(&l->last_ns);
    buf_clear(&l->last_name);
    buf_addstr(&l->last_ns, row->key.ns);
    buf_addstr(&l->last_name, row->key.name);
    return 1;
}

/* Which state the options ask for: q->at, after waiting for it where that is needed. */
static int choose_state(struct api_request *rq, const struct api_list_options *o, struct api_list *q)
{
    if (o->token.n > 0) {
        if (o->has_rv && o->rv > 0)
            return api_fail(rq, 400, "BadRequest",
                            "specifying resource version is not allowed when using continue");
        return read_token(rq, o->token, q);
    }
    if (!o->has_rv || o->rv == 0)
        return 0;
    if (o->match == API_MATCH_EXACT || (o->match == API_MATCH_UNSET && o->limit > 0))
        q->at = o->rv;
    return api_wait_for_rv(rq, o->rv);
}

/* 410, with a token that goes on with the present state when a token expired (storage/etcd3/errors.go). */
static int fail_gone(struct api_request *rq, const struct api_list_options *o, const struct api_list *q)
{
    if (o->token.n == 0)
        return api_fail_expired(rq, "The resourceVersion for the provided list is too old.");
    api_fail_expired(
        rq, "The provided continue parameter is too old to display a consistent list result. You can "
            "start a new list without the continue parameter, or use the continue token in this response "
            "to retrieve the remainder of the results. Continuing with the provided token results in an "
            "inconsistent list - objects that were created, modified, or deleted between the time the "
            "first chunk was returned and now may show up in the list.");
    value_set_path(rq->failure, "metadata.continue", value_from_str(make_token(rq, -1, &q->after)));
    return -1;
}

static int list_with(struct api_request *rq, const struct api_list_options *o, struct lister *l)
{
    struct api_list q = { .resource = rq->res->id, .ns = rq->ns, .limit = (size_t)MAX(o->limit, 0) };
    struct api_list_end end = { 0 };
    struct err *err = NULL;
    struct str token = STR("");

    if (choose_state(rq, o, &q) < 0)
        return -1;
    q.name = o->selector->name;
    if (q.ns.n == 0)
        q.ns = o->selector->ns;
    q.count = o->selector->empty;
    rq->code = 200;
    rq->type = "application/json";
    api_present_list_begin(&l->p, &rq->out);
    if (api_store_list(rq->server->store, &q, on_row, l, &end, &err) < 0) {
        if (err_code(err) != ERRC_GONE)
            return api_fail_err(rq, err);
        err_free(err);
        return fail_gone(rq, o, &q);
    }
    if (end.more) {
        const struct api_key last = { rq->res->id, buf_str(&l->last_ns), buf_str(&l->last_name) };

        token = make_token(rq, end.rv, &last);
    }
    api_present_list_end(&l->p, end.rv, token, end.remaining, &rq->out);
    return buf_check(&rq->out, &err) < 0 ? api_fail_err(rq, err) : 0;
}

int api_list(struct api_request *rq)
{
    struct api_list_options o;
    struct lister l = {
        .p = { .rq = rq }, .rq = rq, .last_ns = BUF_INIT(FS_PATH_MAX), .last_name = BUF_INIT(FS_PATH_MAX)
    };
    int r;

    if (api_list_options_parse(rq, false, &o) < 0)
        return -1;
    l.selector = o.selector;
    r = list_with(rq, &o, &l);
    buf_done(&l.last_ns);
    buf_done(&l.last_name);
    return r;
}
