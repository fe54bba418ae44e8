/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* plan: an operation as a list of steps. Pure: it reads records and objects that were observed and calls nothing.
 *
 * Every step is idempotent, so a plan may be run from its start again after a crash: what was done is found done. Steps
 * that wait say so and are asked again later. Names are stable: they are in the record's intent, in events and logs. */
#include "base/arena.h"
#include "base/buf.h"
#include "chart/chart.h"
#include "release/decide.h"
#include "release/object.h"
#include "release/record.h"

/* X(code, name, what it does) */
#define STEP_MAP(X)                                                                   \
    X(CRDS, "crds", "create the CRDs that are absent and wait until they are served") \
    X(NAMESPACE, "namespace", "create the target namespace")                          \
    X(ABANDON, "abandon", "mark an unfinished revision as failed")                    \
    X(RECORD, "record", "store the release record: the intent")                       \
    X(HOOK, "hook", "run one hook")                                                   \
    X(HOOKS_DONE, "hooks-done", "delete the hooks that ask for it")                   \
    X(FIELDS, "fields", "take over what client-side apply owned")                     \
    X(APPLY, "apply", "apply the objects of one kind")                                \
    X(REMOVE, "remove", "delete what the new revision no longer has")                 \
    X(READY, "ready", "wait until the objects are ready")                             \
    X(SUPERSEDE, "supersede", "mark earlier revisions as superseded")                 \
    X(DEPLOYED, "deployed", "mark the revision as deployed")                          \
    X(TRIM, "trim", "delete the oldest revisions over the limit")                     \
    X(ADOPT, "adopt", "put our intent on a record that another tool wrote")           \
    X(UNINSTALLING, "uninstalling", "mark the release as being uninstalled")          \
    X(DELETE, "delete", "delete the objects of one kind")                             \
    X(GONE, "gone", "wait until the objects are gone")                                \
    X(PURGE, "purge", "delete the release records")

enum step_kind {
#define X(code, name, text) STEP_##code,
    STEP_MAP(X)
#undef X
        STEP_MAX_,
};
const char *step_kind_name(enum step_kind k);

struct step {
    enum step_kind kind;
    struct release_objects
        objects;       /* FIELDS, APPLY, REMOVE, READY, DELETE, GONE, CRDS: a view into the plan's inputs */
    struct value hook; /* HOOK: an item of the record's hooks */
    enum chart_hook_event event; /* HOOK, HOOKS_DONE */
};
struct plan {
    struct step *steps;
    size_t n;
};
void step_format(const struct step *s,
                 struct buf *out); /* "apply 3 Deployment", "hook pre-install web/templates/db.yaml" */

struct plan_inputs {
    struct decision decision;
    bool fresh_install; /* no revision was ever deployed: hooks are pre-install and post-install */
    bool create_namespace, disable_hooks, wait, namespace_terminating;
    bool client_side;               /* an earlier revision was written by client-side apply */
    const struct record *record;    /* the revision being worked on; NULL for ADOPT, FORGET */
    struct release_objects crds;    /* still to be applied or served; then nothing else is planned */
    struct release_objects objects; /* of the record's manifest, in install order */
    struct release_objects removed; /* of earlier revisions, not in this one; uninstall order */
    struct release_objects
        all; /* UNINSTALL: of every revision that may have left something; uninstall order */
    size_t n_earlier_deployed, n_over_limit;
};
/* In `a`; views into the inputs. */
struct plan plan_make(struct arena *a, const struct plan_inputs *in);

/* The record's hooks for an event, in the order in which they run: weight, then name, stable over the stored order. */
struct value *plan_hooks(struct arena *a, struct value hooks, enum chart_hook_event event, size_t *ret_n)
    NODISCARD;
bool hook_has_delete_policy(struct value hook, const char *policy); /* without any: before-hook-creation */
