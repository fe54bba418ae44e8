/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The inside of kube: the resolved configuration, the connection that all views share, one request on its way. */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/encode.h"
#include "base/limits.h"
#include "base/map.h"
#include "http/http.h"
#include "kube/kube.h"

/* ---- configuration ------------------------------------------------------------------------------------------------ */

struct kube_exec { /* a credential plugin */
    struct str command, api_version, install_hint;
    struct str *args;
    size_t n_args;
    struct kube_exec_env {
        struct str name, value;
    } * env;
    size_t n_env;
    bool provide_cluster_info;
    struct value cluster_config; /* the cluster's extension client.authentication.k8s.io/exec */
};

/* Strings live in `memory`; all are NUL-terminated; empty is "not set". */
struct kube_config {
    struct arena *memory;
    struct str server, ns, context;
    struct str ca_pem, ca_file, server_name, proxy;
    bool insecure, has_proxy, compress;
    struct str cert_pem, key_pem, cert_file, key_file;
    struct str token, token_file, user, password;
    struct str as;
    struct str *as_groups;
    size_t n_as_groups;
    struct kube_exec *exec; /* NULL: none */
};
struct kube_config *config_copy(const struct kube_config *c) NODISCARD;
/* The entry of a kubeconfig list, with where it came from. */
struct config_entry {
    struct str name;
    struct value v;  /* the member "cluster", "user" or "context" */
    struct str file; /* for messages */
    struct str dir;  /* for relative paths; p NULL when the text is not a file */
};
NODISCARD int config_read_cluster(struct kube_config *c, const struct config_entry *e, struct err **err);
NODISCARD int config_read_user(struct kube_config *c, const struct config_entry *e, struct err **err);
NODISCARD int config_refuse_untrusted(const struct config_entry *e, bool is_user, struct err **err);

/* What a request needs to prove who we are, at one moment. Shared by reference. */
struct kube_secrets {
    atomic_int refs;
    struct arena *memory;
    struct str ca_pem, cert_pem, key_pem, token;
    int64_t expires_s; /* wall clock; 0: never */
};
void kube_secrets_unref(struct kube_secrets *s);
DEFINE_CLEANUP(struct kube_secrets *, kube_secrets_unref)

/* Runs the plugin; token or certificate land in `s`. */
NODISCARD int kube_exec_run(const struct kube_config *c, struct kube_secrets *s, struct err **err);

/* ---- the connection ----------------------------------------------------------------------------------------------- */

struct kube_discovery {
    pthread_mutex_t
        asking; /* taken before lock: who misses a kind waits for the answer that another has asked for */
    pthread_mutex_t lock;
    struct arena *memory; /* of the kinds; never shrinks while the client lives */
    struct map kinds;     /* "apiVersion kind" -> struct kube_kind */
    struct map asked;     /* apiVersion -> struct asked */
    bool complete;        /* everything was asked */
    int64_t complete_ms;
    struct kube_resource *resources; /* of the complete discovery, in its order */
    size_t n_resources, cap_resources;
    struct str *versions; /* for Capabilities, sorted */
    size_t n_versions, cap_versions;
    struct map version_set;
};
void kube_discovery_init(struct kube_discovery *d);
void kube_discovery_done(struct kube_discovery *d);

#define KUBE_OBSERVERS_MAX 4

struct kube_conn {
    atomic_int refs;
    struct kube_config *config;
    struct http_client *http;
    bool secure; /* https: credentials are sent */
    char *base;  /* server URL without a trailing slash */

    pthread_mutex_t secrets_lock;
    struct kube_secrets *secrets;
    int64_t secrets_ms; /* when they were read, monotonic */

    struct kube_discovery discovery;
    _Atomic int64_t fence_ms; /* 0: none */
    pthread_mutex_t observers_lock;
    struct kube_observer {
        kube_observe_fn fn; /* NULL: free */
        void *ctx;
    } observers[KUBE_OBSERVERS_MAX];

    pthread_mutex_t sleep_lock;
    pthread_cond_t sleep_cond;
    bool cancelled; /* guarded by sleep_lock */
};

struct kube {
    atomic_int refs;
    struct kube_conn *conn;
    struct str as; /* impersonated user; owned */
    struct str *groups;
    size_t n_groups;
};

/* The present secrets; a reference. `used` (or NULL) was refused with 401: something newer is wanted. */
NODISCARD int kube_secrets_get(struct kube_conn *c, const struct kube_secrets *used,
                               struct kube_secrets **ret, struct err **err);
/* False when the client was cancelled meanwhile. */
bool kube_conn_sleep(struct kube_conn *c, int64_t ms);

/* ---- one request on its way --------------------------------------------------------------------------------------- */

#define KUBE_HEADERS_MAX 24
struct kube_exchange_state {
    struct kube *k;
    const struct kube_request *rq; /* NULL for raw paths */
    const char *verb;
    struct kube_ref ref; /* completed from the object */
    const struct kube_kind *kind;
    struct buf url; /* absolute */
    struct buf body;
    struct kube_secrets *secrets;
    struct http_header headers[KUBE_HEADERS_MAX];
    size_t n_headers;
    struct http_credentials credentials;
    struct http_tls tls;
    struct http_request http;
    int64_t until_ms;
    int attempts;
    bool once;      /* a raw path: one attempt */
    bool refreshed; /* secrets were read again after a 401 */
    int watch_s;    /* a watch that the server shall end after so long; 0: none */
};
/* Fills everything but the connection's answer. */
NODISCARD int exchange_init(struct kube_exchange_state *x, struct kube *k, const struct kube_request *rq,
                            struct err **err);
/* The same for a watch from rq->resource_version on; rq is a list. */
NODISCARD int exchange_init_watch(struct kube_exchange_state *x, struct kube *k,
                                  const struct kube_request *rq, int watch_s, struct err **err);
NODISCARD int exchange_init_raw(struct kube_exchange_state *x, struct kube *k, const char *path,
                                const char *accept, struct err **err);
/* Builds x->http from the present secrets: before every attempt. */
NODISCARD int exchange_arm(struct kube_exchange_state *x, struct err **err);
void exchange_done(struct kube_exchange_state *x);
DEFINE_CLEANUP_VALUE(struct kube_exchange_state, exchange_done)
/* After an answer or a failed attempt: 1 when it shall be sent again (the pause is over), else 0. */
int exchange_again(struct kube_exchange_state *x, int r, const struct http_response *res,
                   const struct err *e);
void exchange_observe(const struct kube_exchange_state *x, int code, int64_t took_ms);
/* The object of a 2xx answer, or its Status as an error. */
NODISCARD int exchange_decode(const struct kube_exchange_state *x, struct arena *a,
                              const struct http_response *res, struct value *ret, struct err **err);
/* Sends until it is over. */
NODISCARD int exchange_run(struct kube_exchange_state *x, struct http_response *ret, struct err **err);
void exchange_describe(const struct kube_exchange_state *x, struct buf *out); /* "create Secret default/x" */

/* A failure Status (or whatever the server sent) as an error. `what` goes in front. */
int kube_status_error(int code, struct str body, int64_t retry_after_ms, bool is_secret, struct err **err);
/* The same from a parsed Status: an ERROR event of a watch. */
int kube_status_value_error(int code, struct value status, int64_t retry_after_ms, bool is_secret,
                            struct err **err);

/* A watch, opened; a refusal is the Status' error. */
NODISCARD int watch_open(struct kube *k, const struct kube_request *list, int watch_s,
                         struct http_stream **ret, struct err **err);
/* Reads once: events into `a` through `take`, which returns 0 to go on. 1 when something came, 0 at the end of the
 * stream, TIMEOUT when nothing came, what `take` returned, or the failure. */
typedef int (*watch_take_fn)(void *ctx, struct kube_watch_event *e, struct err **err);
NODISCARD int watch_read(struct http_stream *s, struct kube_watch_parser *p, int64_t wait_ms,
                         watch_take_fn take, void *ctx, struct err **err);
/* The error of an ERROR event. */
int watch_event_error(const struct kube_watch_event *e, struct err **err);

/* Paths and queries. */
NODISCARD int path_build(const struct kube_kind *kind, const struct kube_ref *ref, struct str subresource,
                         struct buf *out, struct err **err);
void query_add(struct buf *url, const char *name, struct str value); /* nothing when the value is empty */
void query_add_int(struct buf *url, const char *name, int64_t value);

/* Built-in kinds that are known without asking; NULL when it is none. */
extern const struct kube_kind kube_builtin_kinds[];
extern const size_t kube_n_builtin_kinds;
int kube_kind_cmp(struct str api_version, struct str kind, const struct kube_kind *k);
const struct kube_kind *kube_builtin_kind(struct str api_version, struct str kind);
