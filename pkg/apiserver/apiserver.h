/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* apiserver: a Kubernetes API in this process, for kubectl, helm and controllers, without a cluster.
 *
 * HTTPS on one address, objects in SQLite below a data directory. CA, server certificate, admin token and the key of
 * service-account tokens are made at the first start and kept there. The answers are those of kube-apiserver with
 * kube-controller-manager's garbage, namespace and service-account controllers; what runs pods is not here. */
#include "base/base.h"
#include "base/err.h"

struct apiserver;

struct apiserver_options {
    const char *data_dir;   /* made with mode 0700 when absent */
    const char *address;    /* NULL: "127.0.0.1" */
    int port;               /* 0: the port of the last start if it is free, else a free one */
    const char *kubeconfig; /* where to write the kubeconfig (0600); NULL: DATA/kubeconfig */
    int connections_max;    /* 0: APISERVER_CONNECTIONS_MAX; more are answered 429 */
};

/* Returns when the server answers. FORBIDDEN when the data directory is in use, UNSUPPORTED without libmicrohttpd. */
NODISCARD int apiserver_start(const struct apiserver_options *o, struct apiserver **ret, struct err **err);
/* Ends watches, lets running requests finish (5 s at most), closes the store. s may be NULL. */
void apiserver_stop(struct apiserver *s);
DEFINE_CLEANUP(struct apiserver *, apiserver_stop)

const char *apiserver_url(const struct apiserver *s);        /* "https://127.0.0.1:41234"; borrowed */
const char *apiserver_kubeconfig(const struct apiserver *s); /* path; borrowed */
