/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* server: what the parts of one API server share. */
#include <pthread.h>
#include <stdatomic.h>

#include "apiserver/apiserver.h"
#include "apiserver/catalog.h"
#include "apiserver/keys.h"
#include "apiserver/mhd.h"
#include "apiserver/request.h"
#include "apiserver/store.h"

struct api_ips;
struct api_rbac;

struct apiserver {
    struct api_store *store;
    struct api_keys *keys;
    const struct api_mhd *mhd;
    struct MHD_Daemon *daemon;
    char *data_dir, *address, *url, *kubeconfig;
    int port, connections_max;
    atomic_bool stopping;
    atomic_int connections;        /* open */
    atomic_int active;             /* requests that are not over */
    pthread_mutex_t catalog_mutex; /* guards catalog; held for a pointer copy only */
    struct api_catalog *catalog;
    pthread_mutex_t crd_mutex; /* one rebuild of the catalog at a time */
    struct api_ips *ips;       /* cluster addresses and node ports in use */
    struct api_rbac *rbac;
    pthread_t worker;
    bool has_worker;
    atomic_uint_fast64_t requests[6]; /* by the answer's class: [2] is 2xx */
};

struct api_catalog *api_server_catalog(struct apiserver *s); /* a new reference */
void api_server_set_url(struct apiserver *s);                /* from address and port */
/* Reads the CRDs again; called after a CRD changed. */
NODISCARD int api_server_reload(struct apiserver *s, struct err **err);

/* ---- streams: answers that go on (watch, log) ---- */
struct api_stream {
    /* Waits for more and appends it to `out`: 1, or 0 at the end. `gone` says that the client left. */
    int (*next)(struct api_stream *st, bool (*gone)(void *ctx), void *ctx, struct buf *out);
    void (*free)(struct api_stream *st);
};
void api_stream_free(struct api_stream *st);

/* ---- verbs: each answers, or leaves a failure ---- */
int api_discovery_serve(struct api_request *rq, bool *ret_mine);
int api_openapi_serve(struct api_request *rq, bool *ret_mine);
int api_health_serve(struct api_request *rq, bool *ret_mine);
int api_get(struct api_request *rq);
int api_list(struct api_request *rq);
int api_watch(struct api_request *rq);
int api_create(struct api_request *rq);
int api_update(struct api_request *rq);
int api_patch(struct api_request *rq);
int api_delete(struct api_request *rq);
int api_delete_collection(struct api_request *rq);
int api_subresource(struct api_request *rq); /* all but status */
int api_review(struct api_request *rq);      /* authentication and authorization reviews */
