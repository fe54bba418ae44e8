/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include "http/http_int.h"

struct http_stream {
    struct transfer *t;
    struct waiter waiter;
    bool cancelled; /* guarded by the loop's lock */
};

static int start_loop(struct http_client *c, struct err **err)
{
    int r = 0;

    pthread_mutex_lock(&c->lock);
    if (!c->streams_started) {
        r = loop_start(&c->streams, c, true, err);
        c->streams_started = r == 0;
    }
    pthread_mutex_unlock(&c->lock);
    return r;
}

static int copy_error(const struct transfer *t, struct err **err)
{
    int r;

    if (!t->err)
        return t->r;
    r = err_set(err, err_code(t->err), "%s", err_message(t->err));
    if (err)
        err_set_http(*err, err_http_status(t->err), err_http_reason(t->err), err_retry_after_ms(t->err));
    return r;
}

/* Until the headers are there. */
static int wait_headers(struct http_stream *s, struct err **err)
{
    struct transfer *t = s->t;
    struct loop *l = t->loop;
    bool late = false;
    int r = 0;

    pthread_mutex_lock(&l->lock);
    while (!t->headers_done && t->state != TRANSFER_DONE && !late)
        late = !waiter_wait(&s->waiter, l, t->until_ms);
    if (t->state == TRANSFER_DONE && !t->headers_done && t->r < 0)
        r = copy_error(t, err); /* what fails later is for the reader, behind what came before */
    else if (!t->headers_done && t->state != TRANSFER_DONE)
        r = err_set(err, ERRC_TIMEOUT, "%s: no answer in time", transfer_method(t));
    if (r == -ERRC_TIMEOUT)
        transfer_suspect(t);
    pthread_mutex_unlock(&l->lock);
    if (r == 0 && !transfer_is_accepted(t, t->status))
        r = transfer_status_error(t, err);
    return r;
}

int http_stream_open(struct http_client *c, const struct http_request *rq, struct http_stream **ret,
                     struct err **err)
{
    CLEANUP(http_stream_close) struct http_stream *s = NULL;
    struct transfer *t = NULL;
    int r;

    if (atomic_load(&c->cancelled))
        return err_set(err, ERRC_CANCELLED, "the HTTP client was stopped");
    r = start_loop(c, err);
    if (r == 0)
        r = transfer_new(c, rq, true, &t, err);
    if (r < 0)
        return r;
    s = xcalloc(1, sizeof(*s));
    s->t = t;
    waiter_init(&s->waiter);
    loop_submit(t->loop, t, &s->waiter);
    r = wait_headers(s, err);
    if (r < 0)
        return r;
    *ret = TAKE(s);
    return 0;
}

void http_stream_close(struct http_stream *s)
{
    struct loop *l;

    if (!s)
        return;
    l = s->t->loop;
    pthread_mutex_lock(&l->lock);
    s->t->waiter = NULL;
    s->t->cancelled = true;
    loop_attend(l, s->t);
    pthread_mutex_unlock(&l->lock);
    waiter_done(&s->waiter);
    transfer_unref(s->t);
    free(s);
}

int http_stream_status(const struct http_stream *s)
{
    return s->t->status;
}

struct str http_stream_header(const struct http_stream *s, struct str name)
{
    return transfer_answer_header(s->t, name);
}

int http_stream_read(struct http_stream *s, int64_t wait_ms, struct buf *out, struct err **err)
{
    struct transfer *t = s->t;
    struct loop *l = t->loop;
    int64_t until_ms = clock_mono_ms() + wait_ms;
    bool late = false;
    int r;

    pthread_mutex_lock(&l->lock);
    while (t->queue.n == 0 && t->state != TRANSFER_DONE && !s->cancelled && !late)
        late = !waiter_wait(&s->waiter, l, until_ms);
    if (s->cancelled) {
        r = err_set(err, ERRC_CANCELLED, "the stream was cancelled");
    } else if (t->queue.n > 0) {
        r = (int)MIN(t->queue.n, (size_t)INT32_MAX);
        buf_addstr(out, buf_str(&t->queue));
        buf_done(&t->queue); /* an idle watch must not keep the memory of its largest burst */
    } else if (t->state == TRANSFER_DONE) {
        r = t->r < 0 ? copy_error(t, err) : 0;
    } else {
        r = err_set(err, ERRC_TIMEOUT, "%s: nothing came for %lld ms", transfer_method(t),
                    (long long)wait_ms);
    }
    pthread_mutex_unlock(&l->lock);
    if (r > 0 && buf_check(out, NULL) < 0)
        return buf_check(out, err);
    return r;
}

void http_stream_suspect(struct http_stream *s)
{
    transfer_suspect(s->t);
}

void http_stream_cancel(struct http_stream *s)
{
    struct loop *l = s->t->loop;

    pthread_mutex_lock(&l->lock);
    s->cancelled = true;
    pthread_cond_broadcast(&s->waiter.cond);
    pthread_mutex_unlock(&l->lock);
}
