/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* simulate_int: one file per kind of object; what they share. */
#include "base/arena.h"
#include "base/clock.h"
#include "controller/controller.h"
#include "simulate/simulate.h"
#include "value/value.h"

#define SIMULATE_PODS_MAX 64    /* Pods made for one workload; what is beyond is counted as ready, not made */
#define SIMULATE_HISTORY_MAX 10 /* old ReplicaSets kept, as revisionHistoryLimit's default */
#define SIMULATE_MANAGER "simulate"
#define REVISION_ANNOTATION "deployment.kubernetes.io/revision"

/* Names of watches, which are names of kinds too. */
#define WATCH_DEPLOYMENTS "Deployment"
#define WATCH_REPLICASETS "ReplicaSet"
#define WATCH_STATEFULSETS "StatefulSet"
#define WATCH_DAEMONSETS "DaemonSet"
#define WATCH_JOBS "Job"
#define WATCH_PODS "Pod"
#define WATCH_CLAIMS "PersistentVolumeClaim"
#define WATCH_SERVICES "Service"
#define WATCH_VOLUMES "PersistentVolume"

#define SIMULATE_KINDS 9

/* One object being looked at. */
struct sim_call {
    struct simulate *s;
    const struct controller_call *c;
    struct arena *a;
    struct kube_ref ref;
    struct value object;
};

typedef int (*simulate_fn)(struct sim_call *k, struct controller_result *ret, struct err **err);

struct sim_kind {
    const char *name; /* the kind, and its watch */
    struct str api_version;
    simulate_fn fn;
    bool is_controllers;   /* kube-controller-manager's work, not a node's */
    controller_map_fn map; /* NULL: a change wakes the object alone */
    controller_extract_fn extract;
    const char *selector; /* of labels; NULL: all */
};

struct sim_ctx { /* what controller hands back */
    struct simulate *s;
    const struct sim_kind *kind;
};

struct simulate {
    struct kube *kube;
    struct controller *controller;
    int64_t delay_ms;
    enum simulate_controllers controllers; /* ON or OFF */
    struct sim_ctx ctx[SIMULATE_KINDS];
    struct controller_watch watches[SIMULATE_KINDS];
    struct controller_kind table[SIMULATE_KINDS];
    size_t n;
};

/* ---- simulate.c --------------------------------------------------------------------------------------------------- */

/* One request; a failure with `code` is none. */
NODISCARD int simulate_do(struct sim_call *k, struct kube_request rq, enum errc code, struct err **err);
/* 1 when it is there, 0 when not. */
NODISCARD int simulate_get(struct sim_call *k, const struct kube_ref *ref, struct value *ret,
                           struct err **err);
/* Creates it; that it exists already is fine. */
NODISCARD int simulate_create(struct sim_call *k, struct value object, struct err **err);
/* Writes the status when the merge patch changes anything. */
NODISCARD int simulate_report(struct sim_call *k, struct value status, struct err **err);
/* Milliseconds until the object is due, 0 when it is. `owner` may be null. */
int64_t simulate_due_ms(const struct sim_call *k, struct value owner);
/* The text of the fail annotation of the object or its owner; n 0: it is to succeed. */
struct str simulate_failure(struct value object, struct value owner);
struct value simulate_now(struct arena *a); /* RFC 3339, seconds */
/* The reference of ownerReferences with controller: true; null when there is none. */
struct value simulate_controller_of(struct value object);
/* {status.conditions of the object} with the condition set. */
struct value simulate_conditions(struct sim_call *k, struct value conditions, const char *type, bool is_true,
                                 const char *reason, struct str message);
/* "name-" and some letters that follow from the seed: the same object never gets two children for one purpose. */
struct str simulate_child_name(struct arena *a, struct str name, struct str seed, int64_t index);
/* Letters that change with the content. */
struct str simulate_hash(struct arena *a, struct value v);

/* ---- pods.c: the Pods of a workload ------------------------------------------------------------------------------ */

enum sim_pod_state {
    SIM_POD_STARTING,
    SIM_POD_READY,
    SIM_POD_SUCCEEDED,
    SIM_POD_FAILED,
    SIM_POD_GOING,
    SIM_POD_STATES
};
struct sim_pods { /* what the informer knows of the Pods of one owner */
    const struct controller_object *v;
    size_t n;
    size_t in[SIM_POD_STATES]; /* how many are in each state */
};
struct sim_pods simulate_pods_of(struct sim_call *k);
/* Adds to a Pod before it is made: labels, volumes. Its metadata, labels and spec are maps of its own. */
typedef void (*simulate_adjust_fn)(struct sim_call *k, struct value pod);
/* Creates the Pods of these names that are missing, deletes the owner's others and those of another revision (empty:
 * any will do), and has those looked at again that are not ready. */
NODISCARD int simulate_pods_keep(struct sim_call *k, const struct sim_pods *have, const struct str *names,
                                 size_t n, struct str revision, simulate_adjust_fn adjust, struct err **err);
/* min(spec.replicas, SIMULATE_PODS_MAX) names from the owner's; *ret_n of them. */
struct str *simulate_pod_names(struct sim_call *k, int64_t replicas, size_t *ret_n);
/* What a watch remembers of a Pod or ReplicaSet, indexed by its owner's uid. */
void simulate_extract(void *ctx, struct value object, struct controller_note *note);

/* ---- reconcile functions ------------------------------------------------------------------------------------------ */

int simulate_pod(struct sim_call *k, struct controller_result *ret, struct err **err);     /* pod.c */
int simulate_claim(struct sim_call *k, struct controller_result *ret, struct err **err);   /* volume.c */
int simulate_service(struct sim_call *k, struct controller_result *ret, struct err **err); /* volume.c */
int simulate_volume(struct sim_call *k, struct controller_result *ret, struct err **err);  /* volume.c */
void simulate_wake_volume(void *ctx, const struct controller_event *e, struct controller_wake *out);
#define SIMULATE_MADE_LABEL "simulate.pintle.dev/made"
int simulate_deployment(struct sim_call *k, struct controller_result *ret,
                        struct err **err); /* deployment.c */
int simulate_replicaset(struct sim_call *k, struct controller_result *ret,
                        struct err **err); /* deployment.c */
int simulate_statefulset(struct sim_call *k, struct controller_result *ret,
                         struct err **err);                                                  /* stateful.c */
int simulate_daemonset(struct sim_call *k, struct controller_result *ret, struct err **err); /* stateful.c */
int simulate_job(struct sim_call *k, struct controller_result *ret, struct err **err);       /* job.c */
