/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* manager: what all reconciles share. Private to the module. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "release/act.h"
#include "release/release.h"

/* What one process remembers of a Release between two reconciles; nothing in it is needed for being right. */
struct release_memory {
    struct release_progress progress;
    char settled[65]; /* fingerprint of the watched inputs when nothing was left to do; "" otherwise */
    int64_t settled_until_ms; /* clock_mono_ms(): then look again anyhow */
    int64_t retry_at_ms;      /* after a failure: not before, unless the inputs changed */
    char failed_inputs[65];
    bool watching;         /* changes of its objects wake it */
    bool look;             /* at its objects, this time */
    atomic_bool disturbed; /* something that it installed or read has changed */
};

struct release_manager {
    struct kube *kube;
    struct chart_store *store;
    struct kube_recorder *recorder;
    struct controller *controller; /* NULL until attached */
    struct wake *wake;
    char *ns, *default_service_account;
    struct controller_kind *kinds;
    struct controller_watch *watches;
    size_t n_kinds;

    pthread_mutex_t mutex; /* of memories; one memory is used by one reconcile at a time */
    struct map memories;   /* "ns/name" -> struct release_memory */
};

/* The memory of a Release, made when it is new. */
struct release_memory *manager_memory(struct release_manager *m, struct controller_key key);
/* From any thread: the next reconcile looks at everything, its objects too. */
void manager_disturb(struct release_manager *m, struct controller_key key);
void manager_forget(struct release_manager *m, struct controller_key key);

struct observation;
/* What the steps of the observed plan need. `o` and `mem` stay in use. */
struct release_run release_make_run(struct observation *o, struct release_memory *mem);

/* The reconcile functions; ctx is the manager. */
int release_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                      struct err **err);
int values_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err);
int config_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err);
