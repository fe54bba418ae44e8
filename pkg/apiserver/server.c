/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "apiserver"
#include "apiserver/server.h"

#include <assert.h>
#include <stdlib.h>

#include "apiserver/auth.h"
#include "apiserver/http.h"
#include "apiserver/seed.h"
#include "apiserver/services.h"
#include "apiserver/worker.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"

enum { STOP_WAIT_MS = 5000 };

struct api_catalog *api_server_catalog(struct apiserver *s)
{
    struct api_catalog *c;

    pthread_mutex_lock(&s->catalog_mutex);
    c = api_catalog_ref(s->catalog);
    pthread_mutex_unlock(&s->catalog_mutex);
    return c;
}

int api_server_reload(struct apiserver *s, struct err **err)
{
    struct api_catalog *c = NULL, *old;
    int r;

    pthread_mutex_lock(&s->crd_mutex);
    r = api_catalog_new(s->store, s->catalog, &c, err);
    if (r == 0) {
        pthread_mutex_lock(&s->catalog_mutex);
        old = s->catalog;
        s->catalog = c;
        pthread_mutex_unlock(&s->catalog_mutex);
        api_catalog_unref(old);
    }
    pthread_mutex_unlock(&s->crd_mutex);
    return r;
}

static int open_state(struct apiserver *s, struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(s->data_dir, "store.db");
    int r = fs_make_dirs(s->data_dir, 0700, err);

    if (r < 0)
        return r;
    r = api_store_open(path, &s->store, err);
    if (r < 0)
        return r;
    r = api_keys_open(s->data_dir, s->address, &s->keys, err);
    if (r < 0)
        return r;
    r = api_catalog_new(s->store, NULL, &s->catalog, err);
    if (r < 0)
        return r;
    r = api_ips_load(s->ips, s->store, err);
    return r < 0 ? r : api_seed(s, err);
}

static int read_port(struct apiserver *s)
{
    CLEANUP(free_ptr) char *path = fs_join(s->data_dir, "port");
    CLEANUP(buf_done) struct buf b = BUF_INIT(16);
    int64_t port;

    if (fs_read_file(path, &b, NULL) < 0 || !str_to_int64(str_trim(buf_str(&b)), &port) || port < 1 ||
        port > 65535)
        return 0;
    return (int)port;
}

static int write_port(struct apiserver *s, struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(s->data_dir, "port");
    CLEANUP(free_ptr) char *text = xasprintf("%d\n", s->port);

    return fs_write_file(path, str_from(text), 0600, err);
}

static bool is_ipv6(const char *address)
{
    return strchr(address, ':') != NULL;
}

static int start(struct apiserver *s, const struct apiserver_options *o, struct err **err)
{
    int r = api_mhd_open(&s->mhd, err);

    if (r < 0)
        return r;
    r = open_state(s, err);
    if (r < 0)
        return err_wrap(err, r, "%s", s->data_dir);
    /* Requests ask for the URL as soon as the socket is open. */
    r = api_http_start(s, o->port, read_port(s), err);
    if (r < 0)
        return r;
    s->kubeconfig = o->kubeconfig ? xstrdup(o->kubeconfig) : fs_join(s->data_dir, "kubeconfig");
    r = api_keys_write_kubeconfig(s->keys, s->kubeconfig, s->url, err);
    if (r < 0)
        return r;
    r = write_port(s, err);
    return r < 0 ? r : api_worker_start(s, err);
}

void api_server_set_url(struct apiserver *s)
{
    s->url = xasprintf(is_ipv6(s->address) ? "https://[%s]:%d" : "https://%s:%d", s->address, s->port);
}

int apiserver_start(const struct apiserver_options *o, struct apiserver **ret, struct err **err)
{
    CLEANUP(apiserver_stop) struct apiserver *s = xcalloc(1, sizeof(*s));
    int r;

    assert(o && o->data_dir && ret);
    s->data_dir = xstrdup(o->data_dir);
    s->address = xstrdup(o->address ? o->address : "127.0.0.1");
    s->connections_max = o->connections_max > 0 ? o->connections_max : API_CONNECTIONS_MAX;
    s->ips = api_ips_new();
    s->rbac = api_rbac_new();
    pthread_mutex_init(&s->catalog_mutex, NULL);
    pthread_mutex_init(&s->crd_mutex, NULL);
    r = start(s, o, err);
    if (r < 0)
        return r;
    log_debug("API server started", LOG_Z("url", s->url));
    *ret = TAKE(s);
    return 0;
}

void apiserver_stop(struct apiserver *s)
{
    if (!s)
        return;
    s->stopping = true;
    api_http_stop(s, STOP_WAIT_MS);
    api_worker_stop(s);
    api_catalog_unref(s->catalog);
    api_store_close(s->store);
    api_keys_free(s->keys);
    api_ips_free(s->ips);
    api_rbac_free(s->rbac);
    pthread_mutex_destroy(&s->catalog_mutex);
    pthread_mutex_destroy(&s->crd_mutex);
    free(s->data_dir);
    free(s->address);
    free(s->url);
    free(s->kubeconfig);
    free(s);
}

const char *apiserver_url(const struct apiserver *s)
{
    return s->url;
}

const char *apiserver_kubeconfig(const struct apiserver *s)
{
    return s->kubeconfig;
}
