/* SPDX-License-Identifier: Apache-2.0 */
/* Putting it together: the table of kinds, workers, starting and stopping. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "controller/controller_int.h"

#define LOG_MODULE "controller"
#include "base/log.h"

#define WORKERS 8
#define WORKER_STACK (8 * MIB)
#define RECONCILE_MEMORY_MAX (1024 * MIB)
#define LEASE_MS 15000
#define RENEW_MS 10000
#define RETRY_MS 2000
#define DRAIN_MS 1000
#define END_MS 700 /* after their requests were cancelled, workers have so long to notice */

/* The controller that signals stop; one at a time. */
static atomic_int signal_fd = -1;

static const struct metric m_reconciles = {
    "pintle_reconcile_total", "Reconciles by result.", METRIC_COUNTER, { "kind", "result" }, NULL
};
static const struct metric m_seconds = {
    "pintle_reconcile_duration_seconds", "How long reconciles take.", METRIC_HISTOGRAM, { "kind" }, NULL
};
static const struct metric m_queue = {
    "pintle_queue_objects", "Objects in the work queue by state.", METRIC_GAUGE, { "state" }, NULL
};
static const struct metric m_requests = {
    "pintle_kube_requests_total", "Requests to the API server.", METRIC_COUNTER, { "verb", "code" }, NULL
};
static const struct metric m_request_seconds = { "pintle_kube_request_duration_seconds",
                                                 "How long the API server takes.",
                                                 METRIC_HISTOGRAM,
                                                 { "verb" },
                                                 NULL };
static const struct metric m_objects = {
    "pintle_watch_objects", "Objects known by watch.", METRIC_GAUGE, { "watch" }, NULL
};
static const struct metric m_lists = {
    "pintle_watch_lists_total", "Lists by watch.", METRIC_GAUGE, { "watch" }, NULL
};
static const struct metric m_restarts = {
    "pintle_watch_starts_total", "Watches opened by watch.", METRIC_GAUGE, { "watch" }, NULL
};
static const struct metric m_failures = {
    "pintle_watch_failures_total", "Failed lists and watches by watch.", METRIC_GAUGE, { "watch" }, NULL
};
static const struct metric m_leader = {
    "pintle_leader", "1 when this process is the leader.", METRIC_GAUGE, { NULL }, NULL
};
static const struct metric m_ready = {
    "pintle_ready", "1 when every watch has listed.", METRIC_GAUGE, { NULL }, NULL
};

/* ---- making one --------------------------------------------------------------------------------------------------- */

static void count_request(void *ctx, const struct kube_exchange *x)
{
    struct controller *c = ctx;
    char code[16];

    snprintf(code, sizeof(code), "%d", x->code);
    metrics_add(c->metrics, &m_requests, METRIC_LABELS(str_from(x->verb), str_from(x->code ? code : "error")),
                1);
    if (strcmp(x->verb, "watch") != 0)
        metrics_observe(c->metrics, &m_request_seconds, METRIC_LABELS(str_from(x->verb)),
                        (double)x->took_ms / 1000);
}

static void copy_options(struct controller *c, const struct controller_options *o)
{
    c->workers = o->workers ? o->workers : WORKERS;
    c->listen = o->listen ? xstrdup(o->listen) : NULL;
    c->drain_ms = o->drain_ms > 0 ? o->drain_ms : DRAIN_MS;
    c->cancel = o->cancel;
    c->cancel_ctx = o->cancel_ctx;
    c->signals = o->signals;
    c->election_options = (struct election_options){ .ns = arena_dup(c->memory, o->lease_ns),
                                                     .name = arena_dup(c->memory, o->lease_name),
                                                     .identity = arena_dup(c->memory, o->identity),
                                                     .lease_ms = o->lease_ms > 0 ? o->lease_ms : LEASE_MS,
                                                     .renew_ms = o->renew_ms > 0 ? o->renew_ms : RENEW_MS,
                                                     .retry_ms = o->retry_ms > 0 ? o->retry_ms : RETRY_MS };
}

static bool elects(const struct controller *c)
{
    return c->election_options.ns.n > 0 && c->election_options.name.n > 0;
}

static int check_options(const struct controller *c, struct err **err)
{
    const struct election_options *o = &c->election_options;

    if (elects(c) && (o->lease_ms <= o->renew_ms || (double)o->renew_ms <= (double)o->retry_ms * 1.2))
        return err_set(err, ERRC_INVALID,
                       "leader election: lease > renew deadline > 1.2 x retry period is wanted");
    return 0;
}

static int find_kind(const struct controller *c, const char *name)
{
    for (size_t i = 0; i < c->n_kinds; i++) {
        if (strcmp(c->kinds[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static int add_kind(struct controller *c, const struct controller_kind *k, struct err **err)
{
    if (find_kind(c, k->name) >= 0)
        return err_set(err, ERRC_INVALID, "two kinds are named %s", k->name);
    c->kinds[c->n_kinds++] = (struct kind){ xstrdup(k->name), k->reconcile, k->ctx };
    for (size_t i = 0; i < k->n_watches; i++) {
        int r;

        if (map_has(&c->by_name, str_from(k->watches[i].name)))
            return err_set(err, ERRC_INVALID, "two watches are named %s", k->watches[i].name);
        r = controller_add_watch(c, k->name, &k->watches[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

int controller_new(const struct controller_options *o, const struct controller_kind *kinds, size_t n_kinds,
                   struct controller **ret, struct err **err)
{
    CLEANUP(controller_free) struct controller *c = xcalloc(1, sizeof(*c));
    unsigned per_namespace;
    int r;

    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->cond, NULL);
    c->kube = kube_ref(o->kube);
    c->memory = arena_new(64 * KIB);
    copy_options(c, o);
    c->metrics = metrics_new();
    per_namespace = o->workers_namespace ? o->workers_namespace : MAX(c->workers / 2, 1U);
    c->queue = queue_new(per_namespace);
    c->kinds = xcalloc(MAX(n_kinds, (size_t)1), sizeof(*c->kinds));
    c->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->stop_fd < 0)
        return err_errno(err, errno, "eventfd");
    r = check_options(c, err);
    for (size_t i = 0; r == 0 && i < n_kinds; i++)
        r = add_kind(c, &kinds[i], err);
    if (r < 0)
        return r;
    kube_add_observer(c->kube, count_request, c);
    *ret = TAKE(c);
    return 0;
}

static void join_all(struct controller *c)
{
    for (size_t i = 0; i < c->n_threads; i++)
        pthread_join(c->threads[i], NULL);
    c->n_threads = 0;
    for (size_t i = 0; i < c->n_informers; i++)
        informer_join(c->informers[i]);
}

void controller_free(struct controller *c)
{
    if (!c)
        return;
    if (c->abandoned)
        join_all(c);
    for (size_t i = 0; i < c->n_informers; i++)
        informer_free(c->informers[i]);
    free(c->informers);
    map_done(&c->by_name);
    queue_free(c->queue);
    election_free(c->election);
    if (c->kube)
        kube_remove_observer(c->kube, c);
    kube_unref(c->kube);
    metrics_free(c->metrics);
    for (size_t i = 0; i < c->n_kinds; i++)
        free(c->kinds[i].name);
    free(c->kinds);
    free(c->threads);
    free(c->listen);
    arena_free(c->memory);
    if (c->stop_fd > 0)
        close(c->stop_fd);
    if (c->election_fd > 0)
        close(c->election_fd);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->cond);
    free(c);
}

/* ---- watches ------------------------------------------------------------------------------------------------------ */

static struct informer *fitting(struct controller *c, const struct controller_watch *w)
{
    for (size_t i = 0; i < c->n_informers; i++) {
        if (informer_fits(c->informers[i], w))
            return c->informers[i];
    }
    return NULL;
}

int controller_add_watch(struct controller *c, const char *kind, const struct controller_watch *w,
                         struct err **err)
{
    int k = find_kind(c, kind);
    struct informer *i;
    bool known, start = false;

    if (k < 0 || !w->name || w->api_version.n == 0 || w->kind.n == 0)
        return err_set(err, ERRC_INVALID, "watch %s of %s: kind, name or apiVersion is missing",
                       w->name ? w->name : "?", kind);
    pthread_mutex_lock(&c->lock);
    known = map_has(&c->by_name, str_from(w->name));
    i = known ? NULL : fitting(c, w);
    if (!known && !i) {
        i = informer_new(c, w);
        ARRAY_GROW(c->informers, c->cap_informers, c->n_informers + 1);
        c->informers[c->n_informers++] = i;
        start = c->running;
    }
    if (i)
        map_put(&c->by_name, str_from(w->name), i);
    pthread_mutex_unlock(&c->lock);
    if (i)
        informer_subscribe(i, (unsigned)k, w);
    if (start)
        informer_start(i);
    return 0;
}

void controller_remove_watch(struct controller *c, const char *name)
{
    struct informer *i;
    void *other;

    pthread_mutex_lock(&c->lock);
    i = map_remove(&c->by_name, str_from(name));
    if (i)
        informer_unsubscribe(i, name);
    for (size_t k = 0; i && map_next(&c->by_name, &k, NULL, &other);) {
        if (other == i)
            i = NULL; /* another watch shares it */
    }
    for (size_t k = 0; i && k < c->n_informers; k++) {
        if (c->informers[k] == i)
            c->informers[k] = c->informers[--c->n_informers];
    }
    pthread_mutex_unlock(&c->lock);
    if (!i)
        return;
    informer_stop(i);
    informer_join(i);
    informer_free(i);
}

static bool all_synced(struct controller *c)
{
    bool all = true;

    for (size_t i = 0; i < c->n_informers && all; i++)
        all = informer_is_synced(c->informers[i]);
    return all;
}

void controller_synced(struct controller *c)
{
    pthread_mutex_lock(&c->lock);
    if (all_synced(c))
        atomic_store(&c->ready, true);
    pthread_cond_broadcast(&c->cond);
    pthread_mutex_unlock(&c->lock);
    eventfd_write(c->stop_fd, 1); /* wakes controller_run() */
}

bool controller_is_ready(const struct controller *c)
{
    return atomic_load(&c->ready);
}

bool controller_is_leader(const struct controller *c)
{
    return atomic_load(&c->leader);
}

struct metrics *controller_metrics(struct controller *c)
{
    return c->metrics;
}

void controller_wake_kind(struct controller *c, unsigned kind, struct controller_key key, bool low)
{
    queue_add(c->queue, kind, key, low);
}

void controller_enqueue(struct controller *c, const char *kind, struct controller_key key)
{
    controller_enqueue_after(c, kind, key, 0);
}

void controller_enqueue_after(struct controller *c, const char *kind, struct controller_key key,
                              int64_t after_ms)
{
    int k = find_kind(c, kind);

    if (k >= 0)
        queue_add_after(c->queue, (unsigned)k, key, after_ms);
}

void controller_update_gauges(struct controller *c)
{
    struct queue_figures q = queue_figures(c->queue);

    metrics_set(c->metrics, &m_queue, METRIC_LABELS(STR("waiting")), (double)q.waiting);
    metrics_set(c->metrics, &m_queue, METRIC_LABELS(STR("delayed")), (double)q.delayed);
    metrics_set(c->metrics, &m_queue, METRIC_LABELS(STR("running")), (double)q.running);
    metrics_set(c->metrics, &m_leader, NULL, controller_is_leader(c));
    metrics_set(c->metrics, &m_ready, NULL, controller_is_ready(c));
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->n_informers; i++) {
        struct informer *in = c->informers[i];
        const struct str *labels = METRIC_LABELS(str_from(in->w.name));
        struct kube_reflector_figures f = { 0 };

        if (in->reflector)
            f = kube_reflector_figures(in->reflector);
        metrics_set(c->metrics, &m_objects, labels, (double)informer_n(in));
        metrics_set(c->metrics, &m_lists, labels, (double)f.lists);
        metrics_set(c->metrics, &m_restarts, labels, (double)f.watches);
        metrics_set(c->metrics, &m_failures, labels, (double)f.failures);
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- workers ------------------------------------------------------------------------------------------------------ */

static void report(struct controller *c, const struct kind *k, int r, const struct err *err, int64_t took_ms)
{
    const char *result = r >= 0 ? "ok" : r == -ERRC_CANCELLED ? "cancelled" : "error";

    metrics_add(c->metrics, &m_reconciles, METRIC_LABELS(str_from(k->name), str_from(result)), 1);
    metrics_observe(c->metrics, &m_seconds, METRIC_LABELS(str_from(k->name)), (double)took_ms / 1000);
    if (r < 0 && r != -ERRC_CANCELLED)
        log_warn("reconcile failed", LOG_INT("took_ms", took_ms), LOG_ERR(err));
    else
        log_debug("reconciled", LOG_INT("took_ms", took_ms));
}

static void work(struct controller *c, const struct queue_task *t)
{
    CLEANUP(arena_free) struct arena *a = arena_new(RECONCILE_MEMORY_MAX);
    CLEANUP(err_free) struct err *err = NULL;
    const struct kind *k = &c->kinds[t->kind];
    CLEANUP(free_ptr)
    char *context = xasprintf("%s " STR_FMT "%s" STR_FMT, k->name, STR_ARG(t->key.ns), t->key.ns.n ? "/" : "",
                              STR_ARG(t->key.name));
    struct controller_call call = { c, c->kube, a, t->key, t->failures };
    struct controller_result result = { 0 };
    int64_t start = clock_mono_ms();
    int r;

    log_set_context(str_from(context));
    r = k->reconcile(k->ctx, &call, &result, &err);
    report(c, k, r, err, clock_mono_ms() - start);
    log_set_context(STR_NONE);
    queue_done(c->queue, t, r < 0 ? (enum errc) - r : ERRC_NONE, err_retry_after_ms(err),
               result.requeue_after_ms);
}

static void *worker_main(void *arg)
{
    struct controller *c = arg;
    struct queue_task t;

    while (queue_take(c->queue, &t))
        work(c, &t);
    atomic_fetch_sub(&c->n_working, 1);
    return NULL;
}

static int start_workers(struct controller *c, struct err **err)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int e = 0;

    c->threads = xcalloc(c->workers, sizeof(*c->threads));
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, WORKER_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (unsigned i = 0; i < c->workers && e == 0; i++) {
        atomic_fetch_add(&c->n_working, 1);
        e = pthread_create(&c->threads[c->n_threads], &attr, worker_main, c);
        if (e == 0)
            c->n_threads++;
        else
            atomic_fetch_sub(&c->n_working, 1);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return e == 0 ? 0 : err_errno(err, e, "no thread for a worker");
}

static bool workers_end(struct controller *c, int64_t ms)
{
    int64_t until_ms = clock_mono_ms() + ms;

    while (atomic_load(&c->n_working) > 0 && clock_mono_ms() < until_ms)
        usleep(2000);
    return atomic_load(&c->n_working) == 0;
}

/* ---- running ------------------------------------------------------------------------------------------------------ */

void controller_stop(struct controller *c)
{
    atomic_store(&c->stop, true);
    eventfd_write(c->stop_fd, 1);
}

static void on_signal(int number)
{
    int fd = atomic_load(&signal_fd);
    int saved = errno;

    UNUSED(number);
    if (fd >= 0)
        eventfd_write(fd, 1ULL << 32); /* more than anybody else adds: so it is told apart */
    errno = saved;
}

static void take_signals(struct controller *c)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    if (!c->signals)
        return;
    atomic_store(&signal_fd, c->stop_fd);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

/* Until something happens or the time is over. */
static void wait_event(struct controller *c, int64_t ms)
{
    struct pollfd p = { .fd = c->stop_fd, .events = POLLIN };
    eventfd_t n = 0;

    if (poll(&p, 1, (int)MIN(MAX(ms, (int64_t)0), (int64_t)60000)) > 0 && eventfd_read(c->stop_fd, &n) == 0 &&
        n >= 1ULL << 32)
        atomic_store(&c->stop, true);
}

static bool must_stop(struct controller *c)
{
    return atomic_load(&c->stop);
}

static void start_informers(struct controller *c)
{
    struct informer **all;
    size_t n;

    pthread_mutex_lock(&c->lock);
    c->running = true;
    n = c->n_informers;
    all = xcalloc(MAX(n, (size_t)1), sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i] = c->informers[i];
    if (n == 0)
        atomic_store(&c->ready, true);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < n; i++)
        informer_start(all[i]);
    free(all);
}

/* ---- election: a thread of its own, so that a request that hangs does not hold up a stop ------------------------- */

static bool election_pause(struct controller *c, int64_t ms)
{
    struct pollfd p = { .fd = c->election_fd, .events = POLLIN };

    return poll(&p, 1, (int)MIN(ms, (int64_t)60000)) == 0 && !atomic_load(&c->stop);
}

static void won(struct controller *c)
{
    kube_set_fence(c->kube, election_until_ms(c->election));
    if (!atomic_exchange(&c->leader, true))
        eventfd_write(c->stop_fd, 1);
}

/* Nothing is written from here on; the process must end. */
static void lost(struct controller *c)
{
    kube_set_fence(c->kube, 1);
    atomic_store(&c->lost, true);
    eventfd_write(c->stop_fd, 1);
}

static void *election_main(void *arg)
{
    struct controller *c = arg;
    const struct election_options *o = &c->election_options;
    int64_t renewed_ms = 0;
    bool leader = false;

    do {
        if ((!leader || clock_mono_ms() < election_until_ms(c->election)) && election_try(c->election)) {
            leader = true;
            renewed_ms = clock_mono_ms();
            won(c);
        } else if (leader &&
                   clock_mono_ms() >= MIN(renewed_ms + o->renew_ms, election_until_ms(c->election))) {
            lost(c);
            break;
        }
    } while (election_pause(c, leader ? o->retry_ms : election_pause_ms(c->election)));
    return NULL;
}

static int start_election(struct controller *c, struct err **err)
{
    sigset_t all, old;
    int r, e;

    if (!elects(c)) {
        atomic_store(&c->leader, true);
        return 0;
    }
    r = election_new(c->kube, &c->election_options, &c->election, err);
    if (r < 0)
        return r;
    c->election_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e = pthread_create(&c->election_thread, NULL, election_main, c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (e != 0)
        return err_errno(err, e, "no thread for the leader election");
    c->election_running = true;
    return 0;
}

static void stop_election(struct controller *c, bool release)
{
    if (!c->election_running)
        return;
    eventfd_write(c->election_fd, 1);
    election_stop(c->election);
    pthread_join(c->election_thread, NULL);
    c->election_running = false;
    if (release)
        election_release(c->election);
}

/* Leads until it must stop. UNAVAILABLE when the lease could not be kept. */
static int lead(struct controller *c, struct err **err)
{
    const struct election_options *o = &c->election_options;

    while (!must_stop(c) && !atomic_load(&c->lost))
        wait_event(c, 60000);
    if (!atomic_load(&c->lost))
        return 0;
    return err_set(err, ERRC_UNAVAILABLE, "the lease " STR_FMT "/" STR_FMT " could not be renewed",
                   STR_ARG(o->ns), STR_ARG(o->name));
}

/* Everything that runs ends. At once: nothing may be written any more. */
static void wind_down(struct controller *c, bool at_once)
{
    queue_stop(c->queue);
    pthread_mutex_lock(&c->lock);
    c->running = false;
    for (size_t i = 0; i < c->n_informers; i++)
        informer_stop(c->informers[i]);
    pthread_mutex_unlock(&c->lock);
    IGNORE_ERROR(at_once || workers_end(c, c->drain_ms) ? 0 : -1);
    kube_cancel(c->kube);
    if (c->cancel)
        c->cancel(c->cancel_ctx);
    if (!workers_end(c, END_MS)) {
        log_warn("a reconcile did not end in time");
        stop_election(c, false);
        c->abandoned = true;
        return;
    }
    join_all(c);
    stop_election(c, !at_once);
}

static int run(struct controller *c, struct err **err)
{
    int r;

    start_informers(c);
    while (!controller_is_ready(c) && !must_stop(c))
        wait_event(c, 1000);
    r = must_stop(c) ? 0 : start_election(c, err);
    while (r == 0 && !controller_is_leader(c) && !must_stop(c))
        wait_event(c, 1000);
    if (r == 0 && !must_stop(c)) {
        log_info("reconciling", LOG_INT("workers", c->workers));
        r = start_workers(c, err);
        if (r == 0)
            r = lead(c, err);
    }
    wind_down(c, r < 0);
    atomic_store(&c->leader, false);
    return r;
}

int controller_run(struct controller *c, struct err **err)
{
    int r = 0;

    take_signals(c);
    if (c->listen)
        r = web_start(c, c->listen, &c->web, err);
    if (r == 0)
        r = run(c, err);
    web_stop(c->web);
    c->web = NULL;
    if (c->signals)
        atomic_store(&signal_fd, -1);
    return r;
}
