/* SPDX-License-Identifier: Apache-2.0 */
/* A loop runs transfers on one multi handle, in its own thread. There are two: curl_multi_poll() waits for one handle
 * only, and in one handle short requests would queue behind connections that are full of streams.
 *
 * The thread opens libcurl with its thirty libraries, so that who made the client goes on meanwhile. No transfer is made before
 * libcurl is there (transfer_new()); what is submitted before there is a handle waits for it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "http/http_int.h"

#define LOOP_STACK (1 * MIB)
#define POLL_MS 30000              /* whatever has to be noticed sooner wakes the loop */
#define STREAMS_PER_CONNECTION 200 /* servers say 100 to 250; libcurl opens what is missing */

static void list_add(struct loop *l, struct transfer *t)
{
    t->prev = NULL;
    t->next = l->running;
    if (l->running)
        l->running->prev = t;
    l->running = t;
    l->n_running++;
}

static void list_remove(struct loop *l, struct transfer *t)
{
    if (t->prev)
        t->prev->next = t->next;
    else
        l->running = t->next;
    if (t->next)
        t->next->prev = t->prev;
    t->next = t->prev = NULL;
    l->n_running--;
}

/* libcurl 7.88 gives the first connection 100 streams before it knows the server's limit and then opens one connection
 * for every further handle, unless the connections of a host are limited. With HTTP/1 the same limit would let
 * streams wait for ever. So: limited once only HTTP/2 was seen. */
static void limit_connections(struct loop *l)
{
    bool h2 = atomic_load(&l->client->saw_h2) && !atomic_load(&l->client->saw_h1);
    long limit = 0;

    if (!l->streams)
        limit = (long)l->client->connections_host;
    else if (h2)
        limit = 2 * (long)((l->n_running + STREAMS_PER_CONNECTION) / STREAMS_PER_CONNECTION +
                           1); /* dead ones count */
    if (limit != l->connections_host)
        curl.multi_setopt(l->multi, CURLMOPT_MAX_HOST_CONNECTIONS, limit);
    l->connections_host = limit;
}

/* The loop lets go of t. */
static void end(struct loop *l, struct transfer *t, int r, struct err *err)
{
    pthread_mutex_lock(&l->lock);
    t->state = TRANSFER_DONE;
    t->r = r;
    t->err = err;
    if (t->waiter) {
        t->waiter->done++;
        pthread_cond_broadcast(&t->waiter->cond);
    }
    pthread_mutex_unlock(&l->lock);
    transfer_unref(t);
}

static void end_cancelled(struct loop *l, struct transfer *t)
{
    struct err *err = NULL;
    int r = err_set(&err, ERRC_CANCELLED, "%s: cancelled", transfer_method(t));

    end(l, t, r, err);
}

static void start(struct loop *l, struct transfer *t)
{
    struct err *err = NULL;
    int r;

    list_add(l, t);
    limit_connections(l);
    if (curl.multi_add_handle(l->multi, t->easy) == CURLM_OK)
        return;
    list_remove(l, t);
    r = err_set(&err, ERRC_INTERNAL, "libcurl takes no more transfers");
    end(l, t, r, err);
}

/* What was submitted, first come first. */
static struct transfer *take_submitted(struct loop *l)
{
    struct transfer *t, *next, *first = NULL;

    pthread_mutex_lock(&l->lock);
    for (t = l->submitted; t; t = next) {
        next = t->next;
        t->next = first;
        t->state = TRANSFER_RUNNING;
        first = t;
    }
    l->submitted = NULL;
    pthread_mutex_unlock(&l->lock);
    return first;
}

static void start_submitted(struct loop *l)
{
    struct transfer *t, *next;
    bool cancelled;

    for (t = take_submitted(l); t; t = next) {
        next = t->next;
        t->next = NULL;
        pthread_mutex_lock(&l->lock);
        cancelled = t->cancelled || l->stop;
        pthread_mutex_unlock(&l->lock);
        if (cancelled || atomic_load(&l->client->cancelled))
            end_cancelled(l, t);
        else
            start(l, t);
    }
}

static void stop_running(struct loop *l, struct transfer *t)
{
    curl.multi_remove_handle(l->multi, t->easy);
    list_remove(l, t);
    end_cancelled(l, t);
}

static void stop_all(struct loop *l)
{
    while (l->running)
        stop_running(l, l->running);
}

static void attend(struct loop *l)
{
    struct transfer *t, *next;
    bool cancelled, running, resume;

    pthread_mutex_lock(&l->lock);
    t = l->attention;
    l->attention = NULL;
    pthread_mutex_unlock(&l->lock);
    for (; t; t = next) {
        pthread_mutex_lock(&l->lock);
        next = t->next_attention;
        t->next_attention = NULL;
        t->in_attention = false;
        cancelled = t->cancelled;
        running = t->state == TRANSFER_RUNNING;
        resume = t->resume;
        t->resume = false;
        if (resume)
            t->paused = false;
        pthread_mutex_unlock(&l->lock);
        if (running && cancelled)
            stop_running(l, t);
        else if (running && resume)
            curl.easy_pause(t->easy, CURLPAUSE_CONT);
        transfer_unref(t);
    }
}

static void finish(struct loop *l, CURL *easy, CURLcode code)
{
    struct transfer *t = NULL;
    struct err *err = NULL;
    int r;

    curl.easy_getinfo(easy, CURLINFO_PRIVATE, &t);
    curl.multi_remove_handle(l->multi, easy);
    list_remove(l, t);
    r = transfer_finish(t, code, &err);
    if (r > 0)
        start(l, t);
    else
        end(l, t, r, err);
}

/* Whoever waits for bytes is told once of all that have come: waking a thread costs more than a piece of libcurl's, which are small. */
static void tell_of_bytes(struct loop *l)
{
    for (struct transfer *t; (t = l->fresh);) {
        pthread_mutex_lock(&l->lock);
        l->fresh = t->next_fresh;
        t->fresh = false;
        if (t->waiter)
            pthread_cond_broadcast(&t->waiter->cond);
        pthread_mutex_unlock(&l->lock);
        transfer_unref(t);
    }
}

static void run_once(struct loop *l)
{
    int running, left;
    CURLMsg *m;

    start_submitted(l);
    attend(l);
    if (atomic_load(&l->client->cancelled))
        stop_all(l);
    curl.multi_perform(l->multi, &running);
    tell_of_bytes(l);
    while ((m = curl.multi_info_read(l->multi, &left))) {
        if (m->msg == CURLMSG_DONE)
            finish(l, m->easy_handle, m->data.result);
    }
    curl.multi_poll(l->multi, NULL, 0, POLL_MS, NULL);
}

static bool open_multi(struct loop *l)
{
    CURLM *multi;

    if (curl_open(NULL) < 0)
        return false;
    multi = curl.multi_init();
    if (!multi)
        abort(); /* out of memory */
    curl.multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 250L);
    pthread_mutex_lock(&l->lock);
    l->multi = multi;
    pthread_mutex_unlock(&l->lock);
    return true;
}

/* Asked before each wait: who stopped it while there was no multi handle could not wake it. */
static bool is_stopped(struct loop *l)
{
    bool stop;

    pthread_mutex_lock(&l->lock);
    stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    return stop;
}

static void *loop_main(void *arg)
{
    struct loop *l = arg;

    if (!open_multi(l))
        return NULL;
    while (!is_stopped(l))
        run_once(l);
    start_submitted(l);
    attend(l);
    stop_all(l);
    tell_of_bytes(l);
    return NULL;
}

/* Signals are for the program's main thread; SIGPIPE is for nobody. */
static int start_thread(struct loop *l, struct err **err)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int e;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, LOOP_STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e = pthread_create(&l->thread, &attr, loop_main, l);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return e == 0 ? 0 : err_errno(err, e, "no thread for the network");
}

int loop_start(struct loop *l, struct http_client *c, bool streams, struct err **err)
{
    int r;

    *l = (struct loop){ .client = c, .streams = streams };
    pthread_mutex_init(&l->lock, NULL);
    r = start_thread(l, err);
    if (r < 0)
        pthread_mutex_destroy(&l->lock);
    l->started = r == 0;
    return r;
}

/* Under the lock. */
static void wake(struct loop *l)
{
    if (l->multi)
        curl.multi_wakeup(l->multi);
}

void loop_wake(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    wake(l);
    pthread_mutex_unlock(&l->lock);
}

void loop_stop(struct loop *l)
{
    if (!l->started)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    wake(l);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    if (l->multi)
        curl.multi_cleanup(l->multi);
    pthread_mutex_destroy(&l->lock);
    l->started = false;
}

void loop_submit(struct loop *l, struct transfer *t, struct waiter *w)
{
    atomic_fetch_add(&t->refs, 1);
    pthread_mutex_lock(&l->lock);
    t->state = TRANSFER_SUBMITTED;
    t->waiter = w;
    t->next = l->submitted;
    l->submitted = t;
    wake(l);
    pthread_mutex_unlock(&l->lock);
}

void loop_attend(struct loop *l, struct transfer *t)
{
    if (t->in_attention || t->state == TRANSFER_DONE)
        return;
    atomic_fetch_add(&t->refs, 1);
    t->in_attention = true;
    t->next_attention = l->attention;
    l->attention = t;
    wake(l);
}

void waiter_init(struct waiter *w)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->cond, &attr);
    pthread_condattr_destroy(&attr);
    w->done = 0;
}

void waiter_done(struct waiter *w)
{
    pthread_cond_destroy(&w->cond);
}

bool waiter_wait(struct waiter *w, struct loop *l, int64_t until_ms)
{
    struct timespec until;
    int64_t wait_ms = until_ms - clock_mono_ms();

    if (wait_ms <= 0)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_cond_timedwait(&w->cond, &l->lock, &until) != ETIMEDOUT;
}
