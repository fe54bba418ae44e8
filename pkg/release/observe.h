/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* observe: reads everything that decides about a Release: spec, Config, values, chart, records, what is live, and the
 * rendering. What it finds is not changed afterwards; plan and act work on it. */
#include "chart/chart.h"
#include "kube/kube.h"
#include "release/act.h"
#include "release/decide.h"
#include "release/plan.h"
#include "release/spec.h"
#include "release/values.h"

#define RELEASE_CHANGES_MAX 20 /* differences that a status or event lists */

/* Where a reconcile was when it failed; with the error's code it gives the condition's reason. */
enum release_stage {
    RELEASE_STAGE_SPEC,
    RELEASE_STAGE_CONFIG,
    RELEASE_STAGE_NAMESPACE,
    RELEASE_STAGE_ACCOUNT,
    RELEASE_STAGE_HISTORY,
    RELEASE_STAGE_CHART,
    RELEASE_STAGE_VALUES,
    RELEASE_STAGE_RENDER,
    RELEASE_STAGE_RIGHTS,
    RELEASE_STAGE_OWNERSHIP,
    RELEASE_STAGE_ACT,
    RELEASE_STAGE_MAX_,
};

struct release_manager;

struct observation {
    struct arena *arena; /* of the reconcile */
    enum release_stage stage;
    struct release_spec spec;
    struct release_config config;
    struct release_owner owner;
    struct kube *own; /* the controller's identity; borrowed */
    struct kube *as;  /* that of the release; a reference */

    struct record_head *heads; /* oldest first */
    size_t n_heads;
    struct record *last; /* decoded; NULL without records, or when its head said enough */
    bool last_ours;
    bool namespace_terminating;

    struct chart_stored stored; /* the chosen version */
    struct chart *chart;        /* a reference */
    struct value values;        /* merged; a map */
    char inputs[65];            /* digest of all that */

    struct decision decision;
    struct chart_rendered *rendered; /* when something is deployed */
    struct record *record;           /* being worked on: `last` or a new one; not owned */
    struct record *made;             /* the new one, owned */
    bool client_side; /* one of the revisions that left something was written by client-side apply */
    struct release_objects before; /* of earlier revisions that may have left something */
    struct plan_inputs plan;
    struct value_change *changes; /* values of the last deployed revision against the wanted ones */
    size_t n_changes;
};
void observation_done(struct observation *o);
DEFINE_CLEANUP_VALUE(struct observation, observation_done)

/* Fills *o as far as it got, also on failure: report says what it knows. `object` is the Release. */
NODISCARD int release_observe(struct release_manager *m, struct arena *a, struct value object,
                              struct observation *o, struct err **err);

/* render.c: from a decision to the record, the objects and the plan's inputs. */
NODISCARD int release_prepare(struct release_manager *m, struct observation *o, struct err **err);
/* Fills o->changes of the deployed revision, for a process that did not see them: the values of the revision before it
 * against the wanted ones. None when that revision is not kept. */
NODISCARD int release_recall_changes(struct observation *o, struct err **err);
