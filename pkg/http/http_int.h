/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The inside of http: transfers, and the loops that run them.
 *
 * A transfer copies all it needs from the request, so the caller can go away at any moment. It has two owners, the caller
 * and (from submit to its end) the loop. What both touch is guarded by the loop's lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/encode.h"
#include "http/curl.h"
#include "http/http.h"

struct loop {
    struct http_client *client;
    bool streams; /* this loop is for streams */
    bool started; /* by loop_start(), until loop_stop() */
    pthread_t thread;
    pthread_mutex_t lock;
    CURLM *
        multi; /* the thread's; NULL until libcurl is open. Guarded by the lock, as are those that are shared below */
    struct transfer *submitted; /* waiting to be started; linked by next */
    struct transfer *running;   /* linked by next and prev; the loop's thread alone */
    struct transfer *attention; /* to be resumed or ended; linked by next_attention */
    struct transfer
        *fresh; /* they have bytes that nobody was told of; linked by next_fresh; the loop's thread alone */
    size_t n_running;
    long connections_host; /* what the multi handle was told */
    bool stop;
};

struct http_client {
    char *user_agent;
    size_t connections_host;
    struct loop exchanges, streams;
    pthread_mutex_t lock;
    bool streams_started;
    atomic_bool cancelled;
    atomic_bool saw_h1, saw_h2; /* over TLS: what servers speak */
    atomic_int epoch;           /* moves when a connection is thought dead: later requests do not use it */
};

/* Wakes those who wait for one or several transfers. On the waiter's stack; guarded by the loop's lock. */
struct waiter {
    pthread_cond_t cond;
    size_t done; /* transfers that ended */
};

enum transfer_state { TRANSFER_NEW, TRANSFER_SUBMITTED, TRANSFER_RUNNING, TRANSFER_DONE };

struct transfer {
    struct loop *loop;
    struct transfer *next, *prev, *next_attention;
    atomic_int refs;

    /* the request, copied; constant after transfer_new() */
    struct arena *memory;
    struct http_request rq;
    struct http_credentials credentials;
    struct http_tls tls;
    bool has_tls;
    struct str first_url; /* whose origin the request's own headers belong to */
    bool stream;
    int epoch;
    int64_t until_ms; /* monotonic */
    int redirects;    /* followed at most */

    /* one hop; the loop's thread, and before submit the caller's */
    CURL *easy;
    struct curl_slist *headers, *connect_to;
    char *url;
    int hops;
    size_t sent;
    char reason[CURL_ERROR_SIZE];
    struct sockaddr_storage peer; /* the first address that was tried */
    int status;
    char status_text[64];
    struct str_list {
        struct http_header *items;
        size_t n, cap;
    } answer; /* strings are owned */
    size_t header_bytes;
    struct buf body;
    int64_t body_bytes;
    bool enough; /* the rest of a refusal is not wanted */
    bool proxied;
    int fail_code; /* a callback ended it: an errc, and the text */
    char fail_text[160];

    /* guarded by loop->lock */
    enum transfer_state state;
    struct waiter *waiter; /* NULL: nobody waits */
    struct transfer *next_fresh;
    bool fresh; /* among the loop's */
    bool cancelled, in_attention, paused, resume;
    bool headers_done; /* the last hop's status and headers are complete */
    struct buf queue;  /* for a sink or a stream's reader */
    int r;
    struct err *err;
};

/* transfer.c. INVALID for a request that cannot be sent. */
NODISCARD int transfer_new(struct http_client *c, const struct http_request *rq, bool stream,
                           struct transfer **ret, struct err **err);
void transfer_unref(struct transfer *t);
DEFINE_CLEANUP(struct transfer *, transfer_unref)
/* What came of a hop: 1 when there is another one (already prepared), 0 or a failure when it is over. */
NODISCARD int transfer_finish(struct transfer *t, CURLcode code, struct err **err);
int transfer_status_error(const struct transfer *t, struct err **err);
bool transfer_is_accepted(const struct transfer *t, int status); /* is this status an answer? */
bool transfer_is_redirect(const struct transfer *t);
void transfer_suspect(struct transfer *t); /* its connection no longer answers */
const char *transfer_method(const struct transfer *t);

/* failure.c: the error of a transfer that libcurl gave up. */
int transfer_failed(const struct transfer *t, CURLcode code, struct err **err);

/* callbacks.c */
void transfer_set_callbacks(struct transfer *t);
void transfer_answer_clear(struct transfer *t);
struct str transfer_answer_header(const struct transfer *t, struct str name);

/* loop.c */
NODISCARD int loop_start(struct loop *l, struct http_client *c, bool streams, struct err **err);
void loop_stop(struct loop *l); /* one that was never started is fine */
void loop_wake(struct loop *l); /* it looks at what the client says */
void loop_submit(struct loop *l, struct transfer *t, struct waiter *w); /* takes its own reference */
/* Under the lock: the loop looks at t soon (cancelled, resume). */
void loop_attend(struct loop *l, struct transfer *t);
void waiter_init(struct waiter *w);
void waiter_done(struct waiter *w);
/* Under the lock: waits for a signal; false at the deadline. */
bool waiter_wait(struct waiter *w, struct loop *l, int64_t until_ms);

/* address.c */
bool http_net_of_sockaddr(const struct sockaddr *sa, enum http_net *ret); /* false for other families */
const char *http_net_name(enum http_net net);

/* proxy.c: the proxy for a URL as Go's ProxyFromEnvironment() finds it; "" when none; owned. */
char *proxy_for(const struct http_url *u) NODISCARD;

/* response.c */
int64_t http_retry_after_ms(struct str value); /* 0 when it is none */
void response_take(struct transfer *t, struct http_response *ret);
