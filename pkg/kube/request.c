/* SPDX-License-Identifier: Apache-2.0 */
/* Requests on objects: one, many, and their short forms. */
#include "base/clock.h"
#include "base/random.h"
#include "kube/kube_int.h"
#include "json/json.h"

#define PARALLEL 16
#define CONFLICT_TRIES 5
#define CONFLICT_PAUSE_MS 10

/* ---- lists -------------------------------------------------------------------------------------------------------- */

/* All pages as one list object: the first page's members, everybody's items. */
static int list_all(struct kube *k, struct arena *a, const struct kube_request *rq, struct value *ret,
                    struct err **err)
{
    CLEANUP(kube_pager_free) struct kube_pager *p = kube_pager_new(k, rq);
    struct value_list items = VALUE_LIST_INIT(a);
    struct value page, list, meta;
    bool restart = false;
    int r;

    while ((r = kube_pager_next(p, a, &page, &restart, err)) > 0) {
        if (restart)
            items.n = 0;
        for (size_t i = 0; i < value_len(page); i++)
            value_list_add(&items, value_at(page, i));
        if (arena_failed(a))
            return err_set(err, ERRC_LIMIT, "list " STR_FMT ": it does not fit into memory",
                           STR_ARG(rq->ref.kind));
    }
    if (r < 0 || !ret)
        return r;
    list = value_new_map(a);
    meta = value_new_map(a);
    value_setz(meta, "resourceVersion", value_from_str(arena_dup(a, kube_pager_resource_version(p))));
    value_setz(list, "apiVersion", value_from_str(arena_dup(a, rq->ref.api_version)));
    value_setz(list, "kind", value_from_str(arena_printf(a, STR_FMT "List", STR_ARG(rq->ref.kind))));
    value_setz(list, "metadata", meta);
    value_setz(list, "items", value_list_done(&items));
    *ret = list;
    return 0;
}

/* ---- one ---------------------------------------------------------------------------------------------------------- */

static int run_one(struct kube_exchange_state *x, struct arena *a, struct kube_result *ret)
{
    CLEANUP(http_response_done) struct http_response res = { 0 };
    int r = exchange_run(x, &res, &ret->err);

    if (r < 0)
        return r;
    ret->created = res.status == 201;
    return exchange_decode(x, a, &res, &ret->object, &ret->err);
}

int kube_do(struct kube *k, struct arena *a, const struct kube_request *rq, struct value *ret,
            struct err **err)
{
    CLEANUP(exchange_done) struct kube_exchange_state x = { 0 };
    struct kube_result result = { 0 };
    int r;

    if (rq->verb == KUBE_LIST)
        return list_all(k, a, rq, ret, err);
    r = exchange_init(&x, k, rq, err);
    if (r < 0)
        return r;
    r = run_one(&x, a, &result);
    if (r < 0) {
        if (err)
            *err = TAKE(result.err);
        err_free(result.err);
        return r;
    }
    if (ret)
        *ret = result.object;
    return 0;
}

/* ---- many --------------------------------------------------------------------------------------------------------- */

struct batch {
    struct kube *k;
    struct arena *a;
    const struct kube_request *rq;
    struct kube_exchange_state *x;
    struct http_request *http;
    struct http_result *answers;
    size_t *index; /* of the requests that are under way */
    size_t n, n_sent;
    struct kube_result *ret;
};

static void batch_prepare(struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        struct kube_result *res = &b->ret[i];

        *res = (struct kube_result){ 0 };
        if (b->rq[i].verb == KUBE_LIST) {
            res->r = -ERRC_MAX_; /* alone, later: pages follow one another */
            continue;
        }
        res->r = exchange_init(&b->x[i], b->k, &b->rq[i], &res->err);
        if (res->r == 0)
            res->r = exchange_arm(&b->x[i], &res->err);
        if (res->r < 0)
            continue;
        b->index[b->n_sent] = i;
        b->http[b->n_sent++] = b->x[i].http;
    }
}

static void batch_take(struct batch *b, size_t at, int64_t took_ms)
{
    size_t i = b->index[at];
    struct kube_exchange_state *x = &b->x[i];
    struct kube_result *res = &b->ret[i];
    struct http_result *answer = &b->answers[at];
    CLEANUP(buf_done) struct buf what = BUF_INIT(4 * KIB);

    exchange_observe(x, answer->r < 0 ? 0 : answer->response.status, took_ms);
    if (exchange_again(x, answer->r, &answer->response, answer->err)) {
        res->r = run_one(x, b->a, res);
    } else if (answer->r < 0) {
        exchange_describe(x, &what);
        res->err = TAKE(answer->err);
        res->r = err_wrap(&res->err, answer->r, "%s", buf_z(&what));
    } else {
        res->created = answer->response.status == 201;
        res->r = exchange_decode(x, b->a, &answer->response, &res->object, &res->err);
    }
    http_result_done(answer);
}

static int batch_finish(struct batch *b)
{
    int first = 0;

    for (size_t i = 0; i < b->n; i++) {
        struct kube_result *res = &b->ret[i];

        if (res->r == -ERRC_MAX_)
            res->r = kube_do(b->k, b->a, &b->rq[i], &res->object, &res->err);
        exchange_done(&b->x[i]);
        if (first == 0 && res->r < 0)
            first = res->r;
    }
    return first;
}

int kube_do_all(struct kube *k, struct arena *a, const struct kube_request *rq, size_t n, size_t parallel,
                struct kube_result *ret)
{
    struct batch b = { .k = k, .a = a, .rq = rq, .n = n, .ret = ret };
    int64_t start = clock_mono_ms();
    int r;

    if (n == 0)
        return 0;
    b.x = xcalloc(n, sizeof(*b.x));
    b.http = xcalloc(n, sizeof(*b.http));
    b.answers = xcalloc(n, sizeof(*b.answers));
    b.index = xcalloc(n, sizeof(*b.index));
    batch_prepare(&b);
    if (b.n_sent > 0)
        IGNORE_ERROR(http_do_all(k->conn->http, b.http, b.n_sent, parallel ? parallel : PARALLEL, b.answers));
    for (size_t i = 0; i < b.n_sent; i++)
        batch_take(&b, i, clock_mono_ms() - start);
    r = batch_finish(&b);
    free(b.x);
    free(b.http);
    free(b.answers);
    free(b.index);
    return r;
}

void kube_results_done(struct kube_result *results, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        err_free(results[i].err);
        results[i].err = NULL;
    }
}

/* ---- short forms -------------------------------------------------------------------------------------------------- */

int kube_get(struct kube *k, struct arena *a, const struct kube_ref *ref, struct value *ret, struct err **err)
{
    struct kube_request rq = { .verb = KUBE_GET, .ref = *ref };

    return kube_do(k, a, &rq, ret, err);
}

int kube_find(struct kube *k, struct arena *a, const struct kube_ref *ref, struct value *ret,
              struct err **err)
{
    int r = kube_get(k, a, ref, ret, err);

    if (r != -ERRC_NOT_FOUND || (err && kube_err_is_no_match(*err)))
        return r < 0 ? r : 1;
    err_clear(err);
    return 0;
}

int kube_list(struct kube *k, struct arena *a, const struct kube_ref *ref, struct str label_selector,
              struct value *ret, struct err **err)
{
    struct kube_request rq = { .verb = KUBE_LIST, .ref = *ref, .label_selector = label_selector };

    return kube_do(k, a, &rq, ret, err);
}

int kube_create(struct kube *k, struct arena *a, struct value object, struct value *ret, struct err **err)
{
    struct kube_request rq = { .verb = KUBE_CREATE, .object = object };

    return kube_do(k, a, &rq, ret, err);
}

int kube_update(struct kube *k, struct arena *a, struct value object, struct value *ret, struct err **err)
{
    struct kube_request rq = { .verb = KUBE_UPDATE, .object = object };

    return kube_do(k, a, &rq, ret, err);
}

int kube_apply(struct kube *k, struct arena *a, struct value object, struct str field_manager, bool force,
               struct value *ret, struct err **err)
{
    struct kube_request rq = {
        .verb = KUBE_APPLY, .object = object, .field_manager = field_manager, .force = force
    };

    return kube_do(k, a, &rq, ret, err);
}

int kube_merge_patch(struct kube *k, struct arena *a, const struct kube_ref *ref, struct value patch,
                     struct value *ret, struct err **err)
{
    struct kube_request rq = { .verb = KUBE_PATCH, .ref = *ref, .object = patch };

    return kube_do(k, a, &rq, ret, err);
}

int kube_patch_status(struct kube *k, struct arena *a, const struct kube_ref *ref, struct value patch,
                      struct value *ret, struct err **err)
{
    struct kube_request rq = {
        .verb = KUBE_PATCH, .ref = *ref, .object = patch, .subresource = STR("status")
    };

    return kube_do(k, a, &rq, ret, err);
}

int kube_delete(struct kube *k, const struct kube_ref *ref, struct str uid, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(KUBE_ANSWER_MAX);
    CLEANUP(err_free) struct err *e = NULL;
    struct kube_request rq = { .verb = KUBE_DELETE, .ref = *ref, .uid = uid, .propagation = KUBE_BACKGROUND };
    int r = kube_do(k, a, &rq, NULL, &e);

    if (r == -ERRC_NOT_FOUND && !kube_err_is_no_match(e))
        return 0;
    if (r < 0 && err)
        *err = TAKE(e);
    return r;
}

/* ---- conflicts ---------------------------------------------------------------------------------------------------- */

static int update_once(struct kube *k, struct arena *a, const struct kube_ref *ref, struct str subresource,
                       kube_change_fn change, void *ctx, struct value *ret, struct err **err)
{
    struct kube_request rq = { .verb = KUBE_UPDATE, .ref = *ref, .subresource = subresource };
    int r = kube_get(k, a, ref, ret, err);

    if (r < 0)
        return r;
    r = change(ctx, a, *ret, err);
    if (r <= 0)
        return r;
    rq.object = *ret;
    return kube_do(k, a, &rq, ret, err);
}

int kube_update_retry(struct kube *k, struct arena *a, const struct kube_ref *ref, struct str subresource,
                      kube_change_fn change, void *ctx, struct value *ret, struct err **err)
{
    struct value v = VALUE_NONE;
    int r = 0;

    for (int i = 0; i < CONFLICT_TRIES; i++) {
        CLEANUP(err_free) struct err *e = NULL;
        bool last = i == CONFLICT_TRIES - 1;

        r = update_once(k, a, ref, subresource, change, ctx, &v, &e);
        if (r != -ERRC_CONFLICT || last ||
            !kube_conn_sleep(k->conn, CONFLICT_PAUSE_MS + (int64_t)random_below(10))) {
            if (r < 0 && err)
                *err = TAKE(e);
            break;
        }
    }
    if (r >= 0 && ret)
        *ret = v;
    return r;
}
