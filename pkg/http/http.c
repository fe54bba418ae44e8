/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include "http/http_int.h"

#define CONNECTIONS_HOST 8
#define PARALLEL 16
#define GRACE_MS 1000 /* libcurl keeps the deadline itself; this is for a loop that hangs */

int http_client_new(const struct http_client_options *o, struct http_client **ret, struct err **err)
{
    struct http_client *c = xcalloc(1, sizeof(*c));
    int r;

    c->user_agent = xstrdup(o && o->user_agent ? o->user_agent : "pintle/" PINTLE_VERSION);
    c->connections_host = o && o->connections_host ? o->connections_host : CONNECTIONS_HOST;
    pthread_mutex_init(&c->lock, NULL);
    r = loop_start(&c->exchanges, c, false, err);
    if (r < 0) {
        http_client_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    loop_stop(&c->exchanges);
    loop_stop(&c->streams);
    pthread_mutex_destroy(&c->lock);
    free(c->user_agent);
    free(c);
}

static bool streams_running(struct http_client *c)
{
    bool started;

    pthread_mutex_lock(&c->lock);
    started = c->streams_started;
    pthread_mutex_unlock(&c->lock);
    return started;
}

void http_client_cancel(struct http_client *c)
{
    atomic_store(&c->cancelled, true);
    loop_wake(&c->exchanges);
    if (streams_running(c))
        loop_wake(&c->streams);
}

/* ---- one exchange ------------------------------------------------------------------------------------------------- */

/* Under the lock: hands what waits to the sink, without the lock. */
static int feed_sink(struct transfer *t, struct buf *bytes, struct err **err)
{
    struct loop *l = t->loop;
    struct buf swap = t->queue;
    int r;

    t->queue = *bytes;
    *bytes = swap;
    if (t->paused) {
        t->resume = true;
        loop_attend(l, t);
    }
    pthread_mutex_unlock(&l->lock);
    r = t->rq.sink(t->rq.sink_ctx, buf_str(bytes), err);
    buf_clear(bytes);
    pthread_mutex_lock(&l->lock);
    return r;
}

static int timed_out(const struct transfer *t, struct err **err)
{
    CLEANUP(buf_done) struct buf what = BUF_INIT(HTTP_URL_MAX * 4);

    buf_addf(&what, "%s ", transfer_method(t));
    http_url_redact(t->first_url, &what); /* the present URL is the loop's */
    return err_set(err, ERRC_TIMEOUT, "%s: no answer in time", buf_z(&what));
}

/* Waits for the end; gives up at the deadline or when the sink fails. */
static int wait_done(struct transfer *t, struct waiter *w, struct err **err)
{
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(SIZE_MAX);
    struct loop *l = t->loop;
    int r = 0;

    pthread_mutex_lock(&l->lock);
    while (r == 0 && (t->state != TRANSFER_DONE || t->queue.n > 0)) {
        if (t->queue.n > 0 && t->rq.sink && t->r == 0)
            r = feed_sink(t, &bytes, err);
        else if (t->state == TRANSFER_DONE)
            break;
        else if (!waiter_wait(w, l, t->until_ms + GRACE_MS) && t->state != TRANSFER_DONE)
            r = timed_out(t, err);
    }
    t->waiter = NULL;
    if (r < 0) {
        t->cancelled = true;
        loop_attend(l, t);
    }
    pthread_mutex_unlock(&l->lock);
    return r;
}

/* After the end: the answer, or the error. */
static int take_result(struct transfer *t, struct http_response *ret, struct err **err)
{
    int r = t->r;

    if (r < 0) {
        if (err)
            *err = TAKE(t->err);
        transfer_unref(t);
        return r;
    }
    response_take(t, ret);
    return 0;
}

static int check_cancelled(const struct http_client *c, struct err **err)
{
    return atomic_load(&c->cancelled) ? err_set(err, ERRC_CANCELLED, "the HTTP client was stopped") : 0;
}

int http_do(struct http_client *c, const struct http_request *rq, struct http_response *ret, struct err **err)
{
    CLEANUP(transfer_unref) struct transfer *t = NULL;
    struct waiter w;
    int r;

    r = check_cancelled(c, err);
    if (r == 0)
        r = transfer_new(c, rq, false, &t, err);
    if (r < 0)
        return r;
    waiter_init(&w);
    loop_submit(t->loop, t, &w);
    r = wait_done(t, &w, err);
    waiter_done(&w);
    return r < 0 ? r : take_result(TAKE(t), ret, err);
}

/* ---- many at once ------------------------------------------------------------------------------------------------- */

struct batch {
    struct http_client *c;
    const struct http_request *rq;
    struct http_result *ret;
    struct transfer **transfers;
    struct waiter waiter;
    size_t n, next, running, parallel;
};

static void batch_start(struct batch *b)
{
    size_t i = b->next++;
    struct http_result *res = &b->ret[i];

    res->r = check_cancelled(b->c, &res->err);
    if (res->r == 0)
        res->r = transfer_new(b->c, &b->rq[i], false, &b->transfers[i], &res->err);
    if (res->r < 0)
        return;
    b->running++;
    loop_submit(b->transfers[i]->loop, b->transfers[i], &b->waiter);
}

/* Waits until one more ended, or for the latest deadline of those that run. */
static void batch_wait(struct batch *b)
{
    struct loop *l = &b->c->exchanges;
    int64_t until_ms = 0;

    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < b->next; i++) {
        if (b->transfers[i] && b->transfers[i]->state != TRANSFER_DONE)
            until_ms = MAX(until_ms, b->transfers[i]->until_ms + GRACE_MS);
    }
    while (b->waiter.done == 0 && waiter_wait(&b->waiter, l, until_ms))
        ;
    if (b->waiter.done == 0)
        b->running = 0;
    b->running -= MIN(b->running, b->waiter.done);
    b->waiter.done = 0;
    pthread_mutex_unlock(&l->lock);
}

static void batch_collect(struct batch *b, size_t i)
{
    struct transfer *t = b->transfers[i];
    struct http_result *res = &b->ret[i];
    bool done;

    if (!t)
        return;
    pthread_mutex_lock(&t->loop->lock);
    done = t->state == TRANSFER_DONE;
    t->waiter = NULL;
    if (!done) {
        t->cancelled = true;
        loop_attend(t->loop, t);
    }
    pthread_mutex_unlock(&t->loop->lock);
    if (done) {
        res->r = take_result(t, &res->response, &res->err);
    } else {
        res->r = timed_out(t, &res->err);
        transfer_unref(t);
    }
}

int http_do_all(struct http_client *c, const struct http_request *rq, size_t n, size_t parallel,
                struct http_result *ret)
{
    struct batch b = { .c = c, .rq = rq, .ret = ret, .n = n, .parallel = parallel ? parallel : PARALLEL };
    int first = 0;

    for (size_t i = 0; i < n; i++)
        ret[i] = (struct http_result){ 0 };
    b.transfers = xcalloc(MAX(n, (size_t)1), sizeof(struct transfer *));
    waiter_init(&b.waiter);
    while (b.next < n || b.running > 0) {
        while (b.next < n && b.running < b.parallel)
            batch_start(&b);
        if (b.running > 0)
            batch_wait(&b);
    }
    for (size_t i = 0; i < n; i++) {
        batch_collect(&b, i);
        if (first == 0)
            first = ret[i].r;
    }
    waiter_done(&b.waiter);
    free(b.transfers);
    return first;
}
