/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* controller: watches, one work queue, workers that run reconcile functions, leader election, metrics, health. It knows
 * no kind of ours: kinds come in a table from the program.
 *
 * Watches only wake: an informer keeps of each object its key, uid, resourceVersion, generation and what the watch's
 * extract function takes out, never the object. A reconcile function reads what it needs, in plain blocking code.
 * Workers are shared by all kinds; one object is never reconciled twice at once; what changes meanwhile causes one more
 * run. Namespaces take turns, and one namespace never holds more than half of the workers. */
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/kube.h"
#include "value/value.h"

struct controller;
struct metrics;

struct controller_key { /* ns is empty for cluster-scoped objects */
    struct str ns, name;
};

/* ---- what a kind brings ------------------------------------------------------------------------------------------- */

struct controller_call {
    struct controller *controller;
    struct kube *kube;   /* the controller's identity; kube_as() for another */
    struct arena *arena; /* dropped after the call */
    struct controller_key key;
    unsigned failures; /* calls for this object that failed in a row before this one */
};
struct controller_result {
    int64_t requeue_after_ms; /* again after so long, whatever happens meanwhile; 0: when something changes */
};
/* Brings one object closer to its spec; the object may be gone. Failure: again after a pause that grows with each
 * failure in a row (0.25 s to 5 min, with jitter, Retry-After respected); when the code says that no retry helps
 * (errc_retryable()), after 10 minutes. requeue_after_ms above 0 replaces that pause. The error is logged and counted
 * by the controller; it names what failed. Runs on any worker; a call must notice kube's CANCELLED and return. */
typedef int (*controller_reconcile_fn)(void *ctx, const struct controller_call *call,
                                       struct controller_result *ret, struct err **err);

/* What is remembered of a watched object beyond its identity. */
struct controller_note;
void controller_note_index(struct controller_note *n, struct str key); /* found again by this key; copied */
void controller_note_keep(struct controller_note *n, struct value v);  /* a small value; frozen */
typedef void (*controller_extract_fn)(void *ctx, struct value object, struct controller_note *note);

struct controller_event {
    enum kube_event_type type;
    struct value
        object; /* deleted while nobody watched: only apiVersion, kind and metadata name, namespace, uid */
    struct value kept, before; /* what extract kept of it now and of the state before; null when nothing */
    bool initial;              /* part of the first list */
};
/* Collects whom to wake: objects of the kind that the watch belongs to. */
struct controller_wake;
void controller_wake_add(struct controller_wake *w, struct controller_key key);
/* Every object in the watch `watch` (a name) that was noted under this index key. */
void controller_wake_index(struct controller_wake *w, const char *watch, struct str index_key);
typedef void (*controller_map_fn)(void *ctx, const struct controller_event *e, struct controller_wake *out);

struct controller_watch {
    const char *name; /* for look-ups, metrics, logs; unique in the controller */
    struct str api_version, kind;
    struct str ns; /* empty: all namespaces */
    struct str label_selector, field_selector;
    bool metadata_only; /* objects come without spec and status; status changes still wake */
    bool ignore_status; /* changes in status, managedFields and resourceVersion alone do not wake */
    controller_extract_fn extract; /* NULL: nothing is noted */
    controller_map_fn map;         /* NULL: the object wakes the reconcile of its own key */
    void *ctx;                     /* for both */
};
struct controller_kind {
    const char *name; /* "Release"; for logs and metrics; unique */
    controller_reconcile_fn reconcile;
    void *ctx;
    const struct controller_watch *watches;
    size_t n_watches;
};

/* ---- running ------------------------------------------------------------------------------------------------------ */

struct controller_options {          /* zero: the default; borrowed during controller_new() */
    struct kube *kube;               /* required; referenced */
    unsigned workers;                /* 8 */
    unsigned workers_namespace;      /* at once for one namespace; half of the workers */
    const char *listen;              /* "127.0.0.1:8080" for /metrics /healthz /readyz; NULL: no server */
    struct str lease_ns, lease_name; /* leader election when both are set */
    struct str identity;             /* in the lease; empty: hostname_uuid */
    int64_t lease_ms, renew_ms, retry_ms; /* 15,000, 10,000, 2,000 as client-go */
    int64_t drain_ms; /* on stop, running reconciles get so long before their requests are cancelled; 1,000 */
    void (*cancel)(void *ctx); /* then called too, for what reconciles wait for beside kube; may be NULL */
    void *cancel_ctx;
    bool signals; /* SIGTERM and SIGINT stop it */
};
/* Everything is copied but what the function pointers and ctx refer to. INVALID for a table that contradicts itself. */
NODISCARD int controller_new(const struct controller_options *o, const struct controller_kind *kinds,
                             size_t n_kinds, struct controller **ret, struct err **err);
/* After controller_run() has returned; may be NULL. Waits for a reconcile that had not ended by then: a program that must
 * end at once leaves by _exit(). */
void controller_free(struct controller *c);
DEFINE_CLEANUP(struct controller *, controller_free)
/* Watches, waits to become the leader, reconciles, until controller_stop(): 0, at most 2 s after the stop. Losing the
 * lease is UNAVAILABLE: all work stopped before the lease ended; the process must exit. The kube client is cancelled
 * when it returns. */
NODISCARD int controller_run(struct controller *c, struct err **err);
void controller_stop(struct controller *c);            /* from any thread or signal handler */
bool controller_is_ready(const struct controller *c);  /* every watch has listed once */
bool controller_is_leader(const struct controller *c); /* true without election, once it runs */

/* Reconcile this object of that kind; several wishes before it runs are one. */
void controller_enqueue(struct controller *c, const char *kind, struct controller_key key);
void controller_enqueue_after(struct controller *c, const char *kind, struct controller_key key,
                              int64_t after_ms);
/* One more watch that wakes objects of `kind`, also while it runs; the strings are copied. A name that exists already
 * is 0 and changes nothing. */
NODISCARD int controller_add_watch(struct controller *c, const char *kind, const struct controller_watch *w,
                                   struct err **err);
/* Ends such a watch; unknown names are ignored. */
void controller_remove_watch(struct controller *c, const char *name);

/* ---- what informers know ------------------------------------------------------------------------------------------ */

struct controller_object {
    struct str ns, name, uid, resource_version;
    int64_t generation;
    struct value kept; /* null when nothing was kept */
};
/* True and a copy in `a` of what is known (kept values are shared with it). Names of watches; NOT up to date with
 * writes that were just made. */
bool controller_find(struct controller *c, const char *watch, struct controller_key key, struct arena *a,
                     struct controller_object *ret);
/* All objects of a watch, or those under an index key (p NULL: all), sorted by key, in `a`. */
struct controller_object *controller_list(struct controller *c, const char *watch, struct str index_key,
                                          struct arena *a, size_t *ret_n);

/* ---- reports ------------------------------------------------------------------------------------------------------
 * What a reconcile says at its end, in the shape that all kinds share: kstatus' conditions, observedGeneration, and
 * lastHandledReconcileAt for the annotation with which users ask for a reconcile now. */

#define CONTROLLER_RECONCILE_AT "pintle.dev/reconcile-at"

struct controller_report {
    struct value object; /* as it was read: its status is what the new one is compared with */
    const char *ready;   /* "True", "False", "Unknown": of the condition Ready */
    const char *reason;  /* of the kind's documented table */
    struct str message;
    bool reconciling, stalled;    /* set these conditions to True; otherwise they are absent */
    const char *synced;           /* reason of the condition synced, which follows Ready; NULL: `reason` */
    struct kube_condition health; /* Healthy, when its status is set; without one it stays as it is */
    struct kube_condition other;  /* one more, when its type is set; without a status it is taken away */
    bool tell_other;              /* what it says is news of its own: an event */
    struct value fields;          /* other members of the status, a map; null takes one away, others stay */
};
/* The report of a failed reconcile: Ready=False; Stalled when no retry helps, else Reconciling. Borrows from `cause`. */
struct controller_report controller_failure(struct value object, const char *reason, const struct err *cause);
/* Writes the status when it differs, with one patch, and one event when what Ready says changed; progress (Unknown while
 * Reconciling) is not told. An object that is gone is 0. `recorder` may be NULL. A `cause` (taken; may be NULL) is what the
 * reconcile failed with: it becomes *err and its code the result, whether or not the report could be written. */
NODISCARD int controller_report(struct kube *k, struct kube_recorder *recorder, struct arena *a,
                                const struct controller_report *rep, struct err *cause, struct err **err);

/* ---- children -----------------------------------------------------------------------------------------------------
 * Objects of one kind that an object's spec lists: made, kept as the list says, removed when they leave it. */

struct controller_children {
    struct value owner;
    const char *field; /* where the owner lists them, for messages: "spec.repos" */
    struct value
        wanted; /* list of apiVersion, kind, metadata (name, namespace, labels) and spec, in the list's order */
    struct value live; /* list of all objects of the kind among which the children are */
    const char
        *label; /* objects with this label are nobody's: taken over when wanted, never removed; may be NULL */
    bool block; /* the owner waits for their deletion */
};
struct controller_children_plan {
    struct value apply;   /* objects to apply */
    struct value remove;  /* live objects to delete */
    size_t wanted, ready; /* ready: those that are as wanted and say so */
};
/* Pure. INVALID for a name that is there twice, EXISTS for an object that belongs to somebody else. In `a`. */
NODISCARD int controller_children_plan(struct arena *a, const struct controller_children *c,
                                       struct controller_children_plan *ret, struct err **err);
NODISCARD int controller_children_act(struct kube *k, struct arena *a, struct str field_manager,
                                      const struct controller_children_plan *plan, struct err **err);
/* What the owner says of them: MembersReady, Progressing; with a failure NotAMember, MembersFailed; status.members and
 * status.ready. `plural` is for the message. */
struct controller_report controller_children_report(struct arena *a, struct value owner, const char *plural,
                                                    const struct controller_children_plan *plan,
                                                    const struct err *cause);

/* ---- metrics ------------------------------------------------------------------------------------------------------
 * Prometheus text. Families are constants of the module that counts; series appear when first used. At most
 * METRICS_SERIES_MAX series; more are counted in pintle_metrics_dropped_total. */

#define METRIC_LABELS_MAX 4
enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };
struct metric { /* static const */
    const char *name, *help;
    enum metric_kind kind;
    const char *labels[METRIC_LABELS_MAX]; /* names; unused ones NULL */
    const double
        *buckets; /* histograms: ascending upper bounds, ended by 0; NULL: 1 ms to 5 min, in seconds */
};

struct metrics *controller_metrics(struct controller *c); /* borrowed */
struct metrics *metrics_new(void) NODISCARD;
void metrics_free(struct metrics *m);
DEFINE_CLEANUP(struct metrics *, metrics_free)
/* Label values in the order of the family's labels; as many as it has. `m` may be NULL. Safe from any thread. */
#define METRIC_LABELS(...) ((const struct str[METRIC_LABELS_MAX]){ __VA_ARGS__ })
void metrics_add(struct metrics *m, const struct metric *family, const struct str *labels, double v);
void metrics_set(struct metrics *m, const struct metric *family, const struct str *labels, double v);
void metrics_observe(struct metrics *m, const struct metric *family, const struct str *labels, double v);
void metrics_forget(struct metrics *m, const struct metric *family,
                    const struct str *labels); /* drops one series */
double metrics_value(const struct metrics *m, const struct metric *family,
                     const struct str *labels); /* for tests */
/* The exposition text, version 0.0.4. */
void metrics_format(const struct metrics *m, struct buf *out);
