/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* releasegroup: the kind ReleaseGroup: a list of Releases that are created, updated and removed together.
 *
 * A group owns its members (owner references, in its own namespace only); a Release that exists already and is not the
 * group's is never touched. */
#include "controller/controller.h"
#include "kube/kube.h"

struct releasegroup_manager;

/* `k` is referenced, `recorder` borrowed (may be NULL). */
struct releasegroup_manager *releasegroup_manager_new(struct kube *k, struct kube_recorder *recorder)
    NODISCARD;
void releasegroup_manager_free(
    struct releasegroup_manager *m); /* after the controller has stopped; may be NULL */
DEFINE_CLEANUP(struct releasegroup_manager *, releasegroup_manager_free)
/* The rows for controller_new(); they live as long as the manager. */
const struct controller_kind *releasegroup_manager_kinds(struct releasegroup_manager *m, size_t *ret_n);
