/* SPDX-License-Identifier: Apache-2.0 */
/* The connection and its views. */
#include <assert.h>
#include <errno.h>

#include "kube/kube_int.h"

static void conn_unref(struct kube_conn *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) > 1)
        return;
    http_client_free(c->http);
    kube_secrets_unref(c->secrets);
    kube_discovery_done(&c->discovery);
    kube_config_free(c->config);
    pthread_mutex_destroy(&c->secrets_lock);
    pthread_mutex_destroy(&c->observers_lock);
    pthread_mutex_destroy(&c->sleep_lock);
    pthread_cond_destroy(&c->sleep_cond);
    free(c->base);
    free(c);
}
DEFINE_CLEANUP(struct kube_conn *, conn_unref)

static char *base_url(struct str server)
{
    size_t end = MIN(MIN(str_find_char(server, '?'), str_find_char(server, '#')), server.n);

    while (end > 0 && server.p[end - 1] == '/')
        end--;
    return str_dup(str_sub(server, 0, end));
}

static struct kube_conn *conn_new(const struct kube_config *config)
{
    struct kube_conn *c = xcalloc(1, sizeof(*c));
    pthread_condattr_t attr;

    atomic_init(&c->refs, 1);
    c->config = config_copy(config);
    c->base = base_url(config->server);
    c->secure = str_has_prefix(str_from(c->base), STR("https://"));
    pthread_mutex_init(&c->secrets_lock, NULL);
    pthread_mutex_init(&c->observers_lock, NULL);
    pthread_mutex_init(&c->sleep_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->sleep_cond, &attr);
    pthread_condattr_destroy(&attr);
    kube_discovery_init(&c->discovery);
    return c;
}

static struct kube *view_new(struct kube_conn *c, struct str user, const struct str *groups, size_t n)
{
    struct kube *k = xcalloc(1, sizeof(*k));

    atomic_init(&k->refs, 1);
    atomic_fetch_add(&c->refs, 1);
    k->conn = c;
    k->as = (struct str){ str_dup(user), user.n };
    k->groups = xcalloc(MAX(n, (size_t)1), sizeof(*k->groups));
    for (size_t i = 0; i < n; i++)
        k->groups[i] = (struct str){ str_dup(groups[i]), groups[i].n };
    k->n_groups = n;
    return k;
}

int kube_new(const struct kube_config *config, struct kube **ret, struct err **err)
{
    CLEANUP(conn_unref) struct kube_conn *c = conn_new(config);
    int r = http_client_new(NULL, &c->http, err);

    if (r < 0)
        return r;
    *ret = view_new(c, config->as, config->as_groups, config->n_as_groups);
    return 0;
}

int kube_new_like(struct kube *k, struct kube **ret, struct err **err)
{
    struct kube *other = NULL;
    int r = kube_new(k->conn->config, &other, err);

    if (r < 0)
        return r;
    *ret = kube_as(other, k->as, k->groups, k->n_groups);
    kube_unref(other);
    return 0;
}

void kube_set_fence(struct kube *k, int64_t until_ms)
{
    atomic_store(&k->conn->fence_ms, until_ms);
}

struct kube *kube_ref(struct kube *k)
{
    atomic_fetch_add(&k->refs, 1);
    return k;
}

struct kube *kube_unref(struct kube *k)
{
    if (!k || atomic_fetch_sub(&k->refs, 1) > 1)
        return NULL;
    for (size_t i = 0; i < k->n_groups; i++)
        free((char *)(uintptr_t)k->groups[i].p);
    free(k->groups);
    free((char *)(uintptr_t)k->as.p);
    conn_unref(k->conn);
    free(k);
    return NULL;
}

struct kube *kube_as(struct kube *k, struct str user, const struct str *groups, size_t n_groups)
{
    return view_new(k->conn, user, groups, n_groups);
}

struct kube *kube_as_service_account(struct kube *k, struct str ns, struct str name)
{
    CLEANUP(free_ptr)
    char *user = xasprintf("system:serviceaccount:" STR_FMT ":" STR_FMT, STR_ARG(ns), STR_ARG(name));

    return kube_as(k, str_from(user), NULL, 0);
}

struct str kube_identity(const struct kube *k)
{
    return k->as;
}

void kube_cancel(struct kube *k)
{
    struct kube_conn *c = k->conn;

    pthread_mutex_lock(&c->sleep_lock);
    c->cancelled = true;
    pthread_cond_broadcast(&c->sleep_cond);
    pthread_mutex_unlock(&c->sleep_lock);
    http_client_cancel(c->http);
}

bool kube_conn_sleep(struct kube_conn *c, int64_t ms)
{
    struct timespec until;
    bool cancelled;
    int e = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&c->sleep_lock);
    while (!c->cancelled && e != ETIMEDOUT)
        e = pthread_cond_timedwait(&c->sleep_cond, &c->sleep_lock, &until);
    cancelled = c->cancelled;
    pthread_mutex_unlock(&c->sleep_lock);
    return !cancelled;
}

void kube_add_observer(struct kube *k, kube_observe_fn fn, void *ctx)
{
    struct kube_conn *c = k->conn;
    size_t i = 0;

    pthread_mutex_lock(&c->observers_lock);
    while (i < KUBE_OBSERVERS_MAX && c->observers[i].fn)
        i++;
    assert(i < KUBE_OBSERVERS_MAX);
    c->observers[i] = (struct kube_observer){ fn, ctx };
    pthread_mutex_unlock(&c->observers_lock);
}

void kube_remove_observer(struct kube *k, const void *ctx)
{
    struct kube_conn *c = k->conn;

    pthread_mutex_lock(&c->observers_lock);
    for (size_t i = 0; i < KUBE_OBSERVERS_MAX; i++) {
        if (c->observers[i].fn && c->observers[i].ctx == ctx)
            c->observers[i] = (struct kube_observer){ 0 };
    }
    pthread_mutex_unlock(&c->observers_lock);
}
