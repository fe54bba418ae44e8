/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* rights: does an identity have what an operation needs, asked before the first write. */
#include "base/arena.h"
#include "base/err.h"
#include "kube/kube.h"
#include "release/object.h"

struct rights_needs;

/* What deploying these objects takes: records in the release's namespace, get, list, create, patch on each kind of
 * `objects`, delete on each kind of `removed`. */
struct rights_needs *rights_needs_new(struct arena *a) NODISCARD;
/* `verbs` separated by blanks; kinds that discovery does not know are left out. `ns` empty: cluster-scoped. */
void rights_need(struct rights_needs *n, struct kube *k, struct str api_version, struct str kind,
                 struct str ns, const char *verbs);
void rights_need_objects(struct rights_needs *n, struct kube *k, const struct release_objects *objects,
                         const char *verbs);

/* May the client's identity list and watch this kind there? False also when the server does not say. */
bool rights_may_watch(struct kube *k, struct arena *a, struct str api_version, struct str kind,
                      struct str ns);

/* One SelfSubjectRulesReview per namespace; where the server cannot list all rules, the missing ones are asked one by one.
 * FORBIDDEN naming who lacks what ("system:serviceaccount:demo:web may not create, patch deployments.apps in
 * namespace demo"). */
NODISCARD int rights_check(struct kube *as, struct arena *a, const struct rights_needs *n, struct err **err);
