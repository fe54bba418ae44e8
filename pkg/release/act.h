/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* act: runs the steps of a plan, one at a time, and keeps the journal in the release record.
 *
 * A step that has to wait does not block: it says so and is asked again. After a crash the plan is made anew and every
 * step finds what its predecessor's life had done. */
#include "base/arena.h"
#include "base/err.h"
#include "kube/kube.h"
#include "release/plan.h"
#include "release/record.h"
#include "release/spec.h"

#define RELEASE_FIELD_MANAGER "helm"
#define ACT_POLL_MS 500

/* What is remembered of an attempt between two looks at it, in memory alone: after a restart the steps run once more. */
struct release_progress {
    char inputs[65]; /* digest of the attempt that the bits belong to */
    int64_t revision;
    enum operation op;
    unsigned done_bits;    /* 1 << STEP_x: every step of that kind has been done */
    uint64_t waiting_step; /* which step waits, and since when */
    int64_t waiting_since_ms;
};

struct release_run {
    struct kube *as; /* with the identity of the release */
    struct arena *arena;
    const struct release_spec *spec;
    const struct release_config *config;
    struct release_owner owner;
    struct record *record;           /* NULL in plans without one */
    struct str inputs;               /* digest */
    const struct record_head *heads; /* all stored revisions, oldest first */
    size_t n_heads;
    struct release_progress *progress;
    int64_t timeout_ms;                   /* of each step that waits */
    const struct release_objects *before; /* objects of earlier revisions, for cleanupOnFail */
    struct str waiting_for;               /* set by a step that waits: what is missing; in the arena */
};

enum act_result {
    ACT_WAIT = 0, /* ask again after *ret_wait_ms */
    ACT_DONE = 1,
};

/* Runs the steps from the first; ACT_DONE after the last. Failures name the step's object. TIMEOUT when a wait has lasted
 * to the deadline. */
NODISCARD int act_run(struct release_run *run, const struct plan *plan, int64_t *ret_wait_ms,
                      struct err **err);

/* Stores the record: creates it, or replaces what was read. CONFLICT when somebody else wrote it meanwhile. */
NODISCARD int act_save_record(struct release_run *run, struct err **err);
/* One hook; see spec of hooks in Helm's pkg/action/hooks.go. */
NODISCARD int act_hook(struct release_run *run, const struct step *s, int64_t *ret_wait_ms, struct err **err);
/* Deletes the event's hooks that ask for it: after success, or after a failure (then only those whose policy says so). */
NODISCARD int act_hooks_done(struct release_run *run, enum chart_hook_event event, bool failed,
                             struct err **err);

/* Live objects, or their metadata alone; null where one is absent. `ret` has set->n items. */
NODISCARD int act_read_live(struct release_run *run, const struct release_objects *set, bool metadata_only,
                            struct value *ret, struct err **err);
/* Helm's move from client-side to server-side apply: managedFields of helm/Update become those of helm/Apply, so that a field
 * which leaves the chart leaves the object (client-go's util/csaupgrade). */
NODISCARD int act_fields(struct release_run *run, const struct release_objects *set, struct err **err);
/* The managedFields after that move, in `a`; null when there is nothing to move. Pure. */
struct value act_fields_moved(struct arena *a, struct value managed_fields, struct str manager);

/* The status of each object read at once; ACT_DONE when all are current, ACT_WAIT with run->waiting_for set, or an error for
 * one that will never be. Null items of `ret_live` (may be NULL) are absent. */
NODISCARD int act_check_ready(struct release_run *run, const struct release_objects *objects,
                              struct err **err);
