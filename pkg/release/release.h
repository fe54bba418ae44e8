/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* release: the kinds Release, Values and Config: from what they say to Helm releases in the cluster.
 *
 * One way through every reconcile: observe (reads) -> decide, plan (pure) -> act (writes; the journal is Helm's release
 * record) -> report (status, events). Everything is found again after a crash. Semantics and records are Helm v4's. */
#include "base/err.h"
#include "chart/chart.h"
#include "controller/controller.h"
#include "kube/kube.h"

struct release_manager;

struct release_manager_options {
    struct kube *kube;              /* the controller's identity; referenced */
    struct chart_store *store;      /* borrowed; outlives the manager */
    struct kube_recorder *recorder; /* borrowed; may be NULL */
    struct str ns;                  /* the controller's own namespace: where chart content is */
    struct str
        default_service_account; /* for Releases whose Config names none; "": the controller's own rights */
};
struct release_manager *release_manager_new(const struct release_manager_options *o) NODISCARD;
void release_manager_free(struct release_manager *m); /* after the controller has stopped; may be NULL */
DEFINE_CLEANUP(struct release_manager *, release_manager_free)

/* The rows for controller_new(); they live as long as the manager. */
const struct controller_kind *release_manager_kinds(struct release_manager *m, size_t *ret_n);
/* Before controller_run(): changes of Values, Configs and chart content wake Releases through it. */
void release_manager_attach(struct release_manager *m, struct controller *c);
