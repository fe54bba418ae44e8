/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The inside of controller: the queue, informers, the election, the little web server. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "controller/controller.h"

/* ---- queue.c ------------------------------------------------------------------------------------------------------ */

struct queue;
struct queue_task { /* what a worker took */
    unsigned kind;
    struct controller_key key; /* valid until queue_done() */
    unsigned failures;
    void *item;
};
struct queue_figures {
    size_t waiting, delayed, running;
    int64_t oldest_ms; /* the longest time that one of those running has taken so far */
};
struct queue *queue_new(unsigned per_namespace) NODISCARD;
void queue_free(struct queue *q);
/* `low`: behind everything that is not (the first list). */
void queue_add(struct queue *q, unsigned kind, struct controller_key key, bool low);
void queue_add_after(struct queue *q, unsigned kind, struct controller_key key, int64_t after_ms);
/* Waits for a task; false after queue_stop(). */
bool queue_take(struct queue *q, struct queue_task *ret);
/* The task is over. failed: an errc, or 0; the pause is requeue_ms, or for a failure what the queue decides. */
void queue_done(struct queue *q, const struct queue_task *t, enum errc failed, int64_t retry_after_ms,
                int64_t requeue_ms);
void queue_stop(struct queue *q);
struct queue_figures queue_figures(struct queue *q);
/* The pause after `failures` failures in a row, the last with this code. */
int64_t queue_pause_ms(unsigned failures, enum errc code, int64_t retry_after_ms);

/* ---- informer.c --------------------------------------------------------------------------------------------------- */

struct subscriber {
    char *name;
    unsigned kind; /* whom it wakes */
    bool ignore_status;
    controller_map_fn map;
    void *ctx;
};

struct informer {
    struct controller *c;
    struct controller_watch w; /* strings are owned by memory */
    struct arena *memory;
    struct kube_reflector *reflector;
    pthread_t thread;
    bool started;

    pthread_mutex_t lock;
    struct subscriber *subscribers;
    size_t n_subscribers, cap_subscribers;
    struct map entries; /* "ns/name" -> struct entry */
    struct map index;   /* index key -> struct posting */
    unsigned round;     /* of the list that is coming in */
    bool synced;
    char *trouble; /* the last failure, until the next list or event */
};
struct informer *informer_new(struct controller *c, const struct controller_watch *w) NODISCARD;
void informer_subscribe(struct informer *i, unsigned kind, const struct controller_watch *w);
void informer_unsubscribe(struct informer *i, const char *name);
bool informer_fits(const struct informer *i, const struct controller_watch *w); /* can w share it? */
void informer_start(struct informer *i);
void informer_stop(struct informer *i); /* asks; informer_join() waits */
void informer_join(struct informer *i);
void informer_free(struct informer *i);
bool informer_is_synced(struct informer *i);
size_t informer_n(struct informer *i);

/* ---- election.c --------------------------------------------------------------------------------------------------- */

struct election_options {
    struct str ns, name, identity;
    int64_t lease_ms, renew_ms, retry_ms;
};
struct election;
/* Has its own connection: nothing that the controller does delays or stops it. */
NODISCARD int election_new(struct kube *k, const struct election_options *o, struct election **ret,
                           struct err **err);
void election_free(struct election *e);
/* One attempt to get or keep the lease; true when it is ours now. */
bool election_try(struct election *e);
/* Monotonic time until which the lease is surely ours; 0 when it is not. */
int64_t election_until_ms(const struct election *e);
/* An attempt that is under way ends soon: its request is cancelled if it takes longer than a moment. */
void election_stop(struct election *e);
int64_t election_pause_ms(const struct election *e); /* until the next attempt, with jitter */
void election_release(struct election *e);           /* after all work has stopped */

/* ---- server.c ----------------------------------------------------------------------------------------------------- */

struct web;
/* `listen` "host:port" or ":port"; port 0: any. */
NODISCARD int web_start(struct controller *c, const char *listen, struct web **ret, struct err **err);
void web_stop(struct web *w);

/* ---- controller.c ------------------------------------------------------------------------------------------------- */

struct kind {
    char *name;
    controller_reconcile_fn reconcile;
    void *ctx;
};

struct controller {
    struct kube *kube;
    struct kind *kinds;
    size_t n_kinds;
    struct metrics *metrics;
    struct queue *queue;
    pthread_mutex_t lock; /* of the informers' list and the two below */
    pthread_cond_t cond;
    struct informer **informers;
    size_t n_informers, cap_informers;
    struct map by_name; /* watch name -> struct informer */
    bool running;
    atomic_bool stop, leader, ready;
    int stop_fd; /* eventfd: wakes controller_run() */
    unsigned workers;
    pthread_t *threads;
    size_t n_threads;
    atomic_int n_working; /* worker threads that have not ended */
    bool abandoned;       /* a worker did not end in time: controller_free() waits for it */
    struct election *election;
    pthread_t election_thread;
    bool election_running;
    int election_fd;  /* eventfd: ends the election's pause */
    atomic_bool lost; /* the lease */
    struct web *web;
    char *listen;
    struct arena *memory;
    struct election_options election_options;
    int64_t drain_ms;
    void (*cancel)(void *ctx);
    void *cancel_ctx;
    bool signals;
};
void controller_wake_kind(struct controller *c, unsigned kind, struct controller_key key, bool low);
void controller_synced(struct controller *c); /* an informer has listed */
void controller_update_gauges(struct controller *c);

struct controller_wake {
    struct controller *c;
    unsigned kind;
    bool low;
};

struct controller_note {
    struct str *index; /* owned strings */
    size_t n_index, cap_index;
    struct doc *kept;
};
